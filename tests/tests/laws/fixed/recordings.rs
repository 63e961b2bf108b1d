//! Recordings of a watch in fixed point, against `f64`.

use std::num::NonZeroUsize;

use fishweir::data::{Dataset, ReadOptions, ShortSeries, Windowing};
use fishweir::deploy::DeviationLimits;
use fishweir::learn::{Augment, ClassifierKind, Request, Scaling, train};

const RECORDINGS: &[u8] = include_bytes!("../../../../host/data/ts-watch-exercises/all.csv.gz");

/// A classifier of the watch's recordings in fixed point decides as in `f64`: its outputs deviate by less than `of_margin` of the
/// mean margin.
fn recordings_are_decided_as_in_f64(
    kind: ClassifierKind,
    windowing: Option<(usize, usize)>,
    of_margin: f64,
) {
    let data = Dataset::parse("all.csv.gz", RECORDINGS, &ReadOptions::default()).expect("reads");
    // A sixth of them is enough to learn from; all are decided.
    let learned: Vec<usize> = (0..data.series().len()).step_by(6).collect();
    let windowing = windowing.map(|(length, hop)| Windowing {
        length: NonZeroUsize::new(length).expect("positive"),
        hop: NonZeroUsize::new(hop).expect("positive"),
        short: ShortSeries::default(),
    });
    let mut options = Request::minimal(kind);
    options.windowing = windowing;
    options.baum_welch.iterations = if windowing.is_some() { 6 } else { 3 };
    options.augment = Augment::NONE;
    options.std_floors = vec![0.3];
    options.c = vec![1.0];
    options.scalings = vec![Scaling::Practical];
    let trained = train(&data, &learned, &options, &|| ()).expect("trains").classifier;
    let classifier = &trained;
    let fixed = classifier.quantise().expect("fits");
    let deviation = fixed.deviation(classifier, &data, windowing.as_ref()).expect("measures");
    assert!(deviation.windows >= 90 && deviation.refused_by_one == 0, "{deviation:?}");
    deviation.check(DeviationLimits::default()).expect("decides as f64 does");
    assert!(deviation.mean < of_margin * deviation.mean_margin, "{deviation:?}");
    let bound = &deviation.bound;
    assert!(bound.exceeded == 0 && 20 * bound.windows >= 19 * deviation.windows, "{bound:?}");
    // A limit that nothing keeps is one that refuses.
    assert!(deviation.check(DeviationLimits { equal_decisions: 1.01 }).is_err());
}

#[test]
fn whole_recordings_are_decided_as_in_f64() {
    recordings_are_decided_as_in_f64(ClassifierKind::Bayes, None, 0.01);
}

/// Of windows an eighth is enough to see it.
#[test]
fn windows_of_recordings_are_decided_as_in_f64() {
    recordings_are_decided_as_in_f64(ClassifierKind::Fisher, Some((500, 4000)), 0.01);
}

/// Short windows are where Fisher's margins are small: rare transitions weigh much, and once. A fifth of them is enough.
#[test]
fn short_windows_of_recordings_are_decided_as_in_f64() {
    recordings_are_decided_as_in_f64(ClassifierKind::Fisher, Some((200, 1000)), 0.03);
}
