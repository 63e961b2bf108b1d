//! The samples of a live stream against the channels of the training.

use std::collections::VecDeque;

use fishweir::classifier::{Contract, OtherScale};
use fishweir::data::{Dataset, Kind, Rows, Sample, Samples, Series, UnitMatch};
use fishweir::report::counted;

use crate::{Topic, note, tell};

/// Samples that are judged at once, and after which the next are; fewer where the stream ends before.
const JUDGED: usize = 500;

/// New samples by which a change is judged at the end of a stream.
const FEWEST: usize = 50;

/// The last samples of a stream, and the notes on it.
pub(super) struct Scales {
    contract: Option<Contract>,
    kind: Kind,
    rows: VecDeque<Vec<f64>>,
    /// The last number of each channel, and for how many samples it has been that.
    rests: Vec<(f64, usize)>,
    /// Samples since the last judgement.
    new: usize,
    judged: bool,
    /// Findings of the last judgement that were not noted: if a scale changes within its samples, the next ones have it whole.
    found: Option<(String, Vec<OtherScale>)>,
    noted: tell::Noted,
}

impl Scales {
    pub(super) fn new(contract: Option<Contract>, kind: Kind) -> Self {
        let (rows, noted) = (VecDeque::new(), tell::Noted::new());
        let rests = vec![(f64::NAN, 0); kind.dimension().unwrap_or_default()];
        Self { contract, kind, rows, rests, new: 0, judged: false, found: None, noted }
    }

    /// Begins another series: no channel rests across two.
    pub(super) fn begin_series(&mut self) {
        self.rests.fill((f64::NAN, 0));
    }

    /// Takes in a sample of some line; notes channels that rest too long, and other scales after each 500.
    pub(super) fn take(&mut self, sample: Sample<'_>, line: u64, units: &[UnitMatch]) {
        let Sample::Row(row) = sample else { return };
        // The memory of the oldest row is used again.
        let mut kept =
            if self.rows.len() < JUDGED { None } else { self.rows.pop_front() }.unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(row);
        self.rows.push_back(kept);
        self.rest(row, line);
        self.new += 1;
        if self.new == JUDGED {
            self.judge(line, units, false);
        }
    }

    /// Notes a channel that keeps one number for 64 samples and moved all the time in training.
    fn rest(&mut self, row: &[f64], line: u64) {
        let (Some(contract), Kind::Channels(names)) = (&self.contract, &self.kind) else {
            return;
        };
        let each = self.rests.iter_mut().zip(row).zip(names).zip(&contract.channels);
        for ((((last, length), &value), name), trained) in each {
            *length = if value == *last { *length + 1 } else { 1 };
            *last = value;
            if trained.longest_rest() == Some(*length)
                && self.noted.insert((Topic::ConstantChannel.into(), name.clone()))
            {
                note(
                    Topic::ConstantChannel,
                    format_args!(
                        "standard input, line {line}: channel `{name}` has had the same value for {}; in training it \
                        changed more often",
                        counted(*length, "sample")
                    ),
                );
            }
        }
    }

    /// Judges the last samples, where there are new ones: a channel is noted once per stream.
    pub(super) fn judge(&mut self, line: u64, units: &[UnitMatch], ends: bool) {
        let later = std::mem::replace(&mut self.judged, true);
        if ends && self.new == 0 {
            // No further sample says otherwise.
            if let Some((source, others)) = self.found.take() {
                tell::other_scales(&source, &others, &mut self.noted);
            }
        }
        let (Some(contract), true) = (&self.contract, self.new > 0) else { return };
        // After a change it is the new samples that say.
        let new = std::mem::take(&mut self.new);
        let old = if self.found.is_some() && new >= FEWEST { self.rows.len() - new } else { 0 };
        let mut samples = Rows::new(self.rests.len());
        self.rows.iter().skip(old).for_each(|row| samples.push(Some(row)));
        let source = match later {
            false => "standard input".to_owned(),
            true => {
                format!("standard input, the {} samples up to line {line}", samples.view().len())
            }
        };
        let series = Series {
            id: "0".to_owned(),
            label: None,
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Channels(samples),
            line: 0,
        };
        let data = Dataset::new(source, self.kind.clone(), Vec::new(), Vec::new(), vec![series]);
        // Of no sample there is nothing to say.
        let Ok(data) = data else { return };
        let data = data.with_unit_matches(units.to_vec());
        tell::resting(&data, contract, &mut self.noted);
        let others = tell::not_noted(contract.other_scales(&data, &[]), &self.noted);
        match self.found.take() {
            None if later && !ends && !others.is_empty() => {
                self.found = Some((data.source().to_owned(), others));
            }
            found => {
                tell::other_scales(data.source(), &others, &mut self.noted);
                // A channel that was off in the samples before alone.
                if let Some((source, before)) = found {
                    let before = tell::not_noted(before, &self.noted);
                    tell::other_scales(&source, &before, &mut self.noted);
                }
            }
        }
    }
}
