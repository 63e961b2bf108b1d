use super::{KernelValues, ScoreOutOfRange, StoredKernel};
use crate::error::{ErrorKind, ModelError, ObservationError, Part, check_symbol};
use crate::filter::Streaming;
use crate::kernel::{Cells, KernelError, LeafQueue, Validate};

/// A kernel on a tree, of strings whose symbols come in another order than the tree's leaves.
///
/// A symbol that is ahead of its turn waits in a [`LeafQueue`]; one whose turn it is goes on to the kernel, with those that
/// waited for it. Past the last leaf symbols are refused, and missing ones change nothing.
///
/// `K` is a [`StoredKernel`] whose observations are symbols, `X` the leaves' symbols, of a device `[u16; LEAVES]`. State: that of
/// `K`, 2 B per leaf and two words. Work: that of `K`. Flash: 2 B per leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafOrder<'m, K, X> {
    kernel: K,
    places: &'m [u16],
    symbols: usize,
    queue: core::marker::PhantomData<fn() -> X>,
}

impl<'m, K, X> LeafOrder<'m, K, X> {
    /// A kernel over an alphabet of `symbols` symbols, and the leaf of each position of a string, from left to right.
    pub const fn new(kernel: K, places: &'m [u16], symbols: usize) -> Self {
        Self { kernel, places, symbols, queue: core::marker::PhantomData }
    }

    /// The kernel, whose symbols are in the order of the leaves.
    pub const fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: Streaming<Observation = usize>, X: Cells<u16>> LeafOrder<'_, K, X> {
    /// Passes on all symbols whose turn it is.
    fn pass_on(&self, (kernel, queue): &mut (K::State, LeafQueue<X>)) {
        while let Some(symbol) = queue.pop() {
            match symbol {
                // Symbols were checked, and there are as many as leaves.
                Some(symbol) => {
                    let _ = self.kernel.step(kernel, &symbol);
                }
                None => self.kernel.step_missing(kernel),
            }
        }
    }
}

impl<K: Streaming<Observation = usize>, X: Cells<u16>> Streaming for LeafOrder<'_, K, X> {
    type Observation = usize;
    type State = (K::State, LeafQueue<X>);
    type Reading = K::Reading;

    fn initial_state(&self) -> Self::State {
        (self.kernel.initial_state(), LeafQueue::new(self.places.len()))
    }

    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        check_symbol(*x, self.symbols)?;
        if !state.1.push(self.places, Some(*x)) {
            return Err(ObservationError::PastEnd);
        }
        self.pass_on(state);
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        state.1.push(self.places, None);
        self.pass_on(state);
    }

    fn read(&self, state: &Self::State) -> Self::Reading {
        self.kernel.read(&state.0)
    }
}

impl<K: Validate, X> Validate for LeafOrder<'_, K, X> {
    /// Each leaf must have one position.
    fn validate(&self) -> Result<(), KernelError> {
        self.kernel.validate()?;
        for (position, place) in self.places.iter().enumerate() {
            let again = self.places[..position].contains(place);
            if again || usize::from(*place) >= self.places.len() {
                let kind = ErrorKind::NotInRange;
                return Err(ModelError::new(Part::StoredItem, kind, 0, position).into());
            }
        }
        Ok(())
    }
    fn size_bytes(&self) -> usize {
        let own = size_of_val(self) - size_of_val(&self.kernel);
        self.kernel.size_bytes() + own + size_of_val(self.places)
    }
}

impl<K, X, const M: usize> StoredKernel<M> for LeafOrder<'_, K, X>
where
    K: StoredKernel<M, Observation = usize>
        + Streaming<Reading = Result<KernelValues<K::Real, M>, ScoreOutOfRange>>,
    X: Cells<u16>,
{
    type Real = K::Real;
}
