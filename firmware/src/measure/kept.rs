//! Costs per window or event, and not per sample: coresets, and lessons of a class.

use core::hint::black_box;

use embedded_io::Write;
use fishweir_core::ObservationError;
use fishweir_core::classify::Decision;
use fishweir_core::classify::teach::{ClassName, TaughtClasses, TaughtDecision, TeachingBasis};
use fishweir_core::filter::Streaming;
use fishweir_core::kernel::{Coreset, DenseFeatures};
use fishweir_device::meter::Meter;

use super::bench::{Bench, Failure};
use super::bits::{self, CELLS, FEATURES, KEPT};
use super::models::{self, SAMPLES};

/// Known classes, and taught ones.
const CLASSES: usize = 7;
const TAUGHT: usize = 4;

/// Features of windows, in flash.
static ROWS: &[[f32; FEATURES]; SAMPLES] = &models::vectors();
static EVENTS: [[u16; 3]; SAMPLES] = {
    let mut events = [[0; 3]; SAMPLES];
    let mut time = 0;
    while time < SAMPLES {
        events[time] = bits::event(time);
        time += 1;
    }
    events
};

type Taught = TaughtClasses<TAUGHT, FEATURES>;

/// Rows of coresets and lessons, and digests of coresets.
///
/// # Errors
/// When the transport fails, or an item is refused.
pub(super) fn kept<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    coresets(bench)?;
    lessons(bench)
}

#[inline(never)]
fn coresets<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    let features = DenseFeatures::<[f32; FEATURES]>::new();
    let windows = Coreset::<_, KEPT, FEATURES>::new(features);
    let name = "coreset of 16 windows, N=-, D=13, C=-, f32";
    bench.recursion(name, &windows, 0, ROWS, &[f32::INFINITY; FEATURES])?;
    let features = bits::event_features::<[u16; 3]>().map_err(|_| Failure::Refused)?;
    let events = Coreset::<_, KEPT, CELLS>::new(features);
    let bytes = 2 * (3 + 3 + 6) + 8 * CELLS;
    bench.recursion(
        "coreset of 16 events, N=3, K=2, C=-, f32",
        &events,
        bytes,
        &EVENTS,
        &[9; 3],
    )?;
    let dense = DenseFeatures::new();
    let windows = bits::digest_coreset::<_, KEPT, FEATURES>(dense, bits::features);
    bench.digest("coreset of windows", windows)?;
    let events = bits::digest_coreset::<_, KEPT, CELLS>(features, bits::event);
    bench.digest("coreset of events", events)
}

/// Reals of the basis.
const REALS: usize = FEATURES * (FEATURES + 1) / 2 + FEATURES + CLASSES * FEATURES;

/// A basis: a whitening of halves, and means that differ.
const fn basis() -> [[u8; 4]; 2 + REALS] {
    let mut words = [0.5_f32.to_le_bytes(); 2 + REALS];
    let [a, b, c, d, e, f, g, h] = TeachingBasis::head(FEATURES as u16, CLASSES as u16);
    (words[0], words[1]) = ([a, b, c, d], [e, f, g, h]);
    let mut class = 0;
    while class < CLASSES {
        let at = 2 + REALS - (CLASSES - class) * FEATURES + class;
        words[at] = 4.0_f32.to_le_bytes();
        class += 1;
    }
    words
}

static BASIS: [[u8; 4]; 2 + REALS] = basis();

/// A lesson: the evidence of a window is shown to a class.
struct Lesson<'b> {
    basis: TeachingBasis<'b>,
    none: Taught,
    name: ClassName,
}

impl Streaming for Lesson<'_> {
    type Observation = [f32; FEATURES];
    type State = Taught;
    type Reading = usize;

    fn initial_state(&self) -> Taught {
        self.none.clone()
    }

    fn step(&self, state: &mut Taught, x: &[f32; FEATURES]) -> Result<(), ObservationError> {
        let shown = state.show(&self.basis, &self.name, &mut x.clone());
        shown.map(|_| ()).map_err(|_| ObservationError::NotFinite)
    }

    fn step_missing(&self, _: &mut Taught) {}

    fn read(&self, state: &Taught) -> usize {
        state.len()
    }
}

/// Decisions on windows between seven known and four taught classes.
struct Decisions<'b>(&'b Lesson<'b>, &'b Taught);

impl Streaming for Decisions<'_> {
    type Observation = [f32; FEATURES];
    type State = usize;
    type Reading = usize;

    fn initial_state(&self) -> usize {
        0
    }

    fn step(&self, state: &mut usize, x: &[f32; FEATURES]) -> Result<(), ObservationError> {
        let known = TaughtDecision::from(Decision { class: 1, margin: 1.0 });
        *state = self.1.decide(&self.0.basis, None, known, &mut x.clone()).decision.class;
        Ok(())
    }

    fn step_missing(&self, _: &mut usize) {}

    fn read(&self, state: &usize) -> usize {
        *state
    }
}

#[inline(never)]
fn lessons<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    let refused = |_| Failure::Refused;
    let bytes = black_box(BASIS.as_flattened());
    let basis = TeachingBasis::read(bytes).map_err(refused)?;
    let none = Taught::new(&basis).map_err(refused)?;
    let name = ClassName::new("taught").map_err(refused)?;
    let lesson = Lesson { basis, none, name };
    let far = &[f32::INFINITY; FEATURES];
    bench.recursion("shown window, N=-, D=13, C=-, f32", &lesson, bytes.len(), ROWS, far)?;
    let mut taught = lesson.initial_state();
    for (name, row) in ["a", "b", "c", "d"].iter().zip(ROWS) {
        let name = ClassName::new(name).map_err(refused)?;
        taught.show(&basis, &name, &mut row.clone()).map_err(refused)?;
    }
    let decisions = Decisions(&lesson, black_box(&taught));
    bench.recursion(
        "decision with 4 taught, N=-, D=13, C=-, f32",
        &decisions,
        bytes.len(),
        ROWS,
        far,
    )
}
