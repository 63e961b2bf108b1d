//! The golden vectors in `golden/`, or in the directory that `FISHWEIR_GOLDEN` names.

use std::path::PathBuf;

use fishweir_tests::golden::{Precision, Report, check_directory};

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
    let failures: Vec<String> = reports
        .iter()
        .flat_map(|report| report.failures.iter().map(|line| format!("{}: {line}", report.file)))
        .collect();
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
