//! C source of a detector of change.

use fishweir_core::classify::Limit;

use super::literals::{define, float, table};
use super::models::Models;
use super::recursion::Recursion;
use super::{CNames, CSource, CSourceError, END};
use crate::deploy::detector::Detector;
use crate::deploy::model::States;

impl Detector {
    /// Portable C source of the detector, with its header, in the interface of the C library.
    ///
    /// # Errors
    /// [`CSourceError`] naming the part that is not written in C.
    pub fn to_c_source(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        names.check()?;
        let (model, lost) = self.parts();
        let models = Models {
            observations: self.observations(),
            models: std::slice::from_ref(model),
            states: States::Hidden,
            directions: 1,
            seen: self.size(),
            in_part: self.lacks_some(),
            background: None,
        };
        models.check()?;
        let sizes = define(
            "Statistics of the detector: the fit, and the drift along a direction.",
            &[("STATISTICS", "2".into())],
        );
        let push = models.push();
        let header = [
            include_str!("text/begin.h")
                .replace("@SIZES@\n", &(models.sizes().macros() + &sizes))
                .into(),
            models.belief(),
            include_str!("text/detector.h").into(),
            include_str!("text/calls.h").into(),
            push[0].clone(),
            include_str!("text/push_missing.h").into(),
            include_str!("text/detect.h").into(),
            END,
        ];
        let limit = |Limit { mean, threshold }: Limit| [float(mean), float(threshold)];
        let limits = [limit(self.fit()), limit(self.drift())].concat();
        let tables = format!(
            "\n/* What a sample loses of the sums before it; mean and threshold of each statistic. */\n#define LOST {}\n{}",
            float(lost),
            table("float", "LIMIT", &[2, 2], &limits),
        );
        let mut source = models.recursion();
        source.extend([
            tables.into(),
            include_str!("text/ratio.c").into(),
            include_str!("text/detector.c").into(),
            include_str!("text/interface.c").into(),
            push[1].clone(),
            include_str!("text/detect.c").into(),
        ]);
        let comment = models.sizes().comment("A detector of change", self.notes());
        Ok(names.join(&comment, &header, &source))
    }
}
