//! Quick models and real streams, for tests of arithmetic: host against device, one form of a model
//! against another. How well the models decide does not matter there.

#![allow(clippy::missing_panics_doc, reason = "a panic is how a test fails")]

use fishweir::classifier::{ChannelRange, Classifier, Provenance};
use fishweir::data::{Dataset, Lags, ReadOptions, Rows, Samples, SamplesView, Series};
use fishweir::fit::{SystemEm, Topology};
use fishweir::learn::{
    Augment, ClassifierKind, LagChoice, ModelChoice, Request, Scaling, ScoreModels, train,
};
use fishweir::model::{ModelSet, NamedModel, SystemModel};
use fishweir::parity::{Parity, Recording};
use fishweir::runtime::family;
use fishweir_profiles::{DNA, ProfileClassifier, ProfileFit, ProfileLearner};

/// The bundled recordings of a watch.
pub fn recordings() -> Dataset {
    let bytes = include_bytes!("../../host/data/ts-watch-exercises/all.csv.gz");
    Dataset::parse("all.csv.gz", bytes, &ReadOptions::default()).expect("the recordings read")
}

/// Eight strings of two kinds over four letters, with missing letters; ragged, so that streams end at
/// different times.
pub fn strings(length: usize) -> Dataset {
    let mut text = String::from("label\tid\tsequence\n");
    for series in 0..8 {
        let sequence: String = (0..length + 7 * series)
            .map(|t| match (t * t + 3 * series * t) % 11 {
                0 => 'N',
                rest if series < 4 => ['A', 'C', 'G', 'T'][rest % 4],
                rest => ['A', 'A', 'G', 'T', 'C'][rest % 5],
            })
            .collect();
        text += &format!("{}\ts{series}\t{sequence}\n", ["plain", "skewed"][series / 4]);
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("strings read")
}

/// A classifier of every other series, trained as quickly as may be.
pub fn trained(data: &Dataset, kind: ClassifierKind) -> Classifier {
    train_quickly(data, Request::minimal(kind))
}

/// Eight series of three channels and of two classes that differ in spread: small.
pub fn channels() -> Dataset {
    let mut text = String::from("series,label,t,x,y,z\n");
    for (series, t) in (0..8).flat_map(|series| (0..40).map(move |t| (series, t))) {
        let class = series / 2 % 2;
        let x = |k: usize| (1.0 + class as f64) * (((t * t + k * t + series) % 17) as f64 - 8.0);
        text += &format!("s{series},{},{t},{},{},{}\n", ["p", "q"][class], x(1), x(2), x(3));
    }
    let data = Dataset::parse("small.csv", text.as_bytes(), &ReadOptions::default());
    data.expect("channels read")
}

/// A Bayes classifier of [`channels`].
#[must_use]
pub fn three_channels() -> Classifier {
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.baum_welch.states = 2;
    train_quickly(&channels(), options)
}

/// A linear dynamical system a class of [`channels`], with states of three numbers, the mean's included.
pub fn systems(data: &Dataset) -> ModelSet {
    let quick = SystemEm { iterations: 5, ..SystemEm::default() };
    let of_class = |(index, class): (usize, &String)| {
        let own = data.series().iter().filter(|one| one.label == Some(index));
        let views: Vec<_> = own.map(|one| one.samples.view()).collect();
        let (model, _) = SystemModel::fit(&quick, &views, &|| ()).expect("a system");
        NamedModel { name: class.clone(), class: Some(class.clone()), model: model.into() }
    };
    ModelSet {
        observations: data.kind().into(),
        models: data.classes().iter().enumerate().map(of_class).collect(),
        provenance: Provenance::default(),
    }
}

/// The series where every second sample lacks the last channel, and some the first.
pub fn with_holes(data: &Dataset) -> Dataset {
    let series = data.series().iter().map(|one| {
        let view = one.samples.view().rows().expect("channels");
        let mut made = Rows::new(view.dimension());
        for (t, row) in view.iter().enumerate() {
            let mut row = row.expect("whole").to_vec();
            let last = row.len() - 1;
            row[last] = if t % 2 == 1 { f64::NAN } else { row[last] };
            row[0] = if t % 7 == 3 { f64::NAN } else { row[0] };
            made.push(Some(&row));
        }
        Series { samples: Samples::Channels(made), ..one.clone() }
    });
    let [classes, columns] = [data.classes(), data.columns()].map(<[String]>::to_vec);
    let series = series.collect();
    Dataset::new(data.source(), data.kind().clone(), classes, columns, series).expect("series")
}

/// Ranges of channels, of which some may be missing.
pub fn channels_missing<const D: usize>(missing: [bool; D]) -> Vec<ChannelRange> {
    missing.map(|missing| ChannelRange { missing, ..ChannelRange::default() }).to_vec()
}

/// A classifier on a profile of the first kind of [`strings`], one direction.
pub fn profiled(data: &Dataset) -> ProfileClassifier {
    let letters = |view: SamplesView<'_>| -> String {
        let symbols = view.symbols().unwrap_or_default().iter();
        symbols.map(|x| x.map_or('N', |x| ['A', 'C', 'G', 'T'][usize::from(x)])).collect()
    };
    let named: Vec<(String, String)> =
        data.series().iter().map(|one| (one.id.clone(), letters(one.samples.view()))).collect();
    let symbols: Vec<Vec<usize>> =
        named.iter().map(|(name, text)| DNA.encode(name, text).expect("nucleotides")).collect();
    let training = ProfileFit { rounds: 1, seeds: 2, ..ProfileFit::default() };
    let trained = training.fit("plain", &DNA, &named[..4]).expect("a profile");
    let learner = ProfileLearner { grouped: false, ..ProfileLearner::default() };
    let classes = ["skewed".to_owned(), "plain".to_owned()];
    learner.fit(&trained.profile, classes, &symbols[4..], &symbols[..4]).expect("two sides")
}

/// Weights of words of so many symbols and one.
pub fn trained_on_words(data: &Dataset, order: usize) -> Classifier {
    train_quickly(
        data,
        Request::minimal(ClassifierKind::EmpiricalMap).with(|request| {
            request.order = order;
        }),
    )
}

/// The same with differences at lags beside the channels.
pub fn trained_on_differences(data: &Dataset, lags: &[u32], scores: ScoreModels) -> Classifier {
    let mut options = Request::minimal(ClassifierKind::Fisher).with(|request| {
        request.models = ModelChoice::Given(scores);
    });
    options.lags = LagChoice::Given(vec![Lags::new(lags.to_vec()).expect("rising lags")]);
    train_quickly(data, options)
}

/// The same with a model of all classes for each lag.
pub fn trained_on_each_lag(data: &Dataset, lags: &[u32]) -> Classifier {
    let scores = ScoreModels::Universal;
    let mut options = Request::minimal(ClassifierKind::Fisher).with(|request| {
        request.models = ModelChoice::Given(scores);
    });
    options.lags = LagChoice::Given(vec![Lags::new(lags.to_vec()).expect("rising lags").apart()]);
    train_quickly(data, options)
}

/// The same with so many codebooks for each dilation beside them.
pub fn trained_on_codebooks(data: &Dataset, lags: &[u32], codebooks: usize) -> Classifier {
    trained_on_levels(data, lags, codebooks, 0)
}

/// The same with so many levels of each of their codewords.
pub fn trained_on_levels(
    data: &Dataset,
    lags: &[u32],
    codebooks: usize,
    levels: usize,
) -> Classifier {
    let scores = ScoreModels::Universal;
    let mut options = Request::minimal(ClassifierKind::Fisher).with(|request| {
        request.models = ModelChoice::Given(scores);
    });
    options.lags = LagChoice::Given(vec![Lags::new(lags.to_vec()).expect("rising lags").apart()]);
    (options.codebooks, options.levels) = (vec![codebooks], Some(levels));
    train_quickly(data, options)
}

/// A linear classifier on Fisher scores behind a front end.
pub fn trained_behind(data: &Dataset, front: &str) -> Classifier {
    let mut options = Request::minimal(ClassifierKind::Fisher);
    options.baum_welch.states = 2;
    options.front = front.parse().expect("a front end");
    train_quickly(data, options)
}

/// The same with a state for each of so many positions, the last for all that follow.
pub fn trained_by_position(data: &Dataset, kind: ClassifierKind, positions: usize) -> Classifier {
    let mut options = Request::minimal(kind);
    options.baum_welch.topology = Topology::Positions;
    options.baum_welch.states = positions;
    train_quickly(data, options)
}

/// One model of all classes whose states predict a sample from those at these lags before it.
pub fn trained_on_the_past(data: &Dataset, lags: &[u32]) -> Classifier {
    let scores = ScoreModels::Universal;
    let mut options = Request::minimal(ClassifierKind::Fisher).with(|request| {
        request.models = ModelChoice::Given(scores);
    });
    options.lags = LagChoice::Given(vec![Lags::new(lags.to_vec()).expect("rising lags")]);
    options.baum_welch.emission = family("autoregressive");
    train_quickly(data, options)
}

fn train_quickly(data: &Dataset, mut options: Request) -> Classifier {
    options.baum_welch.iterations = 3;
    options.std_floors = vec![0.3];
    options.augment = Augment::NONE;
    options.c = vec![1.0];
    options.scalings = vec![Scaling::Practical];
    let some: Vec<usize> = (0..data.series().len()).step_by(2).collect();
    train(data, &some, &options, &|| ()).expect("trains").classifier
}

/// So many samples of the series that [`trained`] left out, far from all models: scaling is put to
/// the test.
pub fn unseen(data: &Dataset, samples: usize) -> Recording<'_> {
    let series = data.series().iter().skip(1).step_by(2).map(|series| series.samples.view());
    let recording = Recording::new(series, Some(samples));
    assert_eq!(recording.samples(), samples);
    recording
}

/// All series of a data set.
pub fn whole(data: &Dataset) -> Recording<'_> {
    Recording::new(data.series().iter().map(|one| one.samples.view()), None)
}

/// Not a bit differs, in so many numbers a sample at least.
pub fn assert_identical(parity: &Parity, numbers_a_sample: usize) {
    assert_eq!(parity.differing_bits, 0, "{:?}", parity.first_difference);
    assert!(parity.numbers >= parity.samples * numbers_a_sample, "{parity:?}");
}
