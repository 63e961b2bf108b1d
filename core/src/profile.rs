//! Profile: the parts of a program, beyond model and samples, on which the bits of a result depend.

use core::fmt;

use crate::number::NumberFormat;

/// A version `[major, minor, patch]`, as the manifest of a crate has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Version(pub [u16; 3]);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Profile of the arithmetic.
///
/// Two machines with equal profiles compute the same bits from the same model and samples; a bitwise comparison between different
/// profiles means nothing.
///
/// An [artefact](crate::artefact) carries the profile of the machine that wrote it, and a device that of its image
/// ([`Info`](crate::wire::Info)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Profile {
    /// Version of this crate: the order of operations.
    pub core: Version,
    /// Version of the crate `libm`: exponential, logarithm and square root.
    pub libm: Version,
    /// Version of the crate `micromath`, which replaces exponential and logarithm of `f32` if the feature `micromath` is on;
    /// `None` if it is off.
    pub micromath: Option<Version>,
    /// Format of the numbers that a model stores.
    pub format: NumberFormat,
}

/// The version of `libm` that `Cargo.toml` pins.
const LIBM: Version = Version([0, 2, 16]);
/// The version of `micromath` that `Cargo.toml` pins.
const MICROMATH: Version = Version([2, 1, 0]);

impl Profile {
    /// Bytes that a profile takes in an artefact and on the wire.
    pub const LENGTH: usize = 20;

    /// The profile of this build, for models in a format.
    #[must_use]
    pub const fn of(format: NumberFormat) -> Self {
        let core = Version([
            number(env!("CARGO_PKG_VERSION_MAJOR")),
            number(env!("CARGO_PKG_VERSION_MINOR")),
            number(env!("CARGO_PKG_VERSION_PATCH")),
        ]);
        let micromath = if cfg!(feature = "micromath") { Some(MICROMATH) } else { None };
        Self { core, libm: LIBM, micromath, format }
    }

    /// Returns the profile as bytes.
    ///
    /// The versions of core, libm and micromath, three `u16` each, little-endian, those of micromath zero if it is off; the code
    /// of the format; zero.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let micromath = self.micromath.unwrap_or(Version([0; 3]));
        let versions = [self.core, self.libm, micromath];
        let parts = versions.iter().flat_map(|version| version.0);
        for (to, from) in bytes.iter_mut().zip(parts.flat_map(u16::to_le_bytes)) {
            *to = from;
        }
        bytes[18] = self.format as u8;
        bytes
    }

    /// Reads a profile from bytes; `None` if they are not one.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Option<Self> {
        let (mut versions, (pairs, rest)) = ([Version([0; 3]); 3], bytes.as_chunks());
        let parts = versions.iter_mut().flat_map(|version| &mut version.0);
        for (part, &pair) in parts.zip(pairs) {
            *part = u16::from_le_bytes(pair);
        }
        let ([core, libm, micromath], []) = (versions, rest) else { return None };
        let micromath = (micromath != Version([0; 3])).then_some(micromath);
        let [.., format, zero] = bytes;
        let format = NumberFormat::from_byte(format)?;
        (zero == 0).then_some(Self { core, libm, micromath, format })
    }
}

/// A decimal number of digits alone, at compile time.
const fn number(digits: &str) -> u16 {
    let digits = digits.as_bytes();
    let (mut at, mut number) = (0, 0);
    while at < digits.len() {
        number = 10 * number + (digits[at] - b'0') as u16;
        at += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::{String, ToString};
    use std::{format, fs};

    use super::*;

    /// Returns the version of a package in a lock file; `None` if the package is not in it.
    fn locked(lock: &str, package: &str) -> Option<String> {
        let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
        Some(rest.split_once('"')?.0.to_string())
    }

    #[test]
    fn versions_are_those_that_are_linked() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let profile = Profile::of(NumberFormat::F32);
        assert_eq!(profile.core.to_string(), env!("CARGO_PKG_VERSION"));
        for file in ["Cargo.lock", "firmware/Cargo.lock"] {
            let lock = fs::read_to_string(format!("{root}/{file}")).expect("a lock file");
            assert_eq!(locked(&lock, "libm"), Some(profile.libm.to_string()), "{file}");
            assert_eq!(locked(&lock, "fishweir-core"), Some(profile.core.to_string()), "{file}");
            let micromath = locked(&lock, "micromath");
            assert!(micromath.is_none_or(|found| found == MICROMATH.to_string()), "{file}");
        }
        let lock = fs::read_to_string(format!("{root}/Cargo.lock")).expect("a lock file");
        assert_eq!(locked(&lock, "micromath"), Some(MICROMATH.to_string()));
    }

    #[test]
    fn versions_are_pinned_for_whoever_depends_on_this_crate() {
        let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let manifest = manifest.expect("a manifest");
        for (package, version) in [("libm", LIBM), ("micromath", MICROMATH)] {
            let pinned = format!("{package} = {{ version = \"={version}\"");
            assert!(manifest.contains(&pinned), "{pinned}");
        }
    }

    #[test]
    fn bytes_read_back_as_the_profile_or_as_none() {
        for format in [NumberFormat::F32, NumberFormat::F64, NumberFormat::Q15] {
            for micromath in [None, Some(Version([2, 1, 300]))] {
                let profile = Profile { micromath, ..Profile::of(format) };
                let bytes = profile.to_bytes();
                assert_eq!(Profile::from_bytes(bytes), Some(profile));
                for (at, value) in [(18, 0), (18, 9), (19, 1)] {
                    let mut other = bytes;
                    other[at] = value;
                    assert_eq!(Profile::from_bytes(other), None);
                }
            }
        }
    }
}
