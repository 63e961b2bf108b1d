/// Coordinates of a model's parameters: those in which a score is the gradient and a direction a rate of change.
///
/// | part of the model | coordinate |
/// |---|---|
/// | rows of probabilities: initial, transition, categorical, mixture weights | [`Probabilities`] |
/// | Gaussian means | the mean, in units of the channel |
/// | Gaussian variances and covariances | [`Spread`] |
/// | Poisson rates | `log rate` |
/// | Bernoulli probabilities | the logit `log p / (1 - p)` |
///
/// A score in any of them gives the same linear classifiers once directions are converted with it;
/// practical (unwhitened) kernels differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Parametrisation {
    /// Parametrisation of rows of probabilities.
    pub probabilities: Probabilities,
    /// Parametrisation of Gaussian variances and covariances.
    pub spread: Spread,
}

impl Parametrisation {
    /// Ratios and variances.
    pub const RATIO: Self = Self { probabilities: Probabilities::Ratio, spread: Spread::Variance };
    /// Logits and log standard deviations: every coordinate is unbounded and its score is bounded by
    /// counts. The default.
    pub const SOFTMAX: Self =
        Self { probabilities: Probabilities::Softmax, spread: Spread::LogStandardDeviation };

    /// Sets the parametrisation of variances.
    pub const fn with_spread(self, spread: Spread) -> Self {
        Self { spread, ..self }
    }
}

/// The coordinates of a row of probabilities `p`, of which `n_j` were expected to be taken and
/// `n = sum_j n_j`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Probabilities {
    /// Unconstrained ratio parameters at the normalised point: `p_j = a_j / sum_k a_k`, the
    /// derivative at `a = p` (Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis",
    /// 2004, equations 12.4 and 12.5 with the centring term of the transitions as sum over the
    /// state left).
    ///
    /// ```text
    /// score_j = n_j / p_j - n        dp_j = w_j - p_j sum_k w_k
    /// ```
    ///
    /// Where `p_j` is exactly zero, `n_j / p_j` is its limit: what the log-likelihood would gain.
    Ratio,
    /// Logits: `p_j = exp(a_j) / sum_k exp(a_k)`.
    ///
    /// ```text
    /// score_j = n_j - p_j n          dp_j = p_j (w_j - sum_k p_k w_k)
    /// ```
    ///
    /// Where `p_j` is exactly zero the score is zero and no direction moves it.
    #[default]
    Softmax,
}

/// The coordinates of a Gaussian's variance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Spread {
    /// The variance `v`, or the covariance matrix: its score is the symmetric matrix `G` with
    /// `d log p = sum_ab G_ab dSigma_ab`.
    Variance,
    /// The log standard deviation, `v = v_0 exp(2 l)`. Of a covariance matrix with lower Cholesky
    /// factor `S`, the symmetric matrix `L` of `Sigma = S exp(2 L) S'`; where both are diagonal the
    /// two agree.
    #[default]
    LogStandardDeviation,
}
