//! Formats of types with a buffer of fixed capacity.

use defmt::{Format, Formatter, write};

use crate::emission::Emission;
use crate::filter::{RecentState, RollingLogLikelihood, Streaming, Window, WindowState};
use crate::hmm::Hmm;
use crate::number::{Number, Real};
use crate::smooth::{Decoded, DecodingWindow, OnlineViterbi, StateIndex, Survivors};

shown! {
    [E: Emission, const N: usize, const SNAPSHOTS: usize] RollingLogLikelihood<'_, E, N, SNAPSHOTS> =>
        _ "RollingLogLikelihood {{ states: {=usize} }}", N;
    [X: Number<Reading: Format> + Format, const N: usize, const SNAPSHOTS: usize]
    RecentState<X, N, SNAPSHOTS> =>
        x "RecentState {{ belief: {}, marks: {=usize} }}", x.belief(), SNAPSHOTS;
    [R: Streaming + Format, const FILTERS: usize] Window<R, FILTERS> =>
        x "Window {{ recursion: {}, length: {=u32} }}", x.recursion(), x.length();
    [S, const FILTERS: usize] WindowState<S, FILTERS> =>
        _ "WindowState {{ filters: {=usize} }}", FILTERS;
    [E: Emission, const N: usize, const WINDOW: usize, P] OnlineViterbi<'_, Hmm<E, N>, WINDOW, P> =>
        _ "OnlineViterbi {{ states: {=usize}, window: {=usize} }}", N, WINDOW;
    [T: Real + Format, P: StateIndex + Format, const N: usize, const WINDOW: usize]
    DecodingWindow<Survivors<T, N>, [[P; N]; WINDOW], Decoded<P, WINDOW>> =>
        x "DecodingWindow {{ survivors: {}, undecided: {=usize}, forced: {=u64}, decoded: {} }}",
        x.survivors(), x.undecided(), x.forced(), x.decoded();
}

const _: () = {
    use super::formats;
    use crate::emission::{Categorical, Gaussian, Mixture};
    use crate::filter::{Forward, Stream};
    use crate::kernel::{HiddenTree, PrunedTree, TreeModel};
    use crate::number::Dual;

    type Pair = Mixture<Gaussian<2, Dual<f32, 1>>, 2>;
    type Plain = Mixture<Gaussian<2>, 2>;

    formats::<Stream<RollingLogLikelihood<'static, Pair, 2, 4>>>();
    formats::<Stream<Window<Forward<'static, Categorical<2>, 2>, 4>>>();
    formats::<Stream<OnlineViterbi<'static, Hmm<Plain, 2>, 8>>>();
    formats::<(DecodingWindow<Survivors<f32, 2>, [[u8; 2]; 8], Decoded<u8, 8>>, Decoded<u8, 8>)>();
    formats::<Stream<HiddenTree<'static, TreeModel<f32, 2, 1>, bool, 5>>>();
    formats::<Stream<PrunedTree<'static, TreeModel<f32, 2, 1>, u8, 5>>>();
};
