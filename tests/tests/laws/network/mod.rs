//! Events of categories: the laws of streams, sums from the definition, and numbers of both widths.

mod coreset;

use fishweir_core::classify::decide;
use fishweir_core::filter::ForgettingFactor;
use fishweir_core::network::{
    Discrepancy, DiscrepancyState, DiscrepancyTables, FactorClassifier, FactorLayout, MISSING,
    TermsError,
};
use fishweir_core::number::Real;
use fishweir_core::{ErrorKind, Part};
use fishweir_tests::checks::cases;
use fishweir_tests::laws::{Trial, check};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Three nodes: a door (2), a lamp (3) below it, a fan (2) below both.
const CARDS: [u16; 3] = [2, 3, 2];
const LENGTHS: [u16; 3] = [1, 2, 3];
const COLUMNS: [u16; 6] = [0, 0, 1, 1, 0, 2];
const CELLS: usize = 2 + 6 + 12;
const TERMS: FactorLayout<'static> = match FactorLayout::new(&CARDS, &LENGTHS, &COLUMNS) {
    Ok(terms) => terms,
    Err(_) => panic!("no terms"),
};

/// Tables by cell, probabilities of rows by enumeration, and a source of numbers.
struct Drawn {
    theta: [f64; CELLS],
    precision: [f64; CELLS],
    random: ChaCha8Rng,
}

/// The cell of each node for a whole event: what the terms must come to.
fn cells([door, lamp, fan]: [usize; 3]) -> [usize; 3] {
    [door, 2 + 3 * door + lamp, 8 + (2 * lamp + door) * 2 + fan]
}

fn all_events() -> impl Iterator<Item = [usize; 3]> {
    (0..12).map(|code| [code / 6, code / 2 % 3, code % 2])
}

impl Drawn {
    /// With `zero`, the lamp is never in state 2 while the door is in state 1.
    fn new(seed: u64, zero: bool) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut theta = [0.0; CELLS];
        for (from, card) in
            [(0, 2), (2, 3), (5, 3), (8, 2), (10, 2), (12, 2), (14, 2), (16, 2), (18, 2)]
        {
            let row = &mut theta[from..from + card];
            row.iter_mut().for_each(|p| *p = random.random::<f64>() + 0.1);
            if zero && from == 5 {
                row[2] = 0.0;
            }
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        let mut probability = [0.0; CELLS];
        for event in all_events() {
            let of_event = cells(event);
            let p: f64 = of_event.iter().map(|&cell| theta[cell]).product();
            of_event.iter().for_each(|&cell| probability[cell] += p);
        }
        let precision = probability.map(|p| if p > 0.0 { 1.0 / p } else { 0.0 });
        Self { theta, precision, random }
    }

    /// Events of which some fields are missing, all possible.
    fn events(&mut self, count: usize, missing: f64) -> Vec<[u16; 3]> {
        let mut events = Vec::new();
        while events.len() < count {
            let whole = [2, 3, 2].map(|card| self.random.random_range(0..card));
            if cells(whole).iter().all(|&cell| self.theta[cell] > 0.0) {
                let hide = |state: usize| {
                    if self.random.random_bool(missing) { MISSING } else { state as u16 }
                };
                events.push(whole.map(hide));
            }
        }
        events
    }
}

fn cells_there(event: &[u16]) -> impl Iterator<Item = usize> {
    let present = event.iter().map(|&state| state != MISSING).collect::<Vec<_>>();
    let whole = [0, 1, 2].map(|i| if present[i] { usize::from(event[i]) } else { 0 });
    let needed: [&[usize]; 3] = [&[0], &[0, 1], &[0, 1, 2]];
    (0..3).filter(move |&i| needed[i].iter().all(|&j| present[j])).map(move |i| cells(whole)[i])
}

fn options(events: &[[u16; 3]]) -> Vec<Option<&[u16]>> {
    events
        .iter()
        .map(|event| if event == &[MISSING; 3] { None } else { Some(&event[..]) })
        .collect()
}

/// Events that are none.
const NONE: [&[u16]; 4] = [&[2, 0, 0], &[0, 3, MISSING], &[0, 0], &[0, 0, 0, 0]];

fn narrow(table: &[f64]) -> Vec<f32> {
    table.iter().map(|&x| x as f32).collect()
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn sums_are_those_of_the_cells(seed: u64, length in 0_usize..=30, missing in 0.0_f64..=0.5) {
        let mut drawn = Drawn::new(seed, false);
        let tables: [Vec<f64>; 3] = std::array::from_fn(|_| {
            (0..CELLS).map(|_| drawn.random.random::<f64>() * 4.0 - 2.0).collect()
        });
        let bias = [0.1, -0.2, 0.0];
        let lent = std::array::from_fn(|output| &tables[output][..]);
        let sum = FactorClassifier::<f64, 3>::new(TERMS, lent, bias).expect("tables");
        prop_assert_eq!(sum.validate(), Ok(()));
        let events = drawn.events(length, missing);
        let samples = options(&events);
        let refused = check(&sum, Trial { samples: &samples, refusable: &NONE }, |prefix, reading| {
            let mut values = bias;
            for event in prefix.iter().flatten() {
                for cell in cells_there(event) {
                    values.iter_mut().zip(&tables).for_each(|(value, table)| *value += table[cell]);
                }
            }
            let expected = decide(&values);
            assert!(reading.class == expected.class || expected.margin < 1e-12);
            assert!((reading.margin - expected.margin).abs() < 1e-11);
        });
        prop_assert_eq!(refused, NONE.len() * (length + 1));
        // Both widths agree.
        let single: [Vec<f32>; 3] = std::array::from_fn(|output| narrow(&tables[output]));
        let lent = std::array::from_fn(|output| &single[output][..]);
        let narrow = FactorClassifier::<f32, 3>::new(TERMS, lent, bias.map(|b| b as f32)).expect("tables");
        let (mut a, mut b) = ([Default::default(); 3], [Default::default(); 3]);
        for event in &events {
            use fishweir_core::filter::Streaming;
            sum.step(&mut a, event).expect("an event");
            narrow.step(&mut b, event).expect("an event");
        }
        for (a, b) in sum.values(&a).iter().zip(narrow.values(&b)) {
            prop_assert!((a - f64::from(b)).abs() < 1e-4, "{a} and {b}");
        }
    }

    #[test]
    fn discrepancies_are_faded_sums(
        seed: u64, length in 0_usize..=40, missing in 0.0_f64..=0.4, zero: bool, memory in 0_usize..=2,
    ) {
        let mut drawn = Drawn::new(seed, zero);
        let memory = [ForgettingFactor::ENDLESS, ForgettingFactor::factor(0.5).expect("a factor"), ForgettingFactor::factor(0.97).expect("a factor")][memory];
        let events = drawn.events(length, missing);
        let tables = DiscrepancyTables::new(TERMS, &drawn.theta, &drawn.precision, memory, 5.0, 3.0).expect("tables");
        prop_assert_eq!(tables.validate(), Ok(()));
        let alarm = Discrepancy::<f64, 3, CELLS>::new(tables).expect("sizes");
        let theta = drawn.theta;
        let precision = drawn.precision;
        let samples = options(&events);
        let mut refusable = NONE.to_vec();
        if zero {
            refusable.push(&[1, 2, 0]);
        }
        let refused = check(&alarm, Trial { samples: &samples, refusable: &refusable }, |prefix, reading| {
            let kept = memory.lambda();
            let (mut deviation, mut squares) = ([0.0; CELLS], [0.0; 3]);
            let (mut weight, mut square) = (0.0, 0.0);
            for (age, event) in prefix.iter().rev().enumerate() {
                let Some(event) = event else { continue };
                let fade = f64::powi(kept, age as i32);
                weight += fade;
                square += fade * fade;
                for cell in cells_there(event) {
                    let (node, row) = match cell {
                        0..2 => (0, 0..2),
                        2..8 => (1, cell - (cell - 2) % 3..cell - (cell - 2) % 3 + 3),
                        _ => (2, cell - cell % 2..cell - cell % 2 + 2),
                    };
                    row.for_each(|one| deviation[one] -= fade * theta[one]);
                    deviation[cell] += fade;
                    squares[node] += fade * fade;
                }
            }
            let of_node = |cells: std::ops::Range<usize>, square: f64| -> f64 {
                let sum: f64 = cells.map(|cell| deviation[cell] * deviation[cell] * precision[cell]).sum();
                if square > 0.0 { sum / square } else { 0.0 }
            };
            let own = [of_node(0..2, squares[0]), of_node(2..8, squares[1]), of_node(8..20, squares[2])];
            let expected: f64 = own.iter().sum();
            let largest = own.iter().copied().fold(0.0, f64::max);
            assert!((reading.statistic - expected).abs() < 1e-9 * (1.0 + expected), "{reading:?} {expected}");
            assert!(own[reading.node] >= largest - 1e-9 * (1.0 + largest));
            let effective = if square > 0.0 { weight * weight / square } else { 0.0 };
            assert!((reading.events - effective).abs() < 1e-9 * (1.0 + effective));
            let decided = (expected - 5.0).abs() > 1e-6 && (effective - 3.0).abs() > 1e-6;
            assert!(!decided || reading.alarm == (expected > 5.0 && effective >= 3.0));
        });
        prop_assert!(refused >= NONE.len() * (length + 1));
    }
}

/// After many more events than single precision has digits for, over a short memory or a long one, it reads
/// what double precision does.
#[test]
fn a_stream_may_never_end() {
    let mut drawn = Drawn::new(3, true);
    let (theta, precision) = (narrow(&drawn.theta), narrow(&drawn.precision));
    let events = drawn.events(4096, 0.1);
    // Of a memory of 2^16 events single precision keeps what is lost exactly.
    for (length, bound) in [(300.0, 2e-3), (65_536.0, 1e-2)] {
        let memory = ForgettingFactor::samples(length).expect("a memory");
        let wide = DiscrepancyTables::new(TERMS, &drawn.theta, &drawn.precision, memory, 5.0, 3.0);
        let memory = ForgettingFactor::samples(length as f32).expect("a memory");
        let single = DiscrepancyTables::new(TERMS, &theta, &precision, memory, 5.0, 3.0);
        let (wide, single) = (wide.expect("tables"), single.expect("tables"));
        let mut a = DiscrepancyState::new([0.0_f64; CELLS], [[0.0; 2]; 3]);
        let mut b = DiscrepancyState::new([0.0_f32; CELLS], [[0.0; 2]; 3]);
        for turn in 0..100 {
            for event in &events {
                wide.step(&mut a, event, &mut [0; 3]).expect("possible");
                single.step(&mut b, event, &mut [0; 3]).expect("possible");
            }
            let (a, b) = (wide.read(&a), single.read(&b));
            let off = (a.statistic - b.statistic.to_f64()).abs() / (1.0 + a.statistic);
            assert!(off < bound, "{length}, turn {turn}: {a:?} and {b:?}");
            let events = if length < 4096.0 { 2.0 * length - 1.0 } else { a.events };
            assert!(
                (a.events - events).abs() < 1.0 && (b.events.to_f64() / events - 1.0).abs() < bound
            );
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let refused = |cards: &'static [u16], lengths: &'static [u16], columns: &'static [u16]| {
        FactorLayout::new(cards, lengths, columns).expect_err("refused")
    };
    assert_eq!(refused(&[2, 0], &[1], &[0]), TermsError::States { column: 1 });
    assert_eq!(refused(&[2, MISSING], &[1], &[0]), TermsError::States { column: 1 });
    assert_eq!(refused(&[2], &[1, 1], &[0]), TermsError::Length { wanted: 2, found: 1 });
    assert_eq!(refused(&[2], &[1, 0], &[0]), TermsError::Column { term: 1 });
    assert_eq!(refused(&[2], &[1], &[1]), TermsError::Column { term: 0 });
    assert_eq!(refused(&[2, 2], &[2], &[1, 1]), TermsError::Column { term: 0 });
    let large: &[u16] = &[65_000, 65_000, 65_000];
    assert_eq!(FactorLayout::new(large, &[3], &[0, 1, 2]), Err(TermsError::TooLarge { term: 0 }));
    let swapped = FactorLayout::new(&[2, 2], &[1, 1], &[1, 0]).expect("terms");
    assert_eq!(swapped.check_families(), Err(TermsError::NoFamily { term: 0 }));
    let drawn = Drawn::new(1, false);
    let sum = FactorClassifier::<f64, 1>::new(TERMS, [&drawn.theta[1..]], [0.0]);
    assert_eq!(sum, Err(TermsError::Sizes { wanted: CELLS, found: CELLS - 1 }));
    let sum = FactorClassifier::new(TERMS, [&[f64::NAN; CELLS]], [0.0]).expect("tables");
    let error = sum.validate().expect_err("no number");
    assert_eq!((error.part, error.kind), (Part::LikelihoodWeight, ErrorKind::NotFinite));
    let tables = |theta: &'static [f64], precision, threshold| {
        DiscrepancyTables::new(TERMS, theta, precision, ForgettingFactor::ENDLESS, threshold, 0.0)
            .expect("tables")
    };
    let one: &'static [f64] = &[1.0; CELLS];
    let error = tables(&[2.0; CELLS], one, 1.0).validate().expect_err("above one");
    assert_eq!((error.part, error.row, error.entry), (Part::Probability, 0, 0));
    let error = tables(&[0.0; CELLS], one, 1.0).validate().expect_err("no weight there");
    assert_eq!(error.kind, ErrorKind::Inconsistent);
    let error = tables(one, one, f64::NAN).validate().expect_err("no threshold");
    assert_eq!(error.part, Part::Limit);
    let small = Discrepancy::<f64, 3, 19>::new(tables(one, one, 1.0));
    assert_eq!(small, Err(TermsError::Sizes { wanted: CELLS, found: 19 }));
}
