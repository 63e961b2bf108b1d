//! A trained regression, and its file.

use fishweir_core::contract::{self, Target as CoreTarget};
use serde::{Deserialize, Serialize};

use super::{Classifier, ClassifierError, Contract, file, unseal};
use crate::data::TargetValue;
use crate::deploy::{DeployError, Deployed};
use crate::words::{short, to_three_digits};

/// The number that a regression estimates per window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// Name of the column, without its unit.
    pub name: String,
    /// The unit; empty where it is unknown.
    pub unit: String,
    /// The part of a window that the target is of.
    pub of: TargetValue,
    /// Interval around an estimate; `None` if none was learnt.
    pub interval: Option<TargetInterval>,
}

/// Interval of an estimate: it reaches as far below it as above.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TargetInterval {
    /// Half the width, in the target's unit.
    pub half_width: f64,
    /// Share of true values that it covers.
    pub coverage: f64,
}

/// Mean and standard deviation of a target over the windows of the training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TargetSpread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl Target {
    /// Name and unit: `force [N]`.
    #[must_use]
    pub fn named(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{} [{}]", self.name, self.unit)
        }
    }

    /// Describes name, part of a window and interval.
    #[must_use]
    pub fn words(&self) -> String {
        let of = match self.of {
            TargetValue::Mean => "the mean of a window",
            TargetValue::Last => "the last value of a window",
        };
        let mut words = format!("{}, {of}", self.named());
        if let Some(TargetInterval { half_width, coverage }) = self.interval {
            let space = if self.unit.is_empty() { "" } else { " " };
            let (half, share) = (to_three_digits(half_width), short(100.0 * coverage));
            words += &format!("; \u{b1} {half}{space}{}, to cover {share} %", self.unit);
        }
        words
    }

    /// The core's form.
    pub(crate) fn as_core(&self) -> CoreTarget<'_> {
        let interval = self.interval.unwrap_or(TargetInterval { half_width: 0.0, coverage: 0.0 });
        let of = match self.of {
            TargetValue::Mean => contract::TargetValue::Mean,
            TargetValue::Last => contract::TargetValue::Last,
        };
        CoreTarget {
            name: &self.name,
            unit: &self.unit,
            of,
            half_width: interval.half_width as f32,
            coverage: interval.coverage as f32,
        }
    }

    /// Converts from the core's form; `double` makes a number double.
    pub(super) fn from_core(target: &CoreTarget<'_>, double: fn(f32) -> f64) -> Self {
        let (half_width, coverage) = (double(target.half_width), double(target.coverage));
        Self {
            name: target.name.to_owned(),
            unit: target.unit.to_owned(),
            of: match target.of {
                contract::TargetValue::Mean => TargetValue::Mean,
                contract::TargetValue::Last => TargetValue::Last,
            },
            interval: (coverage > 0.0).then_some(TargetInterval { half_width, coverage }),
        }
    }
}

/// A trained regression: a number per window, in `f64`.
///
/// ```text
/// estimate = bias + f(t) ( sum_m ( weight_m log p_m + direction_m . score_m ) + ... )
/// ```
///
/// It is the one [`Output`](super::Output) of a classifier, whose two classes are the signs of the estimate. So it compiles,
/// streams and is exported as a classifier is.
#[derive(Clone, Debug, PartialEq)]
pub struct Regressor {
    /// The number that is estimated.
    pub target: Target,
    /// The target in training.
    pub trained: TargetSpread,
    /// The classifier of one output.
    pub estimator: Classifier,
}

/// The form of a [`Regressor`] in its file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    target: String,
    unit: String,
    /// `true` if the target is the last value of a window.
    last: bool,
    /// Half the width of the interval, and 0 without one.
    half_width: f64,
    /// Share that the interval covers, and 0 without one.
    coverage: f64,
    mean: f64,
    deviation: f64,
    estimator: Classifier,
}

impl Regressor {
    /// Names of the two classes of its estimator: the signs of an estimate.
    pub const SIGNS: [&str; 2] = ["-", "+"];

    /// Returns whether the bytes are those of a regression's file.
    #[must_use]
    pub fn is_one(bytes: &[u8]) -> bool {
        Self::stored("", bytes).is_ok()
    }

    fn stored(file: &str, bytes: &[u8]) -> Result<Stored, ClassifierError> {
        unseal(file, bytes)?.parse()
    }

    /// The text of its file: JSON with a checksum.
    ///
    /// # Errors
    /// Where a number has no place in JSON.
    pub fn to_json(&self) -> Result<String, ClassifierError> {
        let Self { target, trained, estimator } = self;
        let interval = target.interval.unwrap_or(TargetInterval { half_width: 0.0, coverage: 0.0 });
        file::seal(&Stored {
            target: target.name.clone(),
            unit: target.unit.clone(),
            last: target.of == TargetValue::Last,
            half_width: interval.half_width,
            coverage: interval.coverage,
            mean: trained.mean,
            deviation: trained.deviation,
            estimator: estimator.clone(),
        })
    }

    /// Parses and checks the bytes of a file; `file` is for messages.
    ///
    /// # Errors
    /// [`ClassifierError`] naming the file and what is wrong.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, ClassifierError> {
        let stored = Self::stored(file, bytes)?;
        let Stored { half_width, coverage, mean, deviation, estimator, .. } = stored;
        let target = Target {
            name: stored.target,
            unit: stored.unit,
            of: if stored.last { TargetValue::Last } else { TargetValue::Mean },
            interval: (coverage != 0.0).then_some(TargetInterval { half_width, coverage }),
        };
        let found = Self { target, trained: TargetSpread { mean, deviation }, estimator };
        let inconsistent = |why| ClassifierError::Inconsistent { file: file.to_owned(), why };
        found.check().map_err(inconsistent)?;
        Ok(found)
    }

    fn check(&self) -> Result<(), String> {
        if !self.target.as_core().is_valid() {
            return Err("`target` has an invalid name, unit or interval".into());
        }
        self.estimator.check()?;
        let one = match self.estimator.expansion() {
            Some(expansion) => expansion.biases.len() == 1,
            None => self.estimator.outputs().len() == 1,
        };
        if !one || self.estimator.classes != Self::SIGNS {
            return Err("`estimator` needs one output, whose classes are `-` and `+`".into());
        }
        if self.estimator.confidence.is_some() || self.estimator.teaching.is_some() {
            return Err("`estimator` has `confidence` or `teaching`, which are for classes".into());
        }
        Ok(())
    }

    /// Deploys it in `f32`, as a classifier whose contract has a [target](Contract::target).
    ///
    /// # Errors
    /// As [`Classifier::deploy`].
    pub fn deploy(&self) -> Result<Deployed, DeployError> {
        Ok(self.estimator.deploy()?.estimating(&self.target))
    }
}

impl Deployed {
    /// Sets the target.
    fn estimating(mut self, target: &Target) -> Self {
        let contract = self.common.contract.get_or_insert_default();
        contract.target = Some(target.clone());
        *contract = Contract { ..contract.carried() };
        self
    }

    /// The target, if it is a regression: then its one decision value is the estimate.
    #[must_use]
    pub fn target(&self) -> Option<&Target> {
        self.contract()?.target.as_ref()
    }
}
