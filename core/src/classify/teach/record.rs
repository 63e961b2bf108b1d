use super::taught::{TaughtClass, TaughtClasses};
use super::{ClassName, NAME_LONGEST, TeachError, TeachingBasis};
use crate::checksum::CRC;

/// Version of the format.
pub(super) const VERSION: u8 = 1;

/// Bytes of a record before its classes.
pub const RECORD_HEAD: usize = 12;

const MAGIC: [u8; 4] = *b"WEIT";
/// Bytes of the checksum.
const TAIL: usize = 4;
/// Bytes of a class before its sums.
const CLASS_HEAD: usize = NAME_LONGEST + 8;

/// Bytes of a class by its numbers of evidence.
const fn class_bytes(numbers: usize) -> usize {
    CLASS_HEAD + 4 * numbers
}

/// A buffer that is filled from its start.
struct Writer<'b> {
    room: &'b mut [u8],
    length: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), TeachError> {
        let end = self.length + bytes.len();
        self.room.get_mut(self.length..end).ok_or(TeachError::NoRoom)?.copy_from_slice(bytes);
        self.length = end;
        Ok(())
    }
}

impl<const MOST: usize, const NUMBERS: usize> TaughtClasses<MOST, NUMBERS> {
    /// Bytes of the longest record.
    pub const RECORD_LONGEST: usize = RECORD_HEAD + MOST * class_bytes(NUMBERS) + TAIL;

    /// Writes the taught classes as a record, and returns its length:
    ///
    /// | offset | bytes | what |
    /// |---|---|---|
    /// | 0 | 4 | `WEIT` |
    /// | 4 | 1 | format version, 1 |
    /// | 5 | 1 | number of classes |
    /// | 6 | 2 | numbers of evidence `E` |
    /// | 8 | 4 | CRC-32 of the [basis](TeachingBasis) that they were taught by |
    /// | 12 | | for each class its name (16 bytes), place (2), windows (2), sum of likelihoods (`f32`), and sums (`E` `f32`) |
    /// | | 4 | CRC-32 (ISO-HDLC) of all before it |
    ///
    /// All little-endian. The record is of the same bytes on device and host.
    ///
    /// # Errors
    /// [`TeachError::NoRoom`] where the buffer is shorter than the record.
    pub fn write(&self, buffer: &mut [u8]) -> Result<usize, TeachError> {
        let mut writer = Writer { room: buffer, length: 0 };
        writer.put(&MAGIC)?;
        writer.put(&[VERSION, self.len() as u8])?;
        writer.put(&(self.numbers as u16).to_le_bytes())?;
        writer.put(&self.basis.to_le_bytes())?;
        for (place, class) in self.classes.iter().enumerate() {
            if class.windows == 0 {
                continue;
            }
            writer.put(class.name.as_bytes())?;
            writer.put(&(place as u16).to_le_bytes())?;
            writer.put(&class.windows.to_le_bytes())?;
            writer.put(&class.likelihood.to_le_bytes())?;
            for sum in class.sums.iter().take(self.numbers) {
                writer.put(&sum.to_le_bytes())?;
            }
        }
        let checksum = CRC.checksum(writer.room.get(..writer.length).unwrap_or(&[]));
        writer.put(&checksum.to_le_bytes())?;
        Ok(writer.length)
    }

    /// Reads taught classes from a record.
    ///
    /// # Errors
    /// [`TeachError::Malformed`], [`TeachError::UnknownVersion`], [`TeachError::Checksum`], [`TeachError::OtherModel`] where they
    /// were taught by another basis, [`TeachError::NoRoom`] where a place is beyond `MOST`, [`TeachError::Name`], and
    /// [`TeachError::Number`] with the index of the class.
    pub fn read(basis: &TeachingBasis<'_>, bytes: &[u8]) -> Result<Self, TeachError> {
        let mut taught = Self::new(basis)?;
        let (body, &checksum) = bytes.split_last_chunk::<TAIL>().ok_or(TeachError::Malformed)?;
        let (head, mut rest) =
            body.split_first_chunk::<RECORD_HEAD>().ok_or(TeachError::Malformed)?;
        let &[a, b, c, d, version, count, low, high, e, f, g, h] = head;
        if [a, b, c, d] != MAGIC {
            return Err(TeachError::Malformed);
        }
        if version != VERSION {
            return Err(TeachError::UnknownVersion(version));
        }
        if CRC.checksum(body) != u32::from_le_bytes(checksum) {
            return Err(TeachError::Checksum);
        }
        let numbers = usize::from(u16::from_le_bytes([low, high]));
        if u32::from_le_bytes([e, f, g, h]) != taught.basis || numbers != taught.numbers {
            return Err(TeachError::OtherModel);
        }
        if rest.len() != usize::from(count) * class_bytes(numbers) {
            return Err(TeachError::Malformed);
        }
        for index in 0..count {
            let (class, after) =
                rest.split_at_checked(class_bytes(numbers)).ok_or(TeachError::Malformed)?;
            rest = after;
            let (place, class) = class_of(class).ok_or(TeachError::Malformed)?;
            let class = class.map_err(|error| match error {
                TeachError::Number(_) => TeachError::Number(index.into()),
                other => other,
            })?;
            if taught.find(&class.name).is_some() {
                return Err(TeachError::Malformed);
            }
            match taught.classes.get_mut(place) {
                Some(free) if free.windows == 0 => *free = class,
                Some(_) => return Err(TeachError::Malformed),
                None => return Err(TeachError::NoRoom),
            }
        }
        Ok(taught)
    }
}

/// A class of a record, and its place; `None` where the bytes are too few.
fn class_of<const NUMBERS: usize>(
    bytes: &[u8],
) -> Option<(usize, Result<TaughtClass<NUMBERS>, TeachError>)> {
    let (&name, rest) = bytes.split_first_chunk::<NAME_LONGEST>()?;
    let (&[a, b, c, d], rest) = rest.split_first_chunk::<4>()?;
    let (&likelihood, rest) = rest.split_first_chunk::<4>()?;
    let place = usize::from(u16::from_le_bytes([a, b]));
    let windows = u16::from_le_bytes([c, d]);
    let likelihood = f32::from_le_bytes(likelihood);
    let mut sums = [0.0; NUMBERS];
    let mut sound = windows > 0 && likelihood.is_finite();
    for (sum, &bytes) in sums.iter_mut().zip(rest.as_chunks::<4>().0) {
        *sum = f32::from_le_bytes(bytes);
        sound &= sum.is_finite();
    }
    let class = ClassName::from_bytes(name).and_then(|name| match sound {
        true => Ok(TaughtClass { name, windows, likelihood, sums }),
        false => Err(TeachError::Number(0)),
    });
    Some((place, class))
}
