use core::fmt;

use super::{ArtefactError, Family, Stages};
use crate::checksum::CRC;
use crate::contract::{Contract, LABELS, Section, Sections};
use crate::number::NumberFormat;
use crate::profile::Profile;

/// The format version that this code writes, and the newest that it reads.
pub const VERSION: u16 = 4;

/// The oldest format version that this code reads: neither codebooks, front ends nor a contract.
pub(super) const OLDEST_VERSION: u16 = 2;

/// The first format version with codebooks and front ends.
const BESIDE_VERSION: u16 = 3;

/// The first format version whose labels are followed by a contract, all of them in sections.
const SECTIONS_VERSION: u16 = 4;

/// Bytes before the classifier.
pub const HEADER_LENGTH: usize = 56;

const MAGIC: [u8; 8] = *b"FISHWEIR";
const SHAPE_AT: usize = 10;
const TOPOLOGY_AT: usize = 22;
const PROFILE_AT: usize = 32;
const CHECKSUM_AT: usize = PROFILE_AT + Profile::LENGTH;

/// Bit that is added to a topology: there are codebooks.
const CODEBOOKS: u8 = 0x80;
/// Bit in the byte of codebooks: models have a direction for each output.
const DIRECTIONS: u8 = 0x40;
/// Bit that is added to a topology: there is a front end.
const FRONT: u8 = 0x20;
/// Bits in the byte of codebooks: number of levels of each code vector.
const LEVELS: u8 = 0x1c;

// What comes after the header is read in place, so that it must be aligned as a real is.
const _: () = assert!(HEADER_LENGTH == CHECKSUM_AT + 4 && HEADER_LENGTH.is_multiple_of(8));

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
    fn from_bytes(bytes: [u8; Self::LENGTH], version: u16, front: Stages) -> Option<Self> {
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
    const fn is_encodable(&self) -> bool {
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

/// An artefact's header, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Header {
    shape: Shape,
    profile: Profile,
    /// Length of the classifier, without the front end's number.
    classifier_length: usize,
    payload_length: usize,
    /// Length in bytes of the sections, or of the labels in versions without sections.
    rest_length: usize,
    has_sections: bool,
}

impl Header {
    /// Reads and checks the header of an artefact and its checksum: `bytes` is the whole of it.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, ArtefactError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(ArtefactError::NotAnArtefact)?;
        // The version first: headers of others have other lengths.
        let version = match rest.first_chunk().map(|&version| u16::from_le_bytes(version)) {
            Some(version @ OLDEST_VERSION..=VERSION) => version,
            Some(version) => return Err(ArtefactError::UnknownVersion(version)),
            None => return Err(ArtefactError::Truncated),
        };
        let header: &[u8; HEADER_LENGTH] = bytes.first_chunk().ok_or(ArtefactError::Truncated)?;
        let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
        let (payload_length, rest_length) = (u32_at(24) as usize, u32_at(28) as usize);
        let length = HEADER_LENGTH
            .checked_add(payload_length)
            .and_then(|length| length.checked_add(rest_length))
            .ok_or(ArtefactError::BadHeader)?;
        if bytes.len() < length {
            return Err(ArtefactError::Truncated);
        }
        if bytes.len() > length {
            return Err(ArtefactError::TrailingBytes);
        }
        if u32_at(CHECKSUM_AT) != checksum(&header[..CHECKSUM_AT], &[&bytes[HEADER_LENGTH..]]) {
            return Err(ArtefactError::Checksum);
        }
        let (mut front, mut classifier_length) = (Stages::NONE, payload_length);
        if version >= BESIDE_VERSION && header[TOPOLOGY_AT] & FRONT > 0 {
            let payload = bytes.get(HEADER_LENGTH..length - rest_length).unwrap_or(&[]);
            let (rest, code) = payload.split_last_chunk().ok_or(ArtefactError::BadHeader)?;
            (front, classifier_length) = (Stages::from_code(u32::from_le_bytes(*code)), rest.len());
            if front.is_none() {
                return Err(ArtefactError::BadHeader);
            }
        }
        let shape = header[SHAPE_AT..].first_chunk().copied();
        let shape = shape
            .and_then(|shape| Shape::from_bytes(shape, version, front))
            .ok_or(ArtefactError::BadHeader)?;
        let profile = header[PROFILE_AT..]
            .first_chunk()
            .and_then(|&bytes| Profile::from_bytes(bytes))
            .ok_or(ArtefactError::BadHeader)?;
        if shape.format() != Some(profile.format) {
            return Err(ArtefactError::BadHeader);
        }
        let has_sections = version >= SECTIONS_VERSION;
        let header =
            Self { shape, profile, classifier_length, payload_length, rest_length, has_sections };
        header.contract(bytes)?;
        Ok(header)
    }

    /// The bytes of a header for a classifier of `shape` with these bytes and [sections](Sections), labels among them.
    /// Behind a front end its [number](Stages::code) ends the bytes.
    ///
    /// `None` where a part is longer than four bytes can say, where reals are of a size that has no
    /// format, beside codebooks where there are more than 255 states, more than 7 levels or no dilation, or behind a front
    /// end without its number.
    pub fn encode(shape: Shape, payload: &[u8], sections: &[u8]) -> Option<[u8; HEADER_LENGTH]> {
        let behind = !shape.front.is_none();
        if !shape.is_encodable() || behind && !payload.ends_with(&shape.front.code().to_le_bytes())
        {
            return None;
        }
        let mut header = [0; HEADER_LENGTH];
        let mut put = |at: usize, bytes: &[u8]| {
            for (to, from) in header.iter_mut().skip(at).zip(bytes) {
                *to = *from;
            }
        };
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(SHAPE_AT, &shape.to_bytes());
        put(24, &u32::try_from(payload.len()).ok()?.to_le_bytes());
        put(28, &u32::try_from(sections.len()).ok()?.to_le_bytes());
        put(PROFILE_AT, &Profile::of(shape.format()?).to_bytes());
        let checksum = checksum(&header[..CHECKSUM_AT], &[payload, sections]);
        header[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Some(header)
    }

    /// The shape of the classifier.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the profile of the machine that wrote the artefact.
    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// The bytes of the front end, the classifier, its codebooks and its confidence within the artefact's: those before
    /// the labels, without the front end's number.
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(HEADER_LENGTH..)?.get(..self.classifier_length)
    }

    /// Returns the contract of the training data; `None` for versions without contracts.
    ///
    /// # Errors
    /// [`ArtefactError::Contract`] naming the section at fault.
    pub fn contract<'a>(&self, bytes: &'a [u8]) -> Result<Option<Contract<'a>>, ArtefactError> {
        if !self.has_sections {
            return Ok(None);
        }
        Contract::read(self.rest(bytes)?).map(Some).map_err(ArtefactError::Contract)
    }

    /// The class labels, in the order of the classes.
    ///
    /// # Errors
    /// [`ArtefactError::Labels`] where they are not UTF-8.
    pub fn labels<'a>(
        &self,
        bytes: &'a [u8],
    ) -> Result<impl Iterator<Item = &'a str> + use<'a>, ArtefactError> {
        let mut labels = self.rest(bytes)?;
        if self.has_sections {
            let of_labels = |section: &Section<'_>| section.tag == LABELS;
            let found = Sections::new(labels).filter_map(Result::ok).find(of_labels);
            labels = found.ok_or(ArtefactError::Labels)?.content;
        }
        let labels = core::str::from_utf8(labels).map_err(|_| ArtefactError::Labels)?;
        // One of several letters: the search for a single one slices, and the compiler cannot prove its
        // bounds.
        Ok(labels.split_terminator(['\n']))
    }

    /// Returns the bytes after the payload.
    fn rest<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], ArtefactError> {
        let rest = bytes.get(HEADER_LENGTH + self.payload_length..);
        rest.and_then(|rest| rest.get(..self.rest_length)).ok_or(ArtefactError::Truncated)
    }
}

/// Checksum over the header up to its checksum, and the bytes after it.
fn checksum(header: &[u8], rest: &[&[u8]]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(header);
    rest.iter().for_each(|part| digest.update(part));
    digest.finalize()
}
