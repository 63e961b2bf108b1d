//! The samples of a live stream against the channels of the training.

use std::collections::{BTreeSet, VecDeque};

use fishweir::data::{Dataset, Kind, Rows, Sample, Samples, Series, UnitMatch};
use fishweir::deploy::Deployed;

use crate::tell;

/// Samples that are judged at once, and after which the next are; fewer where the stream ends before.
const JUDGED: usize = 500;

/// The last samples of a stream, and what was noted of it.
pub(super) struct Scales<'a> {
    deployed: &'a Deployed,
    kind: Kind,
    rows: VecDeque<Vec<f64>>,
    /// Samples since the last judgement.
    new: usize,
    judged: bool,
    told: BTreeSet<(&'static str, String)>,
}

impl<'a> Scales<'a> {
    pub(super) fn new(deployed: &'a Deployed, kind: Kind) -> Self {
        let (rows, told) = (VecDeque::new(), BTreeSet::new());
        Self { deployed, kind, rows, new: 0, judged: false, told }
    }

    /// Takes in a sample of some line; notes other scales after each 500.
    pub(super) fn take(&mut self, sample: Sample<'_>, line: u64, units: &[UnitMatch]) {
        let Sample::Row(row) = sample else { return };
        // The memory of the oldest row is used again.
        let mut kept =
            if self.rows.len() < JUDGED { None } else { self.rows.pop_front() }.unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(row);
        self.rows.push_back(kept);
        self.new += 1;
        if self.new == JUDGED {
            self.judge(line, units);
        }
    }

    /// Judges the last samples, where there are new ones: a channel is noted once per stream.
    pub(super) fn judge(&mut self, line: u64, units: &[UnitMatch]) {
        let later = std::mem::replace(&mut self.judged, true);
        let (Some(contract), true) = (self.deployed.contract(), self.new > 0) else { return };
        self.new = 0;
        let mut samples = Rows::new(self.kind.dimension().unwrap_or_default());
        self.rows.iter().for_each(|row| samples.push(Some(row)));
        let series = Series {
            id: "0".to_owned(),
            label: None,
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Channels(samples),
            line: 0,
        };
        let source = match later {
            false => "standard input".to_owned(),
            true => format!("standard input, the {} samples up to line {line}", self.rows.len()),
        };
        let data = Dataset::new(source, self.kind.clone(), Vec::new(), Vec::new(), vec![series]);
        // Of no sample there is nothing to say.
        if let Ok(data) = data {
            let data = data.with_unit_matches(units.to_vec());
            tell::scales(&data, contract, &[], &mut self.told);
        }
    }
}
