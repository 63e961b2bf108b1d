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
    /// No change: the starting point of a direction.
    pub const ZERO: Self = Self {
        initial_mean: [T::ZERO; N],
        initial_covariance: [[T::ZERO; N]; N],
        transition: [[T::ZERO; N]; N],
        state_noise: [[T::ZERO; N]; N],
        observation: [[T::ZERO; N]; D],
        observation_noise: [[T::ZERO; D]; D],
    };

    /// Attaches `C` directions, `[direction]`, rates of change of every number: of the model over these a
    /// [`Kalman`](super::Kalman) filter reads `w . score` for each direction `w` after every sample. Of a
    /// direction's covariances the lower triangle is read: they are symmetric.
    pub fn with_directions<const C: usize>(
        &self,
        directions: &[Self; C],
    ) -> Parameters<Dual<T, C>, N, D> {
        let part = |of: fn(&Self) -> &[[T; N]; N]| attach(of(self), directions.each_ref().map(of));
        let mean = |of: &Self| [of.initial_mean];
        let [initial_mean] = attach(&mean(self), directions.each_ref().map(mean).each_ref());
        Parameters {
            initial_mean,
            initial_covariance: part(|of| &of.initial_covariance),
            transition: part(|of| &of.transition),
            state_noise: part(|of| &of.state_noise),
            observation: attach(
                &self.observation,
                directions.each_ref().map(|direction| &direction.observation),
            ),
            observation_noise: attach(
                &self.observation_noise,
                directions.each_ref().map(|direction| &direction.observation_noise),
            ),
        }
    }
}

/// Numbers with their rates of change along directions, `[direction]`.
fn attach<T: Real, const ROWS: usize, const COLUMNS: usize, const C: usize>(
    numbers: &[[T; COLUMNS]; ROWS],
    directions: [&[[T; COLUMNS]; ROWS]; C],
) -> [[Dual<T, C>; COLUMNS]; ROWS] {
    let still = |value| Dual { value, tangent: [T::ZERO; C] };
    let mut dual = numbers.map(|row| row.map(still));
    for (c, direction) in directions.into_iter().enumerate() {
        for (entry, &rate) in dual.as_flattened_mut().iter_mut().zip(direction.as_flattened()) {
            if let Some(slot) = entry.tangent.get_mut(c) {
                *slot = rate;
            }
        }
    }
    dual
}
