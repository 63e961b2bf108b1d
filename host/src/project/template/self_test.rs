//! Samples, and the decisions that the host makes on them, bit for bit: the program is what was validated.

use core::hint::black_box;

use fishweir_core::classify::{{decided}};

use crate::stream;

/// Observation of the model.
pub type Sample = {{sample}};

/// A recording, to play for a sensor.
pub struct Recording {
    /// Class of the recording, by index.
    pub label: Option<usize>,
    /// Samples; `None` for one that was not observed.
    pub samples: &'static [Option<Sample>],
    /// Decisions of the oldest open window after each of the first samples; `None` if nothing can be decided.
    pub decisions: &'static [Option<Bits>],
}

/// Class, and the bits of {{of}}.
pub type Bits = {{bits}};

/// Difference between device and host.
pub struct Difference {
    /// The recording.
    pub stream: usize,
    /// The sample in it.
    pub sample: usize,
    /// The bits of the margin here; 0 where nothing can be decided.
    pub margin: u32,
    /// Bits of the margin on the host.
    pub expected: u32,
}

fn bits(decision: {{decided}}) -> Bits {
    {{bits_of}}
}

/// Replays the first samples of the recordings and returns their number; `each` is called after every sample, for a watchdog.
pub fn run(mut each: impl FnMut()) -> Result<usize, Difference> {
    let mut running = stream::new();
    let mut samples = 0;
    for (stream, recording) in RECORDINGS.iter().enumerate() {
        running.reset();
        for (sample, (x, &expected)) in
            recording.samples.iter().zip(recording.decisions).enumerate()
        {
            // The compiler is not to work the answers out beforehand.
            // As the program does: a refused sample is missing.
            let _ = running.push(black_box(x));
            each();
            let decision = stream::open(&running).map(bits);
            if decision != expected {
                let of_margin = |decision: Option<Bits>| decision.map_or(0, |bits| bits.1);
                let (margin, expected) = (of_margin(decision), of_margin(expected));
                return Err(Difference { stream, sample, margin, expected });
            }
        }
        samples += recording.decisions.len();
    }
    Ok(samples)
}

/// The recordings.
pub static RECORDINGS: [Recording; {{count}}] = [{{streams}}];
