//! An update for the field: the artefact, a version, and samples with the host's decision after each.

use fishweir_core::update::{Entry, SelfTest, UpdateError, UpdateHeader};

use super::artefact::ArtefactFileError;
use super::deployed::Deployed;
use crate::data::{Sample, SamplesView};
use crate::words::{counted, grouped};

/// Largest number of samples of a self-test; behind a front end that of two rows, if it is larger.
pub const SELF_TEST_SAMPLES: usize = 16;

/// Largest number of samples of a self-test that are sent, whatever the front end.
const LONGEST_SELF_TEST: usize = 2048;

/// Reason why there is no update.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum UpdateFileError {
    /// No artefact can be made.
    #[error(transparent)]
    Artefact(#[from] ArtefactFileError),
    /// Nothing to test a device with.
    #[error(
        "the model decides after no sample of the series, so a device could not test the model; name other data"
    )]
    NoSample,
    /// The front end makes its first row of more samples than a self-test has.
    #[error(
        "the front end needs {takes} samples for its first row, and the self-test of an update has at most \
         {LONGEST_SELF_TEST}: a device could not test the model; build the artefact into the image, or fit with \
         shorter rows of the front end"
    )]
    LongFront {
        /// Samples of the first row.
        takes: usize,
    },
    /// The series is over, or a sample refused, before the front end has made a row.
    #[error(
        "the front end needs {} for its first row, and the series has only {} accepted in a row: a device could not \
         test the model; name data that begin with a longer series",
        counted(*takes, "sample"),
        grouped(*found)
    )]
    NoRow {
        /// Samples of the first row.
        takes: usize,
        /// Samples of the series' longest run.
        found: usize,
    },
    /// The version is 0, which is the built-in model's.
    #[error("versions of updates are 1, 2, ...; 0 is the model of the image")]
    #[strum(serialize = "bad-version")]
    Version,
    /// An error of the container.
    #[error(transparent)]
    Update(UpdateError),
}

crate::kinds!(UpdateFileError,
    Self::Artefact(error) => error,
    Self::Update(error) => error,
);

impl Deployed {
    /// The bytes of an [update](fishweir_core::update): the artefact, and a self-test of the first samples of
    /// `stream` that the model takes in, at most [`SELF_TEST_SAMPLES`] or, behind a front end, as many as two rows
    /// take, 2048 at most; each with the host's decision, which is a device's bit for bit. What is missing or refused
    /// is left out; the samples are those of the longest run without a refused one.
    ///
    /// Where it is `to_be_signed`, the header says that a signature of these bytes follows, and the caller appends
    /// it: 64 bytes of Ed25519.
    ///
    /// # Errors
    /// [`UpdateFileError`].
    pub fn to_update(
        &self,
        version: u32,
        stream: SamplesView<'_>,
        to_be_signed: bool,
    ) -> Result<Vec<u8>, UpdateFileError> {
        if version == 0 {
            return Err(UpdateFileError::Version);
        }
        let artefact = self.to_artefact()?;
        let takes = self.common.front.first();
        if takes > LONGEST_SELF_TEST {
            return Err(UpdateFileError::LongFront { takes });
        }
        let most = self.common.front.samples(2).clamp(SELF_TEST_SAMPLES, LONGEST_SELF_TEST);
        // Of each run an entry per sample.
        let (mut runs, mut length) = (vec![Vec::new()], 0);
        let mut host = self.stream();
        for sample in stream.iter() {
            let bytes: Vec<u8> = match host.heard_as(sample) {
                Sample::Row(row) => row.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(),
                Sample::Symbol(symbol) => symbol.to_le_bytes().to_vec(),
                Sample::Missing => continue,
            };
            if host.push(sample).is_err() {
                // It is missing now, and no device would report that.
                runs.push(Vec::new());
                host.reset();
                continue;
            }
            // Once undecided it may stay so: what was pushed cannot be left out any more.
            let Ok(decision) = host.decision() else { break };
            let class = decision.class as u16;
            let entry = Entry { sample: &bytes, class, margin_bits: decision.margin.to_bits() };
            length = bytes.len();
            if let Some(run) = runs.last_mut() {
                run.push([entry.sample, &entry.verdict()].concat());
                if run.len() == most {
                    break;
                }
            }
        }
        let length = u16::try_from(length).map_err(|_| ArtefactFileError::TooLarge)?;
        let entries = runs.into_iter().max_by_key(Vec::len).unwrap_or_default();
        if entries.is_empty() {
            return Err(UpdateFileError::NoSample);
        }
        if entries.len() < takes {
            return Err(UpdateFileError::NoRow { takes, found: entries.len() });
        }
        let test = [&SelfTest::head(entries.len() as u16, length)[..], &entries.concat()].concat();
        let header = UpdateHeader::encode(version, &artefact, &test, to_be_signed)
            .map_err(UpdateFileError::Update)?;
        Ok([&header[..], &artefact, &test].concat())
    }
}
