use serde::{Serialize, Serializer};

use super::{Judged, judge, rejected};
use crate::data::{Dataset, Window, Windowing};
use crate::deploy::Deployed;

/// Decisions of a classifier on windows of a class that it does not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnknownClass {
    /// The class.
    pub class: String,
    /// Number of series.
    pub series: usize,
    /// Number of windows.
    pub windows: usize,
    /// Number of windows decided for each known class, in the classifier's order, rejected or not.
    #[serde(serialize_with = "by_name")]
    pub decided: Vec<(String, usize)>,
    /// Windows without a decision, for the scores or the margin went out of range.
    pub undecided: usize,
    /// Number of windows that the classifier's thresholds reject; null for a classifier without thresholds.
    pub rejected: Option<usize>,
}

/// Counts by the names of classes.
fn by_name<S: Serializer>(counts: &[(String, usize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(name, count)| (name, count)))
}

impl UnknownClass {
    /// Returns every class of a data set, read with classes of its own, that a classifier does not know.
    ///
    /// Cost: that of [`judge()`] on their windows.
    pub fn all(deployed: &Deployed, data: &Dataset, windowing: Option<&Windowing>) -> Vec<Self> {
        let strangers = data.classes().iter().enumerate();
        let strangers = strangers.filter(|(_, name)| !deployed.classes().contains(*name));
        let windows = data.windows(windowing);
        let of = |(class, name): (usize, &String)| {
            let is_own = |label| label == Some(class);
            let own = |window: &&Window<'_>| is_own(window.label());
            let cut: Vec<Window<'_>> = windows.all().iter().filter(own).copied().collect();
            let series = data.series().iter().filter(|one| is_own(one.label)).count();
            Self::of(deployed, name.clone(), series, &judge(deployed, &cut))
        };
        strangers.map(of).filter(|one| one.series > 0).collect()
    }

    /// Adds the counts of further series of the same class.
    pub fn add(&mut self, other: &Self) {
        self.series += other.series;
        self.windows += other.windows;
        self.undecided += other.undecided;
        self.decided.iter_mut().zip(&other.decided).for_each(|(own, other)| own.1 += other.1);
        if let (Some(own), Some(other)) = (&mut self.rejected, other.rejected) {
            *own += other;
        }
    }

    fn of(deployed: &Deployed, class: String, series: usize, judged: &[Judged]) -> Self {
        let mut decided = vec![0; deployed.classes().len()];
        judged.iter().filter_map(|one| one.decision).for_each(|decision| decided[decision] += 1);
        let confidence = deployed.confidence().map(|confidence| confidence.of_core());
        let rejected = confidence
            .filter(|confidence| confidence.rejects())
            .map(|confidence| judged.iter().filter(|one| rejected(&confidence, one)).count());
        let (windows, undecided) = (judged.len(), judged.len() - decided.iter().sum::<usize>());
        let decided = deployed.classes().iter().cloned().zip(decided).collect();
        Self { class, series, windows, decided, undecided, rejected }
    }
}
