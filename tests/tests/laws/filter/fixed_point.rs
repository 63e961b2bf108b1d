//! Fixed point by hand: what tables round to, and what is read of a row and its ledger.

use fishweir_core::emission::{Categorical, CategoricalQ15};
use fishweir_core::filter::{Forward, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::{
    Dual, FineQ15, Parameter, Q15, RATE_MAX, Scalar, fine_exponent, quantise_fine_row,
    quantise_rates, quantise_row, rate_unit,
};
use fishweir_core::{ErrorKind, ModelError, Part};

const ONE: f64 = 32_768.0;

/// Rows without ties, from one another by their squares and cubes.
fn rows() -> impl Iterator<Item = Vec<f64>> {
    (2..40_usize).map(|length| {
        let weight =
            |k: usize| 1.0 + ((k * k * length + 7 * k * k * k) % 101) as f64 + k as f64 / 97.0;
        let sum: f64 = (0..length).map(weight).sum();
        (0..length).map(|k| weight(k) / sum).collect()
    })
}

#[test]
fn a_row_is_rounded_by_largest_remainders() {
    for row in rows() {
        let mut table = vec![Q15::ZERO; row.len()];
        quantise_row(&row, &mut table, Part::Transition, 3).expect("a distribution");
        let mut expected: Vec<u16> = row.iter().map(|p| (p * ONE).floor() as u16).collect();
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&i, &j| (row[j] * ONE).fract().total_cmp(&(row[i] * ONE).fract()));
        let left = (1 << 15) - expected.iter().map(|&v| usize::from(v)).sum::<usize>();
        order[..left].iter().for_each(|&k| expected[k] += 1);
        assert_eq!(table, expected.into_iter().map(Q15).collect::<Vec<_>>(), "{row:?}");
    }
    let mut table = [Q15::ZERO; 5];
    quantise_row(&[1e-9, 0.5, 1e-9, 0.0, 0.5 - 2e-9], &mut table, Part::Initial, 0).expect("a row");
    let [rare, half, other, never, rest] = table.map(|entry| entry.0);
    assert_eq!((rare, other, never), (1, 1, 0), "what is possible stays so, what is not does not");
    assert_eq!(half + rest, (1 << 15) - 2);

    let many = vec![1.0 / 40_000.0; 40_000];
    let refused = quantise_row(&many, &mut vec![Q15::ZERO; 40_000], Part::Initial, 2);
    assert_eq!(refused, Err(ModelError::new(Part::Initial, ErrorKind::OutOfRange, 2, 0)));
}

#[test]
fn a_fine_row_sums_to_one_and_keeps_zeros() {
    for mut row in rows() {
        row.push(0.0);
        let fine: Vec<u16> = row.iter().map(|&p| fine_exponent(p, [].into_iter())).collect();
        assert_eq!(fine.last(), Some(&0));
        for exponents in [fine, vec![0; row.len()]] {
            let mut table = vec![Q15::ONE; row.len()];
            quantise_fine_row(&row, &exponents, &mut table, Part::Transition, 0).expect("a row");
            let entry = |(v, &x): (&Q15, &u16)| f64::from(v.0) / ONE / 2.0_f64.powi(x.into());
            let sum: f64 = table.iter().zip(&exponents).map(entry).sum();
            assert!((sum - 1.0).abs() <= 2.0_f64.powi(-16), "{sum}");
            assert_eq!(table.last(), Some(&Q15::ZERO));
        }
    }
    // As many halvings as probability and rates leave room for.
    let limit = f64::from(RATE_MAX);
    for (probability, rate, exponent) in [
        (1.0, 0.0, 0),
        (0.5, 0.0, 1),
        (0.51, 0.0, 0),
        (1e-9, 0.0, 15),
        (0.25, (limit - 0.5) / ONE, 1),
        (0.25, -limit / ONE, 0),
    ] {
        let found = fine_exponent(probability, [rate, 0.1 * rate].into_iter());
        assert_eq!(found, exponent, "{probability}, {rate}");
    }
}

fn rates(rate: &[f64], balanced: bool) -> Result<Vec<i32>, ModelError> {
    let mut table = vec![0; rate.len()];
    // In units of an entry.
    let rate: Vec<f64> = rate.iter().map(|rate| rate / 16_384.0).collect();
    quantise_rates(&rate, 0, balanced, 4, |entry, value| table[entry] = value.rate())?;
    Ok(table)
}

#[test]
fn rates_are_rounded_and_held_to_their_limit() {
    assert_eq!(rates(&[0.4, 0.4, 0.4], false), Ok(vec![0, 0, 0]));
    assert_eq!(rates(&[0.4, 0.4, -0.8], true), Ok(vec![0, 1, -1]), "they still sum to zero");
    assert_eq!(rates(&[0.6, 0.0, -0.6], true), Ok(vec![1, 0, -1]), "zeros stay zeros");
    let most = f64::from(RATE_MAX);
    let too_large = |entry| Err(ModelError::new(Part::Tangent, ErrorKind::OutOfRange, 4, entry));
    // Of a chain the absolute sum of a row is limited, of emissions each rate.
    let halves = [0.5 * most, -0.5 * most];
    assert_eq!(rates(&halves, true), Ok(vec![RATE_MAX / 2, -RATE_MAX / 2]));
    assert_eq!(rates(&[0.5 * most + 1.0, -0.5 * most - 1.0], true), too_large(1));
    assert_eq!(rates(&[most, -most], false), Ok(vec![RATE_MAX, -RATE_MAX]));
    assert_eq!(rates(&[0.0, most + 1.0], false), too_large(1));
    assert_eq!(rates(&[f64::NAN], false), too_large(0));

    let room = (most - 128.0) / 16_384.0;
    assert_eq!([rate_unit(room), rate_unit(2.0 * room)], [Some(0), Some(1)]);
    assert_eq!([rate_unit(1.001 * room), rate_unit(f64::INFINITY)], [Some(1), None]);
}

#[test]
fn entries_are_read_and_held_to_their_limits() {
    let entry =
        |value, rates: [i16; 2]| Dual { value: Q15(value), tangent: rates.map(Q15::from_rate) };
    let fine = |rate: i16, exponent| FineQ15 { weight: entry(16_384, [rate, 0]), exponent };
    let plain = entry(16_384, [4_096, -8_192]);
    assert_eq!((Parameter::value(plain), Parameter::tangent(plain)), (0.5, [0.25, -0.5]));
    let eighth = FineQ15 { weight: plain, exponent: 3 };
    assert_eq!((eighth.value(), eighth.tangent()), (0.0625, [0.03125, -0.0625]));

    let most = RATE_MAX as i16;
    let fits = |row: &[[i16; 2]]| Dual::fits(row.iter().map(|&rates| entry(1, rates)));
    for (row, within) in [
        (&[[most / 2, 0], [-most / 2, 0]][..], true),
        (&[[most / 2, 0], [-most / 2 - 1, 0]], false),
        (&[[most, -most]], true),
        (&[[0, most], [0, 1]], false),
        (&[[most + 1, 0]], false),
    ] {
        assert_eq!(fits(row), within, "{row:?}");
    }
    // Rates with an exponent count by what they stand for, rounded up.
    for (row, within) in [
        (&[fine(most, 1), fine(-most, 1)][..], true),
        (&[fine(most, 1), fine(-most, 1), fine(1, 15)], false),
        (&[fine(most - 1, 0), fine(1, 15)], true),
        (&[fine(most, 0), fine(0, 15)], true),
        (&[fine(most + 1, 1)], false),
        (&[fine(0, 16)], false),
    ] {
        assert_eq!(FineQ15::fits(row.iter().copied()), within, "{row:?}");
    }
}

pub(crate) type Tables = Hmm<CategoricalQ15<2, 1>, 2>;

/// A chain and two symbols in units of a table, and their rates.
pub(crate) fn tables(chain: [[u16; 2]; 3], symbols: [[(u16, i16); 2]; 2]) -> Tables {
    let steady = |p| Dual { value: Q15(p), tangent: [Q15::ZERO] };
    let [initial, rows @ ..] = chain.map(|row| row.map(steady));
    let moved = |(p, rate)| Dual { value: Q15(p), tangent: [Q15::from_rate(rate)] };
    let law = |row: [(u16, i16); 2]| CategoricalQ15::from_parts(row.map(moved), [0; 2], [0]);
    let hmm = Hmm::new(Chain::from_parts(initial, rows), symbols.map(law));
    hmm.validate().expect("tables of a model");
    hmm
}

/// The same numbers in `f64`.
fn exactly(hmm: &Tables) -> Hmm<Categorical<2, Dual<f64, 1>>, 2> {
    let number = |entry: Dual<Q15, 1>| Dual {
        value: f64::from(entry.value.0) / ONE,
        tangent: entry.tangent.map(|rate| f64::from(rate.rate()) / 16_384.0),
    };
    let chain = hmm.chain();
    let rows = chain.transition().map(|row| row.map(number));
    let emission = hmm.emission().each_ref().map(|law| {
        let row = law.view().probability;
        Categorical::from_parts([number(row[0]), number(row[1])])
    });
    Hmm::new(Chain::from_parts(chain.initial().map(number), rows), emission)
}

/// After every symbol: the log-likelihood and its rate, these in two parts, and what the last eight
/// added to them.
fn readings(hmm: &Tables, symbols: impl Iterator<Item = usize>, tolerance: f64) {
    let exact = exactly(hmm);
    let (mut fixed, mut exact) = (Stream::new(Forward::of(hmm)), Stream::new(Forward::of(&exact)));
    let mut before = vec![(fixed.state().evidence(), exact.state().evidence())];
    for (t, symbol) in symbols.enumerate() {
        fixed.push(&symbol).expect("a possible symbol");
        exact.push(&symbol).expect("a possible symbol");
        let (found, wanted) = (fixed.state().evidence(), exact.state().evidence());
        let near = |found: f64, wanted: f64, what: &str| {
            let off = (found - wanted).abs();
            assert!(off <= tolerance * (1.0 + t as f64), "{what} at {t}: {found} for {wanted}");
        };
        let log = wanted.log();
        near(found.log().value.into(), log.value, "log");
        near(found.log().tangent[0].into(), log.tangent[0], "rate");
        let [high, low] = found.log_parts();
        near(f64::from(high.value) + f64::from(low.value), log.value, "log in parts");
        let rate = f64::from(high.tangent[0]) + f64::from(low.tangent[0]);
        near(rate, log.tangent[0], "rate in parts");
        let (found_before, wanted_before) = &before[t.saturating_sub(7)];
        let (added, wanted_added) =
            (found.difference(found_before), wanted.difference(wanted_before));
        near(added.value.into(), wanted_added.value, "log of the last");
        near(added.tangent[0].into(), wanted_added.tangent[0], "rate of the last");
        before.push((found, wanted));
        // How fast a state's part of the row changes.
        let (sum, exact_sum) = (fixed.state().sum(), exact.state().sum());
        for (found, wanted) in fixed.state().row().iter().zip(exact.state().row()) {
            let part = found.value() / sum.value();
            let wanted_part = wanted.value / exact_sum.value;
            near(part.into(), wanted_part, "part");
            let rate = found.derivative(0).expect("a direction")
                - part * sum.derivative(0).expect("a direction");
            let wanted = wanted.tangent[0] - wanted_part * exact_sum.tangent[0];
            near((rate / sum.value()).into(), wanted / exact_sum.value, "rate of a part");
        }
    }
}

#[test]
fn readings_are_those_of_the_tables_numbers() {
    let chain = [[16_384, 16_384], [29_000, 3_768], [5_000, 27_768]];
    let hmm = tables(chain, [[(20_000, 1_500), (12_768, -1_500)], [(3_000, -700), (29_768, 700)]]);
    readings(&hmm, (0..300).map(|t| usize::from(t % 7 < 3)), 1e-3);
}

#[test]
fn a_likelier_state_out_of_reach_takes_no_part() {
    // Symbol 1 is all that the second state emits, and the first one's rarest.
    let apart = [[32_768, 0], [32_768, 0], [0, 32_768]];
    let hmm = tables(apart, [[(32_765, -1), (3, 1)], [(0, 0), (32_768, 0)]]);
    readings(&hmm, (0..100).map(|t| usize::from(t % 3 > 0)), 2e-3);
    // Only by the rarest transition is the state reached that emits it.
    let rarely = [[32_768, 0], [32_767, 1], [16_384, 16_384]];
    let hmm = tables(rarely, [[(32_768, 0), (0, 0)], [(0, 0), (32_768, 0)]]);
    readings(&hmm, (0..100).map(|t| usize::from(t % 5 > 2)), 2e-3);
}
