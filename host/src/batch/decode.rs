//! Likelihood and most likely states of one sequence under a model with run-time sizes.

use std::sync::Arc;

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::smooth::{SequenceError, viterbi};
use fishweir_core::{ModelError, ObservationError};

use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::runtime::{Emissions, Hmm, HmmError, RowState, check, with_states, with_two_sizes};

/// The likeliest path of hidden states.
#[derive(Clone, Debug, PartialEq)]
pub struct ViterbiPath {
    /// The states, `[time]`.
    pub states: Vec<usize>,
    /// `log p(states, sequence)`, in nats.
    pub log_probability: f64,
}

impl Hmm {
    /// The likeliest path of hidden states, by Viterbi's algorithm (Viterbi 1967; Rabiner 1989, equations
    /// 32 to 35), in `f64`.
    ///
    /// Work per sample: that of the forward recursion. RAM: as many bytes per sample as there are states.
    ///
    /// ```
    /// use fishweir::data::SamplesView;
    /// # use fishweir::{fit::BaumWelch, runtime::{Emissions, Hmm}};
    /// # let path = [0, 0, 1, 0, 1, 1, 1].map(Some);
    /// # let hmm = Hmm {
    /// #     initial: vec![0.5, 0.5],
    /// #     transition: vec![vec![0.9, 0.1], vec![0.2, 0.8]],
    /// #     emission: Emissions::categorical(vec![vec![0.75, 0.25], vec![0.1, 0.9]]),
    /// # };
    /// let decoded = hmm.decode(SamplesView::Symbols(&path))?;
    /// assert_eq!(decoded.states, [0, 0, 0, 0, 1, 1, 1]);
    /// # Ok::<(), fishweir::batch::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// [`DecodeError`]: for an invalid model, or a sequence that it makes impossible or does not observe.
    pub fn decode(&self, samples: SamplesView<'_>) -> Result<ViterbiPath, DecodeError> {
        self.decode_each(&[samples])?.pop().ok_or(DecodeError::Kind)
    }

    /// Decodes several sequences, in order: the model is prepared once.
    pub(crate) fn decode_each(
        &self,
        sequences: &[SamplesView<'_>],
    ) -> Result<Vec<ViterbiPath>, DecodeError> {
        self.validate()?;
        with_states!(self.states(), N => {
            let (of_channels, of_symbols) = (self.channels::<f64, N>(), self.categorical::<f64, N>());
            let mut paths = Vec::with_capacity(sequences.len());
            for samples in sequences {
                paths.push(match (samples, &of_channels, &of_symbols) {
                    (SamplesView::Channels(rows), Some(hmm), _) if rows.dimension() == self.size() => {
                        path::<_, N>(hmm, rows.iter_in_part())
                    }
                    (SamplesView::Symbols(symbols), _, Some(hmm)) => {
                        path::<_, N>(hmm, symbols.iter().map(Option::as_ref))
                    }
                    _ => Err(DecodeError::Kind),
                }?);
            }
            Ok(paths)
        })
    }
}

/// The likeliest path of hidden states of a chain whose states mix components of any family: component `m` of state `i`
/// has row `i M + m` of `components`, and weight `weights[i][m]`.
///
/// As [`Hmm::decode`]. The same chain over all components, one state each, has the same likelihoods, but its likeliest path
/// is one of components.
///
/// # Errors
/// [`DecodeError`]: for an invalid model, or a sequence that it makes impossible or does not observe.
pub fn decode_mixed(
    (initial, transition): (&[f64], &[Vec<f64>]),
    weights: &[Vec<f64>],
    components: &Emissions,
    samples: SamplesView<'_>,
) -> Result<ViterbiPath, DecodeError> {
    let alone = |row: usize| Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: components.of_state(row),
    };
    let mut row = 0;
    let mut states = Vec::with_capacity(weights.len());
    for (state, weights) in weights.iter().enumerate() {
        check::distribution(format!("weights[{state}]"), weights)?;
        let mut parts = Vec::with_capacity(weights.len());
        for weight in weights {
            let model = alone(row);
            model.validate()?;
            let part = model.channels::<f64, 2>().ok_or(DecodeError::Kind)?;
            parts.push((weight.portable_ln(), part.emission()[0].clone()));
            row += 1;
        }
        states.push(Mixed(parts.into()));
    }
    let rows = samples.rows().filter(|rows| rows.dimension() == components.shape().size);
    let (Some(rows), Some(first)) = (rows, states.first()) else { return Err(DecodeError::Kind) };
    let even = vec![vec![1.0]; states.len()];
    let chain = Hmm {
        initial: initial.to_vec(),
        transition: transition.to_vec(),
        emission: Emissions::categorical(even),
    };
    chain.validate()?;
    with_two_sizes!(states.len(), N => {
        let chain = chain.categorical::<f64, N>().ok_or(DecodeError::Kind)?;
        let emission: [Mixed; N] =
            std::array::from_fn(|state| states.get(state).unwrap_or(first).clone());
        path::<_, N>(&CoreHmm::new(*chain.chain(), emission), rows.iter_in_part())
    })
}

/// A mixture of some states' emissions, with the logarithm of the weight of each.
#[derive(Clone)]
struct Mixed(Arc<[(f64, RowState<f64>)]>);

impl Emission for Mixed {
    type Weight = f64;
    type Observation = [f64];

    fn log_likelihood(&self, x: &[f64]) -> f64 {
        let mut largest = f64::NEG_INFINITY;
        for (log_weight, part) in self.0.iter() {
            largest = largest.max(log_weight + part.log_likelihood(x));
        }
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        let mut sum = 0.0;
        for (log_weight, part) in self.0.iter() {
            sum += (log_weight + part.log_likelihood(x) - largest).portable_exp();
        }
        largest + sum.portable_ln()
    }

    fn check(&self, x: &[f64]) -> Result<(), ObservationError> {
        self.0.iter().try_for_each(|(_, part)| part.check(x))
    }

    fn is_missing(x: &[f64]) -> bool {
        RowState::<f64>::is_missing(x)
    }

    fn width(&self) -> usize {
        self.0.first().map_or(0, |(_, part)| part.width())
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.0.iter().try_for_each(|(_, part)| part.validate())
    }
}

/// Reason why there is no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DecodeError {
    /// An invalid model.
    #[error(transparent)]
    Model(#[from] HmmError),
    /// A sequence that the model makes impossible.
    #[error(transparent)]
    Sequence(#[from] SequenceError),
    /// Symbols where the model observes channels, or channels that it does not.
    #[error("the sequence has other observations than the model")]
    #[strum(serialize = "wrong-observations")]
    Kind,
}

crate::kinds!(DecodeError,
    Self::Model(error) => error,
    Self::Sequence(error) => error,
);

/// The likeliest path through a model of the core.
pub(crate) fn path<'x, E, const N: usize>(
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<&'x E::Observation>> + Clone,
) -> Result<ViterbiPath, DecodeError>
where
    E: Emission<Weight = f64, Observation: 'x>,
{
    let length = samples.clone().count();
    let mut back = vec![[0_u8; N]; length];
    let mut path = vec![0_u8; length];
    let log_probability = viterbi(hmm, samples, &mut back, &mut path)?;
    Ok(ViterbiPath { states: path.into_iter().map(usize::from).collect(), log_probability })
}
