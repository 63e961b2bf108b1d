//! Of what keeps a buffer of fixed capacity.

use defmt::{Format, Formatter, write};

use crate::emission::Emission;
use crate::filter::{Recent, RecentState, Recursion, Window, WindowState};
use crate::number::Number;
use crate::smooth::OnlineViterbi;

impl<E: Emission, const N: usize, const MARKS: usize> Format for Recent<'_, E, N, MARKS> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Recent {{ states: {=usize} }}", N);
    }
}

impl<X: Number<Reading: Format> + Format, const N: usize, const MARKS: usize> Format
    for RecentState<X, N, MARKS>
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "RecentState {{ belief: {}, marks: {=usize} }}", self.belief(), MARKS);
    }
}

impl<R: Recursion + Format, const FILTERS: usize> Format for Window<R, FILTERS> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "Window {{ recursion: {}, length: {=u32} }}", self.recursion(), self.length());
    }
}

impl<S, const FILTERS: usize> Format for WindowState<S, FILTERS> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "WindowState {{ filters: {=usize} }}", FILTERS);
    }
}

impl<E: Emission, const N: usize, const WINDOW: usize, P> Format
    for OnlineViterbi<'_, E, N, WINDOW, P>
{
    fn format(&self, f: Formatter<'_>) {
        write!(f, "OnlineViterbi {{ states: {=usize}, window: {=usize} }}", N, WINDOW);
    }
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
