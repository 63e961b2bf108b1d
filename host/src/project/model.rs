//! The model of a project, in the numbers that its image has.

use fishweir_core::contract::Windows;

use super::sample_form::SampleForm;
use crate::classifier::{Contract, DeployedConfidence, Observations};
use crate::data::{Stage, Values};
use crate::deploy::{Common, Cost, Deployed, FixedPoint, WindowStream, Work};

/// The model of a project.
#[derive(Clone, Copy, Debug)]
pub enum ProjectModel<'a> {
    /// Model in `f32`.
    F32(&'a Deployed),
    /// Model in fixed point of 16 bits: samples of channels are integers.
    Q15(&'a FixedPoint),
}

impl<'a> ProjectModel<'a> {
    /// `f32` or `q15`.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Self::F32(_) => "f32",
            Self::Q15(_) => "q15",
        }
    }

    fn common(self) -> &'a Common {
        match self {
            Self::F32(model) => &model.common,
            Self::Q15(model) => &model.common,
        }
    }

    /// Observations of the model.
    pub fn observations(self) -> &'a Observations {
        &self.common().observations
    }

    /// Cost on a device.
    #[must_use]
    pub fn cost(self) -> Cost {
        match self {
            Self::F32(model) => model.cost(),
            Self::Q15(model) => model.cost(),
        }
    }

    /// Work per sample; `None` if no core was measured for it.
    #[must_use]
    pub fn work(self) -> Option<Work> {
        match self {
            Self::F32(model) => model.work(),
            Self::Q15(model) => model.work(),
        }
    }

    /// Bytes of a row of numbers along all directions, one a state, of which the filter holds several while a sample is
    /// taken in.
    pub(super) fn row_bytes(self) -> usize {
        match self {
            Self::F32(model) => 4 * model.states() * (1 + model.directions()),
            Self::Q15(model) => 4 * model.states() * (1 + model.directions()),
        }
    }

    /// The windows of its contract; `None` where it decides on whole series.
    #[must_use]
    pub fn windows(self) -> Option<Windows> {
        self.contract().and_then(Contract::windows)
    }

    /// Contract of the training.
    #[must_use]
    pub fn contract(self) -> Option<&'a Contract> {
        self.common().contract.as_ref()
    }

    /// Returns whether channels may be missing while others are present.
    pub(super) fn in_part(self) -> bool {
        self.contract().is_some_and(Contract::lacks_some)
    }

    /// Bytes of the bits of a decision of the self-test.
    pub(super) fn decision_bytes(self) -> usize {
        if self.confidence().is_some() { 20 } else { 12 }
    }

    /// How its samples are written.
    pub(super) fn form(self) -> SampleForm<'a> {
        let (values, fixed) = match self {
            Self::F32(model) => (model.values(), None),
            Self::Q15(model) => (Values::Reals, Some(model)),
        };
        SampleForm::new(self.observations(), values, self.in_part(), fixed)
    }

    pub(super) fn classes(self) -> &'a [String] {
        &self.common().classes
    }

    pub(super) fn confidence(self) -> Option<&'a DeployedConfidence> {
        self.common().confidence.as_ref()
    }

    /// Returns whether the front end transforms sound.
    pub(super) fn is_of_sound(self) -> bool {
        self.common().front.front().stages().iter().any(Stage::is_of_sound)
    }

    /// Samples until the second row of its front end.
    pub(super) fn second_row(self) -> usize {
        self.common().front.first() + self.common().front.every()
    }

    /// Returns whether reading may fail: a machine's scores may leave the range of its numbers.
    pub(super) fn may_not_read(self) -> bool {
        match self {
            Self::F32(model) => model.kernel_name().is_some(),
            Self::Q15(_) => false,
        }
    }

    pub(super) fn window_stream(self) -> WindowStream {
        match self {
            Self::F32(model) => model.window_stream(),
            Self::Q15(model) => model.window_stream(),
        }
    }

    pub(super) fn to_source(self) -> String {
        match self {
            Self::F32(model) => model.to_source(),
            Self::Q15(model) => model.to_source(),
        }
    }
}
