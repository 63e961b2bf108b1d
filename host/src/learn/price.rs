//! What a classifier may cost on a device: forms of class models that cost more are not tried.

use serde::Serialize;

use super::error::TrainError;
use super::form::Form;
use super::options::{ScoreModels, TrainOptions};
use crate::data::{Dataset, Kind};
use crate::deploy::{Cost, Deployed, Priced};
use crate::runtime::Shape;

/// The most that a classifier may take on a device; `None` where it does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Bytes of the model in flash.
    pub flash: Option<usize>,
    /// Bytes of a stream's state.
    pub ram: Option<usize>,
    /// Multiply-adds a sample.
    pub operations: Option<usize>,
}

impl Limits {
    /// What a cost takes, what is allowed of it, and what it is called, of the first that is too much.
    fn excess(&self, cost: &Cost) -> Option<(usize, usize, &'static str)> {
        let each = [
            (self.flash, cost.model_bytes, "bytes of flash (--max-flash)"),
            (self.ram, cost.state_bytes, "bytes of RAM (--max-ram)"),
            (
                self.operations,
                cost.multiply_adds_per_sample,
                "multiply-adds a sample (--max-operations)",
            ),
        ];
        let over = |(most, takes, what): (Option<usize>, usize, _)| {
            most.filter(|&most| takes > most).map(|most| (takes, most, what))
        };
        each.into_iter().find_map(over)
    }

    /// The forms that keep within the limits.
    pub(super) fn kept(
        &self,
        forms: Vec<Form>,
        options: &TrainOptions,
        data: &Dataset,
    ) -> Result<Vec<Form>, TrainError> {
        let Kind::Channels(names) = data.kind() else { return Ok(forms) };
        if *self == Self::default() || !options.kind.compiles() {
            return Ok(forms);
        }
        let (family, classes) = (options.baum_welch.family_over(true), data.classes().len());
        let family = family.map_err(TrainError::Observed)?;
        let outputs = if classes == 2 { 1 } else { classes };
        let scored = options.features().is_some();
        let price = |form: &Form| {
            let size = form.lags.width(names.len());
            let of_past = family.regresses().then(|| form.lags.rows());
            let components = of_past.unwrap_or(options.baum_welch.components);
            let priced = Priced {
                family,
                shape: Shape { size, components },
                models: if scored && form.models != ScoreModels::All { 1 } else { classes },
                states: form.states,
                directions: if scored { outputs } else { 0 },
                outputs,
                channels: names.len(),
                lags: &form.lags,
            };
            priced.cost()
        };
        let costs: Vec<Cost> = forms.iter().map(price).collect();
        let least = costs.iter().filter_map(|cost| self.excess(cost)).min();
        let within = forms.into_iter().zip(&costs).filter(|(_, cost)| self.excess(cost).is_none());
        let kept: Vec<Form> = within.map(|(form, _)| form).collect();
        match least {
            Some((takes, most, what)) if kept.is_empty() => {
                Err(TrainError::TooDear { takes, most, what })
            }
            _ => Ok(kept),
        }
    }

    /// Refuses a classifier that takes more.
    pub(super) fn check(&self, deployed: &Deployed) -> Result<(), TrainError> {
        match self.excess(&deployed.cost()) {
            Some((takes, most, what)) => Err(TrainError::TooDear { takes, most, what }),
            None => Ok(()),
        }
    }
}
