//! The models of a C source in `f32`: their emissions and chains, as tables, and the recursions that they take.

use super::literals::{floats, table};
use super::recursion::{Recursion, Sizes};
use super::{CSourceError, Part};
use crate::classifier::Observations;
use crate::deploy::model::{DeployedModel, States};
use crate::deploy::source::EmissionType;
use crate::runtime::family::{DeployedEmission, Weight};

/// Models of one family and one number of states.
pub(super) struct Models<'a> {
    pub(super) observations: &'a Observations,
    pub(super) models: &'a [DeployedModel],
    pub(super) states: States,
    pub(super) directions: usize,
    /// Channels of a row that a model reads.
    pub(super) seen: usize,
    /// `true` if channels may be missing.
    pub(super) in_part: bool,
    /// States of the background of a spotter, which has the best path instead of the sum over all.
    pub(super) background: Option<usize>,
}

impl Recursion for Models<'_> {
    fn sizes(&self) -> Sizes<'_> {
        Sizes {
            observations: self.observations,
            rows: self.models.first().map_or(0, |model| model.emission.len()),
            states: self.states,
            directions: self.directions,
            seen: self.seen,
            in_part: self.in_part,
            background: self.background,
        }
    }

    fn count(&self) -> usize {
        self.models.len()
    }

    fn belief(&self) -> Part<'static> {
        include_str!("text/belief.h").into()
    }

    fn recursion(&self) -> Vec<Part<'static>> {
        let sizes = self.sizes();
        let (hidden, best) = (sizes.is_hidden(), self.background.is_some());
        let emission = match sizes.is_over_symbols() {
            true => include_str!("text/categorical.c"),
            false => include_str!("text/gaussian.c"),
        };
        let some = [
            (true, include_str!("text/real.c")),
            (true, include_str!("text/exponential.c")),
            (true, include_str!("text/channel.c")),
            (true, include_str!("text/number.c")),
            (!best, include_str!("text/sum.c")),
            (best, include_str!("text/max.c")),
            (true, &(sizes.choices() + &self.tables())),
            (true, emission),
            (true, include_str!("text/row.c")),
            (true, include_str!("text/logs.c")),
            (true, include_str!("text/filter.c")),
            (hidden && !best, include_str!("text/chain.c")),
            (!hidden, include_str!("text/known.c")),
        ];
        let some = some.into_iter().filter(|part| part.0);
        let steps = (!best).then(|| sizes.steps());
        some.map(|part| Part::Owned(part.1.to_owned())).chain(steps).collect()
    }

    fn push(&self) -> [Part<'static>; 2] {
        match self.sizes().is_over_symbols() {
            true => Sizes::push_symbol(),
            false => [
                include_str!("text/push_channels.h").into(),
                include_str!("text/push_channels.c").into(),
            ],
        }
    }

    fn reading(&self) -> [Part<'static>; 2] {
        [include_str!("text/evidence.c").into(), include_str!("text/coding.c").into()]
    }

    fn places(&self) -> Option<&[i16]> {
        None
    }
}

impl Models<'_> {
    /// Checks that the emissions are written in C.
    pub(super) fn check(&self) -> Result<(), CSourceError> {
        let EmissionType { family, shape } = EmissionType::of(self.models);
        match ["categorical", "gaussian"].contains(&family.name()) {
            true => Ok(()),
            false => Err(CSourceError::Without(format!("a model with {}", family.words(shape)))),
        }
    }

    fn tables(&self) -> String {
        let mut text = String::new();
        self.chains(&mut text);
        if self.sizes().is_over_symbols() {
            self.probabilities(&mut text);
        } else {
            self.gaussians(&mut text);
        }
        text
    }

    fn chains(&self, text: &mut String) {
        let sizes = self.sizes();
        if !sizes.is_hidden() {
            return;
        }
        let (models, states) = (self.models, sizes.rows);
        let initial = models.iter().flat_map(|model| &model.initial).map(number);
        let initial: Vec<String> = initial.collect();
        *text += &table("number", "INITIAL", &[models.len(), states], &initial);
        let transition = models.iter().flat_map(|model| model.transition.iter().flatten());
        let transition: Vec<String> = transition.map(number).collect();
        *text += &table("number", "TRANSITION", &[models.len(), states, states], &transition);
    }

    fn emissions(&self) -> impl Iterator<Item = &DeployedEmission> {
        self.models.iter().flat_map(|model| &model.emission)
    }

    fn probabilities(&self, text: &mut String) {
        let entries = self.emissions().flat_map(|one| one.weights(0)).map(number);
        let entries: Vec<String> = entries.collect();
        let sizes = [self.models.len(), self.sizes().rows, self.observations.size()];
        *text += &table("number", "PROBABILITY", &sizes, &entries);
    }

    fn gaussians(&self, text: &mut String) {
        let (models, rows, seen) = (self.models.len(), self.sizes().rows, self.seen);
        for (name, field) in [("MEAN", 0), ("RATE", 1)] {
            let entries = floats(self.emissions().flat_map(|one| one.reals(field)));
            *text += &table("float", name, &[models, rows, seen], &entries);
        }
        let constant = self.emissions().flat_map(|one| one.weights(2)).map(number);
        let constant: Vec<String> = constant.collect();
        *text += &table("number", "CONSTANT", &[models, rows], &constant);
        for (name, field) in [("LINEAR", 3), ("QUADRATIC", 4)] {
            if self.directions > 0 {
                let rates = self.emissions().flat_map(|one| one.rates(field)).flatten();
                let sizes = [models, rows, seen, self.directions];
                *text += &table("float", name, &sizes, &floats(rates));
            }
        }
    }
}

/// A number with its rates, as a structure of C.
pub(super) fn number(weight: &Weight) -> String {
    let all = floats([&weight.value].into_iter().chain(&weight.tangent));
    format!("{{{{{}}}}}", all.join(", "))
}
