//! `defmt::Format` of the types whose fields depend on a model's numbers by association, which the
//! derive cannot see. A recursion says what it is; a state, what it would read.

use defmt::{Format, Formatter, write};

use crate::classify::{
    ChangeDetector, ChangeState, LeafOrder, StaggeredStates, StoredLikelihoods, StreamClassifier,
    StreamModel, StreamState, WindowClassifier,
};
use crate::context::ContextBelief;
use crate::dynamics::{Kalman, KalmanState, SquaredDensity};
use crate::emission::{Emission, SufficientStatistics};
use crate::filter::{
    Adapting, Belief, Evidence, FadingBelief, Forgetting, Forward, OnlineEm, Statistics,
    StatisticsState, Stream, Streaming,
};
use crate::hmm::Hmm;
use crate::kernel::{
    Aligned, FixedLength, HiddenBinomial, HiddenBinomialNorm, Marginalisation,
    MarginalisationState, Observed, PairHmm, PairKernel, PairNorm, PairTable, Scaled, Traversal,
    TreeKernel, TreeMessages, TreeNorm,
};
use crate::number::{Arithmetic, Number, Real, RealParameter};
use crate::semi_markov::SegmentFilter;
#[cfg(feature = "sample")]
use crate::smooth::Ancestral;
use crate::smooth::{FixedLag, LagWindow, Viterbi};

/// Implements `Format`: `[parameters] type => value "text", expressions of the value`.
macro_rules! shown {
    ($([$($parameter:tt)*] $type:ty => $value:tt $text:tt $(, $shown:expr)*;)*) => {$(
        impl<$($parameter)*> Format for $type {
            fn format(&self, f: Formatter<'_>) {
                let $value = self;
                write!(f, $text $(, $shown)*);
            }
        }
    )*};
}
#[cfg(feature = "heapless")]
mod buffers;
mod streams;

shown! {
    [E: Emission<Weight: Format> + Format, const N: usize] Hmm<E, N> =>
        x "Hmm {{ chain: {}, emission: {} }}", x.chain(), x.emission();
    [X: Number<Reading: Format> + Format, const N: usize] Belief<X, N> =>
        x "Belief {{ row: {}, log: {} }}", x.row(), x.log();
    [X: Number<Reading: Format> + Format] Evidence<X> => x "Evidence {{ log: {} }}", x.log();
    [X: Number<Reading: Format> + Format, const N: usize] FadingBelief<X, N> =>
        x "FadingBelief {{ belief: {} }}", x.belief();
    [S, T: Real + Format, const N: usize] StatisticsState<S, T, N> =>
        x "StatisticsState {{ belief: {} }}", x.belief();
    [E: SufficientStatistics<Real: Format> + Format, const N: usize] Adapting<E, N> =>
        x "Adapting {{ hmm: {}, samples: {=u64} }}", x.hmm(), x.samples();
    [T: Real + Format, const N: usize, const LAG: usize] LagWindow<T, N, LAG> =>
        x "LagWindow {{ belief: {}, lag: {=usize} }}", x.belief(), x.lag();
    [P: Copy + Format, X: Number<Reading: Format> + Format] ContextBelief<P, X> =>
        x "ContextBelief {{ history: {}, likelihood: {} }}", x.history(), x.likelihood();
    [X: Arithmetic + Format] SquaredDensity<X> => x "SquaredDensity {{ log: {} }}", x.log();
    [X: Arithmetic + Format, const N: usize] KalmanState<X, N> =>
        x "KalmanState {{ belief: {}, density: {} }}", x.belief(), x.density();
    [S, const M: usize] StreamState<S, M> =>
        x "StreamState {{ models: {=usize}, samples: {=u64} }}", M, x.samples();
    [H: StreamModel + Format, const M: usize, const O: usize] StreamClassifier<H, M, O> =>
        x "StreamClassifier {{ models: {}, outputs: {=usize} }}", x.models(), O;
    [C: Format, const STATES: usize] WindowClassifier<'_, C, STATES> =>
        x "WindowClassifier {{ classifier: {}, contract: {} }}", x.classifier(), x.contract();
    [S, const STATES: usize] StaggeredStates<S, STATES> =>
        x "StaggeredStates {{ states: {=usize}, clock: {} }}", STATES, x.clock();
    [X: Number<Reading: Format> + Format, const N: usize] ChangeState<X, N> =>
        x "ChangeState {{ fading: {} }}", x.fading();
    [E: Emission<Weight: RealParameter<Real: Format> + Format> + Format, const N: usize,
     const C: usize] ChangeDetector<E, N, C> =>
        x "ChangeDetector {{ hmm: {}, fit: {}, drift: {} }}", x.hmm(), x.fit(), x.drift();
    [R: Streaming<State: Format> + Format] Stream<R> =>
        x "Stream {{ recursion: {}, state: {} }}", x.recursion(), x.state();
    [X: Number, const N: usize, const M: usize] Aligned<X, N, M> =>
        x "Aligned {{ stored: {=usize}, position: {=usize} }}", M, x.position();
    [T: Number, const N: usize, const M: usize] MarginalisationState<T, N, M> =>
        _ "MarginalisationState {{ models: {=usize} }}", M;
    [V, O] Traversal<V, O> => x "Traversal {{ leaves: {=usize} }}", x.leaves();
    [E: Emission<Weight: RealParameter>, S: Observed<E::Observation>, const N: usize,
     const M: usize] FixedLength<'_, Hmm<E, N>, S, M> =>
        x "FixedLength {{ stored: {=usize}, length: {=usize} }}", M, x.length();
    [T: Real, S: Observed<usize>, const K: usize, const M: usize] HiddenBinomial<'_, PairTable<T, K>, S, M> =>
        x "HiddenBinomial {{ stored: {=usize}, length: {=usize} }}", M, x.length();
    [T, const K: usize] HiddenBinomialNorm<'_, PairTable<T, K>> =>
        _ "HiddenBinomialNorm {{ symbols: {=usize} }}", K;
    [H, T, const M: usize, const L: usize] Marginalisation<'_, H, [[T; M]; L]> =>
        _ "Marginalisation {{ models: {=usize}, stored: {=usize} }}", M, L;
    [T, S, C, const N: usize, const K: usize] PairKernel<'_, PairHmm<T, N, K>, S, C> =>
        _ "PairKernel {{ states: {=usize}, symbols: {=usize} }}", N, K;
    [T, C, X, const N: usize, const K: usize] PairNorm<'_, PairHmm<T, N, K>, C, X> =>
        _ "PairNorm {{ states: {=usize}, symbols: {=usize} }}", N, K;
    [T, S, O, G: TreeMessages<Sum = Scaled<T, P>>, const P: usize] TreeKernel<'_, G, S, O> =>
        _ "TreeKernel {{ states: {=usize} }}", P;
    [T, O, G: TreeMessages<Sum = Scaled<T, P>>, const P: usize] TreeNorm<'_, G, O> =>
        _ "TreeNorm {{ states: {=usize} }}", P;
    [K: Format, X] LeafOrder<'_, K, X> => x "LeafOrder {{ kernel: {} }}", x.kernel();
    [K, T, const L: usize] StoredLikelihoods<K, [T; L]> =>
        _ "StoredLikelihoods {{ stored: {=usize} }}", L;
    [E: Emission, const N: usize] Forward<'_, E, N> => _ "Forward {{ states: {=usize} }}", N;
    [E: Emission, const N: usize] Forgetting<'_, E, N> => _ "Forgetting {{ states: {=usize} }}", N;
    [E: SufficientStatistics, const N: usize] Statistics<'_, E, N> =>
        _ "Statistics {{ states: {=usize} }}", N;
    [E: SufficientStatistics, const N: usize] OnlineEm<'_, E, N> =>
        _ "OnlineEm {{ states: {=usize} }}", N;
    [E: Emission, const N: usize, const LAG: usize] FixedLag<'_, E, N, LAG> =>
        _ "FixedLag {{ states: {=usize} }}", N;
    [E: Emission, const N: usize] Viterbi<'_, E, N> => _ "Viterbi {{ states: {=usize} }}", N;
    [E: Emission<Weight: Real>, const N: usize, const D: usize] SegmentFilter<'_, E, N, D> =>
        _ "SegmentFilter {{ states: {=usize}, cells: {=usize} }}", N, D;
    [W, const N: usize, const D: usize] Kalman<'_, N, D, W> =>
        _ "Kalman {{ states: {=usize}, channels: {=usize} }}", N, D;
}

#[cfg(feature = "sample")]
shown! {
    [E: Emission, R, const N: usize] Ancestral<'_, E, R, N> =>
        _ "Ancestral {{ states: {=usize} }}", N;
}

const fn formats<T: Format>() {}

/// Every public type with parameters, in one instance: a type without `Format` fails the build.
const _: () = {
    use crate::classify::{ChangeReading, Decision};
    use crate::context::{ContextModel, Steps};
    use crate::dynamics::{Channels, Dynamics, Innovation, Parameters};
    use crate::emission::{
        Autoregressive, AutoregressiveView, Bernoulli, Categorical, FullGaussian, Gaussian,
        GaussianMoments, GaussianView, Mixture, Poisson, PoissonView, Regularisation, Row,
    };
    use crate::filter::{ExpectedStatistics, ForgettingFactor, StepSize};
    use crate::kernel::{Branch, BranchModel, End, KernelError, Pruned, TreeModel, TreeShape};
    use crate::number::{Compensated, Dual, DualLedger, Lanes, Max, ScaleAccumulator};
    use crate::score::ScoreOf;
    use crate::smooth::{LaggedPosterior, Survivors};

    type Pair = Mixture<Gaussian<2, Dual<f32, 1>>, 2>;
    type Plain = Mixture<FullGaussian<2>, 2>;
    type Counts = Poisson<2>;
    type Regression = AutoregressiveView<'static, f32>;
    type OneFilter = Forward<'static, Categorical<2>, 2>;

    formats::<Hmm<Pair, 2>>();
    formats::<StreamClassifier<Hmm<Pair, 2>, 2, 1>>();
    formats::<StreamClassifier<ContextModel<Steps, Pair, 3>, 2, 1>>();
    formats::<StreamState<Belief<Dual<f32, 1>, 2>, 2>>();
    formats::<ContextBelief<usize, Dual<f32, 1>>>();
    formats::<(ChangeDetector<Pair, 2, 2>, ChangeState<Dual<f32, 1>, 2>, ChangeReading)>();
    formats::<(Decision, Regularisation, GaussianMoments<'static, f32>)>();
    formats::<(Autoregressive<3, 1, 2, Dual<f32, 1>>, Regression)>();
    formats::<(Bernoulli<2>, Counts, PoissonView<'static, f32>, GaussianView<'static, f32>)>();
    formats::<(Row<Dual<f32, 1>, 2>, Dual<f32, 1>, Lanes<f32, 2>, Max<f32>, Compensated<f32>)>();
    formats::<(ScaleAccumulator<f32>, DualLedger<ScaleAccumulator<f32>, f32, 1>)>();
    formats::<ScoreOf<Plain, 2>>();
    formats::<ExpectedStatistics<f32, f32, 2>>();
    formats::<(ForgettingFactor<f32>, StepSize)>();
    formats::<Stream<OneFilter>>();
    formats::<(Belief<Dual<f32, 1>, 2>, Evidence<f32>)>();
    formats::<Stream<Kalman<'static, 2, 1, Dual<f32, 1>>>>();
    formats::<(Dynamics<2, 1>, Parameters<f32, 2, 1>, Innovation<f32, 2>)>();
    formats::<Channels<'static, f32, 2>>();
    formats::<Stream<Forgetting<'static, Pair, 2>>>();
    formats::<Stream<Statistics<'static, Plain, 2>>>();
    formats::<Stream<OnlineEm<'static, Counts, 2>>>();
    formats::<Stream<FixedLag<'static, Plain, 2, 4>>>();
    formats::<Stream<Viterbi<'static, Plain, 2>>>();
    #[cfg(feature = "sample")]
    formats::<(Ancestral<'static, Plain, (), 2>, crate::smooth::Draw<usize>)>();
    formats::<(Survivors<f32, 2>, LaggedPosterior<f32, 2>)>();
    formats::<Stream<FixedLength<'static, Hmm<Pair, 2>, [f32; 2], 3>>>();
    formats::<Stream<HiddenBinomial<'static, PairTable<f32, 4>, u8, 3>>>();
    formats::<Stream<Marginalisation<'static, [Hmm<Plain, 2>; 3], [[f32; 3]; 4]>>>();
    formats::<Stream<PairKernel<'static, PairHmm<f32, 2, 4>, u8, [Scaled<f32, 2>; 9]>>>();
    formats::<(PairHmm<f32, 2, 4>, End<f32, 2>, PairTable<f32, 4>, KernelError)>();
    formats::<(TreeModel<f32, 2, 1>, TreeShape<'static>, Pruned<f32>)>();
    formats::<(BranchModel<'static, f32, 2>, Branch)>();
};
