//! Series drawn from a model.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::data::{Rows, Samples};
use crate::runtime::numbers::choose;
use crate::runtime::{Drawn, Hmm, Observed};

impl Hmm {
    /// Draws a series: states along the chain, an observation from each (ancestral sampling; Rabiner
    /// 1989, section II.D). The same seed draws the same series.
    pub fn simulate(&self, length: usize, seed: u64) -> Samples {
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
        for _ in 0..length {
            let state = next(&mut rng);
            match family.draw(parts, state, &mut rng) {
                Drawn::Symbol(symbol) => symbols.push(u16::try_from(symbol).ok()),
                Drawn::Row(row) => rows.push(Some(&row)),
            }
        }
        match family.observes() {
            Observed::Symbol => Samples::Symbols(symbols),
            Observed::Channels(_) => Samples::Channels(rows),
        }
    }
}
