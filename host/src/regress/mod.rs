//! Regression, a soft sensor: a number per window, and an interval around it.
//!
//! One generative model, which sees no target, gives the Fisher score of a window; ridge regression finds one direction and a bias:
//!
//! ```text
//! estimate(x) = bias + f(t) ( direction . score(x) + weight log p(x) + ... ),     f(t) = 1/t by default
//! ```
//!
//! So an estimate is the one decision value of a classifier: it compiles to a directional derivative, streams and is exported as a
//! classifier is. Kernels on scores are taken with a few windows, the landmarks ([`Nystrom`](crate::learn::Nystrom)): kernel ridge
//! regression on them is ridge regression on their features.
//!
//! Sources: A. E. Hoerl and R. W. Kennard, Ridge regression: biased estimation for nonorthogonal problems, Technometrics 12, 1970;
//! H. Papadopoulos, K. Proedrou, V. Vovk and A. Gammerman, Inductive confidence machines for regression, ECML 2002; J. Lei, M.
//! G'Sell, A. Rinaldo, R. Tibshirani and L. Wasserman, Distribution-free predictive inference for regression, JASA 113, 2018.
//!
//! ```
//! use fishweir::data::{Dataset, Kind, RegressionData, Samples};
//! use fishweir::regress::{RegressionRequest, train};
//!
//! // The target, a third channel, is the swing of the first.
//! let wave = |swing: f64| -> Samples {
//!     (0..40).map(|t| [swing * (0.7 * f64::from(t)).sin(), 1.0, swing]).collect()
//! };
//! let channels = Kind::Channels(vec!["x".into(), "y".into(), "swing [mm]".into()]);
//! let series = (1..=24).map(|n| ("all", wave(f64::from(n))));
//! let data = RegressionData::new(Dataset::labelled(channels, series)?, "swing")?;
//!
//! let mut request = RegressionRequest::default();
//! request.request.codebooks = vec![0];
//! let trained = train(&data, &request, &|| ())?;
//! assert_eq!(trained.regressor.target.unit, "mm");
//! assert!(trained.validation.figures.rmse < trained.validation.baseline.rmse);
//! # Ok::<(), fishweir::Error>(())
//! ```

mod evaluate;
mod figures;
mod train;

pub use evaluate::{
    Estimate, Omitted, RegressionFold, Validation, cross_validate, estimate, interval,
};
pub use figures::RegressionFigures;
pub use train::{RegressionRequest, TrainedRegression, train};
