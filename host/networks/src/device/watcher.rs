//! A network as the model of a project.

use fishweir::project::{ProjectBoard, WatchedRecording, Watcher, WatcherKind};
use fishweir_core::classify::Decision;

use super::DeployedEvents;
use crate::NetworkError;
use crate::records::{MISSING, Records};

/// Records of noise in place of recordings.
const NOISE: usize = 64;

impl DeployedEvents {
    /// The model of a project, with what it finds in the first of these records; without any, in noise.
    ///
    /// # Errors
    /// Records that do not fit.
    pub fn watcher(
        &self,
        board: &ProjectBoard,
        records: Option<&Records>,
    ) -> Result<Watcher, NetworkError> {
        let (columns, cost) = (self.columns(), self.cost());
        let bytes = 2 * columns.len() + 2;
        let drawn = self.noise();
        let noise = records.is_none_or(Records::is_empty);
        let all = records.filter(|records| !records.is_empty()).unwrap_or(&drawn);
        let most: usize = Watcher::most_samples(board, bytes).iter().sum();
        let first: Vec<usize> = (0..all.len().min(most)).collect();
        let recording = self.recording(&all.subset(&first))?;
        let names = columns.iter().map(|column| column.name.escape_debug().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let (kind, finds, found) = match self {
            Self::Sum(sum) => {
                let classes = sum.classes.iter().map(|name| name.escape_debug().to_string());
                let classes = classes.collect::<Vec<_>>().join(", ");
                let finds = format!("one class per record, of {classes}");
                (WatcherKind::RecordClassifier, finds, sum.classes.clone())
            }
            Self::Alarm(_) => {
                let found = columns.iter().map(|column| column.name.to_string()).collect();
                (WatcherKind::RecordAlarm, "changes, by column".to_owned(), found)
            }
        };
        Ok(Watcher {
            kind,
            source: self.to_source(),
            observed: format!("records of {names}, each field by the index of its state"),
            finds,
            names: found,
            sample: format!("[u16; {}]", columns.len()),
            bytes: [bytes, cost.model_bytes, cost.state_bytes],
            row_bytes: 0,
            recordings: vec![recording],
            noise,
        })
    }

    /// Records, and what is found in them.
    fn recording(&self, records: &Records) -> Result<WatchedRecording, NetworkError> {
        let samples = records.rows().map(|row| format!("Some({row:?})")).collect();
        let mut recording = WatchedRecording { samples, ..WatchedRecording::default() };
        match self {
            Self::Sum(sum) => {
                let decided = sum.decisions(records)?.into_iter().enumerate();
                recording.findings.extend(decided.map(|(index, Decision { class, margin })| {
                    let record = index as u32 + 1;
                    (index + 1, [class as u32, record, record, margin.to_bits()])
                }));
            }
            Self::Alarm(alarm) => alarm.watch(records, |index, reading| {
                let reading = match reading {
                    Ok(reading) => reading,
                    // It counts as missing, and nothing is read.
                    Err(NetworkError::Impossible { .. }) => return Ok(()),
                    Err(error) => return Err(error),
                };
                let [statistic, share] = [reading.statistic, reading.share].map(f32::to_bits);
                recording.reading = [statistic, share];
                if reading.alarm {
                    let record = index as u32 + 1;
                    let bits = [reading.node as u32, record, record, statistic];
                    recording.findings.push((index + 1, bits));
                }
                Ok(())
            })?,
        }
        Ok(recording)
    }

    /// Records of arbitrary states, some fields missing where the model allows it.
    fn noise(&self) -> Records {
        let cards: Vec<u32> = self.columns().iter().map(|column| column.card() as u32).collect();
        let mut state = 1_u32;
        let mut draw = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below.max(1)
        };
        let may_lack = matches!(self, Self::Sum(_));
        let rows = (0..NOISE).map(|_| {
            let field = |&card: &u32| match draw(8) {
                0 if may_lack => MISSING,
                _ => draw(card) as u16,
            };
            cards.iter().map(field).collect::<Vec<u16>>()
        });
        Records::of_rows(cards.len(), rows)
    }
}
