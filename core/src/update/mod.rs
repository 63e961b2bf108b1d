//! An update for the field: an artefact, its version, and a self-test, in one checksummed container.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `WEIRUPDT` |
//! | 8 | 2 | format version, [`VERSION`] |
//! | 10 | 14 | the artefact's [`Shape`], as there |
//! | 24 | 4 | version of the model: 1, 2, ..., and newer is greater |
//! | 28 | 4 | bytes of the artefact |
//! | 32 | 20 | the artefact's [`Profile`], as there |
//! | 52 | 4 | bytes of the self-test |
//! | 56 | 4 | bytes of the signature: 0, or 64 of Ed25519 |
//! | 60 | 4 | CRC-32 (ISO-HDLC) of bytes 0..60, the artefact and the self-test |
//! | 64 | | the [artefact](crate::artefact) |
//! | | | the [`SelfTest`] |
//! | | | the signature of all before it |
//!
//! All little-endian. Where the container lies at a multiple of eight bytes so does the artefact, and it is read
//! in place. The header alone says whether the rest is worth receiving, but for one thing: of front ends it says that
//! there is one, and which stages it has shows when all is there. The checksum finds damage, not malice:
//! whoever can send an update can write one, unless a signature is asked for, as the image `field` does by default.

mod error;
mod self_test;

pub use error::UpdateError;
pub use self_test::{Entry, SelfTest};

use crate::artefact::{ArtefactError, Header, Shape};
use crate::checksum::CRC;
use crate::profile::Profile;

/// The format version that this code writes and reads.
pub const VERSION: u16 = 1;

/// Bytes before the artefact.
pub const HEADER_LENGTH: usize = 64;

/// Bytes of an Ed25519 signature.
pub const SIGNATURE_LENGTH: usize = 64;

const MAGIC: [u8; 8] = *b"WEIRUPDT";
const CHECKSUM_AT: usize = 60;

/// The header of an update, each field sound by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UpdateHeader {
    shape: [u8; Shape::LENGTH],
    version: u32,
    profile: Profile,
    artefact_length: u32,
    self_test_length: u32,
    signature_length: u32,
    checksum: u32,
}

impl UpdateHeader {
    /// Returns whether bytes begin as an update does, complete or not.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Reads a header. Nothing that follows it is looked at.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(bytes: &[u8; HEADER_LENGTH]) -> Result<Self, UpdateError> {
        if !Self::begins(bytes) {
            return Err(UpdateError::NotAnUpdate);
        }
        match u16::from_le_bytes(part(bytes, 8)) {
            VERSION => {}
            other => return Err(UpdateError::UnknownVersion(other)),
        }
        let word = |at| u32::from_le_bytes(part(bytes, at));
        let header = Self {
            shape: part(bytes, 10),
            version: word(24),
            artefact_length: word(28),
            profile: Profile::from_bytes(part(bytes, 32)).ok_or(UpdateError::BadHeader)?,
            self_test_length: word(52),
            signature_length: word(56),
            checksum: word(CHECKSUM_AT),
        };
        let signature = [0, SIGNATURE_LENGTH as u32].contains(&header.signature_length);
        if header.version == 0 || !signature || header.length().is_none() {
            return Err(UpdateError::BadHeader);
        }
        Ok(header)
    }

    /// The bytes of a header around an artefact and a self-test.
    ///
    /// # Errors
    /// If one of them is invalid, or the version is 0.
    pub fn encode(
        version: u32,
        artefact: &[u8],
        self_test: &[u8],
        signed: bool,
    ) -> Result<[u8; HEADER_LENGTH], UpdateError> {
        let inner = Header::parse(artefact).map_err(UpdateError::Artefact)?;
        SelfTest::read(self_test).ok_or(UpdateError::SelfTest)?;
        let length = |length| u32::try_from(length).map_err(|_| UpdateError::BadHeader);
        let signature = if signed { SIGNATURE_LENGTH as u32 } else { 0 };
        let mut bytes = [0; HEADER_LENGTH];
        let mut put = |at: usize, from: &[u8]| {
            bytes.iter_mut().skip(at).zip(from).for_each(|(to, &from)| *to = from);
        };
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(10, &inner.shape().to_bytes());
        put(24, &version.to_le_bytes());
        put(28, &length(artefact.len())?.to_le_bytes());
        put(32, &inner.profile().to_bytes());
        put(52, &length(self_test.len())?.to_le_bytes());
        put(56, &signature.to_le_bytes());
        let checksum = checksum(&bytes, [artefact, self_test]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Self::parse(&bytes)?;
        Ok(bytes)
    }

    /// The version of the model.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Returns whether the header declares an artefact of this shape.
    #[must_use]
    pub fn is_of(&self, shape: Shape) -> bool {
        self.shape == shape.to_bytes()
    }

    /// Profile of the machine that computed the self-test.
    #[must_use]
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// Returns whether a signature follows.
    #[must_use]
    pub const fn is_signed(&self) -> bool {
        self.signature_length > 0
    }

    /// The checksum, by which a transfer is known.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Bytes of the whole update; `None` where they are more than an address can count.
    #[must_use]
    pub fn length(&self) -> Option<usize> {
        HEADER_LENGTH
            .checked_add(self.artefact_length as usize)?
            .checked_add(self.self_test_length as usize)?
            .checked_add(self.signature_length as usize)
            .filter(|&length| u32::try_from(length).is_ok())
    }
}

/// An update, its checksum found right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update<'a> {
    /// Header of the update.
    pub header: UpdateHeader,
    /// The artefact, whose own header agrees with it; for [`artefact::read`](crate::artefact::read).
    pub artefact: &'a [u8],
    /// The self-test.
    pub self_test: SelfTest<'a>,
    /// Bytes that the signature covers.
    pub signed: &'a [u8],
    /// The signature; empty for an unsigned update.
    pub signature: &'a [u8],
}

impl<'a> Update<'a> {
    /// Reads an update: `bytes` is the whole of it. Cost: two passes over the bytes; no RAM.
    ///
    /// # Errors
    /// What is wrong with the bytes. The signature is not looked at.
    pub fn read(bytes: &'a [u8]) -> Result<Self, UpdateError> {
        let (head, rest) = bytes.split_first_chunk().ok_or(UpdateError::Truncated)?;
        let header = UpdateHeader::parse(head)?;
        match header.length() {
            Some(length) if bytes.len() == length => {}
            Some(length) if bytes.len() > length => return Err(UpdateError::TrailingBytes),
            _ => return Err(UpdateError::Truncated),
        }
        let (artefact, rest) = split(rest, header.artefact_length)?;
        let (self_test, signature) = split(rest, header.self_test_length)?;
        if checksum(head, [artefact, self_test]) != header.checksum {
            return Err(UpdateError::Checksum);
        }
        let inner = Header::parse(artefact).map_err(UpdateError::Artefact)?;
        if !header.is_of(inner.shape()) || inner.profile() != header.profile {
            return Err(UpdateError::Artefact(ArtefactError::BadHeader));
        }
        let self_test = SelfTest::read(self_test).ok_or(UpdateError::SelfTest)?;
        let signed = bytes.get(..bytes.len() - signature.len()).unwrap_or_default();
        Ok(Self { header, artefact, self_test, signed, signature })
    }
}

fn split(bytes: &[u8], length: u32) -> Result<(&[u8], &[u8]), UpdateError> {
    bytes.split_at_checked(length as usize).ok_or(UpdateError::Truncated)
}

/// Bytes of a header: `at` and `N` are constants within it.
fn part<const N: usize>(bytes: &[u8; HEADER_LENGTH], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.iter_mut().zip(bytes.iter().skip(at)).for_each(|(to, &from)| *to = from);
    part
}

fn checksum(header: &[u8; HEADER_LENGTH], parts: [&[u8]; 2]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(&header[..CHECKSUM_AT]);
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize()
}

#[cfg(test)]
mod tests;
