//! Models without hidden states.

use core::hint::black_box;

use fishweir_core::context::{
    Automaton, ContextLikelihood, ContextModel, ContextRule, ContextStatistics, ContextTree,
    Independent, IndependentPositions, MarkovString, Positions, StringEnd, Unnormalised,
};
use fishweir_core::emission::{
    Categorical, Gaussian, Mixture, Parametrisation, Regularisation, SufficientStatistics,
    VectorSpace,
};
use fishweir_core::filter::Streaming;
use fishweir_core::kernel::PositionFisher;
use fishweir_core::semi_markov::{SegmentFilter, SegmentModel};

use super::{drive, some};

/// Models without hidden states: one rule each, and one family with a constant of its own.
#[inline(never)]
pub(crate) fn all() {
    context(&Independent::of(some::<Gaussian<1>>()), &some());
    context(&Independent::of(some::<Mixture<Gaussian<1>, 2>>()), &some());
    let model = IndependentPositions::<4, 5>::new(Positions, some::<[Categorical<4>; 5]>());
    context(&model, &black_box(0));
    static STORED: [u8; 8] = [0; 8];
    if let Ok(kernel) = PositionFisher::of(&model, [black_box(&STORED[..]); 2]) {
        drive(kernel, &black_box(0));
        black_box(kernel.quadratic(&black_box(kernel.initial_state())));
    }
    black_box(model.whitened(&some()));

    let Ok(weights) = Unnormalised::<4, 9, f32>::new(some()) else { return };
    black_box((weights.score(&some()), weights.direction(&some())));
    let strings = black_box([&[0_u16, 1, 2][..]; 9]);
    let end = black_box(StringEnd::Event);
    for rule in [Automaton::new(&strings, end), Automaton::order(black_box(2), end)] {
        let Ok(rule) = rule else { continue };
        context(&MarkovString::new(rule, weights.probabilities()), &black_box(0));
    }
}

/// The mixture of context trees, and segments with durations.
#[inline(never)]
pub(crate) fn trees_and_segments() {
    let (mut child, mut count, mut ratio) =
        (black_box([0; 64]), black_box([0.0_f32; 64]), black_box([0.0; 16]));
    let [symbols, depth] = black_box([4, 3]);
    let [alpha, stop] = black_box([0.5; 2]);
    let tree = ContextTree::new(symbols, depth, alpha, stop, &mut child, &mut count, &mut ratio);
    let Ok(mut tree) = tree else { return };
    let _ = black_box((tree.push(black_box(1)), tree.observe(black_box(2))));
    let mut next = [0.0; 4];
    tree.predict(black_box(&mut next[..]));
    black_box((next, tree.root_weight(), tree.log_probability(), tree.nodes(), tree.symbols()));
    black_box(tree.child(black_box(0), black_box(1)));
    tree.clear();

    let Ok(model) = SegmentModel::<f32, 3, 5>::with_durations(some(), some(), some()) else {
        return;
    };
    black_box(SegmentModel::with_end(some(), some(), some::<[[f32; 5]; 3]>(), some()).is_ok());
    let emission = black_box(some::<[Gaussian<2>; 3]>());
    let filter = SegmentFilter::of(&model, &emission);
    drive(filter, &some());
    let state = black_box(filter.initial_state());
    let read =
        (filter.filtered(&state), filter.end_probability(&state), filter.log_if_ended(&state));
    black_box(read);
}

#[inline(never)]
fn context<R, E, const C: usize>(model: &ContextModel<R, E, C>, x: &E::Observation)
where
    R: ContextRule<E::Observation, C> + Copy,
    E: SufficientStatistics<Real = f32>,
{
    let model = black_box(model);
    let _ = black_box(model.validate());
    drive(ContextLikelihood::of(model), x);
    let statistics = ContextStatistics::of(model);
    drive(statistics, x);
    let collected = black_box(statistics.read(&black_box(statistics.initial_state())));
    black_box(model.score(&collected, black_box(Parametrisation::default())));
    let _ = black_box(model.maximise(&collected, &black_box(Regularisation::NONE)));
    let directions = black_box([[E::Score::ZERO; C]; 2]);
    let along =
        black_box(model.with_directions(&directions, black_box(Parametrisation::default())));
    drive(ContextLikelihood::of(&along), x);
}
