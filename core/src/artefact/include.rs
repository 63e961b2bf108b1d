use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::HEADER_LENGTH;
use crate::classify::Calibration;

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

/// An artefact in a program, by its parts: the classifier and its calibration where they lie in flash, in a constant.
/// The package `fishweir-build` writes the type for a model; its build has checked the header and the checksum.
///
/// `PAIRS` is [`calibration_pairs`], and `REST` the bytes after the calibration.
#[derive(Clone, Copy, Debug, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Embedded<M, const PAIRS: usize, const REST: usize> {
    header: [u8; HEADER_LENGTH],
    classifier: M,
    calibration: [[f32; 2]; PAIRS],
    rest: [u8; REST],
}

impl<M, const PAIRS: usize, const REST: usize> Embedded<M, PAIRS, REST> {
    /// The classifier.
    pub const fn classifier(&self) -> &M {
        &self.classifier
    }

    /// The calibration; `None` where the model has none.
    pub const fn calibration(&self) -> Option<Calibration<'_, f32>> {
        match self.calibration.as_slice() {
            [[scale, least_margin], likelihoods @ ..] => {
                Some(Calibration { scale: *scale, least_margin: *least_margin, likelihoods })
            }
            [] => None,
        }
    }
}

/// Returns the pairs of numbers of a calibration after a classifier of `size` bytes, in a payload of `payload` bytes: none,
/// one, or one more than there are classes. For constants: a wrong length fails the build.
///
/// # Panics
/// Where the lengths are not those of an artefact of that classifier.
#[must_use]
pub const fn calibration_pairs(payload: usize, size: usize, classes: usize) -> usize {
    assert!(payload >= size, "the artefact is shorter than its classifier: export it again");
    let rest = payload - size;
    assert!(
        rest.is_multiple_of(8),
        "the artefact's length is not its classifier's: export it again"
    );
    let pairs = rest / 8;
    assert!(
        pairs <= 1 || pairs == 1 + classes,
        "the artefact's calibration is not of its classes: export it again"
    );
    pairs
}

/// Includes a model that `fishweir_build::model` wrote in `build.rs`, as a module of the same name: for
/// `gait.fishweir` the module `gait`, with `gait::stream()`.
///
/// ```ignore
/// fishweir_core::include_model!("gait");
/// ```
///
/// | in the module | what |
/// |---|---|
/// | `stream()` | a [`DecisionStream`](crate::classify::DecisionStream) before its first sample: a constant for models with hidden states; not of kernel machines, detectors and spotters |
/// | `Stream`, `Model` | the types of the stream and of the classifier |
/// | `CLASSES`, `CHANNELS`, `CONTRACT` | names of classes and channels, and the [contract](crate::contract) |
/// | `calibration()` | the [`Calibration`](crate::classify::Calibration), where the model has one |
/// | `prediction()` | the decision of a state with its probability, where the model has a calibration |
/// | `alphabet()` | the letters or words of the symbols, where they are known |
/// | `load()` | the classifier, after checking header, checksum and numbers where they lie in flash |
#[macro_export]
macro_rules! include_model {
    ($name:literal $(,)?) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
