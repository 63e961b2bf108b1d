//! `--emission`: counts, binary channels, channels that go together, and mixtures, from a table to a
//! device.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::fixtures::{Noise, QUICK};
use crate::{fishweir, json, printed, refused};

const NAMES: [&str; 4] = ["poisson", "bernoulli", "full-gaussian", "mixture"];

/// Twelve series of forty samples of each of two classes, whose two states differ.
pub(crate) fn table(name: &str) -> String {
    let mut text = "series,label,t,x,y\n".to_owned();
    let mut noise = Noise(3);
    for series in 0..24 {
        let odd = series % 2 == 1;
        for t in 0..40 {
            let late = t % 20 >= 10;
            let mut uniform = || 0.5 + 0.5 * noise.next().unwrap_or(0.0);
            let (u, v, w) = (uniform(), uniform(), uniform());
            let [x, y] = match name {
                "poisson" => {
                    let rate = if late { if odd { 6.0 } else { 3.0 } } else { 2.0 };
                    [(rate * 2.0 * u).floor(), (3.0 * v).floor()]
                }
                "bernoulli" => {
                    let share = if odd { 0.8 } else { 0.3 };
                    [f64::from(u < share), f64::from(if late { v < 0.9 } else { v < 0.2 })]
                }
                // The classes differ in how the channels go together, and each alone is alike.
                "full-gaussian" => {
                    let sum = u + v - 1.0;
                    [sum, if odd { sum } else { -sum } + 0.3 * (w - 0.5)]
                }
                _ => {
                    let side = if u < 0.5 { -2.0 } else { 2.0 };
                    [if odd { side } else { 0.0 } + v - 0.5, w]
                }
            };
            let _ = writeln!(text, "{series},{},{t},{x},{y}", ["even", "odd"][usize::from(odd)]);
        }
    }
    text
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a temporary file");
    path.display().to_string()
}

#[test]
fn every_family_is_evaluated_far_above_chance() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let data = write(folder.path(), &format!("{name}.csv"), &table(name));
        let line = format!(
            "evaluate {data} --emission {name} --window 20 --hop 20 --folds 3 {QUICK} \
             --scaling diagonal --copies 0 --std-floor 0.1 --json"
        );
        let report = json(&mut fishweir(&line));
        for classifier in ["bayes", "fisher"] {
            let accuracy = report["classifiers"][classifier]["accuracy"].as_f64();
            assert!(accuracy.expect("a number") > 0.8, "{name}, {classifier}: {accuracy:?}");
        }
    }
}

#[test]
fn every_family_runs_on_a_device_to_the_last_bit() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in NAMES {
        let data = write(folder.path(), &format!("{name}.csv"), &table(name));
        let model = folder.path().join(format!("{name}.json")).display().to_string();
        let line = format!(
            "fit {data} -o {model} --emission {name} --window 20 --hop 20 {QUICK} --scaling diagonal \
             --std-floor 0.1"
        );
        printed(&mut fishweir(&line));
        let info = json(&mut fishweir(&format!("info {model} --json")));
        let line = format!("run {model} {data} --board mps2-an386 --limit 100 --json");
        let report = json(&mut fishweir(&line));
        assert_eq!(report["differing_bits"], 0, "{name}");
        assert_eq!(report["numbers"], 100 * 4, "{name}");
        assert_eq!(report["device_model_bytes"], info["model_bytes"], "{name}");
        assert_eq!(report["device_state_bytes"], info["state_bytes"], "{name}");
        let again = json(&mut fishweir(&format!("evaluate {data} -m {model} --json")));
        assert!(again.to_string().contains("accuracy"), "{name}");
    }
}

#[test]
fn what_is_no_count_is_named_by_file_line_and_column() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bad, what) in [
        ("poisson", "-1", "no count"),
        ("poisson", "2.5", "no count"),
        ("poisson", "4294967296", "no count"),
        ("bernoulli", "2", "neither 0 nor 1"),
        ("bernoulli", "0.5", "neither 0 nor 1"),
    ] {
        let text = table(name);
        let line = text.lines().nth(7).expect("a row");
        let (rest, _) = line.rsplit_once(',').expect("fields");
        let data = write(folder.path(), "bad.csv", &text.replace(line, &format!("{rest},{bad}")));
        for command in ["fit", "evaluate"] {
            let line = format!("{command} {data} --emission {name} {QUICK}");
            let output = folder.path().join("bad.json").display().to_string();
            let line = if command == "fit" { format!("{line} -o {output}") } else { line };
            let message = refused(&mut fishweir(&line), 2);
            let place = format!("{data}, line 8, column 5 (y): `{bad}` is {what}");
            assert!(message.contains(&place), "{message}");
        }
    }
}

/// A model of counts wants counts of a live stream, too, and of a file it is asked about.
#[test]
fn a_model_of_counts_takes_counts_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = write(folder.path(), "counts.csv", &table("poisson"));
    let model = folder.path().join("counts.json").display().to_string();
    printed(&mut fishweir(&format!("fit {data} -o {model} --emission poisson {QUICK}")));
    let bad = write(folder.path(), "bad.csv", "series,t,x,y\n0,0,1,2\n0,1,1.5,2\n");
    let message = refused(&mut fishweir(&format!("score {bad} --model {model}")), 2);
    assert!(message.contains("line 3, column 3 (x): `1.5` is no count"), "{message}");
    let mut stream = fishweir(&format!("score --stream --model {model}"));
    let output = stream.write_stdin("x,y\n1,2\n1.5,2\n3,4\n").output().expect("started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("line 3, column 1 (x): `1.5` is no count"), "{said}");
}

#[test]
fn what_a_family_has_no_use_for_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = write(folder.path(), "counts.csv", &table("poisson"));
    let strings = crate::fixtures::fixtures().at("strings.tsv");
    for (line, what) in [
        (format!("evaluate {strings} --emission poisson"), "poisson emissions are not of symbols"),
        (format!("evaluate {data} --emission categorical"), "categorical emissions are not of"),
        (format!("evaluate {data} --emission poisson --components 3"), "--components is of"),
        (format!("evaluate {data} --emission mixture --components 9"), "components is 9"),
        (format!("evaluate {data} --emission poisson --classifier count"), "not made of poisson"),
        (format!("evaluate {data} --emission bernoulli --classifier cosine"), "is neither 0 nor 1"),
        (format!("evaluate {data} --emission mixture --classifier cosine"), "not made of mixture"),
    ] {
        let message = refused(&mut fishweir(&format!("{line} {QUICK}")), 2);
        assert!(message.contains(what), "{line}: {message}");
    }
    let model = folder.path().join("m.json").display().to_string();
    printed(&mut fishweir(&format!("fit {data} -o {model} --emission mixture {QUICK}")));
    let artefact = folder.path().join("m.fishweir").display().to_string();
    let message = refused(&mut fishweir(&format!("export {model} --artefact {artefact}")), 2);
    assert!(message.contains("mixture emissions, are exported as Rust source"), "{message}");
    let rust = folder.path().join("m.rs").display().to_string();
    let message = refused(&mut fishweir(&format!("export {model} --rust {rust} --number q15")), 2);
    assert!(message.contains("fixed point holds categorical and gaussian"), "{message}");
}
