//! Cross-validation of a spotter on series that it has never seen, compared with windows under the same condition.

use super::{SpotFigures, SpotPlan, SpottingError, WindowedEvents, WindowedEventsError};
use crate::data::{DataError, Folds, Marked};

/// One fold of a cross-validated spotter.
#[derive(Clone, Debug)]
pub struct SpotFold {
    /// The series that were judged.
    pub test: Vec<usize>,
    /// The penalty chosen on the others, in nats.
    pub penalty: f64,
    /// Events found by the spotter of the other folds,
    pub spotted: SpotFigures,
    /// and a classifier of windows that learnt the same.
    pub windowed: WindowedEvents,
}

/// A cross-validated spotter: every series is judged once.
#[derive(Clone, Debug)]
pub struct SpotValidation {
    /// Fold by fold.
    pub folds: Vec<SpotFold>,
}

impl SpotValidation {
    /// Figures of the spotted events, over all folds together.
    pub fn spotted(&self) -> SpotFigures {
        pooled(self.folds.iter().map(|fold| &fold.spotted))
    }

    /// Figures of the windows' events, over all folds together.
    pub fn windowed(&self) -> SpotFigures {
        pooled(self.folds.iter().map(|fold| &fold.windowed.figures))
    }
}

fn pooled<'a>(all: impl Iterator<Item = &'a SpotFigures>) -> SpotFigures {
    let mut sum = SpotFigures::default();
    all.for_each(|one| sum.pool(one));
    sum
}

/// Reason why a spotter is not cross-validated.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SpotValidationError {
    /// A fold without series.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No spotter.
    #[error(transparent)]
    Spot(#[from] SpottingError),
    /// No classifier of windows.
    #[error(transparent)]
    Windows(#[from] WindowedEventsError),
}

crate::kinds!(SpotValidationError,
    Self::Data(error) => error,
    Self::Spot(error) => error,
    Self::Windows(error) => error,
);

impl SpotPlan {
    /// Cross-validates: in each fold a spotter is made of the other folds' series as [`carry_out`](Self::carry_out) makes it, its
    /// penalty chosen on these alone, and so is what decides on [windows](Self::windowed); both are judged on the
    /// fold's.
    ///
    /// Cost: a [`carry_out`](Self::carry_out) and a [`windowed`](Self::windowed) a fold.
    ///
    /// # Errors
    /// [`SpotValidationError`].
    pub fn cross_validate(
        &self,
        marked: &Marked,
        folds: &Folds,
        progress: &(dyn Fn() + Sync),
    ) -> Result<SpotValidation, SpotValidationError> {
        let fold = |fold| {
            let test = folds.test(fold);
            let (own, others) = (marked.part(&test)?, marked.part(&folds.train(fold))?);
            let trial = self.carry_out(&others, progress)?;
            let spotted = self.figures(&trial.spotter, &own);
            let windowed = self.windowed(&others, &own, progress)?;
            Ok(SpotFold { test, penalty: trial.penalty, spotted, windowed })
        };
        let folds = (0..folds.len()).map(fold).collect::<Result<_, SpotValidationError>>()?;
        Ok(SpotValidation { folds })
    }
}
