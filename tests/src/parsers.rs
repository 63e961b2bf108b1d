//! What must hold of every parser on any bytes: shared by the fuzz targets and by the tests that
//! run them on arbitrary bytes.
//!
//! To add one: a function here, its name in [`PARSERS`], and a target of the same name under
//! `tests/fuzz/targets/`.

#![allow(clippy::missing_panics_doc, reason = "a panic is how they say that it does not hold")]

use std::io::Cursor;

use fishweir::classifier::Classifier;
use fishweir::data::{Alphabet, Dataset, Kind, LiveReader, ReadOptions};
use fishweir::kernel::marginal::{MarginalModel, Newick};
use fishweir_core::artefact::{Header, read};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;
use fishweir_core::wire::{CHECKSUM_LENGTH, DELIMITER, Head, Receiver, Request, encode, longest};

/// A function that panics if a parser fails its users on these bytes.
pub type Parser = fn(&[u8]);

/// Every parser: its target's name and what must hold of it.
pub const PARSERS: [(&str, Parser); 8] = [
    ("data_set", data_set),
    ("live_samples", live_samples),
    ("alphabet", alphabet),
    ("classifier", classifier),
    ("artefact", artefact),
    ("frames", frames),
    ("newick", newick),
    ("kernel_model", kernel_model),
];

/// A message that helps: it names the file it was given.
fn names_the_file(error: &impl ToString, file: &str) {
    let message = error.to_string();
    assert!(message.contains(file), "{message:?} does not name {file}");
}

/// A file of series, strings or FASTA, gzipped or not.
pub fn data_set(bytes: &[u8]) {
    const FILE: &str = "fuzzed.csv";
    match Dataset::parse(FILE, bytes, &ReadOptions::default()) {
        Ok(data) => {
            assert!(!data.series().is_empty());
            let windows = data.windows(None);
            let taken: usize = windows.all().iter().map(|window| window.samples.len()).sum();
            let found: usize = data.series().iter().map(|one| one.samples.view().len()).sum();
            assert_eq!(taken + windows.uncovered(), found);
        }
        Err(error) => names_the_file(&error, FILE),
    }
}

/// A stream of text lines, as channels and as symbols.
pub fn live_samples(bytes: &[u8]) {
    let channels = Kind::Channels(vec!["x".to_owned(), "y".to_owned()]);
    for kind in [channels, Kind::Symbols(Alphabet::dna())] {
        let mut reader = LiveReader::new(Cursor::new(bytes), "pipe", kind);
        // A bad line is consumed, so this ends.
        loop {
            match reader.read() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => names_the_file(&error, "pipe"),
            }
        }
    }
}

/// An alphabet's letters.
pub fn alphabet(bytes: &[u8]) {
    if let Ok(alphabet) = Alphabet::new(&String::from_utf8_lossy(bytes)) {
        assert_eq!(alphabet.symbols().len(), alphabet.len());
    }
}

/// A classifier's file.
pub fn classifier(bytes: &[u8]) {
    const FILE: &str = "fuzzed.json";
    match Classifier::parse(FILE, bytes) {
        Ok(classifier) => assert!(classifier.states() > 0 && classifier.size() > 0),
        Err(error) => names_the_file(&error, FILE),
    }
}

/// A binary artefact, read in place as two types, at every alignment.
pub fn artefact(bytes: &[u8]) {
    if let Ok(header) = Header::parse(bytes) {
        assert!(header.payload(bytes).is_some());
        let _ = header.labels(bytes).map(Iterator::count);
    }
    let mut buffer = vec![0; bytes.len() + 8];
    for shift in 0..8 {
        buffer[shift..shift + bytes.len()].copy_from_slice(bytes);
        let bytes = &buffer[shift..shift + bytes.len()];
        let _ = read::<Hmm<Categorical<3>, 2>, 2, 2>(bytes);
        let _ = read::<Hmm<Gaussian<2, Dual<f32, 1>>, 2>, 1, 1>(bytes);
        let _ = read::<ContextModel<Steps, Categorical<3>, 3>, 2, 2>(bytes);
    }
}

/// Frames on a line: whatever came before, a sound one behind a delimiter is taken, and what is taken
/// comes back from its own frame.
pub fn frames(bytes: &[u8]) {
    const LONGEST: usize = 40;
    let mut receiver = Receiver::new();
    let mut buffer = [0; LONGEST + CHECKSUM_LENGTH];
    let mut taken = 0;
    for &byte in bytes {
        let Some(length) = receiver.push(byte, &mut buffer) else { continue };
        let record = &buffer[..length];
        let mut frame = [0; longest(LONGEST)];
        let end = encode(record, &mut frame).expect("room for the longest");
        assert!(frame[1..end - 1].iter().all(|&byte| byte != DELIMITER));
        let mut again = [0; LONGEST + CHECKSUM_LENGTH];
        let mut second = Receiver::new();
        let found = frame[..end].iter().filter_map(|&byte| second.push(byte, &mut again)).last();
        assert_eq!(found.map(|length| &again[..length]), Some(record));
        if let Some((head, _)) = Head::split(record) {
            let known = Request::from_tag(head.tag);
            assert!(known.is_none_or(|request| request.tag() == head.tag));
        }
        taken += 1;
    }
    assert!(receiver.corrupt() + taken <= bytes.len() as u64);
    let (record, mut frame) = ([7; LONGEST], [0; longest(LONGEST)]);
    let end = encode(&record, &mut frame).expect("room for the longest");
    let found = frame[..end].iter().filter_map(|&byte| receiver.push(byte, &mut buffer)).last();
    assert_eq!(found.map(|length| &buffer[..length]), Some(&record[..]));
}

/// A tree.
pub fn newick(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<Newick>() {
        Ok(tree) => {
            let written = tree.to_string();
            assert_eq!(written.parse::<Newick>().as_ref(), Ok(&tree), "{written}");
        }
        Err(error) => {
            let lines = text.matches('\n').count() + 1;
            assert!((1..=lines).contains(&error.line) && error.column > 0, "{error}");
        }
    }
}

/// The model of a kernel by marginalisation.
pub fn kernel_model(bytes: &[u8]) {
    const FILE: &str = "fuzzed.toml";
    let text = String::from_utf8_lossy(bytes);
    match MarginalModel::parse(FILE, &text) {
        Ok(model) => {
            let written = model.to_toml().expect("a model that was read can be written");
            assert_eq!(MarginalModel::parse(FILE, &written).expect("its own text"), model);
        }
        Err(error) => names_the_file(&error, FILE),
    }
}
