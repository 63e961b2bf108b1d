//! `fishweir features`.

use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, fixtures};
use crate::gram::csv_matrix;
use crate::{answers, json, printed, refuses};

fn features(output: &str, options: &str) -> Value {
    let (data, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    json(&format!("features {data} -m {model} -o {output} {options} --json"))
}

/// The inner products of rows.
fn products(rows: &[Vec<f64>]) -> Vec<f64> {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    rows.iter().flat_map(|a| rows.iter().map(|b| product(a, b))).collect()
}

#[test]
fn inner_products_of_features_are_the_kernel_by_any_kind_and_scaling() {
    let folder = Folder::new();
    let (table, matrix) = (folder.at("f.csv"), folder.at("k.csv"));
    let (data, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    for (options, name) in [
        ("--kernel practical", "runs.transition[0][1]"),
        ("--kernel practical --parametrisation ratio", "turns.initial[0]"),
        ("--kernel invariant --draws 100", "axis[0]"),
        ("--kernel invariant --information diagonal --ridge 0.1", "runs.logits[0][0]"),
        ("--kernel invariant --information exact --length 4 --ridge 0.5", "runs.axis[0]"),
        ("--kernel top", "log_odds[1]"),
        ("--kernel count", "runs.count[0][0]"),
        ("--kernel count --order 2", "turns.count[1][0][0][1]"),
        ("--kernel latent-mean-map", "turns.transition[0][0]"),
        ("--kernel cosine", "runs.initial[0]"),
        ("--kernel practical --normalise", "runs.initial[0]"),
    ] {
        let report = features(&table, options);
        let (names, labels, rows) = csv_matrix(&table);
        let said: Vec<&str> =
            report["names"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
        assert_eq!(names, said, "{options}");
        assert!(names.iter().any(|one| one.ends_with(name)), "{options}: {names:?}");
        assert_eq!(labels[..2], ["runs", "turns"]);
        printed(&format!("gram {data} -m {model} -o {matrix} {options}"));
        let wanted = csv_matrix(&matrix).2.concat();
        for (found, wanted) in products(&rows).into_iter().zip(wanted) {
            assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{options}");
        }
    }
}

#[test]
fn layouts_hold_the_same_numbers() {
    let folder = Folder::new();
    features(&folder.at("f.csv"), "");
    let (names, labels, rows) = csv_matrix(&folder.at("f.csv"));
    let report = features(&folder.at("f.npy"), "");
    assert_eq!((&report["items"], &report["format"]), (&12.into(), &"npy".into()));
    let bytes = fs::read(folder.at("f.npy")).expect("a file");
    let (header, numbers) = bytes.split_at(128);
    let shape = format!("'shape': (12, {})", names.len());
    assert!(String::from_utf8_lossy(header).contains(&shape));
    let values = numbers.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    assert_eq!(values.collect::<Vec<f64>>(), rows.concat());
    assert_eq!(labels.len(), 12);
    // A build without Parquet writes nothing under its name.
    if !cfg!(feature = "parquet") {
        let (data, parquet) = (fixtures().at("strings.tsv"), folder.at("f.parquet"));
        refuses(&format!("features {data} -o {parquet}"), "no-parquet parquet");
        assert!(!std::path::Path::new(&parquet).exists());
    }
}

#[test]
fn kernels_without_features_are_refused_by_name() {
    let folder = Folder::new();
    let data = fixtures().at("strings.tsv");
    for kernel in ["spectrum", "ppk", "mismatch"] {
        let output = folder.at("f.csv");
        refuses(
            &format!("features {data} --kernel {kernel} -o {output}"),
            format!("unsupported --kernel {kernel}"),
        );
    }
    answers(format!("features {data} --sigma 2 -o {}", folder.at("f.csv")), "idle-option --sigma");
}
