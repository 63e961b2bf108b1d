//! The first samples of a live stream, held against the channels of the training.

use fishweir::data::{Dataset, Kind, Rows, Sample, Samples, Series};
use fishweir::deploy::Deployed;

use crate::tell;

/// Samples that are held against the training; fewer where the stream ends before.
const JUDGED: usize = 500;

/// The rows of the first samples; none once they were judged.
pub(super) struct Scales<'a> {
    deployed: &'a Deployed,
    kind: Kind,
    rows: Option<Rows>,
}

impl<'a> Scales<'a> {
    pub(super) fn new(deployed: &'a Deployed, kind: Kind) -> Self {
        let rows = kind.dimension().map(Rows::new);
        Self { deployed, kind, rows }
    }

    /// Takes in a sample, and tells of other scales after enough of them.
    pub(super) fn take(&mut self, sample: Sample<'_>) {
        let (Sample::Row(row), Some(rows)) = (sample, &mut self.rows) else { return };
        rows.push(Some(row));
        if rows.view().len() == JUDGED {
            self.judge();
        }
    }

    /// Tells of other scales where that was not done.
    pub(super) fn judge(&mut self) {
        let (Some(rows), Some(contract)) = (self.rows.take(), self.deployed.contract()) else {
            return;
        };
        let series = Series {
            id: "0".to_owned(),
            label: None,
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Channels(rows),
            line: 0,
        };
        let [classes, columns] = [Vec::new(), Vec::new()];
        // Of no sample there is nothing to say.
        let data =
            Dataset::new("standard input", self.kind.clone(), classes, columns, vec![series]);
        data.iter().for_each(|data| tell::scales(data, contract, &[]));
    }
}
