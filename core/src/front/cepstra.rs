use microfft::Complex32;
use microfft::real::{rfft_128, rfft_256, rfft_512, rfft_1024};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::mel::{cosines, hamming, triangles};
use super::{Front, Step, or_missing};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::Real;

/// Fraction of the previous sample that is subtracted from each sample of a frame.
const PRE_EMPHASIS: f32 = 0.97;
/// No band's energy falls below this before its logarithm: full scale is about one.
const FLOOR: f32 = 1e-10;
/// Samples past this would have energies that `f32` does not hold.
const LARGEST: f32 = 1e12;

/// Mel cepstra of a sound: a row of `C` numbers from the last `W` samples, every `hop` samples.
///
/// ```text
/// y_n = w_n ( x_n - 0.97 x_(n-1) ),    w_n = 0.54 - 0.46 cos(2 pi n / (W - 1)),    x_(-1) = x_0 within a frame
/// P_k = | sum over n of y_n exp(-2 pi i k n / W) |^2,                              k = 1, ..., W/2 - 1
/// e_b = log max( 1e-10, sum over k of T_b(k) P_k ),                                b = 0, ..., B - 1
/// c_q = sqrt(2 / B) sum over b of e_b cos(pi q (b + 1/2) / B),                     q = 0, ..., C - 1
/// ```
///
/// The `B` triangles `T_b` rise and fall linearly over the mel scale, `mel(f) = 1127 log(1 + f / 700)`, each from
/// the centre of the one before to that of the one after, between 0 and half the sampling rate. A row is
/// `c`, or where `C` is 0 the log energies `e` themselves. The first row is whole with the `W`-th sample; a row of
/// whose samples one is missing is missing. Numbers are `f32`, on a host too, whose bits are then a device's.
///
/// A frame has `BINS` bins, which is 64, 128, 256 or 512, and `W = 2 BINS` samples; the window is stored as pairs. If `C` is 0 a
/// row has `B` numbers.
///
/// Flash: `4 W + 5 W/2 + 4 B C` bytes, and the transform's sines. RAM: `4 W + 12` bytes, and `4 (W + B)` bytes of stack for a
/// row. Work: a row takes a real transform of about `2 W log2 W` multiply-adds, `3 W` more, `B` logarithms and `B C`
/// multiply-adds; a sample in between is stored.
///
/// Source: S. B. Davis and P. Mermelstein, Comparison of parametric representations for monosyllabic word
/// recognition in continuously spoken sentences, IEEE Transactions on Acoustics, Speech, and Signal Processing 28
/// (1980), 357-366; the triangles, the mel scale and the cosines' scale as in S. Young et al., The HTK Book (2006), 5.
///
/// ```
/// use fishweir_core::front::{Cepstra, CepstraState, Front};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// // 128 samples every 64 of 8 kHz, 16 bands, their log energies.
/// let bands = Cepstra::<64, 16, 0>::new(64, 8000.0)?;
/// let (mut state, mut loudest) = (CepstraState::NEW, None);
/// for t in 0..128 {
///     let x = (t as f32 * core::f32::consts::TAU * 500.0 / 8000.0).sin();
///     bands.step(&mut state, Some(&[x]), |row: Option<&[f32; 16]>| {
///         let louder = |a: &(usize, &f32), b: &(usize, &f32)| a.1.total_cmp(b.1);
///         loudest = row.and_then(|row| row.iter().enumerate().max_by(louder)).map(|(band, _)| band);
///     })?;
/// }
/// assert_eq!(loudest, Some(4)); // mel(500) / mel(4000) x 17 - 1
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Cepstra<const BINS: usize, const B: usize, const C: usize> {
    hop: u32,
    window: [[f32; 2]; BINS],
    rises: [f32; BINS],
    cosines: [[f32; B]; C],
    segments: [u8; BINS],
}

/// The last samples that a [`Cepstra`] keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CepstraState<const BINS: usize> {
    ring: [[f32; 2]; BINS],
    place: FrameState,
}

impl<const BINS: usize> CepstraState<BINS> {
    /// State before the first sample.
    pub const NEW: Self = Self { ring: [[0.0; 2]; BINS], place: FrameState::new(2 * BINS) };
}

impl<const BINS: usize, const B: usize, const C: usize> Cepstra<BINS, B, C> {
    /// Samples of a frame.
    const FRAME: usize = 2 * BINS;

    /// Asserts that its sizes are possible.
    const SIZES: () = {
        assert!(matches!(BINS, 64 | 128 | 256 | 512), "BINS must be 64, 128, 256 or 512");
        assert!(B > 0 && B < 255 && C <= B, "B must be from 1 to 254, and C at most B");
    };

    /// Asserts that rows of `E` numbers hold the cepstra, or the bands if `C` is 0.
    pub(crate) const fn assert_row<const E: usize>() {
        let () = Self::SIZES;
        assert!(
            E == if C == 0 { B } else { C },
            "rows behind cepstra must hold C numbers, or B where C is 0"
        );
    }

    /// Creates the tables of a front end with a row every `hop` samples, at `rate` samples per second.
    ///
    /// # Errors
    /// As [`validate`](Self::validate); a rate that is not above zero; more bands than half a frame can hold, so that a band
    /// would have no bin.
    pub fn new(hop: u32, rate: f64) -> Result<Self, ModelError> {
        let (mut window, mut rises, mut segments) = ([[0.0; 2]; BINS], [0.0; BINS], [0; BINS]);
        let mut table = [[0.0; B]; C];
        hamming(window.as_flattened_mut());
        triangles(rate, B, &mut rises, &mut segments)?;
        table.iter_mut().enumerate().for_each(|(q, row)| cosines(q, row));
        let made = Self::from_parts(hop, window, rises, table, segments);
        made.validate().map(|()| made)
    }

    /// Cepstra from tables that a host wrote. The hop is valid if their maker checked it; [`validate`](Self::validate)
    /// checks what was read from elsewhere.
    pub const fn from_parts(
        hop: u32,
        window: [[f32; 2]; BINS],
        rises: [f32; BINS],
        cosines: [[f32; B]; C],
        segments: [u8; BINS],
    ) -> Self {
        const { Self::SIZES };
        Self { hop, window, rises, cosines, segments }
    }

    /// Checks that the hop is from one to a frame, that tables are numbers, and that bins are between bands.
    ///
    /// # Errors
    /// Names what is not.
    pub fn validate(&self) -> Result<(), ModelError> {
        if self.hop == 0 || self.hop as usize > Self::FRAME {
            return Err(ModelError::new(Part::Front, ErrorKind::NotInRange, 0, 0));
        }
        let finite = |row: usize, table: &[f32]| match table.iter().position(|x| !x.is_finite()) {
            Some(entry) => Err(ModelError::new(Part::Front, ErrorKind::NotFinite, row, entry)),
            None => Ok(()),
        };
        finite(1, self.window.as_flattened())?;
        finite(2, &self.rises)?;
        self.cosines.iter().try_for_each(|row| finite(3, row))?;
        match self.segments.iter().position(|&segment| usize::from(segment) > B) {
            Some(entry) => Err(ModelError::new(Part::Front, ErrorKind::NotInRange, 4, entry)),
            None => Ok(()),
        }
    }
}

impl<const BINS: usize, const B: usize, const C: usize, const E: usize> Front<[f32; E]>
    for Cepstra<BINS, B, C>
{
    type Sample = [f32; 1];
    type State = CepstraState<BINS>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        CepstraState::NEW
    }

    #[inline]
    fn step(
        &self,
        state: &mut Self::State,
        x: Option<&[f32; 1]>,
        emit: impl FnOnce(Option<&[f32; E]>),
    ) -> Result<(), ObservationError> {
        const { Self::assert_row::<E>() };
        let x = x.map(|&[x]| x);
        let (x, step, result) = or_missing(x, |x| state.place.step(Self::FRAME, x));
        match step {
            Step::Within => {}
            Step::Missing => emit(None),
            Step::Row => {
                let (mut frame, mut bands, mut row) = ([[0.0; 2]; BINS], [0.0; B], [0.0; E]);
                let frame = frame.as_flattened_mut();
                state.place.frame(state.ring.as_flattened(), x.unwrap_or(0.0), frame);
                let tables = MelTables {
                    window: self.window.as_flattened(),
                    rises: &self.rises,
                    segments: &self.segments,
                    cosines: &self.cosines,
                };
                tables.row(frame, &mut bands, &mut row);
                emit(Some(&row));
            }
        }
        state.place.take(self.hop, state.ring.as_flattened_mut(), x);
        result
    }

    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}

/// The tables of a [`Cepstra`], wherever they are.
#[derive(Clone, Copy, Debug)]
pub struct MelTables<'a, Q> {
    /// The window, `[sample]`.
    pub window: &'a [f32],
    /// Fraction of a bin's energy for the band that rises there, `[bin]`; the rest goes to the one that falls.
    pub rises: &'a [f32],
    /// Index of the band that rises there, `[bin]`; the one before it falls.
    pub segments: &'a [u8],
    /// Cosines, `[cepstrum][band]`; empty if the bands are the row.
    pub cosines: &'a [Q],
}

impl<Q: AsRef<[f32]>> MelTables<'_, Q> {
    /// Makes a row of a frame of samples, which is worked in; `bands` takes the log energies.
    #[inline]
    pub fn row(&self, frame: &mut [f32], bands: &mut [f32], row: &mut [f32]) {
        let mut before = frame.first().copied().unwrap_or(0.0);
        for (x, &weight) in frame.iter_mut().zip(self.window) {
            let own = *x;
            *x = weight * (own - PRE_EMPHASIS * before);
            before = own;
        }
        bands.iter_mut().for_each(|band| *band = 0.0);
        let bins = transform(frame).iter().zip(self.rises.iter().zip(self.segments));
        // The first holds the two that have no phase, and no triangle is above zero there.
        for (bin, (&rise, &segment)) in bins.skip(1) {
            let power = bin.re * bin.re + bin.im * bin.im;
            let segment = usize::from(segment);
            let up = rise * power;
            if let Some(band) = bands.get_mut(segment) {
                *band += up;
            }
            if let Some(band) = segment.checked_sub(1).and_then(|band| bands.get_mut(band)) {
                *band += power - up;
            }
        }
        bands.iter_mut().for_each(|band| *band = Real::ln(Real::max(*band, FLOOR)));
        if self.cosines.is_empty() {
            row.iter_mut().zip(bands.iter()).for_each(|(to, &band)| *to = band);
            return;
        }
        for (to, cosines) in row.iter_mut().zip(self.cosines) {
            let terms = cosines.as_ref().iter().zip(bands.iter());
            *to = terms.fold(0.0, |sum, (&cosine, &band)| sum + cosine * band);
        }
    }
}

/// Transforms a frame of a supported length to its bins; empty for other lengths.
#[inline]
fn transform(frame: &mut [f32]) -> &[Complex32] {
    match frame.len() {
        128 => frame.try_into().map_or(&[], |frame| rfft_128(frame).as_slice()),
        256 => frame.try_into().map_or(&[], |frame| rfft_256(frame).as_slice()),
        512 => frame.try_into().map_or(&[], |frame| rfft_512(frame).as_slice()),
        _ => frame.try_into().map_or(&[], |frame| rfft_1024(frame).as_slice()),
    }
}

/// Position of a [`Cepstra`] in its frame. The samples are the caller's: an array on a device, a vector on the host.
///
/// RAM: 12 bytes beside the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrameState {
    /// The oldest sample, which the next one takes the place of.
    oldest: u32,
    /// Samples since the beginning or the last gap, counted up to a frame.
    unbroken: u32,
    /// Samples until the next row, this one included.
    due: u32,
}

impl FrameState {
    /// State before the first sample, for frames of `frame` samples.
    pub const fn new(frame: usize) -> Self {
        Self { oldest: 0, unbroken: 0, due: frame as u32 }
    }

    /// Takes in a sample, `None` for a missing one, and returns its effect.
    ///
    /// # Errors
    /// [`ObservationError::NotFinite`]: the sample is not finite, or beyond 1e12, where its energy would not be finite.
    #[inline]
    pub fn step(self, frame: usize, x: Option<f32>) -> Result<Step, ObservationError> {
        let whole = self.unbroken.saturating_add(1) as usize >= frame;
        match x {
            Some(x) if !x.is_finite() || Real::abs(x) > LARGEST => Err(ObservationError::NotFinite),
            _ if self.due > 1 => Ok(Step::Within),
            Some(_) if whole => Ok(Step::Row),
            _ => Ok(Step::Missing),
        }
    }

    /// Writes the frame that ends with a sample, the oldest first.
    #[inline]
    pub fn frame(self, ring: &[f32], x: f32, frame: &mut [f32]) {
        let (new, old) = ring.split_at_checked(self.oldest as usize).unwrap_or((ring, &[]));
        let past = old.iter().skip(1).chain(new);
        frame.iter_mut().zip(past.chain([&x])).for_each(|(to, &x)| *to = x);
    }

    /// Takes a sample into the ring, `None` for a missing one.
    #[inline]
    pub fn take(&mut self, hop: u32, ring: &mut [f32], x: Option<f32>) {
        if let Some(slot) = ring.get_mut(self.oldest as usize) {
            *slot = x.unwrap_or(0.0);
        }
        let next = self.oldest.wrapping_add(1);
        self.oldest = if (next as usize) < ring.len() { next } else { 0 };
        self.due = if self.due > 1 { self.due.wrapping_sub(1) } else { hop };
        self.unbroken = match x {
            None => 0,
            Some(_) if (self.unbroken as usize) < ring.len() => self.unbroken.wrapping_add(1),
            Some(_) => self.unbroken,
        };
    }
}
