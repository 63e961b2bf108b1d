//! What a window covers, sample by sample, by a recursion that keeps all it has seen.

use fishweir_core::ObservationError;
use fishweir_core::filter::{Stream, Streaming, Window};

/// Its observations are numbered, and say how many samples a copy must have seen to take them.
#[derive(Clone, Copy)]
struct Tape;

#[derive(Clone, Copy)]
struct Sample {
    number: usize,
    least: usize,
}

impl Streaming for Tape {
    type Observation = Sample;
    type State = Vec<Option<usize>>;
    type Reading = Vec<Option<usize>>;

    fn initial_state(&self) -> Self::State {
        Vec::new()
    }

    fn step(&self, state: &mut Self::State, x: &Sample) -> Result<(), ObservationError> {
        if state.len() < x.least {
            return Err(ObservationError::Impossible);
        }
        state.push(Some(x.number));
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        state.push(None);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        state.clone()
    }
}

/// Three filters, one every four samples: 9 to 12 samples.
fn window() -> Stream<Window<Tape, 3>> {
    Stream::new(Window::of(Tape, 4).expect("an interval"))
}

#[test]
fn a_window_covers_as_many_of_the_last_samples_as_it_says() {
    let mut stream = window();
    let mut seen = Vec::new();
    assert_eq!((stream.recursion().length(), stream.read().samples), (12, 0));
    for t in 1..=60 {
        if t % 7 == 0 {
            stream.push(None).expect("nothing to refuse");
            seen.push(None);
        } else {
            stream.push(&Sample { number: t, least: 0 }).expect("all take it");
            seen.push(Some(t));
        }
        let covered = if t <= 12 { t } else { 9 + (t - 1) % 4 };
        let got = stream.read();
        assert_eq!(got.samples as usize, covered, "after {t}");
        assert_eq!(got.reading, seen[t - covered..], "after {t}");
    }
}

#[test]
fn a_window_whose_copies_refuse_a_sample_covers_less() {
    let mut stream = window();
    let mut covered = Vec::new();
    for t in 1..=40 {
        let least = match t {
            15 => 5, // too much for the copy that began with 13
            25 => 1, // none can begin with it: the next begins with 26
            _ => 0,
        };
        stream.push(&Sample { number: t, least }).expect("the copy that is read takes it");
        let got = stream.read();
        let last: Vec<_> = (t + 1 - got.samples as usize..=t).map(Some).collect();
        assert_eq!(got.reading, last, "after {t}");
        covered.push(got.samples);
    }
    // Copies begin with 1, 5, 9, (13,) 17, 21, 26, 30 and retire after twelve samples.
    let expected = (1..=12).chain(9..=12).chain(9..=12).chain(5..=12).chain(9..=12).chain(8..=12);
    assert_eq!(covered, expected.chain(9..=11).collect::<Vec<_>>());

    let mut state = stream.state().clone();
    let refused = Sample { number: 0, least: 13 };
    assert!(stream.recursion().step(&mut state, &refused).is_err(), "none has seen thirteen");
    assert_eq!(*stream.state(), state);
}

#[test]
fn a_window_all_of_whose_copies_have_gone_begins_anew() {
    let mut stream = window();
    for t in 1..=12 {
        // All but the first copy refuse the twelfth; the first retires after it.
        let least = if t == 12 { 11 } else { 0 };
        stream.push(&Sample { number: t, least }).expect("the first copy takes it");
    }
    let mut state = stream.state().clone();
    let refused = Sample { number: 13, least: 1 };
    assert!(stream.recursion().step(&mut state, &refused).is_err(), "none can begin with it");
    assert_eq!(*stream.state(), state);
    stream.push(&Sample { number: 13, least: 0 }).expect("one begins");
    assert_eq!(stream.read().reading, [Some(13)]);
    for t in 14..=17 {
        stream.push(&Sample { number: t, least: 0 }).expect("all take it");
    }
    assert_eq!(stream.read().samples, 5);
}
