//! What a training takes, before it is begun.

use super::options::{ScoreModels, TrainError, TrainOptions};
use crate::data::{Dataset, Kind};

/// Numbers that the features of all windows may be.
const MOST_NUMBERS: u128 = 1 << 28;

/// Passes of a learner over its examples, in round figures.
const PASSES: u128 = 30;

/// What training a classifier on features takes at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Windows, varied copies of them included.
    pub windows: usize,
    /// Features of each.
    pub features: usize,
    /// Multiply-adds of all machines, those of inner folds included, in round figures.
    pub multiply_adds: u128,
}

impl Effort {
    /// Of training on some series; `None` for Bayes, which has no features.
    #[must_use]
    pub fn of(data: &Dataset, series: &[usize], options: &TrainOptions) -> Option<Self> {
        options.kind.features()?;
        let classes = data.classes().len();
        let models = if options.scores == ScoreModels::All { classes } else { 1 };
        // Emissions alone: how many transitions there are is not settled yet.
        let emission = match data.kind() {
            Kind::Channels(names) => 2 * names.len(),
            Kind::Symbols(alphabet) => alphabet.len(),
        };
        let features = models * options.baum_welch.states * emission;
        // Mirror images to choose from: none, or each axis, which is a series more.
        let (exact, mirrors) = match options.augment.mirrors(data.kind()) {
            Some([]) => (1, 1),
            Some(_) => (2, 1),
            None => (2, 4),
        };
        let cut = data.windows(options.windowing.as_ref()).of_all(series).count();
        let copies = options.augment.copies(data.kind()).saturating_add(1);
        let windows = cut.saturating_mul(exact).saturating_mul(copies);
        let outputs = if classes == 2 { 1 } else { classes };
        let settings = options.scalings.len() * options.c.len() * options.kernels().len().max(1);
        let machines = outputs * (1 + settings * options.inner_folds * mirrors);
        let pass = windows as u128 * features as u128;
        Some(Self { windows, features, multiply_adds: PASSES * machines as u128 * pass })
    }

    /// Refuses what there is no room for.
    pub(super) fn check(&self, classes: usize) -> Result<(), TrainError> {
        check_features(classes, self.windows, self.features)
    }

    /// Minutes, at a thousand million multiply-adds a second.
    #[must_use]
    pub fn minutes(&self) -> f64 {
        self.multiply_adds as f64 / 60e9
    }
}

/// Refuses more features than there is room for.
pub(super) fn check_features(
    classes: usize,
    windows: usize,
    features: usize,
) -> Result<(), TrainError> {
    if windows as u128 * features as u128 <= MOST_NUMBERS {
        return Ok(());
    }
    let gigabytes = windows as f64 * features as f64 * 8e-9;
    Err(TrainError::TooManyFeatures { classes, windows, features, gigabytes })
}
