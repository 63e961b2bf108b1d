//! Damaged models, given to every command that reads one.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::{SPRINKLER, of_family};
use crate::{Told, printed, refused, refuses};

/// Every command that reads a model refuses this one, names it, and leaves nothing behind.
fn all_refuse(model: &str, expected: &str) {
    let folder = Folder::new();
    let written = folder.at("x.rs");
    let data = fixtures().at("two.csv");
    for line in [
        format!("info {model}"),
        format!("export {model} -o {written}"),
        format!("evaluate {data} --model {model}"),
        format!("predict {data} --model {model}"),
        format!("predict --stream --model {model}"),
        format!("run {data} --model {model}"),
        format!("new {} --board mps2-an386 --model {model}", folder.at("project")),
    ] {
        // `info` knows every file that the program writes.
        if line.starts_with("info ") && expected.contains("network info") {
            assert!(printed(&line).contains("node"), "{line}");
            continue;
        }
        let message = refused(&line);
        assert!(message.names(model), "{line}: {message}");
        assert!(message.is(expected), "{line}: {message}");
    }
    assert!(!Path::new(&written).exists());
}

#[test]
fn a_missing_model_is_named() {
    all_refuse("/no/such/model.json", "unreadable-file");
}

#[test]
fn what_is_no_model_is_refused() {
    let folder = Folder::new();
    let file = folder.at("m.json");
    for (bytes, expected) in [
        (&b""[..], "empty-file"),
        (b" \n\n", "empty-file"),
        (b"{}", "not-a-model"),
        (b"{\"fishweir_model\":2}", "not-a-model"),
        (b"\xFF\xFE\x00", "not-a-model"),
        (b"FISHWEIR", "truncated"),
    ] {
        fs::write(&file, bytes).expect("written");
        all_refuse(&file, expected);
    }
}

/// What the file is, and the command that takes it.
#[test]
fn what_is_something_else_is_named() {
    let folder = Folder::new();
    all_refuse(&folder.at(""), "is-folder");
    let of_fixture = |name: &str| fixtures().at(name);
    for (file, expected) in [
        (of_fixture("two.csv"), "is-data series fit two.csv"),
        (of_fixture("strings.tsv"), "is-data strings fit strings.tsv"),
        (of_fixture("strings.fasta"), "is-data FASTA fit strings.fasta"),
    ] {
        all_refuse(&file, expected);
    }
    let packed = {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&fs::read(of_fixture("two.csv")).expect("there")).expect("memory");
        packed.finish().expect("memory")
    };
    all_refuse(&folder.put("two.csv.gz", packed), "is-data series fit two.csv.gz");
    let (source, network) = (folder.at("model.rs"), folder.at("garden.json"));
    printed(&format!("export {} --rust {source}", of_fixture("two.json")));
    all_refuse(&source, "is-source Rust");
    let header = "/* A classifier. */\n#ifndef MODEL_H\n#define MODEL_H\nvoid fishweir_push(void);\n#endif\n";
    all_refuse(&folder.put("model.h", header), "is-source C");
    let records = folder.put("records.csv", "rain,grass\nno,dry\nyes,wet\nno,wet\n");
    all_refuse(&records, "is-data network fit records.csv");
    printed(&format!("network fit {records} -o {network}"));
    all_refuse(&network, "wrong-model network info garden.json");
    let commented = "// Rain.\n".to_owned() + SPRINKLER;
    for text in [SPRINKLER, &commented] {
        all_refuse(&folder.put("garden.bif", text), "wrong-model network info garden.bif");
    }
    let alignment = "# STOCKHOLM 1.0\na ACGT\nb ACGA\n//\n";
    all_refuse(&folder.put("family.sto", alignment), "is-data profile fit family.sto");
    // And a model where data belong.
    for model in ["two.json", "two.fishweir"] {
        let model = of_fixture(model);
        for command in ["fit -o /dev/null", "evaluate", "gram -o /dev/null"] {
            assert!(refused(&format!("{command} {model}")).is("is-model"), "{command}");
        }
        refuses(&format!("predict {model} --model {model}"), format!("is-model {model}"));
    }
    let report = printed(&format!("info {} --json", of_fixture("two.json")));
    all_refuse(&folder.put("report.json", report), "not-a-model");
    all_refuse(&folder.put("notes.txt", "to do\n"), "not-a-model");
}

#[test]
fn a_model_of_another_version_says_so() {
    let text = fs::read_to_string(fixtures().at("two.json")).expect("a model");
    let folder = Folder::new();
    let file = folder.put("m.json", text.replace("\"fishweir_model\":2", "\"fishweir_model\":7"));
    all_refuse(&file, "unknown-version 7");
}

#[test]
fn every_truncation_is_noticed() {
    let folder = Folder::new();
    for name in ["two.json", "strings.json", "two.fishweir", "strings.fishweir"] {
        let bytes = fs::read(fixtures().at(name)).expect("a model");
        let file = folder.at(name);
        for part in 0..12 {
            // Up to the last byte but one: a line end ends JSON, and nothing else.
            let length = (bytes.len() - 2) * part / 11;
            fs::write(&file, &bytes[..length]).expect("written");
            let told = refused(&format!("info {file}"));
            assert!(told.names(name), "{told}");
        }
        fs::write(&file, &bytes[..bytes.len() / 2]).expect("written");
        all_refuse(&file, "truncated");
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = Folder::new();
    for name in ["three.json", "three.fishweir"] {
        let good = fs::read(fixtures().at(name)).expect("a model");
        let file = folder.at(name);
        // A bit of each of so many bytes, the first and the last among them.
        let places = 60;
        for place in 0..places {
            let mut bytes = good.clone();
            bytes[(good.len() - 1) * place / (places - 1)] ^= 1 << (place % 8);
            fs::write(&file, &bytes).expect("written");
            let told = refused(&format!("info {file}"));
            assert!(told.names(name), "{told}");
        }
        // Another digit in place of one leaves the file's form as it is.
        let middle = (good.len() / 2..good.len()).find(|&at| good[at].is_ascii_digit());
        let mut bytes = good.clone();
        bytes[middle.expect("a number")] ^= 1;
        fs::write(&file, &bytes).expect("written");
        all_refuse(&file, "checksum");
    }
}

/// A file around the text of a classifier, with its checksum.
fn sealed(classifier: &str) -> String {
    let crc32 = crc32fast::hash(classifier.as_bytes());
    format!("{{\"fishweir_model\":2,\n \"crc32\":{crc32}, \"classifier\":{classifier}}}\n")
}

/// The classifier that a fit writes.
fn fitted(data: &str, options: &str) -> Value {
    let folder = Folder::new();
    let model = folder.at("m.json");
    printed(&format!("fit {data} -o {model} {options} {QUICK} --effort quick"));
    let text = fs::read_to_string(model).expect("written");
    serde_json::from_str::<Value>(&text).expect("JSON")["classifier"].take()
}

/// What `info` says of a classifier that it must refuse.
#[track_caller]
fn refusal(classifier: &str) -> Told {
    let folder = Folder::new();
    let file = folder.put("bad.json", sealed(classifier));
    let told = refused(&format!("info {file}"));
    assert!(told.message.starts_with(&file), "the file first: {told}");
    told
}

/// A device has one type of emissions for all models of a file.
#[test]
fn models_of_different_emissions_are_refused_by_number() {
    let folder = Folder::new();
    let data = folder.put("counts.csv", of_family("poisson"));
    let of = |emission: &str| fitted(&data, &format!("--classifier bayes --emission {emission}"));
    let [gaussian, poisson, two, three] =
        ["gaussian", "poisson", "mixture", "mixture --components 3"].map(of);
    for (first, second, what) in [
        (&gaussian, &poisson, "inconsistent-model 1 poisson 0 gaussian"),
        (&poisson, &gaussian, "inconsistent-model 1 gaussian 0 poisson"),
        (&two, &three, "inconsistent-model 1 mixture 3 0 2"),
    ] {
        let mut mixed = first.clone();
        mixed["models"][1] = second["models"][1].clone();
        let message = refusal(&mixed.to_string());
        assert!(message.is(what), "{message}");
    }
    let options = "--classifier cosine --scaling diagonal --c 1";
    let machine = fitted(&fixtures().at("two.csv"), options);
    let full = json!({ "full-gaussian": {
        "mean": [[0.0, 0.0], [0.0, 0.0]],
        "covariance": [[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]],
    }});
    let mut bad = machine;
    for model in [0, 1] {
        bad["models"][model]["emission"] = full.clone();
    }
    let message = refusal(&bad.to_string());
    let what = "wrong-emissions 0 full-gaussian";
    assert!(message.is(what), "{message}");
}

/// Of the rows of a block the one of another length is named, be it the first.
#[test]
fn a_row_of_another_length_is_the_one_that_is_named() {
    let folder = Folder::new();
    let data = folder.put("counts.csv", of_family("poisson"));
    let of = |emission: &str| fitted(&data, &format!("--classifier bayes --emission {emission}"));
    let (poisson, mixture) = (of("poisson"), of("mixture"));
    let edited = |from: &Value, block: &str, state: usize, row: Value| {
        let mut bad = from.clone();
        let emission = bad["models"][0]["emission"].as_object_mut().expect("an object");
        let parts = emission.values_mut().next().expect("a family");
        parts[block][state] = row;
        refusal(&bad.to_string())
    };
    for (from, block, state, row, found, wanted) in [
        (&poisson, "rate", 0, json!([1.0]), 1, 2),
        (&poisson, "rate", 1, json!([1.0]), 1, 2),
        (&poisson, "rate", 0, json!([]), 0, 2),
        (&mixture, "weight", 0, json!([1.0]), 1, 2),
        (&mixture, "weight", 1, json!([0.5, 0.25, 0.25]), 3, 2),
        (&mixture, "mean", 0, json!([1.0, 2.0, 3.0]), 3, 4),
        (&mixture, "std", 0, json!([]), 0, 4),
    ] {
        let message = edited(from, block, state, row);
        let what = format!("inconsistent-model 0 {block}[{state}] {found} {wanted}");
        assert!(message.is(&what), "{message}");
    }
    // What single precision does not hold is called what the file calls it.
    let message = edited(&mixture, "std", 0, json!([1e308, 1.0, 1.0, 1.0]));
    assert!(message.is("out-of-range std x"), "{message}");
    assert!(message.names("1e308"), "{message}");
    let message = edited(&poisson, "rate", 0, json!([1e-41, 1.0]));
    assert!(message.is("out-of-range rate x"), "{message}");
    assert!(message.names("1e-41"), "{message}");
}

/// Lines and columns are those of the file, not of the part of it that is being read.
#[test]
fn what_is_no_number_is_named_by_its_place_in_the_file() {
    let text = fs::read_to_string(fixtures().at("two.json")).expect("a model");
    let classifier = serde_json::from_str::<Value>(&text).expect("JSON")["classifier"].take();
    for name in ["bias", "weights"] {
        let mut bad = classifier.clone();
        bad["rule"]["linear"][0][name] = Value::Null;
        let pretty = serde_json::to_string_pretty(&bad).expect("JSON");
        for classifier in [bad.to_string(), pretty] {
            let file = sealed(&classifier);
            let before = file.split_once("null").expect("null").0;
            let (line, column) =
                (before.lines().count(), before.lines().last().expect("one").len());
            let message = refusal(&classifier);
            let place = format!("not-a-model {line} {}", column + "null".len());
            assert!(message.is(&place), "{place}: {message}");
        }
    }
}

#[test]
fn a_bad_set_is_told_by_the_reader_of_sets() {
    use fishweir::model::ModelSet;

    let folder = Folder::new();
    let file = folder.at("set.json");
    let data = fixtures().at("three.csv");
    let lds = "--family lds --states 2 --iterations 2";
    printed(&format!("fit {data} {lds} -o {file}"));
    let mut set = ModelSet::load(file.as_ref()).expect("a set");
    set.models[1].name = set.models[0].name.clone();
    set.save(file.as_ref()).expect("written");
    all_refuse(&file, "inconsistent-model");
}

#[test]
fn tables_and_models_that_rules_do_not_fit_are_told_where_they_are_read() {
    use fishweir::classifier::{Classifier, ExpansionKernel, Rule};

    let folder = Folder::new();
    let file = folder.at("m.json");
    let data = fixtures().at("strings.tsv");
    let fit = |classifier: &str| {
        let line = format!("fit {data} --classifier {classifier} -o {file}");
        printed(&line);
        Classifier::load(file.as_ref()).expect("a classifier")
    };
    let refuse = |classifier: &Classifier, why: &str| {
        let text = classifier.to_json().expect("numbers");
        let error = Classifier::parse("m.json", text.as_bytes()).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    };
    let mut words = fit("empirical-mean-map --order 1");
    words.models[0].emission =
        fishweir::runtime::Emissions::categorical(vec![vec![0.1, 0.2, 0.3, 0.4]]);
    refuse(&words, "give every symbol the same probability");
    if let Rule::Words { order, .. } = &mut words.rule {
        *order = 1 << 16;
    }
    refuse(&words, "contexts of 65536 symbols");
    let mut machine = fit("cosine --states 2 --iterations 2");
    let Rule::Expansion(expansion) = &mut machine.rule else { panic!("a machine") };
    let ExpansionKernel::Scores { items, .. } = &mut expansion.kernel else { panic!("of scores") };
    items[1].pop();
    refuse(&machine, "items [1] has ");
}
