use super::TeachError;

/// Bytes of the longest name.
pub const NAME_LONGEST: usize = 16;

/// Name of a taught class: 1 to 16 bytes of UTF-8 without control characters, filled up with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ClassName([u8; NAME_LONGEST]);

impl ClassName {
    /// Name of a free place.
    pub(super) const BLANK: Self = Self([0; NAME_LONGEST]);

    /// Creates a name.
    ///
    /// # Errors
    /// [`TeachError::Name`] where it is empty, too long, or has a control character.
    pub fn new(name: &str) -> Result<Self, TeachError> {
        let mut bytes = [0; NAME_LONGEST];
        let room = bytes.get_mut(..name.len()).ok_or(TeachError::Name)?;
        if room.is_empty() {
            return Err(TeachError::Name);
        }
        room.copy_from_slice(name.as_bytes());
        Self::from_bytes(bytes)
    }

    /// Reads a name from the bytes of a record.
    ///
    /// # Errors
    /// [`TeachError::Name`].
    pub fn from_bytes(bytes: [u8; NAME_LONGEST]) -> Result<Self, TeachError> {
        let made = Self(bytes);
        let text = made.text().ok_or(TeachError::Name)?;
        for &byte in text.as_bytes() {
            if byte < b' ' || byte == 0x7F {
                return Err(TeachError::Name);
            }
        }
        let filled = bytes.get(text.len()..).unwrap_or(&[]);
        let blank = filled.iter().all(|&byte| byte == 0);
        if text.is_empty() || !blank { Err(TeachError::Name) } else { Ok(made) }
    }

    /// The bytes, zeros after the name.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; NAME_LONGEST] {
        &self.0
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text().unwrap_or("")
    }

    fn text(&self) -> Option<&str> {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(NAME_LONGEST);
        core::str::from_utf8(self.0.get(..length)?).ok()
    }
}
