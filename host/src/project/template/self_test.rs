//! Samples, and the decisions that the host makes on them, bit for bit: the program is what was validated.

use core::hint::black_box;

use fishweir_core::classify::Decision;
use fishweir_core::filter::Running;

use crate::model;

/// What the model observes.
pub type Sample = {{sample}};

/// A sample, and the decision after it.
pub struct Step {
    /// Nothing where it was not observed.
    pub sample: Option<Sample>,
    /// Class, and the bits of the margin; nothing where nothing can be decided.
    pub decision: Option<(usize, u32)>,
}

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
pub fn decide(stream: &Running<&'static model::Model>) -> Option<Decision> {
    {{read}}
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
                Some(x) if running.push(x).is_ok() => {}
                _ => running.push_missing(),
            }
            each();
            let decision = decide(&running).map(|decision| (decision.class, decision.margin.to_bits()));
            if decision != step.decision {
                let bits = |decision: Option<(usize, u32)>| decision.map_or(0, |(_, margin)| margin);
                let (margin, expected) = (bits(decision), bits(step.decision));
                return Err(Difference { stream, sample, margin, expected });
            }
        }
        samples += steps.len();
    }
    Ok(samples)
}

/// The streams.
pub static STREAMS: [&[Step]; {{count}}] = [{{streams}}];
