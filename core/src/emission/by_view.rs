/// Implements the [`Emission`](super::Emission) of an owned distribution through its view, which does the arithmetic.
///
/// Methods that an owned distribution can do better, such as a row without bounds checks, are written by hand.
macro_rules! by_view {
    ($(#[$inline:meta])?) => {
        $(#[$inline])?
        fn log_likelihood(
            &self,
            x: &Self::Observation,
        ) -> <Self::Weight as crate::number::Parameter>::Log {
            self.view().log_likelihood(x)
        }
        fn check(&self, x: &Self::Observation) -> Result<(), crate::error::ObservationError> {
            self.view().check(x)
        }
        fn width(&self) -> usize {
            self.view().width()
        }
        fn validate(&self) -> Result<(), crate::error::ModelError> {
            self.view().validate()
        }
    };
}
pub(super) use by_view;
