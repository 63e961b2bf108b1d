//! Observations that lack channels: the likelihood is the integral over what is missing, a complete one has the bits of the
//! family, and one without any channel is a missing sample.

use std::f64::consts::{LN_2, LOG2_E};
use std::fmt::Debug;

use fishweir_core::ObservationError;
use fishweir_core::emission::{
    Emission, Gaussian, GaussianQ15, Marginal, MarginalStatistics, Sample, VectorSpace,
};
use fishweir_core::filter::{Forward, Statistics, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::number::Dual;
use fishweir_core::score::ScoreOf;
use fishweir_core::smooth::{Viterbi, posteriors};
use fishweir_tests::laws::{Trial, check};

use super::displace::{Displace, Lose};
use super::models::{
    Bits, ERGODIC, PARAMETRISATIONS, after, assert_close, autoregressive, bernoulli, full,
    gaussian, mixed, poisson, sequence,
};

fn in_part<E: Copy>(states: [E; 3]) -> [Marginal<E>; 3] {
    states.map(Marginal::new)
}

fn model<E: Emission<Weight = f64>>(emission: [E; 3]) -> Hmm<E, 3> {
    Hmm::new(Chain::<f64, 3>::new([0.5, 0.3, 0.2], ERGODIC).expect("a chain"), emission)
}

/// The integral of a smooth function that vanishes far out, by the rule of trapezia: exact to rounding.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 0.125;
    (-200..=200).map(|k| f(f64::from(k) * STEP)).sum::<f64>() * STEP
}

#[test]
fn the_likelihood_of_a_part_is_the_integral_over_the_rest() {
    for state in gaussian() {
        let whole = |x: f64, y: f64| state.log_likelihood(&[x, y]).exp();
        let part = Marginal::new(state);
        for seen in [-1.5, 0.0, 2.25] {
            let first = part.log_likelihood(&[Some(seen), None]).exp();
            assert_close(first, integral(|y| whole(seen, y)), 1e-3, 1e-11, "first");
            let second = part.log_likelihood(&[None, Some(seen)]).exp();
            assert_close(second, integral(|x| whole(x, seen)), 1e-3, 1e-11, "second");
        }
    }
    // One and two of three channels, alone and in a mixture.
    for (state, mixture) in full().into_iter().zip(mixed(in_part(full()))) {
        let single = Marginal::new(state);
        let whole = mixed(full()).into_iter().zip(full()).find(|(_, one)| *one == state);
        let (blend, _) = whole.expect("of these");
        let of = |x: [f64; 3]| [state.log_likelihood(&x).exp(), blend.log_likelihood(&x).exp()];
        for seen in [[-1.0, 0.5, 1.0], [2.0, -0.25, 0.0]] {
            for lost in 0..3 {
                let mut x = seen.map(Some);
                x[lost] = None;
                for (which, found) in
                    [single.log_likelihood(&x), mixture.log_likelihood(&x)].into_iter().enumerate()
                {
                    let wanted = integral(|value| {
                        let mut x = seen;
                        x[lost] = value;
                        of(x)[which]
                    });
                    assert_close(found.exp(), wanted, 1e-3, 1e-10, "two channels");
                }
                let mut alone = [None; 3];
                alone[lost] = Some(seen[lost]);
                let wanted = integral(|a| {
                    integral(|b| {
                        let mut x = seen;
                        x[(lost + 1) % 3] = a;
                        x[(lost + 2) % 3] = b;
                        of(x)[0]
                    })
                });
                assert_close(single.log_likelihood(&alone).exp(), wanted, 1e-3, 1e-10, "one");
            }
        }
    }
}

#[test]
fn the_likelihood_of_a_part_is_the_sum_over_the_rest() {
    for (state, mixture) in poisson().into_iter().zip(mixed(in_part(poisson()))) {
        let part = Marginal::new(state);
        for seen in [0, 3, 19] {
            let wanted: f64 = (0..400).map(|x| state.log_likelihood(&[x, seen]).exp()).sum();
            let found = part.log_likelihood(&[None, Some(seen)]).exp();
            assert_close(found, wanted, 1e-6, 1e-12, "counts");
            let mixed: f64 =
                (0..400).map(|x| mixture.log_likelihood(&[Some(x), Some(seen)]).exp()).sum();
            let found = mixture.log_likelihood(&[None, Some(seen)]).exp();
            assert_close(found, mixed, 1e-6, 1e-12, "mixture of counts");
        }
    }
    for state in bernoulli() {
        let part = Marginal::new(state);
        let answers = [Some(true), Some(false), None];
        for x in (0..27).map(|k| [answers[k % 3], answers[k / 3 % 3], answers[k / 9]]) {
            let fits =
                |whole: &[bool; 3]| x.iter().zip(whole).all(|(x, y)| x.is_none_or(|x| x == *y));
            let all = (0..8_u32).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| bit == 1));
            let wanted: f64 = all.filter(fits).map(|x| state.log_likelihood(&x).exp()).sum();
            assert_close(part.log_likelihood(&x).exp(), wanted, 0.0, 1e-13, "answers");
        }
    }
    // Without any channel the sum is one.
    assert_eq!(Marginal::new(poisson()[0]).log_likelihood(&[None; 2]), 0.0);
    assert_eq!(Marginal::new(full()[0]).log_likelihood(&[None; 3]), 0.0);
}

/// A channel of which the past is missing is left out, and one of which both are there has its own term.
#[test]
fn a_prediction_needs_its_past() {
    for state in autoregressive() {
        let part = Marginal::new(state);
        let row = [0.5, -1.0, 0.25, 2.0, -0.75, 1.5];
        let of = |lost: &[usize]| {
            let kept = |d: usize| (!lost.contains(&d)).then_some(row[d]);
            part.log_likelihood(&std::array::from_fn(kept))
        };
        // Own, one sample before, two before.
        let second = of(&[0]);
        assert_eq!([of(&[2]), of(&[4]), of(&[0, 2, 4])], [second; 3]);
        assert_close(of(&[0]) + of(&[1]), of(&[]), 1.0, 1e-13, "channels are independent");
    }
}

/// Every recursion: complete observations leave the states that the family leaves, and one without any channel that after a
/// missing sample, bit for bit.
fn bits_are_those_of<E>(name: &str, states: [E; 3])
where
    E: Displace + MarginalStatistics<Real = f64, Weight = f64, Partial: Lose> + Sample,
    E::Along<2>: Emission<Weight = Dual<f64, 2>>,
{
    let (whole, part) = (model(states), model(in_part(states)));
    let samples = sequence(&whole, 24);
    let partial: Vec<Option<E::Partial>> =
        sequence(&whole, 24).into_iter().map(|x| x.map(E::partial)).collect();
    let mut bits = Bits(9);
    let directions: [ScoreOf<E, 3>; 2] = std::array::from_fn(|_| bits.direction());
    let softmax = PARAMETRISATIONS[1];
    let (along, along_part) =
        (whole.with_directions(&directions, softmax), part.with_directions(&directions, softmax));
    assert_eq!(
        after(Forward::of(&whole), &samples).state(),
        after(Forward::of(&part), &partial).state(),
        "{name}"
    );
    assert_eq!(
        after(Forward::of(&along), &samples).state(),
        after(Forward::of(&along_part), &partial).state(),
        "{name}"
    );
    assert_eq!(
        after(Viterbi::of(&whole), &samples).state(),
        after(Viterbi::of(&part), &partial).state(),
        "{name}"
    );
    let counts = after(Statistics::of(&whole), &samples).read();
    let counts_of_part = after(Statistics::of(&part), &partial).read();
    assert_eq!(counts.transition, counts_of_part.transition, "{name}");
    for (whole, part) in counts.emission.iter().zip(&counts_of_part.emission) {
        assert_eq!(*whole, part.complete, "{name}");
        part.missing.for_each(|weight| assert_eq!(weight, 0.0, "{name}"));
    }
    for gap in [0, 1, 11, 23] {
        let (mut missing, mut empty) = (partial.clone(), partial.clone());
        (missing[gap], empty[gap]) = (None, Some(E::Partial::NOTHING));
        same(&Forward::of(&part), [&missing, &empty]);
        same(&Forward::of(&along_part), [&missing, &empty]);
        same(&Viterbi::of(&part), [&missing, &empty]);
        same(&Statistics::of(&part), [&missing, &empty]);
        let smoothed = [&missing, &empty].map(|x| {
            let (mut rows, mut pairs) = (vec![[0.0; 3]; x.len()], [[0.0; 3]; 3]);
            let log = posteriors(&part, x.iter().map(Option::as_ref), &mut rows, &mut pairs);
            (log.expect("possible"), rows, pairs)
        });
        assert_eq!(smoothed[0], smoothed[1], "{name} at {gap}");
    }
}

/// Two sequences leave one state.
#[track_caller]
fn same<R>(recursion: &R, sequences: [&Vec<Option<R::Observation>>; 2])
where
    R: Streaming<State: PartialEq + Debug, Observation: Sized>,
{
    let [a, b] = sequences.map(|x| after(recursion, x).state().clone());
    assert_eq!(a, b);
}

#[test]
fn complete_and_empty_observations_have_the_bits_of_today() {
    bits_are_those_of("gaussian", gaussian());
    bits_are_those_of("full gaussian", full());
    bits_are_those_of("autoregressive", autoregressive());
    bits_are_those_of("poisson", poisson());
    bits_are_those_of("bernoulli", bernoulli());
}

/// The laws of a stream, and after every prefix the sum over all paths.
fn streams<E>(states: [E; 3], odd: &[E::Observation])
where
    E: Displace<Weight = f64> + Sample,
{
    let hmm = model(states);
    let samples = sequence(&hmm, 7);
    let samples: Vec<Option<&E::Observation>> = samples.iter().map(Option::as_ref).collect();
    let odd: Vec<&E::Observation> = odd.iter().collect();
    let trial = Trial { samples: &samples, refusable: &odd };
    let refused = check(Forward::of(&hmm), trial, |prefix, read| {
        let paths = (0..3_usize.pow(prefix.len() as u32)).map(|path| {
            let state = |t: usize| path / 3_usize.pow(t as u32) % 3;
            let step = |t: usize| {
                let chain = match t {
                    0 => hmm.chain().initial()[state(0)],
                    _ => hmm.chain().transition()[state(t - 1)][state(t)],
                };
                let own = &hmm.emission()[state(t)];
                chain * prefix[t].map_or(1.0, |x| own.log_likelihood(x).exp())
            };
            (0..prefix.len()).map(step).product::<f64>()
        });
        assert_close(read, paths.sum::<f64>().ln(), 1.0, 1e-12, "a prefix");
    });
    assert_eq!(refused, odd.len() * (samples.len() + 1));
}

#[test]
fn streams_of_parts_keep_the_laws() {
    let odd = [[Some(f64::NAN), None], [None, Some(f64::INFINITY)]];
    streams(in_part(gaussian()), &odd);
    streams(mixed(in_part(gaussian())), &odd);
    streams(in_part(full()), &[[None, Some(f64::NAN), None]]);
    streams(in_part(poisson()), &[]);
    streams(in_part(bernoulli()), &[]);
    let row = [Some(1.0), None, Some(f64::NAN), None, Some(0.5), None];
    streams(in_part(autoregressive()), &[row]);
}

/// A difference from a missing channel, or of one, is missing; a sample without any channel is missing, and the last
/// observed one stands for it.
#[test]
fn differences_of_what_is_missing_are_missing() {
    let state = |mean: f64| {
        Marginal::new(Gaussian::<4, f64>::new([mean; 4], [1.0, 2.0, 0.5, 4.0]).expect("a state"))
    };
    let chain = Chain::<f64, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]).expect("a chain");
    let hmm = Hmm::new(chain, [state(0.0), state(0.5)]);
    let lagged = LagFeatures::<_, Lookback<2, 1>, 1>::from_parts(Forward::of(&hmm), [1]);
    let samples = [
        Some([Some(1.0), None]),
        Some([Some(2.0), Some(5.0)]),
        Some([None, Some(4.0)]),
        Some([None, None]),
        None,
        Some([Some(3.0), Some(2.0)]),
    ];
    let rows = [
        Some([Some(1.0), None, Some(0.0), None]),
        Some([Some(2.0), Some(5.0), Some(1.0), None]),
        Some([None, Some(4.0), None, Some(-1.0)]),
        None,
        None,
        Some([Some(3.0), Some(2.0), None, Some(-2.0)]),
    ];
    for t in 0..=samples.len() {
        let found = after(&lagged, &samples[..t]).read();
        assert_eq!(found, after(Forward::of(&hmm), &rows[..t]).read(), "{t}");
    }
    assert_eq!(after(&lagged, &[]).push(&[Some(f64::NAN), None]), Err(ObservationError::NotFinite));
}

/// Fixed point has the marginal of its own density, to the rounding of a logarithm.
#[test]
fn fixed_point_leaves_channels_out() {
    use fishweir_core::emission::ChannelQ15;
    let (means, stds) = ([120.0, -40.0], [14.0, 300.0]);
    let channel = |d: usize| ChannelQ15::new(means[d], stds[d], d).expect("in range");
    let log2_normaliser = |d: usize| -(stds[d] * std::f64::consts::TAU.sqrt()).log2();
    let fixed = |value: f64, bits: i32| (value * f64::from(1_u32 << bits)).round() as i32;
    // Along a direction that moves the log standard deviations by 0.5 and -0.25.
    let moved = [0.5, -0.25];
    let slope = |d: usize| [fixed(2.0 * LN_2 * moved[d], 12) as i16];
    let state = GaussianQ15::<2, 1>::from_parts(
        [channel(0), channel(1)],
        fixed(log2_normaliser(0) + log2_normaliser(1), 16),
        [fixed(-(moved[0] + moved[1]), 14)],
        [[0], [0]],
        [slope(0), slope(1)],
        [0],
    );
    state.validate().expect("a distribution");
    let part = Marginal::new(state);
    let read = |x: [Option<i16>; 2]| {
        let log = part.log_likelihood(&x);
        (f64::from(log.log2) / 65_536.0, f64::from(log.rate[0]) / 16_384.0)
    };
    for x in [110, 121, 150] {
        let z = (f64::from(x) - means[0]) / stds[0];
        let (log2, rate) = read([Some(x), None]);
        let wanted = log2_normaliser(0) - 0.5 * z * z * LOG2_E;
        assert!((log2 - wanted).abs() < 3e-3 * (1.0 + z * z), "{log2} {wanted}");
        let wanted = moved[0] * (z * z - 1.0);
        assert!((rate - wanted).abs() < 4e-3 * (1.0 + z * z), "{rate} {wanted}");
        let whole = state.log_likelihood(&[x, -40]);
        assert_eq!(part.log_likelihood(&[Some(x), Some(-40)]), whole);
    }
    let row = <Marginal<_> as Emission>::row(&[part], &[None; 2]);
    assert!(row.is_none(), "a missing sample has no row");
}

const _: () = {
    // The family's sample as it is counted, and the flag of each channel.
    assert!(size_of::<[Option<f32>; 3]>() == 2 * size_of::<[f32; 3]>());
    assert!(size_of::<Marginal<Gaussian<3>>>() == size_of::<Gaussian<3>>());
    assert!(size_of::<[Option<bool>; 3]>() == size_of::<[bool; 3]>());
};
