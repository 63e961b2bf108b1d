//! A few items of a stream that stand for all, in the bits of a device: the core's
//! [`Coreset`](fishweir_core::kernel::Coreset) with sizes chosen at run time.

use std::num::NonZeroUsize;

use fishweir_core::ObservationError;
pub use fishweir_core::kernel::KeptItem;
use fishweir_core::kernel::{CoresetState, DenseFeatures};

type Places = Vec<Option<KeptItem<Vec<f32>>>>;

/// A coreset of rows of features: see the core's [`Coreset`](fishweir_core::kernel::Coreset).
///
/// ```
/// use fishweir::coreset::Coreset;
///
/// let mut coreset = Coreset::new(std::num::NonZeroUsize::new(4).expect("not zero"), 1);
/// for time in 0..1000 {
///     coreset.push(&[(time % 10) as f32])?;
/// }
/// assert_eq!(coreset.kept().iter().map(|kept| kept.weight).sum::<u32>(), 1000);
/// # Ok::<(), fishweir_core::ObservationError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coreset {
    state: CoresetState<Places, Vec<f32>>,
    room: Vec<f32>,
}

impl Coreset {
    /// Keeps `keep` items of as many features.
    #[must_use]
    pub fn new(keep: NonZeroUsize, features: usize) -> Self {
        let zeros = || vec![0.0; features];
        let state = CoresetState::new(vec![None; keep.get()], zeros(), zeros());
        Self { state, room: zeros() }
    }

    /// Takes in an item.
    ///
    /// # Errors
    /// [`ObservationError::WrongLength`] and [`ObservationError::NotFinite`]; the item is missing.
    pub fn push(&mut self, row: &[f32]) -> Result<(), ObservationError> {
        let taken = match row.len() == self.room.len() {
            true => self.state.step(&DenseFeatures::new(), &row.to_vec(), &mut self.room),
            false => Err(ObservationError::WrongLength),
        };
        if taken.is_err() {
            self.state.step_missing();
        }
        taken
    }

    /// Takes in an item that was not observed: the index of the next one grows.
    pub fn push_missing(&mut self) {
        self.state.step_missing();
    }

    /// Number of items taken in, the missing ones left out.
    #[must_use]
    pub const fn seen(&self) -> u32 {
        self.state.seen()
    }

    /// The kept items, in the order of the stream.
    #[must_use]
    pub fn kept(&self) -> Vec<&KeptItem<Vec<f32>>> {
        let mut kept: Vec<&KeptItem<Vec<f32>>> = self.state.kept().collect();
        kept.sort_unstable_by_key(|kept| kept.index);
        kept
    }

    /// The squared maximum mean discrepancy between the kept items and all.
    #[must_use]
    pub fn discrepancy(&self) -> f32 {
        self.state.discrepancy(&DenseFeatures::new(), &mut vec![0.0; self.room.len()])
    }
}

/// Bytes of RAM on a device of a coreset of `keep` rows of `features` numbers.
#[must_use]
pub const fn ram(keep: usize, features: usize) -> usize {
    // A mark of a free place, index and weight beside the numbers.
    keep * (4 * features + 12) + 8 * features + 8
}
