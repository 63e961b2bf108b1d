//! Kernel machines that do not compile to directions, on the device: host and device agree bit for bit.
//! These tests fail where QEMU or a target is missing.

use fishweir::kernel::{ScoreKernel, ScoreKernelKind};
use std::num::NonZeroUsize;
use std::path::Path;

use fishweir::classifier::{
    Classifier, Expansion, ExpansionKernel, Observations, Provenance, Rule, WhiteningRows,
};
use fishweir::data::{Dataset, Front, Kind, Lags, Samples, SamplesView, ShortSeries, Windowing};
use fishweir::deploy::Deployed;
use fishweir::device::{Board, ModelFile, Options, Qemu};
use fishweir::files;
use fishweir::fit::Topology;
use fishweir::learn::{
    ClassifierKind, FeatureMap, Features, ModelChoice, Request, Scaling, ScoreModels, train,
};
use fishweir::parity::{Parity, Recording, compare_stream};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::Normalisation;
use fishweir_tests::device_table::firmware;
use fishweir_tests::quick::{assert_identical, recordings, strings};
use fishweir_tests::sample::Sampler;

/// Runs a machine on a board beside the host's stream of it.
pub(crate) fn on_device(board: &str, machine: &Deployed, recording: &Recording<'_>) -> Parity {
    let board = Board::named(board).expect("a board");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let write = |path: &Path, bytes: &[u8]| files::write_whole(path, bytes).expect("writes");
    write(&at("model.rs"), machine.to_source().as_bytes());
    let image = firmware()
        .and_then(|firmware| {
            let source = at("model.rs");
            firmware.build(board, "classify_stream", ModelFile::Source(&source), &at("image.elf"))
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let run = Qemu::start(&image)
        .and_then(|device| device.run(recording.inputs(), &Options::default(), |_| ()))
        .expect("the device answers");
    let (info, cost) = (&run.outcome.info, machine.cost());
    println!(
        "{}: {:.0} instructions per sample; flash {} B, of it machine {} B; state {} B; stack {} B",
        board.name,
        run.instructions_per_sample().expect("every board counts"),
        image.sections.flash(),
        info.model_bytes,
        info.state_bytes,
        run.outcome.report.stack_bytes.expect("every board watches its stack"),
    );
    // What `info` promises before anything is flashed.
    assert_eq!(info.state_bytes, cost.state_bytes);
    assert!(info.model_bytes.abs_diff(cost.model_bytes) <= 16, "{info:?}, {cost:?}");
    compare_stream(machine.window_stream(), recording, &run.outcome.answers).expect("comparable")
}

/// Coefficients and bias of a support-vector machine for `positive` items against the rest.
fn support_vectors(gram: &[Vec<f64>], positive: &[bool], c: f64) -> (Vec<f64>, f64) {
    use libsvm_rs::train::svm_train;
    use libsvm_rs::types::{KernelType, SvmNode, SvmParameter, SvmProblem, SvmType};
    let node = |index: usize, value| SvmNode { index: index as i32, value };
    let instance = |(item, row): (usize, &Vec<f64>)| {
        let values = row.iter().enumerate().map(|(other, &k)| node(other + 1, k));
        std::iter::once(node(0, (item + 1) as f64)).chain(values).collect()
    };
    let problem = SvmProblem {
        labels: positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect(),
        instances: gram.iter().enumerate().map(instance).collect(),
    };
    let (svm_type, kernel_type) = (SvmType::CSvc, KernelType::Precomputed);
    let parameter = SvmParameter { svm_type, kernel_type, c, ..SvmParameter::default() };
    libsvm_rs::set_quiet(true);
    let model = svm_train(&problem, &parameter);
    let sign = if model.label[0] == 1 { 1.0 } else { -1.0 };
    let mut coefficients = vec![0.0; gram.len()];
    for (&index, &coefficient) in model.sv_indices.iter().zip(&model.sv_coef[0]) {
        coefficients[index - 1] = sign * coefficient;
    }
    (coefficients, -sign * model.rho[0])
}

/// `bias + sum_m coefficient_m k_m`.
fn expand(coefficients: &[f64], bias: f64, kernels: &[f64]) -> f64 {
    bias + coefficients.iter().zip(kernels).map(|(c, k)| c * k).sum::<f64>()
}

const LETTERS: &str = "ACGT";
const LENGTH: usize = 40;

/// Strings as windows around a site: what comes after position 18 has another composition in sites,
/// and the two letters there are mostly `GT`.
fn windows(sampler: &mut Sampler, count: usize) -> (Vec<Vec<u16>>, Vec<bool>) {
    let mut draw = |weights: [f64; 4]| {
        let mut left = sampler.uniform(0.0, weights.iter().sum());
        weights
            .iter()
            .take_while(|&&w| {
                left -= w;
                left >= 0.0
            })
            .count()
            .min(3) as u16
    };
    let mut window = |site: bool| -> Vec<u16> {
        (0..LENGTH)
            .map(|t| match (site, t) {
                (true, 18) => draw([1.0, 1.0, 14.0, 1.0]),
                (true, 19) => draw([1.0, 1.0, 1.0, 14.0]),
                (true, 20..) => draw([5.0, 0.5, 1.0, 3.5]),
                (true, _) => draw([1.0, 4.0, 4.0, 1.0]),
                _ => draw([2.6, 2.4, 2.4, 2.6]),
            })
            .collect()
    };
    let sites: Vec<bool> = (0..count).map(|item| item % 2 == 0).collect();
    (sites.iter().map(|&site| window(site)).collect(), sites)
}

/// Left to right, two states before the site, two for it, one after: what a window's positions share.
fn site_model() -> Hmm {
    let row = |entries: &[(usize, f64)]| {
        let mut row = vec![0.0; 5];
        entries.iter().for_each(|&(to, p)| row[to] = p);
        row
    };
    Hmm {
        initial: row(&[(0, 0.5), (1, 0.5)]),
        transition: vec![
            row(&[(0, 0.75), (1, 0.1875), (2, 0.0625)]),
            row(&[(0, 0.1875), (1, 0.75), (2, 0.0625)]),
            row(&[(3, 1.0)]),
            row(&[(4, 1.0)]),
            row(&[(4, 0.9375), (0, 0.0625)]),
        ],
        emission: Emissions::categorical(vec![
            vec![0.125, 0.375, 0.375, 0.125],
            vec![0.375, 0.125, 0.125, 0.375],
            vec![0.0625, 0.0625, 0.8125, 0.0625],
            vec![0.0625, 0.0625, 0.0625, 0.8125],
            vec![0.375, 0.125, 0.1875, 0.3125],
        ]),
    }
}

/// `log k(s, t)` written out in `f64`, position by position.
fn log_kernel(model: &Hmm, s: &[u16], t: &[u16]) -> f64 {
    let probability = model.emission.symbols().expect("symbols");
    let mut row = model.initial.clone();
    let mut log = 0.0;
    for (position, (&a, &b)) in s.iter().zip(t).enumerate() {
        if position > 0 {
            row = (0..row.len())
                .map(|to| row.iter().zip(&model.transition).map(|(p, next)| p * next[to]).sum())
                .collect();
        }
        for (entry, law) in row.iter_mut().zip(probability) {
            *entry *= law[usize::from(a)] * law[usize::from(b)];
        }
        let sum: f64 = row.iter().sum();
        log += sum.ln();
        row.iter_mut().for_each(|entry| *entry /= sum);
    }
    log
}

#[test]
fn support_sequences_give_the_same_bits() {
    let mut sampler = Sampler::new(20);
    let (items, sites) = windows(&mut sampler, 120);
    let (unseen, truth) = windows(&mut sampler, 60);
    let model = site_model();
    let norms: Vec<f64> = items.iter().map(|item| log_kernel(&model, item, item)).collect();
    let against = |x: &[u16]| -> Vec<f64> {
        let own = log_kernel(&model, x, x);
        let kernel = |(item, norm): (&Vec<u16>, &f64)| {
            (log_kernel(&model, item, x) - 0.5 * (norm + own)).exp()
        };
        items.iter().zip(&norms).map(kernel).collect()
    };
    let gram: Vec<Vec<f64>> = items.iter().map(|item| against(item)).collect();
    let (coefficients, bias) = support_vectors(&gram, &sites, 4.0);
    let with = |normalised, log_scale, bias| Classifier {
        confidence: None,
        teaching: None,
        method: "fixed-length".into(),
        observations: Observations::Symbols(LETTERS.into()),
        classes: vec!["neither".into(), "site".into()],
        front: Front::NONE,
        lags: Lags::NONE,
        centre: Vec::new(),
        scale: Vec::new(),
        models: vec![model.clone()],
        codebooks: None,
        normalisation: Normalisation::NONE,
        rule: Rule::Expansion(Expansion {
            kernel: ExpansionKernel::FixedLength { items: items.clone(), normalised, log_scale },
            coefficients: vec![coefficients.clone()],
            biases: vec![bias],
        }),
        provenance: Provenance::default(),
    };
    let machine = with(true, 0.0, bias).deploy().expect("fits in f32");
    assert!((10..=120).contains(&machine.items()), "{} support vectors", machine.items());

    // The machine is the expansion, and it has learnt something.
    let mut right = 0;
    for (x, &site) in unseen.iter().zip(&truth) {
        let mut stream = machine.stream();
        x.iter().for_each(|&symbol| {
            stream.push(fishweir::data::Sample::Symbol(symbol)).expect("a symbol");
        });
        let (values, log_scale) = stream.relative_values().expect("in range");
        let wanted = expand(&coefficients, bias, &against(x));
        assert_eq!(log_scale, 0.0, "normalised kernels are at most one");
        assert!((f64::from(values[0]) - wanted).abs() < 1e-3, "{values:?} where {wanted} is right");
        right += usize::from((stream.decision().expect("in range").class == 1) == site);
    }
    println!("{} support vectors, {right} of {} right", machine.items(), unseen.len());
    assert!(right >= 48, "{right} of 60");

    // With missing symbols, and more of them than a window has.
    let samples: Vec<Samples> = unseen
        .iter()
        .take(20)
        .enumerate()
        .map(|(number, x)| {
            let gap = |(t, &symbol): (usize, &u16)| (t % 17 != number).then_some(symbol);
            let extra = if number % 5 == 0 { 2 } else { 0 };
            let symbols = x.iter().enumerate().map(gap).chain(std::iter::repeat_n(Some(1), extra));
            Samples::Symbols(symbols.collect())
        })
        .collect();
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    // Half a million instructions per symbol: a few windows there.
    let few = Recording::new(samples.iter().take(6).map(Samples::view), None);
    for (board, recording) in [("microbit", &few), (Board::default_name(), &recording)] {
        let parity = on_device(board, &machine, recording);
        assert!(parity.missing > 0 && parity.refused > 0, "{parity:?}");
        assert_identical(&parity, 2 + 1);
    }
    let plain = with(false, -80.0, 0.0);
    let parity =
        on_device(Board::default_name(), &plain.deploy().expect("fits in f32"), &recording);
    assert_identical(&parity, 2 + 1);
}

/// Windows of the recordings, with their classes.
fn cut(data: &Dataset, length: usize, from: usize) -> (Vec<SamplesView<'_>>, Vec<usize>) {
    let labels = data.labels().expect("labelled");
    let series = data.series().iter().zip(labels).skip(from).step_by(2);
    series.map(|(series, label)| (series.samples.view().slice(200..200 + length), label)).unzip()
}

/// A model of the channels with a state for each third of a window's mean level of the first one.
fn level_model(windows: &[SamplesView<'_>]) -> Hmm {
    let rows =
        || windows.iter().filter_map(|window| window.rows()).flat_map(|rows| rows.iter()).flatten();
    let mut order: Vec<f64> = rows().map(|row| row[0]).collect();
    order.sort_by(f64::total_cmp);
    let cuts = [order[order.len() / 3], order[2 * order.len() / 3]];
    let state = |row: &[f64]| cuts.iter().filter(|&&cut| row[0] > cut).count();
    let channels = windows[0].rows().expect("channels").dimension();
    let (mut count, mut mean, mut square) =
        ([0.0; 3], vec![vec![0.0; channels]; 3], vec![vec![0.0; channels]; 3]);
    for row in rows() {
        let state = state(row);
        count[state] += 1.0;
        for (channel, x) in row.iter().enumerate() {
            mean[state][channel] += x;
            square[state][channel] += x * x;
        }
    }
    let mut std = square;
    for state in 0..3 {
        for channel in 0..channels {
            mean[state][channel] /= count[state];
            let mean = mean[state][channel];
            std[state][channel] =
                (std[state][channel] / count[state] - mean * mean).max(1e-4).sqrt();
        }
    }
    Hmm {
        initial: vec![1.0 / 3.0; 3],
        transition: vec![
            vec![0.875, 0.09375, 0.03125],
            vec![0.0625, 0.875, 0.0625],
            vec![0.03125, 0.09375, 0.875],
        ],
        emission: Emissions::gaussian(mean, std),
    }
}

#[test]
fn support_scores_give_the_same_bits() {
    let data = recordings();
    let (seen, labels) = cut(&data, 150, 0);
    let (unseen, truth) = cut(&data, 150, 1);
    let models = vec![level_model(&seen)];
    let Kind::Channels(names) = data.kind() else { panic!("channels") };
    let scale = vec![2.0; names.len()];
    let by = Normalisation::PER_SAMPLE;
    let features = FeatureMap::new(Features::Scores, models.clone(), scale.clone(), true, by);
    let possible = |features: Vec<Option<Vec<f64>>>| -> Vec<Vec<f64>> {
        features.into_iter().map(|one| one.expect("possible")).collect()
    };
    let items = possible(features.extract(&seen));
    let entries = features.len();
    // Standardised over the items.
    let count = items.len() as f64;
    let mean = |k: usize| items.iter().map(|u| u[k]).sum::<f64>() / count;
    let centre: Vec<f64> = (0..entries).map(mean).collect();
    let spread = |k: usize| {
        let variance = items.iter().map(|u| (u[k] - centre[k]).powi(2)).sum::<f64>() / count;
        if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 }
    };
    let rate: Vec<f64> = (0..entries).map(spread).collect();
    let gamma = 1.0 / entries as f64;
    let whiten = |u: &[f64]| -> Vec<f64> {
        u.iter().zip(&centre).zip(&rate).map(|((u, centre), rate)| (u - centre) * rate).collect()
    };
    let whitened: Vec<Vec<f64>> = items.iter().map(|u| whiten(u)).collect();
    let against = |z: &[f64]| -> Vec<f64> {
        let distance =
            |item: &Vec<f64>| item.iter().zip(z).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        whitened.iter().map(|item| (-gamma * distance(item)).exp()).collect()
    };
    let gram: Vec<Vec<f64>> = whitened.iter().map(|z| against(z)).collect();
    let (coefficients, biases): (Vec<_>, Vec<_>) = (0..data.classes().len())
        .map(|class| {
            let positive: Vec<bool> = labels.iter().map(|&label| label == class).collect();
            support_vectors(&gram, &positive, 10.0)
        })
        .unzip();
    let expansion = |whitening, kernel| Classifier {
        confidence: None,
        teaching: None,
        method: "made up".into(),
        observations: Observations::Channels(names.clone()),
        classes: data.classes().to_vec(),
        front: Front::NONE,
        lags: Lags::NONE,
        centre: Vec::new(),
        scale: scale.clone(),
        models: models.clone(),
        codebooks: None,
        normalisation: by,
        rule: Rule::Expansion(Expansion {
            kernel: ExpansionKernel::Scores {
                likelihood: true,
                centre: centre.clone(),
                whitening,
                kernel,
                items: items.clone(),
            },
            coefficients: coefficients.clone(),
            biases: biases.clone(),
        }),
        provenance: Provenance::default(),
    };
    let gaussian = ScoreKernel::Gaussian { gamma };
    let machine =
        expansion(WhiteningRows::Diagonal(rate.clone()), gaussian).deploy().expect("fits in f32");

    let mut right = 0;
    let features = possible(features.extract(&unseen));
    for ((window, u), &label) in unseen.iter().zip(&features).zip(&truth) {
        let mut stream = machine.stream();
        window.iter().for_each(|sample| stream.push(sample).expect("a sample"));
        let (values, log_scale) = stream.relative_values().expect("in range");
        assert_eq!(log_scale, 0.0, "Gaussian kernels are at most one");
        let kernels = against(&whiten(u));
        for ((got, coefficients), &bias) in values.iter().zip(&coefficients).zip(&biases) {
            let wanted = expand(coefficients, bias, &kernels);
            assert!((f64::from(*got) - wanted).abs() < 2e-3, "{got} where {wanted} is right");
        }
        right += usize::from(stream.decision().expect("in range").class == label);
    }
    println!(
        "{} support vectors of {entries} entries, {right} of {} right",
        machine.items(),
        unseen.len()
    );
    assert!(2 * right > unseen.len(), "{right} of {}", unseen.len());

    let recording = Recording::new(unseen.iter().copied(), Some(400));
    assert_identical(&on_device(Board::default_name(), &machine, &recording), 2 + 7);

    // Fully whitened: on the device where angles need it, folded into the items where products do.
    let mixing: Vec<Vec<f64>> = (0..entries)
        .map(|i| {
            (0..entries)
                .map(|j| rate[j] * if i == j { 1.0 } else { 0.01 / (1.0 + i.abs_diff(j) as f64) })
                .collect()
        })
        .collect();
    let recording = Recording::new(unseen.iter().copied(), Some(300));
    let kernels =
        [ScoreKernel::Cosine, ScoreKernel::RootCosine, ScoreKernel::Polynomial { degree: 2 }];
    for kernel in kernels {
        let machine =
            expansion(WhiteningRows::Full(mixing.clone()), kernel).deploy().expect("fits in f32");
        // Roots are computed by other instructions where there is no floating point.
        let few = (kernel == ScoreKernel::RootCosine).then_some("microbit");
        for board in few.into_iter().chain([Board::default_name()]) {
            assert_identical(&on_device(board, &machine, &recording), 2 + 7);
        }
    }
}

/// What training gives, through its file: every kernel, symbols and channels, entries that a
/// left-to-right model fixes, a whitening in full.
#[test]
fn fitted_machines_give_the_same_bits() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("machine.json");
    let (watch, letters) = (recordings(), strings(40));
    let long = Windowing {
        length: NonZeroUsize::new(150).expect("positive"),
        hop: NonZeroUsize::new(2_000).expect("positive"),
        short: ShortSeries::default(),
    };
    for (data, windowing, kind, topology, scaling) in [
        (
            &watch,
            Some(long),
            ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
            Topology::Ergodic,
            Scaling::Diagonal,
        ),
        (
            &watch,
            Some(long),
            ClassifierKind::OnScores(ScoreKernelKind::Polynomial),
            Topology::LeftToRight,
            Scaling::Whitened,
        ),
        (
            &letters,
            None,
            ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
            Topology::Ergodic,
            Scaling::Whitened,
        ),
        (
            &letters,
            None,
            ClassifierKind::OnScores(ScoreKernelKind::Cosine),
            Topology::LeftToRight,
            Scaling::Practical,
        ),
        (
            &letters,
            None,
            ClassifierKind::OnScores(ScoreKernelKind::RootCosine),
            Topology::Ergodic,
            Scaling::Diagonal,
        ),
    ] {
        let mut options = Request::minimal(kind);
        options.baum_welch.states = 2;
        options.baum_welch.topology = topology;
        options.baum_welch.iterations = 3;
        options.windowing = windowing;
        options.models = ModelChoice::Given(ScoreModels::Class(data.classes()[0].clone()));
        (options.scalings, options.c, options.sigma) = (vec![scaling], vec![1.0], vec![1.0]);
        let some: Vec<usize> = (0..data.series().len()).step_by(2).collect();
        train(data, &some, &options, &|| ())
            .expect("trains")
            .classifier
            .save(&path)
            .expect("saves");
        let machine = Classifier::load(&path).expect("a model").deploy().expect("fits in f32");
        assert!(machine.kernel_name().is_some(), "{kind} does not compile");
        println!("{kind} {topology:?} {scaling:?}: {} stored", machine.items());
        let unseen = data.series().iter().skip(1).step_by(2).map(|one| one.samples.view());
        let recording = Recording::new(unseen, Some(300));
        let outputs = machine.outputs();
        assert_identical(&on_device(Board::default_name(), &machine, &recording), 2 + outputs);
    }
}
