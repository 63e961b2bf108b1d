//! Kernels by marginalisation, alone and several side by side.

use core::hint::black_box;

use fishweir_core::classify::{
    Compared, KernelMachine, LeafOrder, NoNorm, StoredKernel, StoredLikelihoods, StoredModels,
    StoredSequences,
};
use fishweir_core::emission::{
    Bernoulli, Categorical, FullGaussian, Gaussian, Mixture, Poisson, Regularisation,
    SufficientStatistics,
};
use fishweir_core::filter::{OnlineEm, StepSize, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{
    Affinity, Bank, BranchModel, End, FixedLength, HiddenBinomial, HiddenBinomialNorm, HiddenTree,
    HiddenTreeNorm, LogKernel, LogReading, Marginalisation, ModelPairKernel, OpenNode, Overlaps,
    PairHmm, PairKernel, PairNorm, PairTable, ProductKernel, PrunedTree, PrunedTreeNorm, Stack,
    TreeKernel, TreeMessage, TreeModel, TreeShape, Validate,
};
use fishweir_core::number::{Dual, Real};

use zerocopy::FromZeros;

use super::{STATES, drive, some};

/// Kernels by marginalisation, against sequences that the optimiser does not know.
#[inline(never)]
pub(super) fn kernels() {
    static STORED: [u8; 16] = [0; 16];
    let (stored, x) = (black_box(&STORED[..]), black_box(0));
    let models = some::<[Hmm<Categorical<16>, STATES>; 3]>();
    let (prior, items) = (some::<[f32; 3]>(), some::<[[f32; 3]; 2]>());
    if let Ok(kernel) = Marginalisation::of(&models, &prior, &items) {
        drive(kernel, &x);
        black_box(kernel.log_likelihoods(&black_box(kernel.initial_state())));
        machine(StoredLikelihoods::new(kernel, some(), black_box(true)), &x);
    }
    let hmm = some::<Hmm<Categorical<16>, STATES>>();
    if let Ok(kernel) = FixedLength::of(&hmm, [stored; 2]) {
        drive(kernel, &x);
        black_box(kernel.subkernels(&black_box(kernel.initial_state())));
    }
    let along = some::<Hmm<Categorical<16, Dual<f32, 2>>, STATES>>();
    if let Ok(kernel) = FixedLength::of(&along, [stored; 2]) {
        drive(kernel, &x);
    }
    let gaussian = some::<Hmm<Gaussian<3>, STATES>>();
    static CHANNELS: [[f32; 3]; 16] = [[0.0; 3]; 16];
    if let Ok(kernel) = FixedLength::of(&gaussian, [black_box(&CHANNELS[..])]) {
        drive(kernel, &some());
    }
    if let Ok(table) = PairTable::<f32, 4>::new::<STATES>(&some(), &some()) {
        let tables = black_box([table; 3]);
        if let Ok(kernel) = HiddenBinomial::shared(&table, [stored; 2]) {
            drive(kernel, &x);
        }
        if let Ok(kernel) = HiddenBinomial::per_position(&tables, [stored; 2]) {
            drive(kernel, &x);
            let own = HiddenBinomialNorm::of(&tables, false, black_box(16));
            machine(StoredSequences::new(kernel, own, some()), &x);
        }
    }
    let ends = [
        End::Anywhere,
        End::Emitting(black_box(0)),
        End::Silent { initial: some(), state: some() },
    ];
    for end in ends {
        let model = PairHmm::<f32, STATES, 4>::new(some(), some(), some(), some(), end);
        let Ok(model) = model else { continue };
        if let Ok(kernel) = PairKernel::<_, _, [_; 17]>::of(&model, stored) {
            drive(kernel, &x);
            black_box(kernel.subkernels(&black_box(kernel.initial_state())));
            bank(Bank::new(black_box([kernel; 2])), &x);
            let own = PairNorm::<_, [_; 17], [u16; 17]>::of(&model);
            machine(StoredSequences::new(Bank::new([kernel; 2]), own, some()), &x);
        }
    }
}

/// A machine on a kernel against two items.
fn machine<K>(kernel: K, x: &K::Observation)
where
    K: StoredKernel<2, Real = f32, Observation: Sized>,
{
    let machine = KernelMachine::<_, [[f32; 2]; 1]>::from_parts(kernel, some(), some());
    let machine = black_box(machine);
    let _ = black_box(machine.validate());
    black_box(machine.size_bytes());
    drive(&machine, x);
}

/// Banks of models that are compared with the stream's.
#[inline(never)]
pub(super) fn model_banks() {
    for measure in [Affinity::Product { rho: black_box(0.5) }, Affinity::MeanMap { lambda: some() }]
    {
        model_bank::<Categorical<4>>(measure, &black_box(0));
        model_bank::<Gaussian<3>>(measure, &some());
    }
}

fn model_bank<E>(measure: Affinity<f32>, x: &E::Observation)
where
    E: SufficientStatistics<Real = f32, Observation: Sized> + ProductKernel + FromZeros,
{
    let (start, models) = (some::<Hmm<E, STATES>>(), some::<[Hmm<E, STATES>; 2]>());
    let adapting = OnlineEm::from_parts(
        &start,
        StepSize::Constant(some()),
        black_box(3),
        Regularisation::NONE,
    );
    let compared = (measure, black_box(5));
    let bank = StoredModels::<_, _, Compared<_, 2, { STATES * STATES }>>::new(
        adapting,
        &models,
        compared,
        some(),
        black_box(true),
    );
    machine(bank, x);
}

/// Kernels between models of every family.
#[inline(never)]
pub(super) fn between_models() {
    for measure in [Affinity::Product { rho: black_box(0.5) }, Affinity::MeanMap { lambda: some() }]
    {
        between::<Categorical<4>>(measure);
        between::<Bernoulli<3>>(measure);
        between::<Poisson<2>>(measure);
        between::<Gaussian<3>>(measure);
        between::<FullGaussian<3>>(measure);
        between::<Mixture<Gaussian<2>, 2>>(measure);
    }
}

fn between<E: ProductKernel<Weight = f32> + FromZeros>(measure: Affinity<f32>) {
    const OTHERS: usize = 2;
    let (first, second) = (some::<[E; STATES]>(), some::<[E; OTHERS]>());
    let overlaps = Overlaps::<f32, { STATES * OTHERS }>::of(&first, &second, measure);
    let Ok(overlaps) = overlaps else { return };
    let first = some::<Chain<f32, STATES>>().powered(measure.exponent());
    let second = some::<Chain<f32, OTHERS>>().powered(measure.exponent());
    let between = ModelPairKernel::new(&first, &second, overlaps);
    let _ = black_box(between.validate());
    drive(between, &());
    black_box(between.log_parts(&black_box(between.initial_state())));
}

/// Several kernels fed one stream, and a machine on them.
fn bank<R, T, L>(bank: Bank<R, 2>, x: &R::Observation)
where
    T: Real,
    L: LogReading<Real = T>,
    R: LogKernel<Observation: Sized, Reading = L, Parts = [T; 2]> + Validate + Copy,
{
    drive(bank, x);
    let kernel = StoredSequences::new(bank, NoNorm::<R::Observation, T>::NEW, [T::ZERO; 2]);
    let machine =
        black_box(KernelMachine::<_, [[T; 2]; 1]>::from_parts(kernel, [[T::ONE; 2]], [T::ONE]));
    let _ = black_box(machine.validate());
    drive(&machine, x);
}

/// Kernels on hidden trees.
#[inline(never)]
pub(super) fn tree_kernels() {
    static ARITY: [u16; 16] = [0; 16];
    static STORED: [u8; 16] = [0; 16];
    static OF_NODE: [u16; 16] = [0; 16];
    let (stored, x) = (black_box(&STORED[..]), black_box(0));
    let Ok(shape) = TreeShape::new(black_box(&ARITY[..])) else { return };
    let Ok(model) = TreeModel::<f32, 3, 2>::new(some(), some()) else { return };
    // A matrix per branch.
    let matrices = some::<[[[f32; 3]; 3]; 4]>();
    let Ok(branches) = BranchModel::new(some(), &matrices, black_box(&OF_NODE[..])) else { return };
    let (model, branches) = (black_box(model), black_box(branches));
    for (model, branches) in
        [(model, branches), (model.with_arities(some()), branches.with_arities(some()))]
    {
        if let Ok(kernel) = HiddenTree::<_, _, 8>::of(&model, shape, stored) {
            drive(kernel, &x);
            black_box(kernel.at_root(&black_box(kernel.initial_state())));
            bank(Bank::new(black_box([kernel; 2])), &x);
            let own = HiddenTreeNorm::<_, 8>::of(&model, shape);
            let kernels = StoredSequences::new(Bank::new(black_box([kernel; 2])), own, some());
            static PLACES: [u16; 16] = [0; 16];
            let places = black_box(&PLACES[..]);
            machine(LeafOrder::<_, [u16; 16]>::new(kernels, places, black_box(3)), &x);
            branch_by_branch(kernel, &branches, shape, stored);
        }
        if let Ok(kernel) = PrunedTree::<_, _, 8>::of(&model, shape, stored) {
            drive(kernel, &x);
            let own = PrunedTreeNorm::<_, 8>::of(&model, shape);
            machine(StoredSequences::new(Bank::new(black_box([kernel; 2])), own, some()), &x);
            branch_by_branch(kernel, &branches, shape, stored);
        }
    }
}

/// Runs the kernel with the same storage, under a model of branches.
fn branch_by_branch<V, O, G>(
    _: TreeKernel<'_, G, u8, O>,
    model: &BranchModel<'_, f32, 3>,
    shape: TreeShape<'_>,
    stored: &[u8],
) where
    V: TreeMessage<f32, 3>,
    O: Stack<Item = OpenNode<V>>,
{
    let kernel = TreeKernel::<BranchModel<'_, f32, 3>, u8, O>::of(model, shape, stored);
    if let Ok(kernel) = kernel {
        drive(kernel, &black_box(0));
    }
}
