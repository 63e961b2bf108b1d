//! The models of a C source in fixed point: tables of 16 bits, integers alone until a decision is read.

use super::Part;
use super::codebooks::{Written, code_tables};
use super::literals::{list, table};
use super::recursion::{Recursion, Sizes};
use crate::deploy::fixed::{FixedChannel, FixedEmission, FixedModel, FixedPoint, FixedWeight};

impl Recursion for FixedPoint {
    fn sizes(&self) -> Sizes<'_> {
        Sizes {
            observations: &self.common.observations,
            rows: self.states(),
            states: self.engine.states,
            directions: self.directions(),
            seen: self.common.lags.seen_width(self.common.channels()),
            in_part: self.common.in_part(),
            background: None,
        }
    }

    fn count(&self) -> usize {
        self.models()
    }

    fn belief(&self) -> Part<'static> {
        include_str!("text/belief_q15.h").into()
    }

    fn recursion(&self) -> Vec<Part<'static>> {
        let sizes = self.sizes();
        let (hidden, symbols) = (sizes.is_hidden(), sizes.is_over_symbols());
        let calibrated = self.common.confidence.is_some();
        let emission = match (symbols, hidden) {
            (true, true) => include_str!("text/categorical_q15.c"),
            (true, false) => include_str!("text/logarithms_q15.c"),
            (false, _) => include_str!("text/gaussian_q15.c"),
        };
        let fine = format!(
            "\n/* 1 if entries of tables have exponents. */\n#define FINE {}\n",
            u8::from(hidden && !symbols)
        );
        let some = [
            (true, include_str!("text/real.c")),
            (calibrated, include_str!("text/exponential.c")),
            (true, include_str!("text/channel_q15.c")),
            (true, include_str!("text/fixed.c")),
            (hidden || !symbols, include_str!("text/down.c")),
            (hidden, fine.as_str()),
            (hidden, include_str!("text/weight_q15.c")),
            (true, &(sizes.choices() + &self.tables())),
            (if symbols { hidden } else { sizes.in_part }, include_str!("text/log2_q15.c")),
            (hidden, include_str!("text/row_q15.c")),
            (true, emission),
            (hidden && !symbols, include_str!("text/likelihoods_q15.c")),
            (hidden, include_str!("text/logs_q15.c")),
            (hidden, include_str!("text/filter.c")),
            (!hidden, include_str!("text/known_q15.c")),
        ];
        let some = some.into_iter().filter(|part| part.0);
        some.map(|part| Part::Owned(part.1.to_owned())).chain([sizes.steps()]).collect()
    }

    fn push(&self) -> [Part<'static>; 2] {
        match self.sizes().is_over_symbols() {
            true => Sizes::push_symbol(),
            false => [
                include_str!("text/push_integers.h").into(),
                include_str!("text/push_integers.c").into(),
            ],
        }
    }

    fn reading(&self) -> [Part<'static>; 2] {
        [include_str!("text/evidence_q15.c").into(), include_str!("text/coding_q15.c").into()]
    }

    fn places(&self) -> Option<&[i16]> {
        Some(FixedPoint::places(self))
    }
}

impl FixedPoint {
    fn tables(&self) -> String {
        let (sizes, models) = (self.sizes(), &self.engine.models);
        let (count, rows, directions) = (models.len(), sizes.rows, sizes.directions);
        let mut text = String::new();
        if directions > 0 {
            let unit = models.iter().flat_map(|model| &model.unit);
            text += &integers("int16_t", "UNIT", &[count, directions], unit);
        }
        let fine = sizes.is_hidden() && !sizes.is_over_symbols();
        if sizes.is_hidden() {
            let entry = |one: &FixedWeight| entry(one, fine);
            let initial: Vec<String> =
                models.iter().flat_map(|model| &model.initial).map(entry).collect();
            text += &table("weight", "INITIAL", &[count, rows], &initial);
            let transition = models.iter().flat_map(|model| model.transition.iter().flatten());
            let transition: Vec<String> = transition.map(entry).collect();
            text += &table("weight", "TRANSITION", &[count, rows, rows], &transition);
        }
        match models.first().and_then(|model| model.emission.first()) {
            Some(FixedEmission::Categorical { .. }) => self.probabilities(&mut text),
            Some(FixedEmission::Logarithms { .. }) => self.logarithms(&mut text),
            _ => self.gaussians(&mut text),
        }
        text
    }

    fn emissions(&self) -> impl Iterator<Item = &FixedEmission> {
        self.engine.models.iter().flat_map(|model: &FixedModel| &model.emission)
    }

    fn probabilities(&self, text: &mut String) {
        let (rows, symbols) = (self.states(), self.size());
        let (mut entries, mut exponents) = (Vec::new(), Vec::new());
        for emission in self.emissions() {
            if let FixedEmission::Categorical { probability, exponent } = emission {
                entries.extend(probability.iter().map(|one| entry(one, false)));
                exponents.push(exponent);
            }
        }
        *text += &table("weight", "PROBABILITY", &[self.models(), rows, symbols], &entries);
        // The same in all states of a model.
        let exponents = exponents.into_iter().step_by(rows.max(1)).flatten();
        *text += &integers("uint16_t", "SYMBOL_EXPONENT", &[self.models(), symbols], exponents);
    }

    fn logarithms(&self, text: &mut String) {
        let sizes = [self.models(), self.states(), self.size()];
        let (mut logs, mut rates) = (Vec::new(), Vec::<i16>::new());
        for emission in self.emissions() {
            if let FixedEmission::Logarithms { log2, rate } = emission {
                logs.extend(log2.iter().map(|&log2| wide(log2)));
                rates.extend(rate.iter().flatten().copied());
            }
        }
        *text += &table("int32_t", "LOG2", &sizes, &logs);
        if self.directions() > 0 {
            let sizes = [sizes.as_slice(), &[self.directions()]].concat();
            *text += &integers("int16_t", "LOG_RATE", &sizes, rates);
        }
    }

    fn gaussians(&self, text: &mut String) {
        let sizes = self.sizes();
        let (count, rows, seen) = (self.models(), sizes.rows, sizes.seen);
        let (mut constants, mut constant_rates) = (Vec::new(), Vec::new());
        let mut all: Vec<&FixedChannel> = Vec::new();
        for emission in self.emissions() {
            if let FixedEmission::Gaussian { channels, constant, constant_rate } = emission {
                constants.push(wide(*constant));
                constant_rates.extend(constant_rate.iter().map(|&rate| wide(rate)));
                all.extend(channels);
            }
        }
        *text += &table("int32_t", "CONSTANT", &[count, rows], &constants);
        let channels = || all.iter().map(|one| one.channel);
        let each = [count, rows, seen];
        let means: Vec<String> = channels().map(|one| wide(one.mean)).collect();
        *text += &table("int32_t", "MEAN", &each, &means);
        *text += &integers("uint16_t", "RATE", &each, channels().map(|one| one.rate));
        *text += &integers("uint8_t", "SHIFT", &each, channels().map(|one| one.shift & 31));
        if sizes.in_part {
            let places = channels().map(|one| one.shift.cast_signed() >> 5);
            *text += &integers("int16_t", "PLACES", &each, places);
        }
        let directions = sizes.directions;
        if directions > 0 {
            *text +=
                &table("int32_t", "CONSTANT_RATE", &[count, rows, directions], &constant_rates);
            let each = [count, rows, seen, directions];
            let linear = all.iter().flat_map(|one| &one.linear);
            *text += &integers("int16_t", "LINEAR", &each, linear);
            let quadratic = all.iter().flat_map(|one| &one.quadratic);
            *text += &integers("int16_t", "QUADRATIC", &each, quadratic);
        }
    }

    /// The tables of codebooks, if there are any.
    pub(super) fn code_tables(&self, text: &mut String) {
        if let Some(codebooks) = &self.engine.codebooks {
            let (numbers, wide): (_, Written<i32>) =
                (("int16_t", i16::to_string as fn(&i16) -> String), ("int32_t", |&one| wide(one)));
            code_tables(text, &codebooks.books, &codebooks.weighed, numbers, wide);
            *text += &integers("int16_t", "CODE_UNIT", &[codebooks.units.len()], &codebooks.units);
        }
    }
}

/// A literal of 32 bits, where an `int` may have 16.
fn wide(number: i32) -> String {
    match number {
        i32::MIN => "INT32_MIN".to_owned(),
        number if i16::try_from(number).is_ok() => number.to_string(),
        number => format!("{number}L"),
    }
}

/// An entry of a table, as a structure of C.
fn entry(weight: &FixedWeight, fine: bool) -> String {
    let mut fields = vec![format!("{}u", weight.value)];
    if fine {
        fields.push(weight.exponent.to_string());
    }
    if !weight.rate.is_empty() {
        fields.push(list(weight.rate.iter().map(i16::to_string)));
    }
    format!("{{{}}}", fields.join(", "))
}

/// A table of small integers.
fn integers<T: ToString>(
    kind: &str,
    name: &str,
    sizes: &[usize],
    entries: impl IntoIterator<Item = T>,
) -> String {
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.to_string()).collect();
    table(kind, name, sizes, &entries)
}
