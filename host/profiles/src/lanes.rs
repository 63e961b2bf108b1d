//! Many sequences against one profile: side by side in lanes of `f32`, and over threads.

use fishweir_core::number::{Lanes, Number, Real};
use fishweir_core::profile_hmm::{Cell, Flanks, Steps, advance, rescale};
use multiversion::multiversion;
use rayon::prelude::*;

use super::posterior::{Ahead, WITHIN};
use super::{ProfileError, SearchProfile};
use fishweir::internals::LANES;

type Row = Lanes<f32, LANES>;

/// No symbol yet.
const NONE: u8 = u8::MAX;

/// A search profile in `f32`.
struct Model {
    /// `[symbol][position]`, and last a row of zeros for what has not begun.
    odds: Vec<Vec<f32>>,
    steps: Vec<Steps<f32>>,
}

/// Sequences of similar length, aligned at their ends.
struct Group {
    /// Index of the sequence in each lane.
    members: Vec<usize>,
    /// The step of a lane's first symbol.
    starts: [usize; LANES],
    /// `[step][lane]`; [`NONE`] before the first.
    symbols: Vec<[u8; LANES]>,
    flanks: Flanks<Row>,
}

/// Intermediate results of a forward pass for the backward one.
#[derive(Default)]
struct ForwardRows {
    /// `M_k`, `[step][position]`.
    matched: Vec<Row>,
    /// Logarithms of the scale of each column, `[step][lane]`.
    logs: Vec<Row>,
}

impl Model {
    fn new(profile: &SearchProfile) -> Self {
        let odds = (0..profile.residues.symbols())
            .map(|symbol| profile.odds(symbol).iter().map(|&odds| odds as f32).collect())
            .chain([vec![0.0; profile.positions()]])
            .collect();
        let steps = profile.steps.iter().map(|steps| {
            let weights = steps.to_array().map(|weight| weight as f32);
            Steps::from_array(weights)
        });
        Self { odds, steps: steps.collect() }
    }

    /// The odds of a step's symbols, `[position][lane]`.
    #[inline(always)]
    fn fill(&self, symbols: &[u8; LANES], row: &mut [Row]) {
        for (lane, &symbol) in symbols.iter().enumerate() {
            let odds = &self.odds[usize::from(symbol).min(self.odds.len() - 1)];
            for (row, &odds) in row.iter_mut().zip(odds) {
                row.0[lane] = odds;
            }
        }
    }
}

impl Group {
    fn new<S: AsRef<[usize]>>(
        profile: &SearchProfile,
        sequences: &[S],
        members: &[usize],
        length: Option<usize>,
    ) -> Result<Self, ProfileError> {
        let all: Vec<&[usize]> = members.iter().map(|&index| sequences[index].as_ref()).collect();
        let steps = all.iter().map(|symbols| symbols.len()).max().unwrap_or(0);
        let mut group = Self {
            members: members.to_vec(),
            starts: [0; LANES],
            symbols: vec![[NONE; LANES]; steps],
            flanks: profile.flanks(steps).map(|weight| Row::lift(weight as f32)),
        };
        for (lane, symbols) in all.iter().enumerate() {
            if symbols.is_empty() || symbols.iter().any(|&x| x > profile.residues.symbols()) {
                return Err(ProfileError::Impossible);
            }
            let start = steps - symbols.len();
            group.starts[lane] = start;
            for (slot, &symbol) in group.symbols[start..].iter_mut().zip(*symbols) {
                slot[lane] = symbol as u8;
            }
            let own = profile.flanks(length.unwrap_or(symbols.len()));
            let Flanks { stay, begin, again, last, finish, missing } = &mut group.flanks;
            for (lanes, weight) in
                [stay, begin, again, last, finish, missing].into_iter().zip(own.to_array())
            {
                lanes.0[lane] = weight as f32;
            }
        }
        Ok(group)
    }
}

/// The log-odds of every lane's sequence, in nats.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn forward(model: &Model, group: &Group, kept: Option<&mut ForwardRows>) -> Row {
    let mut kept = kept;
    let mut cells = vec![Cell::<Row>::ZERO; model.steps.len()];
    let mut around = [Row::ONE, Row::ZERO, Row::ZERO];
    let mut ledger = Row::UNSCALED;
    let mut row = vec![Row::ZERO; model.steps.len()];
    for (step, symbols) in group.symbols.iter().enumerate() {
        if step > 0 && group.starts.contains(&step) {
            for lane in (0..LANES).filter(|&lane| group.starts[lane] == step) {
                for cell in &mut cells {
                    for entry in [&mut cell.matched, &mut cell.inserted, &mut cell.deleted] {
                        entry.0[lane] = 0.0;
                    }
                }
                for (entry, first) in around.iter_mut().zip([1.0, 0.0, 0.0]) {
                    entry.0[lane] = first;
                }
                ledger[lane] = f32::UNSCALED;
            }
        }
        model.fill(symbols, &mut row);
        let odds = row.iter().copied();
        let sum = advance(&mut cells, &mut around, &model.steps, &group.flanks, odds);
        if !sum.is_between(-WITHIN, WITHIN) {
            rescale(&mut cells, &mut around, sum, &mut ledger);
        }
        if let Some(kept) = &mut kept {
            kept.matched.extend(cells.iter().map(|cell| cell.matched));
            kept.logs.push(Row::log(Row::ONE, &ledger));
        }
    }
    Row::log(around[2].times(group.flanks.finish), &ledger)
}

/// Expected counts of the symbols that match states emit, `[lane][symbol][position]`, given a forward pass.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn backward(
    model: &Model,
    group: &Group,
    kept: &ForwardRows,
    log_odds: &Row,
    counts: &mut [Vec<f32>],
) {
    let positions = model.steps.len();
    let mut ahead = Ahead::<Row>::last(&model.steps, &group.flanks);
    let mut row = vec![Row::ZERO; positions];
    let columns = kept.matched.chunks_exact(positions).zip(&kept.logs);
    for (symbols, (column, log)) in group.symbols.iter().zip(columns).rev() {
        let behind = Row::log(Row::ONE, &ahead.ledger);
        let mut weight = *log;
        for lane in 0..LANES {
            let log = log.0[lane] + (behind.0[lane] - log_odds.0[lane]);
            // Twice the root: a factor alone may be out of range.
            weight.0[lane] = Real::exp(0.5 * log);
        }
        for ((row, &matched), cell) in row.iter_mut().zip(column).zip(&ahead.cells) {
            *row = matched.times(weight).times(cell.matched.times(weight));
        }
        for (lane, counts) in counts.iter_mut().enumerate() {
            let symbol = usize::from(symbols[lane]);
            let Some(counts) = counts.chunks_exact_mut(positions).nth(symbol) else { continue };
            for (count, row) in counts.iter_mut().zip(&row) {
                *count += row.0[lane];
            }
        }
        model.fill(symbols, &mut row);
        ahead.step_back(&model.steps, &group.flanks, &mut row);
    }
}

impl SearchProfile {
    /// [`score`](Self::score) of many sequences, in bits and in their order: in `f32`, to some `10^-4`.
    ///
    /// Sequences of similar length lie side by side in [16 lanes](fishweir::batch), groups share the threads.
    ///
    /// # Errors
    /// A symbol outside the alphabet, or an empty sequence.
    pub fn scores<S: AsRef<[usize]> + Sync>(
        &self,
        sequences: &[S],
    ) -> Result<Vec<f64>, ProfileError> {
        let model = Model::new(self);
        let each = |group: &Group| forward(&model, group, None).0.to_vec();
        let logs = self.grouped(sequences, None, each)?;
        let bits = logs.into_iter().zip(sequences).map(|(log, sequence)| {
            let null = Self::null_log(sequence.as_ref().len());
            (f64::from(log) - null) / std::f64::consts::LN_2
        });
        Ok(bits.collect())
    }

    /// Applies `read` to the expected counts and the log-odds of every sequence, in order.
    ///
    /// The counts are of symbols in match states, `[symbol][position]` as in
    /// [`Expectations::matched`](super::Expectations::matched). The log-odds are in nats, without the null model's length, as
    /// [`forward`](Self::forward) has them. Flanks are those of a length, or of each sequence's own. Both are in `f32`.
    ///
    /// RAM: `64 K` bytes per symbol of the longest sequence and per thread.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub fn match_counts<S: AsRef<[usize]> + Sync, R: Send>(
        &self,
        sequences: &[S],
        length: Option<usize>,
        read: impl Fn(usize, f64, &[f32]) -> R + Sync,
    ) -> Result<Vec<R>, ProfileError> {
        let model = Model::new(self);
        let size = self.residues.symbols() * self.positions();
        self.grouped(sequences, length, |group: &Group| {
            let mut kept = ForwardRows::default();
            let logs = forward(&model, group, Some(&mut kept));
            let mut counts = vec![vec![0.0; size]; group.members.len()];
            backward(&model, group, &kept, &logs, &mut counts);
            let members = group.members.iter().zip(logs.0).zip(&counts);
            let one = |((&index, log), counts): ((&usize, f32), &Vec<f32>)| {
                read(index, f64::from(log), counts)
            };
            members.map(one).collect()
        })
    }

    /// Computes groups and returns the results of their members, in the order of the sequences.
    fn grouped<S: AsRef<[usize]> + Sync, R: Send>(
        &self,
        sequences: &[S],
        length: Option<usize>,
        each: impl Fn(&Group) -> Vec<R> + Sync,
    ) -> Result<Vec<R>, ProfileError> {
        // Only checks the weights.
        self.view(&self.flanks(1))?;
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(sequences[index].as_ref().len()));
        let found = order
            .par_chunks(LANES)
            .map(|members| Ok(each(&Group::new(self, sequences, members, length)?)))
            .collect::<Result<Vec<Vec<R>>, ProfileError>>()?;
        let mut found: Vec<(usize, R)> =
            order.iter().copied().zip(found.into_iter().flatten()).collect();
        found.sort_unstable_by_key(|&(index, _)| index);
        Ok(found.into_iter().map(|(_, one)| one).collect())
    }
}
