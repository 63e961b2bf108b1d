//! Recipes: options of a command from a file, and kept in a model; and the options of every command.

use std::fs;
use std::path::Path;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::marked;
use crate::{fishweir, json, notes, printed, refuses};

/// A model says by which options it came about, and these make the same again.
#[test]
fn a_model_keeps_its_recipe_and_the_recipe_makes_the_same_model() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let data = fixtures().at("two.csv");
    let options = format!("{QUICK} --effort quick --window 10 --hop 5 --c 1,0.5 --no-likelihood");
    printed(&format!(
        "fit {data} -o {} {options} --classifier fisher --group subject",
        at("a.json")
    ));
    let recipe = printed(&format!("info {} --recipe", at("a.json")));
    for line in ["c = [1, 0.5]", "effort = \"quick\"", "no-likelihood = true", "window = 10"] {
        assert!(recipe.lines().any(|found| found == line), "no {line} in:\n{recipe}");
    }
    folder.put("recipe.toml", &recipe);
    printed(&format!("fit {data} -o {} --config {}", at("b.json"), at("recipe.toml")));
    assert_eq!(folder.text("a.json"), folder.text("b.json"));
    let again = printed(&format!("info --model {} --recipe", at("b.json")));
    assert!(again.lines().skip(1).eq(recipe.lines().skip(1)), "{again}");
    // The command line wins, also by an option that excludes one of the recipe.
    let narrow = format!("fit {data} --config {} -o {} --json", at("recipe.toml"), at("c.json"));
    let windows = |line: &str| json(line)["windows"].as_u64().expect("a count");
    assert!(windows(&format!("{narrow} --window 20")) < windows(&narrow));
    let noted = notes(&format!("{narrow} --family hmm"));
    assert!(!noted.is_empty() && noted.iter().all(|note| note.kind == "idle-option"), "{noted:?}");
    // What says nothing of options keeps no recipe.
    refuses(&format!("info {} --recipe", fixtures().at("two.fishweir")), "no-recipe two.fishweir");
}

#[test]
fn a_recipe_is_printed_whole_and_read_back() {
    let folder = Folder::new();
    let data = fixtures().at("two.csv");
    let line = format!("evaluate {data} --classifier bayes --folds 3 {QUICK} --effort quick");
    let recipe = printed(&format!("{line} --print-config"));
    let mut given: Vec<&str> = recipe.lines().filter(|line| !line.starts_with('#')).collect();
    given.sort_unstable();
    let expected = [
        "",
        "classifier = \"bayes\"",
        "effort = \"quick\"",
        "folds = 3",
        "iterations = 8",
        "restarts = 1",
        "states = 2",
    ];
    assert_eq!(given, expected);
    for line in ["# group = COLUMN", "# no-likelihood = true"] {
        assert!(recipe.contains(line), "{recipe}");
    }
    let file = folder.put("recipe.toml", &recipe);
    let again = format!("evaluate {data} --config {file}");
    assert_eq!(printed(&format!("{again} --print-config")), recipe);
    assert_eq!(printed(&again), printed(&line));
    // What a command needs may come from there.
    let file = folder.put("needs.toml", "mean-time = 4\nmemory = 2\nstates = 2\n");
    printed(&format!("detect {} --config {file}", fixtures().at("strings.tsv")));
}

#[test]
fn what_is_wrong_in_a_recipe_is_named_with_its_line() {
    let folder = Folder::new();
    let data = fixtures().at("two.csv");
    for (text, expected) in [
        ("# a\nwindo = 200\n", "unknown-option r.toml 2 windo window"),
        ("quiet = true\n", "unknown-option r.toml 1 quiet"),
        ("states = 2\nwindow = 0\n", "invalid-value r.toml 2 --window 0"),
        ("window = \"ten\"\n", "invalid-value r.toml 1 --window ten"),
        ("classifier = \"forest\"\n", "invalid-value r.toml 1 --classifier bayes"),
        ("window = true\n", "bad-syntax r.toml 1 window 200"),
        ("no-likelihood = 1\n", "bad-syntax r.toml 1 no-likelihood true false"),
        ("[window]\nlength = 3\n", "bad-syntax r.toml 1 window"),
        ("\nwindow 200\n", "bad-syntax r.toml 2"),
        ("window = 20\nwindow = 30\n", "bad-syntax r.toml 2"),
        ("hop = 3\n", "missing-required-argument --window"),
    ] {
        let file = folder.put("r.toml", text);
        refuses(&format!("fit {data} -o /dev/null --config {file}"), expected);
    }
    let missing = folder.at("none.toml");
    refuses(&format!("fit {data} --config {missing}"), "unreadable-file none.toml");
}

#[test]
fn notes_are_left_out_and_messages_are_coloured_on_demand() {
    let data = fixtures().at("two.csv");
    let line = format!("fit {data} -o /dev/null {QUICK} --effort quick --c 1 --classifier bayes");
    assert!(!notes(&line).is_empty());
    assert!(notes(&format!("{line} --quiet --threads 1")).is_empty());
    let said = |color: &str| {
        let output = fishweir(&format!("{line} --color {color}")).output().expect("started");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    assert!(said("always").contains('\u{1b}'));
    assert!(!said("never").contains('\u{1b}') && said("auto") == said("never"));
    refuses(&format!("{line} --threads 0"), "invalid-value 0 --threads");
}

#[test]
fn help_is_what_a_command_line_without_a_command_gets() {
    let folder = Folder::new();
    let output = fishweir("").current_dir(&folder).output().expect("started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned()
        + &String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("predict") && said.contains("Examples:"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn shells_manuals_and_caches() {
    let folder = Folder::new();
    for shell in ["bash", "fish", "zsh"] {
        assert!(
            printed(&format!("completions {shell}")).contains("fishweir completions"),
            "{shell}"
        );
    }
    assert_eq!(printed("completions bash --words fit --eff"), "--effort\n");
    printed(&format!("man {}", folder.at("man1")));
    let page = folder.text("man1/fishweir-network-fit.1");
    assert!(page.starts_with(".TH FISHWEIR-NETWORK-FIT 1") && page.contains("\\-\\-classifier"));
    let caches = folder.at("caches");
    let clean = |options: &str| {
        printed(
            fishweir(&format!("clean {options}"))
                .env("XDG_CACHE_HOME", &caches)
                .env("HOME", folder.path()),
        )
    };
    assert!(clean("").contains("nothing"));
    fs::create_dir_all(Path::new(&caches).join("fishweir/0.1.0")).expect("made");
    folder.put("caches/fishweir/0.1.0/a", "a");
    folder.put("caches/other", "mine");
    clean("--dry-run");
    assert!(Path::new(&caches).join("fishweir/0.1.0/a").exists());
    clean("");
    assert!(!Path::new(&caches).join("fishweir").exists());
    assert_eq!(folder.text("caches/other"), "mine");
}

/// Further data are read as those of the training were, without saying it again; a file of another form as it is.
#[test]
fn further_data_are_read_as_the_training_data_were() {
    let folder = Folder::new();
    let (plain, model) = (fixtures().at("two.csv"), folder.at("m.json"));
    let text = fixtures().text("two.csv");
    let header = text.lines().next().expect("a header");
    assert!(header.starts_with("series,subject,label,t,"), "{header}");
    // Columns that no reader would know, and commas that could be a thousand's; and without labels.
    let other = |labelled: bool| {
        let line = |line: &str| {
            let mut fields: Vec<String> =
                line.split(',').map(|one| one.replace('.', ",")).collect();
            let known = ["take", "subject", "kind", "stamp"];
            if fields[0] == "series" {
                fields.iter_mut().zip(known).for_each(|(field, known)| *field = known.into());
            }
            if !labelled {
                fields.remove(2);
            }
            fields.join(";") + "\n"
        };
        text.lines().map(line).collect::<String>()
    };
    let labelled = folder.put("labelled.csv", other(true));
    let unlabelled = folder.put("unlabelled.csv", other(false));
    let options = "--label kind --series take --time stamp --decimal ,";
    printed(&format!("fit {labelled} -o {model} {QUICK} --effort quick {options} --group subject"));
    let rows = |line: &str| json(line)["decisions"].clone();
    let said = rows(&format!("predict {labelled} --model {model} --json {options}"));
    let predict = |data: &str| format!("predict {data} --model {model} --json");
    for data in [&labelled, &unlabelled, &plain] {
        assert_eq!(rows(&predict(data)), said, "{data}");
    }
    let told = |data: &str, kind: &str| notes(&predict(data)).iter().any(|note| note.kind == kind);
    assert!(told(&labelled, "as-trained") && told(&unlabelled, "as-trained"));
    assert!(told(&plain, "not-as-trained") && !told(&plain, "as-trained"));
    // What is wrong in a file of the training's form is named, not what another reading of it stumbles over.
    let bad = other(true).replacen(";0,", ";oops,", 1);
    let mut fields =
        bad.lines().zip(1..).flat_map(|(line, at)| line.split(';').map(move |one| (at, one)));
    let (line, field) = fields.find(|(_, field)| field.contains("oops")).expect("a field");
    let named = format!("not-a-number bad.csv {line} {field}");
    let bad = folder.put("bad.csv", &bad);
    refuses(&format!("predict {bad} --model {model}"), named);
    let accuracy =
        |data: &str| json(&format!("evaluate {data} --model {model} --json"))["accuracy"].clone();
    assert_eq!(accuracy(&labelled), accuracy(&plain));
}

/// A detector and a spotter read on as they were trained, too.
#[test]
fn detectors_and_spotters_are_read_for_as_they_were_trained() {
    let folder = Folder::new();
    // A column of times that no reader would know, and commas in numbers.
    let own = |text: String| {
        let rows = text.replacen(",t,", ",stamp,", 1).replace(',', ";").replace('.', ",");
        rows.replacen("series", "take", 1)
    };
    let data = folder.put("marked.csv", own(marked(1)));
    let (spotter, detector) = (folder.at("spotter.json"), folder.at("detector.json"));
    let options = "--time stamp --decimal , --label none";
    printed(&format!("spot {data} --marks mark --states 2 -o {spotter} {options}"));
    let line = format!("spot {data} --marks mark --model {spotter} --json");
    assert_eq!(json(&line)["figures"], json(&format!("{line} {options}"))["figures"]);
    assert!(notes(&line).iter().any(|note| note.kind == "as-trained"));
    let normal: String = own(marked(3))
        .lines()
        .map(|line| {
            let (kept, _) = line.rsplit_once(';').expect("a column of marks");
            kept.to_owned() + "\n"
        })
        .collect();
    let normal = folder.put("normal.csv", normal);
    printed(&format!(
        "detect {normal} --mean-time 30 --memory 10 --states 2 -o {detector} --time stamp --decimal ,"
    ));
    let line = format!("detect {normal} --model {detector} --json");
    assert!(notes(&line).iter().any(|note| note.kind == "as-trained"));
    assert_eq!(json(&line), json(&format!("{line} --time stamp --decimal ,")));
}
