use std::borrow::Borrow;

use fishweir_core::emission::{Categorical, Emission, Gaussian, Mixture};
use fishweir_core::filter::Forward;
use fishweir_core::kernel::{Affinity, categorical_log_overlap};
use serde::Deserialize;

use super::between::{Compared, MixtureJson, Pair};
use super::compare::Comparison;
use super::kernel::after;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::build::{Family, padded, samples};
use crate::oracle::{Law, Model, Sequence, sequences};
use crate::rounding::Tolerance;

/// The probability product kernel between mixtures and between hidden Markov models.
pub(super) struct LatentProducts;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    MixtureDiscrete {
        weights: Row,
        components: Matrix,
        weights2: Row,
        components2: Matrix,
        rhos: Row,
    },
    MixtureGauss {
        p: MixtureJson,
        p2: MixtureJson,
        rhos: Row,
    },
    Hmm {
        hmm: Model,
        hmm2: Model,
        steps: Vec<usize>,
        rhos: Row,
    },
}

impl Kind for LatentProducts {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (pair, rhos) = match inputs {
            Inputs::MixtureDiscrete { weights, components, weights2, components2, rhos } => {
                let of = |weight, components: Matrix| {
                    let component = components.into_iter().map(Law::Categorical).collect();
                    Law::Mixture { weight, component }
                };
                (Pair::of(of(weights, components), of(weights2, components2)), rhos)
            }
            Inputs::MixtureGauss { p, p2, rhos } => (Pair::of(p.try_into()?, p2.try_into()?), rhos),
            Inputs::Hmm { hmm, hmm2, steps, rhos } => {
                let models = [hmm, hmm2];
                return between_chains::<T>(models, &steps, &rhos, comparison);
            }
        };
        let mut compared = Compared::of::<T>(&pair, &measures(&rhos), comparison)?;
        compared.each("k_tilde", |logs| logs.both.exp());
        compared.each("cosine", |logs| logs.normalised());
        if comparison.expects("k_true") {
            let logs = true_logs::<T, Mixture<Categorical<4, T>, 4>>(&pair, &rhos)?;
            compare_true("k_true", logs, T::ROUNDING * 200.0, comparison);
        }
        if comparison.expects("k_true_quadrature") {
            let logs = quadrature::<T>(&pair, &rhos)?;
            let slack = T::ROUNDING * 400.0;
            compare_true("k_true_quadrature", logs, slack, comparison);
        }
        Ok(())
    }
}

fn measures(rhos: &Row) -> Vec<Affinity<f64>> {
    rhos.iter().map(|&rho| Affinity::Product { rho }).collect()
}

fn between_chains<T: Precise>(
    models: [Model; 2],
    steps: &[usize],
    rhos: &Row,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let mut pair = Pair { models, steps: 0 };
    comparison.blocks("per_steps", steps.len());
    for (block, &steps) in steps.iter().enumerate() {
        pair.steps = steps;
        let name = |field: &str| format!("per_steps[{block}].{field}");
        comparison.field(&name("steps"), steps, Tolerance::EXACT);
        let mut compared = Compared::of::<T>(&pair, &measures(rhos), comparison)?;
        compared.psi("psi");
        compared.each(&name("log_k_tilde"), |logs| logs.both);
        compared.each(&name("k_tilde"), |logs| logs.both.exp());
        compared.each(&name("cosine"), |logs| logs.normalised());
        if comparison.expects(&name("k_true")) {
            let logs = true_logs::<T, Categorical<4, T>>(&pair, rhos)?;
            let slack = T::ROUNDING * 100.0 * (1 + steps) as f64;
            compare_true(&name("k_true"), logs, slack, comparison);
        }
    }
    Ok(())
}

fn compare_true(name: &str, logs: Row, slack: f64, comparison: &mut Comparison) {
    let got: Row = logs.into_iter().map(f64::exp).collect();
    comparison.field(name, got, Tolerance::relative(slack));
}

/// `log sum_x p(x)^rho q(x)^rho` over all sequences, of what the filter says of each: the kernel of what is
/// observed, as that of two distributions of so many symbols.
fn true_logs<T: Precise, E: Family<T>>(pair: &Pair, rhos: &Row) -> Result<Row, String> {
    let [p, q] = pair.models.each_ref().map(|model| probabilities::<T, E>(model, pair.steps + 1));
    let (p, q) = (p?, q?);
    let log = |&rho: &f64| {
        categorical_log_overlap(&p, &q, Affinity::Product { rho: T::from_f64(rho) }).to_f64()
    };
    Ok(rhos.iter().map(log).collect())
}

fn probabilities<T: Precise, E: Family<T>>(model: &Model, length: usize) -> Result<Vec<T>, String> {
    let hmm = padded::<T, E, 4>(model)?;
    let symbols = match model.emission.first() {
        Some(Law::Categorical(p)) => p.len(),
        Some(Law::Mixture { component, .. }) => match component.first() {
            Some(Law::Categorical(p)) => p.len(),
            _ => return Err("a mixture of no symbols".into()),
        },
        _ => return Err("no symbols to sum over".into()),
    };
    let probability = |sequence: Sequence| {
        let sequence = samples::<T, E>(&sequence)?;
        let sequence: Vec<_> = sequence.into_iter().flatten().collect();
        let log = after(Forward::of(&hmm), sequence.iter().map(|x| Some(x.borrow())));
        // A sequence that a model cannot make.
        Ok(log.map_or(T::ZERO, T::exp))
    };
    sequences(symbols, length).map(probability).collect()
}

/// `log integral p(x)^rho q(x)^rho dx` of one channel, by the trapezoidal rule.
fn quadrature<T: Precise>(pair: &Pair, rhos: &Row) -> Result<Row, String> {
    let law = |model: &Model| <Mixture<Gaussian<1, T>, 4> as Family<T>>::build(&model.emission[0]);
    let (p, q) = (law(&pair.models[0])?, law(&pair.models[1])?);
    let (step, reach) = (1.0 / 256.0, 64 * 256);
    let log = |&rho: &f64| {
        let at = |point: i32| {
            let x = [T::from_f64(step * f64::from(point))];
            let log = p.log_likelihood(&x).to_f64() + q.log_likelihood(&x).to_f64();
            step * (rho * log).exp()
        };
        (-reach..=reach).map(at).sum::<f64>().ln()
    };
    Ok(rhos.iter().map(log).collect())
}
