//! Options that have no effect beside the others: noted by name, one rule for all commands. Those that promise something
//! of the result are refused.

use std::fs;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{notes, printed, refused};

/// Noted while the command does its work; what is no such option is refused before anything is written.
#[track_caller]
fn assert_idle(command: &str, cases: &[(&str, &str)]) {
    check(command, cases, |expected| expected.starts_with("idle-option"));
}

/// Refused before anything is written, as what they promise would not hold.
#[track_caller]
fn assert_refused(command: &str, cases: &[(&str, &str)]) {
    check(command, cases, |_| false);
}

#[track_caller]
fn check(command: &str, cases: &[(&str, &str)], is_note: fn(&str) -> bool) {
    let folder = Folder::new();
    let output = folder.at("out");
    for (options, expected) in cases {
        let line = command.replace("OUT", &output);
        let line = format!("{line} {options}");
        let noted = is_note(expected);
        let told = match noted {
            true => {
                let notes = notes(&line);
                let found = notes.into_iter().find(|note| note.is(expected));
                found.unwrap_or_else(|| panic!("no {expected}: {line}"))
            }
            false => refused(&line),
        };
        assert!(told.is(expected), "not {expected}: {told}");
        let named: Vec<&str> =
            options.split_whitespace().filter(|word| word.starts_with("--")).collect();
        let named = (line.contains(" -m ") && told.names("--model"))
            || named.is_empty()
            || named.iter().any(|option| told.names(option));
        assert!(named, "names no option: {told}");
        let written = std::fs::remove_file(&output).is_ok();
        assert_eq!(written, noted && command.contains("OUT"), "{line}");
    }
}

fn at(name: &str) -> String {
    fixtures().at(name)
}

#[test]
fn what_a_classifier_does_not_read() {
    let bayes = format!("fit {} -o OUT --classifier bayes", at("two.csv"));
    let one = "idle-option bayes";
    assert_idle(
        &bayes,
        &[
            ("--c 1 --no-likelihood", "idle-option --c --no-likelihood bayes"),
            ("--learner klr", one),
            ("--normalisation none", one),
            ("--scaling practical", one),
            ("--score-model still", one),
            ("--sigma 1", one),
            ("--power 3", one),
            ("--lambda 3", one),
            ("--copies 2", one),
            ("--vectors none", one),
            ("--axial x,y,y", one),
            ("--rotation 5", one),
            ("--gain 0.1", one),
        ],
    );
    let several = format!("evaluate {} --classifier bayes,top,cosine", at("two.csv"));
    let others = "idle-option bayes top cosine";
    assert_idle(&several, &[("--sigma 1", others), ("--power 2", others)]);
    // What one of several reads has an effect, and so has what its machine on a kernel does.
    let line = format!("evaluate {} {QUICK} --effort quick --folds 2", at("strings.tsv"));
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/pair-hmm.toml");
    printed(&format!("{line} --c 1"));
    printed(&format!("{line} --c 1 --classifier bayes --kernel-model {kernel}"));
    // Of a Bayes classifier it is what a floor is chosen by.
    let line =
        format!("fit {} -o /dev/null --classifier bayes {QUICK} --effort quick", at("two.csv"));
    printed(&format!("{line} --class-weight balanced"));
}

#[test]
fn what_varies_nothing() {
    let channels = format!("fit {} -o OUT", at("two.csv"));
    let copies = "idle-option --copies";
    assert_idle(
        &channels,
        &[
            ("--gain 0.1", copies),
            ("--rotation 5", copies),
            ("--copies 0 --gain 0.1 --rotation 5", "idle-option --rotation --gain"),
            ("--copies 2 --rotation 5", "idle-option --vectors"),
            ("--axial x,y,x --copies 0 --mirror none", "idle-option --axial"),
            ("--classifier cosine --vectors x,y,x", "idle-option --vectors"),
        ],
    );
    let counts = format!("fit {} -o OUT --emission poisson", at("counts.csv"));
    let never = "idle-option";
    assert_idle(
        &counts,
        &[
            ("--std-floor 0.1", "idle-option --std-floor"),
            ("--copies 2 --gain 0.1", "idle-option --copies --gain"),
            ("--mirror nosuch", never),
            ("--vectors none", never),
        ],
    );
    let symbols = format!("fit {} -o OUT", at("strings.tsv"));
    let why = "idle-option";
    assert_idle(
        &symbols,
        &[("--std-floor 1", why), ("--copies 0", why), ("--mirror none", why), ("--gain 1", why)],
    );
    let start = "idle-option --restarts";
    assert_idle(
        &format!("{symbols} --topology positions"),
        &[("--restarts 3", start), ("--seed 4 --restarts 2", "idle-option --restarts --seed")],
    );
}

#[test]
fn what_is_trained_or_given_already() {
    let (data, model) = (at("two.csv"), at("two.json"));
    let trained = "idle-option";
    assert_idle(
        &format!("evaluate {data} --model {model}"),
        &[
            ("--states 3 --c 1", "idle-option --states --c"),
            ("--no-likelihood", trained),
            ("--sigma 2", trained),
            ("--folds 3", "argument-conflict"),
            ("--fold-seed 3", "argument-conflict"),
        ],
    );
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/fixed-length-symbols.toml");
    assert_idle(
        &format!("fit {} -o OUT --kernel-model {kernel}", at("strings.tsv")),
        &[("--states 3", "idle-option"), ("--sigma 1", "idle-option --sigma")],
    );
    let own = "idle-option --alphabet";
    let promise = "idle-option --max-flash";
    let models = format!("fit {data} -o OUT --family hmm {QUICK}");
    assert_refused(
        &models,
        &[("--max-flash 9000", promise), ("--reject 0.1", "idle-option --reject")],
    );
    assert_refused(&format!("evaluate {data} --model {model}"), &[("--alphabet dna", own)]);
    assert_refused(
        &format!("predict {} -m {}", at("strings.tsv"), at("strings.json")),
        &[("--alphabet dna", own)],
    );
    assert_refused(
        &format!("run {} --model {}", at("strings.tsv"), at("strings.json")),
        &[("--alphabet dna", own)],
    );
    assert_idle(
        &format!("predict --stream -m {}", at("strings.json")),
        &[("--alphabet dna", "argument-conflict")],
    );
    assert_idle(
        &format!("evaluate {}", at("strings.tsv")),
        &[("--fasta-label class", "not-fasta strings.tsv")],
    );
}

#[test]
fn what_gram_has_no_use_for() {
    let (strings, two) = (at("strings.tsv"), at("two.csv"));
    let with_model = format!("gram {strings} -o OUT -m {}", at("strings.json"));
    let sampled = "idle-option --information sampled";
    assert_idle(
        &with_model,
        &[
            ("--sigma 2", "idle-option --kernel practical --sigma gaussian"),
            ("--kernel gaussian --power 2", "idle-option --power --kernel polynomial"),
            ("--lambda 2", "idle-option --kernel practical --lambda empirical-mean-map mean-map"),
            ("--kernel invariant --raw", "idle-option --raw --kernel"),
            ("--kernel top --information exact", "idle-option --kernel top --information"),
            ("--kernel count --parametrisation ratio", "idle-option --kernel --parametrisation"),
            ("--ridge 0.1", "idle-option --information"),
            ("--kernel top --ridge 0", "idle-option --ridge"),
            ("--length 3", "idle-option --information exact"),
            ("--kernel gaussian --draws 9", sampled),
            ("--kernel invariant --information empirical --draw-seed 9", sampled),
            ("--states 3", "idle-option --states"),
            ("--group id", "idle-option --group"),
            ("--c 1", "idle-option --c"),
        ],
    );
    assert_refused(
        &with_model,
        &[
            ("--kernel empirical-mean-map", "idle-option --model"),
            ("--alphabet dna", "idle-option --alphabet"),
        ],
    );
    let machines = "idle-option";
    assert_idle(
        &format!("gram {two} -o OUT"),
        &[
            ("--c 1 --learner svm", "idle-option --learner --c"),
            ("--scaling practical", machines),
            ("--normalisation none", machines),
            ("--no-likelihood", machines),
            ("--copies 2", machines),
            ("--gain 0.1", machines),
            ("--one-model --group subject", "idle-option"),
            ("--one-model --mirror x", "idle-option"),
            ("--one-model --std-floor 0.1,0.2", "one-value --std-floor"),
            ("--std-floor 0.1 --group subject", "idle-option --std-floor"),
            ("--family gaussian --std-floor 0.1,0.2", "one-value --std-floor"),
            ("--family gaussian --group subject", "idle-option --family gaussian --group"),
        ],
    );
    let unlabelled = at("unlabelled.csv");
    assert_idle(
        &format!("gram {unlabelled} -o OUT"),
        &[("--group subject", "idle-option --group")],
    );
    assert_idle(&format!("gram {strings} -o OUT"), &[("--std-floor 1", "idle-option --std-floor")]);
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/kernels/pair-hmm.toml");
    assert_idle(
        &format!("gram {strings} -o OUT --kernel pair-hmm --kernel-model {kernel}"),
        &[
            ("--sigma 1", "idle-option --kernel pair-hmm --sigma"),
            ("--states 2", "idle-option"),
            ("--group id", "idle-option"),
        ],
    );
    // Where the floor is chosen, groups and weights have an effect.
    let line = format!("gram {two} -o /dev/null {QUICK} --group subject --class-weight balanced");
    printed(&line);
}

#[test]
fn what_an_export_in_floating_point_is_not_measured_on() {
    let (data, model) = (at("two.csv"), at("two.json"));
    let why = "--number q15";
    assert_idle(
        &format!("export {model} --rust OUT"),
        &[
            ("--equal 0.9", &format!("idle-option --equal {why}")),
            (&format!("--data {data}"), &format!("idle-option --data {why}")),
            ("--format csv --alphabet dna", &format!("idle-option --format --alphabet {why}")),
        ],
    );
    let folder = Folder::new();
    let file = folder.at("q15.rs");
    let line = format!("export {model} --rust {file} --number q15");
    printed(&format!("{line} --data {data} --equal 0.5 --format csv"));
    assert!(fs::metadata(&file).expect("written").len() > 0);
}
