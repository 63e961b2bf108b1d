//! Expectation and maximisation of hidden semi-Markov models.

use super::{NegativeBinomial, SemiMarkov};
use crate::batch::Expectations;
use crate::data::SamplesView;
use crate::fit::{BaumWelch, FitError, FittedMoments};
use crate::parallel::each;
use crate::runtime::Hmm;
use crate::runtime::numbers::normalise_into;
use crate::sums::Summand;

/// How a [`SemiMarkov`] model is fitted: a hidden Markov model first, by `start`, and from it passes of expectation and maximisation.
///
/// Durations start geometric, as those of the hidden Markov model.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentEm {
    /// The hidden Markov model, passes, pseudo-counts and floors.
    pub start: BaumWelch,
    /// States have durations of their own.
    pub durations: bool,
    /// The longest duration of a table; `None` for negative binomial durations, which have none.
    pub longest: Option<usize>,
    /// Strings end in a final state.
    pub end: bool,
}

impl SegmentEm {
    /// Fits a model to sequences of one kind, over `size` symbols or channels; `scale` is each channel's standard deviation.
    ///
    /// # Errors
    /// [`FitError`] of an option out of range, and as of [`BaumWelch::fit`].
    pub fn fit(
        &self,
        sequences: &[SamplesView<'_>],
        size: usize,
        scale: &[f64],
    ) -> Result<SemiMarkov, FitError> {
        let longest = self.longest.unwrap_or(1);
        if self.durations && self.start.states < 2 || longest == 0 {
            let (option, wanted) = match longest {
                0 => ("longest", "at least 1"),
                _ => ("states", "at least 2, for durations of their own"),
            };
            let value = if longest == 0 { 0 } else { self.start.states }.to_string();
            return Err(FitError::Option { option, value, wanted });
        }
        let full: Vec<SamplesView<'_>> =
            sequences.iter().filter(|one| !one.is_empty()).copied().collect();
        let begun = self.start.fit(&full, size, scale, &|| ())?.model;
        let mut model = self.started_at(&begun, sequences);
        let family = model.emission.family();
        let moments = FittedMoments::of(&self.start, family, &full, scale);
        let samples: usize = full.iter().map(SamplesView::observed).sum();
        let mut before = f64::NEG_INFINITY;
        for pass in 0..self.start.iterations {
            let (next, log_likelihood) = self.improve(&model, sequences, moments.clone())?;
            // Shrinking steps say that it has converged, as of a hidden Markov model.
            let gain = log_likelihood - before;
            if pass > 0 && gain.abs() <= self.start.tolerance * samples as f64 {
                break;
            }
            (before, model) = (log_likelihood, next);
        }
        Ok(model)
    }

    fn started_at(&self, begun: &Hmm, sequences: &[SamplesView<'_>]) -> SemiMarkov {
        let states = begun.states();
        let (initial, emission) = (begun.initial.clone(), begun.emission.clone());
        let mut model = SemiMarkov {
            initial,
            transition: begun.transition.clone(),
            emission,
            durations: Vec::new(),
            negative_binomial: Vec::new(),
            end: Vec::new(),
        };
        for (state, row) in model.transition.iter_mut().enumerate().filter(|_| self.durations) {
            // One that is never left in the sequences is, some day.
            let stays = row[state].clamp(0.0, 0.999);
            row[state] = 0.0;
            let others: f64 = row.iter().sum();
            for (to, p) in row.iter_mut().enumerate() {
                let even = if to == state { 0.0 } else { 1.0 / (states - 1) as f64 };
                *p = if others > 1e-12 { *p / others } else { even };
            }
            match self.longest {
                None => model.negative_binomial.push(vec![1.0, 1.0 - stays]),
                Some(longest) => {
                    let mut table = vec![1.0; longest];
                    for d in 1..longest {
                        table[d] = table[d - 1] * stays.max(1e-3);
                    }
                    let sum: f64 = table.iter().sum();
                    for p in &mut table {
                        *p /= sum;
                    }
                    model.durations.push(table);
                }
            }
        }
        if self.end {
            let empty = sequences.iter().filter(|one| one.is_empty()).count() as f64;
            let (count, samples): (usize, usize) =
                (sequences.len(), sequences.iter().map(SamplesView::len).sum());
            let empty = empty / count.max(1) as f64;
            let last = (count as f64 / samples.max(1) as f64).min(0.5);
            model.end = vec![last; states];
            for row in &mut model.transition {
                for p in row {
                    *p *= 1.0 - last;
                }
            }
            for p in &mut model.initial {
                *p *= 1.0 - empty;
            }
            model.end.push(empty);
        }
        model
    }

    /// One pass of expectation and maximisation: the next model, and the log-likelihood of the one given.
    ///
    /// Zeros of rows stay zeros, and a row that nothing is expected of stays as it is.
    ///
    /// # Errors
    /// [`FitError`] of a sequence that the model makes impossible, and of an estimate that is no model.
    pub fn improve(
        &self,
        model: &SemiMarkov,
        sequences: &[SamplesView<'_>],
        moments: FittedMoments,
    ) -> Result<(SemiMarkov, f64), FitError> {
        let states = model.states();
        let longest = sequences.iter().map(SamplesView::len).max().unwrap_or(0);
        let expected = each(sequences.len(), &|index| model.counts(sequences[index], longest));
        let mut sum: Option<Expectations> = None;
        for (sequence, one) in expected.into_iter().enumerate() {
            match (one, &mut sum) {
                (Ok(one), None) => sum = Some(one),
                (Ok(one), Some(sum)) => sum.add(&one),
                (Err(why), _) => {
                    return Err(FitError::Impossible { sequence, why: why.to_string() });
                }
            }
        }
        let Some(sum) = sum else { return Err(FitError::NoData) };
        let mut next = model.clone();
        let pseudo = self.start.transition_pseudocount;
        let mut row = model.row(&model.initial, states);
        normalise_into(&mut row, &sum.initial, pseudo);
        next.end.truncate(states);
        next.end.extend(row.get(states));
        row.truncate(states);
        next.initial = row;
        for (from, counts) in sum.pairs[..states].iter().enumerate() {
            let mut row = model.row(&model.transition[from], from);
            normalise_into(&mut row, counts, pseudo);
            if let Some(end) = row.get(states) {
                next.end[from] = *end;
            }
            row.truncate(states);
            next.transition[from] = row;
        }
        for (state, table) in next.durations.iter_mut().enumerate() {
            normalise_into(table, &sum.pairs[states + state], pseudo);
        }
        for (state, law) in next.negative_binomial.iter_mut().enumerate() {
            let own = NegativeBinomial { shape: law[0], success: law[1] };
            let (ended, lasting) = (&sum.pairs[states + state], &sum.pairs[2 * states + state]);
            let fitted = own.maximise(ended, lasting);
            (law[0], law[1]) = (fitted.shape, fitted.success);
        }
        // The emissions' step is that of a hidden Markov model, whatever its chain.
        let even = vec![1.0 / states as f64; states];
        let chain = Hmm {
            initial: even.clone(),
            transition: vec![even; states],
            emission: model.emission.clone(),
        };
        let (emission, log_likelihood) = (sum.emission, sum.log_likelihood);
        let expected = Expectations { emission, ..Expectations::zero(&chain) };
        next.emission = self.start.maximised(&chain, &expected, moments)?.emission;
        next.validate()?;
        Ok((next, log_likelihood))
    }
}
