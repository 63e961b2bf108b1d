use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::covariance::check_row;
use super::{Channels, Covariance, GaussianBelief, Parameters};
use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Arithmetic, Real, Tangent};

/// A linear dynamical system with a state of `N` numbers, seen through `D` channels.
///
/// ```text
/// s_0 ~ N(mu, Sigma)      s_t = A s_t-1 + N(0, Q)      x_t = C s_t + N(0, R)
/// ```
///
/// Kept as a [`Kalman`](super::Kalman) filter wants it: covariances [in factors](Covariance), and channels
/// whitened. With `W` lower triangular and `W' W = R^-1`, `y = W x` has noise of variance one in each
/// channel, independent of the others: `y_t = W C s_t + N(0, I)`. `Dynamics<4, 3>` is over `f32`;
/// `Dynamics<4, 3, Dual<f32, 2>>` carries two directions.
///
/// Source: Shumway and Stoffer, "An approach to time series smoothing and forecasting using the EM
/// algorithm", 1982. Flash: `3 N^2 + N + D N + D^2 + 1` numbers.
///
/// ```
/// use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
/// use fishweir_core::filter::Stream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A random walk, seen with noise.
/// let walk = Dynamics::new(&Parameters {
///     initial_mean: [0.0_f64],
///     initial_covariance: [[1.0]],
///     transition: [[1.0]],
///     state_noise: [[0.5]],
///     observation: [[1.0]],
///     observation_noise: [[1.0]],
/// })?;
/// let mut stream = Stream::new(Kalman::of(&walk));
/// stream.push(&[1.0])?;
/// assert!((stream.read() - (-0.25 - 0.5 * (2.0 * std::f64::consts::TAU).ln())).abs() < 1e-12);
/// let filtered = stream.state().belief();
/// assert_eq!((*filtered.mean(), filtered.covariance().matrix()), ([0.5], [[0.5]]));
/// stream.push(None)?;
/// assert_eq!(stream.state().belief().covariance().matrix(), [[1.0]]);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Dynamics<const N: usize, const D: usize, W = f32> {
    mean: [W; N],
    covariance: Covariance<W, N>,
    transition: [[W; N]; N],
    noise: Covariance<W, N>,
    /// `W C`, `[channel][row]`.
    observation: [[W; N]; D],
    /// `W`, `[channel][channel]`; zero right of the diagonal.
    whitening: [[W; D]; D],
    /// `sum_d log W_dd - D/2 log 2 pi`.
    constant: W,
}

impl<const N: usize, const D: usize, W> Dynamics<N, D, W> {
    /// A system from numbers already checked, as an export writes them: `mu`, `Sigma`, `A`, `Q`, `W C`, `W`
    /// and `sum_d log W_dd - D/2 log 2 pi`. [`validate`](Self::validate) checks them again.
    pub const fn from_parts(
        mean: [W; N],
        covariance: Covariance<W, N>,
        transition: [[W; N]; N],
        noise: Covariance<W, N>,
        observation: [[W; N]; D],
        whitening: [[W; D]; D],
        constant: W,
    ) -> Self {
        const { assert!(N > 0 && D > 0, "N and D must be at least 1") };
        Self { mean, covariance, transition, noise, observation, whitening, constant }
    }

    /// `A`, `[to][from]`.
    pub const fn transition(&self) -> &[[W; N]; N] {
        &self.transition
    }

    /// `Q`.
    pub const fn noise(&self) -> &Covariance<W, N> {
        &self.noise
    }
}

impl<const N: usize, const D: usize, W: Arithmetic> Dynamics<N, D, W> {
    /// A system from its parameters, over reals or, [along](Parameters::with_directions) directions, over dual
    /// numbers. Work: `(N^3 + D^3) / 3 + D^2 N` multiply-adds, `D` roots and logarithms.
    ///
    /// # Errors
    /// The first number that is not finite; the first row of a covariance that is not symmetric or, of `R`,
    /// not positive definite, of `Sigma` and `Q`, not positive semi-definite. With directions the state must
    /// vary along every row, or there is no derivative: the first row of `Sigma`, or of `A Sigma A' + Q`,
    /// that depends on those before it ([`Part::Tangent`]).
    pub fn new(parameters: &Parameters<W, N, D>) -> Result<Self, ModelError> {
        let covariance = Covariance::new(&parameters.initial_covariance, Part::InitialCovariance)?;
        let noise = Covariance::new(&parameters.state_noise, Part::StateNoise)?;
        let of_channels = Covariance::new(&parameters.observation_noise, Part::ObservationNoise)?;
        if let Some(row) = of_channels.singular_row() {
            let kind = ErrorKind::NotPositiveDefinite;
            return Err(ModelError::new(Part::ObservationNoise, kind, row, row));
        }
        let whitening = whitening_of(&of_channels);
        let mut observation = [[W::ZERO; N]; D];
        let mut constant = W::ZERO;
        for d in 0..D {
            check_row(&parameters.observation[d], Part::Observation, d)?;
            for e in 0..=d {
                for n in 0..N {
                    let seen = whitening[d][e].times(parameters.observation[e][n]);
                    observation[d][n] = observation[d][n].plus(seen);
                }
            }
            let log = whitening[d][d].logarithm();
            constant = constant.plus(log.minus(W::constant(Real::HALF_LN_TAU)));
        }
        let system = Self {
            mean: parameters.initial_mean,
            covariance,
            transition: parameters.transition,
            noise,
            observation,
            whitening,
            constant,
        };
        system.validate()?;
        Ok(system)
    }

    /// The state before the first sample.
    #[inline]
    pub const fn initial(&self) -> GaussianBelief<W, N> {
        GaussianBelief::new(self.mean, self.covariance)
    }

    /// View of the channels as functions of the state.
    #[inline(always)]
    pub const fn channels(&self) -> Channels<'_, W, N> {
        Channels {
            observation: &self.observation,
            whitening: self.whitening.as_flattened(),
            constant: self.constant,
        }
    }

    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong: part, row and column.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_row(&self.mean, Part::Parameter("mean"), 0)?;
        self.covariance.validate(Part::InitialCovariance)?;
        for (i, row) in self.transition.iter().enumerate() {
            check_row(row, Part::Transition, i)?;
        }
        self.noise.validate(Part::StateNoise)?;
        self.channels().validate()?;
        self.validate_directions()
    }

    /// Checks that no direction moves a row along which the state does not vary: the covariance's factors have no derivative
    /// there.
    ///
    /// One step suffices: what `A` and `Q` reach from everywhere they always reach.
    fn validate_directions(&self) -> Result<(), ModelError> {
        if W::Tangent::DIRECTIONS == 0 {
            return Ok(());
        }
        let mut belief = self.initial();
        let mut singular = belief.covariance().singular_row();
        belief.predict(&self.transition, &self.noise);
        singular = singular.or(belief.covariance().singular_row());
        singular.map_or(Ok(()), |row| {
            Err(ModelError::new(Part::Tangent, ErrorKind::NotPositiveDefinite, row, row))
        })
    }
}

/// `W = d^-1/2 L^-1` of `R = L d L'`.
fn whitening_of<W: Arithmetic, const D: usize>(noise: &Covariance<W, D>) -> [[W; D]; D] {
    let factors = noise.factors();
    let mut inverse = [[W::ZERO; D]; D];
    for column in 0..D {
        inverse[column][column] = W::ONE;
        for row in column + 1..D {
            for k in column..row {
                let term = factors[row][k].times(inverse[k][column]);
                inverse[row][column] = inverse[row][column].minus(term);
            }
        }
    }
    for (d, row) in inverse.iter_mut().enumerate() {
        let rate = factors[d][d].square_root().reciprocal();
        for entry in row {
            *entry = entry.times(rate);
        }
    }
    inverse
}
