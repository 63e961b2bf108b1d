//! Files that an earlier version wrote: each is read, and decides as it did then.

use std::fs;
use std::path::PathBuf;

use fishweir::classifier::{Classifier, Observations};
use fishweir::data::{Dataset, FastaLabel, ReadOptions};
use fishweir::deploy::{Deployed, SpotterModel};
use fishweir::model::ModelSet;
use fishweir_core::artefact::{Header, read};
use fishweir_core::classify::{ChannelSubset, Codebooks, StreamClassifier, WithCodebooks};
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::Stream;
use fishweir_core::front::{Decimate, Magnitude, Pipe, Preprocessed};
use fishweir_core::hmm::Hmm;
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::number::Dual;
use fishweir_core::update::Update;
use fishweir_networks::{NetworkFile, NetworkModel};
use fishweir_profiles::{Profile, ProfileClassifier};
use zerocopy::IntoBytes;

#[path = "../../data/earlier/plain.rs"]
#[allow(unreachable_pub)]
#[rustfmt::skip]
mod plain_source;
#[path = "../../data/earlier/windows.rs"]
#[allow(unreachable_pub)]
#[rustfmt::skip]
mod windows_source;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "data/earlier", name].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).expect("text")
}

fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0_u64; bytes.len().div_ceil(8)];
    words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    words
}

/// The series of a file as a model sees them.
fn series(name: &str, observations: &Observations) -> Dataset {
    let kind = Some(observations.kind().expect("an alphabet or channels"));
    let mut options = ReadOptions { kind, ..ReadOptions::default() };
    if name.ends_with(".fa") {
        options.fasta_label = FastaLabel::Key("label".into());
    }
    Dataset::read(path(name), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// The rows of a table behind its header.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = text(&format!("decisions/{name}.csv"));
    text.lines().skip(1).map(|row| row.split(',').map(str::to_owned).collect()).collect()
}

/// Every window's class and margin, bit for bit.
fn decides_as_then(what: &str, deployed: &Deployed, data: &str, decisions: &str) {
    let data = series(data, deployed.observations());
    let rows = rows(decisions);
    assert!(rows.len() >= data.series().len(), "{what}");
    for row in rows {
        let [id, start, end, class, margin, ..] = &row[..] else { panic!("{row:?}") };
        let one = data.series().iter().find(|series| series.id == *id).expect("its series");
        let bound = |text: &String| text.parse().expect("a sample");
        let mut stream = deployed.stream();
        for sample in one.samples.view().slice(bound(start)..bound(end)).iter() {
            stream.push(sample).expect("a sample that the model takes");
        }
        let decision = stream.decision().expect("in range");
        let margin: f32 = margin.parse().expect("a number");
        assert_eq!(deployed.classes()[decision.class], *class, "{what}: {row:?}");
        assert_eq!(decision.margin.to_bits(), margin.to_bits(), "{what}: {row:?}");
    }
}

#[test]
fn classifiers_decide_as_then() {
    for (name, data) in [
        ("plain", "motion.csv"),
        ("lags", "motion.csv"),
        ("windows", "motion.csv"),
        ("front", "motion.csv"),
        ("machine", "motion.csv"),
        ("strings", "strings.csv"),
    ] {
        let file = format!("{name}.json");
        let classifier = Classifier::load(&path(&file)).unwrap_or_else(|error| panic!("{error}"));
        let deployed = classifier.deploy().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(classifier.codebooks.is_some(), ["windows", "front"].contains(&name));
        decides_as_then(&file, &deployed, data, name);
    }
}

#[test]
fn artefacts_decide_as_then() {
    for (name, version, data) in [
        ("plain", 2, "motion.csv"),
        ("lags", 2, "motion.csv"),
        ("windows", 3, "motion.csv"),
        ("front", 3, "motion.csv"),
        ("strings", 2, "strings.csv"),
        ("profile", 2, "family.fa"),
    ] {
        let file = format!("{name}.fishweir");
        let artefact = bytes(&file);
        assert_eq!(artefact[8..10], [version, 0], "{file}");
        Header::parse(&artefact).unwrap_or_else(|error| panic!("{file}: {error}"));
        let deployed = Deployed::from_artefact(&file, &artefact);
        let deployed = deployed.unwrap_or_else(|error| panic!("{error}"));
        decides_as_then(&file, &deployed, data, name);
    }
}

/// One model, or one that hears channels and their differences at a lag.
type Narrow<const C: usize, const N: usize> = Hmm<Gaussian<C, Dual<f32, 1>>, N>;
type Plain = StreamClassifier<Narrow<2, 2>, 2, 1>;
type AtLags<const D: usize, const C: usize, const E: usize, const N: usize> =
    LagFeatures<StreamClassifier<ChannelSubset<Narrow<C, N>, E, C>, 3, 1>, Lookback<D, 4>, 3>;
type Windowed = WithCodebooks<AtLags<2, 4, 8, 4>, Codebooks<[[f32; 2]; 8], 1, 2>, 16>;
type Behind = Preprocessed<
    Pipe<Magnitude<2, 1>, Decimate<1>>,
    WithCodebooks<AtLags<1, 2, 4, 2>, Codebooks<[[f32; 1]; 4], 1, 2>, 8>,
>;

/// In place, as a device reads it: each decision is the host's.
macro_rules! in_place {
    ($name:literal, $classifier:ty) => {{
        let artefact = bytes($name);
        let deployed = Deployed::from_artefact($name, &artefact).expect("an artefact");
        let words = aligned(&artefact);
        let classifier = read::<$classifier>(&words.as_bytes()[..artefact.len()])
            .unwrap_or_else(|error| panic!("{error:?}"));
        for one in series("motion.csv", deployed.observations()).series() {
            let rows = one.samples.view().rows().expect("channels");
            let (mut device, mut host) = (Stream::new(classifier), deployed.stream());
            for (row, sample) in rows.iter().zip(one.samples.view().iter()) {
                let row = row.expect("no sample is missing");
                device.push(&[row[0] as f32, row[1] as f32]).expect("a sample");
                host.push(sample).expect("a sample");
                assert_eq!(device.read(), host.decision().expect("in range"), "{}", one.id);
            }
        }
    }};
}

#[test]
fn a_device_reads_artefacts_of_then() {
    in_place!("plain.fishweir", Plain);
    in_place!("windows.fishweir", Windowed);
    in_place!("front.fishweir", Behind);
}

/// Exported Rust source compiles, and is the artefact's classifier.
#[test]
fn rust_source_of_then_is_the_same_classifier() {
    macro_rules! same {
        ($name:literal, $source:ident) => {{
            let artefact = bytes($name);
            let deployed = Deployed::from_artefact($name, &artefact).expect("an artefact");
            assert_eq!($source::CLASSES[..], *deployed.classes());
            assert_eq!($source::CHANNELS, ["x", "y"]);
            let words = aligned(&artefact);
            let stored = read::<$source::Model>(&words.as_bytes()[..artefact.len()]);
            assert_eq!(stored, Ok(&$source::MODEL));
        }};
    }
    same!("plain.fishweir", plain_source);
    same!("windows.fishweir", windows_source);
}

#[test]
fn an_update_of_then_is_an_update() {
    let bytes_of = bytes("plain.update");
    let update = Update::read(&bytes_of).expect("an update");
    assert_eq!((update.header.version(), update.header.is_signed()), (7, false));
    assert_eq!(update.artefact, bytes("plain.fishweir"));
    // What its self-test expects is what the artefact decides.
    let deployed = Deployed::from_artefact("update", update.artefact).expect("an artefact");
    let data = series("motion.csv", deployed.observations());
    let mut stream = deployed.stream();
    let mut tested = 0;
    for (entry, sample) in update.self_test.entries().zip(data.series()[0].samples.view().iter()) {
        stream.push(sample).expect("a sample");
        let decision = stream.decision().expect("in range");
        assert_eq!(usize::from(entry.class), decision.class);
        assert_eq!(entry.margin_bits, decision.margin.to_bits());
        tested += 1;
    }
    assert!(tested > 10, "{tested} samples");
}

#[test]
fn sets_of_systems_decide_as_then() {
    let set = ModelSet::load(&path("systems.json")).unwrap_or_else(|error| panic!("{error}"));
    let deployed = Deployed::of_systems(&set).expect("a classifier");
    decides_as_then("systems.json", &deployed, "motion.csv", "systems");
}

#[test]
fn profiles_decide_as_then() {
    let classifier = ProfileClassifier::load(&path("profile.json"));
    let classifier = classifier.unwrap_or_else(|error| panic!("{error}"));
    let deployed = classifier.deploy().expect("a classifier");
    decides_as_then("profile.json", &deployed, "family.fa", "profile");
    let profile = Profile::parse("profile.hmm", &text("profile.hmm")).expect("a profile");
    let alone = ProfileClassifier::alone(&profile).deploy().expect("a classifier");
    decides_as_then("profile.hmm", &alone, "family.fa", "profile-alone");
}

#[test]
fn a_spotter_finds_what_it_found() {
    let model = SpotterModel::load(&path("spotter.json")).unwrap_or_else(|error| panic!("{error}"));
    let spotter = model.deploy().expect("a spotter");
    let mut found = Vec::new();
    for one in series("marked.csv", spotter.observations()).series() {
        for event in spotter.spot(&one.samples.view()) {
            let class = &spotter.classes()[usize::from(event.event.class)];
            let place = [event.event.start, event.event.end, event.decided];
            found.push((one.id.clone(), class.clone(), place));
        }
    }
    let number = |text: &String| text.parse().expect("a sample");
    let then = rows("spotter").into_iter().map(|row| {
        let place = [number(&row[2]), number(&row[3]), number(&row[5])];
        (row[0].clone(), row[1].clone(), place)
    });
    assert_eq!(found, then.collect::<Vec<_>>());
}

#[test]
fn networks_are_read() {
    for (name, is_classifier) in [("network.json", false), ("network-classifier.json", true)] {
        let file = NetworkFile::read(&path(name)).unwrap_or_else(|error| panic!("{error}"));
        let names: Vec<&str> = (0..3).map(|node| file.network().name(node)).collect();
        assert_eq!(names, ["door", "light", "room"], "{name}");
        assert_eq!(matches!(file.model, NetworkModel::Classifier(_)), is_classifier, "{name}");
    }
}
