use core::fmt::Debug;

/// An integer that names a hidden state, from 0, in back-pointers and paths.
///
/// `u8` serves models of up to 256 states, `u16` and `u32` larger ones; a type too small for the
/// model is refused at compile time.
pub trait StateIndex: Copy + Eq + Debug + 'static {
    /// Number of states that the type can name.
    const STATES: usize;
    /// State 0.
    const FIRST: Self;

    /// The name of a state below [`STATES`](Self::STATES).
    fn from_index(index: usize) -> Self;
    /// The state named.
    fn index(self) -> usize;
}

macro_rules! state_index {
    ($($t:ty),*) => {$(
        impl StateIndex for $t {
            const STATES: usize = (<$t>::MAX as usize).saturating_add(1);
            const FIRST: Self = 0;
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                index as $t
            }
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
        }
    )*};
}
state_index!(u8, u16, u32, usize);
