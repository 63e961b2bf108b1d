//! Profile hidden Markov models: the laws of a stream, every prefix against the sum over all paths,
//! derivatives against finite differences, single precision and long streams.

use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::number::{Dual, Max, Real, RealParameter};
use fishweir_core::profile_hmm::{Cell, Flanks, ProfileFilter, ProfileHmm, ProfileSearch, Steps};
use fishweir_core::{ErrorKind, ObservationError, Part};
use fishweir_tests::checks::near;
use fishweir_tests::laws::{Trial, check};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) const K: usize = 3;
pub(crate) const A: usize = 3;
pub(crate) type Plain = ProfileHmm<f64, K, A>;

/// A profile with random weights; `local` entries and exits or those of whole profiles.
pub(crate) fn profile(random: &mut impl Rng, local: bool, several: bool) -> Plain {
    let mut weight = |low: f64, high: f64| random.random_range(low..high);
    let odds = [(); A].map(|()| [(); K].map(|()| weight(0.1, 3.0)));
    let steps = std::array::from_fn(|k| {
        let mut steps = Steps::from_array([(); 9].map(|()| weight(0.1, 0.9)));
        if !local {
            steps.exit = if k + 1 == K { 1.0 } else { 0.0 };
        }
        steps
    });
    let again = if several { 0.4 } else { 0.0 };
    let flanks =
        Flanks { stay: weight(0.5, 1.1), begin: 0.3, again, last: 0.6, finish: 0.2, missing: 1.1 };
    ProfileHmm::new(odds, steps, flanks).expect("a profile")
}

#[derive(Clone, Copy)]
enum At {
    Before,
    Between,
    After,
    Begin,
    Match(usize),
    Insert(usize),
    Delete(usize),
    End,
}

/// The sum over the paths that are left, or what `plus` makes of them: path by path.
fn rest(p: &Plain, x: &[Option<usize>], at: At, plus: fn(f64, f64) -> f64) -> f64 {
    let (view, go) = (p.view(), |at: At, x: &[Option<usize>]| rest(p, x, at, plus));
    let (steps, flanks) = (view.steps(), view.flanks());
    // A step into a state that emits takes the next symbol.
    let emit = |weight: f64, to: At| {
        x.split_first()
            .map_or(0.0, |(_, left)| if weight > 0.0 { weight * go(to, left) } else { 0.0 })
    };
    let matched = |weight: f64, k: usize| {
        let odds = match x.first() {
            Some(Some(symbol)) => view.odds(*symbol).map_or(0.0, |row| row[k]),
            _ => flanks.missing,
        };
        emit(weight * odds, At::Match(k))
    };
    let silent = |weight: f64, to: At| if weight > 0.0 { weight * go(to, x) } else { 0.0 };
    let later = |k: usize, to_match: f64, to_delete: f64| match k + 1 < K {
        true => plus(
            matched(to_match, k + 1),
            if to_delete > 0.0 { silent(to_delete, At::Delete(k + 1)) } else { 0.0 },
        ),
        false => 0.0,
    };
    match at {
        At::Before => plus(emit(flanks.stay, At::Before), silent(flanks.begin, At::Begin)),
        At::Between => plus(emit(flanks.stay, At::Between), silent(flanks.begin, At::Begin)),
        At::After => {
            let end = if x.is_empty() { flanks.finish } else { 0.0 };
            plus(end, emit(flanks.stay, At::After))
        }
        At::Begin if x.is_empty() => 0.0,
        At::Begin => (0..K).map(|k| matched(steps[k].enter, k)).fold(0.0, plus),
        At::Match(k) => plus(
            plus(
                later(k, steps[k].match_match, steps[k].match_delete),
                emit(steps[k].match_insert, At::Insert(k)),
            ),
            silent(steps[k].exit, At::End),
        ),
        At::Insert(k) => {
            plus(later(k, steps[k].insert_match, 0.0), emit(steps[k].insert_insert, At::Insert(k)))
        }
        At::Delete(k) => plus(
            later(k, steps[k].delete_match, steps[k].delete_delete),
            silent(steps[k].exit, At::End),
        ),
        At::End => plus(silent(flanks.again, At::Between), silent(flanks.last, At::After)),
    }
}

fn cases() -> impl Iterator<Item = (Plain, ChaCha8Rng)> {
    (0..12).map(|seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (profile(&mut random, seed % 2 == 0, seed % 3 > 0), random)
    })
}

fn symbols(random: &mut impl Rng, length: usize) -> Vec<usize> {
    (0..length).map(|_| random.random_range(0..A)).collect()
}

#[test]
fn laws_and_all_paths_at_every_prefix() {
    for (model, mut random) in cases() {
        let x = symbols(&mut random, 5);
        let samples: Vec<_> =
            x.iter().map(Some).chain([None]).chain(x[..1].iter().map(Some)).collect();
        let trial = Trial { samples: &samples, refusable: &[&A] };
        let owned = |x: &[Option<&usize>]| x.iter().map(|x| x.copied()).collect::<Vec<_>>();
        let refused = check(ProfileFilter::of(&model), trial, |prefix, log| {
            let expected = rest(&model, &owned(prefix), At::Before, |a, b| a + b);
            near(log, expected.ln(), 1e-12);
        });
        assert_eq!(refused, samples.len() + 1);
        type Best<'m> = ProfileSearch<'m, f64, Max<f64>, [Cell<Max<f64>>; K]>;
        check(Best::of(&model), trial, |prefix, Max(log)| {
            near(log, rest(&model, &owned(prefix), At::Before, f64::max).ln(), 1e-12);
        });
    }
}

/// The same profile in other numbers, each weight with its number.
pub(crate) fn mapped<W: RealParameter>(
    p: &Plain,
    mut weight: impl FnMut(f64) -> W,
) -> ProfileHmm<W, K, A> {
    let view = p.view();
    let odds = std::array::from_fn(|x| {
        std::array::from_fn(|k| weight(view.odds(x).map_or(0.0, |row| row[k])))
    });
    let steps =
        std::array::from_fn(|k| Steps::from_array(view.steps()[k].to_array().map(&mut weight)));
    let [stay, begin, again, last, finish, missing] = view.flanks().to_array().map(weight);
    let flanks = Flanks { stay, begin, again, last, finish, missing };
    ProfileHmm::new(odds, steps, flanks).expect("a profile")
}

#[test]
fn tangents_are_rates_of_change() {
    const STEP: f64 = 1e-6;
    for (model, mut random) in cases() {
        let x = symbols(&mut random, 300);
        let seed: u64 = random.random();
        // The direction leaves zeros where they are.
        let rates = || {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            move |weight: f64| weight * random.random_range(-1.0..1.0)
        };
        let (mut a, mut b) = (rates(), rates());
        let dual = mapped(&model, |weight| Dual { value: weight, tangent: [a(weight)] });
        let moved = |sign: f64, rates: &mut dyn FnMut(f64) -> f64| {
            let moved = mapped(&model, |weight| weight + sign * STEP * rates(weight));
            let mut stream = Stream::new(ProfileFilter::of(&moved));
            stream.push_block(&x).expect("symbols");
            stream.read()
        };
        let difference = (moved(1.0, &mut b) - moved(-1.0, &mut rates())) / (2.0 * STEP);
        let mut stream = Stream::new(ProfileFilter::of(&dual));
        stream.push_block(&x).expect("symbols");
        let Dual { value, tangent: [rate] } = stream.read();
        near(rate, difference, 1e-5);
        let mut plain = Stream::new(ProfileFilter::of(&model));
        plain.push_block(&x).expect("symbols");
        near(value, plain.read(), 1e-12);
    }
}

#[test]
fn single_precision_keeps_up_over_long_streams() {
    for (model, mut random) in cases() {
        let single = mapped(&model, |weight| weight as f32);
        let mut short = Stream::new(ProfileFilter::of(&single));
        let mut long = Stream::new(ProfileFilter::of(&model));
        for _ in 0..20 {
            let x = symbols(&mut random, 500);
            short.push_block(&x).expect("symbols");
            long.push_block(&x).expect("symbols");
            short.push(None).expect("nothing to refuse");
            long.push(None).expect("nothing to refuse");
            near(short.read().to_f64(), long.read(), 1e-4);
        }
    }
}

/// Whole profiles only, once, and symbols that no position matches: after the flank has vanished beside a
/// domain, what ends the domain is impossible, and a step leaves the state.
#[test]
fn what_vanishes_is_refused_and_changes_nothing() {
    let inner = Steps::from_array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let flanks =
        Flanks { stay: 1e-6, begin: 1.0, again: 0.0, last: 1.0, finish: 1.0, missing: 1.0 };
    let model = ProfileHmm::<f32, 6, 2>::new(
        [[1e7; 6], [0.0; 6]],
        [Steps { enter: 0.5, ..inner }, inner, inner, inner, inner, Steps { exit: 1.0, ..inner }],
        flanks,
    )
    .expect("a profile");
    let filter = ProfileFilter::of(&model);
    let mut stream = Stream::new(filter);
    stream.push_block(&[0; 5]).expect("symbols");
    let mut state = *stream.state();
    assert_eq!(filter.step(&mut state, &1), Err(ObservationError::Impossible));
    assert_eq!(state, *stream.state());
    filter.step(&mut state, &0).expect("the last position");
    assert!(filter.read(&state).is_finite());
}

#[test]
fn no_weight_is_nonsense() {
    let good = profile(&mut ChaCha8Rng::seed_from_u64(1), true, true);
    let wrong = |which: usize, value: f64| {
        let mut count = 0;
        let view = good.view();
        let mut weight = |weight: f64| {
            count += 1;
            if count == which + 1 { value } else { weight }
        };
        let odds = std::array::from_fn(|x| {
            std::array::from_fn(|k| weight(view.odds(x).map_or(0.0, |row| row[k])))
        });
        let steps =
            std::array::from_fn(|k| Steps::from_array(view.steps()[k].to_array().map(&mut weight)));
        let [stay, begin, again, last, finish, missing] = view.flanks().to_array().map(weight);
        let flanks = Flanks { stay, begin, again, last, finish, missing };
        ProfileHmm::<f64, K, A>::new(odds, steps, flanks).map_err(|error| (error.part, error.kind))
    };
    assert_eq!(wrong(0, f64::NAN), Err((Part::Probability, ErrorKind::NotFinite)));
    assert_eq!(wrong(1, -0.5), Err((Part::Probability, ErrorKind::Negative)));
    assert_eq!(wrong(A * K, 1e9), Err((Part::Transition, ErrorKind::OutOfRange)));
    assert_eq!(wrong(A * K + 7, 1.5), Err((Part::Transition, ErrorKind::AboveOne)));
    assert_eq!(wrong(A * K + 9 * K, 0.0), Err((Part::End, ErrorKind::NotInRange)));
}
