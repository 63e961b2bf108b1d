use super::{Channels, Covariance, Dynamics, GaussianBelief, Innovation, SquaredDensity};
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::{Arithmetic, Number, Parameter, Real};

/// The Kalman filter: the likelihood of a [linear dynamical system](Dynamics), the distribution of its state
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
/// State: `(N^2 + N + 1) (1 + C)` reals and a ledger. Work per sample: `2 N^3 + D (2 N^2 + 3 N) + D^2 / 2`
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

/// State of a [`Kalman`] filter: the distribution of the hidden state, and the stream's likelihood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KalmanState<X: Number, const N: usize> {
    belief: GaussianBelief<X, N>,
    density: SquaredDensity<X>,
    /// `true` once a sample has been taken in, missing or not.
    begun: bool,
}

impl<X: Arithmetic, const N: usize> KalmanState<X, N> {
    /// State before the first sample.
    pub const fn new(initial: GaussianBelief<X, N>) -> Self {
        Self { belief: initial, density: SquaredDensity::ONE, begun: false }
    }

    /// The state given all samples so far; as it starts, before the first.
    pub const fn belief(&self) -> &GaussianBelief<X, N> {
        &self.belief
    }

    /// The likelihood, for differences of logarithms.
    pub const fn density(&self) -> &SquaredDensity<X> {
        &self.density
    }

    /// The state at the next sample given all samples so far.
    #[inline(always)]
    pub fn predicted(
        &self,
        transition: &[[X; N]; N],
        noise: &Covariance<X, N>,
    ) -> GaussianBelief<X, N> {
        let mut belief = self.belief;
        if self.begun {
            belief.predict(transition, noise);
        }
        belief
    }

    /// Moves to the time of the next sample, before that sample is taken in. Systems that change in time call it with the matrices of
    /// that step. A variance that would overflow stays as it is, too large for any sample
    /// to be taken in.
    #[inline(always)]
    pub fn advance(&mut self, transition: &[[X; N]; N], noise: &Covariance<X, N>) {
        let belief = self.predicted(transition, noise);
        if belief.is_finite() {
            self.belief = belief;
        }
        self.begun = true;
    }

    /// Takes in the sample of this moment, after [`advance`](Self::advance), and returns the innovation of each whitened
    /// channel.
    ///
    /// # Errors
    /// As [`Kalman`] says; then some channels may have been taken in: it is a copy that is to be used.
    #[inline(always)]
    pub fn observe(
        &mut self,
        channels: &Channels<'_, X, N>,
        x: &[<X as Parameter>::Real],
        mut told: impl FnMut(&Innovation<X, N>),
    ) -> Result<(), ObservationError> {
        if !x.iter().all(|x| x.is_finite()) {
            return Err(ObservationError::NotFinite);
        }
        let mut log = channels.constant.plus(channels.constant);
        let size = channels.observation.len();
        let rows = channels.observation.iter().zip(channels.whitening.chunks_exact(size.max(1)));
        for (d, (channel, whitening)) in rows.enumerate() {
            let mut y = X::ZERO;
            for (&weight, &x) in whitening.iter().zip(x).take(d + 1) {
                y = y.plus(weight.scaled(x));
            }
            let innovation = self.belief.observe(channel, y);
            let Innovation { error, precision, .. } = innovation;
            log = log.minus(error.times(error).times(precision));
            if !self.density.weigh(precision) {
                return Err(ObservationError::Impossible);
            }
            told(&innovation);
        }
        if self.density.add_log_scale(log) { Ok(()) } else { Err(ObservationError::Impossible) }
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
        state.predicted(self.system.transition(), self.system.noise())
    }
}

impl<const N: usize, const D: usize, W: Arithmetic> Streaming for Kalman<'_, N, D, W> {
    type Observation = [<W as Parameter>::Real; D];
    type State = KalmanState<W, N>;
    type Reading = W;

    #[inline]
    fn initial_state(&self) -> Self::State {
        KalmanState::new(self.system.initial())
    }

    /// # Errors
    /// [`ObservationError::NotFinite`]; [`ObservationError::Impossible`] of a sample farther away than
    /// [any may be](crate::number::MIN_LOG_DENSITY_EXP), or where the state's variance has overflowed: `2^64` times
    /// that of a channel's noise.
    #[inline]
    fn step(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError> {
        let (belief, density) = (self.predicted(state), state.density);
        let mut next = KalmanState { belief, density, begun: true };
        next.observe(&self.system.channels(), x, |_| ())?;
        *state = next;
        Ok(())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        state.advance(self.system.transition(), self.system.noise());
    }

    #[inline]
    fn read(&self, state: &Self::State) -> W {
        state.density.log()
    }
}
