use super::TeachError;
use crate::checksum::CRC;
use crate::classify::{AdditiveClassifier, Output};
use crate::number::Real;

/// Version of the format.
const VERSION: u16 = 1;

/// Bytes before the numbers.
const HEAD: usize = 8;

/// The largest absolute value of whitened evidence, `2^48`: squares and sums of these stay finite.
const FARTHEST: f32 = 281_474_976_710_656.0;

/// Space in which windows are compared when a class is taught: a whitening of their evidence, and the known classes' means.
///
/// Lent from flash, as the section `6` of an [artefact](crate::artefact) holds it; numbers are read where they lie, at any
/// alignment:
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 2 | format version, 1 |
/// | 2 | 2 | numbers of evidence `E`: outputs, then models |
/// | 4 | 2 | known classes `C` |
/// | 6 | 2 | zero |
/// | 8 | 4 E | centre, `[number]` |
/// | | 2 E (E + 1) | whitening `L`, `[row][column up to the row]`, with a positive diagonal |
/// | | 4 C E | means of the known classes, whitened, `[class][number]` |
///
/// All little-endian, numbers in `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TeachingBasis<'a> {
    numbers: usize,
    classes: usize,
    reals: &'a [[u8; 4]],
    checksum: u32,
}

impl<'a> TeachingBasis<'a> {
    /// The tag of an artefact's section with a basis: older readers skip it.
    pub const SECTION: u16 = 6;

    /// Reads a basis, and checks every number.
    ///
    /// # Errors
    /// [`TeachError::Malformed`], [`TeachError::UnknownVersion`] and [`TeachError::Number`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, TeachError> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>().ok_or(TeachError::Malformed)?;
        let &[a, b, c, d, e, f, g, h] = head;
        match u16::from_le_bytes([a, b]) {
            VERSION => {}
            other => return Err(TeachError::UnknownVersion(other.min(255) as u8)),
        }
        let numbers = usize::from(u16::from_le_bytes([c, d]));
        let classes = usize::from(u16::from_le_bytes([e, f]));
        let (reals, left) = rest.as_chunks::<4>();
        let wanted = Self::reals(numbers, classes);
        if [g, h] != [0; 2] || numbers == 0 || classes < 2 || !left.is_empty() {
            return Err(TeachError::Malformed);
        }
        if wanted != Some(reals.len()) {
            return Err(TeachError::Malformed);
        }
        let made = Self { numbers, classes, reals, checksum: CRC.checksum(bytes) };
        made.check()?;
        Ok(made)
    }

    /// Number of reals of a basis; `None` where they are more than an address can count.
    #[must_use]
    pub const fn reals(numbers: usize, classes: usize) -> Option<usize> {
        let Some(square) = numbers.checked_mul(numbers + 1) else { return None };
        let Some(rows) = numbers.checked_mul(classes + 1) else { return None };
        (square / 2).checked_add(rows)
    }

    /// The bytes before the reals of a basis of these sizes.
    #[must_use]
    pub const fn head(numbers: u16, classes: u16) -> [u8; HEAD] {
        let ([a, b], [c, d]) = (VERSION.to_le_bytes(), numbers.to_le_bytes());
        let [e, f] = classes.to_le_bytes();
        [a, b, c, d, e, f, 0, 0]
    }

    /// Number of evidence, from the bytes of a basis, in a constant; 0 of too few bytes.
    #[must_use]
    pub const fn numbers_of(bytes: &[u8]) -> usize {
        match bytes {
            [_, _, low, high, ..] => u16::from_le_bytes([*low, *high]) as usize,
            _ => 0,
        }
    }

    /// Numbers of a window's evidence.
    #[must_use]
    pub const fn numbers(&self) -> usize {
        self.numbers
    }

    /// Number of known classes.
    #[must_use]
    pub const fn classes(&self) -> usize {
        self.classes
    }

    /// The CRC-32 of its bytes, by which taught classes know their model.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    fn check(&self) -> Result<(), TeachError> {
        for at in 0..self.reals.len() {
            if !self.real(at).is_finite() {
                return Err(TeachError::Number(at.min(usize::from(u16::MAX)) as u16));
            }
        }
        for row in 0..self.numbers {
            let at = self.row_at(row) + row;
            if self.real(at) <= 0.0 {
                return Err(TeachError::Number(at.min(usize::from(u16::MAX)) as u16));
            }
        }
        Ok(())
    }

    fn real(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.reals.get(at).copied().unwrap_or([0; 4]))
    }

    /// Place of the first number of a row of the whitening.
    const fn row_at(&self, row: usize) -> usize {
        self.numbers + row * (row + 1) / 2
    }

    /// Whitens evidence in place: `z = L (e - centre)`.
    ///
    /// # Errors
    /// [`TeachError::Evidence`] where a number is not finite or beyond `2^48`, or there are more or fewer than
    /// [`numbers`](Self::numbers).
    pub fn whiten(&self, evidence: &mut [f32]) -> Result<(), TeachError> {
        if evidence.len() != self.numbers {
            return Err(TeachError::Evidence);
        }
        for (at, number) in evidence.iter_mut().enumerate() {
            *number -= self.real(at);
        }
        // From the last row up: a row reads only entries that are not yet written.
        for row in (0..self.numbers).rev() {
            let first = self.row_at(row);
            let mut sum = 0.0;
            for (column, &number) in evidence.iter().enumerate().take(row + 1) {
                sum += self.real(first + column) * number;
            }
            // Not within, rather than beyond: NaN is neither.
            let within = sum.abs() <= FARTHEST;
            if !within {
                return Err(TeachError::Evidence);
            }
            if let Some(whitened) = evidence.get_mut(row) {
                *whitened = sum;
            }
        }
        Ok(())
    }

    /// The squared distance of whitened evidence from the mean of a known class; infinite for an unknown class.
    #[must_use]
    pub fn distance(&self, class: usize, whitened: &[f32]) -> f32 {
        if class >= self.classes {
            return f32::INFINITY;
        }
        let first = self.row_at(self.numbers) + class * self.numbers;
        let mut sum = 0.0;
        for (at, &number) in whitened.iter().enumerate().take(self.numbers) {
            let difference = number - self.real(first + at);
            sum += difference * difference;
        }
        sum
    }
}

/// The evidence of a window: the decision value of each output, then the log-likelihood per sample under each model.
///
/// Returns how many numbers there are; `None` where the room is too short or there was no sample.
pub fn window_evidence(
    outputs: &[Output<f32>],
    log_likelihoods: &[f32],
    samples: u64,
    room: &mut [f32],
) -> Option<usize> {
    let count = outputs.len() + log_likelihoods.len();
    let (values, logs) = room.get_mut(..count)?.split_at_mut_checked(outputs.len())?;
    if samples == 0 {
        return None;
    }
    for (to, output) in values.iter_mut().zip(outputs) {
        *to = output.value();
    }
    let samples = f32::from_count(samples);
    for (to, &log) in logs.iter_mut().zip(log_likelihoods) {
        *to = log / samples;
    }
    Some(count)
}

/// Features of the window of a state of a classifier: its evidence, whitened. Entries past those of the basis are zero.
///
/// # Errors
/// [`TeachError::NoRoom`] where the basis has more than `NUMBERS` numbers, and [`TeachError::Evidence`].
pub fn whitened_evidence<C: AdditiveClassifier<Real = f32>, const NUMBERS: usize>(
    basis: &TeachingBasis<'_>,
    classifier: &C,
    state: &C::State,
) -> Result<[f32; NUMBERS], TeachError> {
    if basis.numbers() > NUMBERS {
        return Err(TeachError::NoRoom);
    }
    let mut room = [0.0; NUMBERS];
    let count = of_state(classifier, state, &mut room).ok_or(TeachError::Evidence)?;
    basis.whiten(room.get_mut(..count).unwrap_or(&mut []))?;
    Ok(room)
}

/// The evidence of a state of a classifier: see [`window_evidence`].
pub(super) fn of_state<C: AdditiveClassifier<Real = f32>>(
    classifier: &C,
    state: &C::State,
    room: &mut [f32],
) -> Option<usize> {
    let (outputs, logs) = (classifier.outputs(state), classifier.log_likelihoods(state));
    window_evidence(outputs.as_ref(), logs.as_ref(), classifier.samples(state), room)
}
