//! Features of a sequence: its models' expected statistics, in the forms that compile.

pub(crate) mod affine;
mod block;
mod directions;
pub(crate) mod scaler;

use std::borrow::Cow;

use fishweir_core::classify::Normalisation;
use fishweir_core::emission::Parametrisation;
use serde::{Deserialize, Serialize};

use crate::batch::{Expectations, expectations};
use crate::classifier::Codebooks;
use crate::data::{Lags, SamplesView, Widened};
use crate::kernel::mean_map::{counts, mix, mix_words, words_of};
use crate::learn::solver::matrix::Matrix;
use crate::model::push_score;
use crate::runtime::Hmm;

/// Features of a sequence: their inner products are the kernel.
///
/// All are linear in log-likelihoods, scores or expected statistics, so that a linear machine on them, or a kernel machine on
/// their inner products, compiles to one direction per model. Expected counts of pairs of neighbours (the count kernel of second
/// order) are not linear in these: with the symbols of both, no single factor of the model has their count for derivative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Features {
    /// The score of each model, and where asked for its log-likelihood: the Fisher kernel.
    Scores,
    /// Log-odds of every pair of class models and their gradients: the TOP kernel (Tsuda, Kawanabe,
    /// Raetsch, Sonnenburg and Mueller 2002) of two classes, summed over the pairs. Written out,
    ///
    /// ```text
    /// K(x, y) = sum_{c<d} v_cd(x) v_cd(y) + (C - 1) sum_c score_c(x) . score_c(y),
    /// v_cd(x) = log p_d(x) - log p_c(x)
    /// ```
    ///
    /// Log-priors are constants, which the machine's bias takes in. Log-odds of a class against a
    /// mixture of the others would not be linear, and would not compile.
    LogOdds,
    /// Expected statistics given the sequence: of symbols, the expected number of each in each hidden
    /// state; of channels, the expected occupancy, first and second moment of each state. Divided by
    /// the length they are the marginalised count kernel of first order (Tsuda, Kin and Asai 2002).
    Counts,
    /// Expected numbers of each symbol in each hidden state, and of transitions between states, each index of
    /// both mixed (see [`Mixing`](crate::kernel::mean_map::Mixing)). Divided by the length they are the
    /// latent mean map kernel (Mehta and Gray 2010), but that transitions are divided by one more than there
    /// are. Of models over symbols alone.
    LatentMap {
        /// Similarity of different symbols, or states: from 0 to 1.
        mismatch: f64,
    },
    /// Numbers of words of `order + 1` symbols, each index mixed: of no model. Divided by the length they are
    /// the empirical mean map kernel (Mehta and Gray 2010), but that words are divided by `order` more than
    /// there are. Of symbols alone.
    EmpiricalMap {
        /// Symbols of a word before its last.
        order: usize,
        /// Similarity of different symbols: from 0 to 1.
        mismatch: f64,
    },
}

/// Kind of a feature: features of a kind are scaled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// An entry of a score, or of expected statistics.
    Score,
    /// A log-likelihood, or a difference of two.
    Likelihood,
    /// The number of a codeword.
    Codeword,
    /// Number of times that a codeword's likeness exceeds a level.
    Level,
}

/// Map from a sequence to the features of a bank of models, and from weights on them back to directions.
///
/// A model's block holds the score, in this order: for the logits of the initial and transition
/// probabilities, then for the logits of the symbols or for mean (in units of the channel's scale)
/// and log standard deviation of each state; last, if asked for, its log-likelihood. Probabilities
/// of zero and one are left out: they do not move with their logits, and in a model whose states have
/// an order they are nearly all. Or it holds the expected statistics: counts, `[state][symbol]`, but of
/// what is impossible, or a state's occupancy and moments; for a latent map `[state][symbol]` and then
/// `[from][to]`; for an
/// empirical map the words, `[first symbol][second symbol]...`. After the models' blocks come the log-odds
/// of the pairs of models, where they are features, the numbers of codewords, `[codebook][codeword]`, and at last how often
/// their levels are exceeded, `[codebook][codeword][level]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    features: Features,
    models: Vec<Hmm>,
    /// `true` for each entry of a score, or of the statistics, that is a feature, `[model][entry]`.
    kept: Vec<Vec<bool>>,
    scale: Vec<f64>,
    with_likelihood: bool,
    normalisation: Normalisation,
    lags: Lags,
    /// The columns of a row that each model sees, `[model]`; empty if all see all.
    columns: Vec<Vec<usize>>,
    /// Codebooks whose codewords are counted too.
    codebooks: Option<Codebooks>,
}

impl FeatureMap {
    /// A map over a bank of models, of which for words only the number of symbols matters. Only scores may have
    /// log-likelihoods with them.
    pub fn new(
        features: Features,
        models: Vec<Hmm>,
        scale: Vec<f64>,
        with_likelihood: bool,
        normalisation: Normalisation,
    ) -> Self {
        let with_likelihood = with_likelihood && features == Features::Scores;
        let models = match features {
            Features::EmpiricalMap { .. } => models.first().map(Hmm::size).map(Hmm::even),
            _ => None,
        }
        .map_or(models, |even| vec![even]);
        let kept = models
            .iter()
            .map(|model| match features {
                Features::Counts => possible(model),
                Features::LatentMap { .. } => {
                    vec![true; model.states() * (model.size() + model.states())]
                }
                Features::EmpiricalMap { order, .. } => {
                    vec![true; words_of(model.size(), order).unwrap_or(0)]
                }
                Features::Scores | Features::LogOdds => moving(model),
            })
            .collect();
        let (lags, columns) = (Lags::NONE, Vec::new());
        let codebooks = None;
        Self {
            features,
            models,
            kept,
            scale,
            with_likelihood,
            normalisation,
            lags,
            columns,
            codebooks,
        }
    }

    /// Sets the lags of models over rows of `channels` channels.
    ///
    /// For models that predict from the past, drawn series depend on them; for models of one lag each, they give the columns of a
    /// row that each reads.
    #[must_use]
    pub fn behind(self, lags: &Lags, channels: usize) -> Self {
        let columns = (0..self.models.len()).map_while(|model| lags.columns(model, channels));
        Self { columns: columns.collect(), lags: lags.clone(), ..self }
    }

    /// Appends the counts of codewords to the features.
    #[must_use]
    pub fn beside(self, codebooks: Option<Codebooks>) -> Self {
        Self { codebooks, ..self }
    }

    /// The codebooks whose codewords are counted.
    pub(crate) fn codebooks(&self) -> Option<&Codebooks> {
        self.codebooks.as_ref()
    }

    /// Number of features that are counts of codewords, and of levels exceeded.
    fn counted(&self) -> [usize; 2] {
        let counted = |one: &Codebooks| [one.codewords(), one.codewords() * one.levels()];
        self.codebooks.as_ref().map_or([0, 0], counted)
    }

    /// Splits weights on the features into those on the counts of codewords and those on levels.
    pub(crate) fn codebook_weights<'w>(&self, weights: &'w [f64]) -> (&'w [f64], &'w [f64]) {
        let [words, levels] = self.counted();
        weights[weights.len() - words - levels..].split_at(words)
    }

    /// Units of the first `channels` columns of a row: the channels.
    pub(crate) fn units_of(&self, channels: usize) -> &[f64] {
        &self.scale[..channels.min(self.scale.len())]
    }

    /// Input of a model from samples.
    pub(crate) fn seen_by<'s>(&self, model: usize, samples: SamplesView<'s>) -> Widened<'s> {
        match self.columns.get(model) {
            Some(columns) => Widened::Made(samples.of_columns(columns)),
            None => Widened::As(samples),
        }
    }

    /// The units of a model's input.
    fn units(&self, model: usize) -> Cow<'_, [f64]> {
        match self.columns.get(model) {
            Some(columns) => columns.iter().filter_map(|&at| self.scale.get(at)).copied().collect(),
            None => Cow::Borrowed(&self.scale),
        }
    }

    /// The bank of models.
    pub fn models(&self) -> &[Hmm] {
        &self.models
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        let counted: usize = self.counted().iter().sum();
        self.block_lengths().sum::<usize>() + self.pairs().count() + counted
    }

    /// Returns whether there is no feature.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn block_lengths(&self) -> impl Iterator<Item = usize> {
        let likelihood = usize::from(self.with_likelihood);
        self.kept.iter().map(move |kept| count(kept) + likelihood)
    }

    /// The columns of each model's scores or statistics, log-likelihoods apart.
    pub fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let mut from = 0;
        let blocks = self.kept.iter().zip(self.block_lengths());
        blocks
            .map(|(kept, length)| {
                let block = from..from + count(kept);
                from += length;
                block
            })
            .collect()
    }

    /// The pairs of models whose log-odds are features.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let models = if self.features == Features::LogOdds { self.models.len() } else { 0 };
        (0..models).flat_map(move |c| (c + 1..models).map(move |d| (c, d)))
    }

    /// Factor on scores: each model takes part in several pairs.
    fn weight(&self) -> f64 {
        match self.features {
            Features::LogOdds => (self.models.len().max(2) as f64 - 1.0).sqrt(),
            _ => 1.0,
        }
    }

    /// The features of each sequence, times the normalisation's factor for its length. `None` for a
    /// sequence that some model makes impossible.
    pub fn extract(&self, sequences: &[SamplesView<'_>]) -> Vec<Option<Vec<f64>>> {
        if let Features::EmpiricalMap { order, mismatch } = self.features {
            let size = self.models.first().map_or(0, Hmm::size);
            return sequences.iter().map(|one| self.words(*one, order, mismatch, size)).collect();
        }
        let mut features = vec![Some(Vec::with_capacity(self.len())); sequences.len()];
        let mut logs = vec![Vec::with_capacity(self.models.len()); sequences.len()];
        for (index, model) in self.models.iter().enumerate() {
            let seen: Vec<_> = sequences.iter().map(|one| self.seen_by(index, *one)).collect();
            let seen: Vec<_> = seen.iter().map(Widened::view).collect();
            let expected = expectations(model, &seen);
            for ((features, logs), expected) in features.iter_mut().zip(&mut logs).zip(expected) {
                match (features.as_mut(), expected) {
                    (Some(features), Ok(expected)) => {
                        features.extend(self.block(index, &expected));
                        if self.with_likelihood {
                            features.push(expected.log_likelihood);
                        }
                        logs.push(expected.log_likelihood);
                    }
                    _ => *features = None,
                }
            }
        }
        for (features, logs) in features.iter_mut().zip(&logs) {
            if let Some(features) = features {
                features.extend(self.pairs().map(|(c, d)| logs[d] - logs[c]));
            }
        }
        if let Some(codebooks) = &self.codebooks {
            for (features, samples) in features.iter_mut().zip(sequences) {
                if let (Some(features), Some(rows)) = (features, samples.rows()) {
                    features.extend(codebooks.counts(rows));
                }
            }
        }
        for (features, samples) in features.iter_mut().zip(sequences) {
            let factor: f64 = self.normalisation.factor(samples.len() as u64);
            features.iter_mut().flatten().for_each(|feature| *feature *= factor);
        }
        features
    }

    /// Counts of words, mixed, times the factor for the length.
    fn words(
        &self,
        samples: SamplesView<'_>,
        order: usize,
        mismatch: f64,
        size: usize,
    ) -> Option<Vec<f64>> {
        let mut table = counts(samples.symbols()?, order, size).ok()?;
        mix_words(&mut table, size, mismatch);
        let factor: f64 = self.normalisation.factor(samples.len() as u64);
        table.iter_mut().for_each(|count| *count *= factor);
        Some(table)
    }

    /// The symbols that are the context of the next, of an empirical map.
    pub(crate) fn order(&self) -> Option<usize> {
        match self.features {
            Features::EmpiricalMap { order, .. } => Some(order),
            _ => None,
        }
    }

    /// A model's score, weighed, or its expected statistics: the entries that are features.
    fn block(&self, model: usize, expected: &Expectations) -> Vec<f64> {
        let (of, mut entries) = (&self.models[model], Vec::new());
        match self.features {
            Features::Counts => entries.extend(expected.emission.by_state()),
            Features::LatentMap { mismatch } => {
                entries.extend(expected.emission.by_state());
                entries.extend(expected.pairs.iter().flatten());
                mix_counts(of, mismatch, &mut entries);
            }
            // Of no model.
            Features::EmpiricalMap { .. } => {}
            Features::Scores | Features::LogOdds => {
                let units = self.units(model);
                push_score(of, expected, Parametrisation::SOFTMAX, &units, &mut entries);
            }
        }
        let (kept, weight) = (&self.kept[model], self.weight());
        let mut features = Vec::with_capacity(entries.len());
        for k in 0..entries.len().min(kept.len()) {
            if kept[k] {
                features.push(weight * entries[k]);
            }
        }
        features
    }

    /// Multiplies the counts of codebooks in mapped rows, the last of their columns.
    pub(crate) fn weigh_codebooks(&self, rows: &mut Matrix, weight: f64) {
        let others = self.len() - self.counted().iter().sum::<usize>();
        for row in rows.rows_mut() {
            row[others..].iter_mut().for_each(|x| *x *= weight as f32);
        }
    }

    /// Kind of each feature.
    pub fn kinds(&self) -> Vec<FeatureKind> {
        let of_block = |length: usize| {
            (1..=length).map(move |k| match self.with_likelihood && k == length {
                true => FeatureKind::Likelihood,
                false => FeatureKind::Score,
            })
        };
        let [words, levels] = self.counted();
        self.block_lengths()
            .flat_map(of_block)
            .chain(self.pairs().map(|_| FeatureKind::Likelihood))
            .chain((0..words).map(|_| FeatureKind::Codeword))
            .chain((0..levels).map(|_| FeatureKind::Level))
            .collect()
    }

    /// Index of the feature of each entry of the whole scores, model by model, each score followed by the log-likelihood if that
    /// is a feature.
    ///
    /// `None` for an entry that does not move.
    pub(crate) fn places(&self) -> Vec<Option<usize>> {
        let mut next = 0..;
        let mut places = Vec::new();
        for kept in &self.kept {
            let likelihood = self.with_likelihood.then_some(&true);
            let entries = kept.iter().chain(likelihood);
            places.extend(entries.map(|&kept| if kept { next.next() } else { None }));
        }
        places
    }

    /// Returns whether log-likelihoods are features.
    pub(crate) fn with_likelihood(&self) -> bool {
        self.with_likelihood
    }
}

/// Mixes expected counts, or weights on mixed ones: `[state][symbol]`, and then `[from][to]`.
fn mix_counts(model: &Hmm, mismatch: f64, counts: &mut [f64]) {
    let (states, symbols) = (model.states(), model.size());
    if let Some((emissions, transitions)) = counts.split_at_mut_checked(states * symbols) {
        mix(emissions, [states, symbols], mismatch);
        mix(transitions, [states, states], mismatch);
    }
}

fn count(kept: &[bool]) -> usize {
    kept.iter().filter(|kept| **kept).count()
}

/// Returns for each entry of a model's score whether it moves.
fn moving(model: &Hmm) -> Vec<bool> {
    let of_row = |row: &Vec<f64>| row.iter().map(|&p| p > 0.0 && p < 1.0).collect::<Vec<_>>();
    let mut moving = of_row(&model.initial);
    moving.extend(model.transition.iter().flat_map(of_row));
    moving.extend(model.emission.family().moving(model.emission.parts()));
    moving
}

/// Returns for each expected statistic whether it can be nonzero.
fn possible(model: &Hmm) -> Vec<bool> {
    model.emission.family().possible(model.emission.parts())
}
