use core::borrow::Borrow;

/// An observation as a stored sequence holds it: symbols in as few bytes as the alphabet needs,
/// channels as they are, and either in an [`Option`] where some are missing.
pub trait Observed<O: ?Sized> {
    /// The observation that a stream would bring; `None` where it is missing.
    fn observation(&self) -> Option<impl Borrow<O>>;
}

macro_rules! symbol {
    ($($t:ty),*) => {$(
        impl Observed<usize> for $t {
            #[inline(always)]
            fn observation(&self) -> Option<impl Borrow<usize>> {
                Some(*self as usize)
            }
        }
    )*};
}
symbol!(bool, u8, u16, u32, usize);

impl<A: Copy, const D: usize> Observed<[A; D]> for [A; D] {
    #[inline(always)]
    fn observation(&self) -> Option<impl Borrow<[A; D]>> {
        Some(*self)
    }
}

impl<O: ?Sized> Observed<O> for &O {
    #[inline(always)]
    fn observation(&self) -> Option<impl Borrow<O>> {
        Some(*self)
    }
}

impl<A: Observed<O>, O: ?Sized> Observed<O> for Option<A> {
    #[inline(always)]
    fn observation(&self) -> Option<impl Borrow<O>> {
        self.as_ref().and_then(A::observation)
    }
}
