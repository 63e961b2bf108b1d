use super::shape::{BESIDE_VERSION, FRONT, OLDEST_VERSION, SECTIONS_VERSION, Shape, VERSION};
use super::{ArtefactError, Stages};
use crate::checksum::CRC;
use crate::classify::teach::{TeachError, TeachingBasis};
use crate::contract::{Contract, LABELS, Section, Sections};
use crate::profile::Profile;

/// Bytes before the classifier.
pub const HEADER_LENGTH: usize = 56;

const MAGIC: [u8; 8] = *b"FISHWEIR";
const SHAPE_AT: usize = 10;
const TOPOLOGY_AT: usize = 22;
const PROFILE_AT: usize = 32;
const CHECKSUM_AT: usize = PROFILE_AT + Profile::LENGTH;

// What comes after the header is read in place, so that it must be aligned as a real is.
const _: () = assert!(HEADER_LENGTH == CHECKSUM_AT + 4 && HEADER_LENGTH.is_multiple_of(8));

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

    /// Returns what classes can be [taught](crate::classify::teach) by; `None` for an artefact without it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn teaching<'a>(&self, bytes: &'a [u8]) -> Option<Result<TeachingBasis<'a>, TeachError>> {
        Some(TeachingBasis::read(self.teaching_bytes(bytes)?))
    }

    /// The bytes of the [basis](TeachingBasis) that classes can be taught by, unchecked.
    #[must_use]
    pub fn teaching_bytes<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        if !self.has_sections {
            return None;
        }
        let mut sections = Sections::new(self.rest(bytes).ok()?).filter_map(Result::ok);
        Some(sections.find(|section| section.tag == TeachingBasis::SECTION)?.content)
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
