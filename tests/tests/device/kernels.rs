//! Kernels by marginalisation through their exported source: the golden values, and the host's bits, on emulated cores without
//! and with floating point. These tests fail where QEMU or a target is missing.

use std::path::PathBuf;

use fishweir::classifier::Classifier;
use fishweir::data::Samples;
use fishweir::deploy::Deployed;
use fishweir::parity::Recording;
use fishweir_tests::golden::{BIAS, DeviceCase, device_cases};
use fishweir_tests::quick::assert_identical;

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
                let steps = (x.view().len() + 8) as f64;
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
const ROOM: usize = 4096;

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
    assert!(built.len() >= 6 * EACH, "{built:?}");
}
