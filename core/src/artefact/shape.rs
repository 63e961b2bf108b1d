use core::fmt;

use super::{Family, Stages};
use crate::number::NumberFormat;

/// The format version that this code writes, and the newest that it reads.
pub const VERSION: u16 = 4;

/// The oldest format version that this code reads: neither codebooks, front ends nor a contract.
pub(super) const OLDEST_VERSION: u16 = 2;

/// The first format version with codebooks and front ends.
pub(super) const BESIDE_VERSION: u16 = 3;

/// The first format version whose labels are followed by a contract, all of them in sections.
pub(super) const SECTIONS_VERSION: u16 = 4;

/// Bit that is added to a topology: there are codebooks.
const CODEBOOKS: u8 = 0x80;
/// Bit in the byte of codebooks: models have a direction for each output.
const DIRECTIONS: u8 = 0x40;
/// Bit that is added to a topology: there is a front end.
pub(super) const FRONT: u8 = 0x20;
/// Bits in the byte of codebooks: number of levels of each code vector.
const LEVELS: u8 = 0x1c;

/// Transitions between the states of an artefact's models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Topology(u8);

impl Topology {
    /// Hidden states of a chain: [`Hmm`](crate::hmm::Hmm).
    pub const CHAIN: Self = Self(0);
    /// One a position, and so known: a [`ContextModel`](crate::context::ContextModel) whose rule is
    /// [`Steps`](crate::context::Steps).
    pub const STEPS: Self = Self(1);
    /// Positions of a family, some of them silent: a [`ProfileHmm`](crate::profile_hmm::ProfileHmm).
    pub const PROFILE: Self = Self(2);
    /// Hidden states of a chain, where each model reads the channels and their differences at one lag, no two the same:
    /// [`ChannelSubset`](crate::classify::ChannelSubset). The columns that it hears lie after each model.
    pub const PER_LAG: Self = Self(3);

    const fn is_known(self) -> bool {
        matches!(self, Self::CHAIN | Self::STEPS | Self::PROFILE | Self::PER_LAG)
    }
}

/// Type of a classifier: sizes, family and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shape {
    /// Bytes per real: 4 for `f32`, 8 for `f64`.
    pub real_bytes: u8,
    /// Emission family.
    pub family: Family,
    /// Transitions between the states.
    pub topology: Topology,
    /// States `N`.
    pub states: u16,
    /// Alphabet size `K` or channels `D`: those that models see, differences among them.
    pub size: u16,
    /// Lags `L` at which the sensor's channels, or differences from them, are among them: `D / (1 + L)` are its own.
    pub lags: u8,
    /// Models `M`.
    pub models: u16,
    /// Outputs `O`.
    pub outputs: u16,
    /// Directions `C`.
    pub directions: u16,
    /// Number of codebooks `G`; 0 for none.
    pub codebooks: u16,
    /// Largest dilation of the codebooks, which look back eight times as many samples; 0 without codebooks.
    pub dilation: u8,
    /// Levels `Q` of each of their code vectors: 0 to 7.
    pub levels: u8,
    /// Front end that makes the rows or symbols of the models. An update's header says only whether there is
    /// one.
    pub front: Stages,
    /// `true` if channels of a sample may be missing.
    pub in_part: bool,
}

/// The bit of the family's code which says that channels may be missing: a reader that does not know it knows no such
/// family.
const IN_PART: u8 = 0x80;

impl Shape {
    /// Bytes that a shape takes in a header.
    pub const LENGTH: usize = 14;

    /// Levels at most of each code vector.
    pub const LEVELS_MAX: u8 = LEVELS >> LEVELS.trailing_zeros();

    /// Returns the bytes of the shape, as at offset 10 of the header of an artefact and of an [update](crate::update).
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let [mut states, mut last] = [self.states, self.directions].map(u16::to_le_bytes);
        let mut topology = self.topology.0 | if self.front.is_none() { 0 } else { FRONT };
        if self.codebooks > 0 {
            states[1] = self.dilation;
            last = self.codebooks.to_le_bytes();
            topology |= if self.directions > 0 { CODEBOOKS | DIRECTIONS } else { CODEBOOKS };
            topology |= self.levels << LEVELS.trailing_zeros() & LEVELS;
        }
        let [size, models, outputs] = [self.size, self.models, self.outputs].map(u16::to_le_bytes);
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = self.real_bytes;
        bytes[1] = self.family as u8 | if self.in_part { IN_PART } else { 0 };
        let (pairs, _) = bytes[2..].as_chunks_mut();
        for (to, pair) in pairs.iter_mut().zip([states, size, models, outputs, last]) {
            *to = pair;
        }
        bytes[12] = topology;
        bytes[13] = self.lags;
        bytes
    }

    /// Decodes the shape from bytes of a version, for a front end; `None` if they are invalid.
    pub(super) fn from_bytes(
        bytes: [u8; Self::LENGTH],
        version: u16,
        front: Stages,
    ) -> Option<Self> {
        let [real_bytes, family, rest @ .., topology, lags] = bytes;
        let [[states, of_states], size, models, outputs, last] = *rest.as_chunks::<2>().0 else {
            return None;
        };
        let [size, models, outputs, last] = [size, models, outputs, last].map(u16::from_le_bytes);
        // Whatever an older version has there is a topology, and none that is known.
        let beside = if version >= BESIDE_VERSION { CODEBOOKS | DIRECTIONS | FRONT } else { 0 };
        let (topology, beside) = (topology & !beside, topology & beside);
        let with_codebooks = beside & CODEBOOKS > 0;
        let of_levels = if with_codebooks { topology & LEVELS } else { 0 };
        let topology = topology & !of_levels;
        let mut shape = Self {
            real_bytes,
            family: Family::from_code(family & !IN_PART)?,
            topology: Topology(topology),
            states: u16::from_le_bytes([states, of_states]),
            size,
            lags,
            models,
            outputs,
            directions: last,
            codebooks: 0,
            dilation: 0,
            levels: 0,
            front,
            in_part: family & IN_PART > 0,
        };
        if with_codebooks {
            shape = Self {
                states: states.into(),
                directions: if beside & DIRECTIONS > 0 { outputs } else { 0 },
                codebooks: last,
                dilation: of_states,
                levels: of_levels >> LEVELS.trailing_zeros(),
                ..shape
            };
        }
        let known = ![shape.states, size, models, outputs].contains(&0)
            && (shape.directions == 0 || shape.directions == outputs)
            && size.is_multiple_of(1 + u16::from(lags))
            && match shape.family {
                Family::Gaussian => true,
                family => (lags > 0) == family.has_past(),
            }
            && shape.topology.is_known()
            && !(shape.in_part && shape.family == Family::Categorical)
            && (version != BESIDE_VERSION || ![0, DIRECTIONS].contains(&beside))
            && (if with_codebooks { last > 0 && of_states > 0 } else { beside & DIRECTIONS == 0 });
        known.then_some(shape)
    }

    /// Returns whether a header can encode the shape.
    ///
    /// With codebooks, states are counted in a byte, levels in three bits, and the dilation is not zero; without codebooks there
    /// are no levels.
    pub(super) const fn is_encodable(&self) -> bool {
        match self.codebooks {
            0 => self.levels == 0,
            _ => {
                self.states <= u8::MAX as u16
                    && self.dilation > 0
                    && self.levels <= Self::LEVELS_MAX
            }
        }
    }

    /// Classes that its outputs decide between.
    #[must_use]
    pub const fn classes(&self) -> usize {
        match self.outputs {
            1 => 2,
            outputs => outputs as usize,
        }
    }

    /// Returns the format of the numbers; `None` for an unknown size.
    pub(crate) const fn format(&self) -> Option<NumberFormat> {
        match self.real_bytes {
            4 => Some(NumberFormat::F32),
            8 => Some(NumberFormat::F64),
            _ => None,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (family, unit) = (self.family.name(), self.family.unit());
        let states = match self.topology {
            Topology::CHAIN | Topology::PER_LAG => "states",
            _ => "positions",
        };
        write!(
            f,
            "{} {family} models of {} {states} and {} {unit}, {} lags, {} outputs, {} directions, \
             {}-byte reals",
            self.models,
            self.states,
            self.size,
            self.lags,
            self.outputs,
            self.directions,
            self.real_bytes
        )?;
        if self.codebooks > 0 {
            write!(f, ", {} codebooks of dilations up to {}", self.codebooks, self.dilation)?;
        }
        if self.levels > 0 {
            write!(f, " with {} levels", self.levels)?;
        }
        if self.in_part {
            f.write_str(", of channels that may be missing")?;
        }
        if !self.front.is_none() {
            write!(f, ", behind the front end {:08x}", self.front.code())?;
        }
        Ok(())
    }
}
