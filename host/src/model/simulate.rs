//! Series drawn from a model.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::data::internals::Ring;
use crate::data::{Lags, Rows, Samples};
use crate::runtime::numbers::choose;
use crate::runtime::{Drawn, Hmm, Observed};

impl Hmm {
    /// Draws a series: states along the chain, an observation from each (ancestral sampling; Rabiner
    /// 1989, section II.D). The same seed draws the same series.
    ///
    /// Emissions that regress go on from the series' own past, at lags one by one, which begins at the centre, and
    /// have it in their rows.
    pub fn simulate(&self, length: usize, seed: u64) -> Samples {
        self.simulate_path(length, seed).0
    }

    /// Draws a series, and the states that it was drawn from: see [`simulate`](Self::simulate).
    pub fn simulate_path(&self, length: usize, seed: u64) -> (Samples, Vec<usize>) {
        let lags = match self.emission.family().has_past() {
            true => Lags::order(self.emission.shape().components as u32 - 1),
            false => Lags::NONE,
        };
        let mut states = Vec::with_capacity(length);
        let samples = self.drawn(&lags, length, seed, &mut states);
        (samples, states)
    }

    /// Draws a series of a model that depends on the past at some lags.
    pub(crate) fn simulate_behind(&self, lags: &Lags, length: usize, seed: u64) -> Samples {
        self.drawn(lags, length, seed, &mut Vec::new())
    }

    fn drawn(&self, lags: &Lags, length: usize, seed: u64, states: &mut Vec<usize>) -> Samples {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut state = None;
        let mut next = |rng: &mut ChaCha8Rng| {
            let row = state.and_then(|state: usize| self.transition.get(state));
            let drawn = choose(row.unwrap_or(&self.initial), rng);
            state = Some(drawn);
            drawn
        };
        let (family, parts) = (self.emission.family(), self.emission.parts());
        let (mut symbols, mut rows) = (Vec::new(), Rows::new(self.size()));
        let own = if lags.is_past() { self.emission.shape().own() } else { self.size() };
        let mut ring = Ring::new(lags.clone(), own);
        let centre = self.emission.part("centre").and_then(<[_]>::first);
        let centre = centre.map_or(&[][..], Vec::as_slice);
        (0..lags.depth()).for_each(|_| ring.take(centre));
        let mut row = vec![0.0; own];
        for _ in 0..length {
            let state = next(&mut rng);
            states.push(state);
            let past = ring.widen(&row).and_then(|row| row.get(own..)).unwrap_or_default();
            match family.draw_after(parts, state, past, &mut rng) {
                Drawn::Symbol(symbol) => symbols.push(u16::try_from(symbol).ok()),
                Drawn::Row(drawn) => {
                    row = drawn;
                    rows.push(ring.widen(&row));
                    ring.take(&row);
                }
            }
        }
        match family.observes() {
            Observed::Symbol => Samples::Symbols(symbols),
            Observed::Channels(_) => Samples::Channels(rows),
        }
    }
}
