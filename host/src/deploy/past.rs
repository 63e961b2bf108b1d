//! Past samples that a stream keeps in addition to the models' states: for differences and codebooks.

use fishweir_core::ObservationError;
use fishweir_core::classify::Coding;
use fishweir_core::emission::ChannelQ15;
use fishweir_core::number::{Channel, Real};

use super::codebooks::CodeStream;
use crate::data::Lags;
use crate::data::internals::Ring;

/// The last samples, in reals or in the integers of fixed point; empty if nothing looks back.
#[derive(Default)]
pub(super) struct Past<R, C: Coding = R> {
    /// Ring of past samples, if differences from them are channels too.
    ring: Option<Ring<R>>,
    /// The codebooks.
    codebooks: Option<CodeStream<C>>,
}

impl<R: Channel, C: Coding> Past<R, C> {
    /// State before the first sample of `channels` channels.
    pub(super) fn new(lags: &Lags, channels: usize, codebooks: Option<CodeStream<C>>) -> Self {
        let ring = (!lags.is_empty()).then(|| Ring::new(lags.clone(), channels));
        Self { ring, codebooks }
    }

    /// Input of the models for a sample; `None` while the past is incomplete.
    pub(super) fn heard<'a>(&'a mut self, x: &'a [R]) -> Option<&'a [R]> {
        self.ring.as_mut().map_or(Some(x), |ring| ring.widen(x))
    }

    /// Takes in a sample that models have read, as they have it and as codebooks do.
    pub(super) fn take(&mut self, x: &[R], whole: &[C]) {
        self.ring.iter_mut().for_each(|ring| ring.take(x));
        self.codebooks.iter_mut().for_each(|codebooks| codebooks.push(whole));
    }

    /// Takes in one that was not observed.
    pub(super) fn take_missing(&mut self) {
        self.ring.iter_mut().for_each(Ring::take_missing);
        self.codebooks.iter_mut().for_each(CodeStream::push_missing);
    }

    pub(super) fn reset(&mut self) {
        self.ring.iter_mut().for_each(Ring::reset);
        self.codebooks.iter_mut().for_each(CodeStream::reset);
    }

    /// Evidence of the codebooks for each output, in a format that holds it; empty without codebooks.
    pub(super) fn evidence<T: Real>(&self) -> impl Iterator<Item = [T; 2]> {
        let parts = self.codebooks.iter().flat_map(CodeStream::parts);
        parts.map(|parts| parts.map(|part| T::from_f64(part.to_f64())))
    }
}

/// A channel in the device's integers.
fn integer(x: f64, places: i16) -> Result<i16, ObservationError> {
    ChannelQ15::integer(x * f64::from(places).exp2())
}

/// A row in the integers that a device is given, of which every channel is there.
pub(super) fn integers(row: &[f64], places: &[i16]) -> Result<Vec<i16>, ObservationError> {
    row.iter().zip(places).map(|(&x, &places)| integer(x, places)).collect()
}

/// A row in the integers that a device is given, `None` where a channel is missing.
pub(super) fn integers_in_part(
    row: &[f64],
    places: &[i16],
) -> Result<Vec<Option<i16>>, ObservationError> {
    let in_part = |x: f64, places| (!x.is_nan()).then(|| integer(x, places)).transpose();
    row.iter().zip(places).map(|(&x, &places)| in_part(x, places)).collect()
}

/// Observations in fixed point: their binary places, a row of them, and the last samples.
pub(super) struct Integers {
    places: Vec<i16>,
    pub(super) row: Vec<Option<i16>>,
    /// The row for codebooks, which take complete samples.
    pub(super) whole: Vec<i16>,
    pub(super) past: Past<Option<i16>, i16>,
}

impl Integers {
    pub(super) const fn new(places: Vec<i16>, past: Past<Option<i16>, i16>) -> Self {
        Self { places, row: Vec::new(), whole: Vec::new(), past }
    }

    /// Reads a row as the device is given it.
    pub(super) fn read(&mut self, row: &[f64]) -> Result<(), ObservationError> {
        self.row = integers_in_part(row, &self.places)?;
        self.whole.clear();
        self.whole.extend(self.row.iter().map(|x| x.unwrap_or_default()));
        Ok(())
    }
}
