//! `fishweir fit`.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::fixtures::{Folder, Noise, QUICK, fit, fixtures, labelled_strings, table};
use crate::{fishweir, json, notes, printed, refused, refuses};

#[test]
fn a_fit_says_seeds_likelihoods_the_choice_and_where_the_model_went() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    let line = format!(
        "fit {data} --output {model} --group subject --window 20 --hop 10 --states 2 --restarts 3 \
         --seed 11 --iterations 6 --tolerance 1e-6 --std-floor 0.2 --normalisation per-root-sample \
         --scaling practical --scaling diagonal --c 1,0.1 --score-model all"
    );
    let text = printed(&format!("{line} --verbose"));
    for part in ["still", "moving", "turning", "11: -", "12: -", "13: -", "C=0.1", "C=1", "m.json"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let report = json(fishweir(&line).arg("--json"));
    assert_eq!(report["classifier"], "fisher");
    assert_eq!(report["states"], 2);
    assert_eq!(report["windows"], 18 * 3);
    assert_eq!(report["group"], "subject");
    let fits = report["fits"].as_array().expect("a fit a class");
    assert_eq!(fits.len(), 3);
    for fit in fits {
        let restarts = fit["restarts"].as_array().expect("restarts");
        let seeds: Vec<_> = restarts.iter().map(|one| one["seed"].as_u64()).collect();
        assert_eq!(seeds, [Some(11), Some(12), Some(13)]);
        let best = restarts.iter().filter_map(|one| one["log_likelihood"].as_f64());
        assert_eq!(fit["log_likelihood"].as_f64(), best.reduce(f64::max));
    }
    let candidates = report["choice"]["candidates"].as_array().expect("candidates");
    assert_eq!(candidates.len(), 4, "two scalings, two values of C");
    assert!(candidates.iter().any(|one| one["c"] == report["choice"]["c"]));
}

/// A model file's models.
fn models(path: &str) -> Vec<Value> {
    let file: Value =
        serde_json::from_slice(&fs::read(path).expect("a model")).expect("it is JSON");
    file["classifier"]["models"].as_array().expect("models").clone()
}

#[test]
fn states_take_only_the_transitions_of_their_topology() {
    let folder = Folder::new();
    let model = folder.at("m.json");
    let fitted = |topology: &str| {
        let data = fixtures().at("strings.tsv");
        let line = format!("fit {data} -o {model} --classifier bayes --states 25");
        printed(&format!("{line} --topology {topology}"));
        models(&model)
    };
    let row = |row: &Value| -> Vec<f64> {
        row.as_array().expect("a row").iter().map(|p| p.as_f64().expect("a number")).collect()
    };
    for model in fitted("left-to-right") {
        for (from, probabilities) in
            model["transition"].as_array().expect("rows").iter().enumerate()
        {
            for (to, p) in row(probabilities).into_iter().enumerate() {
                assert_eq!(p > 0.0, to == from || to == from + 1, "{from} to {to}: {p}");
            }
        }
    }
    // The position's model is the frequency of each symbol there, each counted half a time more.
    let fitted = fitted("positions");
    for (class, name) in [(0, "runs"), (1, "turns")] {
        let strings: Vec<String> =
            labelled_strings().into_iter().filter(|(of, _)| *of == name).map(|one| one.1).collect();
        let table = &fitted[class]["emission"]["categorical"]["probability"];
        for position in 0..25 {
            for (symbol, p) in "ACGT".chars().zip(row(&table[position])) {
                let at = |text: &String| text.as_bytes()[position] == symbol as u8;
                let count = strings.iter().filter(|text| at(text)).count() as f64;
                let wanted = (count + 0.5) / (strings.len() as f64 + 2.0);
                assert!((p - wanted).abs() < 1e-9, "{name} {position} {symbol}: {p}, {wanted}");
            }
        }
    }
}

#[test]
fn equal_seeds_give_equal_files_and_others_do_not() {
    let folder = Folder::new();
    let read = |seed: u32, name: &str| {
        let model = folder.at(name);
        fit(&fixtures().at("two.csv"), &model, &format!("--classifier bayes --seed {seed}"));
        fs::read(model).expect("a model")
    };
    assert_eq!(read(3, "a.json"), read(3, "b.json"));
    assert_ne!(read(3, "c.json"), read(4, "d.json"));
}

#[test]
fn without_output_the_model_is_named_after_the_data_in_this_folder() {
    let folder = Folder::new();
    let line =
        format!("fit {} --classifier bayes {QUICK} --effort quick", fixtures().at("two.csv"));
    fishweir(&line).current_dir(&folder).assert().success();
    let names: Vec<_> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names, ["two.model.json"]);
}

#[test]
fn gzip_strings_and_fasta_are_read_by_their_content() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let plain = fs::read(fixtures().at("two.csv")).expect("data");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&plain).expect("memory");
    fs::write(at("two.csv"), packed.finish().expect("memory")).expect("written");
    fit(&at("two.csv"), &at("gz.json"), "--classifier bayes");
    fit(&fixtures().at("two.csv"), &at("plain.json"), "--classifier bayes");
    let read = |name: &str| fs::read(at(name)).expect("a model");
    assert_eq!(read("gz.json"), read("plain.json"));

    let options = "--classifier bayes --alphabet dna";
    fit(&fixtures().at("strings.tsv"), &at("tsv.json"), options);
    fit(
        &fixtures().at("strings.fasta"),
        &at("fasta.json"),
        &format!("{options} --fasta-label class --format fasta"),
    );
    let models = |name: &str| {
        let file: Value = serde_json::from_slice(&read(name)).expect("JSON");
        file["classifier"]["models"].clone()
    };
    assert_eq!(models("tsv.json"), models("fasta.json"));
}

#[test]
fn one_state_and_sequences_of_length_one_are_fitted() {
    let folder = Folder::new();
    let mut text = "series,label,t,x\n".to_owned();
    for series in 0..8 {
        let label = ["low", "high"][series % 2];
        text += &format!("{series},{label},0,{}\n", series % 2 * 10 + series);
    }
    let data = folder.put("short.csv", text);
    for classifier in ["bayes", "fisher"] {
        let line = format!(
            "fit {data} -o {} --states 1 --classifier {classifier} --json",
            folder.at("m.json")
        );
        assert_eq!(json(&line)["states"], 1);
        let line = format!("evaluate {data} --model {} --json", folder.at("m.json"));
        assert_eq!(json(&line)["accuracy"], 1.0, "{classifier}");
    }
}

#[test]
fn other_features_and_varied_data_can_be_asked_for() {
    let folder = Folder::new();
    for (options, models) in [
        ("--score-model moving", 1),
        ("--score-model universal", 1),
        ("--no-likelihood --score-model all", 3),
        ("--copies 2 --gain 0.1 --mirror x,y --score-model all", 3),
        ("--no-likelihood", 4),
    ] {
        let model = folder.at("m.json");
        fit(&fixtures().at("three.csv"), &model, &format!("{options} --scaling diagonal"));
        let info = json(&format!("info {model} --json"));
        assert_eq!(info["models"], models, "{options}");
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    let one_class = folder.put("one.csv", table(&["still"]));
    let unlabelled = fixtures().at("unlabelled.csv");
    let good = fixtures().at("two.csv");
    for (data, options, expected) in [
        (&one_class, "", "one-class 1"),
        (&unlabelled, "", "unlabelled"),
        (&good, "--states 0", "bad-setting states 0"),
        (&good, "--states 65", "bad-setting 1 64"),
        (&good, "--copies 2 --gain 1000", "wild-copy 2"),
        (&good, "--copies 2 --gain 20 --window 20", "wild-copy 2 2000"),
        (&good, "--tolerance NaN", "invalid-value --tolerance"),
        (&good, "--restarts 0", "bad-setting restarts"),
        (&good, "--restarts 1000000000000", "bad-setting restarts"),
        (&good, "--copies 1000000000", "too-many-features"),
        (&good, "--copies 2 --gain 0 --mirror none", "idle-copies --copies 0"),
        (&good, "--vectors x,y", "vectors-left-over"),
        (&good, "--group nobody", "unknown-column nobody"),
        (&good, "--mirror z", "unknown-channel z"),
        (&good, "--score-model nobody", "unknown-class"),
        (&good, "--alphabet dna", "wrong-observations two.csv"),
    ] {
        let model = folder.at("refused.json");
        let line = format!("fit {data} -o {model} {options}");
        refuses(&line, expected);
        assert!(!Path::new(&model).exists(), "{options}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_work() {
    let folder = Folder::new();
    let text = table(&["still", "moving"]);
    let data = folder.put("data.csv", &text);
    let here = folder.path().display().to_string();
    for (output, expected) in [
        (format!("{here}/no/such/m.json"), "unwritable-file"),
        (here.clone(), "unwritable-file"),
        (data.clone(), "output-is-input"),
    ] {
        refuses(&format!("fit {data} -o {output}"), expected);
    }
    assert_eq!(fs::read_to_string(&data).expect("still there"), text);
}

/// Whose model it is, and of which channel, by their names.
#[test]
fn a_model_that_single_precision_does_not_hold_is_named_by_class_and_channel() {
    let folder = Folder::new();
    let (data, model) = (folder.at("small.csv"), folder.at("m.json"));
    let text: String = table(&["still", "moving"])
        .lines()
        .map(|line| match line.ends_with('y') {
            true => format!("{line}\n"),
            false => format!("{line}e-41\n"),
        })
        .collect();
    fs::write(&data, text).expect("written");
    for classifier in ["bayes", "fisher --score-model all", "gaussian"] {
        let fit = format!("fit {data} --classifier {classifier} {QUICK} --effort quick");
        let message = refused(&format!("{fit} -o {model}"));
        let place = "out-of-range moving y";
        assert!(message.is(place), "{classifier}: {message}");
    }
}

/// A channel that is the same everywhere is in nobody's way, and is named.
#[test]
fn a_constant_channel_is_fitted_and_warned_of() {
    let folder = Folder::new();
    let (data, model) = (folder.at("p.csv"), folder.at("m.json"));
    let mut text = String::new();
    for (number, line) in table(&["still", "moving"]).lines().enumerate() {
        text += &format!("{line},{}\n", if number == 0 { "pressure" } else { "1013.25" });
    }
    fs::write(&data, text).expect("written");
    let line = format!("fit {data} -o {model} --copies 2 {QUICK} --effort quick");
    let warned = notes(&line);
    assert!(warned.iter().any(|note| note.is("constant-channel pressure")), "{warned:?}");
    let whole = printed(&format!("{line} --verbose"));
    assert!(whole.contains("2 copies of each with gains off by 5 %"), "{whole}");
    let said = printed(&line);
    assert!(said.contains("pressure in "), "no word of what the floor holds in:\n{said}");
}

#[test]
fn what_single_precision_cannot_tell_apart_is_warned_of_and_no_channel_is_turned_twice() {
    let folder = Folder::new();
    let (data, model) = (folder.at("far.csv"), folder.at("m.json"));
    let mut text = String::new();
    for (number, line) in table(&["still", "moving"]).lines().enumerate() {
        let far = 1e9 + (number % 7) as f64 * 0.01;
        text +=
            &format!("{line},{}\n", if number == 0 { "far".to_owned() } else { far.to_string() });
    }
    fs::write(&data, text).expect("written");
    let line = format!("fit {data} -o {model} {QUICK} --effort quick");
    let warned = notes(&line);
    assert!(warned.iter().any(|note| note.is("coarse-channel far 64")), "{warned:?}");
    refuses(&format!("{line} --vectors far,far,far"), "channel-twice far");
}

/// Every kind, learner, scaling and weight that can be named, on strings and on channels.
#[test]
fn every_classifier_learner_and_scaling_can_be_asked_for() {
    let folder = Folder::new();
    let model = folder.at("m.json");
    for (data, options, words) in [
        ("strings.tsv", "--classifier top --learner klr --scaling whitened", "kernel logistic"),
        ("strings.tsv", "--classifier count --learner svm --scaling practical", "linear support"),
        ("strings.tsv", "--classifier fisher --learner logistic", "logistic regression"),
        ("two.csv", "--classifier count --learner kernel-svm", "kernel support vector machine"),
        ("two.csv", "--classifier count --learner kernel-ridge", "kernel ridge regression"),
        ("strings.tsv", "--classifier fisher --score-model universal", "one model of all classes"),
        ("three.csv", "--classifier top --class-weight balanced", "classes balanced"),
    ] {
        let data = fixtures().at(data);
        let line = format!("fit {data} -o {model} {options} {QUICK} --effort quick --json");
        let report = json(&line);
        let kind = options.split(' ').nth(1).expect("a kind");
        assert_eq!(report["classifier"], kind);
        assert!(report["choice"]["candidates"].is_array());
        let info = json(&format!("info {model} --json"));
        assert_eq!(info["classifier"], kind);
        assert_eq!(info["routes"][0]["name"], "compiled directions");
        assert_eq!(info["directions"], info["outputs"]);
        let notes = info["provenance"]["notes"].to_string();
        assert!(notes.contains(words), "no `{words}` in {notes}");
        let judged = format!("evaluate {data} --model {model} --json");
        let accuracy = json(&judged)["accuracy"].as_f64().expect("a number");
        assert!(accuracy > 0.6, "{options}: {accuracy}");
    }
    let data = fixtures().at("strings.tsv");
    refused(&format!("fit {data} -o {model} --learner forest"));
    let line = format!(
        "evaluate {data} --classifier fisher,top --score-model runs {QUICK} --effort quick"
    );
    refuses(&line, "needs-all-models");
}

/// Whatever is added up in parallel is added up in one order.
#[test]
fn one_thread_and_several_write_the_same_bytes() {
    let folder = Folder::new();
    for (data, options) in [
        ("three.csv", "--classifier fisher --window 20 --hop 10 --scaling whitened,sampled"),
        ("three.csv", "--classifier gaussian --window 20"),
        ("strings.tsv", "--classifier top --learner klr --restarts 3"),
        ("strings.tsv", "--classifier bayes --topology positions"),
    ] {
        let written = |threads: &str| {
            let model = folder.at(format!("{threads}.json"));
            let line = format!(
                "fit {} -o {model} {options} --states 2 --iterations 8",
                fixtures().at(data)
            );
            printed(fishweir(&line).env("RAYON_NUM_THREADS", threads));
            fs::read(&model).expect("a model")
        };
        let alone = written("1");
        for threads in ["2", "3"] {
            assert!(written(threads) == alone, "{data} {options}: {threads} threads");
        }
    }
}

/// One model of all classes: a machine of ridge regression is chosen in closed form, without inner folds, and a
/// search tries such models beside those of classes.
#[test]
fn one_model_of_all_classes_is_judged_in_closed_form() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("three.csv"), at("m.json"));
    let (one, given) =
        ("--score-model universal --learner ridge", format!("{QUICK} --vectors none"));
    let line =
        format!("fit {data} -o {model} {one} {given} --class-weight balanced --effort quick");
    let said = printed(&line);
    assert!(said.contains("one model of 2 hidden states for all of 3 classes"), "{said}");
    let fit = json(fishweir(&line).arg("--json"));
    assert_eq!(fit["choice"]["by"], "held_out");
    assert_eq!(fit["choice"]["candidates"].as_array().map(Vec::len), Some(12));
    assert_eq!(
        (&fit["form"]["models"], &fit["fits"][0]["class"]),
        (&"universal".into(), &"all".into())
    );
    let artefact = at("m.fishweir");
    printed(&format!("export {model} -o {artefact}"));
    for of in [&artefact, &model] {
        let judged = json(&format!("evaluate {data} --model {of} --json"));
        assert_eq!(judged["accuracy"], 1.0, "{of}");
    }
    // What errs nowhere is held against none; labels that say nothing leave much to lead by.
    let easy = json(&format!("fit {data} -o {model} {given} --effort normal --json"));
    let closed = |one: &Value| one["closed_form"] == true && one["models"] == "universal";
    let tried = easy["form"]["candidates"].as_array().expect("candidates");
    assert!(tried.len() >= 2 && tried.iter().all(closed), "{easy}");
    let (mut noise, mut text) = (Noise(5), "series,label,t,x,y\n".to_owned());
    for sample in 0..24 * 40 {
        let (series, t) = (sample / 40, sample % 40);
        let mut x = || noise.next().unwrap_or(0.0);
        text += &format!("{series},{},{t},{},{}\n", ["a", "b"][series % 2], x(), x());
    }
    let hard = folder.put("hard.csv", text);
    let line = format!("fit {hard} -o {model} {given} --effort normal");
    let said = printed(&format!("{line} --verbose"));
    assert!(said.contains("all classes, in closed form"), "{said}");
    let tried = json(fishweir(&line).arg("--json"))["form"]["candidates"].clone();
    let of = |closed: bool| -> Vec<String> {
        let all = tried.as_array().expect("candidates").iter();
        let some = all.filter(|one| one["closed_form"] == closed);
        some.map(|one| one["models"].to_string()).collect()
    };
    assert!(of(true).len() >= 2 && of(true).iter().all(|one| one.contains("universal")), "{tried}");
    assert!(of(false).iter().any(|one| one.contains("all")), "{tried}");
    let gram = format!("gram {data} --model {model} --score-model universal");
    refuses(&gram, "fronted-models");
    printed(&format!("fit {data} -o {model} {given} --score-model all --effort quick"));
    refuses(&gram, "no-class");
}
