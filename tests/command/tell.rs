//! What is told beside a result: choices that would else be silent.

use std::fs;
use std::io::Write as _;

use assert_cmd::Command;
use fishweir::classifier::{Classifier, Rule};
use fishweir::data::{Dataset, Kind};
use fishweir::fit::BaumWelch;
use fishweir::learn::{Augment, ClassifierKind, Request, Space};

use crate::fixtures::{Folder, QUICK, fixtures, table};
use crate::{PROGRAM, Told, failed, fishweir, notes, printed, refused, refuses};

#[test]
fn a_column_that_most_likely_groups_is_pointed_out_once() {
    let data = fixtures().at("two.csv");
    for command in ["fit -o /dev/null --classifier bayes", "evaluate --classifier bayes"] {
        let line = format!("{command} {data} {QUICK}");
        let told = notes(&line);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].is("ungrouped-column subject --group"), "{told:?}");
        let told = notes(&format!("{line} --group subject"));
        assert!(!told.iter().any(|note| note.names("--group")), "{told:?}");
    }
}

#[test]
fn windows_that_are_none_samples_in_none_and_gaps_are_told_by_all() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let gap = table(&["still", "moving"]).replace("0,ann,still,7,", "0,ann,still,7.9,");
    fs::write(at("gap.csv"), gap.replace("subject", "who")).expect("written");
    let (data, model) = (at("gap.csv"), fixtures().at("two.json"));
    let short = "short-series 41";
    let gap = "gaps 6 7.9 0 1";
    let uncovered = "left-over 120";
    for command in [
        format!("fit {data} -o /dev/null --classifier bayes {QUICK} --effort quick"),
        format!("evaluate {data} --classifier bayes {QUICK} --effort quick"),
        format!("evaluate {data} --model {model}"),
        format!("predict {data} --model {model}"),
        format!("gram {data} --model {model} -o /dev/null"),
    ] {
        for (window, expected) in [("41", short), ("30", uncovered)] {
            let told = notes(&format!("{command} --window {window}"));
            for expected in [gap, expected] {
                let count = told.iter().filter(|note| note.is(expected)).count();
                assert_eq!(count, 1, "{command}: {expected}: {told:?}");
            }
        }
    }
}

/// Wherever behind `t` it stands, and only where nobody named it a channel.
#[test]
fn a_channel_that_most_likely_groups_is_pointed_out() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for (name, columns) in [("next.csv", ["Subject", "x"]), ("last.csv", ["x", "Subject"])] {
        let mut text = format!("series,label,t,{}\n", columns.join(","));
        for line in table(&["still", "moving"]).lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let [series, subject, label, t, x, _] = fields[..] else { panic!("{line}") };
            let number = if subject == "ann" { "1" } else { "2" };
            let (a, b) = if columns[1] == "x" { (number, x) } else { (x, number) };
            text += &format!("{series},{label},{t},{a},{b}\n");
        }
        fs::write(at(name), text).expect("written");
        let (data, model) = (at(name), at("m.json"));
        for line in [
            format!("fit {data} -o {model} --classifier bayes {QUICK} --effort quick"),
            format!("evaluate {data} --classifier bayes {QUICK} --effort quick"),
            format!("gram {data} -o /dev/null {QUICK}"),
        ] {
            let told = notes(&line);
            let said = told.iter().filter(|note| note.is("maybe-group Subject t"));
            assert_eq!(said.count(), 1, "{line}: {told:?}");
        }
        let told = notes(&format!("predict {data} --model {model}"));
        assert!(!told.iter().any(|note| note.kind == "maybe-group"), "{told:?}");
    }
}

/// A window, or a series of a stream, without a single observed sample is decided on all the same.
#[test]
fn what_is_decided_without_an_observed_sample_is_told() {
    let folder = Folder::new();
    let missing = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let t: usize = fields[3].parse().unwrap_or(99);
        match fields[0] == "3" && t < 20 {
            true => format!("{},NA,NA\n", fields[..4].join(",")),
            false => format!("{line}\n"),
        }
    };
    let text = table(&["still", "moving"]);
    let data = folder.put("gap.csv", text.lines().map(missing).collect::<String>());
    let model = fixtures().at("two.json");
    let blind = "unobserved 1";
    for line in [
        format!("predict {data} --model {model} --window 20"),
        format!("evaluate {data} --model {model} --window 20"),
        format!("evaluate {data} --classifier bayes --window 20 {QUICK} --effort quick"),
    ] {
        for (line, count) in [(line.replace(" --window 20", ""), 0), (line, 1)] {
            if line.contains("bayes") || count == 1 {
                let told = notes(&line);
                let found = told.iter().filter(|note| note.is(blind)).count();
                assert_eq!(found, count, "{line}: {told:?}");
            }
        }
    }
    let line = format!("predict --stream --endless --model {model}");
    let told = notes(fishweir(&line).write_stdin("series,x,y\na,NA,1\nb,0,0\nb,,\nc,NA,NA\n"));
    let [channel, note] = &told[..] else { panic!("two notes, not {told:?}") };
    assert!(channel.is("unobserved-channel x 1") && note.is("unobserved 2"), "{channel} {note}");
    assert!(notes(fishweir(&line).write_stdin("0.5,1\nNA,NA\n")).is_empty());
}

#[test]
fn pages_say_what_a_user_would_not_expect() {
    let help = |command: &str| {
        let text = printed(&format!("{command} --help"));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (command, part) in [
        ("predict", "A kernel machine refuses a sample that is impossible under one of its models"),
        ("predict", "its class follows from the classifier's priors or biases alone"),
        ("fit", "rotated and mirrored about zero. Subtract the offset of a channel first"),
        ("fit", "Standard deviation in degrees of the rotation of a copy's vectors"),
    ] {
        let text = help(command);
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

#[test]
fn fewer_series_or_groups_than_five_are_a_fold_each() {
    let line = format!(
        "evaluate {} --classifier bayes {QUICK} --effort quick --group subject",
        fixtures().at("two.csv")
    );
    let told = notes(&line);
    assert!(told.iter().any(|note| note.is("few-folds 3 subject")), "{told:?}");
    refuses(&format!("{line} --folds 4"), "too-few-groups 4");
}

/// Samples that the models refuse are counted in one way, wherever they are judged.
#[test]
fn refused_samples_are_counted_and_the_first_is_named() {
    let folder = Folder::new();
    let text = table(&["still", "moving"]);
    let wild = |row: &str| format!("{},3e38,3e38", row.rsplitn(3, ',').nth(2).expect("a row"));
    let rows = text.lines().enumerate();
    let rows: Vec<String> = rows
        .map(|(line, row)| if [45, 46, 90].contains(&line) { wild(row) } else { row.to_owned() })
        .collect();
    let data = folder.put("wild.csv", rows.join("\n"));
    let (data, model) = (data, fixtures().at("bayes.json"));
    let text = fs::read_to_string(&data).expect("there").replace("moving", "turning");
    fs::write(&data, text).expect("written");
    let scored = failed(&format!("predict {data} --model {model}"), 1);
    assert!(scored.is("refused-samples 3 4 1 wild.csv 42"), "{scored}");
    let judged = failed(&format!("evaluate {data} --model {model}"), 1);
    assert_eq!((scored.kind, scored.message), (judged.kind, judged.message));
}

#[test]
fn a_model_whose_decisions_are_no_numbers_is_an_error() {
    let mut classifier = Classifier::load(fixtures().at("two.json").as_ref()).expect("a model");
    let Rule::Linear(outputs) = &mut classifier.rule else { panic!("linear") };
    for output in outputs {
        for direction in &mut output.directions {
            for (index, rate) in direction.transition.iter_mut().flatten().enumerate() {
                *rate = if index % 2 == 0 { 3e38 } else { -3e38 };
            }
        }
    }
    let folder = Folder::new();
    let path = folder.at("huge.json");
    classifier.save(path.as_ref()).expect("saved");
    let data = fixtures().at("two.csv");
    refuses(&format!("predict {data} --model {path}"), "not-finite");
}

#[test]
fn help_says_the_librarys_own_defaults() {
    let text = printed("fit --help");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (fit, vary) = (BaumWelch::default(), Augment::default());
    let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let train = Request::minimal(ClassifierKind::Fisher);
    let series = (0..9).map(|t| [f64::from(t)]).collect();
    let data = Dataset::labelled(Kind::Channels(vec!["x".to_owned()]), [("a", series)]);
    let data = data.expect("a series");
    let space = Space::of(&data, &[0], &train).expect("forms");
    let floors: Vec<f64> = space.forms().iter().filter_map(|form| form.std_floor).collect();
    let (floors, c) = (list(&floors), list(&train.costs()));
    for (option, default) in [
        ("--states <N>", fit.states.to_string()),
        ("--restarts <R>", fit.restarts.to_string()),
        ("--seed <S>", fit.seed.to_string()),
        ("--iterations <PASSES>", fit.iterations.to_string()),
        ("--tolerance <NATS>", fit.tolerance.to_string()),
        ("--std-floor <LIST>", floors),
        ("--rotation <DEGREES>", vary.rotation_degrees.to_string()),
        ("--gain <FRACTION>", vary.gain.to_string()),
        ("--c <LIST>", c),
    ] {
        let (_, after) = text.split_once(option).unwrap_or_else(|| panic!("no {option}:\n{text}"));
        let said = after.split(" --").next().unwrap_or_default();
        assert!(said.contains(&format!("[default: {default}")), "{option} {default}: {said}");
    }
}

#[test]
fn a_training_window_that_no_model_takes_is_named() {
    let folder = Folder::new();
    let wild = table(&["still", "moving"]).replace("0,ann,still,25,", "0,ann,still,25,3e38,");
    let row = wild.lines().find(|row| row.contains(",3e38,")).expect("a row");
    let mended = row.rsplit_once(',').expect("a column too many").0;
    let data = folder.put("wild.csv", wild.replace(row, mended));
    let line = format!(
        "fit {data} -o /dev/null --score-model all --window 20 --copies 0 --mirror none {QUICK} --effort quick"
    );
    let message = refused(&line);
    let place = "impossible-window wild.csv 26 0 2";
    assert!(message.is(place), "{message}");
}

/// Under a limit of memory, where an allocation that fails would end the process.
#[cfg(target_os = "linux")]
#[test]
fn what_memory_has_no_room_for_is_refused_before_the_work() {
    let folder = Folder::new();
    let data = folder.at("long.tsv.gz");
    let reading = "too-large long.tsv.gz 101";
    let room = "no-memory 3 long 4 320";
    let two = "no-memory 3 long 2 160";
    let model = fixtures().at("strings.json");
    for (symbols, limit, expected, commands) in [
        (20_000_000, 120_000, reading, vec!["fit -o /dev/null".to_owned()]),
        (
            5_000_000,
            250_000,
            room,
            vec![
                "fit -o /dev/null".to_owned(),
                // Models are fitted to whole series.
                "fit -o /dev/null --window 1000".to_owned(),
                "evaluate".to_owned(),
                "gram -o /dev/null --one-model".to_owned(),
                "gram -o /dev/null".to_owned(),
            ],
        ),
        (5_000_000, 180_000, two, vec![format!("gram -o /dev/null --model {model}")]),
    ] {
        let file = fs::File::create(&data).expect("made");
        let mut file = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        let long = "ACGT".repeat(symbols / 4);
        let text = format!("label\tid\tsequence\nb\tshort\tACGT\na\tlong\t{long}\n");
        file.write_all(text.as_bytes()).expect("written");
        file.finish().expect("written");
        for command in commands {
            let program = format!("ulimit -v {limit}; exec {PROGRAM} {command} {data} \"$@\"");
            refuses(Command::new("sh").args(["-c", &program, "sh"]), expected);
        }
    }
}

#[test]
fn samples_that_a_front_end_refuses_are_told_before_the_training() {
    let folder = Folder::new();
    let mut text = "series,label,t,sound\n".to_owned();
    for series in 0..6 {
        for t in 0..200 {
            let wave = (f64::from(t * (1 + series % 2)) * 0.3).sin() + f64::from(t * series % 7);
            // Past what the energy of a frame may be.
            let x = if (series, t) == (1, 3) { 3e12 } else { wave };
            text += &format!("{series},{},{t},{x}\n", ["low", "high"][series as usize % 2]);
        }
    }
    let data = folder.put("bad.csv", text);
    let front = "--front bands=128/64/8@8000 --lags none";
    let told = notes(&format!("fit {data} -o {} {front} {QUICK}", folder.at("m.json")));
    let wanted = "refused-samples --front 1 3";
    assert!(told.iter().any(|note| note.is(wanted)), "{told:?}");
}

#[test]
fn classes_of_few_series_or_of_other_units_are_told_before_the_training() {
    let folder = Folder::new();
    // Of `still` three series of two subjects, or two; of `moving` six of three.
    let kept = |still: &[&str]| {
        let all = table(&["still", "moving"]);
        let keeps = |line: &&str| {
            !line.contains("still") || still.contains(&&line[..line.find(',').unwrap_or(0)])
        };
        all.lines().filter(keeps).map(|line| format!("{line}\n")).collect::<String>()
    };
    let millivolts = |text: String| {
        let scaled = |line: &str| match line.split(',').collect::<Vec<_>>()[..] {
            [series, who, "moving", t, x, y] => format!("{series},{who},moving,{t},{x}e4,{y}\n"),
            _ => format!("{line}\n"),
        };
        text.lines().map(scaled).collect::<String>()
    };
    fn of_kind<'a>(told: &'a [Told], kind: &str) -> Vec<&'a Told> {
        told.iter().filter(|note| note.kind == kind).collect()
    }
    fn few(told: &[Told]) -> Vec<&Told> {
        of_kind(told, "few-series")
    }
    fn units(told: &[Told]) -> Vec<&Told> {
        of_kind(told, "disparate-channel")
    }
    let quick = format!("--classifier bayes --std-floor 0.1 {QUICK} --effort quick");
    let commands = ["fit -o /dev/null", "evaluate --folds 2"];
    let three = folder.put("three.csv", kept(&["0", "2", "4"]));
    let two = folder.put("two.csv", millivolts(kept(&["0", "4"])));
    for command in commands {
        let told = notes(&format!("{command} {three} {quick}"));
        assert!(few(&told).is_empty() && units(&told).is_empty(), "{told:?}");
        let told = notes(&format!("{command} {three} {quick} --group subject"));
        let [note] = &few(&told)[..] else { panic!("one note, not {told:?}") };
        assert!(note.is("few-series still 2 subject"), "{note}");
        let told = notes(&format!("{command} {two} {quick}"));
        let [note] = &few(&told)[..] else { panic!("one note, not {told:?}") };
        assert!(note.is("few-series still 2"), "{note}");
        let [note] = &units(&told)[..] else { panic!("one note, not {told:?}") };
        assert!(note.is("disparate-channel x moving still"), "{note}");
    }
}

#[test]
fn strings_that_are_too_long_for_positions_are_told() {
    let folder = Folder::new();
    let strings = |length: usize| {
        let line =
            |n: usize| format!("{}\t{n}\t{}\n", ["a", "b"][n % 2], "ACGT".repeat(length / 4));
        format!("label\tid\tsequence\n{}", (0..8).map(line).collect::<String>())
    };
    let told = |length: usize, options: &str| {
        let data = folder.put("strings.tsv", strings(length));
        let told = notes(&format!("fit {data} -o /dev/null --classifier bayes {options}"));
        told.into_iter().filter(|note| note.kind == "long-strings").collect::<Vec<_>>()
    };
    let [note] = &told(68, "")[..] else { panic!("one note") };
    assert!(note.is("long-strings 68 64"), "{note}");
    for (length, options) in [(64, ""), (68, "--topology ergodic"), (68, "--states 2")] {
        assert!(told(length, options).is_empty());
    }
}
