/// Bytes at an address that is a multiple of eight, as an artefact must be to be read in place: made by
/// [`include_artefact`](crate::include_artefact), or by hand around any bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Aligned<B: ?Sized>(pub B);

/// An artefact from a file, in the program's flash, aligned: `&'static [u8]` for
/// [`artefact::read`](crate::artefact::read). The path is as for [`include_bytes!`], relative to the source.
///
/// Cost: the file's bytes in flash, and up to seven to align them; nothing at run time. The bytes are not
/// checked at compile time: [`artefact::read`](crate::artefact::read) checks them, in one pass. What the compiler
/// has seen in the file it may decide beforehand; where the flash itself is to be judged, hand the bytes over
/// through [`core::hint::black_box`].
///
/// ```
/// use fishweir_core::artefact::{self, ArtefactError, Header};
/// use fishweir_core::include_artefact;
///
/// // In a project of one's own: include_artefact!("gait.fishweir").
/// static COIN: &[u8] =
///     include_artefact!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/artefact/coin.fishweir"));
///
/// # fn main() -> Result<(), ArtefactError> {
/// use fishweir_core::{classify::StreamClassifier, emission::Categorical, hmm::Hmm};
/// type Coin = StreamClassifier<Hmm<Categorical<2>, 2>, 2, 2>;
///
/// assert!(COIN.as_ptr().addr().is_multiple_of(8));
/// assert_eq!(Header::parse(COIN)?.shape().states, 2);
/// let coin: &'static Coin = artefact::read(COIN)?;
/// assert_eq!(coin.classes(), 2);
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! include_artefact {
    ($path:expr $(,)?) => {{
        const BYTES: &$crate::artefact::Aligned<[u8]> =
            &$crate::artefact::Aligned(*include_bytes!($path));
        &BYTES.0
    }};
}
