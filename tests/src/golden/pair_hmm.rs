use fishweir_core::filter::Stream;
use fishweir_core::kernel::{PairHmm, PairKernel, Scaled};
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::doubles;
use super::kernel::{Slack, after, all, compare_gram, compare_kernel};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::through_host;
use crate::build::kernels::pair;
use crate::oracle::{PairEnd, PairModel};
use crate::rounding::Tolerance;

/// The kernel of sequences of any lengths under a pair hidden Markov model.
pub(super) struct Pairs;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndJson {
    None,
    FinalSilent,
    FinalEmitting,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    transition: Matrix,
    emission: Matrix,
    epsilon: Row,
    end: EndJson,
    end_prob: Option<Row>,
    final_state: Option<usize>,
    s: Option<Vec<usize>>,
    t: Option<Vec<usize>>,
    sequences: Option<Vec<Vec<usize>>>,
}

/// Sizes that the tests are compiled for.
const STATES: usize = 8;
const SYMBOLS: usize = 24;
const ROWS: usize = 1024;

type Reduced<T> = PairHmm<T, STATES, SYMBOLS>;
type Kernel<'m, T> = PairKernel<'m, PairHmm<T, STATES, SYMBOLS>, usize, [Scaled<T, STATES>; ROWS]>;

impl Inputs {
    /// State 0 of the file is the initial one: its row is the initial distribution.
    pub(super) fn plain(&self) -> Result<PairModel, String> {
        let [first, rest @ ..] = &self.transition[..] else { return Err("no state".into()) };
        let states = rest.len();
        let fit = rest.iter().chain([first]).all(|row| row.len() == states + 1 && row[0] == 0.0);
        if !fit || self.emission.len() != states + 1 || self.epsilon.len() != states + 1 {
            return Err("transition, emission and epsilon differ in their number of states".into());
        }
        let end = match (&self.end, &self.end_prob, self.final_state) {
            (EndJson::None, None, None) => PairEnd::Anywhere,
            (EndJson::FinalSilent, Some(p), None) if p.len() == states + 1 => {
                PairEnd::Silent(p.clone())
            }
            (EndJson::FinalEmitting, None, Some(last @ 1..)) => PairEnd::Emitting(last - 1),
            _ => return Err("an end that does not say where".into()),
        };
        Ok(PairModel {
            initial: first[1..].to_vec(),
            transition: rest.iter().map(|row| row[1..].to_vec()).collect(),
            emission: self.emission[1..].to_vec(),
            empty: self.epsilon[1..].to_vec(),
            end,
        })
    }
}

impl Kind for Pairs {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let plain = inputs.plain()?;
        let states = plain.initial.len();
        let model: Reduced<T> = pair(&plain)?;
        let with_initial = |first: f64, row: &[T; STATES]| -> Row {
            [first].into_iter().chain(doubles(&row[..states])).collect()
        };
        let mut transition = vec![with_initial(0.0, &model.initial())];
        transition.extend(model.transition()[..states].iter().map(|row| with_initial(0.0, row)));
        let end = with_initial(model.initial_end().to_f64(), model.end());
        // States are eliminated one by one: no more roundings than its cube to any entry.
        let reduction = T::ROUNDING * 8.0 * (STATES * STATES) as f64;
        let reduced = Tolerance::relative(reduction);
        comparison.field("reduced_transition", transition, reduced);
        comparison.field("reduced_end_weight", end, reduced);
        let slack = |length: usize, log| {
            let step = (9 * STATES + 12) as f64;
            Slack::new(T::ROUNDING, (length + 1) as f64 * step, log)
        };
        let double = T::ROUNDING == 0.0;
        let host = double.then(|| through_host::pair_hmm(&plain)).transpose()?;
        match (&inputs.s, &inputs.t, &inputs.sequences) {
            (Some(s), Some(t), None) => {
                let kernel = Kernel::of(&model, s).map_err(|error| error.to_string())?;
                let mut stream = Stream::new(kernel);
                stream.push_block(t).map_err(|error| error.to_string())?;
                let log = stream.read().to_f64();
                let slack = slack(s.len() + t.len(), log);
                compare_kernel(comparison, log, slack);
                if let Some(host) = &host {
                    let log = through_host::log_kernel(host, s, t)?;
                    compare_kernel(comparison, log, slack);
                }
                let (initial, row) = kernel.subkernels(stream.state());
                let without: f64 = row.iter().map(|log| log.to_f64().exp()).sum();
                let without = initial.to_f64().exp() + without;
                let name = "dp_without_end_weight";
                comparison.field(name, without, slack.value());
            }
            (None, None, Some(sequences)) => {
                let row = |s: &Vec<usize>| -> Result<Row, String> {
                    let kernel = Kernel::of(&model, s).map_err(|error| error.to_string())?;
                    sequences.iter().map(|t| Ok(after(kernel, all(t))?.to_f64())).collect()
                };
                let log_gram = sequences.iter().map(row).collect::<Result<Vec<_>, _>>()?;
                let longest = sequences.iter().map(Vec::len).max().unwrap_or(0);
                let slack = |most| slack(2 * longest, most);
                compare_gram(comparison, log_gram, slack);
                if let Some(host) = &host {
                    let sequences: Vec<&[usize]> = sequences.iter().map(Vec::as_slice).collect();
                    let log_gram = through_host::log_gram_of(host, &sequences)?;
                    compare_gram(comparison, log_gram, slack);
                }
            }
            _ => return Err("either `s` and `t` or `sequences`".into()),
        }
        Ok(())
    }
}
