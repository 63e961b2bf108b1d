//! Fit of a profile to sequences that are not aligned: progressive alignment, then Baum-Welch.

use rand::Rng;

use super::build::{Build, Counts, weights_of};
use super::model::to;
use super::{Aligned, Alignment, Mode, Profile, ProfileError, Residues, SearchProfile, aligned};

/// Fit of a profile to unaligned sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileFit {
    /// Construction of the profile from an alignment: match columns, prior, effective number.
    pub build: Build,
    /// Alignment of a sequence to the profile so far: `true` for any part of it, `false` for all of it.
    pub local: bool,
    /// Number of sequences, of lengths spread over all, that are tried as the first.
    pub seeds: usize,
    /// Number of times that all sequences are aligned again once all are in.
    pub rounds: usize,
    /// Passes of Baum-Welch.
    pub passes: usize,
}

impl Default for ProfileFit {
    /// HMMER's build, parts of the profile, eight seeds, three rounds, no pass.
    fn default() -> Self {
        Self { build: Build::default(), local: true, seeds: 8, rounds: 3, passes: 0 }
    }
}

/// A profile of sequences that were not aligned.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The profile.
    pub profile: Profile,
    /// The last alignment to it before Baum-Welch.
    pub alignment: Alignment,
    /// `sum_s w_s log-odds_s` before each pass of Baum-Welch, in nats, one domain each.
    pub log_odds: Vec<f64>,
}

/// Sequences with their symbols.
struct Items<'s> {
    named: &'s [(String, String)],
    symbols: Vec<Vec<usize>>,
}

impl ProfileFit {
    /// The profile of some named sequences.
    ///
    /// 1. A profile of each of some seeds alone scores all sequences; the seed whose scores above zero sum to
    ///    most stays.
    /// 2. The sequences that score best, twice as many each time, are aligned to the profile by their best
    ///    paths, and the [`Build`] of that alignment is the next profile, if it has a match column; until all are in,
    ///    and some rounds more.
    /// 3. [`baum_welch`](Self::baum_welch), with position-based weights.
    ///
    /// # Errors
    /// A character that is no residue, or no sequence.
    pub fn fit(
        &self,
        name: &str,
        residues: &'static Residues,
        sequences: &[(String, String)],
    ) -> Result<Trained, ProfileError> {
        let symbols = sequences.iter().map(|(name, text)| residues.encode(name, text));
        let items = Items { named: sequences, symbols: symbols.collect::<Result<_, _>>()? };
        let mut profile = self.seed(name, residues, &items)?;
        let count = items.named.len();
        let mut rounds = 0;
        let mut size = 1;
        let alignment = loop {
            size = (2 * size).min(count);
            rounds += usize::from(size == count);
            let best = items.best(&profile, self.mode(), size)?;
            let alignment = items.align(&profile, self.mode(), &best)?;
            if rounds > self.rounds {
                break alignment;
            }
            profile = match self.build.profile_of(&alignment, residues) {
                Ok(next) => Profile { name: name.to_owned(), ..next },
                // Aligned each to another part of it, sequences leave nothing in common: it stays.
                Err(ProfileError::NoMatch { .. }) => profile,
                Err(error) => return Err(error),
            };
        };
        let weights = weights_of(&alignment, residues);
        let symbols: Vec<&[usize]> = items.symbols.iter().map(Vec::as_slice).collect();
        let mut log_odds = Vec::new();
        for _ in 0..self.passes {
            let (next, before) = self.baum_welch(&profile, &symbols, &weights)?;
            profile = next;
            log_odds.push(before);
        }
        Ok(Trained { profile, alignment, log_odds })
    }

    /// A pass of Baum-Welch: expected counts of whole-profile paths with one domain, weighted, scaled to the
    /// effective number of sequences, to the mean of their posterior under the prior. Also the weighted sum of
    /// log-odds before the pass, in nats. Match states are as many as before.
    ///
    /// # Errors
    /// A symbol outside the alphabet, or an empty sequence.
    pub fn baum_welch(
        &self,
        profile: &Profile,
        sequences: &[&[usize]],
        weights: &[f64],
    ) -> Result<(Profile, f64), ProfileError> {
        let mode = Mode { local: false, several: false };
        let search = SearchProfile::new(profile, mode)?;
        let (positions, width) = (profile.len(), profile.residues.len());
        let mut counts = Counts {
            matched: vec![vec![0.0; width]; positions],
            inserted: vec![vec![0.0; width]; positions + 1],
            transition: vec![[0.0; 7]; positions + 1],
        };
        let mut sum = 0.0;
        for (symbols, &weight) in sequences.iter().zip(weights) {
            let expected = search.expectations(symbols, symbols.len())?;
            sum += weight * expected.log_odds;
            for (row, more) in counts.matched.iter_mut().zip(profile.residue_counts(&expected)) {
                row.iter_mut().zip(more).for_each(|(count, more)| *count += weight * more);
            }
            let transition = profile.transition_counts(&expected, mode);
            for (row, more) in counts.transition.iter_mut().zip(transition) {
                row.iter_mut().zip(more).for_each(|(count, more)| *count += weight * more);
            }
            let ended = expected.steps.last().map_or(0.0, |steps| steps.exit);
            counts.transition[positions][to::MATCH_MATCH] += weight * ended;
        }
        let estimate = self.build.estimate(&counts, profile.residues, sequences.len() as f64);
        let mut next = profile.clone();
        // Insertions are searched with as the background; their emissions are not learnt.
        (next.matched, next.transition) = (estimate.matched, estimate.transition);
        next.composition = Some(next.mean_composition());
        next.validate()?;
        Ok((next, sum))
    }

    fn mode(&self) -> Mode {
        Mode { local: self.local, several: false }
    }

    /// The profile of the sequence alone to which the others are nearest.
    fn seed(
        &self,
        name: &str,
        residues: &'static Residues,
        items: &Items<'_>,
    ) -> Result<Profile, ProfileError> {
        let mut order: Vec<usize> = (0..items.named.len()).collect();
        order.sort_by_key(|&s| items.symbols[s].len());
        let tried = self.seeds.clamp(1, order.len().max(1));
        let mut found: Option<(f64, Profile)> = None;
        for number in 0..tried {
            // The middles of `tried` equal shares.
            let Some(&seed) = order.get((2 * number + 1) * order.len() / (2 * tried)) else {
                break;
            };
            let (label, text) = &items.named[seed];
            let alone = Alignment {
                name: name.to_owned(),
                about: Vec::new(),
                names: vec![label.clone()],
                rows: vec![text.chars().collect()],
                marks: Vec::new(),
            };
            let profile = self.build.profile_of(&alone, residues)?;
            let scores = SearchProfile::new(&profile, self.mode())?.scores(&items.symbols)?;
            let sum = scores.iter().map(|score| score.max(0.0)).sum();
            if found.as_ref().is_none_or(|(best, _)| sum > *best) {
                found = Some((sum, profile));
            }
        }
        found.map(|(_, profile)| profile).ok_or_else(|| ProfileError::Alignment {
            name: name.to_owned(),
            what: "has no sequence".into(),
        })
    }
}

impl Items<'_> {
    /// The sequences that score best.
    fn best(&self, profile: &Profile, mode: Mode, size: usize) -> Result<Vec<usize>, ProfileError> {
        let scores = SearchProfile::new(profile, mode)?.scores(&self.symbols)?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        if size < order.len() {
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            order.truncate(size);
        }
        Ok(order)
    }

    fn align(
        &self,
        profile: &Profile,
        mode: Mode,
        order: &[usize],
    ) -> Result<Alignment, ProfileError> {
        let search = SearchProfile::new(profile, mode)?;
        let paths = order.iter().map(|&s| {
            let symbols = &self.symbols[s];
            search.best_path(symbols, symbols.len())
        });
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        let rows: Vec<Aligned<'_>> = order
            .iter()
            .zip(&paths)
            .map(|(&s, path)| {
                let (name, sequence) = &self.named[s];
                Aligned { name, sequence, start: 0, states: &path.states }
            })
            .collect();
        Ok(aligned(profile, &rows))
    }
}

impl Profile {
    /// Draws a domain from the core model: the residues of a path from `B` to `E`, `[symbol]`. It may be empty.
    pub fn sample(&self, random: &mut impl Rng) -> Vec<usize> {
        let mut choose = |weights: &[f64]| {
            let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
            let passed = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            passed.or_else(|| weights.iter().rposition(|&w| w > 0.0)).unwrap_or(0)
        };
        let mut symbols = Vec::new();
        // `M_0` is the begin state, `M_K+1` the end.
        let (mut k, mut kind) = (0, 0);
        loop {
            let row = &self.transition[k];
            let way = match kind {
                0 => choose(&row[0..3]),
                1 => [0, 1][choose(&row[3..5])],
                _ => [0, 2][choose(&row[5..7])],
            };
            kind = way;
            k += usize::from(way != 1);
            if k > self.len() {
                return symbols;
            }
            match kind {
                0 => symbols.push(choose(&self.matched[k - 1])),
                1 => symbols.push(choose(&self.inserted[k])),
                _ => {}
            }
        }
    }
}
