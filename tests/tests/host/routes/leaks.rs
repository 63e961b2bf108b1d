//! What is held back is not seen: whatever a held-back series holds, training writes the same bytes.

use fishweir::data::{Dataset, ReadOptions, Windowing};
use fishweir::kernel::ScoreKernelKind;
use fishweir::kernel::marginal::MarginalModel;
use fishweir::learn::{
    ClassifierKind, Request, Scaling, TrainError, Trained, train, train_marginal,
};
use fishweir_tests::sample::Sampler;

/// Four people, the last of whom is held back.
const PEOPLE: usize = 4;
const OF_EACH: usize = 6;

fn learned() -> Vec<usize> {
    (0..(PEOPLE - 1) * OF_EACH).collect()
}

/// Three channels that form a vector, two classes; `wild` is what the last person's readings are
/// multiplied by.
fn channels(wild: f64) -> Dataset {
    let mut s = Sampler::new(3);
    let mut text = String::from("series,label,person,t,ax,ay,az\n");
    for n in 0..PEOPLE * OF_EACH {
        let factor = if n / OF_EACH == PEOPLE - 1 { wild } else { 1.0 };
        for t in 0..16 {
            let phase = f64::from(t) * if n % 2 == 0 { 0.5 } else { 1.1 };
            let [x, y, z] =
                [phase.sin(), phase.cos(), 0.2].map(|a| factor * (a + 0.4 * s.normal()));
            text += &format!("{n},{},p{},{t},{x},{y},{z}\n", ["slow", "fast"][n % 2], n / OF_EACH);
        }
    }
    Dataset::parse("channels.csv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

/// Strings of two classes, of twelve letters but for the last person's, which are as given.
fn strings(wild: Option<&str>) -> Dataset {
    let mut s = Sampler::new(4);
    let mut text = String::from("label\tid\tperson\tsequence\n");
    for n in 0..PEOPLE * OF_EACH {
        let mut letter = || {
            let a = s.uniform(0.0, 1.0) < [0.8, 0.3][n % 2];
            ['A', 'C', 'G', 'T'][2 * usize::from(a) + usize::from(s.uniform(0.0, 1.0) < 0.5)]
        };
        let drawn: String = (0..12).map(|_| letter()).collect();
        let sequence = wild.filter(|_| n / OF_EACH == PEOPLE - 1).unwrap_or(&drawn);
        text += &format!("{}\ts{n}\tp{}\t{sequence}\n", ["weak", "strong"][n % 2], n / OF_EACH);
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("a data set")
}

fn options(kind: ClassifierKind) -> Request {
    crate::routes::options(kind).with(|request| {
        request.group = Some("person".into());
        request.sigma = vec![1.0, 2.0];
        request.c = vec![0.1, 1.0];
    })
}

/// The bytes of the file that a training writes.
#[track_caller]
fn bytes(trained: Result<Trained, TrainError>) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.json");
    let mut classifier = trained.expect("trained").classifier;
    // Which file it was is told, and nothing is learnt from that.
    classifier.provenance.checksum = None;
    classifier.save(&path).expect("written");
    std::fs::read(path).expect("read")
}

const KINDS: [ClassifierKind; 8] = [
    ClassifierKind::Bayes,
    ClassifierKind::Fisher,
    ClassifierKind::Top,
    ClassifierKind::Count,
    ClassifierKind::OnScores(ScoreKernelKind::Gaussian),
    ClassifierKind::OnScores(ScoreKernelKind::Polynomial),
    ClassifierKind::OnScores(ScoreKernelKind::Cosine),
    ClassifierKind::OnScores(ScoreKernelKind::RootCosine),
];

#[test]
fn a_wild_value_in_a_held_back_group_changes_no_trained_number() {
    let (tame, wild) = (channels(1.0), channels(1e6));
    for kind in KINDS {
        for scaling in [Scaling::Diagonal, Scaling::Whitened] {
            let options = options(kind).with(|request| {
                request.scalings = vec![Scaling::Practical, scaling];
            });
            let of = |data: &Dataset| bytes(train(data, &learned(), &options, &|| ()));
            assert!(of(&tame) == of(&wild), "{kind}, {scaling:?}");
        }
    }
}

#[test]
fn nor_does_one_among_windows() {
    let (tame, wild) = (channels(1.0), channels(-1e9));
    let eight = std::num::NonZeroUsize::new(8).expect("not zero");
    let windowing = Windowing { length: eight, hop: eight, short: Default::default() };
    let options = options(ClassifierKind::Fisher).with(|request| {
        request.windowing = Some(windowing);
    });
    let of = |data: &Dataset| bytes(train(data, &learned(), &options, &|| ()));
    assert!(of(&tame) == of(&wild));
}

#[test]
fn a_strange_string_that_is_held_back_changes_no_trained_number() {
    let (tame, long) = (strings(None), strings(Some("TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT")));
    for kind in KINDS {
        let of = |data: &Dataset| bytes(train(data, &learned(), &options(kind), &|| ()));
        assert!(of(&tame) == of(&long), "{kind}");
    }
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/docs/kernels");
    for name in ["fixed-length-symbols", "hidden-binomial", "marginalisation", "pair-hmm"] {
        let file = format!("{documented}/{name}.toml");
        let model = MarginalModel::read(file.as_ref()).expect("a documented kernel");
        let of = |data: &Dataset| {
            bytes(train_marginal(data, &learned(), &model, &options(ClassifierKind::Bayes)))
        };
        assert!(of(&tame) == of(&long), "{name}");
    }
}
