//! Scores: gradients of `log p(x_1..T)`, a number per parameter, and directions, values of the same
//! shape. Also the other reader of expected statistics, training.
//!
//! For any direction `w`, in any [`Parametrisation`],
//!
//! ```text
//! w . score(x_1..T) = d/de log p(x_1..T | model + e w)  at  e = 0
//! ```
//!
//! The left side is [`Score::of`] expected statistics (Fisher's identity: the score is the expected
//! score of the complete data) and a dot product; the right side is the forward filter over
//! [`Hmm::with_directions`], without any statistics. Both are exact.
//!
//! The arithmetic of rows of probabilities (`score_row`, `move_row`,
//! `maximise_row`) and of each family's view is over slices, for sizes known at run time; the
//! values here call the same.
//!
//! ```
//! use fishweir_core::emission::{Categorical, Parametrisation, VectorSpace};
//! use fishweir_core::filter::{Forward, Stream, Statistics};
//! use fishweir_core::hmm::{Chain, Hmm};
//! use fishweir_core::number::Scalar;
//! use fishweir_core::score::{Score, ScoreOf};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! type Weather = Categorical<2, f64>;
//! let hmm = Hmm::new(
//!     Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]])?,
//!     [Weather::new([0.75, 0.25])?, Weather::new([0.1, 0.9])?],
//! );
//! let mut stream = Stream::new(Statistics::of(&hmm));
//! stream.push_block(&[0, 1, 1, 0])?;
//! let score = Score::of(&hmm, &stream.read(), Parametrisation::SOFTMAX);
//!
//! let mut direction = ScoreOf::<Weather, 2>::ZERO;
//! direction.transition[0][1] = 1.0;
//! let moved = hmm.with_directions(&[direction], Parametrisation::SOFTMAX);
//! let mut tangent = Stream::new(Forward::of(&moved));
//! tangent.push_block(&[0, 1, 1, 0])?;
//! let slope = tangent.read().derivative(0).ok_or("no direction")?;
//! assert!((score.dot(&direction) - slope).abs() < 1e-14);
//! # Ok(()) }
//! ```

use crate::emission::{
    Parametrisation, Probabilities, Regularisation, SufficientStatistics, VectorSpace, attach,
    convert_row_direction, convert_row_score, maximise_row, score_row, vector_space,
};
use crate::error::{ModelError, Part};
use crate::filter::ExpectedStatistics;
use crate::hmm::{Chain, Hmm};
use crate::number::Real;

/// A score of a hidden Markov model, or a direction: the model's fields, a number per parameter.
///
/// What the numbers are with respect to is a [`Parametrisation`]. A [`VectorSpace`] of `N + N^2`
/// reals and `N` emissions' scores: `initial`, `transition` by rows, `emission` by state. For a
/// model with emissions `E` it is [`ScoreOf<E, N>`](ScoreOf).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Score<S, T, const N: usize> {
    /// Score with respect to the initial distribution, `[state]`.
    pub initial: [T; N],
    /// Score with respect to the transitions, `[from][to]`.
    pub transition: [[T; N]; N],
    /// Score with respect to the emissions, `[state]`.
    pub emission: [S; N],
}
vector_space! {
    impl<T, S: VectorSpace<T>; const N> Score<S, T, N> {
        initial: [T; N],
        transition: [[T; N]; N],
        emission: [S; N]
    }
}

/// The [`Score`] of a model with emissions `E`.
pub type ScoreOf<E, const N: usize> =
    Score<<E as SufficientStatistics>::Score, <E as SufficientStatistics>::Real, N>;

/// The [`ExpectedStatistics`] of a model with emissions `E`.
pub type StatisticsOf<E, const N: usize> = ExpectedStatistics<
    <E as SufficientStatistics>::Statistics,
    <E as SufficientStatistics>::Real,
    N,
>;

impl<S: VectorSpace<T>, T: Real, const N: usize> Score<S, T, N> {
    /// The score from expected statistics that `hmm` has collected: of one sequence, or summed over
    /// several.
    ///
    /// In the `ratio` parametrisation the entry of a probability that is exactly zero is the limit
    /// of count / probability less the visits; the statistics must have been asked for it
    /// ([`Statistics::with_boundary_scores`](crate::filter::Statistics::with_boundary_scores)), otherwise it is taken as
    /// zero. In the `softmax` parametrisation the entry is zero and nothing need be asked for.
    ///
    /// Sources: Jaakkola and Haussler, "Exploiting generative models in discriminative
    /// classifiers", 1998, section 2; Shawe-Taylor and Cristianini, "Kernel Methods for Pattern
    /// Analysis", 2004, section 12.2.2, where the transitions are centred by the visits of the
    /// state left. `N^2 + N` divisions at most, and the emissions' scores.
    pub fn of<E>(
        hmm: &Hmm<E, N>,
        expected: &StatisticsOf<E, N>,
        parametrisation: Parametrisation,
    ) -> Self
    where
        E: SufficientStatistics<Real = T, Score = S>,
    {
        let mut score = Self::ZERO;
        let rows = parametrisation.probabilities;
        score_row(hmm.chain().initial(), &expected.initial, rows, &mut score.initial);
        let transitions = hmm.chain().transition().iter().zip(&expected.transition);
        for (score, (probability, counts)) in score.transition.iter_mut().zip(transitions) {
            score_row(probability, counts, rows, score);
        }
        let emissions = hmm.emission().iter().zip(&expected.emission);
        for (score, (emission, collected)) in score.emission.iter_mut().zip(emissions) {
            *score = emission.score(collected, parametrisation);
        }
        score
    }

    /// Converts a score of `hmm` to another parametrisation, by the chain rule.
    ///
    /// # Errors
    /// From `softmax` to `ratio`: names the first probability of exactly zero, whose `ratio` score
    /// no `softmax` score can tell. Read it from the statistics.
    pub fn convert_score<E>(
        &self,
        hmm: &Hmm<E, N>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<Self, ModelError>
    where
        E: SufficientStatistics<Real = T, Score = S>,
    {
        self.convert(hmm, from, to, convert_row_score, E::convert_score)
    }

    /// Converts a direction of `hmm` to another parametrisation: it moves the model alike, and its dot
    /// product with a score stays.
    ///
    /// # Errors
    /// From `ratio` to `softmax`: names the first probability of exactly zero that the direction
    /// moves and no logit can.
    pub fn convert_direction<E>(
        &self,
        hmm: &Hmm<E, N>,
        from: Parametrisation,
        to: Parametrisation,
    ) -> Result<Self, ModelError>
    where
        E: SufficientStatistics<Real = T, Score = S>,
    {
        self.convert(hmm, from, to, convert_row_direction, E::convert_direction)
    }

    fn convert<E>(
        &self,
        hmm: &Hmm<E, N>,
        from: Parametrisation,
        to: Parametrisation,
        convert_row: ConvertRow<T>,
        convert_emission: impl Fn(&E, &S, Parametrisation, Parametrisation) -> Result<S, ModelError>,
    ) -> Result<Self, ModelError>
    where
        E: SufficientStatistics<Real = T, Score = S>,
    {
        let mut converted = *self;
        let (old, new) = (from.probabilities, to.probabilities);
        let chain = hmm.chain();
        convert_row(chain.initial(), &mut converted.initial, old, new, Part::Initial, 0)?;
        let rows = converted.transition.iter_mut().zip(chain.transition());
        for (row, (entries, probability)) in rows.enumerate() {
            convert_row(probability, entries, old, new, Part::Transition, row)?;
        }
        let emissions = converted.emission.iter_mut().zip(hmm.emission());
        for (state, (entries, emission)) in emissions.enumerate() {
            *entries = convert_emission(emission, entries, from, to)
                .map_err(|error| error.of_state(state))?;
        }
        Ok(converted)
    }
}

/// [`convert_row_score`] or [`convert_row_direction`].
type ConvertRow<T> =
    fn(&[T], &mut [T], Probabilities, Probabilities, Part, usize) -> Result<(), ModelError>;

impl<E: SufficientStatistics, const N: usize> Hmm<E, N> {
    /// Attaches `C` directions: the same model over dual numbers, over which the forward filter is
    /// the tangent filter and reads `w . score` for each direction `w` after every sample.
    ///
    /// A `softmax` direction leaves probabilities of exactly zero where they are; a `ratio`
    /// direction may move them.
    pub fn with_directions<const C: usize>(
        &self,
        directions: &[ScoreOf<E, N>; C],
        parametrisation: Parametrisation,
    ) -> Hmm<E::WithDirections<C>, N> {
        let rows = parametrisation.probabilities;
        let chain = self.chain();
        let initial = attach(chain.initial(), &directions.map(|w| w.initial), rows);
        let transition = core::array::from_fn(|i| {
            attach(&chain.transition()[i], &directions.map(|w| w.transition[i]), rows)
        });
        let emission = core::array::from_fn(|i| {
            self.emission()[i].with_directions(&directions.map(|w| w.emission[i]), parametrisation)
        });
        Hmm::new(Chain::from_parts(initial, transition), emission)
    }

    /// The model under which expected statistics that this one has collected are likeliest: the
    /// maximisation step of Baum-Welch, for one sequence or summed over several.
    ///
    /// A row of probabilities that was never taken and the emission of a state that was never
    /// visited stay; so do probabilities of exactly zero.
    ///
    /// # Errors
    /// Names the first parameter for which there is no estimate: a variance that is not positive
    /// (raise the floor), a number that is not finite.
    pub fn maximise(
        &self,
        expected: &StatisticsOf<E, N>,
        regularisation: &Regularisation<E::Real>,
    ) -> Result<Self, ModelError> {
        let chain = self.chain();
        let pseudo_count = regularisation.pseudo_count;
        let (mut initial, mut transition) = (*chain.initial(), *chain.transition());
        maximise_row(chain.initial(), &expected.initial, pseudo_count, &mut initial);
        let rows = chain.transition().iter().zip(&expected.transition);
        for (estimate, (probability, counts)) in transition.iter_mut().zip(rows) {
            maximise_row(probability, counts, pseudo_count, estimate);
        }
        let mut emission = *self.emission();
        for (state, (emission, collected)) in
            emission.iter_mut().zip(&expected.emission).enumerate()
        {
            *emission = emission
                .maximise(collected, regularisation)
                .map_err(|error| error.of_state(state))?;
        }
        let chain = Chain::from_parts(initial, transition);
        chain.validate()?;
        Ok(Hmm::new(chain, emission))
    }
}
