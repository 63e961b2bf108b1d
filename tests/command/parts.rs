//! `expect`, `merge` and `gram --tile`: parts of a computation, each by a process of its own, come to the bits of one.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::shared::data::{FAMILIES, floor, series_of_family};
use crate::{json, notes, printed, refuses};

/// Series of each of two classes, of which there are three leaves and a half.
const SERIES: usize = 450;

/// Strings of two classes, one per line.
fn strings() -> String {
    let mut noise = Noise(9);
    let mut text = "sequence\tlabel\n".to_owned();
    for series in 0..SERIES {
        let odd = series % 2 == 1;
        let mut last = false;
        for _ in 0..12 + series % 7 {
            let turns = noise.next().unwrap_or(0.0) > if odd { -0.5 } else { 0.5 };
            last ^= turns;
            text.push(if last { 'b' } else { 'a' });
        }
        text.push_str(if odd { "\todd\n" } else { "\teven\n" });
    }
    text
}

/// A folder with data of a family, and the options of a fit that makes one start of it.
fn data(family: &str) -> (Folder, String, String) {
    let folder = Folder::new();
    let options = "--classifier bayes --states 2 --restarts 1 --effort quick --std-floor 0.1";
    if family == "categorical" {
        let data = folder.put("data.tsv", strings());
        return (folder, data, options.replace(" --std-floor 0.1", " --topology ergodic"));
    }
    let data = folder.put("data.csv", series_of_family(family, SERIES));
    let floor = floor(family);
    let options = match floor {
        "" => options.to_owned(),
        floor => options.replace("--std-floor 0.1", floor),
    };
    let lags = match family {
        "poisson" | "bernoulli" => "",
        // The past of the channels is what it sees.
        "autoregressive" => "--lags 1,2",
        _ => "--lags none",
    };
    (folder, data, format!("{options} --emission {family} {lags}"))
}

/// The models in a file.
fn models(folder: &Folder, name: &str) -> Value {
    let text: Value = serde_json::from_str(&folder.text(name)).expect("JSON");
    let models = text["classifier"]["models"].clone();
    assert!(models.is_array(), "{text}");
    models
}

#[test]
fn parts_of_a_pass_are_the_pass_of_a_fit_in_every_family() {
    for family in ["categorical", "gaussian"].into_iter().chain(FAMILIES) {
        let (folder, data, options) = data(family);
        let at = |name: &str| folder.at(name);
        for (iterations, name) in [(2, "two.json"), (3, "three.json")] {
            printed(&format!("fit {data} {options} --iterations {iterations} -o {}", at(name)));
        }
        let start = at("two.json");
        printed(&format!("expect {data} -m {start} -o {}", at("whole.json")));
        for part in 1..=3 {
            let output = at(&format!("part{part}.json"));
            printed(&format!(
                "expect {data} -m {start} --part {part}/3 -o {output} --threads {part}"
            ));
        }
        let [one, two, three] = [1, 2, 3].map(|part| at(&format!("part{part}.json")));
        let report = json(&format!("merge {three} {one} {two} -o {} --json", at("sums.json")));
        assert_eq!(report["models"][0]["leaves"], 4, "{family}: {report}");
        assert_eq!(folder.text("sums.json"), folder.text("whole.json"), "{family}");
        printed(&format!("merge {two} {three} -o {}", at("some.json")));
        let some = at("some.json");
        for (name, parts) in [("a.json", at("whole.json")), ("b.json", format!("{one} {some}"))] {
            printed(&format!("merge {parts} -m {start} --std-floor 0.1 -o {}", at(name)));
            assert_eq!(models(&folder, name), models(&folder, "three.json"), "{family}: {name}");
        }
        // What was merged is a model like any other.
        assert!(printed(&format!("predict {data} -m {}", at("b.json"))).lines().count() > SERIES);
    }
}

#[test]
fn sets_of_models_are_improved_too() {
    let folder = Folder::new();
    let data = folder.put("data.csv", series_of_family("gaussian", SERIES));
    let at = |name: &str| folder.at(name);
    for per in ["class", "all"] {
        let fit = format!("fit {data} --family hmm --model-per {per} --states 2 --restarts 1");
        for (iterations, name) in [(2, "two.json"), (3, "three.json")] {
            printed(&format!("{fit} --window 20 --iterations {iterations} -o {}", at(name)));
        }
        let start = at("two.json");
        for part in 1..=5 {
            printed(&format!(
                "expect {data} -m {start} --part {part}/5 -o {}",
                at(&format!("{part}.json"))
            ));
        }
        let parts: Vec<String> = (1..=5).map(|part| at(&format!("{part}.json"))).collect();
        printed(&format!("merge {} -m {start} -o {}", parts.join(" "), at("next.json")));
        assert_eq!(models(&folder, "next.json"), models(&folder, "three.json"), "{per}");
    }
}

#[test]
fn parts_that_do_not_belong_together_are_named() {
    let (folder, data, options) = data("gaussian");
    let at = |name: &str| folder.at(name);
    let other = folder.put("other.csv", series_of_family("gaussian", SERIES - 2));
    printed(&format!("fit {data} {options} --iterations 1 -o {}", at("start.json")));
    printed(&format!("fit {data} {options} --iterations 2 -o {}", at("later.json")));
    printed(&format!(
        "fit {data} --states 2 --effort quick --iterations 1 --learner svm -o {}",
        at("fisher.json")
    ));
    for (data, model, part, output) in [
        (&data, "start.json", "1/2", "one.json"),
        (&data, "start.json", "2/2", "two.json"),
        (&data, "start.json", "2/4", "quarter.json"),
        (&data, "later.json", "2/2", "later2.json"),
        (&other, "start.json", "2/2", "other2.json"),
    ] {
        let (model, output) = (at(model), at(output));
        printed(&format!("expect {data} -m {model} --part {part} -o {output}"));
    }
    let damaged = folder.text("two.json").replacen("0.", "1.", 1);
    folder.put("damaged.json", damaged);
    let (start, next) = (at("start.json"), at("next.json"));
    let merge = |parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|&part| at(part)).collect();
        format!("merge {} -m {start} -o {next}", parts.join(" "))
    };
    for (line, expected) in [
        (merge(&["one.json"]), "missing-leaves even 2 to 3".to_owned()),
        (merge(&["two.json"]), "missing-leaves even 0 to 1".to_owned()),
        (
            merge(&["one.json", "one.json"]),
            format!("repeated-leaves {} even 0 to 1", at("one.json")),
        ),
        (
            merge(&["one.json", "quarter.json"]),
            format!("repeated-leaves {} even", at("quarter.json")),
        ),
        (merge(&["one.json", "later2.json"]), format!("other-models {}", at("later2.json"))),
        (merge(&["one.json", "other2.json"]), format!("other-data {} even", at("other2.json"))),
        (merge(&["one.json", "damaged.json"]), format!("checksum {}", at("damaged.json"))),
        (merge(&["later2.json"]), "other-models".to_owned()),
        (merge(&["start.json"]), format!("not-a-model {}", at("start.json"))),
        (format!("merge {} -o {}", at("one.json"), at("one.json")), "output-is-input".to_owned()),
        (
            format!("expect {data} -m {}", at("fisher.json")),
            format!("unfit-models {} ridge", at("fisher.json")),
        ),
        (format!("expect {data} -m {start} --part 0/2"), "invalid-value --part 3/8".to_owned()),
        (format!("expect {data} -m {start} --part 3/2"), "invalid-value --part".to_owned()),
        (format!("expect {data} -m {data}"), format!("is-data {data}")),
        (
            format!("expect {} -m {start}", fixtures().at("strings.tsv")),
            "wrong-observations".to_owned(),
        ),
    ] {
        refuses(&line, expected);
    }
    assert!(!fs::exists(&next).expect("readable"), "a refused merge wrote models");
    let renamed = series_of_family("gaussian", 20).replace("odd", "third");
    let renamed = folder.put("renamed.csv", renamed);
    let told = notes(format!("expect {renamed} -m {start} -o {}", at("third.json")).as_str());
    assert!(told.iter().any(|note| note.is("unknown-class 10")), "{told:?}");
}

#[test]
fn tiles_are_the_matrix_of_every_kernel() {
    let (data, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for options in [
        format!("-m {model} --kernel practical"),
        format!("-m {model} --kernel invariant --draws 50 --normalise"),
        format!("-m {model} --kernel gaussian --sigma 20"),
        format!("-m {model} --kernel top"),
        format!("-m {model} --kernel count --order 2"),
        format!("-m {model} --kernel latent-mean-map"),
        "--kernel practical --states 2 --iterations 3".to_owned(),
        "--kernel mismatch --order 3".to_owned(),
        "--kernel empirical-mean-map --order 2 --normalise".to_owned(),
        "--kernel bhattacharyya --family markov --order 0".to_owned(),
        "--kernel ppk --states 2 --iterations 3 --normalise".to_owned(),
    ] {
        printed(&format!("gram {data} {options} -o {}", at("whole.csv")));
        let mut tiles = Vec::new();
        for (row, column) in [(2, 3), (1, 1), (3, 3), (1, 3), (2, 2), (1, 2)] {
            let tile = at(&format!("{row}{column}.json"));
            printed(&format!("gram {data} {options} --tile {row},{column}/3 -o {tile}"));
            tiles.push(tile);
        }
        printed(&format!("merge {} -o {}", tiles.join(" "), at("joined.csv")));
        assert_eq!(folder.text("joined.csv"), folder.text("whole.csv"), "{options}");
        let without = tiles[1..].join(" ");
        refuses(format!("merge {without} -o {}", at("joined.csv")).as_str(), "missing-tile 2,3");
        let twice = format!("merge {} {} -o {}", tiles.join(" "), tiles[3], at("joined.csv"));
        refuses(twice.as_str(), format!("repeated-tile {} 1,3", tiles[3]));
    }
    let tile = at("other.json");
    printed(&format!("gram {data} -m {model} --kernel top --tile 1,1/3 -o {tile}"));
    let mixed = format!("merge {} {tile} -o {}", at("23.json"), at("joined.csv"));
    refuses(mixed.as_str(), format!("other-matrix {tile} TOP"));
    for (options, expected) in [
        ("--tile 2,1/3", "invalid-value --tile 1,2/8"),
        ("--tile 1,4/3", "invalid-value --tile"),
        ("--tile 1,1/2 --spectrum", "argument-conflict --tile --spectrum"),
        (
            "--tile 1,1/2 --kernel invariant --information empirical",
            "conflicting-options --tile --information-from",
        ),
    ] {
        refuses(format!("gram {data} -m {model} {options}").as_str(), expected);
    }
}

#[test]
fn features_of_parts_are_the_rows_of_all() {
    let (data, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for options in ["--kernel practical", "--kernel invariant --draws 50"] {
        let line = format!("features {data} -m {model} {options}");
        printed(&format!("{line} -o {}", at("whole.csv")));
        let mut rows = Vec::new();
        for part in 1..=5 {
            printed(&format!("{line} --part {part}/5 -o {}", at("part.csv")));
            let text = folder.text("part.csv");
            rows.extend(text.lines().skip(usize::from(part > 1)).map(str::to_owned));
        }
        assert_eq!(rows, folder.text("whole.csv").lines().collect::<Vec<_>>(), "{options}");
    }
    let whitened = "--kernel invariant --information diagonal";
    let line = format!("features {data} -m {model} {whitened} --part 1/2 -o {}", at("part.csv"));
    refuses(line.as_str(), "conflicting-options --part --information");
}

/// Merges parts, and returns the file.
fn merged(folder: &Folder, parts: &[String], name: &str, options: &str) -> String {
    printed(&format!("merge {} {options} -o {}", parts.join(" "), folder.at(name)));
    folder.text(name)
}

#[test]
fn information_of_parts_is_that_of_all() {
    let (folder, data, _) = data("categorical");
    let at = |name: &str| folder.at(name);
    let fit = "--classifier fisher --states 2 --restarts 1 --topology ergodic --score-model all";
    let (model, other) = (at("fisher.json"), at("other.json"));
    for (model, iterations) in [(&model, 5), (&other, 1)] {
        printed(&format!("fit {data} {fit} --iterations {iterations} -o {model}"));
    }
    let products = format!("features {data} -m {model} --products");
    let mut parts = Vec::new();
    for part in 1..=3 {
        parts.push(at(&format!("{part}.json")));
        printed(&format!("{products} --part {part}/3 -o {}", parts[part - 1]));
    }
    printed(&format!("{products} -o {}", at("whole.json")));
    parts.reverse();
    assert_eq!(merged(&folder, &parts, "sum.json", ""), folder.text("whole.json"));
    let sum = at("sum.json");
    for whose in ["empirical", "empirical --ridge 0.1", "diagonal"] {
        let line = format!("features {data} -m {model} --kernel invariant --information {whose}");
        printed(&format!("{line} -o {}", at("wanted.csv")));
        let mut rows = Vec::new();
        for part in 1..=2 {
            let given = format!("--information-from {sum} --part {part}/2");
            printed(&format!("{line} {given} -o {}", at("part.csv")));
            let text = folder.text("part.csv");
            rows.extend(text.lines().skip(usize::from(part > 1)).map(str::to_owned));
        }
        assert_eq!(rows, folder.text("wanted.csv").lines().collect::<Vec<_>>(), "{whose}");
        let line = line.replacen("features", "gram", 1);
        printed(&format!("{line} -o {}", at("wanted.csv")));
        let mut tiles = Vec::new();
        for (row, column) in [(1, 1), (1, 2), (2, 2)] {
            tiles.push(at(&format!("{row}{column}.json")));
            let given = format!("--information-from {sum} --tile {row},{column}/2");
            printed(&format!("{line} {given} -o {}", tiles[tiles.len() - 1]));
        }
        let joined = merged(&folder, &tiles, "joined.csv", "");
        assert_eq!(joined, folder.text("wanted.csv"), "{whose}");
    }
    let given = format!("--kernel invariant --information empirical --information-from {sum}");
    let out = at("out.csv");
    for (line, expected) in [
        (
            format!("merge {} {} -o {out}", parts[0], parts[0]),
            format!("repeated-leaves {}", parts[0]),
        ),
        (format!("features {data} -m {other} {given} -o {out}"), format!("other-models {sum}")),
        (
            format!("features {data} -m {model} --information-from {sum} -o {out}"),
            "conflicting-options --information-from --information".to_owned(),
        ),
        (
            format!("features {data} -m {model} {given} -o {out}").replace(&sum, &parts[0]),
            format!("missing-leaves {} 0", parts[0]),
        ),
        (
            format!("features {data} --products -o {out}"),
            "missing-option --products --model".to_owned(),
        ),
    ] {
        refuses(&line, expected);
    }
}

#[test]
fn machines_of_parts_are_those_of_all_windows() {
    let (folder, data, _) = data("gaussian");
    let at = |name: &str| folder.at(name);
    let fit =
        "--classifier fisher --learner ridge --states 2 --restarts 1 --iterations 5 --lags none";
    for options in [
        "--score-model universal --scaling practical --window 20 --hop 10",
        "--score-model all --scaling diagonal --window 20",
        "--score-model universal --scaling whitened",
    ] {
        let start = at("start.json");
        printed(&format!("fit {data} {fit} {options} --mirror none --copies 0 -o {start}"));
        printed(&format!("expect {data} -m {start} -o {}", at("whole.json")));
        let mut parts = Vec::new();
        for part in 1..=3 {
            parts.push(at(&format!("part{part}.json")));
            let output = &parts[part - 1];
            printed(&format!(
                "expect {data} -m {start} --part {part}/3 -o {output} --threads {part}"
            ));
        }
        parts.rotate_left(1);
        assert_eq!(
            merged(&folder, &parts, "sums.json", ""),
            folder.text("whole.json"),
            "{options}"
        );
        let next = format!("-m {start}");
        let by_parts = merged(&folder, &parts, "next.json", &next);
        assert_eq!(by_parts, merged(&folder, &[at("sums.json")], "again.json", &next), "{options}");
        // The machine of a fit to the same windows, but for what rounding makes of the order of sums.
        let decisions = |model: &str| printed(&format!("predict {data} -m {model}"));
        let (own, wanted) = (decisions(&at("next.json")), decisions(&start));
        let class = |line: &str| line.split(',').nth(1).map(str::to_owned);
        let differ = own.lines().zip(wanted.lines()).filter(|(a, b)| class(a) != class(b)).count();
        assert!(own.lines().count() > SERIES && differ * 200 < SERIES, "{options}: {differ}");
        let two = format!("merge {} {} {next} -o {}", parts[0], parts[1], at("no.json"));
        refuses(&two, "missing-leaves 0");
        let other = folder.put("other.csv", series_of_family("gaussian", SERIES - 2));
        printed(&format!("expect {other} -m {start} --part 1/3 -o {}", at("other.json")));
        let mixed = format!("merge {} {} -o {}", parts[0], at("other.json"), at("no.json"));
        refuses(&mixed, format!("other-data {}", at("other.json")));
        let again =
            format!("merge {} -m {} -o {}", at("sums.json"), at("next.json"), at("no.json"));
        // The machine of the sums may be taken again: what they depend on has not changed.
        printed(&again);
    }
    // More data than the start was fitted to.
    let more = folder.put("more.csv", series_of_family("gaussian", 2 * SERIES));
    let start = at("start.json");
    printed(&format!("expect {more} -m {start} -o {}", at("more.json")));
    printed(&format!("merge {} -m {start} -o {}", at("more.json"), at("next.json")));
    let next = folder.text("next.json");
    assert!(next.contains("machine by parts, of 900 windows"), "{next}");
    let right = json(&format!("evaluate {more} -m {} --json", at("next.json")));
    assert!(right["accuracy"].as_f64() > Some(0.9), "{right}");
}

#[test]
fn folds_of_parts_are_a_cross_validation() {
    let folder = Folder::new();
    let data = folder.put("data.csv", series_of_family("gaussian", 24));
    let at = |name: &str| folder.at(name);
    let line =
        format!("evaluate {data} --classifier bayes,fisher --states 2 --restarts 1 --folds 3");
    let whole = json(&format!("{line} --json"));
    let mut parts = Vec::new();
    for part in [3, 1, 4, 2] {
        parts.push(at(&format!("{part}.json")));
        let output = &parts[parts.len() - 1];
        printed(&format!("{line} --part {part}/4 -o {output} --threads 1"));
    }
    let from = format!("{line} --folds-from {}", parts.join(","));
    assert_eq!(json(&format!("{from} --json")), whole);
    assert_eq!(printed(&from), printed(&line).replace(&line, &from));
    for (line, expected) in [
        (
            format!("{line} --folds-from {}", parts[1..].join(",")),
            "missing-fold 1 fisher".to_owned(),
        ),
        (
            format!("{line} --folds-from {},{}", parts.join(","), parts[0]),
            format!("repeated-fold {} 1 fisher", parts[0]),
        ),
        (
            format!(
                "{} --folds-from {}",
                line.replace("--states 2", "--states 3"),
                parts.join(",")
            ),
            format!("other-folds {}", parts[0]),
        ),
        (format!("{line} --folds-from {data}"), format!("not-a-model {data}")),
        (format!("{line} --part 1/2 --reject 0.1"), "argument-conflict --part --reject".to_owned()),
        (format!("{line} --part 3/2"), "invalid-value --part".to_owned()),
    ] {
        refuses(&line, expected);
    }
}

#[test]
fn parts_of_counts_are_a_pass_of_a_network() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    // A chain of eight columns.
    let mut bif = String::new();
    for column in 0..8 {
        let _ = writeln!(bif, "variable x{column} {{ type discrete [2] {{ no, yes }}; }}");
    }
    bif.push_str("probability (x0) { table 0.6, 0.4; }\n");
    for column in 1..8 {
        let before = column - 1;
        let _ = writeln!(
            bif,
            "probability (x{column} | x{before}) {{ (no) 0.7, 0.3; (yes) 0.2, 0.8; }}"
        );
    }
    let start = folder.put("start.bif", bif);
    let drawn = at("drawn.csv");
    printed(&format!("network sample {start} -n 600 -o {drawn}"));
    let hide = |(row, line): (usize, &str)| -> String {
        let fields = line.split(',').enumerate();
        let hidden = |(column, field)| if row > 0 && (row + column) % 5 == 0 { "" } else { field };
        fields.map(hidden).collect::<Vec<_>>().join(",") + "\n"
    };
    let text = folder.text("drawn.csv");
    let data = folder.put("hidden.csv", text.lines().enumerate().map(hide).collect::<String>());
    printed(&format!("network expect {data} -m {start} -o {}", at("whole.json")));
    for part in 1..=3 {
        let output = at(&format!("{part}.json"));
        printed(&format!("network expect {data} -m {start} --part {part}/3 -o {output}"));
    }
    let [one, two, three] = ["1.json", "2.json", "3.json"].map(&at);
    printed(&format!("merge {two} {three} {one} -o {}", at("sum.json")));
    assert_eq!(folder.text("sum.json"), folder.text("whole.json"));
    printed(&format!("merge {three} {one} {two} -m {start} -o {}", at("a.json")));
    printed(&format!("merge {} -m {start} -o {}", at("whole.json"), at("b.json")));
    assert_eq!(folder.text("a.json"), folder.text("b.json"));
    for (parts, expected) in [
        (format!("{one} {two}"), "missing-leaves".to_owned()),
        (format!("{one} {one}"), format!("repeated-leaves {one}")),
    ] {
        refuses(format!("merge {parts} -m {start} -o {}", at("c.json")).as_str(), expected);
    }
    let other = at("a.json");
    refuses(
        format!("merge {} -m {other} -o {}", at("sum.json"), at("c.json")).as_str(),
        "other-models",
    );
}
