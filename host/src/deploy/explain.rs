//! Why a decision fell as it did: what each sample gave to it.

use fishweir_core::classify::Normalisation;

use super::Deployed;
use crate::data::SamplesView;

/// What each sample gave to the margin of the last decision on a window.
///
/// ```text
/// margin = bias + sum_t gain_t
/// gain_t = f(T) ( e(x_1..t) - e(x_1..t-1) )
/// ```
///
/// where `e` is by how much the evidence for the class decided for exceeds that for its rival, biases and length
/// left aside, and `f(T)` the length normalisation at the end. It is the running evidence itself, not an
/// approximation of it: gains add up to the margin but for rounding, some units in the last place of the evidence,
/// an `f32` that grows with the window. Where a class is ruled out a gain is infinite, and of two that are the sum
/// says nothing. A gain is what a sample adds to what was known before it: the first sample of a motion gives more than the tenth.
///
/// Cost: two passes of the classifier over the window, and a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The class decided for.
    pub class: usize,
    /// The class that comes next.
    pub rival: usize,
    /// By how much the class leads.
    pub margin: f32,
    /// By how much it leads before the first sample: its bias, or prior, less that of the rival.
    pub bias: f64,
    /// What each sample gave, `[sample]`; nothing where it was refused. Infinite where it ruled a model out.
    pub gains: Vec<f64>,
    /// Samples that the models refused; they were skipped, as a device would.
    pub refused: usize,
}

impl Deployed {
    /// What each sample of a window gave to the decision on it. `None` where nothing can be decided, and of a
    /// kernel machine, which is no sum over samples.
    #[must_use]
    pub fn explain(&self, window: SamplesView<'_>) -> Option<Explanation> {
        if self.kernel.is_some() {
            return None;
        }
        let mut stream = self.stream();
        let refused = window.iter().filter(|&sample| stream.push(sample).is_err()).count();
        let decision = stream.decision().ok().filter(|decision| !decision.margin.is_nan())?;
        let leads = stream.leads().ok()?;
        let others = (0..leads.len()).filter(|&class| class != decision.class);
        let rival = others.max_by(|&a, &b| leads[a].total_cmp(&leads[b]))?;
        let factor: f64 = self.normalisation.factor(stream.samples());

        let lead = |biases: &[f32]| match *biases {
            [bias] => f64::from(if decision.class == 1 { bias } else { -bias }),
            _ => f64::from(biases[decision.class]) - f64::from(biases[rival]),
        };
        let plain = Self {
            biases: vec![0.0; self.biases.len()],
            normalisation: Normalisation::NONE,
            ..self.clone()
        };
        let (mut evidence, mut before) = (plain.stream(), 0.0);
        let gain = |sample| {
            // What is refused leaves the stream as it was.
            let _ = evidence.push(sample);
            let now = f64::from(evidence.lead(decision.class, rival));
            // Of what is ruled out for good nothing more can be said.
            let gain = if now == before { 0.0 } else { factor * (now - before) };
            before = now;
            gain
        };
        let gains = window.iter().map(gain).collect();
        Some(Explanation {
            class: decision.class,
            rival,
            margin: decision.margin,
            bias: lead(&self.biases),
            gains,
            refused,
        })
    }
}
