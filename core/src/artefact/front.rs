//! Front ends in an artefact: the memory of their stages, and a number that identifies these.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::checksum::CRC;
#[cfg(feature = "microfft")]
use crate::front::Cepstra;
use crate::front::{Decimate, Front, Magnitude, Pipe, Slopes, VectorQuantiser};
use crate::number::Real;

/// Identifier of a front end: the kinds and sizes of its stages in one number.
///
/// The number of a stage is the CRC-32 (ISO-HDLC) of its four-letter name and three sizes of four bytes each, little-endian. That
/// of two stages in sequence is the CRC-32 of `then`, both numbers and 0. 0 stands for no stage; a checksum that happens to be 0
/// becomes 1.
///
/// It distinguishes types, not settings: those are in the memory of the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Stages(u32);

impl Stages {
    /// No stage: models see samples as they are.
    pub const NONE: Self = Self(0);

    /// [`Decimate`] over `channels` channels.
    #[must_use]
    pub const fn decimate(channels: u32) -> Self {
        Self::of(*b"mean", [channels, 0, 0])
    }

    /// [`Magnitude`] over `channels` channels, with rows of `left` numbers.
    #[must_use]
    pub const fn magnitude(channels: u32, left: u32) -> Self {
        Self::of(*b"norm", [channels, left, 0])
    }

    /// [`Slopes`] of `channels` channels over `samples` samples.
    #[must_use]
    pub const fn slopes(channels: u32, samples: u32) -> Self {
        Self::of(*b"rise", [channels, samples, 0])
    }

    /// [`Cepstra`](crate::front) of frames of `window` samples, with `bands` bands and `cepstra` cepstra.
    #[must_use]
    pub const fn cepstra(window: u32, bands: u32, cepstra: u32) -> Self {
        Self::of(*b"ceps", [window, bands, cepstra])
    }

    /// [`VectorQuantiser`] over `channels` channels, with `words` code words.
    #[must_use]
    pub const fn symbols(channels: u32, words: u32) -> Self {
        Self::of(*b"word", [channels, words, 0])
    }

    /// Returns these stages, followed by others.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        if self.is_none() { next } else { Self::of(*b"then", [self.0, next.0, 0]) }
    }

    const fn of([a, b, c, d]: [u8; 4], [first, second, third]: [u32; 3]) -> Self {
        let [e, f, g, h] = first.to_le_bytes();
        let [i, j, k, l] = second.to_le_bytes();
        let [m, n, o, p] = third.to_le_bytes();
        let sum = CRC.checksum(&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]);
        Self(if sum == 0 { 1 } else { sum })
    }

    /// Returns whether there is no stage.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The stages of a number.
    pub(super) const fn from_code(code: u32) -> Self {
        Self(code)
    }
}

/// A front end that an artefact can hold.
pub trait StoredFront<Row>: Front<Row> + FromBytes + Immutable + KnownLayout {
    /// Identifier of the stages.
    const STAGES: Stages;
    /// Numbers in a row, or how many symbols there are.
    const WIDTH: usize;
}

impl<const D: usize, T: Real> StoredFront<[T; D]> for Decimate<D, T>
where
    Self: FromBytes + Immutable + KnownLayout,
{
    const STAGES: Stages = Stages::decimate(D as u32);
    const WIDTH: usize = D;
}

impl<const D: usize, const E: usize, T: Real> StoredFront<[T; E]> for Magnitude<D, E, T>
where
    Self: FromBytes + Immutable + KnownLayout,
{
    const STAGES: Stages = {
        let () = Self::SIZES;
        Stages::magnitude(D as u32, E as u32)
    };
    const WIDTH: usize = E;
}

impl<const D: usize, const E: usize, const K: usize, T: Real> StoredFront<[T; E]>
    for Slopes<D, K, T>
where
    Self: FromBytes + Immutable + KnownLayout,
{
    const STAGES: Stages = {
        Self::assert_row::<E>();
        Stages::slopes(D as u32, K as u32 + 1)
    };
    const WIDTH: usize = E;
}

impl<const D: usize, const K: usize, T: Real> StoredFront<usize> for VectorQuantiser<D, K, T>
where
    Self: FromBytes + Immutable + KnownLayout,
{
    const STAGES: Stages = {
        let () = Self::SIZES;
        Stages::symbols(D as u32, K as u32)
    };
    const WIDTH: usize = K;
}

#[cfg(feature = "microfft")]
impl<const BINS: usize, const B: usize, const C: usize, const E: usize> StoredFront<[f32; E]>
    for Cepstra<BINS, B, C>
{
    const STAGES: Stages = {
        Self::assert_row::<E>();
        Stages::cepstra(2 * BINS as u32, B as u32, C as u32)
    };
    const WIDTH: usize = E;
}

impl<Row, A: StoredFront<B::Sample>, B: StoredFront<Row>> StoredFront<Row> for Pipe<A, B>
where
    Self: FromBytes + Immutable + KnownLayout,
{
    const STAGES: Stages = A::STAGES.then(B::STAGES);
    const WIDTH: usize = B::WIDTH;
}
