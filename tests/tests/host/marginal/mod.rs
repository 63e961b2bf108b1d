//! Kernels by marginalisation on the host: equal to the core's at any size, Gram matrices without
//! negative eigenvalues, the same on any number of threads, no underflow, and their files.

mod file;
mod newick;

use fishweir::data::{Alphabet, SamplesView};
use fishweir::kernel::marginal::{
    FiniteSetModel, FixedLengthModel, HiddenBinomialModel, HiddenState, ItemError, MarginalError,
    MarginalModel, PairEnd, PairHmmModel, Substitution, TreeKernelModel,
};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm as CoreHmm};
use fishweir_core::kernel::{
    End, FixedLength, HiddenBinomial, HiddenTree, Marginalisation, PairHmm, PairKernel, PairTable,
    PrunedTree, TreeModel, TreeShape,
};
use fishweir_tests::checks;
use fishweir_tests::sample::Sampler;

/// A size that is padded, to six states and to 32 symbols.
const N: usize = 5;
const LENGTH: usize = 9;

fn hmm(sampler: &mut Sampler) -> Hmm {
    Hmm {
        initial: sampler.probabilities(N),
        transition: (0..N).map(|_| sampler.probabilities(N)).collect(),
        emission: Emissions::categorical((0..N).map(|_| sampler.probabilities(N)).collect()),
    }
}

fn alphabet() -> Alphabet {
    Alphabet::new("abcde").expect("five letters")
}

fn fixed_length(sampler: &mut Sampler) -> FixedLengthModel {
    FixedLengthModel { alphabet: Some(alphabet()), channels: None, hmm: hmm(sampler) }
}

fn binomial(sampler: &mut Sampler, positions: usize) -> HiddenBinomialModel {
    let mut state = || HiddenState {
        prior: sampler.probabilities(N),
        emission: (0..N).map(|_| sampler.probabilities(N)).collect(),
    };
    match positions {
        0 => HiddenBinomialModel { alphabet: alphabet(), shared: Some(state()), position: vec![] },
        _ => HiddenBinomialModel {
            alphabet: alphabet(),
            shared: None,
            position: (0..positions).map(|_| state()).collect(),
        },
    }
}

fn pair(sampler: &mut Sampler) -> PairHmmModel {
    // Rows of six: the last is what ends, or is not emitted.
    let split = |row: Vec<f64>| (row[..N].to_vec(), row[N]);
    let rows: Vec<_> = (0..N).map(|_| split(sampler.probabilities(N + 1))).collect();
    let laws: Vec<_> = (0..N).map(|_| split(sampler.probabilities(N + 1))).collect();
    let (initial, ends) = split(sampler.probabilities(N + 1));
    let state = rows.iter().map(|(_, end)| *end).collect();
    PairHmmModel {
        alphabet: alphabet(),
        initial,
        transition: rows.into_iter().map(|(row, _)| row).collect(),
        empty: laws.iter().map(|(_, empty)| *empty).collect(),
        emission: laws.into_iter().map(|(row, _)| row).collect(),
        end: PairEnd::Silent { initial: ends, state },
    }
}

/// Nine leaves, a node of three children and one of one.
const TREE: &str = "(((a,b,c),(d)),((e,f),(g,(h,i))));";

fn tree(sampler: &mut Sampler) -> TreeKernelModel {
    TreeKernelModel {
        alphabet: alphabet(),
        newick: Some(TREE.parse().expect("a tree")),
        newick_file: None,
        leaves: vec![],
        root: Some(sampler.probabilities(N)),
        transition: Some((0..N).map(|_| sampler.probabilities(N)).collect()),
        transition_of_child: None,
        substitution: None,
        arity: None,
    }
}

fn finite_set(sampler: &mut Sampler) -> FiniteSetModel {
    FiniteSetModel {
        alphabet: Some(alphabet()),
        channels: None,
        prior: sampler.probabilities(3),
        model: (0..3).map(|_| hmm(sampler)).collect(),
    }
}

/// All six, of the sizes above; what they compare is of nine symbols.
fn all(seed: u64) -> Vec<MarginalModel> {
    let sampler = &mut Sampler::new(seed);
    vec![
        MarginalModel::Marginalisation(finite_set(sampler)),
        MarginalModel::HiddenBinomial(binomial(sampler, 0)),
        MarginalModel::HiddenBinomial(binomial(sampler, LENGTH)),
        MarginalModel::FixedLength(fixed_length(sampler)),
        MarginalModel::PairHmm(pair(sampler)),
        MarginalModel::HiddenTree(tree(sampler)),
        MarginalModel::PrunedTree(tree(sampler)),
    ]
}

fn strings(seed: u64, count: usize, length: usize, symbols: usize) -> Vec<Vec<Option<u16>>> {
    let mut sampler = Sampler::new(seed);
    let mut symbol = || Some(sampler.uniform(0.0, symbols as f64) as u16);
    (0..count).map(|_| (0..length).map(|_| symbol()).collect()).collect()
}

fn views(strings: &[Vec<Option<u16>>]) -> Vec<SamplesView<'_>> {
    strings.iter().map(|string| SamplesView::Symbols(string)).collect()
}

fn rows<const R: usize, const C: usize>(rows: &[Vec<f64>]) -> [[f64; C]; R] {
    std::array::from_fn(|i| std::array::from_fn(|j| rows[i][j]))
}

fn row<const C: usize>(row: &[f64]) -> [f64; C] {
    std::array::from_fn(|j| row[j])
}

fn core_hmm(hmm: &Hmm) -> CoreHmm<Categorical<N, f64>, N> {
    let probability = hmm.emission.symbols().expect("categorical");
    let laws = probability.iter().map(|p| Categorical::<N, f64>::new(row(p)).expect("a law"));
    let laws: Vec<_> = laws.collect();
    let chain = Chain::<f64, N>::new(row(&hmm.initial), rows(&hmm.transition)).expect("a chain");
    CoreHmm::new(chain, laws.try_into().expect("five laws"))
}

fn after<R: Streaming<Observation = usize>>(recursion: R, t: &[Option<u16>]) -> R::Reading {
    checks::after(recursion, t.iter().map(|x| x.map(usize::from))).read()
}

/// The core's own answer at the exact sizes: `s` stored, `t` the stream.
fn by_core(model: &MarginalModel, s: &[Option<u16>], t: &[Option<u16>]) -> f64 {
    match model {
        MarginalModel::Marginalisation(set) => {
            let models: Vec<_> = set.model.iter().map(core_hmm).collect();
            let models: [_; 3] = models.try_into().expect("three models");
            let prior = row(&set.prior);
            let kernel = Marginalisation::of(&models, &prior, &[[0.0; 3]]).expect("a kernel");
            let mut stream = Stream::new(kernel);
            for x in s {
                stream.push(&usize::from(x.expect("known"))).expect("a symbol");
            }
            let stored = [kernel.log_likelihoods(stream.state())];
            after(Marginalisation::of(&models, &prior, &stored).expect("a kernel"), t)[0]
        }
        MarginalModel::HiddenBinomial(HiddenBinomialModel { shared, position, .. }) => {
            let table = |state: &HiddenState| {
                PairTable::<f64, N>::new::<N>(&row(&state.prior), &rows(&state.emission))
                    .expect("a table")
            };
            let tables: Vec<_> = shared.iter().chain(position).map(table).collect();
            let kernel = match shared {
                Some(_) => HiddenBinomial::shared(&tables[0], [s]),
                None => HiddenBinomial::per_position(&tables, [s]),
            };
            after(kernel.expect("a kernel"), t)[0]
        }
        MarginalModel::FixedLength(model) => {
            let hmm = core_hmm(&model.hmm);
            after(FixedLength::of(&hmm, [s]).expect("a kernel"), t)[0]
        }
        MarginalModel::PairHmm(model) => {
            let PairEnd::Silent { initial, state } = &model.end else { panic!("a silent end") };
            let pair = PairHmm::<f64, N, N>::new(
                row(&model.initial),
                rows(&model.transition),
                rows(&model.emission),
                row(&model.empty),
                End::Silent { initial: *initial, state: row(state) },
            );
            let pair = pair.expect("a model");
            after(PairKernel::<_, _, [_; 64]>::of(&pair, s).expect("a kernel"), t)
        }
        MarginalModel::HiddenTree(model) => {
            let (law, code) = core_tree(model);
            let shape = TreeShape::new(&code).expect("a shape");
            let kernel = HiddenTree::<_, _, 4>::of(&law, shape, s).expect("a kernel");
            after(kernel, t).expect("all leaves")
        }
        MarginalModel::PrunedTree(model) => {
            let (law, code) = core_tree(model);
            let shape = TreeShape::new(&code).expect("a shape");
            let kernel = PrunedTree::<_, _, 4>::of(&law, shape, s).expect("a kernel");
            after(kernel, t).expect("all leaves").log_sum
        }
        _ => panic!("a kernel that the tests do not know"),
    }
}

fn core_tree(model: &TreeKernelModel) -> (TreeModel<f64, N, 1>, Vec<u16>) {
    let root = row(model.root.as_ref().expect("a root"));
    let transition = [rows(model.transition.as_ref().expect("transitions"))];
    let code = model.newick.as_ref().expect("a tree").children().to_vec();
    (TreeModel::new(root, transition).expect("a model"), code)
}

/// Padding, blocks of stored sequences and threads change no bit.
#[test]
fn any_size_is_the_cores_own_to_the_bit() {
    for seed in 0..3 {
        let strings = strings(seed, 11, LENGTH, N);
        for model in all(seed) {
            let gram = model.log_gram(&views(&strings)).expect("a matrix");
            for (i, t) in strings.iter().enumerate() {
                for (j, s) in strings.iter().enumerate().take(i + 1) {
                    let expected = by_core(&model, s, t);
                    assert_eq!(gram.get(i, j), expected, "{} of {i} and {j}", model.name());
                    assert_eq!(gram.get(j, i), expected);
                }
            }
        }
    }
}

#[test]
fn threads_change_no_bit_and_cross_matrices_are_parts() {
    let strings = strings(7, 23, LENGTH, N);
    let views = views(&strings);
    for model in all(7) {
        let pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| model.log_gram(&views).expect("a matrix"))
        };
        let (one, three) = (pool(1), pool(3));
        assert_eq!(one, three, "{}", model.name());
        // New ones stream against stored ones, as later ones against earlier ones do.
        let cross = model.log_cross_gram(&views[17..], &views[..17]).expect("a matrix");
        for i in 17..23 {
            assert_eq!(cross.row(i - 17), &one.row(i)[..17], "{}", model.name());
            assert_eq!(cross.row_diagonal[i - 17], one.get(i, i));
        }
        let known: Vec<f64> = one.diagonal().take(17).collect();
        assert_eq!(cross.column_diagonal, known);
        let (cosines, all) = (cross.normalised(), one.normalised());
        let (scaled, log_scale) = one.scaled();
        let cross_scaled = cross.scaled(log_scale);
        for (i, j) in [(0, 0), (5, 16), (3, 8)] {
            assert_eq!(cosines.get(i, j), all.get(17 + i, j));
            assert_eq!(cross_scaled.get(i, j), scaled.get(17 + i, j));
        }
    }
}

#[test]
fn gram_matrices_have_no_negative_eigenvalue() {
    let strings = strings(3, 40, LENGTH, N);
    for model in all(3) {
        let gram = model.log_gram(&views(&strings)).expect("a matrix");
        let (scaled, _) = gram.scaled();
        let cosines = gram.normalised();
        for (what, gram) in
            [("kernels", &gram.kernels()), ("scaled", &scaled), ("cosines", &cosines)]
        {
            let spectrum = gram.spectrum().expect("finite");
            let name = model.name();
            assert!(spectrum.is_positive_semidefinite(), "{name}, {what}: {spectrum:?}");
            assert!(spectrum.largest > 0.0, "{name}, {what}");
        }
        assert!(cosines.diagonal().all(|k| k == 1.0));
        assert!(cosines.rows().flatten().all(|&k| k <= 1.0 + 1e-12));
    }
}

/// A missing symbol is summed over, whichever sequence it is missing from, and of both at once.
#[test]
fn missing_symbols_are_summed_over() {
    let known = strings(5, 2, LENGTH, N);
    for model in all(5) {
        let log = |s: &[Option<u16>], t: &[Option<u16>]| {
            let items = [SamplesView::Symbols(s), SamplesView::Symbols(t)];
            model.log_gram(&items).expect("a matrix").get(0, 1)
        };
        let with = |string: &[Option<u16>], at: usize, symbol| {
            let mut string = string.to_vec();
            string[at] = symbol;
            string
        };
        let symbols = || (0..N as u16).map(Some);
        let [s, t] = [&known[0], &known[1]];
        for (s_at, t_at) in
            [(Some(2), None), (None, Some(0)), (Some(4), Some(4)), (Some(8), Some(1))]
        {
            let place = |string: &Vec<_>, at: Option<usize>, symbol| {
                at.map_or_else(|| string.clone(), |at| with(string, at, symbol))
            };
            let expected: f64 = match (s_at, t_at) {
                (Some(_), Some(_)) => symbols()
                    .flat_map(|a| symbols().map(move |b| (a, b)))
                    .map(|(a, b)| log(&place(s, s_at, a), &place(t, t_at, b)).exp())
                    .sum(),
                _ => symbols().map(|a| log(&place(s, s_at, a), &place(t, t_at, a)).exp()).sum(),
            };
            let got = log(&place(s, s_at, None), &place(t, t_at, None)).exp();
            let near = (got - expected).abs() <= 1e-12 * expected;
            assert!(near, "{}, {s_at:?}, {t_at:?}: {got} where {expected} is right", model.name());
        }
    }
}

/// 10^5 symbols are e^-200000 and less; cosines are what they are.
#[test]
fn long_sequences_do_not_underflow() {
    const LONG: usize = 100_000;
    let mut long = strings(1, 2, LONG, N);
    // A third that agrees with the first but for a few symbols.
    let mut near = long[0].clone();
    (0..20).for_each(|i| near[i * 5000] = Some(0));
    long.push(near);
    let sampler = &mut Sampler::new(1);
    // A node has 65535 children at most: two stars.
    let star = |leaves: std::ops::Range<usize>| {
        leaves.map(|leaf| format!("l{leaf}:0.5")).collect::<Vec<_>>().join(",")
    };
    let star = format!("(({}):1,({}):1);", star(0..LONG / 2), star(LONG / 2..LONG));
    let tree = TreeKernelModel {
        newick: Some(star.parse().expect("a tree")),
        transition: None,
        root: None,
        substitution: Some(Substitution::EqualRates { rate: 1.0 }),
        ..tree(sampler)
    };
    for model in [
        MarginalModel::Marginalisation(finite_set(sampler)),
        MarginalModel::HiddenBinomial(binomial(sampler, 0)),
        MarginalModel::FixedLength(fixed_length(sampler)),
        MarginalModel::HiddenTree(tree.clone()),
        MarginalModel::PrunedTree(tree),
    ] {
        let gram = model.log_gram(&views(&long)).expect("a matrix");
        assert!(gram.get(0, 1) < -1e5 && gram.get(0, 1).is_finite(), "{}", gram.get(0, 1));
        let cosines = gram.normalised();
        let name = model.name();
        assert!(
            cosines.get(0, 2) > 1e-30 && cosines.get(0, 2) <= 1.0 + 1e-9,
            "{name}: {cosines:?}"
        );
        assert!(cosines.get(0, 1) < cosines.get(0, 2) || name == "marginalisation", "{name}");
        assert_eq!(gram.kernels().get(0, 0), 0.0, "what cosines are for");
    }
    // A long stream against short stored sequences: a column is as long as what is stored.
    let pair = MarginalModel::PairHmm(pair(sampler));
    let short = strings(2, 2, 12, N);
    for stored in views(&short) {
        let log = pair.log_kernel(stored, views(&long)[0]).expect("a kernel");
        assert!(log.is_finite() && log < -1e5, "{log}");
    }
}

#[test]
fn items_that_do_not_fit_are_named() {
    let strings = [vec![Some(0), Some(1)], vec![Some(0), Some(5)], vec![Some(0)]];
    let views = views(&strings);
    let sampler = &mut Sampler::new(2);
    let fixed = MarginalModel::FixedLength(fixed_length(sampler));
    let wrong = |model: &MarginalModel, items: &[SamplesView<'_>]| match model.log_gram(items) {
        Err(MarginalError::Item { item, error }) => (item, error),
        other => panic!("{other:?}"),
    };
    let (item, error) = wrong(&fixed, &[views[0], views[2]]);
    assert!(item == 1 && matches!(error, ItemError::Length { found: 1, expected: 2, .. }));
    let (item, error) = wrong(&fixed, &views[..2]);
    assert!(item == 1 && matches!(error, ItemError::Sample { position: 1, .. }), "{error}");
    let pair = MarginalModel::PairHmm(pair(sampler));
    let (item, error) = wrong(&pair, &views);
    assert!(item == 1 && matches!(error, ItemError::Sample { position: 1, .. }), "{error}");
    let tree = MarginalModel::HiddenTree(tree(sampler));
    let (item, error) = wrong(&tree, &views[..1]);
    assert!(item == 0 && matches!(error, ItemError::Length { found: 2, expected: 9, .. }));
    let rows = fishweir::data::Rows::new(1);
    let (item, error) = wrong(&pair, &[views[0], SamplesView::Channels(rows.view())]);
    assert!(item == 1 && matches!(error, ItemError::Kind { .. }));
    let positions = MarginalModel::HiddenBinomial(binomial(sampler, 3));
    let (item, error) = wrong(&positions, &views[..1]);
    assert!(item == 0 && matches!(error, ItemError::Length { found: 2, expected: 3, .. }));
    // Of two lists, each has its own numbers.
    match pair.log_cross_gram(&views[..1], &views) {
        Err(MarginalError::Item { item: 1, .. }) => {}
        other => panic!("{other:?}"),
    }
}

/// An item that is impossible under the model is at right angles to all, and no number is NaN.
#[test]
fn impossible_items_have_kernels_of_zero() {
    let mut model = fixed_length(&mut Sampler::new(4));
    let probability = model.hmm.emission.symbols_mut().expect("categorical");
    probability.iter_mut().for_each(|p| *p = vec![0.25, 0.25, 0.25, 0.25, 0.0]);
    let hmm = model.hmm.clone();
    let set = FiniteSetModel {
        alphabet: Some(alphabet()),
        channels: None,
        prior: vec![1.0],
        model: vec![hmm],
    };
    let strings = [vec![Some(0), Some(1)], vec![Some(4), Some(0)]];
    for model in [MarginalModel::FixedLength(model), MarginalModel::Marginalisation(set)] {
        let gram = model.log_gram(&views(&strings)).expect("a matrix");
        assert_eq!(gram.get(0, 1), f64::NEG_INFINITY);
        assert_eq!(gram.get(1, 1), f64::NEG_INFINITY);
        assert_eq!(gram.normalised().row(1), [0.0, 0.0]);
        assert_eq!(gram.normalised().get(0, 0), 1.0);
        assert_eq!(gram.kernels().row(1), [0.0, 0.0]);
    }
}
