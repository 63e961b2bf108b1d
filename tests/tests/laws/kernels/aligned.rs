//! Hidden binomial and fixed-length kernels.

use fishweir_tests::checks::{after, try_after};
use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, HiddenBinomial, KernelError, PairTable};
use fishweir_core::number::Real;
use fishweir_tests::build::{Family, Task, dispatch, padded, samples};
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::oracle::{Law, Model, Observation, Sequence, derivative, log_sum_exp, words};
use fishweir_tests::sample::{Sampler, TOPOLOGIES, zoo};
use proptest::prelude::*;

use crate::kernels::{assert_near, assert_positive, borrowed, cases, gappy, symbols};

const STATES: usize = 4;
const SYMBOLS: usize = 4;

/// `sum_h P(h) P(s | h) P(t | h)` over all hidden paths.
fn enumerate(model: &Model, s: &[Option<Observation>], t: &[Option<Observation>]) -> f64 {
    words(model.states(), s.len())
        .map(|h| {
            let prior = model.log_joint(&h, &vec![None; h.len()]);
            let emits = |x: &[Option<Observation>]| model.log_joint(&h, x) - prior;
            if prior == f64::NEG_INFINITY { 0.0 } else { (prior + emits(s) + emits(t)).exp() }
        })
        .sum()
}

/// The same in the log domain, position by position: no scaling, no products that underflow.
pub(crate) fn slow(model: &Model, s: &[Option<Observation>], t: &[Option<Observation>]) -> f64 {
    let mut row: Option<Vec<f64>> = None;
    for (a, b) in s.iter().zip(t) {
        let (a, b) = (model.log_row(a.as_ref()), model.log_row(b.as_ref()));
        let next = (0..model.states()).map(|j| {
            let predicted = match &row {
                None => model.initial[j].ln(),
                Some(row) => {
                    let terms = row.iter().zip(&model.transition);
                    log_sum_exp(&terms.map(|(p, to)| p + to[j].ln()).collect::<Vec<_>>())
                }
            };
            predicted + a[j] + b[j]
        });
        row = Some(next.collect());
    }
    row.map_or(0.0, |row| log_sum_exp(&row))
}

pub(crate) fn observed(symbols: &[Option<usize>]) -> Sequence {
    symbols.iter().map(|x| x.map(Observation::Symbol)).collect()
}

pub(crate) fn known(symbols: &[usize]) -> Sequence {
    symbols.iter().map(|&x| Some(Observation::Symbol(x))).collect()
}

/// A categorical model, with zeros or without.
pub(crate) fn model(sampler: &mut Sampler, topology: usize, states: usize, zeros: bool) -> Model {
    let mut model = sampler.categorical(TOPOLOGIES[topology], states, SYMBOLS);
    if zeros {
        for law in &mut model.emission {
            *law = Law::Categorical(sampler.sparse_probabilities(SYMBOLS));
        }
    }
    model
}

fn log_kernel<T: Real>(model: &Model, s: &[usize], t: &[Option<usize>]) -> f64 {
    let hmm: Hmm<Categorical<SYMBOLS, T>, STATES> = padded(model).expect("a model");
    after(FixedLength::of(&hmm, [s]).expect("stored"), t.iter().copied()).read()[0].to_f64()
}

proptest! {
    #![proptest_config(cases(40))]

    /// Up to 7 symbols and 4 states: the sum over all hidden paths, and zero exactly where it is zero.
    #[test]
    fn fixed_length_is_the_enumeration(
        seed: u64, topology in 0_usize..4, states in 1_usize..=4, length in 0_usize..=7, zeros: bool,
    ) {
        let mut sampler = Sampler::new(seed);
        let model = model(&mut sampler, topology, states, zeros);
        let s = symbols(&mut sampler, length, SYMBOLS);
        let t = gappy(&mut sampler, length, SYMBOLS);
        let expected = enumerate(&model, &known(&s), &observed(&t));
        let got = log_kernel::<f64>(&model, &s, &t);
        if expected == 0.0 {
            prop_assert_eq!(got, f64::NEG_INFINITY);
        } else {
            assert_near(got.exp(), expected, 1e-12, "kernel");
            let single = log_kernel::<f32>(&model, &s, &t);
            prop_assert!((single - got).abs() < 1e-5 * (1.0 + got.abs()), "{single} for {got}");
        }
    }

    /// The laws, at several stored sequences at once, missing symbols among the stream's.
    #[test]
    fn fixed_length_keeps_the_laws(seed: u64, topology in 0_usize..4, length in 1_usize..=12) {
        let mut sampler = Sampler::new(seed);
        let model = model(&mut sampler, topology, 3, true);
        let hmm: Hmm<Categorical<SYMBOLS, f64>, STATES> = padded(&model).expect("a model");
        let stored: Vec<Vec<u8>> = (0..3)
            .map(|_| symbols(&mut sampler, length, SYMBOLS).iter().map(|&x| x as u8).collect())
            .collect();
        let stored: [&[u8]; 3] = std::array::from_fn(|m| &stored[m][..]);
        let kernel = FixedLength::of(&hmm, stored).expect("stored");
        let t = gappy(&mut sampler, length, SYMBOLS);
        let samples = borrowed(&t);
        let trial = Trial { samples: &samples, refusable: &[&SYMBOLS, &1000] };
        let refused = check(kernel, trial, |prefix, reading: [f64; 3]| {
            for (stored, log) in stored.iter().zip(reading) {
                let s: Vec<usize> = stored.iter().take(prefix.len()).map(|&x| x.into()).collect();
                let t: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
                let expected = slow(&model, &known(&s), &observed(&t));
                assert!(
                    log == expected || (log - expected).abs() < 1e-11 * (1.0 + expected.abs()),
                    "{log} where {expected} is right"
                );
            }
        });
        prop_assert_eq!(refused, 2 * (length + 1));
        let mut stream = Stream::new(kernel);
        for _ in 0..length {
            stream.push(None).expect("nothing to refuse");
        }
        let full = *stream.state();
        prop_assert_eq!(stream.push(&0), Err(ObservationError::PastEnd));
        stream.push(None).expect("nothing to refuse");
        prop_assert_eq!(stream.state(), &full, "nothing is compared with what is not stored");
    }

    #[test]
    fn fixed_length_gram_is_positive(seed: u64, topology in 0_usize..4) {
        let mut sampler = Sampler::new(seed);
        let model = model(&mut sampler, topology, 3, false);
        let items: Vec<_> = (0..8).map(|_| symbols(&mut sampler, 6, SYMBOLS)).collect();
        let optional = |t: &[usize]| t.iter().copied().map(Some).collect::<Vec<_>>();
        let row = |s: &Vec<usize>| -> Vec<f64> {
            items.iter().map(|t| log_kernel::<f64>(&model, s, &optional(t))).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
    }

    /// Every family of emissions, against the log domain.
    #[test]
    fn fixed_length_of_any_family(seed: u64, length in 1_usize..=30) {
        for sample in zoo(seed, length) {
            let model = &sample.model;
            if sample.name.contains("far apart") {
                // Two sequences that change state at different times: between them every path is
                // further from the best than the range of exponents reaches.
                continue;
            }
            let mut sampler = Sampler::new(seed ^ 1);
            let other = sampler.sequence(model, length, 0.1);
            let stored = sampler.sequence(model, length, 0.0);
            let expected = slow(model, &stored, &other);
            let task = Against { stored: &stored, streamed: &other };
            let got = dispatch::<f64, _>(model, task).expect("a model of the sizes compiled");
            prop_assert!(
                got == expected || (got - expected).abs() < 1e-9 * (1.0 + expected.abs()),
                "{}: {got} where {expected} is right", sample.name
            );
        }
    }

    /// The product of sums is the sum over all hidden sequences.
    #[test]
    fn binomial_is_the_enumeration(
        seed: u64, states in 1_usize..=3, length in 0_usize..=6, zeros: bool, shared: bool,
    ) {
        const PADDED: usize = 3;
        let mut sampler = Sampler::new(seed);
        let models: Vec<Model> = (0..if shared { 1 } else { length })
            .map(|_| model(&mut sampler, 0, states, zeros))
            .collect();
        let tables: Vec<_> = models.iter().map(table::<PADDED>).collect();
        let s = symbols(&mut sampler, length, SYMBOLS);
        let t = gappy(&mut sampler, length, SYMBOLS);
        let kernel = if shared {
            HiddenBinomial::shared(&tables[0], [&s[..]])
        } else {
            HiddenBinomial::per_position(&tables, [&s[..]])
        }.expect("stored");
        let samples = borrowed(&t);
        let trial = Trial { samples: &samples, refusable: &[&SYMBOLS] };
        check(kernel, trial, |prefix, [log]: [f64; 1]| {
            let mut expected = 1.0;
            for (i, t) in prefix.iter().enumerate() {
                let model = &models[if shared { 0 } else { i }];
                expected *= (0..states).map(|h| {
                    let Law::Categorical(p) = &model.emission[h] else { unreachable!() };
                    model.initial[h] * p[s[i]] * t.map_or(1.0, |&t| p[t])
                }).sum::<f64>();
            }
            if expected == 0.0 {
                assert_eq!(log, f64::NEG_INFINITY);
            } else {
                assert_near(log.exp(), expected, 1e-12, "kernel");
            }
        });
        // Independent states are a chain whose rows are all the prior.
        if shared {
            let chain = Model {
                transition: vec![models[0].initial.clone(); states],
                ..models[0].clone()
            };
            let got = after(kernel, t.iter().copied()).read()[0];
            let expected = log_kernel::<f64>(&chain, &s, &t);
            prop_assert!(got == expected || (got - expected).abs() < 1e-12 * (1.0 + got.abs()));
        }
    }

    #[test]
    fn binomial_gram_is_positive(seed: u64) {
        let mut sampler = Sampler::new(seed);
        let table = table::<3>(&model(&mut sampler, 0, 3, false));
        let items: Vec<_> = (0..8).map(|_| symbols(&mut sampler, 4, SYMBOLS)).collect();
        let row = |s: &Vec<usize>| -> Vec<f64> {
            items.iter().map(|t| {
                let kernel = HiddenBinomial::shared(&table, [&s[..]]).expect("stored");
                let mut stream = Stream::new(kernel);
                stream.push_block(t).expect("symbols");
                stream.read()[0]
            }).collect()
        };
        assert_positive(&items.iter().map(row).collect::<Vec<_>>());
    }
}

fn table<const N: usize>(model: &Model) -> PairTable<f64, SYMBOLS> {
    let mut emission = [[1.0, 0.0, 0.0, 0.0]; N];
    for (row, law) in emission.iter_mut().zip(&model.emission) {
        let Law::Categorical(p) = law else { unreachable!("categorical") };
        row.copy_from_slice(p);
    }
    let prior = std::array::from_fn(|h| model.initial.get(h).copied().unwrap_or(0.0));
    PairTable::new::<N>(&prior, &emission).expect("a table")
}

/// The fixed-length kernel of any family.
struct Against<'a> {
    stored: &'a Sequence,
    streamed: &'a Sequence,
}

impl<T: Real> Task<T> for Against<'_> {
    type Output = f64;
    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<f64, String> {
        let stored = samples::<T, E>(self.stored)?;
        let stored: Vec<&E::Observation> = stored.iter().flatten().map(Borrow::borrow).collect();
        let kernel = FixedLength::of(hmm, [&stored[..]]).map_err(|error| error.to_string())?;
        let stream = try_after(kernel, samples::<T, E>(self.streamed)?);
        Ok(stream.map_err(|error| error.to_string())?.read()[0].to_f64())
    }
}

/// 10^5 symbols: some 10^5 times below the least double.
#[test]
fn long_sequences_do_not_underflow() {
    const LENGTH: usize = 100_000;
    let mut sampler = Sampler::new(5);
    let model = model(&mut sampler, 0, 3, false);
    let s = symbols(&mut sampler, LENGTH, SYMBOLS);
    let t = symbols(&mut sampler, LENGTH, SYMBOLS);
    let expected = slow(&model, &known(&s), &known(&t));
    assert!(expected < -2e5, "{expected}");
    let t: Vec<_> = t.into_iter().map(Some).collect();
    assert_near(log_kernel::<f64>(&model, &s, &t), expected, 1e-12, "f64");
    assert_near(log_kernel::<f32>(&model, &s, &t), expected, 1e-6, "f32");
    let table = table::<3>(&model);
    let mut stream = Stream::new(HiddenBinomial::shared(&table, [&s[..]]).expect("stored"));
    let mut expected = 0.0;
    for (a, b) in s.iter().zip(&t) {
        let b = b.expect("none is missing");
        stream.push(&b).expect("a symbol");
        expected += table.probability()[*a][b].ln();
    }
    assert_near(stream.read()[0], expected, 1e-11, "hidden binomial");
}

/// Probabilities so small that a product of two is nothing in `f32`, and likelihoods so far off that
/// the best state is out of reach.
#[test]
fn improbable_is_not_impossible() {
    let (rare, tiny) = (1e-25_f32, 1e-30_f32);
    let hmm = Hmm::new(
        Chain::<f32, 2>::new([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).expect("a chain"),
        [
            Categorical::<3, f32>::new([1.0, rare, tiny]).expect("a law"),
            Categorical::<3, f32>::new([0.0, 0.5, 0.5]).expect("a law"),
        ],
    );
    let mut stream = Stream::new(FixedLength::of(&hmm, [&[1_u8, 2, 0]]).expect("stored"));
    stream.push_block(&[1, 2, 2]).expect("symbols");
    let expected = 2.0 * f64::from(rare).ln() + 3.0 * f64::from(tiny).ln();
    assert_near(stream.read()[0].into(), expected, 1e-6, "log kernel");

    let gaussian = |mean: f32| Gaussian::<1, f32>::new([mean], [1.0]).expect("a law");
    let hmm = Hmm::new(*hmm.chain(), [gaussian(0.0), gaussian(1e4)]);
    let mut stream = Stream::new(FixedLength::of(&hmm, [&[[1e4_f32]]]).expect("stored"));
    stream.push(&[1e4]).expect("a number");
    assert_near(stream.read()[0].into(), -1e8 - std::f64::consts::TAU.ln(), 1e-6, "log kernel");
}

/// Over dual numbers the kernel carries its derivative along a direction of the model.
#[test]
fn a_direction_differentiates_the_kernel() {
    let mut sampler = Sampler::new(11);
    let model = model(&mut sampler, 0, 3, false);
    let s = symbols(&mut sampler, 40, SYMBOLS);
    let t = symbols(&mut sampler, 40, SYMBOLS);
    let hmm: Hmm<Categorical<SYMBOLS, f64>, 3> = padded(&model).expect("a model");
    let w: [[f64; SYMBOLS]; 3] =
        std::array::from_fn(|_| std::array::from_fn(|_| sampler.uniform(-1.0, 1.0)));
    let a: [[f64; 3]; 3] =
        std::array::from_fn(|_| std::array::from_fn(|_| sampler.uniform(-1.0, 1.0)));
    let laws = std::array::from_fn(|j| hmm.emission()[j].along_logits(&[w[j]]));
    let moved = Hmm::new(hmm.chain().along_logits(&[[0.5, 0.0, -0.5]], &[a]), laws);
    let mut stream = Stream::new(FixedLength::of(&moved, [&s[..]]).expect("stored"));
    stream.push_block(&t).expect("symbols");
    let [reading] = stream.read();
    let at = |e: f64| {
        let softmax = |row: &[f64], w: &[f64]| -> Vec<f64> {
            let row: Vec<f64> = row.iter().zip(w).map(|(p, w)| p * (e * w).exp()).collect();
            let sum: f64 = row.iter().sum();
            row.iter().map(|p| p / sum).collect()
        };
        let laws = model.emission.iter().zip(&w).map(|(law, w)| match law {
            Law::Categorical(p) => Law::Categorical(softmax(p, w)),
            _ => unreachable!("categorical"),
        });
        let moved = Model {
            initial: softmax(&model.initial, &[0.5, 0.0, -0.5]),
            transition: model.transition.iter().zip(&a).map(|(p, w)| softmax(p, w)).collect(),
            emission: laws.collect(),
        };
        slow(&moved, &known(&s), &known(&t))
    };
    assert_near(reading.value, at(0.0), 1e-12, "log kernel");
    assert_near(reading.tangent[0], derivative(at, 1e-3), 1e-7, "derivative");
}

#[test]
fn what_is_stored_is_checked() {
    let table = PairTable::<f32, 2>::new(&[1.0], &[[0.5, 0.5]]).expect("a table");
    let error = HiddenBinomial::shared(&table, [&[0_u8, 1][..], &[0][..]]).expect_err("lengths");
    assert_eq!(error, KernelError::Length { sequence: 1, found: 1, expected: 2 });
    let error = HiddenBinomial::shared(&table, [&[0_u8, 2][..]]).expect_err("a symbol");
    let unknown = ObservationError::UnknownSymbol;
    assert_eq!(error, KernelError::Stored { sequence: 0, position: 1, error: unknown });
    let error = HiddenBinomial::per_position(&[table; 3], [&[0_u8, 1][..]]).expect_err("tables");
    assert_eq!(error, KernelError::Length { sequence: 0, found: 2, expected: 3 });
    assert!(PairTable::<f32, 2>::new(&[0.5], &[[0.5, 0.5]]).is_err());
    assert!(PairTable::<f32, 2>::new(&[1.0], &[[0.5, 0.25]]).is_err());
    let hmm = Hmm::new(
        Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain"),
        [Gaussian::<1, f32>::new([0.0], [1.0]).expect("a law")],
    );
    let error = FixedLength::of(&hmm, [&[[0.0_f32], [f32::NAN]]]).expect_err("a number");
    let not_finite = ObservationError::NotFinite;
    assert_eq!(error, KernelError::Stored { sequence: 0, position: 1, error: not_finite });
}
