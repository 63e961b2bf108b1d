//! Options that could have no effect beside the others: refused by name, one rule for all commands.

use std::fs;
use std::path::Path;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{printed, refuses};

/// Refused before anything is written, and why.
#[track_caller]
fn assert_idle(command: &str, cases: &[(&str, &str)]) {
    let folder = Folder::new();
    let output = folder.at("out");
    for (options, expected) in cases {
        let line = command.replace("OUT", &output);
        refuses(&format!("{line} {options}"), expected);
        assert!(!Path::new(&output).exists(), "{line} {options}");
    }
}

fn at(name: &str) -> String {
    fixtures().at(name)
}

#[test]
fn what_a_classifier_does_not_read() {
    let bayes = format!("fit {} -o OUT --classifier bayes", at("two.csv"));
    let one = "would have no effect: not used by bayes; leave it out";
    assert_idle(
        &bayes,
        &[
            (
                "--c 1 --no-likelihood",
                "--c, --no-likelihood would have no effect: not used by bayes; leave them out",
            ),
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
    let others = "not used by bayes, top, cosine";
    assert_idle(&several, &[("--sigma 1", others), ("--power 2", others)]);
    // What one of several reads has an effect, and so has what its machine on a kernel does.
    let line = format!("evaluate {} {QUICK} --effort quick --folds 2", at("strings.tsv"));
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kernels/pair-hmm.toml");
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
    let copies = "no varied copies are made; ask for some with --copies";
    assert_idle(
        &channels,
        &[
            ("--gain 0.1", copies),
            ("--rotation 5", copies),
            (
                "--copies 0 --gain 0.1 --rotation 5",
                "--rotation, --gain would have no effect: no var",
            ),
            ("--copies 2 --rotation 5", "no channels form vectors; name some with --vectors"),
            ("--axial x,y,x --copies 0 --mirror none", "no copies are turned, and no mirror image"),
            ("--classifier cosine --vectors x,y,x", "no copies are turned"),
        ],
    );
    let counts = format!("fit {} -o OUT --emission poisson", at("counts.csv"));
    let never = "channels of counts are never varied";
    assert_idle(
        &counts,
        &[
            ("--std-floor 0.1", "channels of counts have no standard deviation to hold"),
            ("--copies 2 --gain 0.1", "--copies, --gain would have no effect: channels of counts"),
            ("--mirror nosuch", never),
            ("--vectors none", never),
        ],
    );
    let symbols = format!("fit {} -o OUT", at("strings.tsv"));
    let why = "the data are symbols, not channels";
    assert_idle(
        &symbols,
        &[("--std-floor 1", why), ("--copies 0", why), ("--mirror none", why), ("--gain 1", why)],
    );
    let start = "a state a position starts the same way always";
    assert_idle(
        &format!("{symbols} --topology positions"),
        &[("--restarts 3", start), ("--seed 4 --restarts 2", "--restarts, --seed would have no")],
    );
}

#[test]
fn what_is_trained_or_given_already() {
    let (data, model) = (at("two.csv"), at("two.json"));
    let trained = "what is judged is trained already";
    assert_idle(
        &format!("evaluate {data} --model {model}"),
        &[
            ("--states 3 --c 1", "--states, --c would have no effect: what is judged is trained"),
            ("--no-likelihood", trained),
            ("--sigma 2", trained),
            ("--folds 3", "cannot be used with"),
            ("--fold-seed 3", "cannot be used with"),
            ("--alphabet dna", "the model has its own"),
        ],
    );
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kernels/fixed-length-symbols.toml");
    assert_idle(
        &format!("fit {} -o OUT --kernel-model {kernel}", at("strings.tsv")),
        &[("--states 3", "the kernel's numbers are given"), ("--sigma 1", "the kernel's numbers")],
    );
    let own = "--alphabet would have no effect: the model has its own; leave it out";
    assert_idle(
        &format!("score {} -m {}", at("strings.tsv"), at("strings.json")),
        &[("--alphabet dna", own)],
    );
    assert_idle(
        &format!("run {} {}", at("strings.json"), at("strings.tsv")),
        &[("--alphabet dna", own)],
    );
    assert_idle(
        &format!("score --stream -m {}", at("strings.json")),
        &[("--alphabet dna", "cannot be used with")],
    );
    assert_idle(
        &format!("evaluate {}", at("strings.tsv")),
        &[("--fasta-label class", "strings.tsv: is no FASTA")],
    );
}

#[test]
fn what_gram_has_no_use_for() {
    let (strings, two) = (at("strings.tsv"), at("two.csv"));
    let with_model = format!("gram {strings} -o OUT -m {}", at("strings.json"));
    let sampled = "nothing is drawn but for --information sampled";
    assert_idle(
        &with_model,
        &[
            ("--sigma 2", "--kernel practical takes no --sigma; it is for --kernel gaussian"),
            ("--kernel gaussian --power 2", "takes no --power; it is for --kernel polynomial"),
            (
                "--lambda 2",
                "--kernel practical takes no --lambda; it is for --kernel empirical-mean-map, latent-mean-map, \
                 mean-map",
            ),
            (
                "--kernel empirical-mean-map",
                "--model would have no effect: the kernel compares sequences without a model",
            ),
            ("--kernel invariant --raw", "takes no --raw; it is for --kernel count"),
            ("--kernel top --information exact", "--kernel top takes no --information"),
            ("--kernel count --parametrisation ratio", "--kernel count takes no --parametrisation"),
            ("--ridge 0.1", "nothing is whitened without --information"),
            ("--kernel top --ridge 0", "nothing is whitened"),
            ("--length 3", "it is that of --information exact alone"),
            ("--kernel gaussian --draws 9", sampled),
            ("--kernel invariant --information empirical --draw-seed 9", sampled),
            ("--states 3", "--states would have no effect: the model is trained already"),
            ("--group id", "--group would have no effect: the model is trained already"),
            ("--c 1", "the model is trained already"),
            ("--alphabet dna", "the model has its own"),
        ],
    );
    let machines = "models are fitted, and no machine on them";
    assert_idle(
        &format!("gram {two} -o OUT"),
        &[
            ("--c 1 --learner svm", "--learner, --c would have no effect: models are fitted"),
            ("--scaling practical", machines),
            ("--normalisation none", machines),
            ("--no-likelihood", machines),
            ("--copies 2", machines),
            ("--gain 0.1", machines),
            ("--one-model --group subject", "one model is fitted to all series"),
            ("--one-model --mirror x", "one model is fitted to all series"),
            ("--one-model --std-floor 0.1,0.2", "--std-floor takes one number here"),
            ("--std-floor 0.1 --group subject", "for the choice among several --std-floor"),
            ("--family gaussian --std-floor 0.1,0.2", "--std-floor takes one number here"),
            ("--family gaussian --group subject", "--family gaussian takes no --group"),
        ],
    );
    let unlabelled = at("unlabelled.csv");
    assert_idle(
        &format!("gram {unlabelled} -o OUT"),
        &[("--group subject", "one model is fitted")],
    );
    assert_idle(&format!("gram {strings} -o OUT"), &[("--std-floor 1", "the data are symbols")]);
    let kernel = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kernels/pair-hmm.toml");
    assert_idle(
        &format!("gram {strings} -o OUT --kernel pair-hmm --model-file {kernel}"),
        &[
            ("--sigma 1", "--kernel pair-hmm takes no --sigma"),
            ("--states 2", "the kernel's numbers are given"),
            ("--group id", "the kernel's numbers are given"),
        ],
    );
    // Where the floor is chosen, groups and weights have an effect.
    let line = format!("gram {two} -o /dev/null {QUICK} --group subject --class-weight balanced");
    printed(&line);
}

#[test]
fn what_an_export_in_floating_point_is_not_measured_on() {
    let (data, model) = (at("two.csv"), at("two.json"));
    let why = "would have no effect: only --number q15 is measured on data";
    assert_idle(
        &format!("export {model} --rust OUT"),
        &[
            ("--equal 0.9", &format!("--equal {why}; leave it out")),
            (&format!("--data {data}"), &format!("--data {why}")),
            ("--format csv --alphabet dna", &format!("--format, --alphabet {why}; leave them out")),
        ],
    );
    let folder = Folder::new();
    let file = folder.at("q15.rs");
    let line = format!("export {model} --rust {file} --number q15");
    printed(&format!("{line} --data {data} --equal 0.5 --format csv"));
    assert!(fs::metadata(&file).expect("written").len() > 0);
}
