//! The stream of a classifier in fixed point.

use super::codebooks::FixedCodebooks;
use super::{FixedPoint, known, stream};
use crate::deploy::model::States;
use crate::deploy::model_stream::ModelStream;
use crate::deploy::past::{Integers, Past};
use crate::deploy::stream::{Evidence, Stream};
use crate::deploy::windows::WindowStream;

impl FixedPoint {
    /// A stream before its first sample.
    pub fn stream(&self) -> Stream {
        let block = |model| match self.engine.states {
            States::Hidden => stream::block(model),
            states => known::block(model, states),
        };
        let model = |(index, model)| {
            let columns = self.common.columns(index);
            ModelStream::of(vec![block(model)]).seeing(columns)
        };
        let bank = self.engine.models.iter().enumerate().map(model).collect();
        let codebooks = self.engine.codebooks.as_ref().map(FixedCodebooks::stream);
        let past = Past::new(&self.common.lags, self.size(), codebooks);
        let integers = Integers::new(self.engine.places.clone(), past);
        self.common.stream(Evidence::Models(bank)).over_integers(integers)
    }

    /// A stream that decides on windows, as a device does, before its first sample.
    pub fn window_stream(&self) -> WindowStream {
        WindowStream::new(self.windows(), || self.stream())
    }
}
