//! Long calls: without the interpreter's lock, over the threads that were asked for.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::refused;

/// Runs a task without the interpreter's lock, on `threads` threads, or on all cores.
///
/// The threads end with the task, so that a process may fork afterwards.
pub(crate) fn released<R: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    task: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    py.detach(|| on_threads(threads, task))
}

fn on_threads<R: Send>(threads: Option<usize>, task: impl FnOnce() -> R + Send) -> PyResult<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    Ok(pool.map_err(|error| refused(format!("no threads: {error}")))?.install(task))
}

/// Time between two looks for an interrupt.
const PATIENCE: Duration = Duration::from_millis(50);

/// Marks the end of a task by an interrupt.
struct Interrupted;

/// Runs a task as [`released`] does. It calls its argument now and then, which unwinds it after an interrupt from the keyboard.
pub(crate) fn interruptible<R: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    task: impl FnOnce(&(dyn Fn() + Sync)) -> R + Send,
) -> PyResult<R> {
    let (stopped, done) = (AtomicBool::new(false), (Mutex::new(false), Condvar::new()));
    let look = || {
        if stopped.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Interrupted));
        }
    };
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let _signal = EndSignal(&done);
            on_threads(threads, || task(&look))
        });
        let ended = || {
            let finished = done.0.lock().unwrap_or_else(PoisonError::into_inner);
            let wait = done.1.wait_timeout_while(finished, PATIENCE, |finished| !*finished);
            *wait.unwrap_or_else(PoisonError::into_inner).0
        };
        let mut interrupt = None;
        while !py.detach(ended) {
            if let Err(error) = py.check_signals() {
                stopped.store(true, Ordering::Relaxed);
                interrupt.get_or_insert(error);
            }
        }
        match (worker.join(), interrupt) {
            (Ok(result), None) => result,
            (Ok(_), Some(error)) => Err(error),
            (Err(cause), Some(error)) if cause.is::<Interrupted>() => Err(error),
            (Err(cause), _) => resume_unwind(cause),
        }
    })
}

/// Panics in a task, for the test of how a panic of the library arrives: as an exception, whichever way the task runs.
#[pyfunction]
pub(crate) fn panic_in_a_task(py: Python<'_>, interruptible_one: bool) -> PyResult<()> {
    match interruptible_one {
        true => interruptible(py, Some(1), |_| panic!("asked for")),
        false => released(py, Some(1), || panic!("asked for")),
    }
}

/// Signal at the end of a thread, however it ends.
struct EndSignal<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for EndSignal<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}
