//! Kernels by name beside classifiers, matrices made elsewhere, principal components, and models alone.

use std::fs;

use fishweir::model::ModelSet;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{answers, json, printed, refuses};

const CUT: &str = "--window 20 --hop 10";

#[test]
fn machines_on_kernels_stand_beside_the_classifiers() {
    let data = fixtures().at("three.csv");
    let line = format!(
        "evaluate {data} --group subject --folds 3 {CUT} {QUICK} --effort quick --classifier bayes \
         --kernel practical,cosine,empirical-mean-map --c 1 --json"
    );
    let report = json(&line);
    for name in ["kernel practical", "kernel cosine", "kernel empirical-mean-map"] {
        let accuracy = report["classifiers"][name]["accuracy"].as_f64();
        assert!(accuracy.expect(name) > 0.8, "{name}: {accuracy:?}");
    }
}

/// What a kernel that reads no model says by name, its matrix says too.
#[test]
fn a_matrix_made_elsewhere_decides_as_its_kernel_does() {
    let folder = Folder::new();
    let (data, matrix) = (fixtures().at("three.csv"), folder.at("k.csv"));
    let kernel = "--kernel empirical-mean-map --order 1 --lambda 0.5";
    printed(&format!("gram {data} {CUT} {kernel} --normalise -o {matrix}"));
    let line = format!(
        "evaluate {data} --group subject --folds 3 {CUT} --classifier bayes {QUICK} --effort quick {kernel} \
         --gram {matrix} --json"
    );
    let report = json(&line);
    let figures = |name: &str| report["classifiers"][name]["folds"].clone();
    let by_name = figures("kernel empirical-mean-map");
    assert!(by_name.is_array());
    assert_eq!(by_name, figures(&format!("matrix {matrix}")));
    let other = fixtures().at("two.csv");
    refuses(&format!("evaluate {other} {CUT} --gram {matrix}"), "other-items k.csv 54");
    let text = fs::read_to_string(&matrix).expect("a file");
    let first = text.lines().nth(1).and_then(|line| line.split(',').next()).expect("a name");
    let (from, to) =
        ([format!("label,{first},"), format!("\n{first},")], ["label,other,", "\nother,"]);
    let text = text.replacen(&from[0], to[0], 1).replacen(&from[1], to[1], 1);
    fs::write(&matrix, text).expect("a file");
    refuses(&format!("evaluate {data} {CUT} --gram {matrix}"), "other-items");
}

#[test]
fn what_has_no_effect_is_noted() {
    let data = fixtures().at("three.csv");
    for (options, wanted) in [
        ("--lambda 2", "idle-option --lambda bayes"),
        ("--rho 2", "idle-option --rho"),
        ("--kernel practical --lambda 2", "idle-option --kernel practical --lambda"),
        ("--kernel pair-hmm", "needs-kernel-model pair-hmm --kernel-model"),
        ("--kernel gaussian --sigma 1,2", "one-value --sigma --kernel"),
        ("--kernel count", "not-symbols"),
    ] {
        let line = format!(
            "evaluate {data} --folds 3 {CUT} {QUICK} --effort quick --classifier bayes {options}"
        );
        answers(&line, wanted);
    }
}

#[test]
fn components_are_drawn_and_written() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let data = fixtures().at("three.csv");
    let kernel = "--kernel empirical-mean-map --normalise";
    let [figure, table, matrix] = ["p.svg", "p.csv", "k.csv"].map(at);
    let line =
        format!("pca {data} {CUT} {kernel} --dimensions 3 -o {figure} --table {table} --json");
    let report = json(&line);
    let shares: Vec<f64> = serde_json::from_value(report["explained"].clone()).expect("shares");
    assert_eq!(shares.len(), 3);
    assert!(shares[0] >= shares[1] && shares[1] >= shares[2] && shares.iter().sum::<f64>() <= 1.0);
    let svg = fs::read_to_string(&figure).expect("a figure");
    for wanted in ["still</text>", "turning</text>", "component 2: ", "@10, "] {
        assert!(svg.contains(wanted), "{wanted}");
    }
    // A point per item, and a mark per class in the legend.
    assert_eq!(svg.matches("<circle").count(), 54 + 3);
    let coordinates = fs::read_to_string(&table).expect("a table");
    assert!(coordinates.starts_with("id,label,component1,component2,component3\n"));
    assert_eq!(coordinates.lines().count(), 55);

    printed(&format!("gram {data} {CUT} {kernel} -o {matrix}"));
    let again = at("again.csv");
    printed(&format!("pca --gram {matrix} --dimensions 3 -o {figure} --table {again}"));
    assert_eq!(fs::read_to_string(&again).expect("a table"), coordinates);
    answers(format!("pca --gram {matrix} --lambda 2 -o {figure}"), "idle-option --lambda");
}

#[test]
fn models_alone_are_fitted_named_and_read_back() {
    let folder = Folder::new();
    let of = folder.at("m.json");
    let data = fixtures().at("three.csv");
    let fit = |options: &str| {
        printed(&format!("fit {data} {options} -o {of}"));
        ModelSet::load(of.as_ref()).expect("a set")
    };
    let by_class = fit(&format!("--family hmm {QUICK}"));
    let names: Vec<&str> = by_class.models.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["moving", "still", "turning"]);
    let by_item = fit(&format!("--family mixture --components 3 --model-per item {CUT}"));
    assert_eq!(by_item.models.len(), 54);
    assert_eq!(by_item.models[0].model.any().noun(), "mixture of Gaussians");
    assert_eq!(by_item.models[1].class, by_item.models[0].class);
    assert_eq!(fit("--family gaussian --model-per all").models.len(), 1);
    let systems = fit("--family lds --states 2 --iterations 10");
    assert_eq!(systems.models[2].model.any().noun(), "linear dynamical system");

    let strings = fixtures().at("strings.tsv");
    let report = printed(&format!("fit {strings} --family markov --order 2 -o {of}"));
    assert!(report.contains("model of Markov strings"), "{report}");
    // One per class is a classifier, and goes on a device.
    let info = json(&format!("info {of} --json"));
    assert_eq!(info["states"].as_u64(), Some(16));
    let rust = folder.at("strings.rs");
    printed(&format!("export {of} -o {rust}"));
    assert!(folder.text("strings.rs").contains("MarkovString<4, 16>"));
    let judged = json(&format!("evaluate {strings} --model {of} --json"));
    assert!(judged["accuracy"].as_f64() > Some(0.8), "{judged}");
    printed(&format!("fit {strings} --family markov --end --padded -o {of}"));
    refuses(&format!("info {of}"), "bad-models");
    printed(&format!("fit {strings} --family markov --order 2 -o {of}"));
    for (line, wanted) in [
        (
            format!("fit {data} --family gaussian --states 3"),
            "idle-option --family gaussian --states",
        ),
        (format!("fit {data} --family hmm --c 3"), "idle-option --c"),
        (format!("fit {data} --order 2"), "idle-option --family"),
        (format!("fit {data} --family markov"), "wrong-observations"),
        (format!("fit {strings} --family hmm --std-floor 0.1,0.2"), "one-value"),
    ] {
        answers(format!("{line} -o {of}"), wanted);
    }
}

/// The report of a matrix between models, and the matrix.
fn between(data: &str, options: &str) -> (serde_json::Value, Vec<Vec<f64>>) {
    let folder = Folder::new();
    let matrix = folder.at("k.csv");
    let line = format!("gram {data} {options} -o {matrix} --json");
    let report = json(&line);
    (report, crate::gram::csv_matrix(&matrix).2)
}

#[test]
fn every_kernel_between_models_tells_classes_apart() {
    let (data, strings) = (fixtures().at("three.csv"), fixtures().at("strings.tsv"));
    for (data, options, words) in [
        (
            &data,
            format!("--kernel ppk {CUT} {QUICK}"),
            "probability product of models, rho 1 of hidden",
        ),
        (
            &data,
            format!("--kernel ppk --rho 1 --family gaussian {CUT}"),
            "rho 1, a Gaussian an item",
        ),
        (
            &data,
            format!("--kernel ppk --family lds --steps 4 {CUT}"),
            "a linear dynamical system an",
        ),
        (&data, format!("--kernel mean-map --lambda 0.1 --steps 3 {CUT} {QUICK}"), "lambda 0.1"),
        (&data, format!("--kernel symmetric-kl --family gaussian --nu 0.1 {CUT}"), "divergence"),
        (&strings, "--kernel bhattacharyya --family markov --order 0".into(), "Bhattacharyya's"),
        (
            &strings,
            "--kernel heat --diffusion-time 0.5 --family markov --order 0".into(),
            "time 0.5",
        ),
        (&strings, "--kernel symmetric-kl --family markov --order 0".into(), "by 1, a model of"),
        (&strings, format!("--kernel ppk --steps 20 {QUICK}"), "probability product"),
    ] {
        let (report, rows) = between(data, &format!("{options} --normalise"));
        let kernel = report["kernel"].as_str().expect("words");
        assert!(kernel.contains(words), "{options}: {kernel}");
        for (item, row) in rows.iter().enumerate() {
            assert!((row[item] - 1.0).abs() < 1e-9, "{options}");
            assert!(row.iter().all(|k| (0.0..=1.0 + 1e-9).contains(k)), "{options}: {row:?}");
        }
    }
    // Items of one class are more alike than of two: each fit sees its own alone.
    let line = format!(
        "evaluate {data} --group subject --folds 3 {CUT} --classifier bayes --kernel ppk --family \
         gaussian --json"
    );
    let report = json(&line);
    let accuracy = report["classifiers"]["kernel ppk"]["accuracy"].as_f64().expect("a number");
    assert!(accuracy > 0.9, "{accuracy}");
}

#[test]
fn models_that_cannot_be_compared_are_named() {
    let (data, strings) = (fixtures().at("three.csv"), fixtures().at("strings.tsv"));
    for (line, wanted) in [
        (format!("{strings} --kernel heat --family markov --order 1"), "bad-models --order 0"),
        (format!("{data} --kernel heat --family gaussian"), "unsupported --family markov gaussian"),
        (format!("{data} --kernel symmetric-kl"), "unsupported --family gaussian markov hmm"),
        (format!("{data} --kernel ppk --score-model still"), "idle-option --score-model"),
        (format!("{data} --kernel ppk --std-floor 0.1,0.2"), "one-value --std-floor"),
        (format!("{data} --kernel ppk --family lds --states 32"), "too-many-states 31"),
        (format!("{data} --kernel ppk --rho 0"), "invalid-value --rho"),
        (format!("{data} --kernel ppk --lambda 3"), "idle-option --kernel ppk --lambda"),
        (format!("{data} --kernel ppk --one-model"), "idle-option --one-model"),
        (format!("{data} --kernel mean-map --family mixture --components 65"), "out-of-range 1 64"),
    ] {
        answers(format!("gram {line}"), wanted);
    }
}
