//! What a model knows of its training, held against what it is given: times that leap or are in another unit, recordings
//! of other classes, windows that no stream can have.

use std::fs;

use crate::fixtures::Folder;
use crate::shared::data::{STEP, leaping, of_leaping};
use crate::{Messages, Told, as_json, fishweir, json, printed, refuses};

/// The rows of the first series, `t,x`.
fn stream(table: &str) -> String {
    let rows = table.lines().skip(1).filter(|row| row.starts_with("0,"));
    let row = |row: &str| row.splitn(3, ',').nth(2).expect("four fields").to_owned() + "\n";
    "t,x\n".to_owned() + &rows.map(row).collect::<String>()
}

/// First samples of windows, and the notes beside them.
fn decides(model: &str, stream: String) -> (Vec<usize>, Vec<Told>) {
    let mut command = fishweir(&format!("predict --stream --model {model}"));
    let output = as_json(command.write_stdin(stream));
    assert!(output.status.success());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let first = |row: &str| row.split(',').next()?.parse().ok();
    let starts = text(output.stdout).lines().skip(1).filter_map(first).collect();
    (starts, Messages::of(&output.stderr).notes)
}

/// A stream has its time in the column that the training data had it in, whatever its name.
#[test]
fn a_stream_takes_the_column_of_the_time_from_the_training() {
    let folder = Folder::new();
    let named = |text: String| text.replacen("t,", "Zeit,", 1);
    let data = folder.put("data.csv", leaping(STEP, 0.0).replacen(",t,", ",Zeit,", 1));
    let model = folder.at("m.json");
    let how = "--time Zeit --classifier bayes --states 2 --window 20 --effort quick";
    printed(&format!("fit {data} -o {model} {how}"));
    let (starts, told) = decides(&model, named(stream(&leaping(STEP, 20.0 * STEP))));
    assert_eq!(starts, [0, 30]);
    let kinds: Vec<&str> = told.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["as-trained", "time-leaps"]);
    // Without that column a stream is as one without times.
    let (starts, told) = decides(&model, stream(&leaping(STEP, 0.0)).replacen("t,", "q,", 1));
    assert_eq!(starts, [0, 20, 40]);
    assert!(told.iter().any(|one| one.kind == "no-times"), "{told:?}");
}

#[test]
fn times_are_held_against_the_training() {
    let folder = Folder::new();
    let model = of_leaping(&folder);
    assert_eq!(json(&format!("info {model} --json"))["contract"]["period"]["seconds"], STEP);
    let even = stream(&leaping(STEP, 0.0));
    let (starts, told) = decides(&model, even.clone());
    assert_eq!((starts, told.len()), (vec![0, 20, 40], 0));
    // As long as a window, and longer.
    assert_eq!(decides(&model, stream(&leaping(STEP, 19.0 * STEP))).0, [0, 20, 40]);
    let (starts, told) = decides(&model, stream(&leaping(STEP, 20.0 * STEP)));
    assert_eq!(starts, [0, 30]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].is("time-leaps 32"), "{told:?}");
    // At another rate: refused, unless the unit says that it is the same.
    for step in [1000.0 * STEP, STEP / 2.0] {
        let mut command = fishweir(&format!("predict --stream --model {model}"));
        // A stream takes no `--resample`: the unit of the time is the remedy that it has.
        refuses(command.write_stdin(stream(&leaping(step, 0.0))), "other-rate 50 [ms]");
    }
    let milliseconds = stream(&leaping(1000.0 * STEP, 0.0)).replacen("t,", "t [ms],", 1);
    let (starts, told) = decides(&model, milliseconds);
    assert_eq!((starts, told.len()), (vec![0, 20, 40], 0));
    // Without a number: told once.
    let (starts, told) = decides(&model, even.replacen("0.100,", "yesterday,", 1));
    assert_eq!(starts, [0, 20, 40]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].kind == "no-time", "{told:?}");
}

#[test]
fn a_file_that_leaps_is_cut_alike_everywhere() {
    let folder = Folder::new();
    let model = of_leaping(&folder);
    let artefact = folder.at("m.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    for (steps, leaps) in [(19.0, false), (21.0, true)] {
        let table = leaping(STEP, steps * STEP);
        let file = folder.put("leaping.csv", &table);
        let windows = if leaps { 2 } else { 3 };
        for model in [&model, &artefact] {
            let rows = printed(&format!("predict {file} --model {model}"));
            assert_eq!(rows.lines().count(), 1 + 8 * windows, "{rows}");
            assert_eq!(decides(model, stream(&table)).0.len(), windows);
        }
    }
}

#[test]
fn a_project_names_recordings_by_the_classes_of_the_model() {
    let folder = Folder::new();
    let model = of_leaping(&folder);
    let of = |class: &str, other: &str| {
        let keep = |row: &&str| row.starts_with("series") || row.contains(class);
        let rows: String =
            leaping(STEP, 0.0).lines().filter(keep).map(|row| row.to_owned() + "\n").collect();
        let data = folder.put("one.csv", rows.replace(class, other));
        let project = folder.at(other);
        printed(&format!("new {project} --board mps2-an386 --model {model} --data {data}"));
        fs::read_to_string(format!("{project}/src/self_test.rs")).expect("reads")
    };
    assert!(of("wild", "wild").contains("label: Some(1)"));
    assert!(of("calm", "calm").contains("label: Some(0)"));
    let unknown = of("wild", "tame");
    assert!(unknown.contains("label: None") && !unknown.contains("label: Some"), "{unknown}");
}

#[test]
fn windows_that_no_stream_can_have_are_refused_before_fitting() {
    let folder = Folder::new();
    let data = folder.put("data.csv", leaping(STEP, 0.0));
    for (windows, told) in [
        ("--window 99999999999", "window-length --window"),
        ("--window 20 --hop 4294967295", "window-hop --hop"),
        ("--window 5000 --hop 1", "open-windows --window --hop"),
    ] {
        refuses(&format!("fit {data} -o /dev/null {windows}"), told);
    }
}
