//! Predicted costs of forms of class models on a device: those above the limits are not tried.

use crate::classifier::{Codebooks, Form, Price, ScoreModels};
use crate::data::Windowing;
use crate::deploy::{Cost, Priced};
use crate::fit::Topology;
use crate::learn::error::TrainError;
use crate::learn::kind::ClassifierKind;
use crate::learn::limits::Limits;
use crate::learn::space::Space;
use crate::runtime::Shape;

impl From<&Cost> for Price {
    fn from(cost: &Cost) -> Self {
        let Cost { model_bytes, state_bytes, multiply_adds_per_sample, .. } = *cost;
        Self { flash: model_bytes, ram: state_bytes, operations: multiply_adds_per_sample }
    }
}

impl Space<'_> {
    /// Cost of a form; `None` if it is unknown before the fit, for classifiers that store as much as they need, and for words.
    fn cost(&self, form: &Form) -> Option<Cost> {
        let (request, observed) = (&self.request, self.data.kind());
        if !request.kind.compiles()
            || request.kind == ClassifierKind::EmpiricalMap
            || form.topology == Topology::Automatic && self.unsettled
        {
            return None;
        }
        let classes = self.data.classes().len();
        let outputs = if classes == 2 { 1 } else { classes };
        let scored = request.features().is_some();
        let family = self.emission_of(form).or(self.usual_family)?;
        let size = form.lags.seen_width(self.front.width(observed.size()));
        let of_past = family.has_past().then(|| form.lags.rows());
        let components = of_past.unwrap_or(request.baum_welch.components);
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
            // Behind a front end, and beside codebooks, samples are whole.
            channel_bytes: match self.data.missing().partial > 0 {
                true if self.front.is_empty() && form.codebooks == 0 => 8,
                _ => 4,
            },
        };
        // Directions through transitions would keep the chain.
        let known = form.topology == Topology::Positions
            && form.states > 1
            && request.kind != ClassifierKind::LatentMap;
        let cost = if known { priced.cost_of_known() } else { priced.cost() };
        Some(cost.on(request.windowing.as_ref().map(Windowing::as_core)))
    }

    /// Cost of a form, as limits count it.
    #[must_use]
    pub fn price(&self, form: &Form) -> Option<Price> {
        self.cost(form).as_ref().map(Price::from)
    }

    /// The forms that keep within the limits, as far as is known.
    pub(crate) fn within_limits(&self, forms: Vec<Form>) -> Result<Vec<Form>, TrainError> {
        let limits = self.request.limits;
        if limits == Limits::default() {
            return Ok(forms);
        }
        let excess = |form: &Form| self.cost(form).and_then(|cost| limits.excess(&cost));
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
