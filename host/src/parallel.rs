//! Work over threads.
//!
//! A task comes as a trait object. Rayon's own code is large and is compiled anew for every closure
//! that it is handed: for each of the sizes at which a recursion exists it would be most of the library.

use rayon::prelude::*;

/// `task(0)`, `task(1)` and so on, in order; each of several may run on another thread.
pub fn each<R: Send>(tasks: usize, task: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    // To hand one over costs more than many a task.
    if tasks == 1 {
        return vec![task(0)];
    }
    (0..tasks).into_par_iter().with_max_len(1).map(task).collect()
}

/// What is done with a piece of some values, given its number.
type OnPiece<'t, E> = &'t (dyn Fn(usize, &mut [f64]) -> Result<(), E> + Sync);

/// Hands `task` the pieces of `values`, `size` entries long but for the last, by their number.
///
/// # Errors
/// That of some task that fails.
pub(crate) fn try_each_piece<E: Send>(
    values: &mut [f64],
    size: usize,
    task: OnPiece<'_, E>,
) -> Result<(), E> {
    values
        .par_chunks_mut(size.max(1))
        .enumerate()
        .try_for_each(|(piece, values)| task(piece, values))
}
