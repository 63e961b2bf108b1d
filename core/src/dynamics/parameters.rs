use crate::number::{Dual, Real};

/// The numbers of a linear dynamical system, over reals or [dual numbers](Dual); also a direction, which
/// has the shape of its model.
///
/// ```text
/// s_0 ~ N(mu, Sigma)      s_t = A s_t-1 + N(0, Q)      x_t = C s_t + N(0, R)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parameters<W, const N: usize, const D: usize> {
    /// `mu`, `[row]`.
    pub initial_mean: [W; N],
    /// `Sigma`, `[row][column]`; may be singular.
    pub initial_covariance: [[W; N]; N],
    /// `A`, `[to][from]`: a matrix by its rows.
    pub transition: [[W; N]; N],
    /// `Q`, `[row][column]`; may be singular.
    pub state_noise: [[W; N]; N],
    /// `C`, `[channel][row]`.
    pub observation: [[W; N]; D],
    /// `R`, `[channel][channel]`; positive definite.
    pub observation_noise: [[W; D]; D],
}

impl<T: Real, const N: usize, const D: usize> Parameters<T, N, D> {
    /// No change: what a direction is filled in from.
    pub const ZERO: Self = Self {
        initial_mean: [T::ZERO; N],
        initial_covariance: [[T::ZERO; N]; N],
        transition: [[T::ZERO; N]; N],
        state_noise: [[T::ZERO; N]; N],
        observation: [[T::ZERO; N]; D],
        observation_noise: [[T::ZERO; D]; D],
    };

    /// Attaches `C` directions, `[direction]`, rates of change of every number: of the model over these a
    /// [`Kalman`](super::Kalman) filter reads `w . score` for each direction `w` after every sample.
    pub fn along<const C: usize>(&self, directions: &[Self; C]) -> Parameters<Dual<T, C>, N, D> {
        let row = |value: &[T], of: &dyn Fn(usize) -> [T; C]| {
            core::array::from_fn(|j| Dual { value: value[j], tangent: of(j) })
        };
        let square = |value: &[[T; N]; N], of: fn(&Self) -> &[[T; N]; N]| {
            core::array::from_fn(|i| {
                row(&value[i], &|j| directions.each_ref().map(|w| of(w)[i][j]))
            })
        };
        Parameters {
            initial_mean: row(&self.initial_mean, &|j| {
                directions.each_ref().map(|w| w.initial_mean[j])
            }),
            initial_covariance: square(&self.initial_covariance, |w| &w.initial_covariance),
            transition: square(&self.transition, |w| &w.transition),
            state_noise: square(&self.state_noise, |w| &w.state_noise),
            observation: core::array::from_fn(|d| {
                row(&self.observation[d], &|j| directions.each_ref().map(|w| w.observation[d][j]))
            }),
            observation_noise: core::array::from_fn(|d| {
                core::array::from_fn(|e| Dual {
                    value: self.observation_noise[d][e],
                    tangent: directions.each_ref().map(|w| w.observation_noise[d][e]),
                })
            }),
        }
    }
}
