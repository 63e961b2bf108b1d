//! Training on a table a chunk at a time: choices by a sample, numbers by all of it.

use std::fmt::Write as _;
use std::fs;

use fishweir::data::{Dataset, Lags, LargeTable, ReadOptions, SamplesView, scale_of};
use fishweir::fit::{Topology, fit};
use fishweir::learn::{
    ClassifierKind, LagChoice, Request, Space, TrainError, Trained, Trainer, train_in_chunks,
};
use fishweir_tests::sample::Sampler;

/// A folder with a table of 700 series of 40 to 80 samples, more than two chunks of 1 MB: leaves of each class end within them.
fn table() -> (tempfile::TempDir, std::path::PathBuf) {
    let mut s = Sampler::new(8);
    let mut text = "series,label,t,x,y\n".to_owned();
    for series in 0..1_400 {
        let label = ["a", "b", "b"][series % 3];
        let turn = if label == "a" { 1.3 } else { 0.3 };
        let mut level = 1.0;
        for t in 0..40 + series % 41 {
            level *= if s.normal() > turn { -1.0 } else { 1.0 };
            let (x, y) = (level + 0.5 * s.normal(), s.normal() - level);
            let _ = writeln!(text, "{series},{label},{t},{x},{y}");
        }
    }
    assert!(text.len() > 2_500_000, "{}", text.len());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data.csv");
    fs::write(&path, text).expect("room");
    (folder, path)
}

fn request(kind: ClassifierKind) -> Request {
    let mut request = Request::minimal(kind);
    request.baum_welch.states = 2;
    request.baum_welch.restarts = 1;
    request.baum_welch.topology = Topology::Ergodic;
    request.std_floors = vec![1e-3];
    request
}

fn chunked(table: &LargeTable, request: &Request) -> Result<Trained, TrainError> {
    let sample = table.sample();
    let series: Vec<usize> = (0..sample.series().len()).collect();
    let space = Space::of(sample, &series, request)?;
    train_in_chunks(table, &Trainer::new(sample), &space, &|| ())
}

/// Where no floor holds, the passes over chunks are those over all sequences in memory, to the bit.
#[test]
fn passes_over_chunks_have_the_bits_of_passes_over_all() {
    let (_folder, path) = table();
    let options = ReadOptions::default();
    let whole = Dataset::read(&path, &options).expect("sound");
    let request = request(ClassifierKind::Bayes);
    let large = LargeTable::open(&path, &options, 200).expect("sound");
    let start = {
        let sample = large.sample();
        let series: Vec<usize> = (0..sample.series().len()).collect();
        Trainer::new(sample).train(&series, &request, &|| ()).expect("trained")
    };
    let trained = chunked(&large, &request).expect("trained");
    let views: Vec<SamplesView<'_>> = whole.series().iter().map(|one| one.samples.view()).collect();
    let scale = scale_of(whole.kind(), &views);
    let mut baum_welch = request.baum_welch.clone();
    baum_welch.std_floor = 1e-3;
    for (class, (own, begun)) in trained.fits.iter().zip(&start.fits).enumerate() {
        let sequences = whole.series().iter().filter(|one| one.label == Some(class));
        let sequences: Vec<SamplesView<'_>> = sequences.map(|one| one.samples.view()).collect();
        let fitted = fit(&baum_welch, begun.model.clone(), &sequences, &scale, &|| ());
        let fitted = fitted.expect("fitted");
        assert!(fitted.log_likelihood.len() > 3 && begun.model != fitted.model);
        assert_eq!(own.log_likelihood, fitted.log_likelihood);
        assert_eq!(own.model, fitted.model);
        assert_eq!(trained.classifier.models[class], fitted.model);
    }
    let provenance = &trained.classifier.provenance;
    assert_eq!((provenance.series, provenance.windows), (1_400, 1_400));
}

#[test]
fn a_sample_of_all_is_the_training_in_memory() {
    let (_folder, path) = table();
    let large = LargeTable::open(&path, &ReadOptions::default(), 5_000).expect("sound");
    for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        let request = request(kind);
        let whole = Dataset::read(&path, &ReadOptions::default()).expect("sound");
        let series: Vec<usize> = (0..whole.series().len()).collect();
        let trained = Trainer::new(&whole).train(&series, &request, &|| ()).expect("trained");
        assert_eq!(chunked(&large, &request).expect("trained").classifier, trained.classifier);
    }
}

/// A machine by the normal equations, of the models of all series, decides as one that is trained on all in memory.
#[test]
fn a_machine_of_sums_is_near_that_of_rows() {
    let (_folder, path) = table();
    let whole = Dataset::read(&path, &ReadOptions::default()).expect("sound");
    let large = LargeTable::open(&path, &ReadOptions::default(), 400).expect("sound");
    for lags in [None, Some(vec![1, 2])] {
        let mut request = request(ClassifierKind::Fisher);
        request.learner = Some(&fishweir::learn::RIDGE);
        if let Some(lags) = &lags {
            request.lags = LagChoice::Given(vec![Lags::new(lags.clone()).expect("lags")]);
        }
        let trained = chunked(&large, &request).expect("trained");
        let deployed = trained.classifier.deploy().expect("fits");
        let (figures, _) = fishweir::evaluate::evaluate(&deployed, &whole, None).expect("judged");
        let series: Vec<usize> = (0..whole.series().len()).collect();
        let all = Trainer::new(&whole).train(&series, &request, &|| ()).expect("trained");
        let deployed = all.classifier.deploy().expect("fits");
        let (others, _) = fishweir::evaluate::evaluate(&deployed, &whole, None).expect("judged");
        let (one, other) = (figures.accuracy, others.accuracy);
        assert!(one > 0.9 && (one - other).abs() < 0.01, "{lags:?}: {one} {other}");
    }
}

#[test]
fn a_class_that_the_sample_lacks_is_named() {
    let (folder, path) = table();
    let text = fs::read_to_string(&path).expect("text");
    let path = folder.path().join("rare.csv");
    fs::write(&path, format!("{text}9999,rare,0,1,1\n9999,rare,1,2,1\n")).expect("room");
    let large = LargeTable::open(&path, &ReadOptions::default(), 50).expect("sound");
    let refused = chunked(&large, &request(ClassifierKind::Bayes));
    let Err(TrainError::InChunks { what, .. }) = refused else { panic!("{refused:?}") };
    assert!(what.contains("`rare`"), "{what}");
}
