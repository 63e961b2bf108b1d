//! What must hold of every parser on any bytes: shared by the fuzz targets and by the tests that
//! run them on arbitrary bytes.
//!
//! A checksum stops nearly all damage at the door. What lies behind one is therefore also given damage
//! that came before the checksum: bytes that are no such file are read as edits to a sound one.
//!
//! To add one: a function here, its name in [`PARSERS`], a target of the same name under
//! `tests/fuzz/targets/`, and a folder of sound inputs under `tests/fuzz/seeds/`.

#![allow(clippy::missing_panics_doc, reason = "a panic is how they say that it does not hold")]

mod artefact;
mod json;
mod units;

use std::io::Cursor;
use std::sync::LazyLock;

use fishweir::classifier::{Classifier, Observations};
use fishweir::data::{
    Alphabet, Column, Dataset, Encoding, FastaLabel, Kind, Layout, LiveReader, ReadOptions, Rows,
    Sample, Samples, Source, layout,
};
use fishweir::deploy::Deployed;
use fishweir::device::{Input, Options, converse};
use fishweir::kernel::marginal::{MarginalModel, Newick};
use fishweir::model::{ContextSet, ModelSet};
use fishweir_core::wire::{
    Answer, AnswerHead, CHECKSUM_LENGTH, DELIMITER, F32, Head, Info, Receiver, Report, Request,
    SampleIndex, SampleKind, VERSION, encode, longest,
};
use fishweir_networks::records::{Binning, Schema, TextTable};
use fishweir_networks::{NetworkFile, read_bif, write_bif};
use zerocopy::{FromZeros, IntoBytes};

pub use self::artefact::{artefact, reads_artefact};
pub use self::units::{times, units};

use self::json::Json;

/// A function that panics if a parser fails its users on these bytes.
pub type Parser = fn(&[u8]);

/// Every parser: its target's name and what must hold of it.
pub const PARSERS: [(&str, Parser); 30] = [
    ("data_set", data_set),
    ("table", table),
    ("strings", strings),
    ("fasta", fasta),
    ("wide", wide),
    ("sktime", sktime),
    ("ucr", ucr),
    ("sources", sources),
    ("wav", wav),
    ("numpy", numpy),
    ("edf", edf),
    ("edge_impulse", edge_impulse),
    ("wisdm", wisdm),
    ("sensor_logger", sensor_logger),
    ("wfdb", wfdb),
    ("live_samples", live_samples),
    ("units", units),
    ("times", times),
    ("alphabet", alphabet),
    ("classifier", classifier),
    ("kernel_machine", kernel_machine),
    ("model_set", model_set),
    ("artefact", artefact),
    ("frames", frames),
    ("conversation", conversation),
    ("newick", newick),
    ("kernel_model", kernel_model),
    ("contexts", contexts),
    ("network", network),
    ("records", records),
];

/// A message that helps: it names the file it was given.
fn names_the_file(error: &impl ToString, file: &str) {
    let message = error.to_string();
    assert!(message.contains(file), "{message:?} does not name {file}");
}

/// A file of series or strings in any layout, gzipped or not: which, is found from the bytes.
pub fn data_set(bytes: &[u8]) {
    read_as(None, FastaLabel::None, bytes);
}

/// A table of series.
pub fn table(bytes: &[u8]) {
    read_as(layout("series"), FastaLabel::None, bytes);
}

/// A table of strings.
pub fn strings(bytes: &[u8]) {
    read_as(layout("strings"), FastaLabel::None, bytes);
}

/// FASTA; the first byte says where the label is.
pub fn fasta(bytes: &[u8]) {
    let (&first, rest) = bytes.split_first().unwrap_or((&b'>', bytes));
    let (label, bytes) = match first {
        b'k' => (FastaLabel::Key("class".to_owned()), rest),
        b'w' => (FastaLabel::Word(2), rest),
        _ => (FastaLabel::None, bytes),
    };
    read_as(layout("fasta"), label, bytes);
}

/// A wide table.
pub fn wide(bytes: &[u8]) {
    read_as(layout("wide"), FastaLabel::None, bytes);
}

/// A `.ts` file.
pub fn sktime(bytes: &[u8]) {
    read_as(layout("sktime"), FastaLabel::None, bytes);
}

/// The UCR archive's text.
pub fn ucr(bytes: &[u8]) {
    read_as(layout("ucr"), FastaLabel::None, bytes);
}

/// A WAV file.
pub fn wav(bytes: &[u8]) {
    read_as(layout("wav"), FastaLabel::None, bytes);
}

/// An array of NumPy, or an archive of some.
pub fn numpy(bytes: &[u8]) {
    read_as(layout("numpy"), FastaLabel::None, bytes);
}

/// EDF, EDF+ or BDF; cut to its annotations too.
pub fn edf(bytes: &[u8]) {
    read_as(layout("edf"), FastaLabel::None, bytes);
    let source = Source { segments: true, ..Source::default() };
    read_with(ReadOptions { layout: layout("edf"), source, ..ReadOptions::default() }, bytes);
}

/// A recording of Edge Impulse, JSON or CBOR.
pub fn edge_impulse(bytes: &[u8]) {
    read_as(layout("edge-impulse"), FastaLabel::None, bytes);
}

/// The text of WISDM.
pub fn wisdm(bytes: &[u8]) {
    read_as(layout("wisdm"), FastaLabel::None, bytes);
}

/// A zip of Sensor Logger.
pub fn sensor_logger(bytes: &[u8]) {
    read_as(layout("sensor-logger"), FastaLabel::None, bytes);
}

/// The header of a WFDB record, whose signals are not there.
pub fn wfdb(bytes: &[u8]) {
    read_as(layout("wfdb"), FastaLabel::None, bytes);
}

/// A table as people have them; the first byte says what is said of it.
pub fn sources(bytes: &[u8]) {
    let (&said, bytes) = bytes.split_first().unwrap_or((&0, bytes));
    let source = Source {
        header: (said & 1 != 0).then_some(said & 8 == 0).map(|header| !header),
        segments: said & 2 != 0,
        decimal: (said & 4 != 0).then_some(if said & 16 == 0 { '.' } else { ',' }),
        label: (said & 32 != 0).then(|| Column::of("2")),
        encoding: (said & 64 != 0).then_some(Encoding::Windows1252),
        ..Source::default()
    };
    read_with(ReadOptions { source, ..ReadOptions::default() }, bytes);
}

fn read_as(layout: Option<&'static Layout>, fasta_label: FastaLabel, bytes: &[u8]) {
    read_with(ReadOptions { layout, fasta_label, ..ReadOptions::default() }, bytes);
}

fn read_with(options: ReadOptions, bytes: &[u8]) {
    const FILE: &str = "fuzzed.csv";
    match Dataset::parse(FILE, bytes, &options) {
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
    let events = Alphabet::new("open\nclose").map(Kind::Symbols);
    for kind in [channels, Kind::Symbols(Alphabet::dna())].into_iter().chain(events) {
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

/// An alphabet's letters, or words.
pub fn alphabet(bytes: &[u8]) {
    if let Ok(alphabet) = Alphabet::new(&String::from_utf8_lossy(bytes)) {
        assert_eq!(alphabet.symbols().len() + alphabet.words().len(), alphabet.len());
        assert_eq!(Alphabet::new(&alphabet.text()).ok(), Some(alphabet));
    }
}

/// Sound files, sealed by [`sealed`]: of every family of emissions, over channels with directions, of words, with
/// codebooks, behind a front end, and with levels of codewords.
const CLASSIFIERS: [&str; 10] = [
    include_str!("../../fuzz/seeds/classifier/symbols.json"),
    include_str!("../../fuzz/seeds/classifier/channels.json"),
    include_str!("../../fuzz/seeds/classifier/poisson.json"),
    include_str!("../../fuzz/seeds/classifier/bernoulli.json"),
    include_str!("../../fuzz/seeds/classifier/full_gaussian.json"),
    include_str!("../../fuzz/seeds/classifier/mixture.json"),
    include_str!("../../fuzz/seeds/classifier/words.json"),
    include_str!("../../fuzz/seeds/classifier/codebooks.json"),
    include_str!("../../fuzz/seeds/classifier/front.json"),
    include_str!("../../fuzz/seeds/classifier/levels.json"),
];
const MACHINES: [&str; 2] = [
    include_str!("../../fuzz/seeds/kernel_machine/fixed_length.json"),
    include_str!("../../fuzz/seeds/kernel_machine/scores.json"),
];
/// Of every kind of model, systems as a bank of them.
const MODEL_SETS: [&str; 3] = [
    include_str!("../../fuzz/seeds/model_set/systems.json"),
    include_str!("../../fuzz/seeds/model_set/densities.json"),
    include_str!("../../fuzz/seeds/model_set/strings.json"),
];

/// A classifier's file: its content, the checksum always right, or edits to sound content.
pub fn classifier(bytes: &[u8]) {
    static SOUND: LazyLock<[Json; 10]> = LazyLock::new(|| CLASSIFIERS.map(Json::read));
    model(bytes, &*SOUND);
}

/// A kernel machine's file, likewise.
pub fn kernel_machine(bytes: &[u8]) {
    static SOUND: LazyLock<[Json; 2]> = LazyLock::new(|| MACHINES.map(Json::read));
    model(bytes, &*SOUND);
}

fn model(bytes: &[u8], sound: &[Json]) {
    const FILE: &str = "fuzzed.json";
    match Classifier::parse(FILE, &edited(bytes, sound)) {
        Ok(model) => deploys(&model),
        Err(error) => names_the_file(&error, FILE),
    }
}

/// A file of models alone, likewise: what was read says how likely samples are, and comes back; a bank of
/// systems is refused with a reason, or decides.
pub fn model_set(bytes: &[u8]) {
    const FILE: &str = "fuzzed.json";
    static SOUND: LazyLock<[Json; 3]> = LazyLock::new(|| MODEL_SETS.map(Json::read));
    let set = match ModelSet::parse(FILE, &edited(bytes, &*SOUND)) {
        Ok(set) => set,
        Err(error) => return names_the_file(&error, FILE),
    };
    let again = set.to_json().expect("it was read from JSON");
    assert_eq!(ModelSet::parse("own", again.as_bytes()).ok().as_ref(), Some(&set));
    for one in &set.models {
        let samples = match &set.observations {
            Observations::Channels(names) => {
                let mut rows = Rows::new(names.len());
                rows.push(Some(&vec![0.5; names.len()]));
                rows.push(None);
                Samples::Channels(rows)
            }
            Observations::Symbols(_) => Samples::Symbols(vec![Some(0), None]),
        };
        assert_eq!(one.model.any().log_likelihoods(&[samples.view()]).len(), 1);
    }
    let Ok(deployed) = Deployed::of_systems(&set) else { return };
    let mut stream = deployed.stream();
    for sample in [Sample::Row(&vec![0.5; set.observations.size()]), Sample::Missing] {
        let _ = stream.push(sample);
        if let Ok(decision) = stream.decision() {
            assert!(decision.class < set.models.len());
        }
    }
    assert!(deployed.to_source().contains("Dynamics::from_parts"));
}

/// A file as it stands, or its content, or edits to sound content: then the checksum is right.
fn edited(bytes: &[u8], sound: &[Json]) -> Vec<u8> {
    if bytes.starts_with(b"{\"fishweir_model\"") {
        return bytes.to_vec();
    }
    if bytes.starts_with(b"{") {
        return sealed(&String::from_utf8_lossy(bytes));
    }
    let (&which, edits) = bytes.split_first().unwrap_or((&0, bytes));
    let mut content = sound[usize::from(which) % sound.len()].clone();
    edits.chunks_exact(4).take(8).for_each(|edit| content.edit(edit));
    let mut text = String::with_capacity(2048);
    content.write(&mut text);
    sealed(&text)
}

/// A model's file with this content.
pub fn sealed(content: &str) -> Vec<u8> {
    let crc32 = crc32fast::hash(content.trim().as_bytes());
    format!("{{\"fishweir_model\":2,\"crc32\":{crc32},\"classifier\":{}}}", content.trim())
        .into_bytes()
}

/// What was read is refused with a reason, or scores and comes back from its own artefact.
fn deploys(model: &Classifier) {
    let Ok(deployed) = model.deploy() else { return };
    let mut stream = deployed.stream();
    let size = model.models.first().map_or(0, |model| model.size());
    for _ in 0..2 {
        let _ = match &model.observations {
            Observations::Channels(_) => stream.push(Sample::Row(&vec![0.5; size])),
            Observations::Symbols(_) => stream.push(Sample::Symbol(0)),
        };
        if let Ok(decision) = stream.decision() {
            assert!(decision.class < model.classes.len());
        }
        let _ = stream.push(Sample::Missing);
    }
    if let Ok(artefact) = deployed.to_artefact() {
        let again = Deployed::from_artefact("own", &artefact);
        assert!(again.is_ok(), "its own artefact is refused: {:?}", again.err());
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

/// What a device answers that is asked for three samples: records, each behind a byte that is its length,
/// or that stands for a sound record. Their checksums are right.
pub fn conversation(bytes: &[u8]) {
    let places = [SampleIndex::default().next_stream(), SampleIndex { stream: 1, time: 1 }];
    let info = Info {
        version: VERSION,
        sample_kind: SampleKind::Symbol as u8,
        sample_length: 1.into(),
        models: 2.into(),
        classes: 2.into(),
        ..Info::new_zeroed()
    };
    let mut info = Info { head: SampleIndex::default().head(Info::TAG), ..info };
    let mut line = Vec::new();
    let mut put = |record: &[u8]| {
        let mut frame = vec![0; longest(record.len())];
        let end = encode(record, &mut frame).expect("room for the longest");
        line.extend_from_slice(&frame[..end]);
    };
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            0xFF => put(info.as_bytes()),
            // A record that lies, at any of its bytes.
            0xFE => {
                if let [at, byte, after @ ..] = rest {
                    let fields = info.as_mut_bytes();
                    fields[usize::from(*at) % fields.len()] = *byte;
                    rest = after;
                }
            }
            0xFC | 0xFD => put(Answer::<2> {
                head: AnswerHead {
                    head: places[usize::from(first & 1)].head(AnswerHead::TAG),
                    ..AnswerHead::new_zeroed()
                },
                log_likelihoods: [F32::from(-1.5), F32::from(0.0)],
            }
            .as_bytes()),
            0xFB => put(Report { head: places[1].head(Report::TAG), ..Report::EMPTY }.as_bytes()),
            length => {
                let (record, after) = rest.split_at(usize::from(length).min(rest.len()));
                put(record);
                rest = after;
            }
        }
    }
    let inputs = [Input::Symbol(1), Input::Missing, Input::Symbol(0)];
    let outcome =
        converse(Cursor::new(line), std::io::sink(), || (), inputs, &Options::default(), |_| ());
    if let Ok(outcome) = outcome {
        assert_eq!(outcome.answers.len(), 3);
    }
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

/// The contexts of a Markov string, a line each.
pub fn contexts(bytes: &[u8]) {
    const FILE: &str = "fuzzed.txt";
    let (text, dna) = (String::from_utf8_lossy(bytes), Alphabet::dna());
    match ContextSet::parse(FILE, &text, &dna) {
        Ok(set) => {
            let written = set.strings(dna.len(), false, &[]).expect("short enough");
            let letters = |context: &Vec<u16>| -> String {
                context.iter().map(|&symbol| dna.symbols()[usize::from(symbol)]).collect()
            };
            let written: Vec<String> = written.iter().map(letters).collect();
            assert_eq!(ContextSet::parse(FILE, &written.join("\n"), &dna).ok(), Some(set));
        }
        Err(error) => names_the_file(&error, FILE),
    }
}

/// A Bayesian network, or a classifier of records: BIF or JSON.
pub fn network(bytes: &[u8]) {
    const FILE: &str = "fuzzed.json";
    match NetworkFile::parse(FILE, bytes) {
        Ok(file) => {
            let written = file.bytes_for(FILE.as_ref()).expect("what was read can be written");
            assert_eq!(NetworkFile::parse(FILE, &written).expect("its own text"), file);
            let network = file.network();
            let bif = write_bif(network);
            assert_eq!(read_bif(FILE, &bif).as_ref(), Ok(network), "{bif}");
        }
        Err(error) => names_the_file(&error, FILE),
    }
}

/// A table of records: CSV or ARFF.
pub fn records(bytes: &[u8]) {
    const FILE: &str = "fuzzed.csv";
    let table = match TextTable::parse(FILE, bytes) {
        Ok(table) => table,
        Err(error) => return names_the_file(&error, FILE),
    };
    let rows: Vec<usize> = (0..table.len()).collect();
    match Schema::learn(&table, &rows, None, &Binning::default()) {
        Ok(schema) => {
            assert_eq!(schema.validate(), Ok(()));
            assert_eq!(schema.records(&table).expect("its own table").len(), table.len());
        }
        Err(error) => names_the_file(&error, FILE),
    }
}
