use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tree::Tree;
use crate::rounding::Tolerance;

/// The least slack of fields that are logarithms.
const LOG_SLACK: f64 = 1e-11;

fn is_log(name: &str) -> bool {
    let leaf = name.rsplit('.').next().unwrap_or(name);
    leaf.starts_with("log")
        || matches!(leaf, "prefix_log_likelihood" | "viterbi_log_prob" | "forget_L")
}

/// One case's fields as they are compared: what failed, and how much was looked at.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    tolerance: Tolerance,
    /// What the case expects.
    expected: Value,
    /// Fields of it that were asked for.
    asked: BTreeSet<String>,
    /// Every field computed, for the traps.
    computed: Vec<(String, Tree)>,
    /// What differs, a line each.
    pub(super) failures: Vec<String>,
    /// Fields expected and compared.
    pub(super) fields: usize,
    /// Numbers compared.
    pub(super) numbers: usize,
}

impl Comparison {
    /// A comparison with the case's own tolerance.
    pub(super) const fn new(expected: Value, rtol: f64, atol: f64) -> Self {
        Self {
            tolerance: Tolerance { absolute: atol, relative: rtol },
            expected,
            asked: BTreeSet::new(),
            computed: Vec::new(),
            failures: Vec::new(),
            fields: 0,
            numbers: 0,
        }
    }

    /// What the case expects at a place: `scores`, `ratio.scores[3]`.
    fn expected(&mut self, name: &str) -> Option<&Value> {
        self.asked.insert(name.to_owned());
        self.expected.pointer(&format!("/{}", name.replace(['.', '['], "/").replace(']', "")))
    }

    /// Whether the case says anything of a field.
    pub(super) fn expects(&mut self, name: &str) -> bool {
        self.expected(name).is_some()
    }

    /// Whether the case says that a field, or a group of them, is undefined.
    pub(super) fn undefined(&mut self, name: &str) -> bool {
        self.expected(name).is_some_and(Value::is_null)
    }

    /// Fails where a list of blocks is not as long as it should be.
    pub(super) fn blocks(&mut self, name: &str, count: usize) {
        if self.expected(name).and_then(Value::as_array).is_some_and(|list| list.len() != count) {
            self.fail(format!("{name}: not a block each of {count}"));
        }
        self.asked.remove(name);
    }

    /// What a case says beside numbers to compare.
    pub(super) fn read<A: DeserializeOwned>(&mut self, name: &str) -> Result<Option<A>, String> {
        let value = self.expected(name).cloned();
        value
            .map(|value| serde_json::from_value(value))
            .transpose()
            .map_err(|error| format!("expected: {name}: {error}"))
    }

    /// Compares one field; `slack` is what the precision under test adds to the case's tolerance.
    ///
    /// A field that is not expected is computed in vain, which is no failure.
    pub(super) fn field(&mut self, name: &str, got: impl Into<Tree>, slack: Tolerance) {
        self.field_with(name, got.into(), slack, None);
    }

    /// Compares one field, each of whose numbers has an absolute slack of its own besides.
    pub(super) fn field_each(
        &mut self,
        name: &str,
        got: impl Into<Tree>,
        slack: Tolerance,
        each: impl Into<Tree>,
    ) {
        self.field_with(name, got.into(), slack, Some(&each.into()));
    }

    /// Compares with what does not stand in the file as it is.
    pub(super) fn against(&mut self, name: &str, expected: &Tree, got: Tree, slack: Tolerance) {
        self.judge(name, expected, &got, slack, None);
        self.computed.push((name.to_owned(), got));
    }

    fn field_with(&mut self, name: &str, got: Tree, slack: Tolerance, each: Option<&Tree>) {
        match self.read::<Option<Tree>>(name) {
            Ok(Some(expected)) => {
                self.judge(name, &expected.unwrap_or(Tree::Undefined), &got, slack, each);
            }
            Ok(None) => {}
            Err(error) => self.fail(error),
        }
        self.computed.push((name.to_owned(), got));
    }

    fn judge(
        &mut self,
        name: &str,
        expected: &Tree,
        got: &Tree,
        slack: Tolerance,
        each: Option<&Tree>,
    ) {
        let mut tolerance = self.tolerance;
        if is_log(name) {
            tolerance.absolute = tolerance.absolute.max(LOG_SLACK);
        }
        self.fields += 1;
        self.compare(name, expected, got, tolerance.plus(slack), each);
    }

    /// Fields that the case expects and nobody asked for are failures.
    pub(super) fn finish(&mut self) {
        let mut unasked = Vec::new();
        leaves(&self.expected, "", &mut unasked);
        unasked.retain(|leaf| {
            let within = |inner: &str, outer: &str| {
                inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            !self.asked.iter().any(|asked| within(leaf, asked) || within(asked, leaf))
        });
        self.failures.extend(unasked.iter().map(|leaf| format!("{leaf}: no such field here")));
    }

    /// A field that the file expects and the code under test cannot answer.
    pub(super) fn fail(&mut self, message: String) {
        self.failures.push(message);
    }

    /// A trap: a wrong value that must not be what was computed, for the field of that name if there
    /// is one, else for any field of its shape.
    pub(super) fn trap(&mut self, name: &str, wrong: &Tree) {
        let target = name.trim_start_matches("wrong_");
        let named = self.computed.iter().any(|(computed, _)| computed == target);
        let caught: Vec<String> = self
            .computed
            .iter()
            .filter(|(computed, got)| {
                (!named || computed == target) && agree(wrong, got, self.tolerance)
            })
            .map(|(computed, _)| format!("{computed}: has the wrong value `{name}`"))
            .collect();
        self.fields += 1;
        self.numbers += wrong.size();
        self.failures.extend(caught);
    }

    fn compare(
        &mut self,
        path: &str,
        expected: &Tree,
        got: &Tree,
        tolerance: Tolerance,
        each: Option<&Tree>,
    ) {
        match (expected, got) {
            (Tree::Undefined, Tree::Undefined) => self.numbers += 1,
            (Tree::Number(expected), Tree::Number(got)) => {
                self.numbers += 1;
                let tolerance = match each {
                    Some(Tree::Number(slack)) => tolerance.plus(Tolerance::absolute(*slack)),
                    _ => tolerance,
                };
                if !tolerance.allows(*expected, *got) {
                    let off = (got - expected).abs();
                    self.failures.push(format!(
                        "{path}: expected {expected}, got {got} (off by {off:.3e}, allowed {:.3e})",
                        tolerance.absolute + tolerance.relative * expected.abs()
                    ));
                }
            }
            (Tree::List(expected), Tree::List(got)) if expected.len() == got.len() => {
                for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
                    let each = match each {
                        Some(Tree::List(each)) => each.get(index),
                        each => each,
                    };
                    self.compare(&format!("{path}[{index}]"), expected, got, tolerance, each);
                }
            }
            _ => self.failures.push(format!("{path}: expected {expected:?}, got {got:?}")),
        }
    }
}

fn agree(a: &Tree, b: &Tree, tolerance: Tolerance) -> bool {
    match (a, b) {
        (Tree::Undefined, Tree::Undefined) => true,
        (Tree::Number(a), Tree::Number(b)) => tolerance.allows(*a, *b),
        (Tree::List(a), Tree::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(a, b, tolerance))
        }
        _ => false,
    }
}

/// Where values are, a list of numbers being one.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                leaves(value, &at, found);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (index, value) in list.iter().enumerate() {
                leaves(value, &format!("{at}[{index}]"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}
