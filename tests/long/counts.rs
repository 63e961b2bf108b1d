//! Counts of long streams.

use fishweir_core::context::{Automaton, ContextStatistics, MarkovString, StringEnd};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Stream;

/// Past `2^24` a count in `f32` would stand still, were it not for its carry.
#[test]
fn counts_of_long_streams_are_exact() {
    let model = MarkovString::<2, 1>::new(
        Automaton::order(0, StringEnd::Open).expect("one context"),
        [Categorical::<2, f32>::new([0.5, 0.5]).expect("a coin")],
    );
    let mut stream = Stream::new(ContextStatistics::of(&model));
    let long = (1 << 24) + 1024;
    for _ in 0..long {
        stream.push(&0).expect("a symbol");
    }
    assert_eq!(stream.read()[0], [long as f32, 0.0]);
}
