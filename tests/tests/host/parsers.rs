//! No parser panics, whatever the bytes: arbitrary ones, and sound files with damage.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fishweir::classifier::Classifier;
use fishweir::data::{
    Alphabet, Conversion, Dataset, FastaLabel, ReadOptions, Source, layout, split_unit,
};
use fishweir::deploy::Deployed;
use fishweir::kernel::marginal::{MarginalModel, Newick};
use fishweir::model::{ContextSet, ModelSet};
use fishweir_networks::NetworkFile;
use fishweir_networks::records::TextTable;
use fishweir_tests::parsers::{PARSERS, Parser, reads_artefact, sealed};
use proptest::prelude::*;

fn fuzz(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Where the fuzzer starts, and damage: each parser with an input that it accepts.
fn seeds() -> &'static [(Parser, Vec<u8>)] {
    static SEEDS: OnceLock<Vec<(Parser, Vec<u8>)>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let of = |(name, parser): &(&str, Parser)| {
            let read = |path: PathBuf| (*parser, fs::read(path).expect("a seed"));
            entries(&fuzz("seeds").join(name)).into_iter().map(read).collect::<Vec<_>>()
        };
        PARSERS.iter().flat_map(of).collect()
    })
}

/// Overwrites, drops and inserts.
fn damaged() -> impl Strategy<Value = (Parser, Vec<u8>)> {
    let blow = (any::<prop::sample::Index>(), any::<u8>(), 0..3_u8);
    (prop::sample::select(seeds()), prop::collection::vec(blow, 0..12)).prop_map(
        |((parser, mut bytes), blows)| {
            for (at, byte, kind) in blows {
                let at = at.index(bytes.len().max(1));
                match kind {
                    0 if at < bytes.len() => bytes[at] = byte,
                    1 if at < bytes.len() => drop(bytes.remove(at)),
                    _ => bytes.insert(at.min(bytes.len()), byte),
                }
            }
            (parser, bytes)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        PARSERS.iter().for_each(|(_, parser)| parser(&bytes));
    }

    #[test]
    fn damaged_files((parser, bytes) in damaged()) {
        parser(&bytes);
    }
}

/// What fuzzing has found is a seed ever after.
#[test]
fn seeds_as_they_are() {
    seeds().iter().for_each(|(parser, bytes)| parser(bytes));
}

/// A seed that is refused at the door tests the door alone.
#[test]
fn seeds_get_past_the_door() {
    let read = |name: &str| fs::read(fuzz("seeds").join(name)).expect("a seed");
    let text = |name: &str| String::from_utf8(read(name)).expect("text");
    for (kind, files) in [
        ("series", &["table/labelled.csv", "table/quoted.csv", "table/sessions.csv"][..]),
        ("series", &["table/untimed.csv"]),
        ("wide", &["wide/labelled.csv", "wide/named.tsv"]),
        ("sktime", &["sktime/motions.ts", "sktime/unlabelled.ts"]),
        ("ucr", &["ucr/tabs.tsv", "ucr/blanks.txt"]),
        ("strings", &["strings/labelled.tsv", "strings/commas.csv"]),
        ("fasta", &["fasta/plain.fasta"]),
        ("wav", &["wav/stereo.wav", "wav/float.wav", "wav/wide.wav"]),
        ("numpy", &["numpy/recording.npy", "numpy/turned.npy", "numpy/labelled.npz"]),
        ("edf", &["edf/night.edf"]),
        ("edge-impulse", &["edge_impulse/walk.1.json", "edge_impulse/walk.2.cbor"]),
        ("wisdm", &["wisdm/two.txt"]),
        ("sensor-logger", &["sensor_logger/stored.zip", "sensor_logger/packed.zip"]),
    ] {
        for name in files {
            let options = ReadOptions { layout: layout(kind), ..ReadOptions::default() };
            Dataset::parse(name, &read(name), &options).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    for (name, fasta_label) in [
        ("fasta/key.fasta", FastaLabel::Key("class".into())),
        ("fasta/word.fasta", FastaLabel::Word(2)),
    ] {
        let options =
            ReadOptions { layout: layout("fasta"), fasta_label, ..ReadOptions::default() };
        Dataset::parse(name, &read(name)[1..], &options).unwrap_or_else(|error| panic!("{error}"));
    }
    for path in entries(&fuzz("seeds/sources")) {
        let bytes = fs::read(&path).expect("a seed");
        let header = bytes[0] & 1 == 0;
        let source = Source {
            header: Some(header),
            segments: bytes[0] & 2 != 0,
            decimal: (bytes[0] & 4 != 0).then_some('.'),
            ..Source::default()
        };
        let options = ReadOptions { source, ..ReadOptions::default() };
        Dataset::parse("x", &bytes[1..], &options)
            .unwrap_or_else(|error| panic!("{path:?}: {error}"));
    }
    for path in entries(&fuzz("seeds/units")) {
        let text = fs::read_to_string(path).expect("text");
        let mut names = text.lines();
        let [found, wanted] =
            [names.next(), names.next()].map(|name| split_unit(name.expect("two")));
        assert!(found.0 == wanted.0 && Conversion::between(found.1, wanted.1).is_some(), "{text}");
    }
    for path in entries(&fuzz("seeds/times")) {
        let text =
            fs::read_to_string(path).expect("text").replace('\n', ",1\n").replacen(",1", ",x", 1);
        let data = Dataset::parse("times", text.as_bytes(), &ReadOptions::default());
        let data = data.unwrap_or_else(|error| panic!("{error}"));
        assert!(data.series()[0].period().is_some(), "{text}");
    }
    for path in entries(&fuzz("seeds/data_set")) {
        Dataset::read(&path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    }
    for name in [
        "classifier/symbols",
        "classifier/channels",
        "classifier/words",
        "classifier/codebooks",
        "classifier/front",
        "classifier/levels",
        "kernel_machine/fixed_length",
        "kernel_machine/scores",
    ] {
        let model = Classifier::parse(name, &sealed(&text(&format!("{name}.json"))));
        let deployed = model.unwrap_or_else(|error| panic!("{error}")).deploy();
        assert!(deployed.is_ok(), "{name}: {:?}", deployed.err());
    }
    for name in ["systems", "densities", "strings"] {
        let set = ModelSet::parse(name, &sealed(&text(&format!("model_set/{name}.json"))));
        let bank = Deployed::of_systems(&set.unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(bank.is_ok(), name == "systems", "{name}: {:?}", bank.err());
    }
    assert!(reads_artefact(&read("artefact/sound_symbols.bin")));
    assert!(reads_artefact(&read("artefact/sound_channels.bin")));
    assert!(reads_artefact(&read("artefact/sound_codebooks.bin")));
    assert!(reads_artefact(&read("artefact/sound_front.bin")));
    assert!(reads_artefact(&read("artefact/sound_levels.bin")));
    for path in entries(&fuzz("seeds/newick")) {
        let text = fs::read_to_string(path).expect("text");
        text.parse::<Newick>().unwrap_or_else(|error| panic!("{error}"));
    }
    for path in entries(&fuzz("seeds/network")) {
        NetworkFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    }
    for path in entries(&fuzz("seeds/records")) {
        TextTable::read(&path).unwrap_or_else(|error| panic!("{error}"));
    }
    let listed = ContextSet::parse("listed", &text("contexts/listed.txt"), &Alphabet::dna());
    assert!(listed.is_ok(), "{:?}", listed.err());
    for path in entries(&fuzz("seeds/kernel_model")) {
        let text = fs::read_to_string(&path).expect("text");
        let file = path.display().to_string();
        MarginalModel::parse(&file, &text).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn every_parser_has_a_fuzz_target_and_seeds() {
    let mut parsers: Vec<String> = PARSERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    parsers.sort();
    for folder in ["targets", "seeds"] {
        let stem =
            |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
        let found: Vec<String> = entries(&fuzz(folder)).iter().map(stem).collect();
        assert_eq!(found, parsers, "{folder}");
    }
}
