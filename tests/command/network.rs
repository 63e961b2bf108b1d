//! `fishweir network`.

use serde_json::Value;

use crate::figures::check_matrix;
use crate::gram::csv_matrix;
use crate::shared::data::{SPRINKLER, garden};
use crate::{fishweir, json, notes, printed, refuses};

#[test]
fn a_network_is_fitted_and_asked() {
    let garden = garden();
    let (train, model) = (garden.at("train.csv"), garden.at("model.json"));
    let report = json(&format!("network fit {train} -o {model} --json"));
    assert_eq!((&report["records"], &report["nodes"]), (&600.into(), &3.into()), "{report}");
    assert_eq!(report["edges"].as_array().map(Vec::len), Some(3), "{report}");
    let query =
        format!("network query --model {model} rain --given grass=wet --most-probable --json");
    let answer = json(&query);
    // Exactly 0.3395 under the network that the records are from.
    let rain = answer["nodes"][0]["probabilities"][1].as_f64().expect("a number");
    assert!((rain - 0.3395).abs() < 0.1, "{answer}");
    assert_eq!(answer["most_probable"][0][2], Value::from(vec!["grass", "wet"]), "{answer}");
    let exact = json(&query.replace("model.json", "garden.bif"));
    let rain = exact["nodes"][0]["probabilities"][1].as_f64().expect("a number");
    assert!((rain - 0.160_38 / 0.472_38).abs() < 1e-9, "{exact}");
    let text = printed(&format!("network query --model {model}"));
    assert!(text.contains("sprinkler\n") && !text.contains("given"), "{text}");
    // The same graph again, its tables from records that lack a field here and there.
    let holes = garden.text("train.csv").replace("no,on", "?,on");
    garden.put("holes.csv", &holes);
    let line = format!("network fit {} --like {model}", garden.at("holes.csv"));
    let text = printed(&line);
    assert!(text.contains("expectation-maximisation") && text.contains("not written"), "{text}");
}

/// The file has what those of all models have: its data, their checksum, what was chosen, and a checksum of its own.
#[test]
fn a_model_says_what_it_was_fitted_to() {
    let garden = garden();
    let (train, model) = (garden.at("train.csv"), garden.at("model.json"));
    let line = format!("network fit {train} --class rain --classifier fisher-tree -o {model}");
    printed(&line);
    let recipe = garden.put("recipe.toml", printed(&format!("info {model} --recipe")));
    let again = garden.at("again.json");
    printed(&format!("network fit {train} --config {recipe} -o {again}"));
    assert_eq!(garden.text("again.json"), garden.text("model.json"));
    let report = json(&format!("network info {model} --json"));
    let trained = report["trained"].as_str().expect("words");
    assert!(trained.contains("train.csv (CRC-32 ") && trained.contains("600"), "{report}");
    let text = garden.text("model.json");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let machine = &file["classifier"]["provenance"]["selection"]["machine"];
    assert_eq!(machine["candidates"].as_array().map(Vec::len), Some(5), "{machine}");
    garden.put("model.json", text.replacen("rain", "rein", 1));
    refuses(&format!("network info {model}"), "checksum");
    fishweir(&format!("network query --model {} rain", garden.at("garden.bif"))).assert().success();
}

/// `evaluate` and `predict` take classifiers of records as those of series.
#[test]
fn one_evaluate_and_one_predict_take_every_classifier() {
    let garden = garden();
    let (train, bayes) = (garden.at("train.csv"), garden.at("bayes.json"));
    let linear = garden.at("linear.json");
    printed(&format!("network fit {train} --class rain -o {bayes}"));
    printed(&format!("network fit {train} --class rain --classifier fisher-tree -o {linear}"));
    for model in [&bayes, &linear] {
        let line = format!("evaluate {train} --model {model} --json");
        assert_eq!(json(&line), json(&format!("network {line}")), "{model}");
        let report = json(&format!("{line} --draw {}", garden.at("d.svg")));
        check_matrix(&garden.text("d.svg"), &report["classifiers"][0]);
        let line = format!("predict {train} --model {model}");
        let table = printed(&line);
        assert_eq!(table, printed(&format!("network {line}")), "{model}");
        let width = |line: &str| line.split(',').count();
        let head = table.lines().next().map(width);
        assert!(table.lines().all(|line| Some(width(line)) == head), "{table}");
        let decided = json(&format!("{line} --json"));
        let first = &decided["decisions"][0];
        let cells: Vec<&str> = table.lines().nth(1).expect("a record").split(',').collect();
        assert_eq!(first["line"].to_string(), cells[0], "{decided}");
        assert_eq!(first["class"], cells[1], "{decided}");
    }
    let both = json(&format!("evaluate {train} --model {bayes} --model {linear} --json"));
    assert!(both["classifiers"][1]["gain"]["low"].is_f64(), "{both}");
    let noted = notes(&format!("evaluate {train} --model {bayes} --window 5"));
    assert!(noted.iter().any(|note| note.kind == "idle-option"), "{noted:?}");
    refuses(&format!("evaluate {train} {train} --model {bayes}"), "one-file");
    refuses(&format!("evaluate {train} --model {}", garden.at("garden.bif")), "wrong-model");
}

#[test]
fn kernels_sets_and_pictures() {
    let garden = garden();
    let [model, train, test] = ["garden.bif", "train.csv", "test.csv"].map(|name| garden.at(name));
    let some: String =
        garden.text("test.csv").lines().take(6).map(|line| format!("{line}\n")).collect();
    garden.put("some.csv", &some);
    let (few, gram) = (garden.at("some.csv"), garden.at("gram.csv"));
    printed(&format!("network gram {few} --model {model} -o {gram} --normalise"));
    let (ids, _, rows) = csv_matrix(&gram);
    assert_eq!(ids, ["2", "3", "4", "5", "6"]);
    assert!(rows.iter().enumerate().all(|(i, row)| (row[i] - 1.0).abs() < 1e-12));
    let chosen = garden.at("chosen.csv");
    let line = format!(
        "network representatives {train} --model {model} -k 5 --draws 20 -o {chosen} --json"
    );
    let report = json(&line);
    let value = |name: &str| report[name].as_f64().expect("a number");
    assert!(
        value("discrepancy") <= value("start") && value("start") <= value("random"),
        "{report}"
    );
    assert_eq!(garden.text("chosen.csv").lines().count(), 6);
    let lines: Vec<u64> = serde_json::from_value(report["lines"].clone()).expect("lines");
    assert!(lines.windows(2).all(|pair| pair[0] < pair[1]) && lines[0] >= 2, "{report}");
    let line = format!("network compare --model {model} {train} {test} --permutations 99 --json");
    let same = json(&line);
    assert_eq!(same["degrees"], 7);
    for p in ["p_limit", "p_permutations"] {
        assert!(same[p].as_f64().expect("a number") > 0.02, "{same}");
    }
    garden.put("holes.csv", "rain,sprinkler,grass\nno,off,dry\n?,on,wet\n");
    let text = printed(&format!("network compare --model {model} {}", garden.at("holes.csv")));
    assert!(text.contains("its limit is unknown if fields are missing"), "{text}");
    garden.put("dry.csv", garden.text("test.csv").replace("wet", "dry"));
    let dry = garden.at("dry.csv");
    let text = printed(&format!("network compare --model {model} {dry}"));
    let table = text.split("share\n").nth(1).expect("a table");
    assert!(text.contains("p = 0.0000") && table.trim_start().starts_with("grass"), "{text}");
    let figure = garden.at("garden.svg");
    printed(&format!("network draw {model} -o {figure}"));
    let svg = garden.text("garden.svg");
    // The page, and a node each.
    assert_eq!((svg.matches("<rect").count(), svg.matches("marker-end").count()), (1 + 3, 3));
    assert!(svg.contains("3 nodes, 3 edges, 7 free parameters") && svg.contains(">sprinkler<"));
}

#[test]
fn classifiers_and_alarms_reach_a_device() {
    let garden = garden();
    let [network, train, test, model, rust] =
        ["garden.bif", "train.csv", "test.csv", "class.json", "model.rs"]
            .map(|name| garden.at(name));
    for classifier in [
        "naive-bayes",
        "tan",
        "kdb",
        "climbed",
        "fisher-tree",
        "fisher-climbed",
        "top-tan",
        "top-kdb",
    ] {
        let fit = format!("network fit {train} --class grass --classifier {classifier} -o {model}");
        let text = printed(&fit);
        assert!(text.contains(&format!("{classifier} decides on grass (dry, wet)")), "{text}");
        let found = json(&format!("network evaluate {test} --model {model} --json"));
        let accuracy = found["classifiers"][0]["accuracy"].as_f64().expect("a number");
        // The network itself is right in 0.904 of the records.
        assert!(accuracy > 0.86, "{classifier}: {found}");
        let export = json(&format!("network export {model} --rust {rust} --json"));
        assert!(export["flash"].as_u64().expect("bytes") < 200, "{export}");
        assert!(garden.text("model.rs").contains("pub type Model = FactorClassifier"));
    }
    let cross = json(&format!("network evaluate {train} --class grass --folds 3 --json"));
    let all = cross["classifiers"].as_array().expect("some");
    assert_eq!(all.len(), 4);
    assert!(all[0]["gain"].is_null() && all[1]["gain"]["mean"].is_number(), "{cross}");
    assert!(all.iter().all(|one| one["records"] == 600));
    let alarm = format!("network export {network} --rust {rust} --mean-time 200 --memory 30");
    let text = printed(&alarm);
    assert!(
        text.contains("alarm, one false in 200 events") && text.contains("threshold"),
        "{text}"
    );
    assert!(garden.text("model.rs").contains("type Model = Discrepancy<'static, f32, 3, 14>"));
    let standard = printed(&alarm.replace(&rust, "-"));
    assert_eq!(standard, garden.text("model.rs"));
}

#[test]
fn what_is_wrong_is_named() {
    let garden = garden();
    let cycle = SPRINKLER.replace(
        "probability (rain) { table 0.8, 0.2; }",
        "probability (rain | grass) { default 0.8, 0.2; }",
    );
    garden.put("cycle.bif", &cycle);
    garden.put("sum.bif", SPRINKLER.replace("0.95, 0.05", "0.95, 0.15"));
    garden.put("state.csv", "rain,sprinkler,grass\nno,off,damp\n");
    garden.put("column.csv", "rain,sprinkler,lawn\nno,off,dry\n");
    garden.put("holes.csv", "rain,sprinkler,grass\nno,off,dry\n?,on,wet\nyes,off,wet\n");
    garden.put("model.json", "{\n\"columns\": []\n}");
    let class = garden.at("class.json");
    let train = garden.at("train.csv");
    printed(&format!("network fit {train} --class grass --classifier fisher-tree -o {class}"));
    for (line, says) in [
        ("query --model cycle.bif", "bad-bif cycle.bif 4 14 rain"),
        ("query --model sum.bif", "bad-bif sum.bif 7 13 1.1"),
        ("query --model model.json", "bad-json model.json 3 1"),
        ("query --model garden.bif snow", "unknown-node garden.bif snow"),
        ("query --model garden.bif --given rain=maybe", "unknown-state rain maybe"),
        ("query --model garden.bif --given rain", "bad-syntax"),
        ("query --model garden.bif --given rain=no,rain=yes", "conflicting-options rain"),
        ("compare --model garden.bif state.csv", "unknown-category state.csv 2 3 grass damp"),
        ("compare --model garden.bif column.csv", "unknown-column column.csv 1 3 lawn"),
        ("fit holes.csv --missing unknown", "missing-field holes.csv 3 rain"),
        (
            "compare --model garden.bif test.csv holes.csv --permutations 9",
            "missing-field holes.csv 3 rain",
        ),
        (
            "compare --model garden.bif holes.csv test.csv --permutations 9",
            "missing-field holes.csv 3 rain",
        ),
        ("fit train.csv --class grass --score bdeu", "idle-option --score tan"),
        (
            "fit train.csv --class grass --classifier kdb --require rain:grass --forbid grass:rain",
            "idle-option --require --forbid kdb",
        ),
        ("fit train.csv --graph tree --restarts 3", "idle-option --restarts tree"),
        ("fit train.csv --parents 3", "idle-option --parents climb"),
        ("fit train.csv --equivalent 3", "idle-option --equivalent --score bdeu"),
        ("fit train.csv --seed 3", "idle-option --seed"),
        (
            "evaluate train.csv --class grass --most-parents 2",
            "idle-option naive-bayes tan kdb fisher-tree --most-parents",
        ),
        ("fit train.csv --class snow", "bad-header snow rain sprinkler grass"),
        ("fit train.csv --require rain", "bad-syntax rain"),
        ("fit train.csv --require rain:snow", "unknown-column snow"),
        ("fit train.csv --require rain:grass,grass:rain", "cyclic-network"),
        ("fit train.csv --pseudo-count=-1", "bad-setting 1"),
        ("fit train.csv --classifier tan", "missing-required-argument --class"),
        ("fit train.csv --mdl --bins 3", "argument-conflict --bins"),
        ("fit train.csv -o train.csv", "output-is-input"),
        ("evaluate train.csv --class grass --folds 1", "too-few-folds"),
        ("evaluate train.csv --model garden.bif --score bdeu", "argument-conflict --model"),
        ("evaluate train.csv --model garden.bif --bins 3", "argument-conflict --model"),
        ("fit train.csv --like garden.bif --restarts 2", "idle-option --like"),
        ("fit train.csv --bins 1", "invalid-value 1 --bins"),
        ("evaluate train.csv --model garden.bif", "needs-classifier"),
        ("gram test.csv --model class.json -o x.csv", "wrong-model"),
        ("representatives test.csv --model garden.bif -k 601", "bad-setting 1"),
        ("run test.csv --model garden.bif", "wrong-model --mean-time"),
        ("run test.csv --model class.json --limit 0", "invalid-value 0 --limit"),
        ("run test.csv --model class.json --firmware no-such", "no-firmware"),
        ("run state.csv --model class.json", "unknown-category state.csv 2 3 grass damp"),
        ("info train.csv", "bad-bif train.csv 1"),
        ("export garden.bif --rust x.rs", "wrong-model --mean-time"),
        ("export class.json --rust x.rs --mean-time 100", "wrong-model"),
        (
            "export garden.bif --rust x.rs --mean-time 100 --memory 30 --normal test.csv",
            "bad-network",
        ),
    ] {
        let mut command = fishweir(&format!("network {line}"));
        let command = command.current_dir(&garden);
        if says.starts_with("idle-option") {
            let told = notes(command);
            assert!(told.iter().any(|note| note.is(says)), "not {says}: {told:?}");
        } else {
            refuses(command, says);
        }
    }
}
