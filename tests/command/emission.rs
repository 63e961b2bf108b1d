//! `--emission`: counts, binary channels, channels that go together, and mixtures, from a table to a
//! device.

use std::fmt::Write as _;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::{FAMILIES, floor, of_family};
use crate::{Messages, answers, as_json, fishweir, json, printed, refused, refuses};

#[test]
fn every_family_is_evaluated_far_above_chance() {
    let folder = Folder::new();
    for name in FAMILIES {
        let data = folder.put(format!("{name}.csv"), of_family(name));
        let line = format!(
            "evaluate {data} --emission {name} --window 20 --hop 20 --folds 3 {QUICK} --effort quick \
             --scaling diagonal {} --json",
            floor(name)
        );
        let report = json(&line);
        for classifier in ["bayes", "fisher"] {
            let accuracy = report["classifiers"][classifier]["accuracy"].as_f64();
            assert!(accuracy.expect("a number") > 0.8, "{name}, {classifier}: {accuracy:?}");
        }
    }
}

#[test]
fn what_is_no_count_is_named_by_file_line_and_column() {
    let folder = Folder::new();
    for (name, bad) in [
        ("poisson", "-1"),
        ("poisson", "2.5"),
        ("poisson", "4294967296"),
        // The nearest number of single precision is one more than a count may be.
        ("poisson", "4294967168"),
        ("bernoulli", "2"),
        ("bernoulli", "0.5"),
        ("poisson", "many"),
        ("poisson", "1e39"),
        ("bernoulli", "true"),
        ("bernoulli", "yes"),
    ] {
        let text = of_family(name);
        let line = text.lines().nth(7).expect("a row");
        let (rest, _) = line.rsplit_once(',').expect("fields");
        let data = folder.put("bad.csv", text.replace(line, &format!("{rest},{bad}")));
        for command in ["fit", "evaluate"] {
            let line = format!("{command} {data} --emission {name} {QUICK}");
            let output = folder.at("bad.json");
            let line = if command == "fit" { format!("{line} -o {output}") } else { line };
            let message = refused(&line);
            let place = format!("not-in-support {data} 8 5 y {bad}");
            assert!(message.is(&place), "{message}");
        }
    }
}

/// A model of counts wants counts of a live stream, too, and of a file it is asked about.
#[test]
fn a_model_of_counts_takes_counts_alone() {
    let folder = Folder::new();
    let data = folder.put("counts.csv", of_family("poisson"));
    let model = folder.at("counts.json");
    printed(&format!("fit {data} -o {model} --emission poisson {QUICK} --effort quick"));
    let bad = folder.put("bad.csv", "series,t,x,y\n0,0,1,2\n0,1,1.5,2\n");
    refuses(&format!("predict {bad} --model {model}"), "not-in-support 3 x 1.5");
    let mut stream = fishweir(&format!("predict --stream --model {model}"));
    let output = as_json(stream.write_stdin("x,y\n1,2\n1.5,2\n3,4\n"));
    let said = Messages::of(&output.stderr);
    assert!(said.notes.iter().any(|note| note.is("not-in-support 3 1 x 1.5")), "{said:?}");
}

#[test]
fn what_a_family_has_no_use_for_is_refused() {
    let folder = Folder::new();
    let data = folder.put("counts.csv", of_family("poisson"));
    let strings = fixtures().at("strings.tsv");
    for (line, what) in [
        (format!("evaluate {strings} --emission poisson"), "wrong-emissions poisson"),
        (
            format!("evaluate {data} --emission poisson --classifier fisher --scaling exact"),
            "not-symbols --scaling sampled",
        ),
        (format!("evaluate {data} --emission categorical"), "wrong-emissions categorical"),
        (format!("evaluate {data} --emission poisson --components 3"), "idle-option --components"),
        (format!("evaluate {data} --emission mixture --components 9"), "bad-setting components 9"),
        (
            format!("evaluate {data} --emission poisson --classifier count"),
            "wrong-emissions poisson",
        ),
        (format!("evaluate {data} --emission bernoulli --classifier cosine"), "not-in-support 0 1"),
        (
            format!("evaluate {data} --emission mixture --classifier cosine"),
            "wrong-emissions mixture",
        ),
        (
            format!("evaluate {data} --emission autoregressive --classifier cosine"),
            "wrong-emissions autoregressive",
        ),
        (format!("evaluate {data} --emission autoregressive --lags none"), "needs-lags --lags 1 2"),
        (
            format!("evaluate {data} --emission autoregressive --lags 40 --effort quick"),
            "long-lags 40 1",
        ),
        (
            format!("evaluate {data} --emission autoregressive --window 2 --hop 2"),
            "long-lags --window",
        ),
        (format!("gram {data} --emission autoregressive --kernel practical"), "no-past --emission"),
    ] {
        answers(format!("{line} {QUICK}"), what);
    }
    let model = folder.at("m.json");
    printed(&format!("fit {data} -o {model} --emission mixture {QUICK} --effort quick"));
    let artefact = folder.at("m.fishweir");
    refuses(&format!("export {model} --artefact {artefact}"), "unsupported mixture 2 components");
    let rust = folder.at("m.rs");
    refuses(
        &format!("export {model} --rust {rust} --number q15"),
        "fixed-point-emission categorical gaussian",
    );
}

/// Whatever says no to a family says of which file, and what to do.
#[test]
fn a_family_of_something_else_is_named_with_the_file() {
    let folder = Folder::new();
    let strings = fixtures().at("strings.tsv");
    let output = folder.at("m.json");
    for name in ["poisson", "bernoulli"] {
        for line in [
            format!("fit {strings} -o {output} --emission {name}"),
            format!("fit {strings} -o {output} --emission {name} --states 2"),
            format!("evaluate {strings} --emission {name}"),
            format!("detect {strings} --mean-time 100 --emission {name}"),
        ] {
            refuses(&line, format!("wrong-emissions {strings} {name} --emission"));
        }
    }
    // What a file's name is in front of for other reasons.
    let data = folder.put("counts.csv", of_family("poisson"));
    let line = format!("evaluate {data} --score-model nobody {QUICK} --effort quick");
    refuses(&line, format!("unknown-class {data} nobody"));
}

/// Channels that say the same, at the least floor there is, and below it.
#[test]
fn floors_hold_what_would_break_down() {
    let folder = Folder::new();
    let mut text = String::new();
    for line in of_family("full-gaussian").lines() {
        let (rest, _) = line.rsplit_once(',').expect("fields");
        let (_, x) = rest.rsplit_once(',').expect("fields");
        let _ = writeln!(text, "{rest},{}", if x == "x" { "y" } else { x });
    }
    let data = folder.put("same.csv", &text);
    let line = format!(
        "evaluate {data} --emission full-gaussian --classifier bayes {QUICK} --effort quick"
    );
    let report = printed(&format!("{line} --std-floor 0.01 --verbose"));
    assert!(report.contains("class models: full-gaussian emissions\n"), "{report}");
    for floor in ["1e-300", "0.0000001", "1e300"] {
        let message = refused(&format!("{line} --std-floor {floor}"));
        assert!(message.is("invalid-value --std-floor"), "{message}");
        assert!(message.is("invalid-value 0.000001 1000000 --std-floor"), "{message}");
    }
}

/// `info` says how states emit, prices no way that there is not, and says what there is no file of.
#[test]
fn a_model_and_its_artefact_say_how_states_emit() {
    let folder = Folder::new();
    for (name, options, words) in [
        ("poisson", "", "poisson"),
        ("bernoulli", "", "bernoulli"),
        ("full-gaussian", "", "full-gaussian"),
        ("mixture", "--components 3", "mixture of 3 components"),
        ("autoregressive", "", "autoregressive"),
        ("gaussian", "--score-model all", "gaussian"),
    ] {
        let data = folder.put(format!("{name}.csv"), of_family(name));
        let at = |ending: &str| folder.at(format!("{name}.{ending}"));
        let (model, artefact) = (at("json"), at("fishweir"));
        let line =
            format!("fit {data} -o {model} --emission {name} {options} {QUICK} --effort quick");
        let fitted = printed(&format!("{line} --scaling diagonal --c 1"));
        let wanted = format!("a model of 2 hidden states, {name} emissions");
        assert_eq!(fitted.contains(&wanted), name != "gaussian", "{fitted}");
        let judged = printed(&format!("evaluate {data} --model {model}"));
        assert_eq!(judged.contains("(fisher, "), name != "gaussian", "{judged}");
        let has_artefact = ["gaussian", "poisson", "bernoulli", "autoregressive"].contains(&name);
        if has_artefact {
            printed(&format!("export {model} --artefact {artefact}"));
        }
        let files = [Some(&model), Some(&artefact).filter(|_| has_artefact)];
        for file in files.into_iter().flatten() {
            let text = printed(&format!("info {file}"));
            assert!(text.contains(&format!("  emissions      {words}\n")), "{text}");
            assert_eq!(text.contains("support vectors in flash"), name == "gaussian", "{text}");
            let none = format!("binary artefact: none, {name} emissions");
            assert_eq!(text.contains(&none), !has_artefact, "{text}");
            let report = json(&format!("info {file} --json"));
            assert_eq!(report["emission"], name);
            let components = (name == "mixture").then_some(3);
            assert_eq!(report["components"].as_u64(), components, "{name}");
            let routes = report["routes"].as_array().expect("routes");
            assert_eq!(routes.len(), 1 + usize::from(name == "gaussian"), "{name}");
        }
        let report = json(&format!("evaluate {data} --model {model} --json"));
        assert_eq!(report["emission"], name);
    }
    let machine = folder.at("machine.json");
    let data = fixtures().at("two.csv");
    let line = format!(
        "fit {data} -o {machine} --classifier cosine {QUICK} --effort quick --scaling diagonal"
    );
    let fitted = json(&format!("{line} --json"));
    assert_eq!((&fitted["emission"], fitted["components"].is_null()), (&"gaussian".into(), true));
    let text = printed(&format!("info {machine}"));
    assert!(text.contains("binary artefact: none, kernel machines are exported"), "{text}");
}

/// Counts, and answers, are called so where a model of them is given something else.
#[test]
fn what_is_observed_is_called_what_it_is() {
    let folder = Folder::new();
    let strings = fixtures().at("strings.tsv");
    for name in ["poisson", "bernoulli"] {
        let data = folder.put(format!("{name}.csv"), of_family(name));
        let at = |ending: &str| folder.at(format!("{name}.{ending}"));
        let (model, gram) = (at("json"), at("gram.csv"));
        let line = format!(
            "fit {data} -o {model} --classifier bayes --emission {name} {QUICK} --effort quick"
        );
        printed(&line);
        refuses(&format!("predict {strings} --model {model}"), "wrong-observations strings.tsv");
        let line = format!("gram {data} --model {model} --kernel count -o {gram}");
        refuses(&line, "not-symbols");
    }
}

#[test]
fn help_says_which_family_is_of_what_and_which_classifiers_take_it() {
    let text = printed("fit --help");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "poisson: channels of counts",
        "bernoulli: channels of 0 and 1",
        "1 to 8 (mixture)",
        "`count` needs --emission categorical, gaussian or full-gaussian",
        "kernel machines need categorical or gaussian",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let text = printed("gram --help");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("a model without states, 1 to 64"), "{text}");
}
