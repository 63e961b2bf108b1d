use core::array::from_ref;
use core::fmt::Debug;

use crate::lagged::RingIndex;
use crate::number::{Channel, Compensated, Real, shorter};

/// Differences that a code vector is over.
pub const TAPS: usize = 8;

/// Code vectors of a codebook.
pub const CODEWORDS: usize = 8;

/// A codebook: `[tap][codeword]`, each a direction in the space of differences, of any length.
pub type CodeVectors = [[i8; CODEWORDS]; TAPS];

/// Arithmetic of [codebooks](super::Codebooks): reals, or integers for parts without an FPU.
///
/// Over `i16` a sample takes integer products and sums of 32 bits and one 64-bit addition per output, and **nothing overflows**.
/// With `S = sum_c |scale_c| <= 2^15 - 1`, which [`fits`](Self::fits) checks, and any samples,
///
/// ```text
/// |sum_c scale_c (x_c - before_c)|                    <= (2^16 - 1) S < 2^31 - 2^10
/// |y|, the same by 2^11, rounded                      <= 2^20
/// |sum_k v_(k,w) y_k|                                 <= 8 2^7 2^20   = 2^30
/// |sum over W < 2^16 weights that a sample adds|      <= (2^16 - 1) 2^15 < 2^31
/// ```
///
/// where `W` is one per codebook and, with levels, eight more; the 64-bit sums of a stream last for `2^48 / W` samples. A
/// difference of one unit in the samples' last bit is `scale_c 2^-11` in `y`: sixteen units where a codebook reads one channel,
/// whose scale is then `2^15 - 1`. The weight of a codeword is `v 2^unit`, with a unit for each output.
pub trait Coding: Channel {
    /// The reals that outputs are in.
    type Real: Real;
    /// Type of the sums of a sample's products and of the levels they are compared with.
    type Wide: Copy + Debug + Default + PartialOrd;
    /// Type of the sum over all samples.
    type Total: Copy + Debug + PartialEq;
    /// Type of the unit of an output's weights: the exponent of a power of two, or nothing.
    type Unit: Copy + Debug + PartialEq;
    /// Total of no sample.
    const NOTHING: Self::Total;

    /// `sum + scale (x - before)`.
    fn add_difference(sum: Self::Wide, scale: Self, x: Self, before: Self) -> Self::Wide;
    /// A whole sum of those as code vectors are multiplied with it.
    fn heard(sum: Self::Wide) -> Self::Wide;
    /// `sum + v y`.
    fn add_product(sum: Self::Wide, v: i8, y: Self::Wide) -> Self::Wide;
    /// `sum + weight`.
    fn add_weight(sum: Self::Wide, weight: Self) -> Self::Wide;
    /// Adds a sample's evidence to that of all before it.
    fn add_sample(total: &mut Self::Total, sample: Self::Wide);
    /// All evidence: the nearest real, and the remainder of rounding.
    fn parts(total: &Self::Total, unit: Self::Unit) -> [Self::Real; 2];
    /// Returns whether a codebook's scales cause no overflow. Floating point accepts all.
    fn fits(_scale: &[Self]) -> bool {
        true
    }
    /// Returns whether a unit is valid.
    fn is_unit(_unit: Self::Unit) -> bool {
        true
    }
    /// Returns whether a level can be compared with sums of products; every integer can.
    fn is_level(_level: Self::Wide) -> bool {
        true
    }
}

impl<T: Real> Coding for T {
    type Real = T;
    type Wide = T;
    type Total = Compensated<T>;
    type Unit = ();
    const NOTHING: Compensated<T> = Compensated::ZERO;

    #[inline(always)]
    fn add_difference(sum: T, scale: T, x: T, before: T) -> T {
        sum + scale * (x - before)
    }
    #[inline(always)]
    fn heard(sum: T) -> T {
        sum
    }
    #[inline(always)]
    fn add_product(sum: T, v: i8, y: T) -> T {
        sum + T::from_integer(i64::from(v)) * y
    }
    #[inline(always)]
    fn add_weight(sum: T, weight: T) -> T {
        sum + weight
    }
    #[inline(always)]
    fn add_sample(total: &mut Compensated<T>, sample: T) {
        total.add(sample);
    }
    #[inline]
    fn parts(total: &Compensated<T>, (): ()) -> [T; 2] {
        total.parts().into()
    }
    fn is_level(level: T) -> bool {
        level.is_number()
    }
}

/// Bits of a sum over channels that code vectors are not multiplied with.
const LOWERED: u32 = 11;

/// Exponents of units lie between the negative of this and this.
const UNIT_MAX: i16 = 100;

impl Coding for i16 {
    type Real = f32;
    type Wide = i32;
    type Total = i64;
    type Unit = i16;
    const NOTHING: i64 = 0;

    #[inline(always)]
    fn add_difference(sum: i32, scale: i16, x: i16, before: i16) -> i32 {
        let difference = i32::from(x).wrapping_sub(i32::from(before));
        sum.wrapping_add(i32::from(scale).wrapping_mul(difference))
    }
    #[inline(always)]
    fn heard(sum: i32) -> i32 {
        sum.wrapping_add(1 << LOWERED >> 1) >> LOWERED
    }
    #[inline(always)]
    fn add_product(sum: i32, v: i8, y: i32) -> i32 {
        sum.wrapping_add(i32::from(v).wrapping_mul(y))
    }
    #[inline(always)]
    fn add_weight(sum: i32, weight: i16) -> i32 {
        sum.wrapping_add(i32::from(weight))
    }
    #[inline(always)]
    fn add_sample(total: &mut i64, sample: i32) {
        *total = total.wrapping_add(i64::from(sample));
    }
    #[inline]
    fn parts(total: &i64, unit: i16) -> [f32; 2] {
        let (high, low) = Compensated::<f32>::of_integer(*total).parts();
        [high, low].map(|part| part * f32::power_of_two(i32::from(unit)))
    }
    fn fits(scale: &[i16]) -> bool {
        scale.iter().map(|scale| u64::from(scale.unsigned_abs())).sum::<u64>() < 1 << 15
    }
    fn is_unit(unit: i16) -> bool {
        (-UNIT_MAX..=UNIT_MAX).contains(&unit)
    }
}

/// Likeness of each code vector of a codebook to each of `L` samples, tap by tap:
///
/// ```text
/// y_k = sum over channels c of scale_c ( x_t,c - x_(t - k d),c ),     k = 1, ..., 8
/// alike_w = sum_k v_(k,w) y_k
/// ```
///
/// RAM: `8 L` numbers. Work: `8 D + 64` multiply-adds per sample of `D` channels.
#[derive(Clone, Copy, Debug)]
pub struct Similarity<T: Coding, const L: usize> {
    alike: [[T::Wide; L]; CODEWORDS],
}

impl<T: Coding, const L: usize> Default for Similarity<T, L> {
    /// State before any sample.
    #[inline(always)]
    fn default() -> Self {
        Self { alike: [[T::Wide::default(); L]; CODEWORDS] }
    }
}

impl<T: Coding, const L: usize> Similarity<T, L> {
    /// Adds the next tap: row `v_k` of the code vectors, and for each of `channels` channels its scale, the samples, and the
    /// samples `k d` before them.
    #[inline(always)]
    pub fn accumulate<'a>(
        &mut self,
        row: &[i8; CODEWORDS],
        channels: usize,
        channel: impl Fn(usize) -> (T, &'a [T; L], &'a [T; L]),
    ) where
        T: 'a,
    {
        let mut y = [T::Wide::default(); L];
        for d in 0..channels {
            let (scale, x, before) = channel(d);
            for l in 0..L {
                y[l] = T::add_difference(y[l], scale, x[l], before[l]);
            }
        }
        for l in 0..L {
            y[l] = T::heard(y[l]);
        }
        for word in 0..CODEWORDS {
            let (alike, v) = (&mut self.alike[word], row[word]);
            for l in 0..L {
                alike[l] = T::add_product(alike[l], v, y[l]);
            }
        }
    }

    /// Likeness of each code vector to the input so far at each sample, `[codeword]`.
    #[inline(always)]
    pub fn alike(&self) -> &[[T::Wide; L]; CODEWORDS] {
        &self.alike
    }

    /// The codeword of each sample: the code vector that is most alike, of equals the first.
    #[inline(always)]
    pub fn codewords(&self) -> [usize; L] {
        let (mut most, mut best) = (self.alike[0], [0; L]);
        for word in 1..CODEWORDS {
            let alike = &self.alike[word];
            for l in 0..L {
                if alike[l] > most[l] {
                    (best[l], most[l]) = (word, alike[l]);
                }
            }
        }
        best
    }
}

impl<T: Coding> Similarity<T, 1> {
    /// Adds to a sample's evidence, `[output]`, the weight of its codeword and of the levels that each codeword exceeds.
    ///
    /// `weights` are `[codeword]`; `step` holds for each codeword the levels and the rows of weights for having exceeded one,
    /// two, ... of them. Within a sample in plain arithmetic, between samples exactly.
    #[inline]
    pub fn weigh<'a, W: AsRef<[T]> + 'a>(
        &self,
        sample: &mut [T::Wide],
        weights: &[W],
        step: impl Fn(usize) -> (&'a [T::Wide], &'a [W]),
    ) where
        T: 'a,
    {
        let mut add = |weights: Option<&W>| {
            let weights = weights.map_or(&[][..], AsRef::as_ref);
            for output in 0..shorter(sample.len(), weights.len()) {
                sample[output] = T::add_weight(sample[output], weights[output]);
            }
        };
        let [word] = self.codewords();
        add(weights.get(word));
        for word in 0..CODEWORDS {
            let ((levels, above), [alike]) = (step(word), self.alike[word]);
            let mut exceeded = 0_usize;
            for level in levels {
                exceeded += usize::from(alike > *level);
            }
            add(exceeded.checked_sub(1).and_then(|step| above.get(step)));
        }
    }
}

/// Likeness of the code vectors of a codebook at a dilation `d` to the last samples: see [`Similarity`].
///
/// `past` and `place` are a ring of the samples before `x`; `None` until `8 d` of them have
/// come. Likenesses do not depend on the level of the signal, nor the [codeword](Similarity::codewords) on its strength.
///
/// Work: `8 D + 64` multiply-adds of `D` channels.
#[inline]
#[doc(hidden)]
pub fn likeness<T: Coding>(
    place: RingIndex,
    past: &[impl AsRef<[T]>],
    x: &[T],
    dilation: u32,
    scale: &[T],
    vectors: &CodeVectors,
) -> Option<Similarity<T, 1>> {
    let reach = (dilation as usize).saturating_mul(TAPS);
    if past.len() < reach || !place.is_full(reach) {
        return None;
    }
    let mut likeness = Similarity::default();
    let mut lag = 0;
    for row in vectors {
        lag += dilation;
        let before = past.get(place.back(lag, past.len() as u32))?.as_ref();
        let channels = shorter(shorter(x.len(), before.len()), scale.len());
        let (x, before, scale) = (&x[..channels], &before[..channels], &scale[..channels]);
        likeness.accumulate(row, channels, |d| (scale[d], from_ref(&x[d]), from_ref(&before[d])));
    }
    Some(likeness)
}
