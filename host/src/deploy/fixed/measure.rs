//! Effect of rounding a classifier to fixed point on its decisions.

use fishweir_core::classify::ScoreOutOfRange;
use serde::Serialize;

use super::FixedPoint;
use super::codebooks::Codewords;
use super::error::QuantiseError;
use crate::classifier::Classifier;
use crate::data::{Dataset, Window, Windowing};
use crate::deploy::deployed::Deployed;
use crate::deploy::error::DeployError;
use crate::deploy::stream::Stream;
use crate::parallel::{part_size, try_each};
use crate::words::counted;

/// Deviation of decision values in fixed point from those in `f64`, over the windows of a data set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deviation {
    /// Windows compared: those of which a sample was taken at least by one of the two.
    pub windows: usize,
    /// Largest absolute difference of a decision value.
    pub worst: f64,
    /// Mean absolute difference of a decision value.
    pub mean: f64,
    /// Mean absolute margin in `f64`, for comparison with the differences.
    pub mean_margin: f64,
    /// Share of windows with the same decision; a window with a sample that only one of the two refused has none.
    pub equal_decisions: f64,
    /// Samples that one of the two refused and the other did not.
    pub refused_by_one: usize,
    /// Agreement of the codewords with those in `f64`; `None` without codebooks.
    pub codewords: Option<Codewords>,
    /// Bounds on the effect of the roundings along a window on a decision value, whatever digits they drop.
    pub bound: DeviationBound,
}

/// Bounds on differences of decision values, one per window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviationBound {
    /// Number of windows whose difference is beyond their bound: 0 if the arithmetic is as assumed.
    pub exceeded: usize,
    /// Number of windows with a bound. Those in which a model is ruled out, or nearly so, have none.
    pub windows: usize,
    /// Largest bound; `None` if no window has one.
    pub worst: Option<f64>,
    /// Median bound.
    pub median: Option<f64>,
    /// Share of all windows whose margin in `f64` is beyond the bound: rounding cannot change their decisions.
    pub certain: f64,
}

/// Limits on the deviation of a classifier that is exported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviationLimits {
    /// The least share of equal decisions.
    pub equal_decisions: f64,
}

impl Default for DeviationLimits {
    fn default() -> Self {
        Self { equal_decisions: 0.995 }
    }
}

/// Reason why fixed point could not be measured, or failed its limits.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum MeasureError {
    /// The classifier does not compile in `f64`.
    #[error(transparent)]
    Compile(#[from] DeployError),
    /// The classifier does not fit fixed point.
    #[error(transparent)]
    Quantise(#[from] QuantiseError),
    /// A score that is no number.
    #[error(transparent)]
    Range(#[from] ScoreOutOfRange),
    /// No window to compare on.
    #[error("{0}: no window to compare decisions on; shorten the window")]
    NoWindows(String),
    /// No sample to compare on.
    #[error(
        "{0}: the model refuses every sample, so there is no decision to compare; use data in the units of the \
         training"
    )]
    NoSample(String),
    /// Too many decisions differ.
    #[error(
        "fixed point decides as f64 on {found:.2} % of {}, and {wanted:.2} % are required: export f32, or accept \
         fewer equal decisions{}",
        counted(*windows, "window"),
        refused(*refused_by_one)
    )]
    #[strum(serialize = "decisions-differ")]
    Differs {
        /// Per cent of windows decided alike.
        found: f64,
        /// Per cent wanted.
        wanted: f64,
        /// Windows compared.
        windows: usize,
        /// Samples that one of the two refused and the other did not.
        refused_by_one: usize,
    },
}

crate::kinds!(MeasureError,
    Self::Compile(error) => error,
    Self::Quantise(error) => error,
    Self::Range(error) => error,
);

/// Describes the effect of refused samples on the deviation.
fn refused(by_one: usize) -> String {
    match by_one {
        0 => String::new(),
        some => format!(
            "; {} refused in one of the two only: are they in the units of the training?",
            counted(some, "sample")
        ),
    }
}

impl FixedPoint {
    /// Runs every window of a data set through this and through the classifier it was made from, in
    /// `f64`.
    ///
    /// # Errors
    /// [`MeasureError`]; a large deviation is not an error here: see [`Deviation::check`].
    pub fn deviation(
        &self,
        classifier: &Classifier,
        data: &Dataset,
        windowing: Option<&Windowing>,
    ) -> Result<Deviation, MeasureError> {
        let exact: Deployed<f64> = classifier.compile_in()?;
        let windows = data.windows(windowing);
        let all = windows.all();
        let parts: Vec<&[Window<'_>]> = all.chunks(part_size(all.len())).collect();
        let of_part = |part: usize| -> Result<Vec<Option<WindowDeviation>>, MeasureError> {
            let mut streams = (self.stream(), exact.stream());
            let mut compare = |window| WindowDeviation::over((self, &exact), &mut streams, window);
            parts[part].iter().map(|window| Ok(compare(window.samples)?)).collect()
        };
        let compared: Vec<Option<WindowDeviation>> =
            try_each(parts.len(), &of_part)?.into_iter().flatten().collect();
        if compared.is_empty() {
            return Err(MeasureError::NoWindows(data.source().to_owned()));
        }
        let compared: Vec<WindowDeviation> = compared.into_iter().flatten().collect();
        if compared.is_empty() {
            return Err(MeasureError::NoSample(data.source().to_owned()));
        }
        let count = compared.len();
        let mean =
            |of: fn(&WindowDeviation) -> f64| compared.iter().map(of).sum::<f64>() / count as f64;
        Ok(Deviation {
            windows: count,
            worst: compared.iter().map(|one| one.worst).fold(0.0, f64::max),
            mean: mean(|one| one.mean),
            mean_margin: mean(|one| one.margin),
            equal_decisions: mean(|one| f64::from(u8::from(one.equal))),
            refused_by_one: compared.iter().map(|one| one.refused_by_one).sum(),
            codewords: self.engine.codebooks.as_ref().map(|_| {
                compared.iter().fold(Codewords::default(), |sum, one| Codewords {
                    equal: sum.equal + one.codewords.equal,
                    all: sum.all + one.codewords.all,
                })
            }),
            bound: DeviationBound::of(&compared),
        })
    }
}

impl Deviation {
    /// Checks that the deviation is small enough for an export.
    ///
    /// # Errors
    /// [`MeasureError::Differs`].
    pub fn check(&self, limits: DeviationLimits) -> Result<(), MeasureError> {
        if self.equal_decisions >= limits.equal_decisions {
            return Ok(());
        }
        Err(MeasureError::Differs {
            found: 100.0 * self.equal_decisions,
            wanted: 100.0 * limits.equal_decisions,
            windows: self.windows,
            refused_by_one: self.refused_by_one,
        })
    }
}

impl DeviationBound {
    fn of(compared: &[WindowDeviation]) -> Self {
        let mut bounds: Vec<f64> = compared.iter().filter_map(|one| one.bound).collect();
        bounds.sort_by(f64::total_cmp);
        let certain = compared.iter().filter(|one| one.certain).count();
        let beyond = |one: &&WindowDeviation| one.bound.is_some_and(|bound| one.worst > bound);
        Self {
            exceeded: compared.iter().filter(beyond).count(),
            windows: bounds.len(),
            worst: bounds.last().copied(),
            median: bounds.get(bounds.len() / 2).copied(),
            certain: certain as f64 / compared.len().max(1) as f64,
        }
    }
}

struct WindowDeviation {
    worst: f64,
    mean: f64,
    margin: f64,
    equal: bool,
    refused_by_one: usize,
    codewords: Codewords,
    /// Bound of the window with the worst difference.
    bound: Option<f64>,
    certain: bool,
}

impl WindowDeviation {
    /// Compares the two over a window; `None` if both refuse all of it.
    fn over(
        (in_fixed, in_f64): (&FixedPoint, &Deployed<f64>),
        (fixed, exact): &mut (Stream, Stream<f64>),
        samples: crate::data::SamplesView<'_>,
    ) -> Result<Option<Self>, ScoreOutOfRange> {
        fixed.reset();
        exact.reset();
        let (mut refused_by_one, mut taken_by_both) = (0, Vec::new());
        for sample in samples.iter() {
            let taken = (fixed.push(sample).is_ok(), exact.push(sample).is_ok());
            refused_by_one += usize::from(taken.0 != taken.1);
            if taken == (true, true) {
                taken_by_both.push(sample);
            }
        }
        if taken_by_both.is_empty() && refused_by_one == 0 {
            return Ok(None);
        }
        let codewords =
            match in_fixed.engine.codebooks.as_ref().zip(in_f64.common.codebooks.as_ref()) {
                Some((fixed, exact)) => {
                    fixed.equal_codewords(exact, &taken_by_both, &in_fixed.engine.places)
                }
                None => Codewords::default(),
            };
        let (found, wanted) = (fixed.decision_values()?, exact.decision_values()?);
        // Infinite values, of classes that are ruled out, agree or differ infinitely.
        let difference = |(&found, &wanted): (&f32, &f64)| match f64::from(found) {
            found if found == wanted => 0.0,
            found => (found - wanted).abs(),
        };
        let differences: Vec<f64> = found.iter().zip(&wanted).map(difference).collect();
        let bounds = match refused_by_one {
            0 => in_fixed.bounds(in_f64, &taken_by_both, &exact.log_likelihoods(), &wanted),
            _ => None,
        };
        let (values, wanted) = (wanted, exact.decision()?);
        // Every other class is behind by more than both values may be off.
        let certain = bounds.as_ref().is_some_and(|bounds| match values.as_slice() {
            [value] => value.abs() > bounds[0],
            values => values.iter().enumerate().all(|(other, value)| {
                let off = bounds[wanted.class] + bounds[other];
                other == wanted.class || values[wanted.class] - value > off
            }),
        });
        Ok(Some(Self {
            worst: differences.iter().copied().fold(0.0, f64::max),
            mean: differences.iter().sum::<f64>() / differences.len().max(1) as f64,
            margin: wanted.margin,
            equal: refused_by_one == 0 && fixed.decision()?.class == wanted.class,
            refused_by_one,
            codewords,
            bound: bounds.map(|bounds| bounds.into_iter().fold(0.0, f64::max)),
            certain,
        }))
    }
}
