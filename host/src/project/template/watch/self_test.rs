//! Samples, and what the host finds in them, bit for bit: the program is what was validated.

use core::hint::black_box;

use crate::stream::{self, Bits};

/// Observation of the model.
pub type Sample = {{sample}};

/// A recording, to play for a sensor.
pub struct Recording {
    /// Class of the recording, by index; none is known.
    #[allow(dead_code, reason = "other programs play recordings of one class")]
    pub label: Option<usize>,
    /// Samples; `None` for one that was not observed.
    pub samples: &'static [Option<Sample>],
    /// What is found, and after how many samples; what the end of the recording leaves stands last.
    pub findings: &'static [(usize, Bits)],
    /// Bits of the reading after the last sample.
    pub reading: [u32; 2],
}

/// Difference between device and host.
pub struct Difference {
    /// The recording.
    pub stream: usize,
    /// Samples of it so far.
    pub sample: usize,
}

/// Replays the recordings and returns the number of samples; `each` is called after every sample, for a watchdog.
pub fn run(mut each: impl FnMut()) -> Result<usize, Difference> {
    let mut running = stream::new();
    let mut samples = 0;
    for (stream, recording) in RECORDINGS.iter().enumerate() {
        running.reset();
        let mut expected = recording.findings.iter();
        let mut same = true;
        for (index, x) in recording.samples.iter().enumerate() {
            let sample = index + 1;
            // The compiler is not to work the answers out beforehand.
            running.push(black_box(x.as_ref()));
            each();
            running.found(|found| same &= expected.next() == Some(&(sample, found.bits())));
            if !same {
                return Err(Difference { stream, sample });
            }
        }
        let sample = recording.samples.len();
        let reading = running.reading();
        running.at_end(|found| same &= expected.next() == Some(&(sample, found.bits())));
        if !same || expected.next().is_some() || reading != recording.reading {
            return Err(Difference { stream, sample });
        }
        samples += sample;
    }
    Ok(samples)
}

/// The recordings.
pub static RECORDINGS: [Recording; {{count}}] = [{{streams}}];
