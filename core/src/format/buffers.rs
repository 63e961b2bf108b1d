//! Of what keeps a buffer of fixed capacity.

use defmt::{Format, Formatter, write};

use crate::emission::Emission;
use crate::filter::{Recent, RecentState, Recursion, Window, WindowState};
use crate::number::Number;
use crate::smooth::OnlineViterbi;

shown! {
    [E: Emission, const N: usize, const MARKS: usize] Recent<'_, E, N, MARKS> =>
        _ "Recent {{ states: {=usize} }}", N;
    [X: Number<Reading: Format> + Format, const N: usize, const MARKS: usize]
    RecentState<X, N, MARKS> =>
        x "RecentState {{ belief: {}, marks: {=usize} }}", x.belief(), MARKS;
    [R: Recursion + Format, const FILTERS: usize] Window<R, FILTERS> =>
        x "Window {{ recursion: {}, length: {=u32} }}", x.recursion(), x.length();
    [S, const FILTERS: usize] WindowState<S, FILTERS> =>
        _ "WindowState {{ filters: {=usize} }}", FILTERS;
    [E: Emission, const N: usize, const WINDOW: usize, P] OnlineViterbi<'_, E, N, WINDOW, P> =>
        _ "OnlineViterbi {{ states: {=usize}, window: {=usize} }}", N, WINDOW;
}

const _: () = {
    use super::formats;
    use crate::emission::{Categorical, Gaussian, Mixture};
    use crate::filter::{Forward, Running};
    use crate::kernel::{HiddenTree, PrunedTree};
    use crate::number::Dual;
    use crate::smooth::{Decoded, DecodingWindow};

    type Pair = Mixture<Gaussian<2, Dual<f32, 1>>, 2>;
    type Plain = Mixture<Gaussian<2>, 2>;

    formats::<Running<Recent<'static, Pair, 2, 4>>>();
    formats::<Running<Window<Forward<'static, Categorical<2>, 2>, 4>>>();
    formats::<Running<OnlineViterbi<'static, Plain, 2, 8>>>();
    formats::<(DecodingWindow<f32, 2, 8, u8>, Decoded<u8, 8>)>();
    formats::<Running<HiddenTree<'static, f32, bool, 2, 1, 5>>>();
    formats::<Running<PrunedTree<'static, f32, u8, 2, 1, 5>>>();
};
