//! The binary artefact: a classifier as a versioned, checksummed file that is read in place.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `FISHWEIR` |
//! | 8 | 2 | format version, [`VERSION`] |
//! | 10 | 1 | bytes a real: 4 or 8 |
//! | 11 | 1 | emission family, [`Family`] |
//! | 12 | 2 | states `N` |
//! | 14 | 2 | alphabet size `K`, or channels `D` |
//! | 16 | 2 | models `M` |
//! | 18 | 2 | outputs `O` |
//! | 20 | 2 | directions `C`: 0 or `O` |
//! | 22 | 2 | zero |
//! | 24 | 4 | bytes of the classifier |
//! | 28 | 4 | bytes of the labels |
//! | 32 | 4 | zero |
//! | 36 | 4 | CRC-32 (ISO-HDLC) of bytes 0..36 and of all after 40 |
//! | 40 | | the classifier: the memory of a [`StreamClassifier`] of that shape |
//! | | | class labels, UTF-8, one a line |
//!
//! All little-endian. The classifier's bytes are its fields in order, arrays in index order, so that
//! a little-endian target uses them where they lie in flash: no copy, no parsing, no RAM.

mod error;
mod header;

pub use error::ArtefactError;
pub use header::{Family, HEADER_LENGTH, Header, Shape, VERSION};

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::classify::StreamClassifier;
use crate::emission::{Categorical, Emission, Gaussian};
use crate::hmm::RealOf;
use crate::number::{Parameter, Tangent, Weight};

/// An emission family that an artefact can hold.
pub trait Stored: Emission + FromBytes + Immutable + KnownLayout {
    /// Its code.
    const FAMILY: Family;
    /// Its alphabet's size or its number of channels.
    const SIZE: usize;
}

impl<const K: usize, W: Weight + FromBytes + Immutable> Stored for Categorical<K, W> {
    const FAMILY: Family = Family::CATEGORICAL;
    const SIZE: usize = K;
}

impl<const D: usize, W> Stored for Gaussian<D, W>
where
    W: Weight<Real: FromBytes + Immutable, Tangent: FromBytes + Immutable> + FromBytes + Immutable,
{
    const FAMILY: Family = Family::GAUSSIAN;
    const SIZE: usize = D;
}

/// The shape of a classifier's type, as an artefact's header states it.
pub const fn shape_of<E: Stored, const N: usize, const M: usize, const O: usize>() -> Shape {
    Shape {
        real_bytes: size_of::<RealOf<E>>() as u8,
        family: E::FAMILY,
        states: N as u16,
        size: E::SIZE as u16,
        models: M as u16,
        outputs: O as u16,
        directions: <<E::Weight as Parameter>::Tangent as Tangent<RealOf<E>>>::DIRECTIONS as u16,
    }
}

/// A classifier where it lies in `bytes`, checked: header, checksum, shape, and every number.
///
/// Cost: one pass over the bytes; no RAM.
///
/// # Errors
/// What is wrong with the bytes, or how their shape differs from the type asked for.
pub fn read<E: Stored, const N: usize, const M: usize, const O: usize>(
    bytes: &[u8],
) -> Result<&StreamClassifier<E, N, M, O>, ArtefactError>
where
    E::Weight: FromBytes + Immutable,
    RealOf<E>: FromBytes + Immutable,
    StreamClassifier<E, N, M, O>: FromBytes + Immutable + KnownLayout,
{
    if cfg!(target_endian = "big") {
        return Err(ArtefactError::BigEndianTarget);
    }
    let header = Header::parse(bytes)?;
    let wanted = shape_of::<E, N, M, O>();
    if header.shape() != wanted {
        return Err(ArtefactError::OtherShape { found: header.shape(), wanted });
    }
    let payload = header.payload(bytes).ok_or(ArtefactError::Truncated)?;
    if payload.len() != size_of::<StreamClassifier<E, N, M, O>>() {
        return Err(ArtefactError::OtherSize);
    }
    let classifier = StreamClassifier::<E, N, M, O>::ref_from_bytes(payload)
        .map_err(|_| ArtefactError::Misaligned)?;
    classifier.validate().map_err(ArtefactError::Model)?;
    Ok(classifier)
}
