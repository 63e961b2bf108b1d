use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Unconditional;
use crate::emission::{
    Emission, Parametrisation, Regularisation, SufficientStatistics, VectorSpace,
};
use crate::error::ModelError;

/// A model without hidden states: a rule that picks one of `C` contexts from the past, and a distribution of
/// the next sample for each.
///
/// A score has the shape of its model, `[context]`; a *direction* is of the same shape. For any
/// direction `w`, in any [`Parametrisation`], `w . score` is what [`ContextLikelihood`] over
/// [`with_directions`](Self::with_directions) reads as its derivative.
///
/// Flash: the rule and `C` emissions. One model drives any number of states.
///
/// [`ContextLikelihood`]: super::ContextLikelihood
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ContextModel<R, E, const C: usize> {
    rule: R,
    emission: [E; C],
}

/// Samples that are independent and alike: a [`Gaussian`](crate::emission::Gaussian), a
/// [`Mixture`](crate::emission::Mixture) of them, any emission family, as a model of a stream.
///
/// ```
/// use fishweir_core::context::{ContextStatistics, Independent};
/// use fishweir_core::emission::{Gaussian, Width};
/// use fishweir_core::filter::Stream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let density = Independent::of(Gaussian::<1, f64>::new([0.0], [1.0])?);
/// let mut stream = Stream::new(ContextStatistics::of(&density));
/// stream.push(&[3.0])?;
/// let [statistics] = stream.read();
/// let [gaussian] = density.emission();
/// // At (0, 1) a point x has the score (x, x^2 - 1).
/// assert_eq!(gaussian.score_in(&statistics, Width::StandardDeviation), [3.0, 8.0]);
/// # Ok(()) }
/// ```
pub type Independent<E> = ContextModel<Unconditional, E, 1>;

impl<E> Independent<E> {
    /// Independent samples of one distribution.
    pub const fn of(emission: E) -> Self {
        Self::new(Unconditional, [emission])
    }
}

impl<R, E, const C: usize> ContextModel<R, E, C> {
    /// A model from a rule and one distribution per context. Their own constructors have checked them;
    /// [`validate`](Self::validate) checks what was read from elsewhere.
    pub const fn new(rule: R, emission: [E; C]) -> Self {
        const { assert!(C > 0, "C must be at least 1") };
        Self { rule, emission }
    }

    /// The rule.
    pub const fn rule(&self) -> &R {
        &self.rule
    }

    /// The distributions, `[context]`.
    pub const fn emission(&self) -> &[E; C] {
        &self.emission
    }
}

impl<R, E: Emission, const C: usize> ContextModel<R, E, C> {
    /// Checks every distribution of the model.
    ///
    /// # Errors
    /// Names the first number that is wrong, with the context as its row.
    pub fn validate(&self) -> Result<(), ModelError> {
        for (context, emission) in self.emission.iter().enumerate() {
            emission.validate().map_err(|error| error.of_state(context))?;
        }
        Ok(())
    }
}

impl<R: Copy, E: SufficientStatistics, const C: usize> ContextModel<R, E, C> {
    /// The score from the statistics of [`ContextStatistics`](super::ContextStatistics), of one sequence
    /// or summed over several, `[context]`.
    ///
    /// Sources: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, examples
    /// 12.30 to 12.32; Jaakkola and Haussler, "Exploiting generative models in discriminative
    /// classifiers", 1998, section 4.
    pub fn score(
        &self,
        statistics: &[E::Statistics; C],
        parametrisation: Parametrisation,
    ) -> [E::Score; C] {
        let mut score = [E::Score::ZERO; C];
        for (score, (emission, collected)) in
            score.iter_mut().zip(self.emission.iter().zip(statistics))
        {
            *score = emission.score(collected, parametrisation);
        }
        score
    }

    /// Attaches `D` directions, `[direction][context]`: the same model over dual numbers, of which
    /// [`ContextLikelihood`](super::ContextLikelihood) reads `w . score` for each direction `w` after
    /// every sample.
    pub fn with_directions<const D: usize>(
        &self,
        directions: &[[E::Score; C]; D],
        parametrisation: Parametrisation,
    ) -> ContextModel<R, E::WithDirections<D>, C> {
        let emission = core::array::from_fn(|context| {
            let directions = directions.map(|direction| direction[context]);
            self.emission[context].with_directions(&directions, parametrisation)
        });
        ContextModel { rule: self.rule, emission }
    }

    /// The model under which statistics that this one has collected are likeliest, summed over the
    /// sequences of a corpus: counting, with a pseudo-count where asked for. A context that was never
    /// seen stays as it is.
    ///
    /// # Errors
    /// Names the first parameter for which there is no estimate.
    pub fn maximise(
        &self,
        statistics: &[E::Statistics; C],
        regularisation: &Regularisation<E::Real>,
    ) -> Result<Self, ModelError> {
        let mut estimate = *self;
        for (context, (emission, collected)) in
            estimate.emission.iter_mut().zip(statistics).enumerate()
        {
            *emission = emission
                .maximise(collected, regularisation)
                .map_err(|error| error.of_state(context))?;
        }
        Ok(estimate)
    }
}
