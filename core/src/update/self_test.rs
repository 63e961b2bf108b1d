use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Samples of one stream from its start, each with the decision that the host computed after it.
///
/// Bytes: how many samples and how long one is, two little-endian `u16`; then for each the sample as it lies on
/// the [wire](crate::wire), the class and the bits of the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SelfTest<'a> {
    sample_length: usize,
    entries: &'a [u8],
}

/// Expected decision after a sample.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Verdict {
    class: [u8; 2],
    margin: [u8; 4],
}

const HEAD: usize = 4;

/// One sample of a self-test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Entry<'a> {
    /// The sample, as on the wire.
    pub sample: &'a [u8],
    /// The class decided for after it.
    pub class: u16,
    /// The bits of the margin.
    pub margin_bits: u32,
}

impl<'a> SelfTest<'a> {
    /// Reads a self-test from bytes; `None` if they are invalid or hold no sample.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, entries) = bytes.split_first_chunk::<HEAD>()?;
        let [a, b, c, d] = *head;
        let count = usize::from(u16::from_le_bytes([a, b]));
        let sample_length = usize::from(u16::from_le_bytes([c, d]));
        let length = sample_length.checked_add(size_of::<Verdict>())?.checked_mul(count)?;
        let sound = count > 0 && sample_length > 0 && entries.len() == length;
        sound.then_some(Self { sample_length, entries })
    }

    /// The bytes before the entries, of `count` samples of `sample_length` bytes.
    #[must_use]
    pub fn head(count: u16, sample_length: u16) -> [u8; HEAD] {
        let ([a, b], [c, d]) = (count.to_le_bytes(), sample_length.to_le_bytes());
        [a, b, c, d]
    }

    /// Bytes of a sample.
    #[must_use]
    pub const fn sample_length(&self) -> usize {
        self.sample_length
    }

    /// The samples in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        let (length, mut rest) = (self.sample_length, self.entries);
        core::iter::from_fn(move || {
            let (sample, after) = rest.split_at_checked(length)?;
            let (verdict, after) = Verdict::read_from_prefix(after).ok()?;
            rest = after;
            Some(Entry {
                sample,
                class: u16::from_le_bytes(verdict.class),
                margin_bits: u32::from_le_bytes(verdict.margin),
            })
        })
    }
}

impl Entry<'_> {
    /// Returns the bytes that follow the sample.
    #[must_use]
    pub fn verdict(&self) -> [u8; 6] {
        let ([a, b], [c, d, e, f]) = (self.class.to_le_bytes(), self.margin_bits.to_le_bytes());
        [a, b, c, d, e, f]
    }
}
