//! Grammar of the words.

use std::collections::HashMap;

use super::super::error::CELLS_AT_MOST;
use super::super::shape::table_size;
use super::super::{Network, NetworkError, Shape};
use super::BifError;
use super::scanner::{At, Scanner, Token};
use crate::records::{Variable, check_name};

/// Largest deviation of a row's sum from one that rounding in print explains.
const ROUNDED_WITHIN: f64 = 1e-3;

/// Largest deviation of a row's sum from one by rounding of arithmetic alone: such a row is left unchanged, so that a file
/// is read back to the bit.
const EXACT_WITHIN: f64 = 1e-12;

/// Reads a network, token by token.
pub(super) struct Parser<'t> {
    file: &'t str,
    rest: Scanner<'t>,
    ahead: Option<(Token, At)>,
}

/// A variable as it is declared.
struct Declared {
    at: At,
    variable: Variable,
    /// The numbers of its states.
    states: HashMap<String, usize>,
}

/// The table of a node as it is read.
struct Block {
    at: At,
    parents: Vec<usize>,
    /// Number of rows.
    count: usize,
    /// Rows that are listed, by number.
    rows: HashMap<usize, Vec<f64>>,
    /// Probabilities of the other rows.
    default: Option<Vec<f64>>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, rest: Scanner::new(text), ahead: None }
    }

    fn wrong(&self, (line, column): At, what: impl Into<String>) -> BifError {
        BifError { file: self.file.to_owned(), line, column, what: what.into() }
    }

    fn next(&mut self) -> Result<(Token, At), BifError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(ahead);
        }
        self.rest.token().map_err(|(at, what)| self.wrong(at, what))
    }

    fn take(&mut self, mark: char) -> Result<bool, BifError> {
        let next = self.next()?;
        let found = next.0 == Token::Mark(mark);
        if !found {
            self.ahead = Some(next);
        }
        Ok(found)
    }

    fn expect(&mut self, mark: char) -> Result<(), BifError> {
        let (token, at) = self.next()?;
        if token == Token::Mark(mark) {
            return Ok(());
        }
        Err(self.wrong(at, format!("`{mark}` belongs here, not {}", token.shown())))
    }

    fn keyword(&mut self, wanted: &str) -> Result<(), BifError> {
        match self.next()? {
            (Token::Word(word), _) if word == wanted => Ok(()),
            (token, at) => {
                Err(self.wrong(at, format!("`{wanted}` belongs here, not {}", token.shown())))
            }
        }
    }

    fn name(&mut self, what: &str) -> Result<(String, At), BifError> {
        let (token, at) = self.next()?;
        let (Token::Word(name) | Token::Text(name)) = &token else {
            return Err(self.wrong(at, format!("{what} belongs here, not {}", token.shown())));
        };
        let name = name.trim().to_owned();
        check_name(&name).map_err(|wrong| self.wrong(at, wrong))?;
        Ok((name, at))
    }

    /// Passes over a property, whose keyword has been read.
    fn property(&mut self) -> Result<(), BifError> {
        loop {
            match self.next()? {
                (Token::Mark(';'), _) => return Ok(()),
                (Token::End | Token::Mark('{' | '}'), at) => {
                    return Err(self.wrong(at, "the property is not closed; write `;` after it"));
                }
                _ => {}
            }
        }
    }

    pub(super) fn network(mut self) -> Result<Network, BifError> {
        let mut declared: Vec<Declared> = Vec::new();
        let mut numbers = HashMap::new();
        let mut blocks: Vec<Option<Block>> = Vec::new();
        let end = loop {
            match self.next()? {
                (Token::End, at) => break at,
                (Token::Word(word), _) if word == "network" => {
                    self.name("the network's name")?;
                    self.expect('{')?;
                    while !self.take('}')? {
                        self.keyword("property")?;
                        self.property()?;
                    }
                }
                (Token::Word(word), _) if word == "variable" => {
                    let one = self.variable()?;
                    if numbers.insert(one.variable.name.clone(), declared.len()).is_some() {
                        let what = format!("the variable `{}` occurs twice", one.variable.name);
                        return Err(self.wrong(one.at, what));
                    }
                    declared.push(one);
                    blocks.push(None);
                }
                (Token::Word(word), _) if word == "probability" => {
                    let (node, block) = self.probability(&declared, &numbers)?;
                    if blocks[node].is_some() {
                        let name = &declared[node].variable.name;
                        let what = format!("`{name}` has had its table");
                        return Err(self.wrong(block.at, what));
                    }
                    blocks[node] = Some(block);
                }
                (token, at) => {
                    let what = format!(
                        "`network`, `variable` or `probability` is expected here, not {}",
                        token.shown()
                    );
                    return Err(self.wrong(at, what));
                }
            }
        };
        if declared.is_empty() {
            return Err(self.wrong(end, "there is no variable"));
        }
        let (variables, declared): (Vec<Variable>, Vec<At>) =
            declared.into_iter().map(|one| (one.variable, one.at)).unzip();
        let (mut parents, mut theta, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for ((block, variable), &at) in blocks.into_iter().zip(&variables).zip(&declared) {
            let Some(block) = block else {
                let what = format!("`{}` has no table; write a probability block", variable.name);
                return Err(self.wrong(at, what));
            };
            if theta.len() + block.count * variable.card() > CELLS_AT_MOST {
                let what =
                    format!("with the table of `{}` the network is too large", variable.name);
                return Err(self.wrong(block.at, what));
            }
            for row in 0..block.count {
                let Some(entries) = block.rows.get(&row).or(block.default.as_ref()) else {
                    let cards = block.parents.iter().map(|&parent| &variables[parent]);
                    let what = format!(
                        "`{}` has no row for ({})",
                        variable.name,
                        row_in_words(&cards.collect::<Vec<_>>(), row)
                    );
                    return Err(self.wrong(block.at, what));
                };
                theta.extend(entries);
            }
            parents.push(block.parents);
            places.push(block.at);
        }
        let network = Shape::new(&variables, parents)
            .and_then(|shape| Network::of_cells(variables.clone(), shape, theta));
        network.map_err(|error| {
            // Of a circle, the block of its first node.
            let of_circle = |(variable, _): &(&Variable, &At)| match &error {
                NetworkError::Cycle(circle) => {
                    circle.strip_prefix(&variable.name).is_some_and(|rest| rest.starts_with(" -> "))
                }
                _ => false,
            };
            let at = variables.iter().zip(&places).find(of_circle).map_or((1, 1), |(_, &at)| at);
            self.wrong(at, error.to_string())
        })
    }

    fn variable(&mut self) -> Result<Declared, BifError> {
        let (name, at) = self.name("a variable's name")?;
        self.expect('{')?;
        let (mut states, mut numbers) = (Vec::new(), HashMap::new());
        while !self.take('}')? {
            let (word, place) = self.name("`type` or `property`")?;
            if word == "property" {
                self.property()?;
                continue;
            }
            if word != "type" || !states.is_empty() {
                let what = format!("one `type`, or `property`, is expected here, not `{word}`");
                return Err(self.wrong(place, what));
            }
            self.keyword("discrete")?;
            self.expect('[')?;
            let (count, count_at) = self.name("the number of states")?;
            self.expect(']')?;
            self.expect('{')?;
            loop {
                let (state, place) = self.name("a state's name")?;
                if numbers.insert(state.clone(), states.len()).is_some() {
                    return Err(self.wrong(place, format!("the state `{state}` occurs twice")));
                }
                states.push(state);
                if self.take('}')? {
                    break;
                }
            }
            self.expect(';')?;
            if count.parse() != Ok(states.len()) {
                let what = format!("`{name}` has {} states, not {count}", states.len());
                return Err(self.wrong(count_at, what));
            }
        }
        if states.is_empty() {
            return Err(self.wrong(at, format!("`{name}` has no states; write its `type`")));
        }
        Ok(Declared { at, variable: Variable { name, states }, states: numbers })
    }

    /// The number of a name that a variable must have.
    fn known(
        &mut self,
        numbers: &HashMap<String, usize>,
        what: &str,
    ) -> Result<(usize, At), BifError> {
        let (name, at) = self.name(what)?;
        match numbers.get(&name) {
            Some(&node) => Ok((node, at)),
            None => Err(self.wrong(at, format!("there is no variable `{name}` above"))),
        }
    }

    fn probability(
        &mut self,
        declared: &[Declared],
        numbers: &HashMap<String, usize>,
    ) -> Result<(usize, Block), BifError> {
        self.expect('(')?;
        let (node, at) = self.known(numbers, "a variable's name")?;
        let mut parents = Vec::new();
        while !self.take(')')? {
            let (parent, place) = self.known(numbers, "a parent's name or `)`")?;
            if parent == node || parents.contains(&parent) {
                let name = &declared[parent].variable.name;
                let what = format!("`{name}` is in the list of parents already");
                return Err(self.wrong(place, what));
            }
            parents.push(parent);
        }
        self.expect('{')?;
        let cards = parents.iter().map(|&parent| declared[parent].variable.card());
        let (name, card) = (&declared[node].variable.name, declared[node].variable.card());
        let Some((count, _)) = table_size(cards, card) else {
            return Err(self.wrong(at, format!("the table of `{name}` is too large")));
        };
        let rows = HashMap::new();
        let mut block = Block { at, parents, count, rows, default: None };
        while !self.take('}')? {
            if self.take('(')? {
                let (row, place) = self.row(declared, &block.parents)?;
                let entries = self.entries(card)?;
                if block.rows.insert(row, self.normalised(entries)?).is_some() {
                    return Err(self.wrong(place, "this row has been before"));
                }
                continue;
            }
            let (word, place) = self.name("`(`, `table`, `default` or `}`")?;
            match word.as_str() {
                "property" => self.property()?,
                "default" if block.default.is_none() => {
                    let entries = self.entries(card)?;
                    block.default = Some(self.normalised(entries)?);
                }
                "table" if block.rows.is_empty() => {
                    let all = self.entries(count * card)?;
                    for row in 0..count {
                        let entries = (0..card).map(|state| all[state * count + row]).collect();
                        block.rows.insert(row, self.normalised(entries)?);
                    }
                }
                _ => {
                    let what = format!("a new row of the table is expected here, not `{word}`");
                    return Err(self.wrong(place, what));
                }
            }
        }
        Ok((node, block))
    }

    /// The number of the row whose states follow, and the place of the first.
    fn row(&mut self, declared: &[Declared], parents: &[usize]) -> Result<(usize, At), BifError> {
        let (mut row, mut first) = (0, None);
        for &parent in parents {
            let (state, at) = self.name("a parent's state")?;
            first = first.or(Some(at));
            let Declared { variable, states, .. } = &declared[parent];
            let Some(number) = states.get(&state) else {
                let (name, states) = (&variable.name, variable.states.join(", "));
                let what = format!("`{name}` has no state `{state}`, only {states}");
                return Err(self.wrong(at, what));
            };
            row = row * variable.card() + number;
        }
        self.expect(')')?;
        Ok((row, first.unwrap_or(self.rest.at)))
    }

    /// Reads `count` numbers from 0 to 1, each with its place, up to `;`.
    fn entries(&mut self, count: usize) -> Result<Vec<(f64, At)>, BifError> {
        let mut entries = Vec::new();
        loop {
            let (text, at) = self.name("a probability")?;
            match text.parse::<f64>() {
                Ok(value) if (0.0..=1.0).contains(&value) => entries.push((value, at)),
                _ => {
                    let what = format!("`{text}` is not a probability; write a number from 0 to 1");
                    return Err(self.wrong(at, what));
                }
            }
            let (next, end) = self.next()?;
            if next == Token::Mark(';') {
                if entries.len() != count {
                    let what = format!("{} numbers where {count} belong", entries.len());
                    return Err(self.wrong(end, what));
                }
                return Ok(entries);
            }
            self.ahead = Some((next, end));
        }
    }

    /// A row of probabilities, divided by its sum where print has rounded it.
    fn normalised(&self, entries: Vec<(f64, At)>) -> Result<Vec<f64>, BifError> {
        let sum: f64 = entries.iter().map(|(value, _)| value).sum();
        let off = (sum - 1.0).abs();
        if off > ROUNDED_WITHIN {
            let at = entries.first().map_or((1, 1), |&(_, at)| at);
            let sum = (sum * 1e9).round() / 1e9;
            let what =
                format!("the row sums to {sum}, not to 1; the difference may be at most 0.001");
            return Err(self.wrong(at, what));
        }
        let divisor = if off > EXACT_WITHIN { sum } else { 1.0 };
        Ok(entries.into_iter().map(|(value, _)| value / divisor).collect())
    }
}

/// The states of a row.
fn row_in_words(parents: &[&Variable], mut row: usize) -> String {
    let mut states: Vec<&str> = Vec::new();
    for parent in parents.iter().rev() {
        states.push(&parent.states[row % parent.card()]);
        row /= parent.card();
    }
    states.reverse();
    states.join(", ")
}
