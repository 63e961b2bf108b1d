//! Class models and sequences drawn from them.

use fishweir::data::{Samples, SamplesView};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_tests::sample::Sampler;

/// What is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Symbols,
    Channels,
    /// Symbols whose states follow one another.
    Aligned,
}

/// A model per class, and labelled sequences.
pub(crate) struct Bank {
    pub(crate) models: Vec<Hmm>,
    pub(crate) sequences: Vec<Samples>,
    pub(crate) labels: Vec<usize>,
}

fn distribution(s: &mut Sampler, size: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..size).map(|_| s.normal().exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

impl Bank {
    /// Models of two and three states in turn, and ten sequences of each, of 12 to 39 samples, some
    /// of them missing.
    pub(crate) fn draw(family: Family, classes: usize, seed: u64) -> Self {
        let mut s = Sampler::new(seed);
        let models: Vec<Hmm> =
            (0..classes).map(|class| model(&mut s, family, 2 + class % 2)).collect();
        let (mut sequences, mut labels) = (Vec::new(), Vec::new());
        for draw in 0..10 * classes {
            let class = draw % classes;
            let mut samples = models[class].simulate(12 + (draw * 7) % 28, draw as u64);
            if let Samples::Symbols(symbols) = &mut samples {
                symbols[draw % 12] = None;
            }
            sequences.push(samples);
            labels.push(class);
        }
        Self { models, sequences, labels }
    }

    pub(crate) fn views(&self) -> Vec<SamplesView<'_>> {
        self.sequences.iter().map(Samples::view).collect()
    }
}

fn model(s: &mut Sampler, family: Family, states: usize) -> Hmm {
    let mut rows = |count: usize, size: usize| -> Vec<Vec<f64>> {
        (0..count).map(|_| distribution(s, size)).collect()
    };
    if family == Family::Aligned {
        // Some 8 or 12 positions: of the sequences a part, and the last position holds for the rest.
        let positions = 4 * states;
        let certain = |to| (0..positions).map(|state| f64::from(state == to)).collect::<Vec<_>>();
        let next = |state| certain(usize::min(state + 1, positions - 1));
        let emission = Emissions::categorical(rows(positions, 4));
        let transition = (0..positions).map(next).collect();
        return Hmm { initial: certain(0), transition, emission };
    }
    let (initial, transition) = (rows(1, states).swap_remove(0), rows(states, states));
    let emission = match family {
        Family::Symbols | Family::Aligned => Emissions::categorical(rows(states, 4)),
        Family::Channels => {
            let mean = (0..states).map(|_| vec![10.0 + s.normal(), s.normal()]).collect();
            let std = (0..states).map(|_| vec![(0.3 * s.normal()).exp(), 0.5]).collect();
            Emissions::gaussian(mean, std)
        }
    };
    Hmm { initial, transition, emission }
}
