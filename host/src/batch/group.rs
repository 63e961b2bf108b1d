//! Groups of sequences, step by step: aligned at their ends, so that they end together.

use fishweir_core::emission::{Emission, Row};
use fishweir_core::filter::Beliefs;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Lanes, Real};
use multiversion::multiversion;

/// The filter's rows of a group, `[step][set of lanes][state][lane]`.
pub(crate) type Rows<T, const N: usize, const W: usize, const L: usize> = [[[Lanes<T, L>; N]; W]];

/// Observations of the lanes of a group, in `W` sets of `L` lanes. Step `steps - 1` is every sequence's last
/// sample.
pub(crate) trait Group<
    T: Real,
    E: Emission<Weight = T>,
    const N: usize,
    const W: usize,
    const L: usize,
>
{
    /// The longest sequence's samples.
    fn steps(&self) -> usize;

    /// Number of samples of a lane's sequence; 0 past the last.
    fn length(&self, lane: usize) -> usize;

    /// Observation of a lane: `None` before its first sample, `Some(None)` for a missing one.
    fn sample(&self, step: usize, lane: usize) -> Option<Option<&E::Observation>>;

    /// Takes steps of all lanes from `step` on, each set's in turn, and says how many: all, or those before
    /// the one of which a lane needs care. Keeps their rows if `KEEP`.
    fn advance<const KEEP: bool>(
        &mut self,
        hmm: &Hmm<E, N>,
        step: usize,
        state: &mut [Beliefs<T, N, L>; W],
        rows: &mut Rows<T, N, W, L>,
    ) -> usize;

    /// Ends a lane: it observes nothing more.
    fn drop_lane(&mut self, lane: usize);

    /// The step of a lane's first sample.
    fn start(&self, lane: usize) -> usize {
        self.steps() - self.length(lane)
    }
}

/// Largest number of states for groups: with more, one sequence fills the vector units, and lanes would leave the caches.
pub(super) const MOST_STATES: usize = 32;

/// Groups sequences of similar length, in groups of at most `sets` sets of `lanes`.
///
/// Longest first. A group whose samples would leave most lanes of its sets empty is given one by one.
pub(super) fn arrange(
    (sets, lanes): (usize, usize),
    lengths: impl Iterator<Item = usize>,
) -> Vec<Vec<usize>> {
    /// Number of lanes of which one full lane justifies the work of all.
    const WORTH: usize = 4;
    let lengths: Vec<usize> = lengths.collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    let mut groups = Vec::new();
    for group in order.chunks(sets * lanes) {
        let samples: usize = group.iter().map(|&index| lengths[index]).sum();
        if WORTH * samples >= group.len().next_multiple_of(lanes) * lengths[group[0]] {
            groups.push(group.to_vec());
        } else {
            groups.extend(group.iter().map(|&index| vec![index]));
        }
    }
    groups
}

/// Samples of any family: rows of likelihoods are had lane by lane.
pub(super) struct Any<'a, X: ?Sized> {
    /// `[lane][time]`.
    sequences: Vec<Vec<Option<&'a X>>>,
    steps: usize,
}

impl<'a, X: ?Sized> Any<'a, X> {
    /// Lays sequences side by side.
    pub(super) fn new(sequences: Vec<Vec<Option<&'a X>>>) -> Self {
        let steps = sequences.iter().map(Vec::len).max().unwrap_or(0);
        Self { sequences, steps }
    }

    /// Observation of a lane: `None` before its first sample.
    pub(super) fn at(&self, step: usize, lane: usize) -> Option<Option<&'a X>> {
        let samples = self.sequences.get(lane)?;
        let time = (step + samples.len()).checked_sub(self.steps)?;
        samples.get(time).copied()
    }

    /// Likelihoods of one step, `[state][lane]`, and their log scales; `false` where a lane needs care.
    ///
    /// Lanes without a sample have likelihoods of one.
    #[inline(always)]
    fn likelihood<T: Real, E, const N: usize, const L: usize>(
        &self,
        states: &[E; N],
        step: usize,
        likelihood: &mut [Lanes<T, L>; N],
        log_scale: &mut [T; L],
    ) -> bool
    where
        E: Emission<Weight = T, Observation = X>,
    {
        for (lane, samples) in self.sequences.iter().enumerate() {
            let Some(time) = (step + samples.len()).checked_sub(self.steps) else { continue };
            let row = match samples.get(time) {
                // The first sample needs care.
                Some(Some(x)) if time > 0 => E::row(states, x),
                Some(_) => None,
                None => continue,
            };
            let Some(Row { likelihood: row, log_scale: scale }) = row else { return false };
            for state in 0..N {
                likelihood[state].0[lane] = row[state];
            }
            log_scale[lane] = scale;
        }
        true
    }
}

impl<T: Real, X: ?Sized, E, const N: usize, const L: usize> Group<T, E, N, 1, L> for Any<'_, X>
where
    E: Emission<Weight = T, Observation = X>,
{
    fn steps(&self) -> usize {
        self.steps
    }

    fn length(&self, lane: usize) -> usize {
        self.sequences.get(lane).map_or(0, Vec::len)
    }

    fn sample(&self, step: usize, lane: usize) -> Option<Option<&X>> {
        self.at(step, lane)
    }

    fn advance<const KEEP: bool>(
        &mut self,
        hmm: &Hmm<E, N>,
        step: usize,
        state: &mut [Beliefs<T, N, L>; 1],
        rows: &mut Rows<T, N, 1, L>,
    ) -> usize {
        let [state] = state;
        advance::<T, X, E, N, L, KEEP>(self, hmm, step, state, rows)
    }

    fn drop_lane(&mut self, lane: usize) {
        self.sequences[lane].clear();
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn advance<T, X: ?Sized, E, const N: usize, const L: usize, const KEEP: bool>(
    group: &Any<'_, X>,
    hmm: &Hmm<E, N>,
    first: usize,
    state: &mut Beliefs<T, N, L>,
    rows: &mut Rows<T, N, 1, L>,
) -> usize
where
    T: Real,
    E: Emission<Weight = T, Observation = X>,
{
    let mut likelihood = [Lanes([T::ONE; L]); N];
    let mut log_scale = [T::ZERO; L];
    for step in first..group.steps {
        let plain = group.likelihood(hmm.emission(), step, &mut likelihood, &mut log_scale);
        if !plain || !state.step(hmm.chain(), &likelihood) {
            return step - first;
        }
        if E::SCALED {
            state.add_log_scale(&log_scale);
        }
        if let Some(row) = rows.get_mut(step).filter(|_| KEEP) {
            *row = [*state.rows()];
        }
    }
    group.steps - first
}

#[cfg(test)]
mod tests {
    use super::arrange;

    #[test]
    fn groups_are_worth_the_lanes_of_their_sets() {
        let sizes = |sequences: usize| -> Vec<usize> {
            let lengths = std::iter::repeat_n(100, sequences);
            arrange((2, 16), lengths).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(3), [1, 1, 1]);
        assert_eq!(sizes(4), [4]);
        assert_eq!(sizes(20), [20]);
        assert_eq!(sizes(36), [32, 4]);
    }
}
