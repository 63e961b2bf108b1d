//! Work over threads.
//!
//! A task comes as a trait object, and its results go to places of their own. Rayon's code is large and is compiled anew
//! for every closure and every type of result that it is handed: here it is compiled once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

/// `task(0)`, `task(1)` and so on, in order; each of several may run on another thread.
pub fn each<R: Send>(tasks: usize, task: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    // To hand one over costs more than many a task.
    if tasks == 1 {
        return vec![task(0)];
    }
    let results: Vec<Mutex<Option<R>>> = (0..tasks).map(|_| Mutex::new(None)).collect();
    run(tasks, &|index| put(&results[index], task(index)));
    // A task that panicked has ended this one too: all have a result.
    results.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}

/// Runs tasks that may fail in parallel.
///
/// # Errors
/// That of the first task that fails.
pub(crate) fn try_each<R: Send, E: Send>(
    tasks: usize,
    task: &(dyn Fn(usize) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    each(tasks, task).into_iter().collect()
}

/// Items of a part, where something is made once per part: enough parts keep all threads busy.
pub(crate) fn part_size(items: usize) -> usize {
    (items / 64).max(16)
}

/// Hands `task` each item by its number.
pub(crate) fn each_mut<T: Send>(items: &mut [T], task: &(dyn Fn(usize, &mut T) + Sync)) {
    let places: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    run(places.len(), &|index| {
        if let Ok(mut item) = places[index].lock() {
            task(index, &mut item);
        }
    });
}

/// Task on a piece of some values, given its number.
type OnPiece<'t, E> = &'t (dyn Fn(usize, &mut [f64]) -> Result<(), E> + Sync);

/// Hands `task` the pieces of `values`, `size` entries long but for the last, by their number.
///
/// # Errors
/// That of some task that fails; the pieces after it may not be done.
pub(crate) fn try_each_piece<E: Send>(
    values: &mut [f64],
    size: usize,
    task: OnPiece<'_, E>,
) -> Result<(), E> {
    let (failed, error) = (AtomicBool::new(false), Mutex::new(None));
    let mut pieces: Vec<&mut [f64]> = values.chunks_mut(size.max(1)).collect();
    each_mut(&mut pieces, &|piece, values| {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(found) = task(piece, values) {
            failed.store(true, Ordering::Relaxed);
            put(&error, found);
        }
    });
    error.into_inner().ok().flatten().map_or(Ok(()), Err)
}

/// Applies a function to each of some values.
pub(crate) fn map_values(values: &mut [f64], f: &(dyn Fn(f64) -> f64 + Sync)) {
    let mut pieces: Vec<&mut [f64]> = values.chunks_mut(PIECE).collect();
    each_mut(&mut pieces, &|_, values| {
        for value in values.iter_mut() {
            *value = f(*value);
        }
    });
}

/// Values of a piece: to hand one over costs as much as some hundred.
const PIECE: usize = 4096;

fn put<R>(place: &Mutex<Option<R>>, result: R) {
    if let Ok(mut place) = place.lock() {
        *place = Some(result);
    }
}

fn run(tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..tasks).into_par_iter().with_max_len(1).for_each(task);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_is_told() {
        for tasks in [0, 1, 2, 1000] {
            assert_eq!(
                each(tasks, &|task| 2 * task),
                (0..tasks).map(|t| 2 * t).collect::<Vec<_>>()
            );
        }
        let odd = |task: usize| if task % 500 == 3 { Err(task) } else { Ok(task) };
        assert_eq!(try_each(1000, &odd), Err(3));
        let mut values: Vec<f64> = (0..10_000).map(f64::from).collect();
        map_values(&mut values, &|x| x + 1.0);
        assert!(values.iter().zip(1..).all(|(x, i)| *x == f64::from(i)));
        let done = try_each_piece(&mut values, 7, &|piece, values| {
            values[0] = piece as f64;
            if piece == 900 { Err("failed") } else { Ok(()) }
        });
        assert_eq!((done, values[7]), (Err("failed"), 1.0));
    }
}
