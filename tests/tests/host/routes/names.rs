//! Names of classes and channels, whatever is in them: exported source compiles to the same names, and
//! an artefact reads back to them or is refused.

use std::fs;
use std::process::Command;

use fishweir::classifier::Observations;
use fishweir::deploy::{ArtefactFileError, Deployed};
use fishweir::learn::ClassifierKind;
use fishweir_core::artefact::{ArtefactError, Header};
use fishweir_core::contract::{LABELS, Section};
use fishweir_tests::quick::{strings, three_channels, trained};

/// A line break and then code, quotes, a backslash, a comment's end, marks that turn text around, line
/// breaks of Unicode, an accent that combines.
const NAMES: [&str; 5] = [
    "a\ncompile_error!(\"out\");",
    "*/ \"b\" \\ 'c' \r\n#![no_core]",
    "\u{200f}\u{202e}d\u{2066}e",
    "f\u{2028}g\u{85}h\0\t",
    "\u{301}i",
];

/// The names that a source's statics hold, as the compiler reads them: all of it before the model itself.
fn compiled_names(source: &str) -> (Vec<String>, Vec<String>) {
    let before = source.split("\npub type Model").next().expect("a type").lines();
    let kept: Vec<&str> = before.filter(|line| !line.starts_with("use fishweir_core")).collect();
    let alphabet = "ALPHABET: Alphabet<'static> = Alphabet::new";
    let program = kept.join("\n").replace(alphabet, "ALPHABET: (&str, &str, bool) = ")
        + "
pub type Model = ();
fn main() {
    CLASSES.iter().for_each(|name: &&str| println!(\"{:?}\", name.as_bytes()));
    println!();
    CHANNELS.iter().for_each(|name: &&str| println!(\"{:?}\", name.as_bytes()));
}
";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, built) = (folder.path().join("names.rs"), folder.path().join("names"));
    fs::write(&file, &program).expect("writes");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiled = Command::new(rustc)
        .args(["--edition", "2024", "-D", "warnings", "-A", "dead_code", "-o"])
        .args([&built, &file])
        .output()
        .expect("rustc starts");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}\n{program}");
    let printed = Command::new(&built).output().expect("it runs").stdout;
    let printed = String::from_utf8(printed).expect("digits");
    let names = |lines: &str| {
        let bytes = |line: &str| -> Vec<u8> {
            let digits = line.trim_matches(['[', ']']).split(", ");
            digits.map(|byte| byte.parse().expect("a byte")).collect()
        };
        lines.lines().map(|line| String::from_utf8(bytes(line)).expect("UTF-8")).collect()
    };
    let (classes, channels) = printed.split_once("\n\n").unwrap_or((&printed, ""));
    (names(classes), names(channels))
}

#[test]
fn sources_hold_names_whatever_is_in_them() {
    let mut letters = trained(&strings(30), ClassifierKind::Bayes);
    letters.classes = NAMES[..2].iter().map(|name| name.to_string()).collect();
    let source = letters.deploy().expect("fits").to_source();
    assert_eq!(compiled_names(&source), (letters.classes.clone(), vec![]));

    let mut channels = three_channels();
    channels.classes = NAMES[2..4].iter().map(|name| name.to_string()).collect();
    let names: Vec<String> = [0, 1, 4].map(|name: usize| NAMES[name].to_owned()).to_vec();
    channels.observations = Observations::Channels(names.clone());
    let expected = (channels.classes.clone(), names);
    assert_eq!(compiled_names(&channels.deploy().expect("fits").to_source()), expected);
    assert_eq!(compiled_names(&channels.quantise().expect("fits").to_source()), expected);
}

#[test]
fn artefacts_give_names_back_or_refuse_them() {
    let mut classifier = three_channels();
    let names = ["\u{200f}d \"e\"", "", "\\n 'f' \u{2028}"].map(String::from);
    classifier.observations = Observations::Channels(names.to_vec());
    classifier.classes = ["", "*/ \u{202e}"].map(String::from).to_vec();
    let deployed = classifier.deploy().expect("fits");
    let bytes = deployed.to_artefact().expect("one line each");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    for name in ["two\nlines", "a carriage\r", "nothing\0"] {
        classifier.classes[1] = name.to_owned();
        let refused = classifier.deploy().expect("fits").to_artefact().expect_err("refused");
        assert!(matches!(&refused, ArtefactFileError::Name { name: found } if found == name));
        assert!(!refused.to_string().contains(name), "{refused}");
    }
}

/// Another program's, with a sound checksum.
#[test]
fn an_artefact_with_a_name_that_none_is_written_with_is_refused() {
    let deployed = three_channels().deploy().expect("fits");
    let (shape, payload) = (deployed.shape().expect("small"), deployed.payload());
    for (labels, sound) in
        [("a\nb\nx\ny\nz\n", true), ("a\nb\u{4}\nx\ny\nz\n", false), ("a\nb\nx\ny\r\nz\n", false)]
    {
        let section = Section { tag: LABELS, content: labels.as_bytes() };
        let section = [&section.head(), section.content].concat();
        let header = Header::encode(shape, &payload, &section).expect("small");
        let read = Deployed::from_artefact("a", &[&header, &*payload, &section].concat());
        let is_labels = |error| {
            matches!(&error, ArtefactFileError::Artefact { source: ArtefactError::Labels, .. })
        };
        assert_eq!(read.map_err(is_labels).map(|_| ()), if sound { Ok(()) } else { Err(true) });
    }
}
