//! Quantisation from `f64` to tables of 16 bits.

use fishweir_core::emission::{CategoricalQ15View, ChannelQ15};
use fishweir_core::number::{
    Q15, RATE_MAX, fine_exponent, quantise_fine_row, quantise_rates, quantise_row, rate_unit,
};
use fishweir_core::{ModelError, Part};

use super::codebooks::FixedCodebooks;
use super::error::QuantiseError;
use super::{FixedBank, FixedChannel, FixedEmission, FixedModel, FixedPoint, FixedWeight, known};
use crate::classifier::{Classifier, Observations};
use crate::deploy::attach::Names;
use crate::deploy::bank::Bank;
use crate::deploy::common::Common;
use crate::deploy::model::{DeployedModel, States};
use crate::elementary::Elementary;
use crate::runtime::family::{DeployedEmission, GaussianFields, OF_CHANNELS, OF_SYMBOLS, Weight};

/// Number of standard deviations around every mean that a channel's 16 bits hold; values beyond are clamped.
const REACH: f64 = 16.0;
/// The least standard deviation in a channel's units.
const NARROWEST: f64 = 4.0;
/// Rates of a Gaussian, in `2^-12` units, are at most eight.
const STEEPEST: f64 = 7.9;
/// `sqrt(log2(e) / 2)`: from standard deviations to the core's `y`.
fn per_deviation() -> f64 {
    (std::f64::consts::LOG2_E / 2.0).sqrt()
}

impl Classifier {
    /// Rounds the compiled classifier to fixed point.
    ///
    /// Every probability is rounded to `2^-15` and rows sum to one exactly; in a chain over channels it
    /// is rounded to fifteen digits of its own, and rows sum to one within `2^-16`. Zeros stay zero and
    /// what is possible stays possible. Of symbols whose states are known the logarithm is rounded, to `2^-16`.
    /// Each direction is scaled by a power of two into 16 bits, each channel
    /// by one into its 16-bit observations ([`FixedPoint::places`]), which differences at lags share: they
    /// are of integers, and exact. Codebooks multiply and add integers: see the core's
    /// [`Coding`](fishweir_core::classify::Coding).
    ///
    /// # Errors
    /// [`QuantiseError`] naming the parameter that does not fit.
    pub fn quantise(&self) -> Result<FixedPoint, QuantiseError> {
        let (common, bank) = self.compile()?;
        quantise(&common, &bank, &self.centre, &self.scale)
    }
}

fn quantise(
    common: &Common<f64>,
    bank: &Bank<f64>,
    centre: &[f64],
    scale: &[f64],
) -> Result<FixedPoint, QuantiseError> {
    if !common.front.is_empty() {
        return Err(QuantiseError::Front);
    }
    let (known, states, directions) = (bank.states, bank.rows(), bank.directions);
    if (known == States::Hidden && states > 64) || directions > super::stream::DIRECTIONS_MAX {
        return Err(QuantiseError::TooLarge(format!("{states} states, {directions} directions")));
    }
    let family = bank.emission().family;
    if ![OF_SYMBOLS, OF_CHANNELS].contains(&family) {
        return Err(QuantiseError::Family(family.name()));
    }
    let places: Vec<i16> = match &common.observations {
        Observations::Symbols(_) => Vec::new(),
        Observations::Channels(names) => names
            .iter()
            .enumerate()
            .map(|(channel, name)| {
                // Of the channel, and of its differences lag by lag.
                let columns = centre.iter().zip(scale).skip(channel).step_by(names.len());
                let columns: Vec<(f64, f64)> = columns.map(|(&mean, &std)| (mean, std)).collect();
                places_of(bank, (channel, names.len()), name, &columns)
            })
            .collect::<Result<_, _>>()?,
    };
    // A difference is in the units of its channel.
    let lags = &common.lags;
    let seen: Vec<i16> =
        places.iter().copied().cycle().take(lags.seen_width(places.len())).collect();
    let names = Names::of(&common.classes, bank.models.len(), &common.observations);
    let models = bank
        .models
        .iter()
        .enumerate()
        .map(|(index, model)| match known {
            States::Hidden => quantise_model((index, names), (model, directions), &seen),
            _ => quantise_known((index, names), (model, directions), &seen),
        })
        .collect::<Result<_, _>>()?;
    let narrow = |output: usize, row: &[f64]| -> Result<Vec<f32>, QuantiseError> {
        let row: Vec<f32> = row.iter().map(|&x| x as f32).collect();
        let finite = row.iter().all(|x| x.is_finite());
        if finite { Ok(row) } else { Err(QuantiseError::Output(output)) }
    };
    let weights = common.weights.iter().enumerate();
    let outputs = (
        weights.map(|(output, row)| narrow(output, row)).collect::<Result<_, _>>()?,
        narrow(0, &common.biases)?,
    );
    let codebooks = common.codebooks.as_ref();
    let codebooks = codebooks.map(|books| FixedCodebooks::of(books, &places)).transpose()?;
    Ok(FixedPoint {
        common: common.weighed_by(outputs),
        engine: FixedBank { states: known, models, places, codebooks },
    })
}

/// The finest unit, a power of two, in which 16 bits reach [`REACH`] standard deviations around
/// every mean, and around that of the training data, of a channel and of its differences: `trained`, `(mean, standard
/// deviation)` of each.
fn places_of(
    bank: &Bank<f64>,
    (channel, channels): (usize, usize),
    name: &str,
    trained: &[(f64, f64)],
) -> Result<i16, QuantiseError> {
    let (mut narrowest, mut widest) = (f64::INFINITY, 0.0_f64);
    let mut columns: Vec<(usize, f64, f64)> =
        trained.iter().enumerate().map(|(column, &(mean, std))| (column, mean, std)).collect();
    for emission in bank.models.iter().flat_map(|model| &model.emission) {
        if let Some(GaussianFields { mean, rate, .. }) = emission.gaussian() {
            let own = mean.iter().zip(rate).skip(channel).step_by(channels);
            for (column, (&mean, rate)) in own.enumerate() {
                let std = 1.0 / rate;
                columns.push((column, mean, std));
                (narrowest, widest) = (narrowest.min(std), widest.max(std));
            }
        }
    }
    let most = |of: &dyn Fn(&(usize, f64, f64)) -> f64| columns.iter().map(of).fold(0.0, f64::max);
    let reach = most(&|(_, mean, std)| mean.abs() + REACH * std);
    let fits = |reach: f64| {
        let places = (32_767.0 / reach).portable_log2().floor();
        let fine = (-60.0..=60.0).contains(&places) && narrowest * places.exp2() >= NARROWEST;
        fine.then_some(places as i16)
    };
    fits(reach).ok_or_else(|| {
        let channel = name.to_owned();
        // Differences have no level that could be subtracted.
        let means = columns.iter().filter(|(column, ..)| *column == 0).map(|(_, mean, _)| *mean);
        let (low, high) = means.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mean| {
            (low.min(mean), high.max(mean))
        });
        let level = (low + high) / 2.0;
        let without = |&(column, mean, std): &(usize, f64, f64)| {
            (mean - if column == 0 { level } else { 0.0 }).abs() + REACH * std
        };
        match fits(most(&without)) {
            Some(_) => QuantiseError::Level { channel, level, narrowest },
            None => QuantiseError::Channel { channel, narrowest, widest },
        }
    })
}

/// The exponent of each direction's unit.
fn units(
    (index, names): (usize, Names<'_>),
    directions: usize,
    unit: impl Fn(usize) -> Option<i16>,
) -> Result<Vec<i16>, QuantiseError> {
    let named = |output| {
        unit(output).ok_or_else(|| QuantiseError::Direction { model: names.model(index), output })
    };
    (0..directions).map(named).collect()
}

/// A model whose states are known: those of its rows, `[position]` or `[context]`.
fn quantise_known(
    (index, names): (usize, Names<'_>),
    (model, directions): (&DeployedModel<f64>, usize),
    places: &[i16],
) -> Result<FixedModel, QuantiseError> {
    let unit = units((index, names), directions, |output| match model.is_over_symbols() {
        true => known::unit_of(model, output),
        // No direction moves its chain.
        false => rate_unit(steepest(model, output, &[])),
    })?;
    let wrong = |state: usize| {
        move |source| QuantiseError::Model { place: names.place(index, &source), state, source }
    };
    let row = |(row, emission): (usize, &DeployedEmission<f64>)| match emission.gaussian() {
        None => Ok(known::logarithms(emission.weights(0), &unit)),
        Some(fields) => gaussian(&fields, places, &unit).map_err(wrong(row)),
    };
    let emission = model.emission.iter().enumerate().map(row).collect::<Result<_, _>>()?;
    Ok(FixedModel { initial: Vec::new(), transition: Vec::new(), emission, unit })
}

fn quantise_model(
    (index, names): (usize, Names<'_>),
    (model, directions): (&DeployedModel<f64>, usize),
    places: &[i16],
) -> Result<FixedModel, QuantiseError> {
    let exponents = exponents_of(model);
    let unit = units((index, names), directions, |output| {
        let steepest = steepest(model, output, &exponents);
        steepest.is_finite().then(|| rate_unit(steepest)).flatten()
    })?;
    let wrong = |state: usize| {
        move |source| QuantiseError::Model { place: names.place(index, &source), state, source }
    };
    let fine = !model.is_over_symbols();
    let row = |weights: &[Weight<f64>], part, row| -> Result<Vec<FixedWeight>, ModelError> {
        if fine {
            return fine_row(weights, &unit, part, row);
        }
        let probability: Vec<f64> = weights.iter().map(|weight| weight.value).collect();
        let mut table = vec![Q15::ZERO; probability.len()];
        quantise_row(&probability, &mut table, part, row)?;
        with_rates(weights, &table, &unit, row, None)
    };
    let initial = row(&model.initial, Part::Initial, 0).map_err(wrong(0))?;
    let transition = model
        .transition
        .iter()
        .enumerate()
        .map(|(from, weights)| row(weights, Part::Transition, from).map_err(wrong(from)))
        .collect::<Result<_, _>>()?;
    let emission = model
        .emission
        .iter()
        .enumerate()
        .map(|(state, emission)| match emission.gaussian() {
            None => {
                let weights = emission.weights(0);
                let table: Vec<Q15> = weights
                    .iter()
                    .zip(&exponents)
                    .map(|(weight, &by)| CategoricalQ15View::entry_for(weight.value, by))
                    .collect();
                Ok(FixedEmission::Categorical {
                    probability: with_rates(weights, &table, &unit, state, Some(&exponents))
                        .map_err(wrong(state))?,
                    exponent: exponents.clone(),
                })
            }
            Some(fields) => gaussian(&fields, places, &unit).map_err(wrong(state)),
        })
        .collect::<Result<_, _>>()?;
    Ok(FixedModel { initial, transition, emission, unit })
}

/// Exponent of each symbol that brings its largest probability over the states above a half.
fn exponents_of(model: &DeployedModel<f64>) -> Vec<u16> {
    let rows: Vec<&[Weight<f64>]> = match model.is_over_symbols() {
        true => model.emission.iter().map(|emission| emission.weights(0)).collect(),
        false => Vec::new(),
    };
    (0..rows.first().map_or(0, |row| row.len()))
        .map(|k| {
            let largest = rows.iter().map(|row| row[k].value).fold(0.0, f64::max);
            CategoricalQ15View::exponent_for(largest)
        })
        .collect()
}

/// The largest rate that a direction gives any table, in the terms of
/// [`rate_unit`](fishweir_core::number::rate_unit).
fn steepest(model: &DeployedModel<f64>, output: usize, exponents: &[u16]) -> f64 {
    let sum = |row: &Vec<Weight<f64>>| row.iter().map(|w| w.tangent[output].abs()).sum::<f64>();
    let rows = std::iter::once(&model.initial).chain(&model.transition).map(sum);
    let largest = rows.fold(0.0, f64::max);
    model.emission.iter().fold(largest, |largest, emission| match emission.gaussian() {
        None => emission
            .weights(0)
            .iter()
            .zip(exponents)
            .map(|(weight, &by)| weight.tangent[output].abs() * f64::from(by).exp2())
            .fold(largest, f64::max),
        Some(GaussianFields { linear, quadratic, constant, .. }) => {
            let scale = per_deviation();
            let full = f64::from(RATE_MAX) / f64::from(1 << 14);
            let channels = linear.iter().zip(quadratic).map(|(linear, quadratic)| {
                let (linear, quadratic) =
                    (linear[output] / scale, quadratic[output] / (scale * scale));
                linear.abs().max(quadratic.abs()) / STEEPEST * full
            });
            let constant = constant.tangent[output].abs() / f64::from(1 << 13);
            channels.fold(largest.max(constant), f64::max)
        }
    })
}

/// A row of a chain whose entries have exponents. The likeliest entry takes what rounding left over of
/// the row's sum and, so that the rates still sum to zero, of theirs: to the next of its units.
fn fine_row(
    weights: &[Weight<f64>],
    unit: &[i16],
    part: Part,
    row: usize,
) -> Result<Vec<FixedWeight>, ModelError> {
    let probability: Vec<f64> = weights.iter().map(|weight| weight.value).collect();
    let exponents: Vec<u16> = weights
        .iter()
        .map(|weight| {
            let rates = weight.tangent.iter().zip(unit);
            fine_exponent(weight.value, rates.map(|(rate, &unit)| rate * f64::from(-unit).exp2()))
        })
        .collect();
    let mut table = vec![Q15::ZERO; weights.len()];
    quantise_fine_row(&probability, &exponents, &mut table, part, row)?;
    let mut fixed = with_rates(weights, &table, unit, row, Some(&exponents))?;
    for (entry, &exponent) in fixed.iter_mut().zip(&exponents) {
        entry.exponent = exponent;
    }
    let likeliest = (0..weights.len()).max_by(|&i, &j| probability[i].total_cmp(&probability[j]));
    for output in 0..unit.len() {
        let rest: f64 = fixed
            .iter()
            .map(|entry| f64::from(entry.rate[output]) * (-f64::from(entry.exponent)).exp2())
            .sum();
        if let Some(entry) = likeliest.and_then(|likeliest| fixed.get_mut(likeliest)) {
            let rest = (rest * f64::from(entry.exponent).exp2()).round();
            entry.rate[output] = (f64::from(entry.rate[output]) - rest) as i16;
        }
    }
    Ok(fixed)
}

fn with_rates(
    weights: &[Weight<f64>],
    table: &[Q15],
    unit: &[i16],
    row: usize,
    exponents: Option<&[u16]>,
) -> Result<Vec<FixedWeight>, ModelError> {
    let mut fixed: Vec<FixedWeight> = table
        .iter()
        .map(|value| FixedWeight { value: value.0, rate: vec![0; unit.len()], exponent: 0 })
        .collect();
    for (output, &unit) in unit.iter().enumerate() {
        let rates: Vec<f64> = weights
            .iter()
            .enumerate()
            .map(|(k, weight)| {
                let by = exponents.map_or(0, |exponents| exponents[k]);
                weight.tangent[output] * f64::from(by).exp2()
            })
            .collect();
        quantise_rates(&rates, unit, exponents.is_none(), row, |entry, rate| {
            fixed[entry].rate[output] = rate.rate() as i16;
        })?;
    }
    Ok(fixed)
}

fn gaussian(
    fields: &GaussianFields<'_, f64>,
    places: &[i16],
    unit: &[i16],
) -> Result<FixedEmission, ModelError> {
    let GaussianFields { mean, rate, constant, linear, quadratic } = *fields;
    let out = |part, entry| ModelError::new(part, fishweir_core::ErrorKind::OutOfRange, 0, entry);
    let mut channels = Vec::new();
    for (d, &places) in places.iter().enumerate() {
        let scale = f64::from(places).exp2();
        let rates = |rates: &[f64], power: i32| -> Result<Vec<i16>, ModelError> {
            let scaled = rates.iter().zip(unit).map(|(rate, &unit)| {
                let scaled = rate / per_deviation().powi(power) * f64::from(12 - unit).exp2();
                (scaled.abs() < 32_767.0).then_some(scaled.round() as i16)
            });
            scaled.collect::<Option<_>>().ok_or(out(Part::Tangent, d))
        };
        channels.push(FixedChannel {
            channel: ChannelQ15::new(mean[d] * scale, scale / rate[d], d)?.with_places(places),
            linear: rates(&linear[d], 1)?,
            quadratic: rates(&quadratic[d], 2)?,
        });
    }
    let bits = constant.value * std::f64::consts::LOG2_E * 65_536.0;
    if bits.abs() > f64::from(1 << 28) {
        return Err(out(Part::Normaliser, 0));
    }
    let constant_rate = constant.tangent.iter().zip(unit).map(|(rate, &unit)| {
        let scaled = rate * f64::from(14 - unit).exp2();
        (scaled.abs() <= f64::from(1 << 28)).then_some(scaled.round() as i32)
    });
    Ok(FixedEmission::Gaussian {
        channels,
        constant: bits.round() as i32,
        constant_rate: constant_rate.collect::<Option<_>>().ok_or(out(Part::Tangent, 0))?,
    })
}
