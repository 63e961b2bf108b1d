//! What binds the recursions to each other, whatever the model.

use fishweir_tests::checks::after;
use std::borrow::Borrow;

use fishweir_core::ObservationError;
use fishweir_core::filter::{Belief, Stream};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::smooth::{
    FixedLag, LaggedPosterior, OnlineViterbi, StateIndex, checkpoints_for, posteriors_checkpointed,
};
use fishweir_tests::build::Family;

/// What a window in these tests holds: more than any short sequence.
const ALL: usize = 64;

pub(crate) fn checkpointed_is_plain<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    plain: &[[T; N]],
    plain_pairs: &[[T; N]; N],
    log_likelihood: T,
) -> Result<(), String> {
    let length = samples.len();
    let root = length.isqrt().max(1);
    for rows in [1, root, root + 1, length + 3] {
        let needed = checkpoints_for(length, rows).expect("at least one row");
        let mut checkpoints = vec![Belief::NEW; needed];
        let mut rows = vec![[T::ZERO; N]; rows];
        let mut pairs = [[T::ZERO; N]; N];
        let mut expected = (0..length).rev();
        let log = posteriors_checkpointed(
            hmm,
            length,
            |time| samples[time].as_ref().map(Borrow::borrow),
            &mut checkpoints,
            &mut rows,
            &mut pairs,
            |time, posterior| {
                assert_eq!(Some(time), expected.next(), "from the last to the first");
                assert_eq!(posterior, &plain[time], "bit for bit at {time}");
            },
        )
        .map_err(|error| error.to_string())?;
        assert_eq!(expected.next(), None, "every sample is visited");
        assert_eq!((log, &pairs), (log_likelihood, plain_pairs));
    }
    Ok(())
}

pub(crate) fn full_lag_is_smoother<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    plain: &[[T; N]],
) {
    if samples.is_empty() || samples.len() > ALL {
        return;
    }
    let smoother = FixedLag::<E, N, { ALL - 1 }>::of(hmm);
    let running = after(smoother, samples.iter().map(|x| x.as_ref().map(Borrow::borrow)));
    let mut visited = 0;
    smoother.for_each_lag(running.state(), |LaggedPosterior { lag, probability }| {
        assert_eq!(lag, visited);
        assert_eq!(probability, plain[plain.len() - 1 - lag], "lag {lag}");
        assert_eq!(smoother.at_lag(running.state(), lag), Some(probability));
        visited += 1;
    });
    assert_eq!(visited, plain.len());
    assert_eq!(smoother.at_lag(running.state(), visited), None);
    assert_eq!(running.read(), LaggedPosterior { lag: plain.len() - 1, probability: plain[0] });
}

pub(crate) fn wide_window_decodes_the_path<T: Real, E: Family<T>, const N: usize>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    path: &[u8],
    log_joint: T,
) {
    let decoder = OnlineViterbi::<Hmm<E, N>, 256>::of(hmm);
    let mut running = Stream::new(decoder);
    let mut emitted = Vec::new();
    for x in samples {
        match x {
            Some(x) => running.push(x.borrow()).expect("a possible observation"),
            None => running.push(None).expect("a possible observation"),
        }
        let decoded = running.read();
        assert_eq!((decoded.since, decoded.forced), (emitted.len() as u64, false));
        emitted.extend_from_slice(&decoded.states);
        assert!(path.starts_with(&emitted), "emitted {emitted:?} of {path:?}");
    }
    assert_eq!(running.state().forced(), 0);
    assert_eq!(emitted.len() + running.state().undecided(), path.len());
    emitted.extend_from_slice(&decoder.undecided(running.state()));
    assert_eq!(emitted, path);
    assert_eq!(decoder.log_probability(running.state()), log_joint);
}

pub(crate) fn narrow_window_emits_one_path<
    T: Real,
    E: Family<T>,
    const N: usize,
    const WINDOW: usize,
>(
    hmm: &Hmm<E, N>,
    samples: &[Option<E::Sample>],
    path: &[u8],
) {
    let decoder = OnlineViterbi::<Hmm<E, N>, WINDOW, u16>::of(hmm);
    let mut running = Stream::new(decoder);
    let (mut emitted, mut forced) = (Vec::<usize>::new(), 0);
    for (time, x) in samples.iter().enumerate() {
        let pushed = match x {
            Some(x) => running.push(x.borrow()),
            None => {
                running.push(None).expect("nothing to refuse");
                Ok(())
            }
        };
        if pushed == Err(ObservationError::Impossible) && forced > 0 {
            return; // Only a survivor that was dropped could explain it.
        }
        pushed.expect("a possible observation");
        let decoded = running.state().decoded();
        forced += u64::from(decoded.forced);
        emitted.extend(decoded.states.iter().map(|p| p.index()));
        assert!(time + 1 - emitted.len() < WINDOW, "room for the next sample");
        assert_eq!(running.state().forced(), forced);
        if forced == 0 {
            assert!(emitted.iter().zip(path).all(|(&a, &b)| a == b.index()));
        }
    }
    emitted.extend(decoder.undecided(running.state()).iter().map(|p| p.index()));
    assert_eq!(emitted.len(), samples.len());
    // What was emitted is one path of the model, and its probability is what the decoder says.
    let mut log = 0.0;
    for (time, (&state, x)) in emitted.iter().zip(samples).enumerate() {
        let step = match time.checked_sub(1) {
            None => hmm.chain().initial()[state],
            Some(before) => hmm.chain().transition()[emitted[before]][state],
        };
        let emission = x.as_ref().map(|x| hmm.emission()[state].log_likelihood(x.borrow()));
        log += step.to_f64().ln() + emission.map_or(0.0, |log| log.to_f64());
    }
    let said = decoder.log_probability(running.state()).to_f64();
    let slack = T::SUM_TOLERANCE.to_f64() * (1.0 + log.abs());
    assert!((said - log).abs() <= slack, "{said} of a path with {log}");
}
