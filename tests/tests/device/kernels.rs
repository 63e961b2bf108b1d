//! Kernels by marginalisation through their exported source: the golden values, and the host's bits, on emulated cores without
//! and with floating point. These tests fail where QEMU or a target is missing.

use std::path::{Path, PathBuf};

use fishweir::classifier::{Classifier, Observations, Provenance};
use fishweir::data::{Alphabet, Dataset, Kind, Rows, Samples, SamplesView};
use fishweir::deploy::Deployed;
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::{ClassifierKind, Request, train_marginal};
use fishweir::model::{ContextSet, MarkovModel, ModelSet, NamedModel};
use fishweir::parity::Recording;
use fishweir_tests::golden::{BIAS, DeviceCase, device_cases};
use fishweir_tests::quick::assert_identical;
use fishweir_tests::sample::Sampler;

use super::machines::on_device;
use super::{all_boards, some_boards};

/// The golden vectors in `golden/`, or in the directory that `FISHWEIR_GOLDEN` names.
fn cases() -> Vec<DeviceCase> {
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden"));
    let directory = std::env::var_os("FISHWEIR_GOLDEN").map_or_else(own, PathBuf::from);
    device_cases(&directory).expect("golden vectors")
}

/// The machine of a case, through its file.
fn deployed(case: &DeviceCase) -> Deployed {
    let text = case.classifier.to_json().expect("has a place in JSON");
    let read = Classifier::parse("golden.json", text.as_bytes()).expect("reads back");
    assert_eq!(read, case.classifier, "{}", case.name);
    read.deploy().unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// The stream's values are the golden ones, as exactly as single precision allows.
#[test]
fn golden_kernels_in_the_numbers_of_a_device() {
    let (mut compared, mut worst) = (0, 0.0_f64);
    for case in cases() {
        let machine = deployed(&case);
        for (x, expected) in case.streams.iter().zip(&case.expected) {
            let mut stream = machine.stream();
            for sample in x.view().iter() {
                stream.push(sample).unwrap_or_else(|error| panic!("{}: {error}", case.name));
            }
            let (values, log_scale) = stream.relative_values().expect("never out of range");
            for (&value, &log) in values.iter().zip(expected) {
                let got = f64::from(value) * f64::from(log_scale).exp();
                let wanted = BIAS + (log - case.log_scale).exp();
                // Each symbol rounds a product and a sum of each state.
                let steps = (case.steps + 8) as f64;
                let slack = (4e-7 * steps).max(2e-6);
                let error = (got - wanted).abs() / wanted;
                worst = worst.max(error / slack);
                assert!(error <= slack, "{}: {got:e} where {wanted:e} is right", case.name);
                compared += 1;
            }
        }
    }
    println!("{compared} values, at most {worst:.3} of the slack");
    assert!(compared >= 100, "{compared} values");
}

/// Cases per file and kernel that every run builds images for; `tests/boards` builds all of them.
const EACH: usize = 2;
/// Bytes of a stream's state that the smallest board has room for, with its stack.
const ROOM: usize = 2560;

#[test]
fn golden_kernels_through_exported_source() {
    let cases = cases();
    let mut built: Vec<String> = Vec::new();
    for case in &cases {
        let kind = |name: &str| {
            let (file, rest) = name.split_once(':').expect("a file");
            (file.to_owned(), rest.rsplit(',').next().map(str::to_owned))
        };
        let same = built.iter().filter(|&other| kind(other) == kind(&case.name)).count();
        let pushed = case.streams.iter().any(|x| !x.view().is_empty());
        let machine = deployed(case);
        if !pushed || (!all_boards() && (same >= EACH || machine.cost().state_bytes > ROOM)) {
            continue;
        }
        built.push(case.name.clone());
        let streams = case.streams.iter().filter(|x| !x.view().is_empty());
        let recording = Recording::new(streams.map(Samples::view), None);
        for board in some_boards() {
            if board.name == "microbit" && machine.cost().state_bytes > ROOM {
                continue;
            }
            println!("{} on {}", case.name, board.name);
            let parity = on_device(board.name, &machine, &recording);
            assert_eq!(parity.refused, 0, "{parity:?}");
            assert_identical(&parity, 1 + machine.outputs());
        }
    }
    assert!(built.len() >= 11 * EACH, "{built:?}");
}

/// Strings of two classes, a few of them with a gap.
fn strings(sampler: &mut Sampler, alphabet: &Alphabet, length: usize, count: usize) -> Dataset {
    let symbols = alphabet.len();
    let series = (0..count).map(|n| {
        let class = ["first", "second"][n % 2];
        let mut draw = || -> u16 {
            let own = sampler.uniform(0.0, 1.0) < 0.7;
            let any = sampler.uniform(0.0, symbols as f64) as usize;
            (if own { (n % 2) * (symbols - 1) } else { any.min(symbols - 1) }) as u16
        };
        let drawn: Vec<Option<u16>> = (0..length).map(|_| Some(draw())).collect();
        (class, Samples::Symbols(drawn))
    });
    let series: Vec<(&str, Samples)> = series.collect();
    Dataset::labelled(Kind::Symbols(alphabet.clone()), series).expect("data")
}

/// Channels at rest and in motion.
fn channels(sampler: &mut Sampler, names: &[String], length: usize, count: usize) -> Dataset {
    let series = (0..count).map(|n| {
        let mut rows = Rows::new(names.len());
        for t in 0..length {
            let swing = if n % 2 == 0 { 0.0 } else { (t as f64).sin() };
            let row: Vec<f64> = names.iter().map(|_| swing + 0.3 * sampler.normal()).collect();
            rows.push(Some(&row));
        }
        (["rest", "motion"][n % 2], Samples::Channels(rows))
    });
    let series: Vec<(&str, Samples)> = series.collect();
    Dataset::labelled(Kind::Channels(names.to_vec()), series).expect("data")
}

/// Samples with gaps, and more of them than were trained on.
fn with_gaps(samples: &Samples, number: usize) -> Samples {
    let gap = |t: usize| t % 7 == number % 7;
    match samples {
        Samples::Symbols(symbols) => {
            let kept = symbols.iter().enumerate().map(|(t, &x)| if gap(t) { None } else { x });
            let extra = if number.is_multiple_of(3) { 2 } else { 0 };
            Samples::Symbols(kept.chain(std::iter::repeat_n(Some(0), extra)).collect())
        }
        Samples::Channels(_) => {
            let rows = samples.view().rows().expect("channels");
            let mut kept = Rows::new(rows.dimension());
            for (t, row) in rows.iter().enumerate() {
                kept.push(row.filter(|_| !gap(t)));
            }
            Samples::Channels(kept)
        }
    }
}

/// A kernel over channels, which no documented file has.
const SET_OF_CHANNELS: &str = "
[marginalisation]
channels = [\"x\", \"y\"]
prior = [0.5, 0.5]
[[marginalisation.model]]
initial = [1.0]
transition = [[1.0]]
emission.gaussian.mean = [[0.0, 0.0]]
emission.gaussian.std = [[0.3, 0.3]]
[[marginalisation.model]]
initial = [0.5, 0.5]
transition = [[0.5, 0.5], [0.5, 0.5]]
emission.gaussian.mean = [[0.7, 0.7], [-0.7, -0.7]]
emission.gaussian.std = [[0.5, 0.5], [0.5, 0.5]]
";

/// Machines on normalised kernels, as training makes them: with missing samples, and more samples than are stored.
#[test]
fn trained_machines_on_every_documented_kernel_give_the_same_bits() {
    let documented = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../host/docs/kernels"));
    let mut kernels: Vec<PathBuf> = std::fs::read_dir(documented)
        .expect("the documented kernels")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    kernels.sort();
    assert!(kernels.len() >= 7, "{kernels:?}");
    let read = |path: &PathBuf| MarginalModel::read(path).expect("a kernel");
    let mut models: Vec<MarginalModel> = kernels.iter().map(read).collect();
    models.push(MarginalModel::parse("set.toml", SET_OF_CHANNELS).expect("a kernel"));
    let mut sampler = Sampler::new(7);
    for model in models {
        let (data, unseen) = match model.kind().expect("a kind") {
            Kind::Symbols(alphabet) => {
                let length = if alphabet.len() == 2 { 5 } else { 12 };
                let mut draw = |count| strings(&mut sampler, &alphabet, length, count);
                // A column per string: more of them do not fit the smallest board's 16 kB with its stack.
                let pair = matches!(model, MarginalModel::PairHmm(_));
                (draw(if pair { 6 } else { 16 }), draw(4))
            }
            Kind::Channels(names) => {
                let mut draw = |count| channels(&mut sampler, &names, 12, count);
                (draw(16), draw(4))
            }
        };
        let all: Vec<usize> = (0..data.series().len()).collect();
        let request = Request::minimal(ClassifierKind::Bayes).with(|request| {
            request.c = vec![10.0];
        });
        let trained = train_marginal(&data, &all, &model, &request).expect("trains");
        let machine = trained.classifier.deploy().expect("fits in f32");
        assert!(machine.kernel_name().is_some_and(|name| name.ends_with(", normalised")));
        let mut samples: Vec<Samples> =
            unseen.series().iter().map(|one| one.samples.clone()).collect();
        samples.extend((0..4).map(|n| with_gaps(&unseen.series()[n].samples, n)));
        let recording = Recording::new(samples.iter().map(Samples::view), None);
        for board in some_boards() {
            if board.name == "microbit" && machine.cost().state_bytes > ROOM {
                continue;
            }
            println!("{} on {}: {} items", model.name(), board.name, machine.items());
            let parity = on_device(board.name, &machine, &recording);
            assert!(parity.missing > 0, "{parity:?}");
            assert_identical(&parity, 2);
        }
    }
}

/// Markov strings of any order, and with contexts that differ from class to class.
#[test]
fn markov_strings_give_the_same_bits() {
    let alphabet = Alphabet::dna();
    let mut sampler = Sampler::new(17);
    let mut draw = |count| strings(&mut sampler, &alphabet, 60, count);
    let (data, unseen) = (draw(12), draw(4));
    let of_class = |class: usize| -> Vec<SamplesView<'_>> {
        let labels = data.labels().expect("labelled");
        let series = data.series().iter().zip(labels).filter(|(_, label)| *label == class);
        series.map(|(series, _)| series.samples.view()).collect()
    };
    let sets = [
        ContextSet::Order(1),
        ContextSet::Order(3),
        ContextSet::Padded(2),
        ContextSet::Frequent { longest: 3, at_least: 8 },
    ];
    for set in &sets {
        let model = |class: usize| {
            let strings = of_class(class);
            let model = MarkovModel::fit(set, 4, false, &strings, 0.5).expect("fits");
            NamedModel {
                name: data.classes()[class].clone(),
                class: Some(data.classes()[class].clone()),
                model: model.into(),
            }
        };
        let models = ModelSet {
            observations: Observations::Symbols("ACGT".into()),
            models: (0..2).map(model).collect(),
            provenance: Provenance::default(),
        };
        let machine = Deployed::of_set(&models).expect("a bank");
        // The stream weighs the likelihoods of the models themselves.
        for series in unseen.series() {
            let mut stream = machine.stream();
            series.samples.view().iter().for_each(|x| stream.push(x).expect("a symbol"));
            let views = [series.samples.view()];
            for (log, one) in stream.log_likelihoods().iter().zip(&models.models) {
                let wanted = one.model.any().log_likelihoods(&views);
                let wanted = *wanted[0].as_ref().expect("possible");
                assert!((f64::from(*log) - wanted).abs() < 1e-3, "{log} where {wanted} is right");
            }
        }
        let mut samples: Vec<Samples> =
            unseen.series().iter().map(|one| one.samples.clone()).collect();
        samples.extend((0..4).map(|n| with_gaps(&unseen.series()[n].samples, n)));
        let recording = Recording::new(samples.iter().map(Samples::view), None);
        for board in some_boards() {
            println!("{set:?} on {}: {} contexts", board.name, machine.states());
            let parity = on_device(board.name, &machine, &recording);
            assert!(parity.missing > 0 && parity.refused == 0, "{parity:?}");
            assert_identical(&parity, 2 + 2);
        }
    }
}
