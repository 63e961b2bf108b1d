//! From plain models and sequences to the host's, of run-time sizes.

use fishweir::data::{Rows, Samples};
use fishweir::runtime::{Emissions, Hmm};

use crate::oracle::{Law, Model, Observation, Sequence};

/// The host's model. `None` for families that it does not have.
pub fn host_model(model: &Model) -> Option<Hmm> {
    Some(Hmm {
        initial: model.initial.clone(),
        transition: model.transition.clone(),
        emission: emissions(model)?,
    })
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
        return Some(Emissions::categorical(probability));
    }
    let pairs: Option<Vec<(Vec<f64>, Vec<f64>)>> = laws().map(gaussian).collect();
    let (mean, std) = pairs?.into_iter().unzip();
    Some(Emissions::gaussian(mean, std))
}

/// The host's sequence. `None` for one whose observations differ in kind or size.
pub fn host_samples(sequence: &Sequence) -> Option<Samples> {
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
