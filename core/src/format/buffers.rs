//! Of what keeps a buffer of fixed capacity.

use defmt::{Format, Formatter, write};

use crate::emission::Emission;
use crate::filter::{RecentState, RollingLogLikelihood, Streaming, Window, WindowState};
use crate::number::Number;
use crate::smooth::OnlineViterbi;

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
    [E: Emission, const N: usize, const WINDOW: usize, P] OnlineViterbi<'_, E, N, WINDOW, P> =>
        _ "OnlineViterbi {{ states: {=usize}, window: {=usize} }}", N, WINDOW;
}

const _: () = {
    use super::formats;
    use crate::emission::{Categorical, Gaussian, Mixture};
    use crate::filter::{Forward, Stream};
    use crate::kernel::{HiddenTree, PrunedTree};
    use crate::number::Dual;
    use crate::smooth::{Decoded, DecodingWindow};

    type Pair = Mixture<Gaussian<2, Dual<f32, 1>>, 2>;
    type Plain = Mixture<Gaussian<2>, 2>;

    formats::<Stream<RollingLogLikelihood<'static, Pair, 2, 4>>>();
    formats::<Stream<Window<Forward<'static, Categorical<2>, 2>, 4>>>();
    formats::<Stream<OnlineViterbi<'static, Plain, 2, 8>>>();
    formats::<(DecodingWindow<f32, 2, 8, u8>, Decoded<u8, 8>)>();
    formats::<Stream<HiddenTree<'static, f32, bool, 2, 1, 5>>>();
    formats::<Stream<PrunedTree<'static, f32, u8, 2, 1, 5>>>();
};
