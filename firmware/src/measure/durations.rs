//! Segments of explicit durations, and contexts of any length that are learnt as symbols come.

use core::hint::black_box;

use embedded_io::Write;
use fishweir_core::context::ContextTree;
use fishweir_core::emission::Categorical;
use fishweir_core::semi_markov::{SegmentFilter, SegmentModel};
use fishweir_device::meter::Meter;

use super::bench::{Bench, Failure};
use super::bits;
use super::models::{self, SAMPLES};

/// States and symbols.
const N: usize = 4;
const K: usize = 4;
/// Cells per state: the longest duration.
const LONGEST: usize = 16;
/// Symbols of a context at most, and nodes.
const DEPTH: usize = 4;
const NODES: usize = 64;

static SYMBOLS: [usize; SAMPLES] = models::symbols::<K>();

/// Rows and digests.
///
/// # Errors
/// When the transport fails, or a symbol is refused.
pub(super) fn durations<S: Write, M: Meter>(
    bench: &mut Bench<S, M>,
) -> Result<(), Failure<S::Error>> {
    segments(bench)?;
    contexts(bench)
}

#[inline(never)]
fn segments<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    static MODEL: SegmentModel<f32, N, LONGEST> = bits::segments();
    static EMISSION: [Categorical<K>; N] = bits::segment_emissions();
    let filter = SegmentFilter::of(black_box(&MODEL), black_box(&EMISSION));
    let bytes = size_of_val(&MODEL) + size_of_val(&EMISSION);
    bench.recursion("segments to 16, N=4, K=4, C=0, f32", &filter, bytes, &SYMBOLS, &K)?;
    bench.digest("segments", bits::digest_segments())
}

type Learn = fn(&mut ContextTree<'_, f32>, &[usize]) -> bool;

#[inline(never)]
fn learn(tree: &mut ContextTree<'_, f32>, stream: &[usize]) -> bool {
    let mut learnt = true;
    for &symbol in stream {
        learnt &= tree.push(symbol).is_ok();
    }
    learnt
}

#[inline(never)]
fn contexts<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    let (mut child, mut count, mut ratio) = ([0; K * NODES], [0.0; K * NODES], [0.0; NODES]);
    let lent = size_of_val(&child) + size_of_val(&count) + size_of_val(&ratio);
    let mut tree = ContextTree::new(K, DEPTH, 0.5, 0.5, &mut child, &mut count, &mut ratio)?;
    let learn = black_box(learn as Learn);
    // The first symbols find a tree without nodes.
    learn(&mut tree, &SYMBOLS);
    let name = "context tree of depth 4, N=-, K=4, C=-, f32";
    let state = lent + size_of::<ContextTree<'_, f32>>();
    bench.called(name, [0, state], learn as usize, || learn(&mut tree, &SYMBOLS))?;
    bench.digest("contexts", bits::digest_contexts())
}
