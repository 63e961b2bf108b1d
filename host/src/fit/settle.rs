//! Choice of the transitions from data.

use super::options::{BaumWelch, FitError};
use super::passes::{leaves, total};
use super::topology::Topology;
use crate::batch::expectations_to_sum;
use crate::data::SamplesView;
use crate::runtime::padded_states;

impl BaumWelch {
    /// Returns these options with a topology that is not [automatic](Topology::Automatic): for the models of
    /// several kinds of sequences, which are held against each other, the one under which held-out
    /// sequences of all kinds together are likelier.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range.
    pub fn settled(
        &self,
        kinds: &[&[SamplesView<'_>]],
        size: usize,
        scale: &[f64],
    ) -> Result<Self, FitError> {
        if self.topology != Topology::Automatic {
            return Ok(self.clone());
        }
        let ergodic = Self { topology: Topology::Ergodic, ..self.clone() };
        let Some(length) = common_length(kinds) else { return Ok(ergodic) };
        let positions = Self { topology: Topology::Positions, states: length, ..self.clone() };
        // By how much a state per position makes held-out strings likelier; nothing is known where there
        // are too few of a kind.
        let mut gain = 0.0;
        for kind in kinds {
            let part = |held_out: bool| -> Vec<SamplesView<'_>> {
                let numbered = kind.iter().enumerate();
                numbered.filter(|(n, _)| (n % 3 == 2) == held_out).map(|(_, one)| *one).collect()
            };
            let (shown, held_out) = (part(false), part(true));
            if held_out.is_empty() || shown.iter().all(|samples| samples.observed() == 0) {
                continue;
            }
            let likelihood = |options: &Self| -> Result<f64, FitError> {
                let fit = options.fit(&shown, size, scale, &|| ())?;
                let impossible = |_| f64::NEG_INFINITY;
                Ok(total(expectations_to_sum, &fit.model, &leaves(&held_out))
                    .map_or_else(impossible, |sum| sum.log_likelihood))
            };
            let (by_position, by_chain) = (likelihood(&positions)?, likelihood(&ergodic)?);
            // What neither can make says nothing for either.
            if by_position.max(by_chain) > f64::NEG_INFINITY {
                gain += by_position - by_chain;
            }
        }
        Ok(if gain > 0.0 { positions } else { ergodic })
    }
}

/// The length of strings that all have one, if a state per position can be compiled for it.
fn common_length(kinds: &[&[SamplesView<'_>]]) -> Option<usize> {
    let mut all = kinds.iter().flat_map(|kind| kind.iter());
    let length = all.clone().next()?.len();
    let alike = |one: &SamplesView<'_>| one.symbols().is_some_and(|text| text.len() == length);
    (padded_states(length).is_some() && all.all(alike)).then_some(length)
}
