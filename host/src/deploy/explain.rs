//! Explanation of a decision by the contribution of each sample, and of each channel.

use fishweir_core::classify::{Decision, Normalisation};

use super::deployed::Deployed;
use super::error::DeployError;
use super::stream::Stream;
use crate::classifier::{Classifier, Contract};
use crate::data::{Sample, SamplesView};

/// Contribution of each sample to the margin of the last decision on a window.
///
/// ```text
/// margin = bias + sum_t gain_t
/// gain_t = f(T) ( e(x_1..t) - e(x_1..t-1) )
/// ```
///
/// where `e` is the evidence for the decided class less that for its rival, without biases and length normalisation, and `f(T)`
/// is the length normalisation at the end. It is the running evidence itself, not an approximation of it: gains add up to the
/// margin but for rounding, some units in the last place of the evidence, an `f32` that grows with the window. If a class is
/// ruled out, a gain is infinite; if two are, the sum has no meaning. A gain is relative to what was known before the sample: the
/// first sample of a motion contributes more than the tenth.
///
/// Cost: two passes of the classifier over the window, and a copy of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The class decided for.
    pub class: usize,
    /// The class that comes next.
    pub rival: usize,
    /// Margin of the class over its rival.
    pub margin: f32,
    /// Margin before the first sample: the bias, or prior, less that of the rival.
    pub bias: f64,
    /// Contribution of each sample, `[sample]`; zero if it was refused. Infinite if it ruled a model out.
    pub gains: Vec<f64>,
    /// Samples that the models refused; they are missing, as on a device.
    pub refused: usize,
}

/// The decision on a window, and the stream that fell it.
struct Decided {
    stream: Stream,
    decision: Decision,
    /// The class that comes next.
    rival: usize,
    /// `true` for each sample that was taken in, `[sample]`.
    taken: Vec<bool>,
}

impl Deployed {
    /// `None` where nothing can be decided.
    fn decided(&self, window: SamplesView<'_>) -> Option<Decided> {
        let mut stream = self.stream();
        let taken = window.iter().map(|sample| stream.push(sample).is_ok()).collect();
        let decision =
            stream.decision().ok().filter(|one| stream.samples() > 0 && !one.margin.is_nan())?;
        let leads = stream.leads().ok()?;
        let others = (0..leads.len()).filter(|&class| class != decision.class);
        let rival = others.max_by(|&a, &b| leads[a].total_cmp(&leads[b]))?;
        Some(Decided { stream, decision, rival, taken })
    }

    /// Explains the decision on a window by its samples.
    ///
    /// `None` if nothing can be decided, and for a kernel machine, which is no sum over samples.
    #[must_use]
    pub fn explain(&self, window: SamplesView<'_>) -> Option<Explanation> {
        if !self.decides_at_every_sample() {
            return None;
        }
        let Decided { stream, decision, rival, taken } = self.decided(window)?;
        let factor: f64 = self.common.normalisation.factor(stream.samples());

        let lead = |biases: &[f32]| match *biases {
            [bias] => f64::from(if decision.class == 1 { bias } else { -bias }),
            _ => f64::from(biases[decision.class]) - f64::from(biases[rival]),
        };
        let mut plain = self.clone();
        plain.common.biases.fill(0.0);
        plain.common.normalisation = Normalisation::NONE;
        let (mut evidence, mut before) = (plain.stream(), 0.0);
        let gain = |sample| {
            // What is refused is no evidence.
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
            bias: lead(&self.common.biases),
            gains,
            refused: taken.iter().filter(|taken| !**taken).count(),
        })
    }
}

/// Contribution of each channel to the margin of the decision on a window.
///
/// ```text
/// part_c = margin(x) - margin(x without channel c)
/// ```
///
/// where the second is the margin of the same class over the same rival under the models' marginal distributions over the other
/// channels: that of a sensor whose channel `c` was never observed ([`Classifier::without_channel`]). Parts are not shares:
/// redundant channels have small parts, for one replaces the other, and parts add up to the margin only by chance.
///
/// Cost: one pass of the classifier over the window per channel, and one more.
#[derive(Clone, Debug)]
pub struct ByChannel {
    whole: Deployed,
    /// `[channel]`.
    without: Vec<Deployed>,
}

/// A decision, and the channels' parts in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelParts {
    /// The class decided for.
    pub class: usize,
    /// The class that comes next.
    pub rival: usize,
    /// Margin of the class over its rival.
    pub margin: f32,
    /// `[channel]`; not finite where a model is ruled out on either side.
    pub parts: Vec<f64>,
    /// Samples that the models refused; they are missing, as on a device.
    pub refused: usize,
}

impl ByChannel {
    /// Creates explanations of a classifier; `None` if it cannot leave out a channel.
    ///
    /// # Errors
    /// As [`Classifier::deploy`].
    pub fn of(classifier: &Classifier) -> Result<Option<Self>, DeployError> {
        let without = (0..classifier.size()).map(|channel| classifier.without_channel(channel));
        let Some(without) = without.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let without = without.iter().map(Classifier::deploy).collect::<Result<_, _>>()?;
        Ok(Some(Self { whole: classifier.deploy()?, without }))
    }

    /// Explains the decision on a window by its channels. `None` if nothing can be decided.
    #[must_use]
    pub fn explain(&self, window: SamplesView<'_>) -> Option<ChannelParts> {
        let rows = window.rows()?;
        let Decided { decision: Decision { class, margin }, rival, taken, .. } =
            self.whole.decided(window)?;
        let mut others = Vec::with_capacity(rows.dimension());
        let in_part = self.whole.contract().is_some_and(Contract::lacks_some);
        let part = |(channel, without): (usize, &Deployed)| {
            let mut stream = without.stream();
            for (t, &taken) in taken.iter().enumerate() {
                let row = if in_part { rows.row_in_part(t) } else { rows.row(t) };
                let row = row.filter(|_| taken);
                others.clear();
                let of =
                    |row: &[f64]| others.extend(row[..channel].iter().chain(&row[channel + 1..]));
                row.into_iter().for_each(of);
                // Of what the whole takes in, others' channels are no less possible.
                let _ = stream.push(row.map_or(Sample::Missing, |_| Sample::Row(&others)));
            }
            f64::from(margin) - f64::from(stream.lead(class, rival))
        };
        let parts = self.without.iter().enumerate().map(part).collect();
        let refused = taken.iter().filter(|taken| !**taken).count();
        Some(ChannelParts { class, rival, margin, parts, refused })
    }
}
