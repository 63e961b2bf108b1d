use fishweir::data::{Rows, Samples};
use fishweir::fit::{BaumWelch, fit};
use fishweir::runtime::{Emissions, Hmm};

use crate::oracle::{Law, Model, Observation, Sequence};

/// A fit by the host: the model after so many steps, and the log-likelihood before each and after
/// the last.
pub(super) struct HostFit {
    pub(super) model: Model,
    pub(super) log_likelihood: Vec<f64>,
}

/// Baum-Welch steps by the host's own fit, held to nothing: no floor, no pseudo-counts. `None` for
/// families that the host does not fit.
pub(super) fn host_fit(
    model: &Model,
    sequences: &[Sequence],
    steps: usize,
) -> Option<Result<HostFit, String>> {
    let start = Hmm {
        initial: model.initial.clone(),
        transition: model.transition.clone(),
        emission: emissions(model)?,
    };
    let samples: Vec<Samples> = sequences.iter().map(samples).collect::<Option<_>>()?;
    let views: Vec<_> = samples.iter().map(Samples::view).collect();
    let options = BaumWelch {
        states: model.states(),
        iterations: steps,
        tolerance: 0.0,
        restarts: 1,
        seed: 1,
        std_floor: 1e-12,
        symbol_pseudocount: 0.0,
        transition_pseudocount: 0.0,
        ..BaumWelch::default()
    };
    let scale = match &start.emission {
        Emissions::Gaussian { mean, .. } => vec![1.0; mean.first().map_or(0, Vec::len)],
        Emissions::Categorical { .. } => Vec::new(),
    };
    let fitted = fit(&options, start, &views, &scale, &|| ());
    Some(fitted.map_err(|error| error.to_string()).map(|fitted| HostFit {
        model: plain(&fitted.model),
        log_likelihood: fitted.log_likelihood,
    }))
}

fn emissions(model: &Model) -> Option<Emissions> {
    let categorical = |law: &Law| match law {
        Law::Categorical(p) => Some(p.clone()),
        _ => None,
    };
    let gaussian = |law: &Law| match law {
        Law::Gaussian { mean, variance } => {
            Some((mean.clone(), variance.iter().map(|v| v.sqrt()).collect()))
        }
        _ => None,
    };
    let laws = || model.emission.iter();
    if let Some(probability) = laws().map(categorical).collect() {
        return Some(Emissions::Categorical { probability });
    }
    let pairs: Option<Vec<(Vec<f64>, Vec<f64>)>> = laws().map(gaussian).collect();
    let (mean, std) = pairs?.into_iter().unzip();
    Some(Emissions::Gaussian { mean, std })
}

fn plain(hmm: &Hmm) -> Model {
    let emission = match &hmm.emission {
        Emissions::Categorical { probability } => {
            probability.iter().cloned().map(Law::Categorical).collect()
        }
        Emissions::Gaussian { mean, std } => {
            let pairs = mean.iter().zip(std);
            let law = |(mean, std): (&Vec<f64>, &Vec<f64>)| Law::Gaussian {
                mean: mean.clone(),
                variance: std.iter().map(|std| std * std).collect(),
            };
            pairs.map(law).collect()
        }
    };
    Model { initial: hmm.initial.clone(), transition: hmm.transition.clone(), emission }
}

fn samples(sequence: &Sequence) -> Option<Samples> {
    let channels = sequence.iter().flatten().find_map(|x| match x {
        Observation::Channels(x) => Some(x.len()),
        Observation::Symbol(_) => None,
    });
    if let Some(channels) = channels {
        let mut rows = Rows::new(channels);
        for x in sequence {
            match x {
                Some(Observation::Channels(x)) if x.len() == channels => rows.push(Some(x)),
                None => rows.push(None),
                _ => return None,
            }
        }
        return Some(Samples::Channels(rows));
    }
    let symbol = |x: &Option<Observation>| match x {
        Some(Observation::Symbol(symbol)) => u16::try_from(*symbol).ok().map(Some),
        Some(Observation::Channels(_)) => None,
        None => Some(None),
    };
    sequence.iter().map(symbol).collect::<Option<_>>().map(Samples::Symbols)
}
