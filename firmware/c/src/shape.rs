//! Content of the caller's memory, and the sizes that the header states.
//!
//! `build.rs` compiles this file too: it asks the model's own type for its sizes, as the building machine lays it out, and the
//! library checks that the target lays it out the same.

use fishweir_core::classify::{ChangeDetector, Classifier};
use fishweir_core::emission::Emission;
use fishweir_core::filter::Streaming;
use fishweir_core::number::NumberFormat;
use fishweir_core::spot::Spotter;
use fishweir_model::ModelWindows;

/// The states of the windows that are open at a time; one of a model without windows.
pub(crate) type State = <ModelWindows as Streaming>::State;

/// Content of a `fishweir_stream`.
#[repr(C)]
pub(crate) struct Started {
    pub(crate) state: State,
    /// `MARK` in a stream that was started: zeroed or forgotten memory is recognised.
    pub(crate) mark: u32,
}

/// Words of eight bytes in a `fishweir_stream`.
pub(crate) const WORDS: usize = size_of::<Started>().div_ceil(size_of::<u64>());

/// Sizes of a model that the header states, by its kind `K`. Every model is of one kind, so the compiler finds it.
pub(crate) trait Sizes<K>: Streaming + Sized {
    /// The format of its numbers.
    #[allow(dead_code, reason = "the header's alone")]
    const FORMAT: NumberFormat = NumberFormat::F32;
    /// Number of log-likelihoods or decision values of a classifier.
    const MODELS: Option<usize> = None;
    /// Number of statistics of a change detector.
    const STATISTICS: Option<usize> = None;
    /// Largest number of events at a time of a spotter.
    const EVENTS: Option<usize> = None;

    /// Bytes of it, in flash.
    fn bytes(&self) -> usize {
        size_of_val(self)
    }
}

/// Kind of models that decide between classes.
pub(crate) struct Classifies<const MODELS: usize>;
/// Kind of models that detect change.
pub(crate) struct Detects;
/// Kind of models that spot events.
pub(crate) struct Spots;

impl<R: Classifier<Real = f32, Evidence = [f32; MODELS]>, const MODELS: usize>
    Sizes<Classifies<MODELS>> for R
{
    const FORMAT: NumberFormat = R::FORMAT;
    const MODELS: Option<usize> = Some(MODELS);

    // The size includes the stored items of a kernel machine.
    fn bytes(&self) -> usize {
        self.size_bytes()
    }
}

/// The fit, and the drift along each direction.
impl<E: Emission, const N: usize, const C: usize> Sizes<Detects> for ChangeDetector<E, N, C> {
    const STATISTICS: Option<usize> = Some(1 + C);
}

/// Number of events that a path carries, and the one that the last sample is in.
impl<E, const S: usize, const B: usize, const PENDING: usize> Sizes<Spots>
    for Spotter<E, S, B, PENDING>
where
    E: Emission<Weight = f32>,
{
    const EVENTS: Option<usize> = Some(PENDING + 1);
}
