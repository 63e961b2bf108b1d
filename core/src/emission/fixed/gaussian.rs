use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{by_view_in_units, in_units};
use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::number::fixed::log2;
use crate::number::{Dual, FineQ15, FixedLog};

/// One channel of a Gaussian in fixed point: see [`GaussianQ15`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ChannelQ15 {
    /// The mean, in 4096ths of the observation's unit.
    pub mean: i32,
    /// `sqrt(log2(e) / 2) / sigma`, its leading fifteen bits, ...
    pub rate: u16,
    /// ... as `rate 2^-(14 + shift)` by the five lower bits. The others are the binary places of the observation's unit, with
    /// which a missing channel's normaliser is that of the channel before it was made an integer.
    pub shift: u16,
}

/// A Gaussian over `D` channels that are independent given the state, in fixed point, over
/// observations of 16 bits per channel, with `C` directions.
///
/// ```text
/// y_d      = (x_d - mean_d) rate_d          rate_d = sqrt(log2(e) / 2) / sigma_d
/// log2 b   = constant - sum_d y_d^2
/// d log b  = d constant + sum_d y_d (linear_d + quadratic_d y_d)
/// ```
///
/// `y` has eleven binary places up to 16 and seven beyond, the squares as many as the sum: sixteen.
/// A likelihood is `2^(-x)` by a table of 64 intervals, off by `1.4 x 2^-15` of the row's largest.
/// A channel farther than 128 from its mean in `y` (150 standard deviations) is taken to be there;
/// an observation that far from every state is impossible.
///
/// Flash: `8 D + 4 + C (4 D + 6)` bytes per state. Work: two multiplications per channel, three more per
/// direction.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct GaussianQ15<const D: usize, const C: usize = 0> {
    channel: [ChannelQ15; D],
    constant: i32,
    constant_rate: [i32; C],
    linear: [[i16; C]; D],
    quadratic: [[i16; C]; D],
    unit: [i16; C],
}

/// A [`GaussianQ15`] whose number of channels is known at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct GaussianQ15View<'a, const C: usize> {
    /// Means and rates, `[channel]`.
    pub channel: &'a [ChannelQ15],
    /// Log normaliser to base 2, `v 2^-16`.
    pub constant: i32,
    /// Rates of change of the constant, `v 2^-14` units.
    pub constant_rate: &'a [i32; C],
    /// Rates linear in `y`, `v 2^-12` units, `[channel]`.
    pub linear: &'a [[i16; C]],
    /// Rates quadratic in `y`, `v 2^-12` units, `[channel]`.
    pub quadratic: &'a [[i16; C]],
    /// Exponents of the units of the directions, the same in all states and in the chain.
    pub unit: &'a [i16; C],
}

/// Log-likelihoods to base 2 stop here, and one that has is that of an impossible observation.
const MIN_LOG_DENSITY_EXP: i32 = -(1 << 30);
/// Rates of change of a log-likelihood stop here.
const STEEPEST: i32 = 1 << 29;

impl<const D: usize, const C: usize> GaussianQ15<D, C> {
    /// A Gaussian from tables already checked, as an export writes them;
    /// [`validate`](Emission::validate) checks them again.
    pub const fn from_parts(
        channel: [ChannelQ15; D],
        constant: i32,
        constant_rate: [i32; C],
        linear: [[i16; C]; D],
        quadratic: [[i16; C]; D],
        unit: [i16; C],
    ) -> Self {
        Self { channel, constant, constant_rate, linear, quadratic, unit }
    }

    /// View of the distribution with its size at run time.
    #[inline(always)]
    pub const fn view(&self) -> GaussianQ15View<'_, C> {
        GaussianQ15View {
            channel: &self.channel,
            constant: self.constant,
            constant_rate: &self.constant_rate,
            linear: &self.linear,
            quadratic: &self.quadratic,
            unit: &self.unit,
        }
    }
}

impl ChannelQ15 {
    /// A channel from mean and standard deviation, both in the observation's unit.
    ///
    /// # Errors
    /// A mean outside 16 bits, or a standard deviation that is not positive, below half a unit or above
    /// `2^27`: the unit is to be chosen finer or coarser.
    pub fn new(mean: f64, std: f64, entry: usize) -> Result<Self, ModelError> {
        let rate = libm::sqrt(core::f64::consts::LOG2_E / 2.0) / std;
        if !(-32_768.0..=32_768.0).contains(&mean) {
            return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::OutOfRange, 0, entry));
        }
        let mantissa = |shift: u16| libm::round(libm::ldexp(rate, 14 + i32::from(shift)));
        let fits = |&shift: &u16| (16_384.0..32_768.0).contains(&mantissa(shift));
        match (0..=28).find(fits) {
            Some(shift) if std > 0.0 => Ok(Self {
                mean: libm::round(mean * 4096.0) as i32,
                rate: mantissa(shift) as u16,
                shift,
            }),
            _ => Err(ModelError::new(Part::Parameter("variance"), ErrorKind::OutOfRange, 0, entry)),
        }
    }

    /// The same channel, whose observations are `round(x 2^places)`: the normaliser that a missing channel leaves out is that of
    /// `x`. Of the places, -1024 to 1023 are kept.
    #[must_use]
    pub const fn with_places(self, places: i16) -> Self {
        Self { shift: (self.shift & 31) | ((places as u16) << 5), ..self }
    }

    /// Binary places of the observation's unit.
    const fn places(&self) -> i32 {
        (self.shift.cast_signed() >> 5) as i32
    }

    /// The nearest integer to a channel in the observation's unit, halves away from zero.
    ///
    /// # Errors
    /// [`NotFinite`](ObservationError::NotFinite) and [`OutOfRange`](ObservationError::OutOfRange): 16
    /// bits do not hold it. Host and device read their channels here.
    pub fn integer(value: f64) -> Result<i16, ObservationError> {
        let nearest = libm::round(value);
        if !nearest.is_finite() {
            return Err(ObservationError::NotFinite);
        }
        if !(f64::from(i16::MIN)..=f64::from(i16::MAX)).contains(&nearest) {
            return Err(ObservationError::OutOfRange);
        }
        Ok(nearest as i16)
    }

    /// `log2 (1 / (sigma sqrt(2 pi)))`, `v 2^-16`.
    fn log2_normaliser(&self) -> i32 {
        let power = self.places() - i32::from(self.shift & 31);
        // 14 + log2 (log2(e) pi) / 2
        log2(u32::from(self.rate)) + (power << 16) - 988_947
    }

    /// Adds a channel's term of the log-likelihood, and of its rates of change.
    #[inline(always)]
    fn add<const C: usize>(
        &self,
        x: i16,
        (linear, quadratic): (&[i16; C], &[i16; C]),
        log2: &mut i32,
        rate: &mut [i32; C],
    ) {
        let (y, coarse) = self.standardise(x);
        let square = y.wrapping_mul(y);
        let in_bits = if coarse { square << 2 } else { (square + (1 << 5)) >> 6 };
        *log2 = log2.saturating_sub(in_bits);
        for (rate, (&linear, &quadratic)) in rate.iter_mut().zip(linear.iter().zip(quadratic)) {
            let (linear, quadratic) = (i32::from(linear), i32::from(quadratic));
            // Rounded, not cut: what is lost at every sample adds up.
            let moved = if coarse {
                (linear.wrapping_mul(y).wrapping_add(1 << 4) >> 5)
                    .saturating_add((quadratic.wrapping_mul(square >> 14)).saturating_mul(4))
            } else {
                let (cut, rest) = if square < 1 << 24 { (9, 11) } else { (15, 5) };
                let square = square.wrapping_add(1 << cut >> 1) >> cut;
                (linear.wrapping_mul(y).wrapping_add(1 << 8) >> 9)
                    + (quadratic.wrapping_mul(square).wrapping_add(1 << rest >> 1) >> rest)
            };
            *rate = rate.saturating_add(moved).clamp(-STEEPEST, STEEPEST);
        }
    }

    /// `y` with eleven binary places, or with seven and `true` where sixteen bits want it.
    #[inline(always)]
    fn standardise(&self, x: i16) -> (i32, bool) {
        let shift = u32::from(self.shift) & 31;
        let rate = i32::from(self.rate);
        let difference = (i32::from(x) << 12).wrapping_sub(self.mean);
        let fine = difference.wrapping_add(1 << shift >> 1) >> shift;
        if fine.unsigned_abs() < 1 << 15 {
            return ((fine.wrapping_mul(rate).wrapping_add(1 << 14)) >> 15, false);
        }
        let coarse = ((fine + 8) >> 4).clamp(-(1 << 15) + 1, (1 << 15) - 1);
        ((coarse.wrapping_mul(rate).wrapping_add(1 << 14) >> 15).clamp(-(1 << 14), 1 << 14), true)
    }
}

/// A log-likelihood; impossible at the end of its range.
#[inline(always)]
fn held<const C: usize>(log2: i32, rate: [i32; C]) -> FixedLog<C> {
    if log2 <= MIN_LOG_DENSITY_EXP {
        return FixedLog::IMPOSSIBLE;
    }
    FixedLog { log2, rate, exponent: 0 }
}

impl<const C: usize> GaussianQ15View<'_, C> {
    /// The log-likelihood of the channels that are there.
    ///
    /// The normaliser of a missing channel is off by at most 6 units of `2^-16` bits.
    pub fn log_marginal(&self, x: impl Fn(usize) -> Option<i16>) -> FixedLog<C> {
        let (mut log2, mut rate) = (self.constant, *self.constant_rate);
        let tables = self.linear.iter().zip(self.quadratic);
        for (d, (channel, (linear, quadratic))) in self.channel.iter().zip(tables).enumerate() {
            if let Some(x) = x(d) {
                channel.add(x, (linear, quadratic), &mut log2, &mut rate);
                continue;
            }
            log2 = log2.saturating_sub(channel.log2_normaliser());
            for (rate, &quadratic) in rate.iter_mut().zip(quadratic) {
                // `quadratic E[y^2]`, with two more binary places: `E[y^2] = log2(e) / 2`.
                let expected = (i32::from(quadratic) * 47_274 + (1 << 13)) >> 14;
                *rate = rate.saturating_add(expected).clamp(-STEEPEST, STEEPEST);
            }
        }
        held(log2, rate)
    }
}

impl<const C: usize> Emission for GaussianQ15View<'_, C> {
    type Weight = FineQ15<C>;
    type Observation = [i16];

    #[inline]
    fn log_likelihood(&self, x: &[i16]) -> FixedLog<C> {
        let (mut log2, mut rate) = (self.constant, *self.constant_rate);
        let tables = self.linear.iter().zip(self.quadratic);
        for ((channel, &x), (linear, quadratic)) in self.channel.iter().zip(x).zip(tables) {
            channel.add(x, (linear, quadratic), &mut log2, &mut rate);
        }
        held(log2, rate)
    }

    fn check(&self, _: &[i16]) -> Result<(), ObservationError> {
        Ok(())
    }

    fn width(&self) -> usize {
        self.channel.len()
    }

    fn in_units<const N: usize>(states: &[Self; N], reading: Dual<f32, C>) -> Dual<f32, C> {
        states.first().map_or(reading, |state| in_units(reading, state.unit))
    }

    fn validate(&self) -> Result<(), ModelError> {
        for (d, channel) in self.channel.iter().enumerate() {
            if !(1 << 14..1 << 15).contains(&channel.rate) || channel.shift & 31 > 28 {
                return Err(ModelError::new(
                    Part::Parameter("variance"),
                    ErrorKind::OutOfRange,
                    0,
                    d,
                ));
            }
            if channel.mean.unsigned_abs() > 1 << 27 {
                return Err(ModelError::new(Part::Parameter("mean"), ErrorKind::OutOfRange, 0, d));
            }
        }
        if self.constant.unsigned_abs() > 1 << 28 {
            return Err(ModelError::new(Part::Normaliser, ErrorKind::OutOfRange, 0, 0));
        }
        if self.constant_rate.iter().any(|rate| rate.unsigned_abs() > STEEPEST as u32) {
            return Err(ModelError::new(Part::Tangent, ErrorKind::OutOfRange, 0, 0));
        }
        Ok(())
    }
}

impl<const D: usize, const C: usize> Emission for GaussianQ15<D, C> {
    type Weight = FineQ15<C>;
    type Observation = [i16; D];

    by_view_in_units!(#[inline]);
}
