use fishweir_core::classify::{self, Decision, likelihood_a_sample};

use serde::{Deserialize, Serialize};

use crate::data::Window;
use crate::deploy::{Deployed, Stream};
use crate::parallel::{each, part_size};

/// The decision on one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Judged {
    /// Index of its series.
    pub series: usize,
    /// Index of its first sample in the series.
    pub start: usize,
    /// True class.
    pub label: usize,
    /// The class decided for; `None` where the scores or the margin went out of range. Where every sample is missing or
    /// refused, priors or biases alone decide.
    pub decision: Option<usize>,
    /// Margin over the runner-up.
    pub margin: f32,
    /// Margin of each class over the best of the others at the end, `[class]`; negative where it does not win.
    pub leads: Vec<f32>,
    /// The log-likelihood under the likeliest model, in nats per sample; `None` if all are zero.
    pub likelihood: Option<f32>,
    /// Samples after which the decision was the last one and stayed so.
    pub settled: usize,
    /// Samples that the models refused; they are missing, as on a device.
    pub refused: usize,
}

/// The form of [`Judged`] in a file: reals as their bits, for JSON has no infinity.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    place: [usize; 2],
    label: usize,
    decision: Option<usize>,
    margin: u32,
    leads: Vec<u32>,
    likelihood: Option<u32>,
    settled: usize,
    refused: usize,
}

impl From<Judged> for Stored {
    fn from(own: Judged) -> Self {
        Self {
            place: [own.series, own.start],
            label: own.label,
            decision: own.decision,
            margin: own.margin.to_bits(),
            leads: own.leads.iter().map(|lead| lead.to_bits()).collect(),
            likelihood: own.likelihood.map(f32::to_bits),
            settled: own.settled,
            refused: own.refused,
        }
    }
}

impl From<Stored> for Judged {
    fn from(stored: Stored) -> Self {
        let [series, start] = stored.place;
        Self {
            series,
            start,
            label: stored.label,
            decision: stored.decision,
            margin: f32::from_bits(stored.margin),
            leads: stored.leads.into_iter().map(f32::from_bits).collect(),
            likelihood: stored.likelihood.map(f32::from_bits),
            settled: stored.settled,
            refused: stored.refused,
        }
    }
}

/// Judges windows by a deployed classifier, in the very `f32` arithmetic of the device.
///
/// A kernel machine is asked for its decision at a window's end alone, for every reading takes a kernel
/// value per item: its decisions settle where windows end.
pub fn judge(deployed: &Deployed, windows: &[Window<'_>]) -> Vec<Judged> {
    let every = deployed.decides_at_every_sample();
    let parts: Vec<&[Window<'_>]> = windows.chunks(part_size(windows.len())).collect();
    let of_part = |part: usize| -> Vec<Judged> {
        let mut stream = deployed.stream();
        let one = |window| judge_one(&mut stream, deployed.classes().len(), window, every);
        parts[part].iter().map(one).collect()
    };
    each(parts.len(), &of_part).concat()
}

fn judge_one(stream: &mut Stream, classes: usize, window: &Window<'_>, every: bool) -> Judged {
    stream.reset();
    let (mut refused, mut settled, mut before) = (0, 0, None);
    let last = window.samples.len();
    for (t, sample) in (1..).zip(window.samples.iter()) {
        refused += usize::from(stream.push(sample).is_err());
        if every || t == last {
            let decision = stream.decision().ok().filter(|decision| !decision.margin.is_nan());
            let class = decision.map(|decision| decision.class);
            if class != before {
                (settled, before) = (t, class);
            }
        }
    }
    Judged {
        series: window.series,
        start: window.start,
        label: window.label().unwrap_or(usize::MAX),
        decision: before,
        // Where nothing can be decided, nothing leads.
        margin: before.and(stream.decision().ok()).map_or(0.0, |decision| decision.margin),
        leads: match (before, stream.leads()) {
            (Some(_), Ok(leads)) => leads,
            _ => vec![0.0; classes],
        },
        likelihood: likelihood_a_sample(stream.log_likelihoods(), stream.samples()),
        settled,
        refused,
    }
}

/// Returns whether thresholds reject a decision, as on a device; an undecided window is rejected.
#[must_use]
pub fn rejected(confidence: &classify::Calibration<'_>, judged: &Judged) -> bool {
    let rejection = |class| {
        let decision = Decision { class, margin: judged.margin };
        // A likelihood per sample, as that of one sample.
        confidence.rejection(&decision, judged.likelihood, 1)
    };
    judged.decision.is_none_or(|class| rejection(class).is_some())
}
