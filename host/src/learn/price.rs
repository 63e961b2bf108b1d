//! What forms of class models would cost on a device: those that cost more than is allowed are not tried.

use super::error::TrainError;
use super::kind::ClassifierKind;
use super::limits::Limits;
use super::options::TrainOptions;
use crate::classifier::{Codebooks, Form, Price, ScoreModels};
use crate::data::{Dataset, FrontEnd, Kind, Windowing};
use crate::deploy::{Cost, Priced};
use crate::fit::Topology;
use crate::runtime::{Family, Shape};

/// What is known of the price of every form of a training's models.
pub(super) struct Pricing<'a> {
    options: &'a TrainOptions,
    observed: &'a Kind,
    front: FrontEnd,
    /// How states emit unless a form says otherwise.
    usual: &'static dyn Family,
    classes: usize,
    /// Samples of the middle window.
    middle: usize,
    /// Whether [`Topology::Automatic`] may be a state a position, which is not settled yet.
    unsettled: bool,
}

impl From<&Cost> for Price {
    fn from(cost: &Cost) -> Self {
        let Cost { model_bytes, state_bytes, multiply_adds_per_sample, .. } = *cost;
        Self { flash: model_bytes, ram: state_bytes, operations: multiply_adds_per_sample }
    }
}

impl<'a> Pricing<'a> {
    /// Of models trained on some series; `None` of what stores as much as it needs, and of words.
    pub(super) fn of(
        options: &'a TrainOptions,
        data: &'a Dataset,
        series: &[usize],
    ) -> Result<Option<Self>, TrainError> {
        if !options.kind.compiles() || options.kind == ClassifierKind::EmpiricalMap {
            return Ok(None);
        }
        let observed = data.kind();
        let channels = matches!(observed, Kind::Channels(_));
        let front = options.front.over(observed).map_err(TrainError::Front)?;
        let usual = options.baum_welch.family_over(channels && !front.makes_symbols());
        Ok(Some(Self {
            usual: usual.map_err(TrainError::Observed)?,
            classes: data.classes().len(),
            middle: options.middle_length(data, series, &front),
            unsettled: !channels && options.positions(data, series).is_some(),
            options,
            observed,
            front,
        }))
    }

    /// What a form costs; `None` where that is not settled before it is fitted.
    pub(super) fn cost(&self, form: &Form) -> Option<Cost> {
        let Self { options, observed, classes, .. } = *self;
        if form.topology == Topology::Automatic && self.unsettled {
            return None;
        }
        let outputs = if classes == 2 { 1 } else { classes };
        let scored = options.features().is_some();
        let family = options.emission_of(form).unwrap_or(self.usual);
        let size = form.lags.seen_width(self.front.width(observed.size()));
        let of_past = family.is_autoregressive().then(|| form.lags.rows());
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
            channels: observed.size(),
            front: &self.front,
            lags: &form.lags,
            codebooks: Codebooks::drawn(self.middle, form.codebooks, form.levels),
        };
        // Directions through transitions would keep the chain.
        let known = form.topology == Topology::Positions
            && form.states > 1
            && options.kind != ClassifierKind::LatentMap;
        let cost = if known { priced.cost_of_known() } else { priced.cost() };
        Some(cost.on(options.windowing.as_ref().map(Windowing::as_core)))
    }

    /// The same as limits count it.
    pub(super) fn price(&self, form: &Form) -> Option<Price> {
        self.cost(form).as_ref().map(Price::from)
    }
}

impl Limits {
    /// The forms that keep within the limits, as far as is known.
    pub(super) fn kept(
        &self,
        forms: Vec<Form>,
        pricing: Option<&Pricing<'_>>,
    ) -> Result<Vec<Form>, TrainError> {
        let Some(pricing) = pricing.filter(|_| *self != Self::default()) else { return Ok(forms) };
        let excess = |form: &Form| pricing.cost(form).and_then(|cost| self.excess(&cost));
        let over: Vec<_> = forms.iter().map(excess).collect();
        let least = over.iter().flatten().min().copied();
        let within = forms.into_iter().zip(&over).filter(|(_, over)| over.is_none());
        let kept: Vec<Form> = within.map(|(form, _)| form).collect();
        match least {
            Some((takes, most, what)) if kept.is_empty() => {
                Err(TrainError::TooDear { takes, most, what })
            }
            _ => Ok(kept),
        }
    }
}
