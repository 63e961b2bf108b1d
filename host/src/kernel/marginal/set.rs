//! The kernel over a finite set of models with a prior.

use fishweir_core::ObservationError;
use fishweir_core::emission::Emission;
use fishweir_core::filter::{Forward, Stream};
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::kernel::log_mixture;
use serde::{Deserialize, Serialize};

use super::aligned::check_hmm;
use super::check;
use super::error::{ItemError, MarginalError, ModelError};
use super::rows::{LogRows, Row, Rows, channels_of, in_parallel, prepare, symbols_of};
use crate::data::{Alphabet, Kind, SamplesView};
use crate::parallel::each;
use crate::runtime::{Hmm, with_states};

/// Hidden Markov models, one of which two sequences of any lengths share.
///
/// Equation: [`Marginalisation`](fishweir_core::kernel::Marginalisation). Each sequence runs through
/// each model once; a pair then costs two logarithms and an exponential per model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiniteSetModel {
    /// The symbols, where they are models of symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<Alphabet>,
    /// The channels, where they are models of channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<String>>,
    /// Prior, `[model]`.
    pub prior: Vec<f64>,
    /// The models, which may differ in their number of states.
    pub model: Vec<Hmm>,
}

impl FiniteSetModel {
    /// Kind of observations.
    ///
    /// # Errors
    /// Neither alphabet nor channels, or both.
    pub fn kind(&self) -> Result<Kind, ModelError> {
        check::observed(self.alphabet.as_ref(), self.channels.as_deref())
    }

    pub(super) fn validate(&self) -> Result<(), ModelError> {
        let kind = self.kind()?;
        check::length("prior", self.prior.len(), self.model.len())?;
        check::distribution("prior", &self.prior, 0.0)?;
        for (index, model) in self.model.iter().enumerate() {
            check_hmm(model, &kind).map_err(|error| error.within(&format!("model[{index}]")))?;
        }
        Ok(())
    }
}

/// Log-likelihood of a sequence under a model in two parts; minus infinity if the sequence is impossible.
type ModelEvidence = [f64; 2];

impl FiniteSetModel {
    /// Log-likelihoods of items under the models in two parts, `[item][model]`.
    pub(crate) fn likelihoods(
        &self,
        items: &[SamplesView<'_>],
    ) -> Result<Vec<Vec<ModelEvidence>>, MarginalError> {
        let of_models = self.model.iter().map(|model| {
            with_states!(model.states(), N => {
                if let Some(hmm) = model.categorical::<f64, N>() {
                    let items = prepare(items, |view| symbols_of(view, &hmm.emission()[..1]))?;
                    said(&hmm, &items)
                } else if let Some(hmm) = model.channels::<f64, N>() {
                    let states = &hmm.emission()[..1];
                    let items = prepare(items, |view| channels_of(view, states, model.size()))?;
                    said(&hmm, &items)
                } else {
                    Ok(Vec::new())
                }
            })
        });
        // `[model][item]`, then `[item][model]`.
        let of_models: Vec<Vec<ModelEvidence>> = of_models.collect::<Result<_, MarginalError>>()?;
        let of_item = |item: usize| of_models.iter().map(|of_model| of_model[item]).collect();
        Ok((0..items.len()).map(of_item).collect())
    }
}

impl Rows for FiniteSetModel {
    fn log_rows(&self, items: &[SamplesView<'_>], plan: &[Row]) -> LogRows {
        let items = self.likelihoods(items)?;
        in_parallel(&items, plan, |stream, stored| {
            let row = stored.iter().map(|stored| {
                let stored: Vec<f64> = stored.iter().map(|[log, _]| *log).collect();
                let [log, _] = log_mixture(&self.prior, stream, &stored);
                log
            });
            Ok(row.collect())
        })
    }
}

fn said<E, const N: usize>(
    hmm: &CoreHmm<E, N>,
    items: &[Vec<Option<&E::Observation>>],
) -> Result<Vec<ModelEvidence>, MarginalError>
where
    E: Emission<Weight = f64, Observation: Sync> + Sync,
{
    let one = |item: usize| {
        let mut stream = Stream::new(Forward::of(hmm));
        for (position, x) in items[item].iter().enumerate() {
            match stream.push(*x) {
                Err(ObservationError::Impossible) => return Ok([f64::NEG_INFINITY, 0.0]),
                Err(error) => {
                    let error = ItemError::Sample { position, error };
                    return Err(MarginalError::Item { item, error });
                }
                Ok(()) => {}
            }
        }
        Ok(stream.state().evidence().log_parts())
    };
    each(items.len(), &one).into_iter().collect()
}
