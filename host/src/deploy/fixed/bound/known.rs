//! Roundings of tables whose entries are added: no other is made.

use fishweir_core::emission::Emission;
use fishweir_core::number::Dual;

use super::exact::State;
use super::seen::Seen;
use super::{ModelBound, Pair};
use crate::deploy::fixed::FixedEmission;
use crate::deploy::fixed::stream::{Build, DIRECTIONS_MAX, Gaussian};
use crate::runtime::family::BLOCK;

/// Bound for a model of positions.
pub(super) fn steps(pair: &Pair<'_>, samples: &[Seen]) -> Option<ModelBound> {
    let last = pair.exact.emission.len().checked_sub(1)?;
    let place = |(position, sample)| (Some(usize::min(position, last)), sample);
    sum(pair, samples.iter().enumerate().map(place))
}

/// Bound for weights of words, whose contexts have `order` symbols.
pub(super) fn words(pair: &Pair<'_>, order: usize, samples: &[Seen]) -> Option<ModelBound> {
    let symbols = pair.exact.emission.first()?.shape.size;
    let place = |(t, sample): (usize, _)| {
        let past = t.checked_sub(order).map(|first| &samples[first..t]);
        let context = past.and_then(|past| {
            past.iter().try_fold(0, |context, sample| match sample {
                Seen::Symbol(symbol) => Some(context * symbols + usize::from(*symbol)),
                _ => None,
            })
        });
        (context, sample)
    };
    sum(pair, samples.iter().enumerate().map(place))
}

/// Sum over the samples, each with its row.
fn sum<'a>(
    pair: &Pair<'_>,
    samples: impl Iterator<Item = (Option<usize>, &'a Seen)>,
) -> Option<ModelBound> {
    let fixed = pair.fixed;
    let unit: Vec<f64> = fixed.unit.iter().map(|&unit| f64::from(unit).exp2()).collect();
    // What `f32` makes of what is read.
    let mut bound =
        ModelBound { log: 0.0, rates: unit.iter().map(|unit| unit * 2.0_f64.powi(-21)).collect() };
    let blocks = (0..unit.len().max(1)).step_by(BLOCK);
    let blocks_of = |emission| blocks.clone().map(|first| State::of(emission, first)).collect();
    // `[row][block of directions]`, of those that a sample comes to.
    let mut exact: Vec<Option<Vec<State<Dual<f64, BLOCK>>>>> = Vec::new();
    exact.resize_with(pair.exact.emission.len(), || None);
    for (place, sample) in samples {
        let Some(row) = place.filter(|_| !matches!(sample, Seen::Missing)) else {
            continue;
        };
        if exact[row].is_none() {
            exact[row] = blocks_of(&pair.exact.emission[row]);
        }
        let exact: Vec<_> =
            exact[row].as_ref()?.iter().map(|block| block.log(&sample.sample())).collect();
        let log = exact.first()?.value;
        if log == f64::NEG_INFINITY {
            return None;
        }
        let (log2, found) = match (&fixed.emission[row], sample) {
            (FixedEmission::Logarithms { log2, rate }, Seen::Symbol(symbol)) => {
                let at = usize::from(*symbol);
                (log2[at], rate[at].iter().map(|&rate| i32::from(rate)).collect())
            }
            (FixedEmission::Gaussian { .. }, Seen::Row(_, x)) => density(pair, row, x),
            _ => return None,
        };
        let rates = exact.iter().flat_map(|block| block.tangent);
        let found_log = f64::from(log2) / 65_536.0 * std::f64::consts::LN_2;
        bound.log += (found_log - log).abs();
        let along = bound.rates.iter_mut().zip(found.iter().zip(rates)).zip(&unit);
        for ((bound, (&found, exact)), unit) in along {
            *bound += (f64::from(found) / 16_384.0 * unit - exact).abs();
        }
    }
    Some(bound)
}

fn density(pair: &Pair<'_>, row: usize, x: &[Option<i16>]) -> (i32, Vec<i32>) {
    let log = Gaussian::<DIRECTIONS_MAX>::build(pair.fixed, row).log_likelihood(x);
    (log.log2, log.rate.to_vec())
}
