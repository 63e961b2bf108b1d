use crate::kernel::KernelError;

/// Convention for the factor one half of a radial basis function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// `exp(-lambda/2 |x - y|^2)`.
    #[default]
    Half,
    /// `exp(-lambda |x - y|^2)`.
    Full,
}

/// A Gaussian radial basis function of a rate `lambda` and a squared distance. Symbols, and hidden states,
/// are vectors with a single one, so that two of them that differ are `sqrt 2` apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rbf {
    lambda: f64,
    convention: Convention,
}

impl Rbf {
    /// A function of a rate from zero, where all points are alike, to infinity, where only equal points are.
    ///
    /// # Errors
    /// [`KernelError::Parameter`] for a negative rate.
    pub fn new(lambda: f64, convention: Convention) -> Result<Self, KernelError> {
        if lambda >= 0.0 {
            return Ok(Self { lambda, convention });
        }
        let range = "zero, positive or infinite";
        Err(KernelError::Parameter { name: "lambda", value: lambda, range })
    }

    /// Cost of a unit of squared distance: `-log` of the function there.
    fn rate(self) -> f64 {
        match self.convention {
            Convention::Half => 0.5 * self.lambda,
            Convention::Full => self.lambda,
        }
    }

    /// The function of two symbols, or states, that differ: `m = exp(-lambda)` or `exp(-2 lambda)`.
    #[must_use]
    pub fn mismatch(self) -> f64 {
        (-2.0 * self.rate()).exp()
    }

    /// The function of a squared distance; zero of an infinite one.
    pub(super) fn of_squared(self, squared: f64) -> f64 {
        if squared == f64::INFINITY { 0.0 } else { (-self.rate() * squared).exp() }
    }

    /// Checks the function for channels, between which an infinite rate distinguishes all but equal samples.
    pub(super) fn of_channels(self) -> Result<Self, KernelError> {
        if self.lambda.is_finite() {
            return Ok(self);
        }
        let range = "finite for channels, as hardly two samples are equal";
        Err(KernelError::Parameter { name: "lambda", value: self.lambda, range })
    }
}

/// `|x - y|^2`.
#[inline]
pub(super) fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
    let y = &y[..x.len()];
    let mut sum = 0.0;
    for k in 0..x.len() {
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    }
    sum
}
