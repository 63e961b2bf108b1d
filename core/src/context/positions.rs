use super::{ContextModel, Positions};
use crate::emission::Categorical;
use crate::number::Real;

/// Sequences of `L` symbols that are independent, position by position:
/// `p(x) = prod_i theta[i][x_i]`.
///
/// The uniform model, `theta = 1/K`, is the poorest of models, and its Fisher kernel still serves: the
/// invariant kernel ([`PositionFisher`](crate::kernel::PositionFisher)) is then `K` times the number of
/// matches, less `L`.
///
/// Source: Jaakkola and Haussler, equation 11.
///
/// ```
/// use fishweir_core::context::{ContextLikelihood, IndependentPositions, Positions};
/// use fishweir_core::emission::{Categorical, Parametrisation};
/// use fishweir_core::filter::Stream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let uniform = Categorical::<4, f64>::new([0.25; 4])?;
/// let model = IndependentPositions::<4, 3, f64>::new(Positions, [uniform; 3]);
/// // The kernel with a stored sequence is a directional derivative: it needs no score.
/// let direction = model.whitened(&[0, 1, 2]);
/// let along = model.with_directions(&[direction], Parametrisation::SOFTMAX);
/// let mut stream = Stream::new(ContextLikelihood::of(&along));
/// stream.push_block(&[0, 1, 3])?;
/// assert!((stream.read().tangent[0] - (4.0 * 2.0 - 3.0)).abs() < 1e-12);
/// # Ok(()) }
/// ```
pub type IndependentPositions<const K: usize, const L: usize, W = f32> =
    ContextModel<Positions, Categorical<K, W>, L>;

impl<const K: usize, const L: usize, T: Real> IndependentPositions<K, L, T> {
    /// A sequence's score times the inverse of the information, as a direction in the `softmax`
    /// parametrisation: `w[i][k] = [y_i = k] / theta[i][k]`, for which
    ///
    /// ```text
    /// w . score(x) = sum_i ( [x_i = y_i] / theta[i][x_i] - 1 )
    /// ```
    ///
    /// is the invariant Fisher kernel of `x` and `y`. Sums of such directions are linear classifiers
    /// over stored sequences. A symbol outside the alphabet, or one that the model cannot make, has no
    /// part in the direction.
    pub fn whitened(&self, sequence: &[usize; L]) -> [[T; K]; L] {
        let mut direction = [[T::ZERO; K]; L];
        for ((row, theta), &symbol) in direction.iter_mut().zip(self.emission()).zip(sequence) {
            if let (Some(entry), Some(&p)) =
                (row.get_mut(symbol), theta.probability().as_slice().get(symbol))
                && p > T::ZERO
            {
                *entry = T::ONE / p;
            }
        }
        direction
    }
}
