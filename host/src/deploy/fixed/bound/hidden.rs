//! Roundings of the filter and of the tangent filter, and what each does to the end of a stream.
//!
//! Relative to the sum of the row before, `S` units of its mantissas, with `B_j` and `R_j` the likelihoods and
//! their rates as they were rounded, and `e` and `E` the exponents of the row's tangents and of the larger of
//! that and theirs, the arithmetic is off by at most
//!
//! | step | a value | a tangent, in units of `2^(E-9) / S` |
//! |---|---|---|
//! | prediction: the last five bits are cut; over channels every product too, `F` of them | `u = (32 + F) 2^-15 / S` | `((1 + 2 F) / 32 + 1) 2^(e-E)` |
//! | product | `u B_j + 2^-10 / S` | that times `B_j`, `u R_j`, and 4 |
//! | the same over symbols, by leading digits | | besides `2^10 B_j + R_j / 32` in the table's units |
//! | what is kept, of a row with a sum of `S'` | half of one `S'`th of the products' sum | half of `2^(e'+1)` such |
//! | moving the derivative out | | twice that |

use super::trace::{Kept, Likelihood, Step, trace};
use super::{ModelBound, Pair};
use crate::data::Sample;
use crate::deploy::Weight;
use crate::deploy::fixed::FixedWeight;
use crate::runtime::family::GaussianFields;

/// A dual number a state: a value, and its rates `[output]`.
#[derive(Clone, Default)]
struct Duals {
    value: Vec<f64>,
    rate: Vec<Vec<f64>>,
}

impl Duals {
    fn new(states: usize, outputs: usize, value: f64) -> Self {
        Self { value: vec![value; states], rate: vec![vec![0.0; outputs]; states] }
    }

    /// Products, state by state.
    fn times(&self, other: &Self) -> Self {
        let pairs = self.value.iter().zip(&other.value);
        let rates = self
            .rate
            .iter()
            .zip(&other.rate)
            .zip(pairs.clone())
            .map(|((a, b), (x, y))| a.iter().zip(b).map(|(a, b)| a * y + x * b).collect());
        Self { value: pairs.map(|(x, y)| x * y).collect(), rate: rates.collect() }
    }
}

/// A row of a chain.
fn exactly(row: &[Weight<f64>]) -> Duals {
    Duals {
        value: row.iter().map(|weight| weight.value).collect(),
        rate: row.iter().map(|weight| weight.tangent.clone()).collect(),
    }
}

/// The same as its table has it.
fn tabled(row: &[FixedWeight], unit: &[i16]) -> Duals {
    let rates = |entry: &FixedWeight| {
        let power = |unit: i16| f64::from(i32::from(unit) - 14 - i32::from(entry.exponent)).exp2();
        entry.rate.iter().zip(unit).map(|(&rate, &unit)| f64::from(rate) * power(unit)).collect()
    };
    let value = |entry: &FixedWeight| {
        f64::from(entry.value) * f64::from(-15 - i32::from(entry.exponent)).exp2()
    };
    Duals { value: row.iter().map(value).collect(), rate: row.iter().map(rates).collect() }
}

/// A row's prediction by a chain.
fn predict(row: &Kept, transition: &[Duals]) -> Duals {
    let outputs = row.tangent.first().map_or(0, Vec::len);
    let mut predicted = Duals::new(row.value.len(), outputs, 0.0);
    for (from, (&a, tangent)) in transition.iter().zip(row.value.iter().zip(&row.tangent)) {
        for (to, &p) in from.value.iter().enumerate() {
            predicted.value[to] += a * p;
            let rates = tangent.iter().zip(&from.rate[to]);
            for (sum, (t, dp)) in predicted.rate[to].iter_mut().zip(rates) {
                *sum += t * p + a * dp;
            }
        }
    }
    predicted
}

impl Pair<'_> {
    /// The exact likelihoods relative to the scale that fixed point chose.
    fn likelihoods(&self, sample: &Sample<'_>, rounded: &Likelihood) -> Duals {
        let states = self.exact.emission.iter().map(|emission| -> (f64, Vec<f64>) {
            match (emission.gaussian(), sample) {
                (None, Sample::Symbol(symbol)) => {
                    let weight = &emission.weights(0)[usize::from(*symbol)];
                    let scale = (-rounded.log).exp();
                    let rates = weight.tangent.iter().zip(&rounded.log_rate);
                    let rates =
                        rates.map(|(rate, of_scale)| (rate - weight.value * of_scale) * scale);
                    (weight.value * scale, rates.collect())
                }
                (Some(fields), Sample::Row(x)) => {
                    let (log, rates) = log_density(&fields, x);
                    let value = (log - rounded.log).exp();
                    let rates = rates.iter().zip(&rounded.log_rate);
                    (value, rates.map(|(rate, of_scale)| value * (rate - of_scale)).collect())
                }
                _ => (0.0, vec![0.0; rounded.log_rate.len()]),
            }
        });
        let (value, rate) = states.unzip();
        Duals { value, rate }
    }
}

/// The logarithm of a Gaussian's density, and its rates of change.
pub(super) fn log_density(fields: &GaussianFields<'_, f64>, x: &[f64]) -> (f64, Vec<f64>) {
    let (mut log, mut rates) = (fields.constant.value, fields.constant.tangent.clone());
    for (d, x) in x.iter().enumerate() {
        let y = (x - fields.mean[d]) * fields.rate[d];
        log -= 0.5 * y * y;
        for (output, rate) in rates.iter_mut().enumerate() {
            *rate += y * (fields.linear[d][output] + fields.quadratic[d][output] * y);
        }
    }
    (log, rates)
}

pub(super) fn bound(pair: &Pair<'_>, samples: &[Sample<'_>]) -> Option<ModelBound> {
    let fixed = pair.fixed;
    let steps = trace(fixed, pair.places, samples)?;
    let (states, outputs) = (fixed.initial.len(), fixed.unit.len());
    let unit: Vec<f64> = fixed.unit.iter().map(|&unit| f64::from(unit).exp2()).collect();
    let of_tables = |row: &Vec<FixedWeight>| tabled(row, &fixed.unit);
    let tables: Vec<Duals> = fixed.transition.iter().map(of_tables).collect();
    let chain: Vec<Duals> = pair.exact.transition.iter().map(|row| exactly(row)).collect();
    let starts = (exactly(&pair.exact.initial), of_tables(&fixed.initial));
    let roundings = Roundings { fine: !pair.exact.is_over_symbols(), states, unit: &unit };
    let (none, mut after) = (Duals::new(states, outputs, 1.0), Duals::new(states, outputs, 1.0));
    let mut bound = ModelBound { log: 0.0, rates: vec![0.0; outputs] };
    for (t, (sample, step)) in samples.iter().zip(&steps).enumerate().rev() {
        let before = t.checked_sub(1).and_then(|before| steps.get(before)).map(|step| &step.kept);
        let (exact, rounded) = match &step.likelihood {
            Some(one) => (
                pair.likelihoods(sample, one),
                Duals { value: one.value.clone(), rate: one.rate.clone() },
            ),
            None => (none.clone(), none.clone()),
        };
        let (predicted, predicted_by_tables) = match before {
            Some(row) => (predict(row, &chain), predict(row, &tables)),
            None => starts.clone(),
        };
        let (wanted, found) = (predicted.times(&exact), predicted_by_tables.times(&rounded));
        let arithmetic = roundings.of(step, before, &rounded, &found);
        bound.add(&wanted, &found, &arithmetic, &after)?;
        // The backward row a sample before.
        let weighed = exact.times(&after);
        let mut row = Duals::new(states, outputs, 0.0);
        for (i, from) in chain.iter().enumerate() {
            let products = from.times(&weighed);
            row.value[i] = products.value.iter().sum();
            for (output, rate) in row.rate[i].iter_mut().enumerate() {
                *rate = products.rate.iter().map(|rates| rates[output]).sum();
            }
        }
        after = row.centred();
    }
    // What `f32` makes of the part of a derivative that is still in the row.
    let last = steps.last().map(|step| &step.kept.tangent);
    for (output, (rate, unit)) in bound.rates.iter_mut().zip(&unit).enumerate() {
        let in_row: f64 = last.into_iter().flatten().map(|rates| rates[output].abs()).sum();
        *rate += 2.0_f64.powi(-21) * (unit + in_row);
    }
    Some(bound)
}

impl Duals {
    /// Scaled, and less what all states have in common: neither changes a bound.
    fn centred(mut self) -> Self {
        let largest = self.value.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let sum: f64 = self.value.iter().sum();
        for output in 0..self.rate.first().map_or(0, Vec::len) {
            let common: f64 = self.rate.iter().map(|rates| rates[output]).sum::<f64>() / sum;
            for (rates, value) in self.rate.iter_mut().zip(&self.value) {
                rates[output] = (rates[output] - common * value) / largest;
            }
        }
        self.value.iter_mut().for_each(|value| *value /= largest);
        self
    }
}

impl ModelBound {
    /// Adds what a sample's roundings may do. `None` where they may be all there is.
    fn add(
        &mut self,
        wanted: &Duals,
        found: &Duals,
        arithmetic: &Duals,
        after: &Duals,
    ) -> Option<()> {
        let sum = |of: &dyn Fn(usize) -> f64| (0..after.value.len()).map(of).sum::<f64>();
        let all = sum(&|j| wanted.value[j] * after.value[j]);
        let known = sum(&|j| (found.value[j] - wanted.value[j]) * after.value[j]);
        let rounded = sum(&|j| arithmetic.value[j] * after.value[j]);
        let part = (known.abs() + rounded) / all;
        if part.is_nan() || part >= 1.0 {
            return None;
        }
        self.log -= (-part).ln_1p();
        for (output, bound) in self.rates.iter_mut().enumerate() {
            let along = |of: &Duals, j: usize| of.rate[j][output];
            let both = |j| along(wanted, j) * after.value[j] + wanted.value[j] * along(after, j);
            let slope = sum(&both) / all;
            let moved = |j: usize| along(after, j) - slope * after.value[j];
            let known = sum(&|j| {
                (along(found, j) - along(wanted, j)) * after.value[j]
                    + (found.value[j] - wanted.value[j]) * moved(j)
            });
            let rounded = sum(&|j| {
                along(arithmetic, j) * after.value[j] + arithmetic.value[j] * moved(j).abs()
            });
            *bound += (known.abs() + rounded) / all / (1.0 - part);
        }
        self.rates.iter().all(|rate| rate.is_finite()).then_some(())
    }
}

/// The roundings of the arithmetic: see the module.
struct Roundings<'a> {
    fine: bool,
    states: usize,
    unit: &'a [f64],
}

impl Roundings<'_> {
    /// At most so much, of each state's value and tangents, relative to the sum of the row before.
    fn of(&self, step: &Step, before: Option<&Kept>, rounded: &Duals, found: &Duals) -> Duals {
        let power = |power: i32| f64::from(power).exp2();
        let states = self.states as f64;
        let (sum, own) = before.map_or((65_536.0, 0), |row| (row.sum, row.exponent));
        let cut = if self.fine { states } else { 0.0 };
        let predicted = (32.0 + cut) * power(-15) / sum;
        let exponent = step.likelihood.as_ref().map_or(own, |one| own.max(one.exponent));
        let of_rates = step.likelihood.as_ref().map_or(0, |one| one.exponent);
        let (wide, wide_before) = (power(exponent - 9) / sum, power(own - 9) / sum);
        let tangent = ((1.0 + 2.0 * cut) / 32.0 + 1.0) * wide_before;
        let observed = f64::from(u8::from(step.likelihood.is_some()));
        let values: Vec<f64> = rounded
            .value
            .iter()
            .map(|likelihood| predicted * likelihood + observed * power(-10) / sum)
            .collect();
        // One unit of a kept value: a part of the sum of the products.
        let all = found.value.iter().sum::<f64>() + values.iter().sum::<f64>();
        let kept = all / (step.kept.sum - states / 2.0);
        let last = if step.kept.rescaled { 1.5 } else { 0.5 };
        // Where tangents are held at their largest nothing is known of them.
        let held = if step.kept.exponent >= 30 { f64::INFINITY } else { 0.0 };
        let of_kept = held + last * kept * power(step.kept.exponent + 1);
        let rates = |(likelihood, rates): (&f64, &Vec<f64>)| {
            let rate = |(rate, unit): (&f64, &f64)| {
                let rate = rate.abs() / unit;
                let leading = if self.fine || observed == 0.0 {
                    0.0
                } else {
                    let own = power(10) * likelihood * power(own - exponent);
                    // In the units of its table, of which `2^14` are one.
                    own + rate * power(14 - of_rates) / 32.0 * power(of_rates - exponent)
                };
                let product =
                    tangent * likelihood + predicted * rate + observed * (4.0 + leading) * wide;
                (product + of_kept) * unit
            };
            rates.iter().zip(self.unit).map(rate).collect()
        };
        Duals {
            value: values.iter().map(|value| value + kept / 2.0).collect(),
            rate: rounded.value.iter().zip(&rounded.rate).map(rates).collect(),
        }
    }
}
