//! Classes taught to a model: by `teach`, in the record of a device, and decided by `predict`.

use crate::fixtures::{Folder, QUICK, table};
use crate::{fishweir, json, notes, printed, refuses};

const WINDOWS: &str = "--window 20 --hop 10";

/// A model of two of the three classes, which can be taught; data of all three, and of the third alone.
fn of_two(folder: &Folder, options: &str) -> [String; 3] {
    let two = folder.put("two.csv", table(&["still", "moving"]));
    let model = folder.at("two.json");
    printed(&format!(
        "fit {two} -o {model} --group subject {WINDOWS} {options} {QUICK} --effort quick"
    ));
    // The third class of the table: alone it would be the first, and move as that one does.
    let three = table(&["still", "moving", "turning"]);
    let is_new = |(line, row): &(usize, &str)| *line == 0 || row.contains(",turning,");
    let turning = three.lines().enumerate().filter(is_new);
    let turning: String = turning.map(|(_, row)| format!("{row}\n")).collect();
    [model, folder.put("three.csv", &three), folder.put("turning.csv", turning)]
}

/// Windows of a class that are decided for each class, by `predict`.
fn decided(line: &str) -> Vec<String> {
    let rows = printed(line);
    rows.lines().skip(1).filter_map(|row| row.split(',').nth(3).map(str::to_owned)).collect()
}

#[test]
fn a_taught_class_is_decided_by_model_and_artefact_alike_until_it_is_forgotten() {
    let folder = Folder::new();
    let [model, three, turning] = of_two(&folder, "--teachable --reject 0.1");
    let [taught, again] = ["a.taught", "b.taught"].map(|name| folder.at(name));
    let report = json(&format!("teach {turning} --windows 6 --model {model} -o {taught} --json"));
    assert_eq!(report["classes"], serde_json::json!([{"class": "turning", "windows": 6}]));
    let bytes = std::fs::read(&taught).expect("written");
    assert_eq!(
        (report["record_bytes"].as_u64(), &bytes[..4]),
        (Some(bytes.len() as u64), &b"WEIT"[..])
    );

    let artefact = folder.at("two.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let notes = notes(&format!("teach {three} --windows 6 --model {artefact} -o {again}"));
    assert!(notes.iter().any(|note| note.kind == "known-classes"), "{notes:?}");
    assert_eq!(std::fs::read(&again).expect("written"), bytes);

    let by = |model: &str, data: &str| {
        decided(&format!("predict {data} --model {model} --taught {taught}"))
    };
    let all = by(&model, &turning);
    let right = all.iter().filter(|class| *class == "turning").count();
    assert!(10 * right > 9 * all.len(), "{all:?}");
    assert_eq!(by(&artefact, &three), by(&model, &three));
    let of_known = by(&model, &three).iter().filter(|class| *class != "turning").count();
    assert!(of_known > all.len(), "known classes are still decided");
    // A class that was taught is no stranger: it stands among the others, and nothing counts it as unknown.
    let line = format!("predict {turning} --model {model} --json");
    let (of_two, of_three) = (json(&line), json(&format!("{line} --taught {taught}")));
    assert_eq!(of_three["classes"][2], "turning");
    assert_eq!(of_three["unknown"], serde_json::json!([]));
    let stranger = &of_two["unknown"][0];
    let counts = stranger["decided"].as_object().expect("counts");
    let decided_as: u64 = counts.values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!((stranger["class"].as_str(), counts.len()), (Some("turning"), 2));
    assert_eq!(
        stranger["windows"].as_u64(),
        stranger["undecided"].as_u64().map(|undecided| undecided + decided_as)
    );
    // A stream decides the same.
    let rows = std::fs::read_to_string(&turning).expect("written");
    let line = format!("predict --stream --model {model} --taught {taught}");
    let said = printed(fishweir(&line).write_stdin(rows));
    let streamed = said.lines().skip(1).filter_map(|row| row.split(',').nth(2));
    assert_eq!(streamed.collect::<Vec<_>>(), all);

    // Another class that is taught and forgotten leaves it as it was.
    let part = folder.at("part.taught");
    printed(&format!(
        "teach {turning} --windows 6 --class other --model {model} --taught {taught} -o {part}"
    ));
    printed(&format!("teach --forget other --taught {part} --model {model} -o {again}"));
    assert_eq!(std::fs::read(&again).expect("written"), bytes);
    let none = folder.at("none.taught");
    let report =
        json(&format!("teach --forget turning --taught {taught} --model {model} -o {none} --json"));
    assert_eq!(report["classes"], serde_json::json!([]));
    let untaught = decided(&format!("predict {three} --model {model}"));
    assert_eq!(decided(&format!("predict {three} --model {model} --taught {none}")), untaught);
}

#[test]
fn teaching_is_priced_and_costs_the_artefact_a_section_alone() {
    let folder = Folder::new();
    let [model, ..] = of_two(&folder, "--teachable");
    let info = json(&format!("info {model} --json"));
    let numbers = info["outputs"].as_u64().unwrap_or(0) + info["models"].as_u64().unwrap_or(0);
    let basis = 8 + 4 * (numbers * (numbers + 1) / 2 + numbers + 2 * numbers);
    assert_eq!(info["teaching"]["flash_bytes"], basis);
    assert_eq!(info["teaching"]["ram_bytes"], 4 * (4 * numbers + 24) + 8);
    assert!(printed(&format!("info {model}")).contains("teaching up to 4 classes on a device"));
    let source = folder.at("two.rs");
    printed(&format!("export {model} --rust {source}"));
    assert!(folder.text("two.rs").contains(&format!("pub static TEACHING: [u8; {basis}]")));

    let artefact = folder.at("two.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let with = std::fs::metadata(&artefact).expect("written").len();
    assert_eq!(info["artefact_bytes"], with);
    let plain = Folder::new();
    let [model, ..] = of_two(&plain, "");
    let artefact = plain.at("two.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    assert_eq!(with - std::fs::metadata(&artefact).expect("written").len(), basis + 6);
    assert!(json(&format!("info {model} --json"))["teaching"].is_null());
}

#[test]
fn what_cannot_be_taught_is_refused_by_name() {
    let folder = Folder::new();
    let [model, three, turning] = of_two(&folder, "--teachable");
    let taught = folder.at("a.taught");
    printed(&format!("teach {turning} --model {model} -o {taught}"));
    let plain = Folder::new();
    let [without, ..] = of_two(&plain, "");
    for (line, what) in [
        (format!("teach {turning} --model {without}"), "no-basis --teachable"),
        (format!("teach {three} --class still --model {model}"), "known-class still"),
        (
            format!("teach {three} --class a-name-of-18-bytes --model {model}"),
            "bad-name a-name-of-18-bytes",
        ),
        (
            format!("teach --forget wobbling --taught {taught} --model {model}"),
            "unknown-name wobbling",
        ),
        (format!("predict {three} --taught {model} --model {model}"), "malformed two.json"),
        (format!("predict {three} --taught {taught} --model {without}"), "no-basis --teachable"),
        (format!("teach {} --model {model}", folder.at("two.csv")), "nothing-taught --class"),
    ] {
        refuses(&line, what);
    }
    let mut bytes = std::fs::read(&taught).expect("written");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let damaged = folder.put("damaged.taught", bytes);
    refuses(
        &format!("predict {three} --taught {damaged} --model {model}"),
        "checksum damaged.taught",
    );
    // A model that was trained on other data has another basis.
    let other = folder.put("other.csv", table(&["still", "turning"]));
    let strange = folder.at("other.json");
    printed(&format!(
        "fit {other} -o {strange} --group subject {WINDOWS} --teachable {QUICK} --effort quick"
    ));
    refuses(
        &format!("predict {three} --taught {taught} --model {strange}"),
        "other-model a.taught",
    );
}
