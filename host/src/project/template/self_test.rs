//! Samples, and the decisions that the host makes on them, bit for bit: the program is what was validated.

use core::hint::black_box;

use fishweir_core::classify::{{decided}};
use fishweir_core::filter::Running;

use crate::model;

/// What the model observes.
pub type Sample = {{sample}};

/// A sample, and the decision after it.
pub struct Step {
    /// Nothing where it was not observed.
    pub sample: Option<Sample>,
    /// Nothing where nothing can be decided.
    pub decision: Option<Bits>,
}

/// Class, and the bits of {{of}}.
pub type Bits = {{bits}};

/// Where device and host differ.
pub struct Difference {
    /// The stream.
    pub stream: usize,
    /// The sample in it.
    pub sample: usize,
    /// The bits of the margin here; 0 where nothing can be decided.
    pub margin: u32,
    /// The same on the host.
    pub expected: u32,
}

/// The decision so far.
pub fn decide(stream: &Running<&'static model::Model>) -> Option<{{decided}}> {
    {{read}}
}

fn bits(decision: {{decided}}) -> Bits {
    {{bits_of}}
}

/// Replays the streams and says how many samples they have; what is called after each is for a watchdog.
pub fn run(mut each: impl FnMut()) -> Result<usize, Difference> {
    let mut running = Running::new(&model::MODEL);
    let mut samples = 0;
    for (stream, steps) in STREAMS.iter().enumerate() {
        running.reset();
        for (sample, step) in steps.iter().enumerate() {
            // The compiler is not to work the answers out beforehand.
            match black_box(&step.sample) {
                // As the program does: what is refused is missing.
                Some(x) => {
                    let _ = running.push_or_missing(x);
                }
                None => running.push_missing(),
            }
            each();
            let decision = decide(&running).map(bits);
            if decision != step.decision {
                let of_margin = |decision: Option<Bits>| decision.map_or(0, |bits| bits.1);
                let (margin, expected) = (of_margin(decision), of_margin(step.decision));
                return Err(Difference { stream, sample, margin, expected });
            }
        }
        samples += steps.len();
    }
    Ok(samples)
}

/// The streams.
pub static STREAMS: [&[Step]; {{count}}] = [{{streams}}];
