//! Recursions, tables and states whose contents would flood a log: each logs its sizes and its readings.

use defmt::{Format, Formatter, write};

use crate::classify::{
    Codebooks, Coding, DecisionStream, KernelMachine, NoNorm, Similarity, StoredModels,
    StoredScores, WithCodebooks, WithCodebooksState,
};
use crate::context::{ContextLikelihood, ContextStatistics, IndependentPositions};
use crate::emission::{Emission, SufficientStatistics};
use crate::filter::Beliefs;
use crate::front::VectorQuantiser;
#[cfg(feature = "microfft")]
use crate::front::{Cepstra, CepstraState, MelTables};
use crate::hmm::{Chain, Hmm};
use crate::kernel::{FixedLengthNorm, ModelPairKernel, NormState, Overlaps, PositionFisher};
use crate::number::{Number, Real};
use crate::profile_hmm::{ProfileBelief, ProfileSearch};
use crate::smooth::BackwardLanes;

shown! {
    [T: Coding, const D: usize, const G: usize, const O: usize, const Q: usize]
    Codebooks<[[T; D]; G], O, Q> =>
        x "Codebooks {{ dilations: {}, channels: {=usize}, outputs: {=usize} }}", x.dilations(), D, O;
    [R: Format, C: Format, const K: usize] WithCodebooks<R, C, K> =>
        x "WithCodebooks {{ classifier: {}, codebooks: {} }}", x.classifier(), x.codebooks();
    [S, T: Coding, const D: usize, const K: usize, const O: usize]
    WithCodebooksState<S, [[T; D]; K], [T::Total; O]> =>
        _ "WithCodebooksState {{ channels: {=usize}, past: {=usize}, outputs: {=usize} }}", D, K, O;
    [C: crate::AdditiveClassifier, const STATES: usize] DecisionStream<'_, C, STATES> =>
        x "DecisionStream {{ classes: {=usize} }}", x.classes().len();
    [T: Coding, const L: usize] Similarity<T, L> => _ "Similarity {{ samples: {=usize} }}", L;
    [E: SufficientStatistics, W, const N: usize, const B: usize, const F: usize, const M: usize]
    StoredScores<[Hmm<E, N>; B], W, [[E::Real; F]; M]> =>
        _ "StoredScores {{ models: {=usize}, features: {=usize}, stored: {=usize} }}", B, F, M;
    [K: Format, T: Real + Format, const M: usize, const O: usize] KernelMachine<K, [[T; M]; O]> =>
        x "KernelMachine {{ kernel: {}, coefficients: {}, biases: {} }}",
        x.kernel(), x.coefficients(), x.biases();
    [A, C: Format, H, const M: usize] StoredModels<'_, A, [H; M], C> =>
        x "StoredModels {{ models: {=usize}, compared: {} }}", M, x.compared();
    [O: ?Sized, T] NoNorm<O, T> => _ "NoNorm";
    [R, E, const C: usize] ContextLikelihood<'_, R, E, C> =>
        _ "ContextLikelihood {{ contexts: {=usize} }}", C;
    [R, E, const C: usize] ContextStatistics<'_, R, E, C> =>
        _ "ContextStatistics {{ contexts: {=usize} }}", C;
    [T: Real, const N: usize, const L: usize] Beliefs<T, N, L> =>
        _ "Beliefs {{ states: {=usize}, lanes: {=usize} }}", N, L;
    [T: Real, const N: usize, const L: usize] BackwardLanes<T, N, L> =>
        _ "BackwardLanes {{ states: {=usize}, lanes: {=usize} }}", N, L;
    [const D: usize, const K: usize, T] VectorQuantiser<D, K, T> =>
        _ "VectorQuantiser {{ channels: {=usize}, words: {=usize} }}", D, K;
    [W, const N: usize, const M: usize, const P: usize] ModelPairKernel<'_, Chain<W, N>, Chain<W, M>, Overlaps<W, P>> =>
        _ "ModelPairKernel {{ states: [{=usize}, {=usize}] }}", N, M;
    [E: Emission, const N: usize] FixedLengthNorm<'_, E, N> =>
        _ "FixedLengthNorm {{ states: {=usize} }}", N;
    [X: Number, const N: usize] NormState<X, N> => _ "NormState {{ states: {=usize} }}", N;
    [T, S, const K: usize, const L: usize, const M: usize]
    PositionFisher<'_, IndependentPositions<K, L, T>, S, M> =>
        _ "PositionFisher {{ symbols: {=usize}, positions: {=usize}, stored: {=usize} }}", K, L, M;
    [W, X, C] ProfileSearch<'_, W, X, C> => _ "ProfileSearch";
    [X: Number + Format, C] ProfileBelief<X, C> =>
        x "ProfileBelief {{ flanks: {} }}", x.flanks();
}

#[cfg(feature = "microfft")]
shown! {
    [const BINS: usize, const B: usize, const C: usize] Cepstra<BINS, B, C> =>
        _ "Cepstra {{ window: {=usize}, bands: {=usize}, cepstra: {=usize} }}", 2 * BINS, B, C;
    [const BINS: usize] CepstraState<BINS> => _ "CepstraState {{ window: {=usize} }}", 2 * BINS;
    [Q] MelTables<'_, Q> =>
        x "MelTables {{ window: {=usize}, cepstra: {=usize} }}", x.window.len(), x.cosines.len();
}

#[cfg(feature = "heapless")]
shown! {
    [E: Emission, const S: usize, const B: usize, const PENDING: usize]
    crate::spot::Spotter<E, S, B, PENDING> =>
        x "Spotter {{ states: {=usize}, background: {=usize}, lag: {=u32} }}", S, B, x.lag();
    [T: Real + Format, const S: usize, const B: usize, const PENDING: usize]
    crate::spot::SpotState<T, S, B, PENDING> =>
        x "SpotState {{ samples: {=u64}, forced: {=u64}, spotted: {} }}",
        x.samples(), x.forced(), x.spotted();
}

#[cfg(feature = "artefact")]
shown! {
    [M, const PAIRS: usize, const REST: usize] crate::artefact::Embedded<M, PAIRS, REST> =>
        _ "Embedded {{ bytes: {=usize} }}", size_of::<crate::artefact::Embedded<M, PAIRS, REST>>();
    [] crate::update::Update<'_> =>
        x "Update {{ header: {}, signature: {=usize} }}", x.header, x.signature.len();
}

#[cfg(feature = "wire")]
shown! {
    [T] crate::wire::RecordBuffer<T> =>
        _ "RecordBuffer {{ record: {=usize} }}", size_of::<T>();
    [T: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::Unaligned] crate::wire::Frame<T> =>
        x "Frame {{ bytes: {=[u8]} }}", x.as_bytes();
}
