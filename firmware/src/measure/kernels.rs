//! Kernels by marginalisation against two stored sequences of sixteen samples, with the stream's own norm, on windows of that
//! length.

use core::hint::black_box;

use embedded_io::Write;
use fishweir_core::ObservationError;
use fishweir_core::classify::{KernelMachine, StoredKernel, StoredLikelihoods, StoredSequences};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{
    Affinity, Bank, End, FixedLength, FixedLengthNorm, HiddenBinomial, HiddenBinomialNorm,
    HiddenTree, HiddenTreeNorm, Marginalisation, ModelPairKernel, Overlaps, PairHmm, PairKernel,
    PairNorm, PairTable, PrunedTree, PrunedTreeNorm, Scaled, TreeKernel, TreeModel, TreeNorm,
    TreeShape,
};
use fishweir_device::meter::Meter;

use super::bench::{Bench, Failure};
use super::durations::durations;
use super::kept::kept;
use super::models::{self, CHANNELS, SAMPLES, VECTOR_STREAM};

/// Stored items.
const ITEMS: usize = 2;
/// Samples of each, and of a window.
const LENGTH: usize = 16;
/// Symbols.
const K: usize = 4;

/// Sends a row for each kernel, named `kernel, N=states, K=symbols or D=channels, C=0, f32`.
///
/// # Errors
/// When the transport fails, or a model or a sample is refused.
pub fn kernels<S: Write, M: Meter>(serial: S, meter: M) -> Result<(), Failure<S::Error>> {
    let mut bench = Bench { serial, meter };
    set(&mut bench)?;
    binomial(&mut bench)?;
    fixed(&mut bench)?;
    pair(&mut bench)?;
    trees(&mut bench)?;
    models_compared(&mut bench)?;
    kept(&mut bench)?;
    durations(&mut bench)?;
    bench.end()
}

/// Symbols below `K`.
const fn symbols() -> [usize; SAMPLES] {
    models::symbols::<K>()
}

static STREAM: [usize; SAMPLES] = symbols();

/// Stored strings.
static STORED: [[u8; LENGTH]; ITEMS] = {
    let (from, mut stored) = (symbols(), [[0; LENGTH]; ITEMS]);
    let mut t = 0;
    while t < ITEMS * LENGTH {
        stored[t / LENGTH][t % LENGTH] = from[3 * t] as u8;
        t += 1;
    }
    stored
};

/// A recursion that starts anew after each window.
struct OnWindows<'r, R>(&'r R);

impl<R: Streaming> Streaming for OnWindows<'_, R> {
    type Observation = R::Observation;
    type State = (R::State, usize);
    type Reading = R::Reading;

    fn initial_state(&self) -> Self::State {
        (self.0.initial_state(), 0)
    }

    fn step(&self, state: &mut Self::State, x: &R::Observation) -> Result<(), ObservationError> {
        if state.1 == LENGTH {
            *state = self.initial_state();
        }
        state.1 += 1;
        self.0.step(&mut state.0, x)
    }

    fn step_missing(&self, state: &mut Self::State) {
        self.0.step_missing(&mut state.0);
    }

    fn read(&self, state: &Self::State) -> R::Reading {
        self.0.read(&state.0)
    }
}

/// A row of the machine on a kernel.
fn row<S, M, R>(
    bench: &mut Bench<S, M>,
    name: &str,
    kernel: R,
    stream: &[R::Observation],
    odd: &R::Observation,
) -> Result<(), Failure<S::Error>>
where
    S: Write,
    M: Meter,
    R: StoredKernel<ITEMS, Real = f32, Observation: Sized>,
{
    let machine =
        KernelMachine::<_, [[f32; ITEMS]; 1]>::from_parts(kernel, [[0.5; ITEMS]], [0.1_f32]);
    let machine = black_box(&machine);
    bench.recursion(name, &OnWindows(machine), machine.size_bytes(), stream, odd)
}

/// Strings in flash that the optimiser does not know.
fn stored() -> [&'static [u8]; ITEMS] {
    black_box([&STORED[0][..], &STORED[1][..]])
}

#[inline(never)]
fn set<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    static MODELS: [Hmm<Categorical<K>, 4>; 2] =
        [models::categorical::<K, 4>(), models::categorical::<K, 4>()];
    static LOGS: [[f32; 2]; ITEMS] = [[0.25, -1.5]; ITEMS];
    let kernel = Marginalisation::from_parts(black_box(&MODELS), &[0.5, 0.5], black_box(&LOGS));
    let kernel = StoredLikelihoods::new(kernel, [0.0; ITEMS], true);
    row(bench, "set of 2 models, N=4, K=4, C=0, f32", kernel, &STREAM, &K)
}

#[inline(never)]
fn binomial<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    static TABLES: [PairTable<f32, K>; 1] = [PairTable::from_parts([
        [0.1, 0.05, 0.05, 0.05],
        [0.05, 0.1, 0.05, 0.05],
        [0.05, 0.05, 0.1, 0.05],
        [0.05, 0.05, 0.05, 0.1],
    ])];
    let tables = black_box(&TABLES[..]);
    let kernel = HiddenBinomial::from_parts(tables, true, stored());
    let own = HiddenBinomialNorm::of(tables, true, LENGTH);
    let kernel = StoredSequences::new(kernel, own, [-9.0; ITEMS]);
    row(bench, "hidden binomial, N=4, K=4, C=0, f32", kernel, &STREAM, &K)
}

#[inline(never)]
fn fixed<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    static MODEL: Hmm<Categorical<K>, 4> = models::categorical::<K, 4>();
    let hmm = black_box(&MODEL);
    let kernel = FixedLength::from_parts(hmm, stored());
    let kernel = StoredSequences::new(kernel, FixedLengthNorm::of(hmm, LENGTH), [-9.0; ITEMS]);
    row(bench, "fixed length, N=4, K=4, C=0, f32", kernel, &STREAM, &K)?;
    let hmm = &models::gaussian::<CHANNELS>()?;
    let items = |item: usize| VECTOR_STREAM.get(item * LENGTH..(item + 1) * LENGTH);
    let (Some(first), Some(second)) = (items(0), items(1)) else {
        return Err(Failure::Refused);
    };
    let kernel = FixedLength::from_parts(hmm, black_box([first, second]));
    let kernel = StoredSequences::new(kernel, FixedLengthNorm::of(hmm, LENGTH), [-9.0; ITEMS]);
    row(bench, "fixed length, N=4, D=3, C=0, f32", kernel, &VECTOR_STREAM, &[1e6; CHANNELS])
}

/// Rows of a column over a string.
const ROWS: usize = LENGTH + 1;

#[inline(never)]
fn pair<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    const N: usize = 3;
    let model = &PairHmm::<f32, N, K>::new(
        [0.5, 0.25, 0.25],
        [[0.75, 0.125, 0.0625], [0.25, 0.6875, 0.0], [0.25, 0.0, 0.6875]],
        [[0.234375; K], [0.1875, 0.0625, 0.0625, 0.1875], [0.0625, 0.1875, 0.1875, 0.0625]],
        [0.0625, 0.5, 0.5],
        End::Silent { initial: 0.0, state: [0.0625; N] },
    )?;
    let model = black_box(model);
    let against = |item| PairKernel::<_, u8, [Scaled<f32, N>; ROWS]>::from_parts(model, item);
    let [first, second] = stored();
    let kernel = Bank::new([against(first), against(second)]);
    let own = PairNorm::<_, [Scaled<f32, N>; ROWS], [u16; ROWS]>::of(model);
    let kernel = StoredSequences::new(kernel, own, [-9.0; ITEMS]);
    row(bench, "pair HMM, N=3, K=4, C=0, f32", kernel, &STREAM, &K)
}

#[inline(never)]
fn trees<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    /// A complete tree of sixteen leaves.
    static CHILDREN: [u16; 31] = {
        let mut children = [2; 31];
        // A leaf ends each run of inner nodes, and its sibling follows.
        let (mut node, mut leaf) = (0_usize, 0_usize);
        while leaf < LENGTH {
            let depth = if leaf == 0 { 4 } else { leaf.trailing_zeros() as usize };
            node += depth;
            children[node] = 0;
            node += 1;
            leaf += 1;
        }
        children
    };
    const DEPTH: usize = 4;
    let far = [0.7, 0.1, 0.1, 0.1];
    let law = TreeModel::<f32, K, 1>::new(
        [0.25; K],
        [[far, [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]]],
    )?;
    let law = black_box(&law);
    let shape = TreeShape::from_parts(black_box(&CHILDREN), LENGTH);
    let [first, second] = stored();
    let against = |item| TreeKernel::from_parts(law, shape, item);
    let kernel: Bank<HiddenTree<'_, _, u8, DEPTH>, ITEMS> =
        Bank::new([against(first), against(second)]);
    let own: HiddenTreeNorm<'_, _, DEPTH> = TreeNorm::of(law, shape);
    let kernel = StoredSequences::new(kernel, own, [-9.0; ITEMS]);
    row(bench, "hidden tree, N=4, K=4, C=0, f32", kernel, &STREAM, &K)?;
    let against = |item| TreeKernel::from_parts(law, shape, item);
    let kernel: Bank<PrunedTree<'_, _, u8, DEPTH>, ITEMS> =
        Bank::new([against(first), against(second)]);
    let own: PrunedTreeNorm<'_, _, DEPTH> = TreeNorm::of(law, shape);
    let kernel = StoredSequences::new(kernel, own, [-9.0; ITEMS]);
    row(bench, "pruned tree, N=4, K=4, C=0, f32", kernel, &STREAM, &K)
}

/// Two models step by step: nothing is observed.
#[inline(never)]
fn models_compared<S: Write, M: Meter>(bench: &mut Bench<S, M>) -> Result<(), Failure<S::Error>> {
    const PAIRS: usize = 16;
    let hmm = models::gaussian::<CHANNELS>()?;
    let other = hmm;
    for (name, measure) in [
        ("product of 2 models, N=4, D=3, C=0, f32", Affinity::Product { rho: 0.5 }),
        ("mean map of 2 models, N=4, D=3, C=0, f32", Affinity::MeanMap { lambda: 1.0 }),
    ] {
        let overlaps = Overlaps::<f32, PAIRS>::of(hmm.emission(), other.emission(), measure)?;
        let chain: &Chain<f32, 4> = &hmm.chain().powered(measure.exponent());
        let between = black_box(ModelPairKernel::new(chain, chain, overlaps));
        let bytes = size_of_val(&between) + size_of_val(chain);
        bench.recursion(name, &between, bytes, &[(); SAMPLES], &())?;
    }
    Ok(())
}
