//! One form of class models, and the settings of its machine that are still to be chosen: what is tried, and at last
//! what is fitted.

use std::sync::Arc;

use crate::classifier::{Form, Scaling, ScoreModels, Setting};
use crate::data::Kind;
use crate::fit::BaumWelch;
use crate::kernel::ScoreKernel;
use crate::learn::request::Request;
use crate::learn::solver::learner::Learner;
use crate::learn::variation::{Augment, Mirror};

/// Settings of a machine: every combination of the lists' values. Only the list of kernels may be empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) scalings: Vec<Scaling>,
    /// Factors on codebooks' counts; one without codebooks.
    pub(crate) codebook_weights: Vec<f64>,
    /// Kernels on scores and their widths; empty for classifiers that compile.
    pub(crate) kernels: Vec<(Option<f64>, ScoreKernel)>,
    /// Rising.
    pub(crate) c: Vec<f64>,
    /// `true` if whitening is not among the scalings because models have too many parameters.
    pub(crate) without_whitening: bool,
}

impl Settings {
    /// One of them.
    pub(crate) fn only(&self, setting: Setting) -> Self {
        let mut kernels = self.kernels.clone();
        if setting.sigma.is_some() {
            kernels.retain(|(sigma, _)| *sigma == setting.sigma);
        }
        Self {
            scalings: setting.scaling.into_iter().collect(),
            codebook_weights: vec![setting.codebook_weight],
            kernels,
            c: vec![setting.c],
            ..self.clone()
        }
    }

    /// Keeps one scaling, diagonal or else the middle one, and the first weight of codebooks.
    pub(crate) fn of_one_scale(&self) -> Self {
        let diagonal = self.scalings.contains(&Scaling::Diagonal);
        let middle = self.scalings[self.scalings.len() / 2];
        Self {
            scalings: vec![if diagonal { Scaling::Diagonal } else { middle }],
            codebook_weights: vec![self.codebook_weights[0]],
            ..self.clone()
        }
    }

    /// Settings with the middle one of costs and kernels.
    pub(crate) fn middle(&self) -> Self {
        Self {
            c: vec![self.c[self.c.len() / 2]],
            kernels: self.kernels.get(self.kernels.len() / 2).cloned().into_iter().collect(),
            ..self.of_one_scale()
        }
    }

    /// Widths of the kernels; `None` for a kernel without one, or for features.
    pub(crate) fn widths(&self) -> Vec<Option<f64>> {
        let widths: Vec<_> = self.kernels.iter().map(|(width, _)| *width).collect();
        if widths.is_empty() { vec![None] } else { widths }
    }
}

/// Trial on some series: one form, one augmentation, and settings of its machine.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// Request, which no choice changes.
    pub(crate) request: Arc<Request>,
    pub(crate) form: Form,
    /// Fit of the form's models.
    pub(crate) baum_welch: BaumWelch,
    pub(crate) learner: &'static Learner,
    pub(crate) settings: Settings,
    pub(crate) augment: Augment,
}

impl Trial {
    /// Removes the augmentation.
    pub(crate) fn plain(self) -> Self {
        Self { augment: Augment::NONE, ..self }
    }

    /// Fixes the setting of the machine.
    pub(crate) fn frozen(&self, setting: Setting) -> Self {
        Self { settings: self.settings.only(setting), ..self.clone() }
    }

    /// Sets another mirror image of the series.
    pub(crate) fn mirrored(&self, channels: Vec<String>) -> Self {
        let augment = Augment { mirror: Mirror::Channels(channels), ..self.augment.clone() };
        Self { augment, ..self.clone() }
    }

    /// Sets the number of jittered copies.
    pub(crate) fn with_copies(&self, copies: usize) -> Self {
        Self { augment: self.augment.with_copies(copies), ..self.clone() }
    }

    /// Sets the largest number of passes of Baum-Welch.
    pub(crate) fn with_passes(mut self, most: usize) -> Self {
        self.baum_welch.iterations = self.baum_welch.iterations.min(most);
        self
    }

    /// Returns whether one model is fitted for all classes.
    pub(crate) fn universal(&self) -> bool {
        self.form.models == ScoreModels::Universal
    }

    /// Returns whether hold-out is available in closed form.
    pub(crate) fn in_closed_form(&self) -> bool {
        self.universal() && self.learner.in_closed_form() && self.request.kind.compiles()
    }

    /// Returns whether series are neither mirrored nor copied.
    pub(crate) fn is_plain(&self, observed: &Kind) -> bool {
        self.augment.copies(observed) == 0 && self.augment.mirrors(observed) == Some(&[])
    }
}
