use core::marker::PhantomData;

use super::{FactorLayout, TermsError};
use crate::error::ObservationError;
use crate::kernel::FeatureMap;

/// Features of the Fisher kernel of a Bayesian network over categories, a number per cell of its tables.
///
/// ```text
/// phi_ijk(x)  = [row of i is j] ( [x_i = k] - theta_ijk )        <u, v> = sum_ijk u_ijk v_ijk / (P_ij theta_ijk)
/// k(x, y)     = sum_i [rows of i are both j] / P_ij ( [x_i = y_i] / theta_ijk - 1 )
/// ```
///
/// A vector that is a sum of features adds up to zero in each row, so that its product with the features of an event is a
/// look-up per node. A node that is missing in an event, or one of whose parents is, has no features.
///
/// An item `I` is an event: an array, or another slice, with the state of each node or [`MISSING`](super::MISSING).
///
/// Source: Leppä-aho, Silander and Roos, "Bayesian network Fisher kernel for categorical feature spaces", 2020, equations 8 and 9.
///
/// ```
/// use fishweir_core::filter::Stream;
/// use fishweir_core::kernel::Coreset;
/// use fishweir_core::network::{EventFeatures, FactorLayout};
///
/// // A door that is open in a quarter of the events.
/// let terms = FactorLayout::new(&[2], &[1], &[0])?;
/// let features = EventFeatures::<[u16; 1]>::new(terms, &[0.75, 0.25], &[1.0 / 0.75, 4.0])?;
/// let mut stream = Stream::new(Coreset::<_, 4, 2>::new(features));
/// for event in 0..100 {
///     stream.push(&[u16::from(event % 4 == 0)])?;
/// }
/// let open: Vec<u32> = stream.state().kept().filter(|kept| kept.item == [1]).map(|kept| kept.weight).collect();
/// assert_eq!(open, [25]); // one of the four stands for all open doors
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EventFeatures<'t, I> {
    terms: FactorLayout<'t>,
    theta: &'t [f32],
    /// `1 / (P theta)`, zero where a cell has no probability.
    precision: &'t [f32],
    item: PhantomData<I>,
}

impl<'t, I> EventFeatures<'t, I> {
    /// The features by a network's tables: `theta` and `precision` by cell, `1 / (P theta)` with `P` the probability of the row,
    /// zero where the cell has none.
    ///
    /// # Errors
    /// [`TermsError`]: terms that are not families of nodes, tables without an entry per cell.
    pub const fn new(
        terms: FactorLayout<'t>,
        theta: &'t [f32],
        precision: &'t [f32],
    ) -> Result<Self, TermsError> {
        if let Err(error) = terms.check_families() {
            return Err(error);
        }
        let wanted = terms.cells();
        if theta.len() != wanted {
            return Err(TermsError::Sizes { wanted, found: theta.len() });
        }
        if precision.len() != wanted {
            return Err(TermsError::Sizes { wanted, found: precision.len() });
        }
        Ok(Self { terms, theta, precision, item: PhantomData })
    }
}

fn at(table: &[f32], cell: usize) -> f32 {
    table.get(cell).copied().unwrap_or(0.0)
}

impl<I: AsRef<[u16]> + Clone> FeatureMap for EventFeatures<'_, I> {
    type Item = I;

    fn check(&self, item: &I) -> Result<(), ObservationError> {
        self.terms.check(item.as_ref())?;
        for cell in self.terms.locate(item.as_ref()).flatten() {
            let possible = at(self.precision, cell) > 0.0;
            if !possible {
                return Err(ObservationError::Impossible);
            }
        }
        Ok(())
    }

    fn add(&self, item: &I, weight: f32, vector: &mut [f32]) {
        let event = item.as_ref();
        let nodes = event.iter().zip(self.terms.cards());
        for (cell, (&own, &card)) in self.terms.locate(event).zip(nodes) {
            let Some(cell) = cell else { continue };
            let own = usize::from(own);
            let first = cell.wrapping_sub(own);
            let row = first..first.wrapping_add(card.into());
            let (Some(row), Some(theta)) = (vector.get_mut(row.clone()), self.theta.get(row))
            else {
                continue;
            };
            for (index, (entry, &theta)) in row.iter_mut().zip(theta).enumerate() {
                let one = if index == own { 1.0 } else { 0.0 };
                *entry += weight * (one - theta);
            }
        }
    }

    fn product(&self, item: &I, vector: &[f32]) -> f32 {
        let mut sum = 0.0;
        for cell in self.terms.locate(item.as_ref()).flatten() {
            sum += at(self.precision, cell) * at(vector, cell);
        }
        sum
    }

    fn square(&self, vector: &[f32]) -> f32 {
        let mut sum = 0.0;
        for (&entry, &precision) in vector.iter().zip(self.precision) {
            sum += precision * entry * entry;
        }
        sum
    }

    fn distance(&self, x: &I, y: &I) -> f32 {
        let (x, y) = (x.as_ref(), y.as_ref());
        let cells = self.terms.locate(x).zip(self.terms.locate(y));
        let mut sum = 0.0;
        for ((one, other), (&own, &others)) in cells.zip(x.iter().zip(y)) {
            let row = |cell: usize, state: u16| cell.wrapping_sub(state.into());
            // |phi_i|^2 = (1 - theta) / (P theta); of two in one row the product is -1 / P.
            let alone = |cell: usize| at(self.precision, cell) * (1.0 - at(self.theta, cell));
            sum += match (one, other) {
                (Some(one), Some(other)) if one == other => 0.0,
                (Some(one), Some(other)) if row(one, own) == row(other, others) => {
                    at(self.precision, one) + at(self.precision, other)
                }
                (one, other) => one.map_or(0.0, alone) + other.map_or(0.0, alone),
            };
        }
        sum
    }
}
