use fishweir_core::context::{AutomatonView, ContextRule, Span, StringEnd};
use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::rows::digits;
use super::rows::{self, Table};
use super::{ContextModelError, ContextSet, Model, ModelScore, Scored, names_of_rows};
use crate::data::{Samples, SamplesView};
use crate::runtime::{HmmError, check};

/// Symbols of a drawn string at most, where it ends by an event of its own.
const MOST_SYMBOLS: usize = 1 << 20;

/// Share of the strings that may still be running when the others' ends are summed.
const LEFT: f64 = 1e-17;

/// Markov strings at run-time sizes: `p(x_1..T) = prod_t p[c(t)][x_t]`, where the context `c(t)` is what
/// the core's [automaton](fishweir_core::context::Automaton) makes of `x_1..t-1`.
///
/// A sequence is one whole string: where the end is an event, it comes after the last symbol. What a
/// string of order `k` begins with, `k` symbols, is not predicted; where sequences are drawn and
/// expected these are any, all as likely. After a missing symbol prediction goes on as soon as the
/// context is known again.
///
/// Score: `[context][event]`, `C E` entries, the end last. In the `ratio` parametrisation, with
/// `n(u sigma)` the times that `sigma` came in context `u`,
///
/// ```text
/// score[u][sigma] = n(u sigma) / p[u][sigma] - n(u)
/// ```
///
/// so that at `p = 1/K` the practical kernel is `K^2` times the `p`-spectrum kernel of strings of
/// `k + 1` symbols, less `K sum_u n(u) n'(u)`.
///
/// Sources: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, example
/// 12.32 and remark 12.33. Work per sequence: a look-up per symbol and `C E` for the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct MarkovModel {
    symbols: usize,
    end: bool,
    contexts: Vec<Vec<u16>>,
    probability: Table,
    /// The core's table, `[context][event]`, and where strings begin.
    #[serde(skip)]
    next: Vec<u16>,
    #[serde(skip)]
    span: Span,
}

/// Parts of a model's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    symbols: usize,
    end: bool,
    contexts: Vec<Vec<u16>>,
    probability: Table,
}

impl TryFrom<Parts> for MarkovModel {
    type Error = ContextModelError;

    fn try_from(Parts { symbols, end, contexts, probability }: Parts) -> Result<Self, Self::Error> {
        Self::new(symbols, end, contexts, probability)
    }
}

impl MarkovModel {
    /// A model over `symbols` symbols, with an event for the end or without, from contexts, `[context]`,
    /// and probabilities, `[context][event]`.
    ///
    /// A context is the symbols seen last in the order they came; a start marker is the symbol past the
    /// last. See [`Automaton`](fishweir_core::context::Automaton) for what the set decides.
    ///
    /// # Errors
    /// [`ContextModelError`] naming the first context or row that is wrong.
    pub fn new(
        symbols: usize,
        end: bool,
        contexts: Vec<Vec<u16>>,
        probability: Vec<Vec<f64>>,
    ) -> Result<Self, ContextModelError> {
        let events = count_events(symbols, end)?;
        check::distributions("probability", &probability, contexts.len(), events)?;
        let string_end = if end { StringEnd::Event } else { StringEnd::Open };
        let mut next = vec![0; contexts.len() * events];
        let span = match order_of(&contexts, symbols) {
            Some(order) => Span::order(order, events, string_end, &mut next)?,
            None => {
                let strings: Vec<&[u16]> = contexts.iter().map(Vec::as_slice).collect();
                Span::build(&strings, events, string_end, &mut next)?
            }
        };
        Ok(Self { symbols, end, contexts, probability, next, span })
    }

    /// The model that strings make likeliest, by counting what follows each context, with a
    /// pseudo-count; the contexts are the set's. A context that nothing followed has a uniform row.
    ///
    /// # Errors
    /// [`ContextModelError`] for a set that is invalid or too large, and a pseudo-count out of range.
    pub fn fit(
        set: &ContextSet,
        symbols: usize,
        end: bool,
        sequences: &[SamplesView<'_>],
        pseudo_count: f64,
    ) -> Result<Self, ContextModelError> {
        if sequences.is_empty() {
            return Err(ContextModelError::NoData);
        }
        Self::uniform(set, symbols, end, sequences)?.refit(sequences, pseudo_count)
    }

    /// Every event as likely as any other in every context of a set; sequences are what frequent ones
    /// are chosen from.
    ///
    /// # Errors
    /// [`ContextModelError`] for a set that is invalid or too large.
    pub fn uniform(
        set: &ContextSet,
        symbols: usize,
        end: bool,
        sequences: &[SamplesView<'_>],
    ) -> Result<Self, ContextModelError> {
        let events = count_events(symbols, end)?;
        let contexts = set.strings(symbols, end, sequences)?;
        let probability = rows::uniform(contexts.len(), events);
        Self::new(symbols, end, contexts, probability)
    }

    /// The model of this one's structure that strings make likeliest: what is impossible stays so, a
    /// context that nothing followed stays as it is.
    ///
    /// # Errors
    /// [`ContextModelError`] for a string that the model makes impossible, and for a pseudo-count out of
    /// range.
    pub fn refit(
        &self,
        sequences: &[SamplesView<'_>],
        pseudo_count: f64,
    ) -> Result<Self, ContextModelError> {
        rows::check_pseudo_count(pseudo_count)?;
        let mut model = self.clone();
        let sum = rows::total(sequences, |samples| self.count(samples))?;
        rows::maximise(&mut model.probability, &sum, pseudo_count);
        Ok(model)
    }

    /// The contexts, `[context]`.
    pub fn contexts(&self) -> &[Vec<u16>] {
        &self.contexts
    }

    /// Probabilities, `[context][event]`.
    pub fn probability(&self) -> &[Vec<f64>] {
        &self.probability
    }

    /// The core's table, `[context][event]` in a row, and where strings begin.
    pub(crate) fn automaton(&self) -> (&[u16], Span) {
        (&self.next, self.span)
    }

    /// Returns whether strings end by an event.
    pub fn has_end(&self) -> bool {
        self.end
    }

    /// Counts of each event in each context, `[context][event]`.
    ///
    /// # Errors
    /// The symbol that is invalid or that the model makes impossible; the end is the one past the last.
    pub fn count(&self, samples: SamplesView<'_>) -> Result<Vec<Vec<f64>>, SequenceError> {
        let symbols = samples.symbols().unwrap_or_default();
        // The end's number must not pass for a symbol.
        let symbol = |s: &Option<u16>| {
            s.map(|s| if usize::from(s) < self.symbols { s.into() } else { usize::MAX })
        };
        let end = self.end.then_some(Some(self.symbols));
        rows::count(&self.rule(), &self.probability, symbols.iter().map(symbol).chain(end))
    }

    pub(crate) fn rule(&self) -> AutomatonView<'_> {
        AutomatonView::new(&self.next, self.symbols + usize::from(self.end), self.span)
    }

    /// Expected number of predictions of each context, in a string of `length` symbols, or if there is
    /// an end, in a whole drawn string.
    fn visits(&self, length: usize) -> Vec<f64> {
        let count = self.contexts.len();
        let start = ContextRule::<usize, 1>::start(&self.rule());
        let longest = self.contexts.iter().map(Vec::len).max().unwrap_or(0);
        let (mut here, given) = match start.context() {
            Some(context) => {
                let mut here = vec![0.0; count];
                here[context] = 1.0;
                (here, 0)
            }
            // As many symbols as the contexts are long, any of them: then the context is any.
            None => (vec![1.0 / count as f64; count], longest),
        };
        let steps = if self.end { MOST_SYMBOLS } else { length.saturating_sub(given) };
        let events = self.symbols + usize::from(self.end);
        let mut visits = vec![0.0; count];
        for _ in 0..steps {
            let mut there = vec![0.0; count];
            for (context, &mass) in here.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                visits[context] += mass;
                let row = &self.probability[context][..self.symbols];
                let next = &self.next[context * events..];
                for (p, &to) in row.iter().zip(next) {
                    there[usize::from(to)] += mass * p;
                }
            }
            here = there;
            if here.iter().sum::<f64>() < LEFT {
                break;
            }
        }
        visits
    }
}

/// Symbols, and the end where it is an event.
fn count_events(symbols: usize, end: bool) -> Result<usize, HmmError> {
    if (1..=usize::from(u16::MAX)).contains(&symbols) {
        return Ok(symbols + usize::from(end));
    }
    Err(HmmError::Range { part: "symbols".into(), wanted: "from 1 to 65535" })
}

/// `k` where the contexts are all strings of `k` symbols in lexicographic order.
fn order_of(contexts: &[Vec<u16>], symbols: usize) -> Option<u16> {
    let order = contexts.first()?.len();
    let count = symbols.checked_pow(u32::try_from(order).ok()?)?;
    let in_order =
        |(number, context): (usize, &Vec<u16>)| *context == digits(number, symbols, order);
    let all = contexts.len() == count && contexts.iter().enumerate().all(in_order);
    if all { u16::try_from(order).ok() } else { None }
}

impl Model for MarkovModel {
    fn noun(&self) -> &'static str {
        "model of Markov strings"
    }

    fn size(&self) -> usize {
        self.symbols
    }

    /// `logits[context][event]`.
    fn parameter_names(&self) -> Vec<String> {
        names_of_rows("logits", self.contexts.len(), self.symbols + usize::from(self.end))
    }
}

impl Scored for MarkovModel {
    fn parameters(&self) -> usize {
        rows::parameters(&self.probability)
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        rows::scores(&self.probability, sequences, parametrisation, |samples| self.count(samples))
    }

    /// Draws a string. If the model has an end, its length is random, up to a million symbols.
    fn draw(&self, length: usize, seed: u64) -> Samples {
        let at_most = if self.end { MOST_SYMBOLS } else { length };
        Samples::Symbols(rows::draw(&self.rule(), &self.probability, self.symbols, at_most, seed))
    }

    fn symbols(&self) -> Option<usize> {
        Some(self.symbols)
    }

    /// Exact information. If the model has an end, it is that of strings of random length.
    fn information(
        &self,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Option<Vec<Vec<f64>>> {
        Some(rows::information(&self.probability, &self.visits(length), parametrisation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_symbols_overflows() {
        for (symbols, end) in [(0, true), (usize::MAX, true), (usize::MAX, false)] {
            let made = MarkovModel::new(symbols, end, vec![vec![]], vec![vec![1.0]]);
            let error = made.expect_err("no alphabet").to_string();
            assert_eq!(error, "symbols must be from 1 to 65535");
            assert!(MarkovModel::uniform(&ContextSet::Order(0), symbols, end, &[]).is_err());
        }
    }
}
