use super::{Dynamics, GaussianBelief, SquaredDensity};
use crate::error::ObservationError;
use crate::filter::Recursion;
use crate::number::{Arithmetic, Number, Parameter, Real};

/// The Kalman filter: the likelihood of a [linear dynamical system](Dynamics), what is known of its state
/// and, over dual numbers, directional derivatives of the log-likelihood.
///
/// ```text
/// m, P <- A m, A P A' + Q                      (mu, Sigma before the first sample)
/// per whitened channel:   e = y - c m          S = c P c' + 1          K = P c' / S
///                         m <- m + K e         P <- P - K S K'
/// log p(x_1..t) = sum ( log W_dd - 1/2 log 2 pi S - 1/2 e^2 / S )
/// ```
///
/// `P` is kept [in factors](super::Covariance), so that no rounding makes it anything but a covariance: a
/// stream may be endless. Determinants are multiplied, mantissa and exponent; a logarithm is taken when
/// somebody reads.
///
/// Sources: Kalman, "A new approach to linear filtering and prediction problems", 1960; Bierman,
/// "Factorization Methods for Discrete Sequential Estimation", 1977; Schweppe, "Evaluation of likelihood
/// functions for Gaussian signals", 1965.
///
/// State: `(N^2 + N + 1) (1 + C)` reals and a ledger. Work a sample: `2 N^3 + D (2 N^2 + 3 N) + D^2 / 2`
/// multiply-adds, `1 + 2C` times that with directions, and `N (1 + D)` divisions.
#[derive(Debug)]
pub struct Kalman<'m, const N: usize, const D: usize, W = f32> {
    system: &'m Dynamics<N, D, W>,
}

impl<const N: usize, const D: usize, W> Clone for Kalman<'_, N, D, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<const N: usize, const D: usize, W> Copy for Kalman<'_, N, D, W> {}

/// What a stream left in a [`Kalman`] filter: what is known of the state, and the stream's likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KalmanState<X: Number, const N: usize> {
    belief: GaussianBelief<X, N>,
    density: SquaredDensity<X>,
    /// Whether a sample was taken in, or missed.
    begun: bool,
}

impl<X: Arithmetic, const N: usize> KalmanState<X, N> {
    /// The state given all samples so far; as it starts, before the first.
    pub const fn belief(&self) -> &GaussianBelief<X, N> {
        &self.belief
    }

    /// The likelihood, for differences of logarithms.
    pub const fn density(&self) -> &SquaredDensity<X> {
        &self.density
    }
}

impl<'m, const N: usize, const D: usize, W: Arithmetic> Kalman<'m, N, D, W> {
    /// The filter of a system.
    pub const fn of(system: &'m Dynamics<N, D, W>) -> Self {
        Self { system }
    }

    /// The system.
    pub const fn system(&self) -> &'m Dynamics<N, D, W> {
        self.system
    }

    /// The state at the next sample given all samples so far.
    #[inline(always)]
    pub fn predicted(&self, state: &KalmanState<W, N>) -> GaussianBelief<W, N> {
        let mut belief = state.belief;
        if state.begun {
            belief.predict(self.system.transition(), self.system.noise());
        }
        belief
    }
}

impl<const N: usize, const D: usize, W: Arithmetic> Recursion for Kalman<'_, N, D, W> {
    type Observation = [<W as Parameter>::Real; D];
    type State = KalmanState<W, N>;
    type Reading = W;

    #[inline]
    fn start(&self) -> Self::State {
        let (belief, density) = (self.system.initial(), SquaredDensity::ONE);
        KalmanState { belief, density, begun: false }
    }

    /// # Errors
    /// [`ObservationError::NotFinite`]; [`ObservationError::Impossible`] of a sample farther away than
    /// [any may be](crate::number::FARTHEST), or where the state's variance has overflowed: `2^64` times
    /// that of a channel's noise.
    #[inline]
    fn push(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError> {
        if !x.iter().all(|x| x.is_finite()) {
            return Err(ObservationError::NotFinite);
        }
        let mut belief = self.predicted(state);
        let mut density = state.density;
        let constant = self.system.constant();
        let mut log = constant.plus(constant);
        let channels = self.system.observation().iter().zip(self.system.whitening());
        for (d, (channel, whitening)) in channels.enumerate() {
            let mut y = W::ZERO;
            for (&weight, &x) in whitening.iter().zip(x).take(d + 1) {
                y = y.plus(weight.scaled(x));
            }
            let told = belief.observe(channel, y);
            log = log.minus(told.error.times(told.error).times(told.precision));
            if !density.weigh(told.precision) {
                return Err(ObservationError::Impossible);
            }
        }
        if !density.earn(log) {
            return Err(ObservationError::Impossible);
        }
        *state = KalmanState { belief, density, begun: true };
        Ok(())
    }

    // A variance that would overflow stays as it is, too large for any sample to be taken in.
    #[inline]
    fn push_missing(&self, state: &mut Self::State) {
        let belief = self.predicted(state);
        if belief.is_finite() {
            state.belief = belief;
        }
        state.begun = true;
    }

    #[inline]
    fn read(&self, state: &Self::State) -> W {
        state.density.log()
    }
}
