//! A model's block of features as a score of its own.

use fishweir_core::emission::Parametrisation;
use fishweir_core::smooth::SequenceError;

use super::{FeatureMap, count};
use crate::batch::{Expectations, expectations};
use crate::data::{Samples, SamplesView};
use crate::model::{ModelScore, Scored};

impl FeatureMap {
    /// A model with its block for a score, for second moments in an information matrix.
    pub(in crate::learn) fn scored(&self, model: usize) -> impl Scored {
        ModelBlock { map: self, model }
    }
}

/// A model of a bank, with features for a score.
struct ModelBlock<'a> {
    map: &'a FeatureMap,
    model: usize,
}

impl Scored for ModelBlock<'_> {
    fn parameters(&self) -> usize {
        count(&self.map.kept[self.model])
    }

    /// Scores in one parametrisation, whatever is requested.
    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        _: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        if self.map.order().is_some() {
            let score = |words: Option<Vec<f64>>| {
                let score = words.unwrap_or_default();
                Ok(ModelScore { log_likelihood: 0.0, score })
            };
            return self.map.extract(sequences).into_iter().map(score).collect();
        }
        let expected = expectations(&self.map.models[self.model], sequences);
        let score = |(expected, samples): (Result<Expectations, _>, &SamplesView<'_>)| {
            let expected = expected?;
            let factor: f64 = self.map.normalisation.factor(samples.len() as u64);
            let mut score = self.map.block(self.model, &expected);
            score.iter_mut().for_each(|entry| *entry *= factor);
            Ok(ModelScore { log_likelihood: expected.log_likelihood, score })
        };
        expected.into_iter().zip(sequences).map(score).collect()
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        let model = &self.map.models[self.model];
        match self.map.lags.is_past() {
            true => model.simulate_behind(&self.map.lags, length, seed),
            false => model.simulate(length, seed),
        }
    }

    fn symbols(&self) -> Option<usize> {
        self.map.models[self.model].symbols()
    }
}
