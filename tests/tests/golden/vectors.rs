//! The golden vectors in `golden/`, or in the directory that `FISHWEIR_GOLDEN` names.

use std::path::PathBuf;

use fishweir_tests::golden::{PARTLY_MISSING, Precision, Report, check_directory};

/// Cases of this directory that the product has no answer for, as their failures end.
const BEYOND: [&str; 4] = [
    "gauss_diag_B2_C1_W6_H3",
    "gauss_diag_B3_C2_W8_H4_f32",
    "gauss_full_B2_C1_W5_H5",
    "poisson_B2_C1_W5_H3",
];

fn directory() -> PathBuf {
    std::env::var_os("FISHWEIR_GOLDEN").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden")),
        PathBuf::from,
    )
}

fn check(precision: Precision) {
    let reports = check_directory(&directory(), precision).expect("golden vectors");
    for Report { file, cases, fields, numbers, failures } in &reports {
        let count = failures.len();
        println!(
            "{precision:?} {file}: {cases} cases, {fields} fields, {numbers} numbers compared, \
             {count} failures"
        );
    }
    let mut failures: Vec<String> = reports
        .iter()
        .flat_map(|report| report.failures.iter().map(|line| format!("{}: {line}", report.file)))
        .collect();
    if std::env::var_os("FISHWEIR_GOLDEN").is_none() {
        for case in BEYOND {
            let expected = format!("28_windowed_decisions.json: {case}: {PARTLY_MISSING}");
            let at = failures.iter().position(|failure| *failure == expected);
            failures.remove(at.unwrap_or_else(|| panic!("no longer beyond the product: {case}")));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_field_in_double_precision() {
    check(Precision::Double);
}

#[test]
fn every_field_in_single_precision() {
    check(Precision::Single);
}
