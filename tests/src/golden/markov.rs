use fishweir_core::context::{
    AutomatonView, ContextLikelihood, ContextModel, ContextStatistics, Span, StringEnd,
    Unnormalised,
};
use fishweir_core::emission::Categorical;
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::features::{Features, with_gaps};
use super::host_context;
use super::kernel::{after, all};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::build::filled;
use crate::rounding::Tolerance;

/// Markov strings over unnormalised parameters.
pub(super) struct Strings;

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Set {
    OrderK,
    OrderKEnd,
    OrderKPadded,
    SuffixTree,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    kind: Set,
    alphabet_size: usize,
    order: Option<usize>,
    contexts: Vec<Vec<u16>>,
    a: Matrix,
    strings: Vec<Vec<usize>>,
}

/// Events and contexts that the tests are compiled for; a padded context is never entered, a padded
/// event has probability zero.
const EVENTS: usize = 32;
const CONTEXTS: usize = 256;

/// The core's constant constructors are of two types.
pub(super) trait Parameters: Real {
    fn parameters(
        a: [[Self; EVENTS]; CONTEXTS],
    ) -> Result<(Unnormalised<EVENTS, CONTEXTS, Self>, Rows<Self>), fishweir_core::ModelError>;
}
type Rows<T> = [Categorical<EVENTS, T>; CONTEXTS];

macro_rules! parameters {
    ($($t:ty),*) => {$(
        impl Parameters for $t {
            fn parameters(
                a: [[Self; EVENTS]; CONTEXTS],
            ) -> Result<(Unnormalised<EVENTS, CONTEXTS, Self>, Rows<Self>), fishweir_core::ModelError>
            {
                let a = Unnormalised::<EVENTS, CONTEXTS, $t>::new(a)?;
                Ok((a, a.probabilities()))
            }
        }
    )*};
}
parameters!(f32, f64);

impl Inputs {
    /// That the set of contexts is of the kind that the case says.
    fn check(&self, columns: usize) -> Result<(), String> {
        let lengths = || self.contexts.iter().map(Vec::len);
        let of_order = self.order.is_some_and(|order| lengths().all(|length| length == order));
        let symbol = self.alphabet_size;
        let marked = self.contexts.iter().flatten().any(|&s| usize::from(s) == symbol);
        let consistent = match self.kind {
            Set::OrderK => of_order && !marked && columns == symbol,
            Set::OrderKEnd => of_order && !marked && columns == symbol + 1,
            Set::OrderKPadded => {
                of_order && (marked || self.order == Some(0)) && columns == symbol + 1
            }
            Set::SuffixTree => lengths().any(|length| length == 0) && !marked,
        };
        let shaped = self.a.len() == self.contexts.len()
            && self.a.iter().all(|row| row.len() == columns)
            && self.contexts.len() <= CONTEXTS
            && columns <= EVENTS;
        match (consistent, shaped) {
            (true, true) => Ok(()),
            (false, _) => Err("the contexts are not of the kind the case says".into()),
            (_, false) => Err(format!("a table past {CONTEXTS} contexts of {EVENTS} events")),
        }
    }
}

/// What a possible string gives.
struct Answer {
    log: f64,
    counts: Matrix,
    score: Matrix,
}

impl Kind for Strings {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let columns = inputs.a.first().map_or(0, Vec::len);
        inputs.check(columns)?;
        if T::ROUNDING == 0.0 {
            host_context::markov(
                inputs.alphabet_size,
                &inputs.contexts,
                &inputs.a,
                &inputs.strings,
                comparison,
            )?;
        }
        let end = if columns > inputs.alphabet_size { StringEnd::Event } else { StringEnd::Open };
        let contexts: Vec<&[u16]> = inputs.contexts.iter().map(Vec::as_slice).collect();
        let mut next = vec![0; contexts.len() * columns];
        let span = Span::build(&contexts, columns, end, &mut next).map_err(|e| e.to_string())?;
        let automaton = AutomatonView::new(&next, columns, span);
        let run = |string: &[usize]| match T::ROUNDING {
            0.0 => answer::<f64>(automaton, &inputs, end, string),
            _ => answer::<f32>(automaton, &inputs, end, string),
        };
        let answers: Vec<Option<Answer>> =
            inputs.strings.iter().map(|s| run(s)).collect::<Result<_, _>>()?;

        let unit = T::ROUNDING;
        let longest = inputs.strings.iter().map(Vec::len).max().unwrap_or(0) as f64 + 1.0;
        let logs: Row = answers
            .iter()
            .map(|answer| answer.as_ref().map_or(f64::NEG_INFINITY, |answer| answer.log))
            .collect();
        let most = logs.iter().filter(|log| log.is_finite()).fold(0.0, |m: f64, l| m.max(l.abs()));
        // Every probability is a quotient of a sum; products round once, the logarithm by its size.
        let steps = longest * (columns as f64 + 3.0);
        let slack = Tolerance::absolute(unit * (steps + 4.0 * most));
        comparison.field("log_likelihood", logs, slack);
        let pick = |f: fn(&Answer) -> Matrix| -> Vec<Option<Matrix>> {
            answers.iter().map(|answer| answer.as_ref().map(f)).collect()
        };
        let exact = Tolerance::EXACT;
        comparison.field("counts", pick(|a| a.counts.clone()), exact);

        let flat = |f: &dyn Fn(&Answer) -> Matrix| -> Matrix {
            answers.iter().flatten().map(|answer| f(answer).concat()).collect()
        };
        let ratio = |answer: &Answer| -> Matrix {
            let rows = answer.counts.iter().zip(&inputs.a);
            rows.map(|(n, a)| n.iter().zip(a).map(|(n, a)| n / a).collect()).collect()
        };
        let error = |answer: &Answer| -> Matrix {
            let rows = answer.counts.iter().zip(&inputs.a);
            rows.map(|(n, a)| {
                let visits = n.iter().sum::<f64>() / a.iter().sum::<f64>();
                let entry = |(n, a): (&f64, &f64)| {
                    unit * (4.0 * n / a + (4.0 + 2.0 * columns as f64) * visits)
                };
                n.iter().zip(a).map(entry).collect()
            })
            .collect()
        };
        let features = Features { score: flat(&|a| a.score.clone()), error: flat(&error) };
        let slack = Tolerance::absolute(features.most());
        comparison.field("score", pick(|a| a.score.clone()), slack);
        let possible: Vec<bool> = answers.iter().map(Option::is_some).collect();
        let counts = flat(&|answer| answer.counts.clone());
        let first = flat(&ratio);
        let without_error = |score: Matrix| Features {
            error: score.iter().map(|row| vec![0.0; row.len()]).collect(),
            score,
        };
        let kernels = [
            ("practical", features),
            ("p_spectrum", without_error(counts)),
            ("practical_without_second_term", without_error(first)),
        ];
        for (name, features) in kernels {
            let (gram, error) = features.gram(None);
            let [gram, error] = [gram, error].map(|rows| with_gaps(rows, &possible));
            comparison.field_each(name, gram, Tolerance::EXACT, error);
        }
        Ok(())
    }
}

fn answer<T: Parameters>(
    automaton: AutomatonView<'_>,
    inputs: &Inputs,
    end: StringEnd,
    string: &[usize],
) -> Result<Option<Answer>, String> {
    let mut a = [[T::ZERO; EVENTS]; CONTEXTS];
    for (context, row) in a.iter_mut().enumerate() {
        match inputs.a.get(context) {
            Some(plain) => *row = filled(plain, 0.0)?,
            None => row[0] = T::ONE,
        }
    }
    let (parameters, rows) = T::parameters(a).map_err(|error| error.to_string())?;
    let model = ContextModel::new(automaton, rows);
    let mut events = string.to_vec();
    if end == StringEnd::Event {
        events.push(inputs.alphabet_size);
    }
    let impossible = fishweir_core::ObservationError::Impossible.to_string();
    let log = match after(ContextLikelihood::of(&model), all(&events)) {
        Ok(log) => log.to_f64(),
        Err(error) if error == impossible => return Ok(None),
        Err(error) => return Err(error),
    };
    let counts = after(ContextStatistics::of(&model), all(&events))?;
    let score = parameters.score(&counts);
    let columns = inputs.a.first().map_or(0, Vec::len);
    let cut = |rows: &[[T; EVENTS]; CONTEXTS]| -> Matrix {
        let row = |row: &[T; EVENTS]| row[..columns].iter().map(|x| x.to_f64()).collect();
        rows[..inputs.a.len()].iter().map(row).collect()
    };
    Ok(Some(Answer { log, counts: cut(&counts), score: cut(&score) }))
}
