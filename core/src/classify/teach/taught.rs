use super::basis::of_state;
use super::{ClassName, TeachError, TeachingBasis};
use crate::classify::{AdditiveClassifier, Calibration, Decision, Prediction, RejectionReason};
use crate::number::Real;

/// A taught class: its name, how many windows it was shown, and their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TaughtClass<const NUMBERS: usize> {
    pub(super) name: ClassName,
    /// Windows shown; none for a free place.
    pub(super) windows: u16,
    /// Sum over the windows of the log-likelihood per sample under the likeliest model.
    pub(super) likelihood: f32,
    /// Sum over the windows of the whitened evidence.
    pub(super) sums: [f32; NUMBERS],
}

impl<const NUMBERS: usize> TaughtClass<NUMBERS> {
    const FREE: Self =
        Self { name: ClassName::BLANK, windows: 0, likelihood: 0.0, sums: [0.0; NUMBERS] };

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &ClassName {
        &self.name
    }

    /// Windows that it was shown.
    #[must_use]
    pub const fn windows(&self) -> u16 {
        self.windows
    }

    /// Twice the negative logarithm of the predictive density, without its constant: `|z - mean|^2 / s + E ln s`.
    fn distance(&self, whitened: &[f32]) -> f32 {
        let windows = f32::from_count(self.windows.into());
        let mut sum = 0.0;
        for (at, &number) in whitened.iter().enumerate() {
            let total = self.sums.get(at).copied().unwrap_or(0.0);
            let difference = number - total / windows;
            sum += difference * difference;
        }
        let spread = 1.0 + 1.0 / windows;
        sum / spread + f32::from_count(whitened.len() as u64) * Real::ln(spread)
    }

    /// The limits of the log-likelihood per sample: those of the known classes, on average as wide, around the mean of the
    /// windows shown.
    fn limits(&self, calibration: &Calibration<'_>) -> Option<[f32; 2]> {
        if calibration.likelihoods.is_empty() {
            return None;
        }
        let windows = f32::from_count(self.windows.into());
        let mut width = 0.0;
        for &[least, most] in calibration.likelihoods {
            width += most - least;
        }
        let half = 0.5 * width / f32::from_count(calibration.likelihoods.len() as u64);
        let half = half * Real::sqrt(1.0 + 1.0 / windows);
        let mean = self.likelihood / windows;
        Some([mean - half, mean + half])
    }
}

/// A decision between the known and the taught classes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TaughtDecision {
    /// The class and its margin: classes from the number of known ones on are taught ones, by their places.
    pub decision: Decision<f32>,
    /// The probability of the class; `None` of a model without calibration.
    pub probability: Option<f32>,
    /// The reason to reject the decision; `None` where it may be taken.
    pub rejection: Option<RejectionReason>,
}

impl From<Prediction<f32>> for TaughtDecision {
    fn from(prediction: Prediction<f32>) -> Self {
        let Prediction { decision, probability, rejection } = prediction;
        Self { decision, probability: Some(probability), rejection }
    }
}

impl From<Decision<f32>> for TaughtDecision {
    fn from(decision: Decision<f32>) -> Self {
        Self { decision, probability: None, rejection: None }
    }
}

/// At most `MOST` classes that were taught to a model whose windows have at most `NUMBERS` numbers of evidence.
///
/// A class keeps its place until it is forgotten. The sums are of `f32`, in the order of the windows, on the host too: the same
/// windows give the same bits.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TaughtClasses<const MOST: usize, const NUMBERS: usize> {
    pub(super) numbers: usize,
    pub(super) basis: u32,
    pub(super) classes: [TaughtClass<NUMBERS>; MOST],
}

impl<const MOST: usize, const NUMBERS: usize> TaughtClasses<MOST, NUMBERS> {
    /// No taught class.
    ///
    /// # Errors
    /// [`TeachError::NoRoom`] where the basis has more than `NUMBERS` numbers.
    pub fn new(basis: &TeachingBasis<'_>) -> Result<Self, TeachError> {
        const { assert!(MOST > 0 && MOST <= 255, "MOST must be 1 to 255") };
        if basis.numbers() > NUMBERS {
            return Err(TeachError::NoRoom);
        }
        let classes = [TaughtClass::FREE; MOST];
        Ok(Self { numbers: basis.numbers(), basis: basis.checksum(), classes })
    }

    /// The taught classes, by their places; `None` for a free place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&TaughtClass<NUMBERS>> {
        self.classes.get(place).filter(|class| class.windows > 0)
    }

    /// Number of taught classes.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut count = 0;
        for class in &self.classes {
            count += usize::from(class.windows > 0);
        }
        count
    }

    /// Returns whether no class was taught.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the place of a class.
    #[must_use]
    pub fn find(&self, name: &ClassName) -> Option<usize> {
        self.classes.iter().position(|class| class.windows > 0 && class.name == *name)
    }

    /// Shows a window to a class, which begins with its first window, and returns the class's place.
    ///
    /// `evidence` is what [`window_evidence`](super::window_evidence) wrote; it is whitened in place.
    ///
    /// # Errors
    /// [`TeachError::Evidence`], [`TeachError::NoRoom`] where `MOST` classes were taught, [`TeachError::TooManyWindows`], and
    /// [`TeachError::OtherModel`]. On an error nothing has changed.
    pub fn show(
        &mut self,
        basis: &TeachingBasis<'_>,
        name: &ClassName,
        evidence: &mut [f32],
    ) -> Result<usize, TeachError> {
        if self.basis != basis.checksum() {
            return Err(TeachError::OtherModel);
        }
        let free = || self.classes.iter().position(|class| class.windows == 0);
        let place = self.find(name).or_else(free).ok_or(TeachError::NoRoom)?;
        let likelihood = likeliest(evidence, basis)?;
        basis.whiten(evidence)?;
        let class = self.classes.get_mut(place).ok_or(TeachError::NoRoom)?;
        let windows = class.windows.checked_add(1).ok_or(TeachError::TooManyWindows)?;
        class.name = *name;
        class.windows = windows;
        class.likelihood += likelihood;
        for (sum, &number) in class.sums.iter_mut().zip(&*evidence) {
            *sum += number;
        }
        Ok(place)
    }

    /// Forgets a class: its place is free.
    ///
    /// # Errors
    /// [`TeachError::UnknownName`].
    pub fn forget(&mut self, name: &ClassName) -> Result<(), TeachError> {
        let place = self.find(name).ok_or(TeachError::UnknownName)?;
        if let Some(class) = self.classes.get_mut(place) {
            *class = TaughtClass::FREE;
        }
        Ok(())
    }

    /// Decides on a window whose evidence [`window_evidence`](super::window_evidence) wrote, whitening it in place; `known` is the
    /// decision of the model.
    ///
    /// Where nothing was taught, the model is another one, or the evidence is not finite, `known` stands.
    pub fn decide(
        &self,
        basis: &TeachingBasis<'_>,
        calibration: Option<&Calibration<'_>>,
        known: TaughtDecision,
        evidence: &mut [f32],
    ) -> TaughtDecision {
        if self.basis != basis.checksum() || self.is_empty() {
            return known;
        }
        let Ok(likelihood) = likeliest(evidence, basis) else { return known };
        let scale = calibration.map_or(1.0, |calibration| calibration.scale);
        let known_odds = known_odds(evidence, basis, known.decision.class, scale);
        if basis.whiten(evidence).is_err() {
            return known;
        }
        let own = basis.distance(known.decision.class, evidence);
        // How far the best and the second of the taught classes lead the known one, in nats.
        let (mut best, mut second) = (None, f32::NEG_INFINITY);
        let mut odds = 0.0;
        for (place, class) in self.classes.iter().enumerate() {
            if class.windows == 0 {
                continue;
            }
            let lead = 0.5 * (own - class.distance(evidence));
            if !lead.is_finite() {
                continue;
            }
            odds += Real::exp(lead.min(MOST_NATS));
            match best {
                Some((_, first)) if lead <= first => second = second.max(lead),
                _ => {
                    second = best.map_or(second, |(_, before): (usize, f32)| second.max(before));
                    best = Some((place, lead));
                }
            }
        }
        let Some((place, lead)) = best else { return known };
        let won = lead > 0.0;
        let (class, margin) = match won {
            true => (basis.classes() + place, (lead - second.max(0.0)) / scale),
            false => (known.decision.class, known.decision.margin.min(-lead / scale)),
        };
        let decision = Decision { class, margin };
        let Some(calibration) = calibration else { return decision.into() };
        let weight = if won { Real::exp(lead.min(MOST_NATS)) } else { 1.0 };
        let probability = weight / (known_odds + odds);
        let limits = match (won, self.classes.get(place)) {
            (true, Some(taught)) => taught.limits(calibration),
            _ => calibration.likelihoods.get(class).copied(),
        };
        let within = Calibration { likelihoods: limits.as_slice(), ..*calibration };
        let alone = Decision { class: 0, margin };
        let rejection = within.rejection(&alone, [likelihood], 1);
        TaughtDecision { decision, probability: Some(probability), rejection }
    }

    /// Decides on a state of a classifier: [`decide`](Self::decide) of its own decision and evidence.
    pub fn predict<C: AdditiveClassifier<Real = f32>>(
        &self,
        basis: &TeachingBasis<'_>,
        calibration: Option<&Calibration<'_>>,
        classifier: &C,
        state: &C::State,
    ) -> TaughtDecision {
        let known = match calibration {
            Some(calibration) => classifier.predict(state, calibration).into(),
            None => crate::classify::decide_exactly(classifier.outputs(state).as_ref()).into(),
        };
        let mut room = [0.0; NUMBERS];
        match of_state(classifier, state, &mut room) {
            Some(count) => {
                self.decide(basis, calibration, known, room.get_mut(..count).unwrap_or(&mut []))
            }
            None => known,
        }
    }

    /// Shows the window of a state of a classifier to a class: [`show`](Self::show) of its evidence.
    ///
    /// # Errors
    /// As [`show`](Self::show).
    pub fn show_state<C: AdditiveClassifier<Real = f32>>(
        &mut self,
        basis: &TeachingBasis<'_>,
        name: &ClassName,
        classifier: &C,
        state: &C::State,
    ) -> Result<usize, TeachError> {
        let mut room = [0.0; NUMBERS];
        let count = of_state(classifier, state, &mut room).ok_or(TeachError::Evidence)?;
        self.show(basis, name, room.get_mut(..count).unwrap_or(&mut []))
    }
}

/// The most nats of a lead that odds are made of: their sum is finite.
const MOST_NATS: f32 = 80.0;

/// The log-likelihood per sample under the likeliest model, of evidence that is not whitened.
fn likeliest(evidence: &[f32], basis: &TeachingBasis<'_>) -> Result<f32, TeachError> {
    let outputs = outputs_of(basis);
    let mut most = None;
    for &log in evidence.get(outputs..).unwrap_or(&[]) {
        most = Some(most.map_or(log, |most: f32| most.max(log)));
    }
    most.filter(|most| most.is_finite()).ok_or(TeachError::Evidence)
}

/// Number of outputs: one for two classes, else one per class.
fn outputs_of(basis: &TeachingBasis<'_>) -> usize {
    if basis.classes() == 2 { 1 } else { basis.classes() }
}

/// Sum over the known classes of the odds of each against the one decided for, which itself adds one.
fn known_odds(evidence: &[f32], basis: &TeachingBasis<'_>, decided: usize, scale: f32) -> f32 {
    match evidence.get(..outputs_of(basis)).unwrap_or(&[]) {
        [value] => 1.0 + Real::exp(-scale * value.abs()),
        values => {
            let best = values.get(decided).copied().unwrap_or(0.0);
            let mut sum = 0.0;
            for &value in values {
                sum += Real::exp(scale * (value - best));
            }
            sum
        }
    }
}
