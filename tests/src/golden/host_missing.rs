//! Sequences of which single channels are missing, by the host.

use fishweir::batch::{log_likelihoods, posteriors};
use fishweir::data::{Rows, Samples};
use fishweir::fit::{BaumWelch, fit};
use fishweir::runtime::{Emissions, Hmm, family};

use super::baum_welch::compare;
use super::compare::Comparison;
use crate::oracle::{Law, Model, Observation, Sequence};
use crate::rounding::Tolerance;

/// Likelihoods, posteriors, best paths and a step of Baum-Welch, at the case's tolerance.
pub(super) fn compare_with_host(
    model: &Model,
    sequences: &[Sequence],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let host = host_of(model)?;
    let samples: Vec<Samples> = sequences.iter().map(|x| samples_of(x, host.size())).collect();
    let views: Vec<_> = samples.iter().map(Samples::view).collect();
    let logs = log_likelihoods::<f64>(&host, &views).map_err(|error| error.to_string())?;
    let smoothed = posteriors(&host, &views).map_err(|error| error.to_string())?;
    for (index, ((log, smoothed), view)) in logs.iter().zip(&smoothed).zip(&views).enumerate() {
        let named = |name: &str| format!("per_sequence[{index}].{name}");
        let log = log.as_ref().map_or(f64::NEG_INFINITY, |log| *log);
        comparison.field(&named("log_likelihood"), log, Tolerance::EXACT);
        let rows = smoothed.as_ref().ok().map(|one| one.rows().map(<[f64]>::to_vec).collect());
        let rows: Option<Vec<Vec<f64>>> = rows;
        comparison.field(&named("gamma"), rows, Tolerance::EXACT);
        let path = host.decode(*view).map_or(f64::NEG_INFINITY, |path| path.log_probability);
        comparison.field(&named("viterbi_log_prob"), path, Tolerance::EXACT);
    }
    let Some(expected) = comparison.read::<Model>("after_one_step")? else { return Ok(()) };
    let options = BaumWelch {
        states: model.states(),
        iterations: 1,
        tolerance: 0.0,
        restarts: 1,
        std_floor: 1e-12,
        symbol_pseudocount: 0.0,
        transition_pseudocount: 0.0,
        ..BaumWelch::default()
    };
    let scale = vec![1.0; host.size()];
    let fitted = fit(&options, host, &views, &scale, &|| ()).map_err(|error| error.to_string())?;
    let after = plain(&fitted.model, model)?;
    compare("host.after_one_step", &expected, &after, Tolerance::EXACT, comparison);
    Ok(())
}

/// Rows of so many channels, NaN where one is missing.
fn samples_of(sequence: &Sequence, channels: usize) -> Samples {
    let mut rows = Rows::new(channels);
    for x in sequence {
        rows.push(match x {
            Some(Observation::Channels(x)) => Some(x),
            _ => None,
        });
    }
    Samples::Channels(rows)
}

/// A model's laws as the blocks of the host's family.
pub(super) fn host_of(model: &Model) -> Result<Hmm, String> {
    let root = |v: &Vec<f64>| -> Vec<f64> { v.iter().map(|v| v.sqrt()).collect() };
    let blocks = |law: &Law| -> Result<(&str, Vec<Vec<f64>>), String> {
        Ok(match law {
            Law::Gaussian { mean, variance } => ("gaussian", vec![mean.clone(), root(variance)]),
            Law::FullGaussian { mean, covariance } => {
                ("full-gaussian", vec![mean.clone(), covariance.concat()])
            }
            Law::Poisson(rate) => ("poisson", vec![rate.clone()]),
            Law::Bernoulli(p) => ("bernoulli", vec![p.clone()]),
            Law::Mixture { weight, component } => {
                let (mut means, mut stds) = (Vec::new(), Vec::new());
                for law in component {
                    let Law::Gaussian { mean, variance } = law else {
                        return Err("a mixture of others than Gaussians".into());
                    };
                    means.extend_from_slice(mean);
                    stds.extend(root(variance));
                }
                ("mixture", vec![weight.clone(), means, stds])
            }
            Law::Categorical(_) => return Err("symbols have no parts".into()),
        })
    };
    let mut name = "";
    let mut parts: Vec<Vec<Vec<f64>>> = Vec::new();
    for law in &model.emission {
        let (own, of_state) = blocks(law)?;
        name = own;
        parts.resize(of_state.len(), Vec::new());
        parts.iter_mut().zip(of_state).for_each(|(block, row)| block.push(row));
    }
    let family = family(name).ok_or("no such family")?;
    Ok(Hmm {
        initial: model.initial.clone(),
        transition: model.transition.clone(),
        emission: Emissions::new(family, parts),
    })
}

/// The host's model as plain numbers.
fn plain(hmm: &Hmm, like: &Model) -> Result<Model, String> {
    let part = |name: &str, state: usize| -> Result<Vec<f64>, String> {
        let rows = hmm.emission.part(name).ok_or("a part is missing")?;
        Ok(rows[state].clone())
    };
    let square = |std: &[f64]| -> Vec<f64> { std.iter().map(|std| std * std).collect() };
    let law = |(state, law): (usize, &Law)| -> Result<Law, String> {
        Ok(match law {
            Law::Gaussian { .. } => {
                Law::Gaussian { mean: part("mean", state)?, variance: square(&part("std", state)?) }
            }
            Law::FullGaussian { mean, .. } => {
                let covariance = part("covariance", state)?;
                let rows = covariance.chunks(mean.len()).map(<[f64]>::to_vec).collect();
                Law::FullGaussian { mean: part("mean", state)?, covariance: rows }
            }
            Law::Poisson(_) => Law::Poisson(part("rate", state)?),
            Law::Bernoulli(_) => Law::Bernoulli(part("probability", state)?),
            Law::Mixture { weight, .. } => {
                let (means, stds) = (part("mean", state)?, part("std", state)?);
                let size = means.len() / weight.len();
                let laws = means.chunks(size).zip(stds.chunks(size));
                let component = laws.map(|(mean, std)| Law::Gaussian {
                    mean: mean.to_vec(),
                    variance: square(std),
                });
                Law::Mixture { weight: part("weight", state)?, component: component.collect() }
            }
            Law::Categorical(_) => return Err("symbols have no parts".into()),
        })
    };
    Ok(Model {
        initial: hmm.initial.clone(),
        transition: hmm.transition.clone(),
        emission: like.emission.iter().enumerate().map(law).collect::<Result<_, _>>()?,
    })
}
