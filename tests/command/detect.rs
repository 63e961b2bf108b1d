//! `fishweir detect`.

use std::fmt::Write as _;
use std::fs;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::{answers, json, printed, refuses};

/// A folder with normal series of two channels, and the same with an offset of `x`.
fn streams() -> Folder {
    let folder = Folder::new();
    folder.put("normal.csv", table(0.0));
    folder.put("changed.csv", table(1.5));
    folder
}

fn table(offset: f64) -> String {
    let mut noise = Noise(11);
    let mut text = "series,t,x,y\n".to_owned();
    for series in 0..6 {
        for t in 0..900 {
            // Two regimes, so that there is something for states to learn.
            let level = f64::from((t / 30) % 2);
            let mut near = |value: f64| value + noise.next().unwrap_or(0.0);
            let (x, y) = (near(level + offset), near(2.0 * level));
            let _ = writeln!(text, "{series},{t},{x:.3},{y:.3}");
        }
    }
    text
}

#[test]
fn false_alarms_come_as_rarely_as_wanted_and_changes_are_seen() {
    let streams = streams();
    let (normal, changed) = (streams.at("normal.csv"), streams.at("changed.csv"));
    let detect = format!("detect {normal} --mean-time 150 --states 2 --json");
    for change in ["--offset x=1.5".to_owned(), format!("--changed {changed}")] {
        let report = json(&format!("{detect} {change}"));
        // 1 800 samples a third: 12 false alarms wanted, which is right to a factor of two.
        let calibrated = report["calibrated"]["alarms"].as_u64().expect("a count");
        assert!((10..=12).contains(&calibrated), "{report}");
        let unseen = report["unseen"]["alarms"].as_u64().expect("a count");
        assert!((4..=30).contains(&unseen), "{report}");
        let (changed, unchanged) = (&report["changes"]["changed"], &report["changes"]["unchanged"]);
        assert_eq!((&changed["alarmed"], &unchanged["series"]), (&6.into(), &6.into()), "{report}");
        let median = changed["median_delay"].as_u64().expect("seen");
        let chance = unchanged["median_delay"].as_u64().unwrap_or(u64::MAX);
        assert!(median < 40 && median < chance, "{report}");
    }
    let unknown = json(&detect);
    assert!(unknown["changes"].is_null() && unknown["detector"].is_null());
}

#[test]
fn a_detector_is_kept_and_finds_changes() {
    let streams = streams();
    let (normal, changed) = (streams.at("normal.csv"), streams.at("changed.csv"));
    let (model, rust) = (streams.at("detector.json"), streams.at("detector.rs"));
    let train = format!("detect {normal} --mean-time 150 --states 2 --offset x=1.5");
    let made = json(&format!("{train} -o {model} --rust {rust} --json"));
    assert_eq!((&made["file"], &made["detector"]), (&model.as_str().into(), &rust.as_str().into()));

    let alarms = |data: &str| {
        let found = json(&format!("detect {data} --model {model} --json"));
        let alarms = found["alarms"].as_array().expect("a list").clone();
        let table = printed(&format!("detect {data} --model {model}"));
        assert_eq!(table.lines().count(), alarms.len() + 1, "{table}");
        alarms
    };
    let (of_normal, of_changed) = (alarms(&normal), alarms(&changed));
    assert!(of_changed.len() > 3 * of_normal.len(), "{of_changed:?}");
    assert!(of_changed.iter().any(|one| one["statistic"] == "change"), "{of_changed:?}");

    let info = json(&format!("info {model} --json"));
    assert_eq!((&info["form"], &info["states"]), (&"detector".into(), &2.into()), "{info}");
    let exported = streams.at("exported.rs");
    printed(&format!("export {model} --rust {exported}"));
    assert_eq!(streams.text("exported.rs"), streams.text("detector.rs"));
    let recipe = streams.put("recipe.toml", printed(&format!("info {model} --recipe")));
    let again = streams.at("again.json");
    printed(&format!("detect {normal} --config {recipe} -o {again}"));
    assert_eq!(streams.text("again.json"), streams.text("detector.json"));

    answers(format!("detect {changed} --model {model} --states 3"), "idle-option --states");
    refuses(&format!("predict {changed} --model {model}"), "wrong-model");
    refuses(&format!("detect {changed} --model {}", fixtures().at("two.json")), "wrong-model");
    refuses(&format!("export {model} --artefact {}", streams.at("d.fishweir")), "unsupported");
}

#[test]
fn the_detector_is_source_for_firmware() {
    let streams = streams();
    let (normal, detector) = (streams.at("normal.csv"), streams.at("detector.rs"));
    let line = format!("detect {normal} --mean-time 150 --states 2 --offset y=1 --rust {detector}");
    let text = printed(&line);
    for part in ["unseen", "after the change: an alarm in", "detector written to", "offset of y"] {
        assert!(text.contains(part), "{text}");
    }
    let source = fs::read_to_string(&detector).expect("written");
    assert!(source.contains("pub static MODEL: Model = ChangeDetector::from_parts("));
    assert!(source.contains("Wanted: one false alarm in 150 samples."));
    let standard = printed(&line.replace(&detector, "-"));
    assert_eq!(standard, source);
}

#[test]
fn symbols_are_watched_too() {
    let strings = fixtures().at("strings.tsv");
    let line = format!("detect {strings} --mean-time 4 --memory 2 --states 2");
    let report = json(&format!("{line} --changed {strings} --json"));
    assert_eq!(report["changes"]["changed"]["series"], 12);
    // No change is seen no better than by chance.
    let seen = |side: &str| report["changes"][side]["alarmed"].as_u64().expect("a count");
    assert!(seen("changed").abs_diff(seen("unchanged")) <= 8, "{report}");
    assert_eq!(report["states"], 2, "strings of one length have no positions here");
    refuses(&format!("{line} --offset x=1"), "wrong-observations");
}

#[test]
fn what_is_wrong_is_named() {
    let streams = streams();
    let normal = streams.at("normal.csv");
    let two = fixtures().at("strings.tsv");
    for (options, expected) in [
        ("--mean-time 150 --offset z=1".to_owned(), "unknown-channel z --offset x y"),
        ("--mean-time 150 --offset x".to_owned(), "invalid-value --offset"),
        ("--mean-time 150 --offset x=nan".to_owned(), "invalid-value --offset"),
        ("--mean-time 40".to_owned(), "bad-setting"),
        ("--mean-time 1e6".to_owned(), "too-few-samples"),
        ("--memory 5".to_owned(), "missing-required-argument --mean-time"),
        ("--mean-time 150 --emission poisson --std-floor 0.1".to_owned(), "not-in-support 2"),
        ("--mean-time 150 --components 2".to_owned(), "idle-option --emission mixture"),
        ("--mean-time 150 --emission poisson".to_owned(), "not-in-support 2"),
        (format!("--mean-time 150 --changed {two}"), "wrong-observations strings.tsv"),
        (format!("--mean-time 150 --rust {normal}"), "output-is-input"),
    ] {
        answers(format!("detect {normal} {options}"), expected);
    }
}
