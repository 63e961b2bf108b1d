//! Long calls: without the interpreter's lock, over the threads that were asked for.

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
    py.detach(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        Ok(pool.map_err(|error| refused(format!("no threads: {error}")))?.install(task))
    })
}
