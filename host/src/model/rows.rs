//! Common functions of models with one row of probabilities per context: counting, score, estimate, drawing, information.

use fishweir_core::ObservationError;
use fishweir_core::context::ContextRule;
use fishweir_core::emission::{Parametrisation, Probabilities, maximise_row};
use fishweir_core::smooth::SequenceError;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::ContextModelError;
use super::{ModelScore, NoScore};
use crate::data::SamplesView;
use crate::elementary::Elementary;
use crate::parallel::each;
use crate::runtime::numbers::{choose, push_row};

/// Probabilities or counts, `[context][event]`.
pub(super) type Table = Vec<Vec<f64>>;

/// Counts of each event in each context.
///
/// What is counted when is the core's rule; in which of `C` contexts is for run time, so none of its
/// constants.
pub(super) fn count(
    rule: &impl ContextRule<usize, 1>,
    probability: &Table,
    events: impl Iterator<Item = Option<usize>>,
) -> Result<Table, SequenceError> {
    let mut counts: Table = probability.iter().map(|row| vec![0.0; row.len()]).collect();
    let mut place = rule.start();
    for (time, event) in events.enumerate() {
        let refused = |error| SequenceError::Observation { time, error };
        let Some(event) = event else {
            place = rule.skip(place);
            continue;
        };
        let (context, next) = rule.step(place, &event).map_err(refused)?;
        if let Some(context) = context
            && let (Some(row), Some(counts)) = (probability.get(context), counts.get_mut(context))
        {
            match (row.get(event), counts.get_mut(event)) {
                (Some(&p), Some(count)) if p > 0.0 => *count += 1.0,
                (Some(_), _) => return Err(refused(ObservationError::Impossible)),
                (None, _) => return Err(refused(ObservationError::UnknownSymbol)),
            }
        }
        place = next;
    }
    Ok(counts)
}

/// The score of each sequence from its counts, in parallel.
pub(super) fn scores(
    probability: &Table,
    sequences: &[SamplesView<'_>],
    parametrisation: Parametrisation,
    count: impl Fn(SamplesView<'_>) -> Result<Table, SequenceError> + Sync,
) -> Vec<Result<ModelScore, SequenceError>> {
    let score =
        |samples: &SamplesView<'_>| Ok(score(probability, &count(*samples)?, parametrisation));
    each(sequences.len(), &|index| score(&sequences[index]))
}

/// `log p = sum n log p` and its gradient, context after context.
fn score(probability: &Table, counts: &Table, parametrisation: Parametrisation) -> ModelScore {
    let mut score = Vec::with_capacity(parameters(probability));
    let mut log_likelihood = 0.0;
    for (row, counts) in probability.iter().zip(counts) {
        push_row(row, counts, parametrisation, &mut score);
        let seen = row.iter().zip(counts).filter(|(_, count)| **count > 0.0);
        log_likelihood += seen.map(|(p, count)| count * p.portable_ln()).sum::<f64>();
    }
    ModelScore { log_likelihood, score }
}

/// The rows under which counts are likeliest; zeros stay zeros, rows never counted stay as they are.
pub(super) fn maximise(probability: &mut Table, counts: &Table, pseudo_count: f64) {
    for (row, counts) in probability.iter_mut().zip(counts) {
        let old = row.clone();
        maximise_row(&old, counts, pseudo_count, row);
    }
}

/// The counts of all sequences.
pub(super) fn total(
    sequences: &[SamplesView<'_>],
    count: impl Fn(SamplesView<'_>) -> Result<Table, SequenceError>,
) -> Result<Table, NoScore> {
    let mut sum: Table = Vec::new();
    for (sequence, samples) in sequences.iter().enumerate() {
        let counts = count(*samples).map_err(|why| NoScore { sequence, why })?;
        if sum.is_empty() {
            sum = counts;
            continue;
        }
        for (sum, count) in sum.iter_mut().flatten().zip(counts.iter().flatten()) {
            *sum += count;
        }
    }
    Ok(sum)
}

/// Checks a pseudo-count.
///
/// # Errors
/// [`ContextModelError::PseudoCount`].
pub(super) fn check_pseudo_count(pseudo_count: f64) -> Result<(), ContextModelError> {
    if pseudo_count.is_finite() && pseudo_count >= 0.0 {
        Ok(())
    } else {
        Err(ContextModelError::PseudoCount(pseudo_count))
    }
}

/// Rows without a preference.
pub(super) fn uniform(contexts: usize, events: usize) -> Table {
    vec![vec![1.0 / events as f64; events]; contexts]
}

/// Entries of a score.
pub(super) fn parameters(probability: &Table) -> usize {
    probability.iter().map(Vec::len).sum()
}

/// Symbols drawn until an event past the last of them, the rule's end, or `at_most` of them. One that
/// is not predicted is any, all as likely.
pub(super) fn draw(
    rule: &impl ContextRule<usize, 1>,
    probability: &Table,
    symbols: usize,
    at_most: usize,
    seed: u64,
) -> Vec<Option<u16>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut place = rule.start();
    let mut drawn = Vec::new();
    while drawn.len() < at_most {
        // In which context the next event is does not depend on it.
        let Ok((context, _)) = rule.step(place, &0) else { break };
        let event = match context.and_then(|context| probability.get(context)) {
            Some(row) => choose(row, &mut rng),
            None => rng.random_range(0..symbols),
        };
        match rule.step(place, &event) {
            Ok((_, next)) if event < symbols => place = next,
            _ => break,
        }
        drawn.push(u16::try_from(event).ok());
    }
    drawn
}

/// The information of rows that are expected to be used so often, `[context]`: scores of different
/// contexts are uncorrelated, because each event's has mean zero whatever came before.
///
/// ```text
/// ratio    I_(c j)(c k) = v_c ( [j = k] / p_cj - 1 )          softmax    v_c ( [j = k] p_cj - p_cj p_ck )
/// ```
///
/// and zero where a probability is.
pub(super) fn information(
    probability: &Table,
    visits: &[f64],
    parametrisation: Parametrisation,
) -> Vec<Vec<f64>> {
    let entries: Vec<(usize, f64)> = probability
        .iter()
        .enumerate()
        .flat_map(|(context, row)| row.iter().map(move |&p| (context, p)))
        .collect();
    let of_pair = |a: usize, b: usize| {
        let ((context, p), (other, q)) = (entries[a], entries[b]);
        if context != other || p == 0.0 || q == 0.0 {
            return 0.0;
        }
        let same = if a == b { 1.0 } else { 0.0 };
        visits[context]
            * match parametrisation.probabilities {
                Probabilities::Ratio => same / p - 1.0,
                Probabilities::Softmax => same * p - p * q,
            }
    };
    let row = |a| (0..entries.len()).map(|b| of_pair(a, b)).collect();
    (0..entries.len()).map(row).collect()
}

/// The symbols of the `n`th sequence, the last one varying fastest.
pub(crate) fn digits(mut n: usize, symbols: usize, length: usize) -> Vec<u16> {
    let mut sequence = vec![0; length];
    for symbol in sequence.iter_mut().rev() {
        *symbol = (n % symbols) as u16;
        n /= symbols;
    }
    sequence
}
