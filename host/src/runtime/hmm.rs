use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::number::{Real, array_of};
use serde::{Deserialize, Serialize};

use super::numbers::free_probabilities;
use super::{
    Block, CategoricalVec, Emissions, HmmError, HostReal, RowState, Shape, Width, check,
    padded_states,
};

/// A hidden Markov model with run-time sizes, in `f64`, as fitting makes it.
///
/// `initial[state]`, `transition[from][to]`; Gaussians are in the sensor's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hmm {
    /// Initial distribution, `[state]`.
    pub initial: Vec<f64>,
    /// Transition probabilities, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Emission distributions.
    pub emission: Emissions,
}

impl Hmm {
    /// Model of one state with equal probabilities for all symbols.
    pub(crate) fn even(symbols: usize) -> Self {
        Self {
            initial: vec![1.0],
            transition: vec![vec![1.0]],
            emission: Emissions::categorical(vec![vec![1.0 / symbols as f64; symbols]]),
        }
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    /// Number of symbols or of channels.
    pub fn size(&self) -> usize {
        self.emission.shape().size
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`HmmError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), HmmError> {
        self.validate_over(self.size())
    }

    /// Checks a model over a known number of symbols or channels, so that an error names the row of another length, and no other.
    pub(crate) fn validate_over(&self, size: usize) -> Result<(), HmmError> {
        let states = self.states();
        if padded_states(states).is_none() {
            return Err(HmmError::States(states));
        }
        check::distribution("initial", &self.initial)?;
        check::distributions("transition", &self.transition, states, states)?;
        let (family, parts) = (self.emission.family(), self.emission.parts());
        let sized = |block: &&Block| !matches!(block.width, Width::One | Width::Components);
        if let Some(Block { name, .. }) = family.parts().iter().find(sized).filter(|_| size == 0) {
            check::length(*name, parts.get(name).map_or(0, <[_]>::len), states)?;
            check::length(format!("{name}[0]"), 0, 1)?;
        }
        family.validate(parts, states, Shape { size, ..self.emission.shape() })
    }

    /// Free parameters: of every row of probabilities those that are not zero but one, which follows from
    /// the others, and what the family of emissions has. Zeros do not count, whether the topology or the
    /// data made them.
    pub fn free_parameters(&self) -> usize {
        let chain = free_probabilities(&self.initial)
            + self.transition.iter().map(|row| free_probabilities(row)).sum::<usize>();
        chain + self.emission.family().free_parameters(self.emission.parts())
    }

    fn chain<T: Real, const N: usize>(&self) -> Chain<T, N> {
        let states = self.states();
        let zero = T::ZERO;
        Chain::from_parts(
            array_of(zero, |j| T::from_f64(self.initial.get(j).copied().unwrap_or(0.0))),
            array_of([zero; N], |i| {
                array_of(zero, |j| match self.transition.get(i) {
                    Some(row) => T::from_f64(row.get(j).copied().unwrap_or(0.0)),
                    // A state out of reach stays where it is.
                    None if i == j && i >= states => T::ONE,
                    None => T::ZERO,
                })
            }),
        )
    }

    /// The core's model with `N` states, the last of them out of reach, over symbols; its numbers are
    /// rounded to the format.
    ///
    /// `None` if it is over channels.
    pub fn categorical<T: Real, const N: usize>(&self) -> Option<CoreHmm<CategoricalVec<T>, N>> {
        let probability = self.emission.symbols()?;
        let emission = std::array::from_fn(|j| CategoricalVec {
            probability: match probability.get(j) {
                Some(row) => row.iter().copied().map(T::from_f64).collect(),
                None => vec![T::ZERO; self.size()],
            },
        });
        Some(CoreHmm::new(self.chain(), emission))
    }

    /// The core's model with `N` states, the last of them out of reach, over channels; its numbers are
    /// those that a device of the format holds.
    ///
    /// `None` if it is over symbols.
    pub fn channels<T: HostReal, const N: usize>(&self) -> Option<CoreHmm<RowState<T>, N>> {
        let emission = RowState::states(&self.emission.plain::<T>(), 0)?;
        Some(CoreHmm::new(self.chain(), emission))
    }
}
