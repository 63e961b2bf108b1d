use fishweir::data::Samples;
use fishweir::fit::{BaumWelch, fit};
use fishweir::runtime::Hmm;

use crate::build::host::{host_model, host_samples};
use crate::oracle::{Law, Model, Sequence};

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
    let start = host_model(model)?;
    let samples: Vec<Samples> = sequences.iter().map(host_samples).collect::<Option<_>>()?;
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
    let channels = if start.emission.is_over_symbols() { 0 } else { start.size() };
    let scale = vec![1.0; channels];
    let fitted = fit(&options, start, &views, &scale, &|| ());
    Some(fitted.map_err(|error| error.to_string()).map(|fitted| HostFit {
        model: plain(&fitted.model),
        log_likelihood: fitted.log_likelihood,
    }))
}

fn plain(hmm: &Hmm) -> Model {
    let part = |name| hmm.emission.part(name).unwrap_or_default();
    let emission = match hmm.emission.symbols() {
        Some(probability) => probability.iter().cloned().map(Law::Categorical).collect(),
        None => {
            let (mean, std) = (part("mean"), part("std"));
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
