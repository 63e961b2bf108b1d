use crate::emission::Emission;
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::{FadingBelief, Forgetting, ForgettingFactor, Streaming};
use crate::hmm::{Hmm, NumberOf, RealOf};
use crate::number::{Compensated, Number, Parameter, Real, Scalar, Tangent};

/// Detector of a stream that no longer follows its model. No labels, no second model.
///
/// With `c_t = p(x_t | x_1..t-1)`, memory `lambda` and direction `w_d`, two kinds of statistics:
///
/// ```text
/// fit_t     = sum_s lambda^(t-s) ( log c_s             - mean_fit )
/// drift_d,t = sum_s lambda^(t-s) ( w_d . grad log c_s  - mean_d   )
/// ```
///
/// over the observed samples `s`. A statistic beyond its [`Limit`] on either side is an alarm. The
/// fit answers any change: the stream is explained worse, or, like a stuck sensor, suspiciously
/// well. A drift answers a change of the parameters along its direction (its sign tells which way),
/// sooner than the fit does: under the model the gradients are a martingale of mean zero, and to
/// first order the test along `w` is the likelihood ratio's for a small step along `w`.
///
/// Means and thresholds come from calibration: means are those a sample where nothing changes,
/// thresholds what gives the wanted mean time between false alarms. After an alarm, reset.
///
/// Sources: Roberts 1959 (geometric moving averages); Basseville and Nikiforov 1993, chapters 2 and
/// 8 (the score of the log-likelihood as residual).
///
/// Flash: the model and `3 + 2C` reals. State and work a sample: [`Forgetting`]'s, and 2 reals;
/// a reading is `2 (1 + C)` multiply-adds.
///
/// ```
/// use fishweir_core::classify::{ChangeDetector, Limit, Statistic};
/// use fishweir_core::{emission::Categorical, filter::*, hmm::{Chain, Hmm}, number::Dual};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A fair coin, and the direction in which heads (symbol 0) become likelier.
/// let toss = |rate| Dual { value: 0.5, tangent: [rate] };
/// let coin = Hmm::new(
///     Chain::from_parts([Dual { value: 1.0, tangent: [0.0] }], [[Dual { value: 1.0, tangent: [0.0] }]]),
///     [Categorical::<2, Dual<f32, 1>>::from_parts([toss(0.5), toss(-0.5)])],
/// );
/// // Every toss earns log 1/2, and drifts by one: 8 more heads than tails of late are too many.
/// let fit = Limit { mean: -0.693_147_2, threshold: 1.0 };
/// let drift = Limit { mean: 0.0, threshold: 8.0 };
/// let detector = ChangeDetector::new(coin, ForgettingFactor::samples(64.0)?, fit, [drift])?;
///
/// let mut stream = Stream::new(&detector);
/// stream.push_block(&[0, 1].repeat(500))?;
/// assert_eq!(stream.read().alarm, None);
/// stream.push_block(&[0; 10])?;
/// assert_eq!(stream.read().alarm, Some(Statistic::Drift(0)));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeDetector<E: Emission, const N: usize, const C: usize> {
    hmm: Hmm<E, N>,
    memory: ForgettingFactor<RealOf<E>>,
    fit: Limit<RealOf<E>>,
    drift: [Limit<RealOf<E>>; C],
}

/// Normal range of a statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Limit<T = f32> {
    /// Average contribution of an observed sample while nothing changes.
    pub mean: T,
    /// Largest distance from zero, on either side, of the faded sum of deviations from the mean.
    pub threshold: T,
}

/// A statistic of a [`ChangeDetector`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Statistic {
    /// Likelihood of the stream under the model.
    Fit,
    /// The score along the direction of this index.
    Drift(usize),
}

/// Reading of a [`ChangeDetector`] after a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ChangeReading<T = f32, const C: usize = 1> {
    /// The faded log-likelihood less its mean, in nats.
    pub fit: T,
    /// The faded score along each direction less its mean.
    pub drift: [T; C],
    /// First statistic beyond its threshold: drifts before the fit, which is less specific.
    pub alarm: Option<Statistic>,
}

impl<T: Copy, const C: usize> ChangeReading<T, C> {
    /// The value of a statistic; `None` for a direction past the last.
    pub fn value(&self, statistic: Statistic) -> Option<T> {
        match statistic {
            Statistic::Fit => Some(self.fit),
            Statistic::Drift(direction) => self.drift.get(direction).copied(),
        }
    }
}

/// State of a [`ChangeDetector`] on a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeState<X: Number, const N: usize> {
    fading: FadingBelief<X, N>,
    /// `sum_s lambda^(t-s)` over the observed samples: how many the faded sums count.
    weight: Compensated<X::Real>,
}

impl<X: Number<Reading: Number>, const N: usize> ChangeState<X, N> {
    /// State before the first sample.
    pub const NEW: Self = Self { fading: FadingBelief::NEW, weight: Compensated::ZERO };
}

impl<X: Number, const N: usize> ChangeState<X, N> {
    /// The filter's belief and the faded sums.
    pub const fn fading(&self) -> &FadingBelief<X, N> {
        &self.fading
    }

    fn fade(&mut self, lost: X::Real, gained: X::Real) {
        let faded = gained - lost * self.weight.total();
        self.weight.add(faded);
    }
}

impl<E: Emission, const N: usize, const C: usize> ChangeDetector<E, N, C> {
    /// Creates a detector without checks, in a constant too: [`validate`](Self::validate) checks it.
    pub const fn from_parts(
        hmm: Hmm<E, N>,
        memory: ForgettingFactor<RealOf<E>>,
        fit: Limit<RealOf<E>>,
        drift: [Limit<RealOf<E>>; C],
    ) -> Self {
        const {
            let directions = <<E::Weight as Parameter>::Tangent as Tangent<RealOf<E>>>::DIRECTIONS;
            assert!(directions == C, "C must equal the number of the model's directions");
        }
        Self { hmm, memory, fit, drift }
    }

    /// The model.
    pub const fn hmm(&self) -> &Hmm<E, N> {
        &self.hmm
    }

    /// Returns the forgetting factor of the statistics.
    pub const fn memory(&self) -> ForgettingFactor<RealOf<E>> {
        self.memory
    }

    /// Returns the normal range of the log-likelihood.
    pub const fn fit(&self) -> Limit<RealOf<E>> {
        self.fit
    }

    /// Returns the normal range along each direction.
    pub const fn drift(&self) -> &[Limit<RealOf<E>>; C] {
        &self.drift
    }

    /// Creates a detector from a model with `C` directions attached, and its calibration, and checks every number. In a
    /// constant take [`from_parts`](Self::from_parts).
    ///
    /// # Errors
    /// Names the first invalid number.
    pub fn new(
        hmm: Hmm<E, N>,
        memory: ForgettingFactor<RealOf<E>>,
        fit: Limit<RealOf<E>>,
        drift: [Limit<RealOf<E>>; C],
    ) -> Result<Self, ModelError> {
        let made = Self::from_parts(hmm, memory, fit, drift);
        made.validate()?;
        Ok(made)
    }

    /// Checks every number: the model's, that the memory keeps between none and all of the past,
    /// that means are finite and thresholds positive.
    ///
    /// # Errors
    /// Names the first that is wrong; a limit by its statistic (0 the fit, then the drifts) and by
    /// 0 for the mean or 1 for the threshold.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.hmm.validate()?;
        if ForgettingFactor::factor(self.memory.lambda()).is_err() {
            return Err(ModelError::new(Part::Memory, ErrorKind::NotInRange, 0, 0));
        }
        for (row, limit) in core::iter::once(&self.fit).chain(&self.drift).enumerate() {
            let kind = |kind, entry| Err(ModelError::new(Part::Limit, kind, row, entry));
            if !limit.mean.is_finite() {
                return kind(ErrorKind::NotFinite, 0);
            }
            if !limit.threshold.is_finite() {
                return kind(ErrorKind::NotFinite, 1);
            }
            if limit.threshold <= RealOf::<E>::ZERO {
                return kind(ErrorKind::NotPositive, 1);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn forgetting(&self) -> Forgetting<'_, E, N> {
        Forgetting::of(&self.hmm, self.memory)
    }
}

impl<T: Real> Limit<T> {
    /// Returns whether a statistic is beyond the threshold; NaN is.
    #[inline]
    fn is_passed_by(&self, statistic: T) -> bool {
        let within = statistic.abs() <= self.threshold;
        !within
    }
}

impl<E: Emission, const N: usize, const C: usize> Streaming for ChangeDetector<E, N, C> {
    type Observation = E::Observation;
    type State = ChangeState<NumberOf<E>, N>;
    type Reading = ChangeReading<RealOf<E>, C>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        ChangeState::NEW
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        if E::is_missing(x) {
            self.step_missing(state);
            return Ok(());
        }
        self.forgetting().step(&mut state.fading, x)?;
        state.fade(self.memory.one_minus_lambda(), RealOf::<E>::ONE);
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.forgetting().step_missing(&mut state.fading);
        state.fade(self.memory.one_minus_lambda(), RealOf::<E>::ZERO);
    }

    fn read(&self, state: &Self::State) -> ChangeReading<RealOf<E>, C> {
        let sums = self.forgetting().read(&state.fading);
        let weight = state.weight.total();
        let fit = sums.value() - self.fit.mean * weight;
        let mut alarm = if self.fit.is_passed_by(fit) { Some(Statistic::Fit) } else { None };
        let mut drift = [RealOf::<E>::ZERO; C];
        for (direction, (drift, limit)) in drift.iter_mut().zip(&self.drift).enumerate().rev() {
            let sum = sums.derivative(direction).unwrap_or(RealOf::<E>::ZERO);
            *drift = sum - limit.mean * weight;
            if limit.is_passed_by(*drift) {
                alarm = Some(Statistic::Drift(direction));
            }
        }
        ChangeReading { fit, drift, alarm }
    }
}
