//! Roundings of the filter and of the tangent filter, and the effect of each on the end of a stream.
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

use fishweir_core::hmm::Chain;
use fishweir_core::number::{Number, Parameter, RealParameter, Scalar, Tangent, array_of, sum_of};

use super::exact::State;
use super::seen::Seen;
use super::trace::{KeptRow, Likelihood, Step, trace};
use super::{ModelBound, Pair};
use crate::data::Sample;
use crate::deploy::block::chain;
use crate::deploy::fixed::{FixedModel, FixedWeight};
use crate::elementary::Elementary;
use crate::runtime::family::{BLOCK, tangent};
use crate::runtime::{HostReal, HostWeight, with_two_sizes};

/// The number of a weight's rows.
type NumberOf<W> = <W as Parameter>::Number;

/// A row of dual numbers from values, `[state]`, and their rates, `[state][output]`, with the directions from
/// `first` on; zero past the model's states.
fn row_of<W: HostWeight<Real = f64>, const N: usize>(
    values: &[f64],
    rates: &[Vec<f64>],
    first: usize,
) -> [NumberOf<W>; N] {
    array_of(NumberOf::<W>::ZERO, |j| match (values.get(j), rates.get(j)) {
        (Some(&value), Some(rates)) => {
            NumberOf::<W>::lift(W::new(value, tangent::<f64, W>(rates, first)))
        }
        _ => NumberOf::<W>::ZERO,
    })
}

/// Products, state by state.
fn times<X: Number, const N: usize>(a: &[X; N], b: &[X; N]) -> [X; N] {
    array_of(X::ZERO, |j| a[j].times(b[j]))
}

/// The chain as its tables have it.
fn tabled<W: HostWeight<Real = f64>, const N: usize>(
    fixed: &FixedModel,
    first: usize,
) -> Chain<W, N> {
    let weight = |entry: Option<&FixedWeight>| {
        entry.map_or(W::constant(0.0), |entry| {
            let power = |power: i32| f64::from(power - i32::from(entry.exponent)).exp2();
            let rates: Vec<f64> = entry
                .rate
                .iter()
                .zip(&fixed.unit)
                .map(|(&rate, &unit)| f64::from(rate) * power(i32::from(unit) - 14))
                .collect();
            W::new(f64::from(entry.value) * power(-15), tangent::<f64, W>(&rates, first))
        })
    };
    let row = |row: Option<&Vec<FixedWeight>>| -> [W; N] {
        array_of(W::constant(0.0), |j| weight(row.and_then(|row| row.get(j))))
    };
    let initial = row(Some(&fixed.initial));
    Chain::from_parts(initial, array_of(initial, |i| row(fixed.transition.get(i))))
}

/// The exact likelihoods relative to the scale that fixed point chose.
fn likelihoods<W: HostWeight<Real = f64>, const N: usize>(
    states: &[State<W>],
    sample: &Sample<'_>,
    rounded: &Likelihood,
    first: usize,
) -> [NumberOf<W>; N] {
    let of_scale = tangent::<f64, W>(&rounded.log_rate, first).scale(-1.0);
    array_of(NumberOf::<W>::ZERO, |j| {
        let log = states.get(j).map_or(W::constant(f64::NEG_INFINITY), |state| state.log(sample));
        let relative = W::new(log.value(), log.tangent().plus(of_scale));
        NumberOf::<W>::lift(relative.exp_relative_to(rounded.log))
    })
}

pub(super) fn bound(pair: &Pair<'_>, samples: &[Seen]) -> Option<ModelBound> {
    let steps = trace(pair.fixed, samples)?;
    let (states, outputs) = (pair.fixed.initial.len(), pair.fixed.unit.len());
    let mut bound = ModelBound { log: 0.0, rates: Vec::new() };
    // The directions are run in blocks, each beside the same values.
    for first in (0..outputs.max(1)).step_by(BLOCK) {
        let block = with_two_sizes!(states, N => {
            along::<<f64 as HostReal>::Many, N>(pair, &steps, samples, first)
        })?;
        bound.log = block.log;
        bound.rates.extend(block.rates);
    }
    // What `f32` makes of the part of a derivative that is still in the row.
    let last = steps.last().map(|step| &step.kept.tangent);
    for (output, (rate, &unit)) in bound.rates.iter_mut().zip(&pair.fixed.unit).enumerate() {
        let in_row: f64 = last.into_iter().flatten().map(|rates| rates[output].abs()).sum();
        *rate += 2.0_f64.powi(-21) * (f64::from(unit).exp2() + in_row);
    }
    Some(bound)
}

/// The bound with the rates of a block of directions, from the `first` on.
fn along<W: HostWeight<Real = f64>, const N: usize>(
    pair: &Pair<'_>,
    steps: &[Step],
    samples: &[Seen],
    first: usize,
) -> Option<ModelBound> {
    let states = pair.exact.initial.len();
    let exact: Chain<W, N> = chain(pair.exact, first);
    let tables: Chain<W, N> = tabled(pair.fixed, first);
    let emission = pair.exact.emission.iter().map(|emission| State::of(emission, first));
    let emission: Vec<State<W>> = emission.collect::<Option<_>>()?;
    let unit = pair.fixed.unit.iter().skip(first).take(W::Tangent::DIRECTIONS);
    let unit: Vec<f64> = unit.map(|&unit| f64::from(unit).exp2()).collect();
    let roundings = Roundings { fine: !pair.exact.is_over_symbols(), states, unit: &unit };
    let one = NumberOf::<W>::ONE;
    let ones =
        array_of(NumberOf::<W>::ZERO, |j| if j < states { one } else { NumberOf::<W>::ZERO });
    let mut after: [NumberOf<W>; N] = ones;
    let mut bound = ModelBound { log: 0.0, rates: vec![0.0; unit.len()] };
    for (t, (sample, step)) in samples.iter().zip(steps).enumerate().rev() {
        let before = t.checked_sub(1).and_then(|before| steps.get(before)).map(|step| &step.kept);
        let (wanted_likelihood, rounded) = match &step.likelihood {
            Some(likelihood) => (
                likelihoods(&emission, &sample.sample(), likelihood, first),
                row_of::<W, N>(&likelihood.value, &likelihood.rate, first),
            ),
            None => (ones, ones),
        };
        let (predicted, predicted_by_tables) = match before {
            Some(kept) => {
                let row = row_of::<W, N>(&kept.value, &kept.tangent, first);
                (exact.predict(&row), tables.predict(&row))
            }
            None => (exact.begin(), tables.begin()),
        };
        let wanted = times(&predicted, &wanted_likelihood);
        let found = times(&predicted_by_tables, &rounded);
        let arithmetic = roundings.of::<W, N>(step, before, &rounded, &found);
        bound.add(&wanted, &found, &arithmetic, &after)?;
        // The backward row a sample before. Scaled, and less what all states have in common: neither changes
        // a bound.
        after = exact.backward(&times(&wanted_likelihood, &after));
        let sum = sum_of::<NumberOf<W>, N>(|j| after[j]);
        NumberOf::<W>::rescale(&mut after, sum, &mut NumberOf::<W>::UNSCALED.clone());
    }
    Some(bound)
}

/// A rate of change; zero along a direction that there is not.
fn rate<X: Scalar<Real = f64>>(number: X, direction: usize) -> f64 {
    number.derivative(direction).unwrap_or(0.0)
}

impl ModelBound {
    /// Adds the effect of a sample's roundings. `None` if they may exceed the value.
    fn add<X: Scalar<Real = f64, Weight: RealParameter<Real = f64>>, const N: usize>(
        &mut self,
        wanted: &[X; N],
        found: &[X; N],
        arithmetic: &[X; N],
        after: &[X; N],
    ) -> Option<()> {
        // A row has no value below zero, whatever was dropped.
        let ends: [Ends; N] = std::array::from_fn(|j| {
            let (found, off) = (found[j].value(), arithmetic[j].value());
            let least = (found - off).max(0.0);
            Ends { least, most: found + off }
        });
        let of_ends = |end: fn(&Ends) -> f64| -> f64 {
            ends.iter().zip(after).map(|(ends, after)| end(ends) * after.value()).sum()
        };
        let (least, most) = (of_ends(|ends| ends.least), of_ends(|ends| ends.most));
        let all = sum_of::<X, N>(|j| wanted[j].times(after[j]));
        let off = (all.value() / least).max(most / all.value());
        if off.is_nan() || off.is_infinite() {
            return None;
        }
        self.log += off.portable_ln();
        for (output, bound) in self.rates.iter_mut().enumerate() {
            let slope = rate(all, output) / all.value();
            let moved = |j: usize| rate(after[j], output) - slope * after[j].value();
            let tangents = |of: &dyn Fn(usize) -> f64| -> f64 {
                (0..N).map(|j| of(j) * after[j].value()).sum()
            };
            let known = tangents(&|j| rate(found[j], output));
            let rounded = tangents(&|j| rate(arithmetic[j], output));
            let steepest = |sign: f64| {
                let states = ends.iter().zip(after).enumerate();
                let states = states.map(|(j, (ends, b))| (*ends, b.value(), sign * moved(j)));
                steepest(sign * known + rounded, states)
            };
            *bound += f64::max(steepest(1.0), steepest(-1.0));
        }
        self.rates.iter().all(|rate| rate.is_finite()).then_some(())
    }
}

/// Lower and upper bound of a value of a row.
#[derive(Clone, Copy)]
struct Ends {
    least: f64,
    most: f64,
}

/// The largest of `( off + sum_j x_j m_j ) / sum_j x_j b_j` over values `x_j` between their ends,
/// of states `(ends, b, m)`: at the top of those with `m_j / b_j` above it and at the bottom of all others, which
/// rising lower bounds find, each from the one before.
///
/// Source: W. Dinkelbach, On nonlinear fractional programming, Management Science 13 (1967), 492-498.
fn steepest(off: f64, states: impl Iterator<Item = (Ends, f64, f64)> + Clone) -> f64 {
    let with_tops_above = |ratio: f64| {
        let (mut above, mut below) = (off, 0.0);
        for (ends, b, m) in states.clone() {
            let x = if m > ratio * b { ends.most } else { ends.least };
            above += x * m;
            below += x * b;
        }
        above / below
    };
    // All at the bottom; then it rises, to no more than there are states.
    let mut ratio = with_tops_above(f64::INFINITY);
    loop {
        let next = with_tops_above(ratio);
        if next > ratio {
            ratio = next;
        } else {
            return ratio;
        }
    }
}

/// The roundings of the arithmetic: see the module.
struct Roundings<'a> {
    fine: bool,
    states: usize,
    /// `[direction of the block]`.
    unit: &'a [f64],
}

impl Roundings<'_> {
    /// Bounds on the errors of each state's value and tangents, relative to the sum of the row before.
    fn of<W: HostWeight<Real = f64>, const N: usize>(
        &self,
        step: &Step,
        before: Option<&KeptRow>,
        rounded: &[NumberOf<W>; N],
        found: &[NumberOf<W>; N],
    ) -> [NumberOf<W>; N] {
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
        let value = |rounded: f64| predicted * rounded + observed * power(-10) / sum;
        // One unit of a kept value: a part of the sum of the products.
        let products = found.iter().zip(rounded).take(self.states);
        let all: f64 = products.map(|(found, one)| found.value() + value(one.value())).sum();
        let kept = all / (step.kept.sum - states / 2.0);
        let last = if step.kept.rescaled { 1.5 } else { 0.5 };
        // Where tangents are held at their largest nothing is known of them.
        let held = if step.kept.exponent >= 30 { f64::INFINITY } else { 0.0 };
        let of_kept = held + last * kept * power(step.kept.exponent + 1);
        let of_direction = |likelihood: f64, rate: f64, unit: f64| {
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
        std::array::from_fn(|j| {
            let one = rounded[j];
            let likelihood = one.value();
            let rates = W::Tangent::from_fn(|c| {
                self.unit.get(c).map_or(0.0, |&unit| of_direction(likelihood, rate(one, c), unit))
            });
            NumberOf::<W>::lift(W::new(value(likelihood) + kept / 2.0, rates))
        })
    }
}
