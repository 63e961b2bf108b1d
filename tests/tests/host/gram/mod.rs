//! Gram matrices of the host's kernels: what every kernel must be, over random models.

mod distributions;
mod kernels;
mod mean_maps;
mod scores;

use fishweir::data::Samples;
use fishweir::runtime::Hmm;
use fishweir_tests::build::host::{host_model, host_samples};
use fishweir_tests::checks::views;
use fishweir_tests::sample::{Sampler, Topology};

/// Symbols of the categorical models.
const SYMBOLS: usize = 3;

/// A model over symbols.
fn categorical(sampler: &mut Sampler, topology: Topology, states: usize) -> Hmm {
    let model = sampler.categorical(topology, states, SYMBOLS);
    host_model(&model).expect("symbols")
}

/// A model over two channels.
fn gaussian(sampler: &mut Sampler, topology: Topology, states: usize) -> Hmm {
    let model = sampler.model(topology, states, |s| s.gaussian_law(2, 2.0));
    host_model(&model).expect("channels")
}

/// Sequences that both models of a pair can emit, because none of their emissions is impossible and
/// all their states are in reach: drawn from an ergodic model, some observations missing.
fn sequences(sampler: &mut Sampler, like: &Hmm, count: usize) -> Vec<Samples> {
    let source = if like.emission.is_over_symbols() {
        sampler.categorical(Topology::Ergodic, 2, SYMBOLS)
    } else {
        sampler.model(Topology::Ergodic, 2, |s| s.gaussian_law(2, 2.0))
    };
    (0..count)
        .map(|number| {
            let sequence = sampler.sequence(&source, 1 + number % 7, 0.1);
            // Where everything is missing nothing says which kind of samples they are.
            match host_samples(&sequence).expect("of one kind") {
                Samples::Symbols(all) if all.iter().all(Option::is_none) => like.simulate(3, 9),
                samples => samples,
            }
        })
        .collect()
}
