use core::borrow::Borrow;

/// An observation as a stored sequence holds it: symbols in as few bytes as the alphabet needs,
/// channels as they are.
pub trait Observed<O: ?Sized> {
    /// The observation that a stream would bring.
    fn observation(&self) -> impl Borrow<O>;
}

macro_rules! symbol {
    ($($t:ty),*) => {$(
        impl Observed<usize> for $t {
            #[inline(always)]
            fn observation(&self) -> impl Borrow<usize> {
                *self as usize
            }
        }
    )*};
}
symbol!(bool, u8, u16, u32, usize);

impl<A: Copy, const D: usize> Observed<[A; D]> for [A; D] {
    #[inline(always)]
    fn observation(&self) -> impl Borrow<[A; D]> {
        *self
    }
}

impl<O: ?Sized> Observed<O> for &O {
    #[inline(always)]
    fn observation(&self) -> impl Borrow<O> {
        *self
    }
}
