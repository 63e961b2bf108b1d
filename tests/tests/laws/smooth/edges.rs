//! Full windows, equals, nothing at all, and observations that cannot be.

use fishweir_core::ObservationError;
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::{Belief, Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::smooth::{
    DecodingWindow, FixedLag, LagWindow, OnlineViterbi, SequenceError, Survivors, Viterbi,
    posteriors, posteriors_checkpointed, viterbi,
};
use fishweir_tests::build::padded;
use fishweir_tests::sample::{Sampler, Topology};

#[test]
fn a_full_window_decides_along_the_best_survivor() {
    // States that explain every symbol equally well are never told apart.
    let vague = Categorical::<2>::new([0.5, 0.5]).expect("a model");
    let chain = Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]).expect("a model");
    let hmm = Hmm::new(chain, [vague, vague]);
    let mut stream = Stream::new(OnlineViterbi::<_, 4>::of(&hmm));
    for _ in 0..3 {
        stream.push(&1).expect("a possible observation");
        assert!(stream.read().states.is_empty());
    }
    assert_eq!((stream.state().undecided(), stream.state().forced()), (3, 0));
    stream.push(&1).expect("a possible observation");
    let decoded = stream.read();
    assert!(decoded.forced);
    // With the other survivor gone the rest is known too.
    assert_eq!((decoded.since, decoded.states.as_slice()), (0, [0; 4].as_slice()));
    assert_eq!((stream.state().undecided(), stream.state().forced()), (0, 1));
    stream.push(&0).expect("a possible observation");
    assert_eq!(stream.read().since, 4);
    stream.reset();
    assert_eq!(stream.state(), &DecodingWindow::NEW);
}

#[test]
fn equals_are_broken_to_the_lowest_state() {
    let chain =
        Chain::<f32, 3>::new([0.25, 0.375, 0.375], [[0.25, 0.375, 0.375]; 3]).expect("a model");
    let vague = Categorical::<2>::new([0.5, 0.5]).expect("a model");
    let hmm = Hmm::new(chain, [vague; 3]);
    let (mut back, mut path) = ([[0_u8; 3]; 40], [9_u8; 40]);
    viterbi(&hmm, [0; 40].iter().map(Some), &mut back, &mut path).expect("a possible sequence");
    assert_eq!(path, [1; 40]);
}

#[test]
fn nothing_observed_and_nothing_lent() {
    let hmm = padded::<f64, Categorical<4, f64>, 2>(&Sampler::new(1).categorical(
        Topology::Ergodic,
        2,
        3,
    ))
    .expect("a model");
    let mut pairs = [[0.0; 2]; 2];
    assert_eq!(posteriors(&hmm, [], &mut [], &mut pairs), Ok(0.0));
    assert_eq!(viterbi::<_, _, u8, 2>(&hmm, [], &mut [], &mut []), Ok(0.0));
    let visit = |_, _: &[f64; 2]| panic!("nothing to visit");
    assert_eq!(
        posteriors_checkpointed(&hmm, 0, |_| None, &mut [], &mut [], &mut pairs, visit),
        Ok(0.0)
    );
    assert_eq!(
        FixedLag::<_, 2, 3>::of(&hmm).read(&LagWindow::NEW).probability,
        *hmm.chain().initial()
    );
    assert_eq!(Viterbi::of(&hmm).read(&Survivors::NEW), 0.0);
    assert!(OnlineViterbi::<_, 3>::of(&hmm).undecided(&DecodingWindow::NEW).is_empty());

    let short = Err(SequenceError::BufferTooShort);
    assert_eq!(posteriors(&hmm, [None, None], &mut [[0.0; 2]], &mut pairs), short);
    let (mut back, mut path) = ([[0_u8; 2]; 2], [7_u8; 2]);
    assert_eq!(viterbi(&hmm, [None, None], &mut back[..1], &mut path), short);
    assert_eq!(viterbi(&hmm, [None, None], &mut back, &mut path[..1]), short);
    assert_eq!(path, [7; 2]);
    for (checkpoints, rows) in [(0, 0), (5, 0), (0, 4), (3, 1)] {
        let (mut checkpoints, mut rows) = (vec![Belief::NEW; checkpoints], vec![[0.0; 2]; rows]);
        let lent = (&mut checkpoints, &mut rows);
        assert_eq!(
            posteriors_checkpointed(&hmm, 5, |_| None, lent.0, lent.1, &mut pairs, visit),
            short
        );
    }
    assert_eq!(pairs, [[0.0; 2]; 2]);
}

#[test]
fn impossible_observations_are_errors_that_change_nothing() {
    // Left to right: symbol 0, then symbol 1 for ever.
    let chain = Chain::<f32, 2>::new([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]]).expect("a model");
    let certain = |p| Categorical::<3>::new(p).expect("a model");
    let hmm = Hmm::new(chain, [certain([1.0, 0.0, 0.0]), certain([0.0, 1.0, 0.0])]);
    refuses(&FixedLag::<_, 2, 2>::of(&hmm));
    refuses(&Viterbi::of(&hmm));
    refuses(&OnlineViterbi::<_, 3>::of(&hmm));

    for (last, error) in [(0, ObservationError::Impossible), (3, ObservationError::UnknownSymbol)] {
        let sequence = [0, 0, 1, last, 1];
        let observations = || sequence.iter().map(Some);
        let expected = Err(SequenceError::Observation { time: 3, error });
        let mut pairs = [[0.25; 2]; 2];
        assert_eq!(posteriors(&hmm, observations(), &mut [[0.0; 2]; 5], &mut pairs), expected);
        let (mut back, mut path) = ([[0_u8; 2]; 5], [7_u8; 5]);
        assert_eq!(viterbi(&hmm, observations(), &mut back, &mut path), expected);
        assert_eq!(path, [7; 5]);
        let refused = posteriors_checkpointed(
            &hmm,
            5,
            |time| sequence.get(time),
            &mut [Belief::NEW; 2],
            &mut [[0.0; 2]; 2],
            &mut pairs,
            |_, _| panic!("nothing to visit"),
        );
        assert_eq!(refused, expected);
        assert_eq!(pairs, [[0.25; 2]; 2]);
    }
}

fn refuses<R: Streaming<Observation = usize, State: PartialEq + std::fmt::Debug>>(recursion: &R) {
    let mut state = recursion.initial_state();
    for x in [0, 0, 1, 1, 1] {
        for wrong in [2, 3] {
            let before = state.clone();
            let error =
                recursion.step(&mut state, &wrong).expect_err("no observation of this model");
            let impossible = wrong == 2;
            assert_eq!(error == ObservationError::Impossible, impossible);
            assert_eq!(error == ObservationError::UnknownSymbol, !impossible);
            assert_eq!(state, before);
        }
        recursion.step(&mut state, &x).expect("a possible observation");
    }
    let before = state.clone();
    assert_eq!(recursion.step(&mut state, &0), Err(ObservationError::Impossible));
    assert_eq!(state, before);
}

#[test]
fn observations_that_are_none_are_refused() {
    let gaussian = |mean| Gaussian::<2>::new([mean, 0.0], [1.0, 1.0]).expect("a model");
    let chain = Chain::<f32, 2>::new([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]).expect("a model");
    let hmm = Hmm::new(chain, [gaussian(0.0), gaussian(1.0)]);
    let viterbi = Viterbi::of(&hmm);
    let mut state = viterbi.initial_state();
    for wrong in [[f32::NAN, 0.0], [0.0, f32::INFINITY], [f32::NEG_INFINITY, f32::NAN]] {
        assert_eq!(viterbi.step(&mut state, &wrong), Err(ObservationError::NotFinite));
        assert_eq!(state, Survivors::NEW);
    }
    viterbi.step(&mut state, &[0.0, 0.0]).expect("a possible observation");
}
