//! What forms of class models would cost on a device: those that cost more than is allowed are not tried.

use super::error::TrainError;
use super::form::Form;
use super::kind::ScoreModels;
use super::limits::Limits;
use super::options::TrainOptions;
use crate::classifier::Codebooks;
use crate::data::{Dataset, Kind};
use crate::deploy::{Cost, Priced};
use crate::runtime::Shape;

impl Limits {
    /// The forms that keep within the limits.
    pub(super) fn kept(
        &self,
        forms: Vec<Form>,
        options: &TrainOptions,
        data: &Dataset,
        series: &[usize],
    ) -> Result<Vec<Form>, TrainError> {
        let Kind::Channels(names) = data.kind() else { return Ok(forms) };
        if *self == Self::default() || !options.kind.compiles() {
            return Ok(forms);
        }
        let front = options.front.over(data.kind()).map_err(TrainError::Front)?;
        let usual = options.baum_welch.family_over(!front.makes_symbols());
        let (usual, classes) = (usual.map_err(TrainError::Observed)?, data.classes().len());
        let outputs = if classes == 2 { 1 } else { classes };
        let scored = options.features().is_some();
        let middle = options.middle_length(data, series, &front);
        let price = |form: &Form| {
            let family = options.emission_of(form).unwrap_or(usual);
            let size = form.lags.seen_width(front.width(names.len()));
            let of_past = family.regresses().then(|| form.lags.rows());
            let components = of_past.unwrap_or(options.baum_welch.components);
            let priced = Priced {
                family,
                shape: Shape { size, components },
                models: match scored && form.models != ScoreModels::All {
                    true => form.lags.of_models().len(),
                    false => classes,
                },
                states: form.states,
                directions: if scored { outputs } else { 0 },
                outputs,
                channels: names.len(),
                front: &front,
                lags: &form.lags,
                codebooks: Codebooks::drawn(middle, form.codebooks),
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
}
