use serde::Serialize;

use super::Judged;
use crate::elementary::Elementary;

/// Bins of confidence.
const BINS: usize = 10;
/// Reciprocal of the least probability that counts, so that an impossible event has a finite loss.
const MOST: f64 = 1e15;
/// Largest distance of a scale from the reciprocal of the mean margin, as a logarithm, and number of bisections.
const FARTHEST: f64 = 8.0;
const STEPS: usize = 48;

/// Probabilities made of decision values, and how far they can be believed: one temperature for all windows
/// (C. Guo, G. Pleiss, Y. Sun and K. Weinberger, On calibration of modern neural networks, 2017; for two classes
/// the slope of J. Platt, Probabilistic outputs for support vector machines, 1999).
///
/// ```text
/// p(class) = exp(scale v_class) / sum over classes of exp(scale v)
/// ```
///
/// The scale is that of the least logarithmic loss. What is held back is judged by the scale of the other folds,
/// so that loss and error are those of windows which neither classifier nor scale has seen.
///
/// Cost: some fifty passes over the windows, a fold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Factor on decision values, over all folds together: the reciprocal of the temperature.
    pub scale: f64,
    /// Logarithmic loss in nats per window, the mean of `-log p(its class)`.
    pub log_loss: f64,
    /// Log loss of probabilities that are the classes' shares and ignore the samples.
    pub log_loss_of_shares: f64,
    /// Expected calibration error: over bins of confidence, the mean difference of confidence and share decided
    /// rightly, by their windows.
    pub calibration_error: f64,
    /// Ten bins of confidence, the probability of the decisions; those without a window left out.
    pub reliability: Vec<ReliabilityBin>,
}

/// Windows about as confidently decided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Number of windows.
    pub windows: usize,
    /// The mean probability of the decisions.
    pub confidence: f64,
    /// The share decided rightly.
    pub right: f64,
}

impl Calibration {
    /// Calibrates decisions on held-out windows, `[fold][window]`. `None` for fewer than two folds with a labelled window.
    #[must_use]
    pub fn of(folds: &[&[Judged]], classes: usize) -> Option<Self> {
        let labelled = |fold: &&[Judged]| -> Vec<Values> {
            fold.iter().filter_map(|one| Values::of(one, classes)).collect()
        };
        let folds: Vec<Vec<Values>> = folds.iter().map(labelled).collect();
        if folds.iter().filter(|fold| !fold.is_empty()).count() < 2 {
            return None;
        }
        let mut said = Vec::new();
        for (held_back, windows) in folds.iter().enumerate() {
            let others = folds.iter().enumerate().filter(|&(fold, _)| fold != held_back);
            let scale = scale(&others.flat_map(|(_, fold)| fold).collect::<Vec<_>>());
            said.extend(windows.iter().map(|values| values.said(scale)));
        }
        let all: Vec<&Values> = folds.iter().flatten().collect();
        Some(Self::of_said(scale(&all), &all, &said, classes))
    }

    /// Evaluates a fixed scale on windows that it was not made from. `None` without labelled windows.
    #[must_use]
    pub fn by(scale: f64, judged: &[Judged], classes: usize) -> Option<Self> {
        let windows: Vec<Values> =
            judged.iter().filter_map(|one| Values::of(one, classes)).collect();
        let said: Vec<WindowCalibration> =
            windows.iter().map(|values| values.said(scale)).collect();
        let all: Vec<&Values> = windows.iter().collect();
        (!all.is_empty()).then(|| Self::of_said(scale, &all, &said, classes))
    }

    fn of_said(scale: f64, all: &[&Values], said: &[WindowCalibration], classes: usize) -> Self {
        let count = all.len() as f64;
        let mut bins = [(0_usize, 0.0, 0_usize); BINS];
        for one in said {
            let place = ((one.confidence * BINS as f64) as usize).min(BINS - 1);
            let (windows, confidence, right) = &mut bins[place];
            (*windows, *confidence) = (*windows + 1, *confidence + one.confidence);
            *right += usize::from(one.right);
        }
        let bin = |(windows, confidence, right): (usize, f64, usize)| {
            let of_all = windows as f64;
            ReliabilityBin {
                windows,
                confidence: confidence / of_all,
                right: right as f64 / of_all,
            }
        };
        let reliability: Vec<ReliabilityBin> =
            bins.into_iter().filter(|bin| bin.0 > 0).map(bin).collect();
        let off = |bin: &ReliabilityBin| bin.windows as f64 * (bin.confidence - bin.right).abs();
        let mut of_class = vec![0_usize; classes];
        all.iter().for_each(|values| of_class[values.label] += 1);
        let entropy = of_class.into_iter().filter(|&own| own > 0).map(|own| {
            let share = own as f64 / count;
            share * share.recip().portable_ln()
        });
        Self {
            scale,
            log_loss: said.iter().map(|one| one.loss).sum::<f64>() / count,
            log_loss_of_shares: entropy.sum(),
            calibration_error: reliability.iter().map(off).sum::<f64>() / count,
            reliability,
        }
    }
}

/// A window's decision values relative to the largest.
struct Values {
    values: Vec<f64>,
    label: usize,
    right: bool,
}

/// Evaluation of the probabilities of a window.
struct WindowCalibration {
    confidence: f64,
    right: bool,
    loss: f64,
}

impl Values {
    /// Creates values from margins: the margin of the first class is the largest, and another's is its deficit.
    ///
    /// `None` for a window without a label.
    fn of(judged: &Judged, classes: usize) -> Option<Self> {
        let values: Vec<f64> =
            judged.leads.iter().map(|&lead| f64::from(lead).min(0.0)).map(finite).collect();
        let right = judged.decision == Some(judged.label);
        (judged.label < classes).then_some(Self { values, label: judged.label, right })
    }

    fn said(&self, scale: f64) -> WindowCalibration {
        let sum: f64 = self.values.iter().map(|value| (scale * value).portable_exp()).sum();
        let odds = (scale * self.values[self.label]).portable_exp();
        // One over the probability: of what is certain the logarithm is zero, and not minus zero.
        WindowCalibration {
            confidence: sum.recip(),
            right: self.right,
            loss: (sum / odds).min(MOST).portable_ln(),
        }
    }
}

/// Replaces an infinite value by a finite one that is far behind.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { -1e30 }
}

/// The scale of the least logarithmic loss, by golden sections of its logarithm; the loss is convex in it.
fn scale(windows: &[&Values]) -> f64 {
    let behind =
        windows.iter().flat_map(|one| &one.values).filter(|&&value| value > -1e29 && value < 0.0);
    let (count, sum) = behind.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum - value));
    if count == 0 {
        return 1.0;
    }
    let at = |log: f64| log.portable_exp() * count as f64 / sum;
    let loss = |log: f64| windows.iter().map(|one| one.said(at(log)).loss).sum::<f64>();
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    let inner = |low: f64, high: f64| (high - golden * (high - low), low + golden * (high - low));
    let (mut a, mut b) = inner(low, high);
    let (mut at_a, mut at_b) = (loss(a), loss(b));
    for _ in 0..STEPS {
        if at_a <= at_b {
            high = b;
            (b, at_b) = (a, at_a);
            a = inner(low, high).0;
            at_a = loss(a);
        } else {
            low = a;
            (a, at_a) = (b, at_b);
            b = inner(low, high).1;
            at_b = loss(b);
        }
    }
    at(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of two classes with margins `lead`, of which every `wrong`th is wrong.
    fn fold(lead: f32, wrong: usize) -> Vec<Judged> {
        let one = |n: usize| {
            let (label, decided) = (n % 2, (n + usize::from(n.is_multiple_of(wrong))) % 2);
            let leads = if decided == 0 { vec![lead, -lead] } else { vec![-lead, lead] };
            Judged {
                series: n,
                start: 0,
                label,
                decision: Some(decided),
                margin: lead,
                leads,
                likelihood: None,
                settled: 1,
                refused: 0,
            }
        };
        (0..60).map(one).collect()
    }

    #[test]
    fn of_equal_leads_the_confidence_is_the_share_decided_rightly() {
        let folds = [fold(4.0, 5), fold(4.0, 5)];
        let folds: Vec<&[Judged]> = folds.iter().map(Vec::as_slice).collect();
        let found = Calibration::of(&folds, 2).expect("two folds");
        // Four of five are right: the odds are four, whose logarithm is a lead of four times the scale.
        assert!((found.scale - 4.0_f64.ln() / 4.0).abs() < 1e-6, "{found:?}");
        let loss = -(0.8 * 0.8_f64.ln() + 0.2 * 0.2_f64.ln());
        assert!((found.log_loss - loss).abs() < 1e-9, "{found:?}");
        assert!((found.log_loss_of_shares - 2.0_f64.ln()).abs() < 1e-12);
        assert!(found.calibration_error < 1e-6, "{found:?}");
        let [bin] = found.reliability[..] else { panic!("{found:?}") };
        assert_eq!((bin.windows, bin.right), (120, 0.8));
    }

    #[test]
    fn a_fold_is_judged_by_the_scale_of_the_others() {
        let folds = [fold(4.0, 60), fold(4.0, 2)];
        let folds: Vec<&[Judged]> = folds.iter().map(Vec::as_slice).collect();
        let found = Calibration::of(&folds, 2).expect("two folds");
        // One fold is nearly always right and the other half the time: what one says of the other is off.
        assert!(found.calibration_error > 0.4, "{found:?}");
        assert!(Calibration::of(&folds[..1], 2).is_none());
    }

    #[test]
    fn nothing_is_endless_where_all_are_right_or_a_model_is_out() {
        let (mut sure, wild) = (fold(1.0, 1_000), fold(f32::INFINITY, 3));
        sure[0].leads = vec![0.0, 0.0];
        for folds in [[&sure, &sure], [&wild, &wild], [&sure, &wild]] {
            let folds: Vec<&[Judged]> = folds.iter().map(|fold| fold.as_slice()).collect();
            let found = Calibration::of(&folds, 2).expect("two folds");
            let all = [found.scale, found.log_loss, found.calibration_error];
            assert!(all.iter().all(|x| x.is_finite()), "{found:?}");
        }
    }
}
