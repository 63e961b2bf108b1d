//! Likelihood and most likely states of one sequence under a model with run-time sizes.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::smooth::{SequenceError, viterbi};

use crate::data::SamplesView;
use crate::runtime::{Hmm, HmmError, with_states};

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
    #[error("the sequence is of other observations than the model's")]
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
