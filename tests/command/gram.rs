//! `fishweir gram`.

use std::fs;
use std::path::Path;

use fishweir::classifier::Classifier;
use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures, table};
use crate::{answers, fishweir, json, printed, refused, refuses};

/// Runs `gram` on the strings with their model; its report.
fn gram(output: &str, options: &str) -> Value {
    let (data, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    json(&format!("gram {data} -m {model} -o {output} {options} --json"))
}

/// The names, labels and values in a CSV file.
pub(crate) fn csv_matrix(path: &str) -> (Vec<String>, Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_path(path).expect("a file");
    let heads = reader.headers().expect("a header").iter().skip(2).map(str::to_owned).collect();
    let (mut labels, mut rows) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.expect("a record");
        labels.push(record[1].to_owned());
        rows.push(record.iter().skip(2).map(|k| k.parse().expect("a number")).collect());
    }
    (heads, labels, rows)
}

#[test]
fn every_layout_reads_back_as_the_same_matrix() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let report = gram(&at("k.csv"), "");
    assert_eq!((&report["items"], &report["format"]), (&12.into(), &"csv".into()));
    assert_eq!(report["positive_semidefinite"], true);
    let (ids, labels, rows) = csv_matrix(&at("k.csv"));
    assert_eq!(ids[..2], ["string0", "string1"]);
    assert_eq!(labels[..2], ["runs", "turns"]);
    assert!((0..12).all(|i| (0..12).all(|j| rows[i][j] == rows[j][i])));

    gram(&at("k.npy"), "");
    let bytes = fs::read(at("k.npy")).expect("a file");
    let (header, numbers) = bytes.split_at(128);
    assert!(String::from_utf8_lossy(header).contains("'shape': (12, 12)"));
    let (numbers, _) = numbers.as_chunks::<8>();
    let values: Vec<f64> = numbers.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    assert_eq!(values, rows.concat());

    gram(&at("k.txt"), "--as libsvm");
    let text = fs::read_to_string(at("k.txt")).expect("a file");
    for (number, (line, row)) in text.lines().zip(&rows).enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[0], if number % 2 == 0 { "1" } else { "2" });
        assert_eq!(words[1], format!("0:{}", number + 1));
        let pairs = words[2..].iter().map(|word| word.split_once(':').expect("index:value"));
        let values: Vec<f64> = pairs.map(|(_, value)| value.parse().expect("a number")).collect();
        assert_eq!(&values, row);
    }
    assert_eq!(text.lines().count(), 12);
}

#[test]
fn every_kernel_says_what_it_is_and_its_eigenvalues() {
    let folder = Folder::new();
    let output = folder.at("k.csv");
    for (options, words) in [
        (
            "--kernel practical --parametrisation ratio",
            "practical Fisher, ratio scores of 2 models",
        ),
        ("--kernel invariant --draws 100", "whitened by the model's information, sampled"),
        ("--kernel invariant --information exact --length 4 --ridge 0.5", "at length 4 plus 0.5"),
        ("--kernel invariant --information empirical --ridge 0.1", "the data's information plus"),
        ("--kernel invariant --information diagonal", "the diagonal of the data's information"),
        ("--kernel gaussian --sigma 20", "Gaussian of width 20"),
        ("--kernel polynomial --power 3 --information diagonal", "polynomial kernel of degree 3"),
        ("--kernel top", "TOP, softmax scores of 2 models"),
        ("--kernel count", "marginalised counts of symbols"),
        ("--kernel count --order 2 --raw --score-model runs", "pairs of symbols, raw"),
        ("--kernel latent-mean-map --lambda inf", "latent mean map, lambda inf, of 2 models"),
        ("--kernel latent-mean-map --nu 0.5", "lambda 1, exponentiated by 0.5"),
    ] {
        let report = gram(&output, &format!("{options} --normalise"));
        let kernel = report["kernel"].as_str().expect("words");
        assert!(kernel.contains(words), "{options}: {kernel}");
        assert_eq!(report["positive_semidefinite"], true, "{options}");
        let [smallest, largest] =
            ["smallest_eigenvalue", "largest_eigenvalue"].map(|key| report[key].as_f64());
        assert!(smallest < largest, "{options}: {report}");
        // The trace of a matrix with ones on its diagonal.
        assert!(largest <= Some(12.0 + 1e-9), "{options}: {largest:?}");
        let (_, _, rows) = csv_matrix(&output);
        assert!((0..12).all(|i| rows[i][i] == 1.0), "{options}");
        let sampled = options.contains("--draws");
        assert_eq!(report["information"][0]["standard_error"].is_number(), sampled, "{options}");
    }
}

#[test]
fn windows_of_samples_take_no_model() {
    let folder = Folder::new();
    let output = folder.at("k.csv");
    for data in ["strings.tsv", "two.csv"] {
        let data = fixtures().at(data);
        let line =
            format!("gram {data} -o {output} --kernel empirical-mean-map --order 2 --lambda 0.5");
        let report = json(&format!("{line} --json"));
        let words = "empirical mean map of windows of 3, lambda 0.5";
        assert_eq!((&report["kernel"], &report["items"]), (&words.into(), &12.into()));
        assert_eq!(report["positive_semidefinite"], true);
    }
}

#[test]
fn without_a_model_they_are_fitted_and_windows_are_items() {
    let folder = Folder::new();
    let three = fixtures().at("three.csv");
    let line = format!("gram {three} --window 20 --hop 20 {QUICK} --kernel top");
    let text = printed(fishweir(&line).current_dir(&folder));
    assert!(
        text.contains("36 items") && text.contains("TOP, softmax scores of 3 models"),
        "{text}"
    );
    assert!(text.contains("positive semidefinite to rounding"), "{text}");
    let (ids, labels, _) = csv_matrix(&folder.at("three.gram.csv"));
    assert_eq!(ids[..3], ["0", "0@20", "1"]);
    assert_eq!(labels[..3], ["still", "still", "moving"]);

    let unlabelled = fixtures().at("unlabelled.csv");
    for line in [format!("gram {unlabelled} {QUICK}"), format!("gram {three} --one-model {QUICK}")]
    {
        let report = json(fishweir(&line).arg("--json").current_dir(&folder));
        assert_eq!(report["kernel"], "practical Fisher, softmax scores");
    }
}

#[test]
fn bad_options_are_named() {
    let (strings, model) = (fixtures().at("strings.tsv"), fixtures().at("strings.json"));
    let (two, numbers) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    let cases: [(String, &str); 12] = [
        (
            format!("{strings} -m {model} --information exact"),
            "idle-option --kernel practical --information",
        ),
        (
            format!("{strings} -m {model} --kernel invariant --information exact"),
            "too-many-sequences 25",
        ),
        (format!("{strings} -m {model} --score-model walks"), "unknown-class runs turns"),
        (format!("{strings} -m {model} --kernel top --score-model runs"), "wrong-classes"),
        (format!("{strings} -m {}", fixtures().at("strings.fishweir")), "needs-classifier"),
        (format!("{two} -m {numbers} --kernel count"), "not-symbols"),
        (format!("{two} -m {numbers} --kernel invariant --information exact"), "not-symbols"),
        (format!("{strings} -m {numbers}"), "wrong-observations"),
        (format!("{strings} -m {model} --kernel gaussian --sigma 0"), "invalid-value --sigma"),
        (format!("{strings} -m {model} --kernel invariant --ridge -1"), "invalid-value --ridge"),
        (
            format!("{strings} -m {model} --kernel invariant --draws 10000000000"),
            "invalid-value --draws 2 1000000",
        ),
        (
            format!("{strings} --family markov --order 6 --kernel invariant --information exact"),
            "too-many-parameters 16384",
        ),
    ];
    assert_answers(&cases);
}

/// Options of `gram` that it refuses, leaving nothing behind, or notes as without effect; and what it says of each.
#[track_caller]
pub(crate) fn assert_answers(cases: &[(String, &str)]) {
    let folder = Folder::new();
    let output = folder.at("k.csv");
    for (options, expected) in cases {
        let line = format!("gram {options} -o {output}");
        answers(&line, expected);
        let noted = std::fs::remove_file(&output).is_ok();
        assert_eq!(noted, expected.starts_with("idle-option"), "{options}");
    }
}

#[test]
fn one_class_needs_to_be_told_that_one_model_will_do() {
    let folder = Folder::new();
    let (one, output) = (folder.at("one.csv"), folder.at("k.csv"));
    fs::write(&one, table(&["still"])).expect("written");
    let line = format!("gram {one} -o {output} {QUICK}");
    refuses(&line, "one-class still --one-model");
    printed(fishweir(&line).arg("--one-model"));
}

#[test]
fn eigenvalues_of_many_items_are_computed_when_asked_for_and_too_many_items_are_not_taken() {
    let folder = Folder::new();
    let (data, output) = (folder.at("many.tsv"), folder.at("k.npy"));
    let write = |items: usize| {
        let lines = (0..items).map(|n| format!("x\ts{n}\t{}\n", ["ACGT", "AACC"][n % 2]));
        let text = "label\tid\tsequence\n".to_owned() + &lines.collect::<String>();
        fs::write(&data, text).expect("written");
    };
    write(1_001);
    let line = format!("gram {data} -o {output} --one-model {QUICK}");
    let text = printed(&line);
    assert!(text.contains("use --spectrum"), "{text}");
    assert!(Path::new(&output).exists());
    let report = json(fishweir(&line).args(["--json"]));
    assert!(report["items"] == 1_001 && report["smallest_eigenvalue"].is_null(), "{report}");
    write(30);
    let report = json(fishweir(&line).args(["--spectrum", "--json"]));
    assert_eq!(report["positive_semidefinite"], true, "{report}");
    fs::remove_file(&output).expect("was there");
    write(20_000);
    refuses(&line, "too-many-items 20000 3.2 10000");
    assert!(!Path::new(&output).exists());
}

#[test]
fn an_impossible_series_is_named_by_line_and_name() {
    let folder = Folder::new();
    let (model, output) = (folder.at("m.json"), folder.at("k.csv"));
    let mut classifier = Classifier::load(fixtures().at("strings.json").as_ref()).expect("a model");
    for hmm in &mut classifier.models {
        if let Some(probability) = hmm.emission.symbols_mut() {
            probability.fill(vec![0.5, 0.5, 0.0, 0.0]);
        }
    }
    classifier.save(model.as_ref()).expect("written");
    let data = fixtures().at("strings.tsv");
    let text = fs::read_to_string(fixtures().at("strings.tsv")).expect("data");
    let first = text.lines().position(|line| line.contains(['G', 'T'])).expect("a G or T") + 1;
    let line = format!("gram {data} -m {model} -o {output}");
    let message = refused(&line);
    let place = format!("impossible {data} {first} string{}", first - 2);
    assert!(message.is(&place), "{message}");
    assert!(!Path::new(&output).exists());
}
