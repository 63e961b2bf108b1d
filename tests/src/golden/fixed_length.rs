use fishweir_core::emission::Categorical;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::FixedLength;
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::kernel::{Slack, after, all, compare_gram, compare_kernel};
use super::precision::{Kind, Precise};
use super::schema::Row;
use super::through_host;
use crate::build::{LARGEST, padded};
use crate::oracle::{Law, Model, words};

/// The kernel of sequences of one length under a hidden Markov model.
pub(super) struct Fixed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    s: Option<Vec<usize>>,
    t: Option<Vec<usize>>,
    sequences: Option<Vec<Vec<usize>>>,
}

type Symbolic<T, const N: usize> = Hmm<Categorical<{ LARGEST.symbols }, T>, N>;

impl Kind for Fixed {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let pairs = match (inputs.s, inputs.t, inputs.sequences) {
            (Some(s), Some(t), None) => Pairs::One(s, t),
            (None, None, Some(sequences)) => Pairs::All(sequences),
            _ => return Err("either `s` and `t` or `sequences`".into()),
        };
        match model.states() {
            ..=4 => check::<T, 4>(&model, pairs, comparison),
            _ => check::<T, { LARGEST.states }>(&model, pairs, comparison),
        }
    }
}

enum Pairs {
    One(Vec<usize>, Vec<usize>),
    All(Vec<Vec<usize>>),
}

fn check<T: Precise, const N: usize>(
    model: &Model,
    pairs: Pairs,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let hmm: Symbolic<T, N> = padded(model)?;
    let length = match &pairs {
        Pairs::One(s, _) => s.len(),
        Pairs::All(sequences) => sequences.first().map_or(0, Vec::len),
    };
    let slack = |log| Slack::new(T::ROUNDING, (N + 10) as f64 * length as f64, log);
    let host = if T::ROUNDING == 0.0 { through_host::fixed_length(model)? } else { None };
    match pairs {
        Pairs::One(s, t) => {
            if s.len() != t.len() {
                return Err("sequences of two lengths".into());
            }
            let kernel = FixedLength::of(&hmm, [&s[..]]).map_err(|error| error.to_string())?;
            let mut stream = Stream::new(kernel);
            let mut subkernels = Vec::new();
            for x in &t {
                stream.push(x).map_err(|error| error.to_string())?;
                let [row] = kernel.subkernels(stream.state());
                subkernels.push(
                    row[..model.states()].iter().map(|log| log.to_f64().exp()).collect::<Row>(),
                );
            }
            let log = stream.read()[0].to_f64();
            let slack = slack(log);
            compare_kernel(comparison, log, slack);
            if let Some(host) = &host {
                let log = through_host::log_kernel(host, &s, &t)?;
                compare_kernel(comparison, log, slack);
            }
            comparison.field("subkernels", subkernels, slack.value());
            if comparison.expects("total_mass") {
                let mass = total_mass(&hmm, model, length)?;
                comparison.field("total_mass", mass, slack.value());
            }
        }
        Pairs::All(sequences) => {
            let mut log_gram = Vec::new();
            for s in &sequences {
                let mut row = Vec::new();
                for t in &sequences {
                    let kernel =
                        FixedLength::of(&hmm, [&s[..]]).map_err(|error| error.to_string())?;
                    row.push(after(kernel, all(t))?[0].to_f64());
                }
                log_gram.push(row);
            }
            compare_gram(comparison, log_gram, slack);
            if let Some(host) = &host {
                let sequences: Vec<&[usize]> = sequences.iter().map(Vec::as_slice).collect();
                let log_gram = through_host::log_gram_of(host, &sequences)?;
                compare_gram(comparison, log_gram, slack);
            }
        }
    }
    Ok(())
}

/// The sum over all pairs of sequences.
fn total_mass<T: Real, const N: usize>(
    hmm: &Symbolic<T, N>,
    model: &Model,
    length: usize,
) -> Result<f64, String> {
    let Some(Law::Categorical(p)) = model.emission.first() else {
        return Err("no symbols to sum over".into());
    };
    let mut mass = 0.0;
    for s in words(p.len(), length) {
        for t in words(p.len(), length) {
            let kernel = FixedLength::of(hmm, [&s[..]]).map_err(|error| error.to_string())?;
            mass += after(kernel, all(&t))?[0].to_f64().exp();
        }
    }
    Ok(mass)
}
