//! `defmt::Format` of the types whose fields depend on a model's numbers by association, which the
//! derive cannot see. A recursion says what it is; a state, what it would read.

#[cfg(feature = "heapless")]
mod buffers;

use defmt::{Format, Formatter, write};

use crate::classify::{ChangeDetector, ChangeState, StreamClassifier, StreamModel, StreamState};
use crate::context::ContextBelief;
use crate::dynamics::{Kalman, KalmanState, SquaredDensity};
use crate::emission::{Emission, SufficientStatistics};
use crate::filter::{
    Adapting, Belief, Evidence, FadingBelief, Forgetting, Forward, OnlineEm, Recursion, Running,
    Statistics, StatisticsState,
};
use crate::hmm::Hmm;
use crate::kernel::{
    Aligned, FixedLength, HiddenBinomial, Marginalisation, MarginalisationState, Observed,
    PairRecursion, Traversal, TreeKernel,
};
use crate::number::{Arithmetic, Number, Real, RealParameter};
#[cfg(feature = "sample")]
use crate::smooth::Ancestral;
use crate::smooth::{FixedLag, LagWindow, Viterbi};

impl<E: Emission<Weight: Format> + Format, const N: usize> Format for Hmm<E, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Hmm {{ chain: {}, emission: {} }}", self.chain(), self.emission());
    }
}

impl<X: Number<Reading: Format> + Format, const N: usize> Format for Belief<X, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Belief {{ row: {}, log: {} }}", self.row(), self.log());
    }
}

impl<X: Number<Reading: Format> + Format> Format for Evidence<X> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Evidence {{ log: {} }}", self.log());
    }
}

impl<X: Number<Reading: Format> + Format, const N: usize> Format for FadingBelief<X, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "FadingBelief {{ belief: {} }}", self.belief());
    }
}

impl<S, T: Real + Format, const N: usize> Format for StatisticsState<S, T, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "StatisticsState {{ belief: {} }}", self.belief());
    }
}

impl<E, const N: usize> Format for Adapting<E, N>
where
    E: SufficientStatistics<Real: Format> + Format,
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Adapting {{ hmm: {}, samples: {=u64} }}", self.hmm(), self.samples());
    }
}

impl<T: Real + Format, const N: usize, const LAG: usize> Format for LagWindow<T, N, LAG> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "LagWindow {{ belief: {}, lag: {=usize} }}", self.belief(), self.lag());
    }
}

impl<P: Copy + Format, X: Number<Reading: Format> + Format> Format for ContextBelief<P, X> {
    fn format(&self, f: Formatter<'_>) {
        let (history, likelihood) = (self.history(), self.likelihood());
        write!(f, "ContextBelief {{ history: {}, likelihood: {} }}", history, likelihood);
    }
}

impl<X: Arithmetic + Format> Format for SquaredDensity<X> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "SquaredDensity {{ log: {} }}", self.log());
    }
}

impl<X: Arithmetic + Format, const N: usize> Format for KalmanState<X, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "KalmanState {{ belief: {}, density: {} }}", self.belief(), self.density());
    }
}

impl<S, const M: usize> Format for StreamState<S, M> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "StreamState {{ models: {=usize}, samples: {=u64} }}", M, self.samples());
    }
}

impl<H: StreamModel + Format, const M: usize, const O: usize> Format for StreamClassifier<H, M, O> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "StreamClassifier {{ models: {}, outputs: {=usize} }}", self.models(), O);
    }
}

impl<X: Number<Reading: Format> + Format, const N: usize> Format for ChangeState<X, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "ChangeState {{ fading: {} }}", self.fading());
    }
}

impl<E, const N: usize, const C: usize> Format for ChangeDetector<E, N, C>
where
    E: Emission<Weight: RealParameter<Real: Format> + Format> + Format,
{
    fn format(&self, f: Formatter<'_>) {
        let (hmm, fit, drift) = (self.hmm(), self.fit(), self.drift());
        write!(f, "ChangeDetector {{ hmm: {}, fit: {}, drift: {} }}", hmm, fit, drift);
    }
}

impl<R: Recursion<State: Format> + Format> Format for Running<R> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Running {{ recursion: {}, state: {} }}", self.recursion(), self.state());
    }
}

impl<X: Number, const N: usize, const M: usize> Format for Aligned<X, N, M> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Aligned {{ stored: {=usize}, position: {=usize} }}", M, self.position());
    }
}

impl<T: Number, const N: usize, const M: usize> Format for MarginalisationState<T, N, M> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "MarginalisationState {{ models: {=usize} }}", M);
    }
}

impl<V, O> Format for Traversal<V, O> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Traversal {{ leaves: {=usize} }}", self.leaves());
    }
}

impl<E, S, const N: usize, const M: usize> Format for FixedLength<'_, E, S, N, M>
where
    E: Emission<Weight: RealParameter>,
    S: Observed<E::Observation>,
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "FixedLength {{ stored: {=usize}, length: {=usize} }}", M, self.length());
    }
}

impl<T: Real, S: Observed<usize>, const K: usize, const M: usize> Format
    for HiddenBinomial<'_, T, S, K, M>
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "HiddenBinomial {{ stored: {=usize}, length: {=usize} }}", M, self.length());
    }
}

impl<E: Emission, const N: usize, const M: usize, const L: usize> Format
    for Marginalisation<'_, E, N, M, L>
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Marginalisation {{ models: {=usize}, stored: {=usize} }}", M, L);
    }
}

impl<T, S, C, const N: usize, const K: usize> Format for PairRecursion<'_, T, S, C, N, K> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "PairRecursion {{ states: {=usize}, symbols: {=usize} }}", N, K);
    }
}

impl<T, S, V, O, G, const P: usize> Format for TreeKernel<'_, T, S, V, O, G, P> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "TreeKernel {{ states: {=usize} }}", P);
    }
}

/// A recursion that borrows a model: its name, and how many states the model has.
macro_rules! recursion {
    ($name:literal, impl<$($parameter:ident: $bound:path),+; $(const $size:ident),*> $type:ty) => {
        impl<$($parameter: $bound),+, const N: usize $(, const $size: usize)*> Format for $type {
            fn format(&self, f: Formatter<'_>) {
                write!(f, "{=str} {{ states: {=usize} }}", $name, N);
            }
        }
    };
}
recursion!("Forward", impl<E: Emission;> Forward<'_, E, N>);
recursion!("Forgetting", impl<E: Emission;> Forgetting<'_, E, N>);
recursion!("Statistics", impl<E: SufficientStatistics;> Statistics<'_, E, N>);
recursion!("OnlineEm", impl<E: SufficientStatistics;> OnlineEm<'_, E, N>);
recursion!("FixedLag", impl<E: Emission; const LAG> FixedLag<'_, E, N, LAG>);
recursion!("Viterbi", impl<E: Emission;> Viterbi<'_, E, N>);

impl<W, const N: usize, const D: usize> Format for Kalman<'_, N, D, W> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Kalman {{ states: {=usize}, channels: {=usize} }}", N, D);
    }
}

#[cfg(feature = "sample")]
impl<E: Emission, R, const N: usize> Format for Ancestral<'_, E, R, N> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Ancestral {{ states: {=usize} }}", N);
    }
}

const fn formats<T: Format>() {}

/// Every public type with parameters, in one instance: what lacks `Format` does not build.
const _: () = {
    use crate::classify::{ChangeReading, Decision};
    use crate::context::{ContextModel, Steps};
    use crate::dynamics::{Channels, Dynamics, Innovation, Parameters};
    use crate::emission::{
        Autoregressive, AutoregressiveView, Bernoulli, Categorical, FullGaussian, Gaussian,
        GaussianMoments, GaussianView, Mixture, Poisson, PoissonView, Regularisation, Row,
    };
    use crate::filter::{ExpectedStatistics, ForgettingFactor, StepSize};
    use crate::kernel::{
        Branch, BranchModel, End, KernelError, PairHmm, PairKernel, PairTable, Pruned, TreeModel,
        TreeShape,
    };
    use crate::number::{Compensated, Dual, DualLedger, Lanes, Ledger, Max};
    use crate::score::ScoreOf;
    use crate::smooth::{Lagged, Survivors};

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
    formats::<(Ledger<f32>, DualLedger<Ledger<f32>, f32, 1>)>();
    formats::<ScoreOf<Plain, 2>>();
    formats::<ExpectedStatistics<f32, f32, 2>>();
    formats::<(ForgettingFactor<f32>, StepSize)>();
    formats::<Running<OneFilter>>();
    formats::<(Belief<Dual<f32, 1>, 2>, Evidence<f32>)>();
    formats::<Running<Kalman<'static, 2, 1, Dual<f32, 1>>>>();
    formats::<(Dynamics<2, 1>, Parameters<f32, 2, 1>, Innovation<f32, 2>)>();
    formats::<Channels<'static, f32, 2>>();
    formats::<Running<Forgetting<'static, Pair, 2>>>();
    formats::<Running<Statistics<'static, Plain, 2>>>();
    formats::<Running<OnlineEm<'static, Counts, 2>>>();
    formats::<Running<FixedLag<'static, Plain, 2, 4>>>();
    formats::<Running<Viterbi<'static, Plain, 2>>>();
    #[cfg(feature = "sample")]
    formats::<(Ancestral<'static, Plain, (), 2>, crate::smooth::Draw<usize>)>();
    formats::<(Survivors<f32, 2>, Lagged<f32, 2>)>();
    formats::<Running<FixedLength<'static, Pair, [f32; 2], 2, 3>>>();
    formats::<Running<HiddenBinomial<'static, f32, u8, 4, 3>>>();
    formats::<Running<Marginalisation<'static, Plain, 2, 3, 4>>>();
    formats::<Running<PairKernel<'static, f32, u8, 2, 4, 9>>>();
    formats::<(PairHmm<f32, 2, 4>, End<f32, 2>, PairTable<f32, 4>, KernelError)>();
    formats::<(TreeModel<f32, 2, 1>, TreeShape<'static>, Pruned<f32>)>();
    formats::<(BranchModel<'static, f32, 2>, Branch)>();
};
