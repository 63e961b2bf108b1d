//! Parameters of kernels by name.
//!
//! A kernel that takes another number declares a [`NumberParameter`] in its own file and lists it in its
//! [`Entry`](super::registry::Entry). Options, help and checks are derived from that.

use fishweir_core::emission::Parametrisation;

use super::{Information, Metric};

/// A parameter of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelParameter {
    /// [`Settings::parametrisation`].
    Parametrisation,
    /// [`Settings::metric`].
    Information,
    /// A number of [`Settings::number`].
    Number(&'static NumberParameter),
}

impl KernelParameter {
    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parametrisation => "parametrisation",
            Self::Information => "information",
            Self::Number(number) => number.name,
        }
    }
}

/// A parameter that is one number.
#[derive(Clone, Copy, Debug)]
pub struct NumberParameter {
    /// Name of the parameter.
    pub name: &'static str,
    /// A line about it, with its default.
    pub about: &'static str,
    /// The symbol of its value in help: `RHO`.
    pub symbol: &'static str,
    /// The values that it can have.
    pub range: NumberRange,
    /// Default value; of several kernels with defaults of their own the most common one.
    pub default: f64,
}

/// Parameters are compared by their names.
impl PartialEq for NumberParameter {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
impl Eq for NumberParameter {}

/// Values that a number can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberRange {
    /// Above zero, finite.
    Positive,
    /// A number that is not negative, with infinity as the limit.
    Rate,
    /// Whole, from the first to the second.
    Whole(u32, u32),
    /// 0 or 1: an option without a value.
    Switch,
}

impl NumberRange {
    /// Returns whether the range contains a value.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        match self {
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::Rate => value >= 0.0,
            Self::Whole(least, most) => {
                value.fract() == 0.0 && value >= f64::from(least) && value <= f64::from(most)
            }
            Self::Switch => value == 0.0 || value == 1.0,
        }
    }

    /// Describes it, after `must be`.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Positive => "a finite number above 0".into(),
            Self::Rate => "a number of 0 or more, or inf".into(),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Switch => "0 or 1".into(),
        }
    }
}

/// Values of parameters. A kernel reads those that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Coordinates of the parameters that scores are gradients with respect to.
    pub parametrisation: Parametrisation,
    /// Metric that turns scores into features.
    pub metric: Metric,
    /// Information that is there already, one matrix per model; empty for that which the metric says.
    pub information: Vec<Information>,
    numbers: Vec<(&'static NumberParameter, f64)>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(Parametrisation::SOFTMAX, Metric::Practical)
    }
}

impl Settings {
    /// Settings of scores, and the defaults of all numbers.
    #[must_use]
    pub fn new(parametrisation: Parametrisation, metric: Metric) -> Self {
        Self { parametrisation, metric, information: Vec::new(), numbers: Vec::new() }
    }

    /// Gives a parameter a value; a later one replaces it.
    #[must_use]
    pub fn with(mut self, parameter: &'static NumberParameter, value: f64) -> Self {
        self.numbers.retain(|(other, _)| *other != parameter);
        self.numbers.push((parameter, value));
        self
    }

    /// Returns the value given to a parameter.
    #[must_use]
    pub fn given(&self, parameter: &NumberParameter) -> Option<f64> {
        self.numbers.iter().find(|(other, _)| *other == parameter).map(|(_, value)| *value)
    }

    /// Returns the value of a parameter, its default if none is given.
    #[must_use]
    pub fn number(&self, parameter: &NumberParameter) -> f64 {
        self.given(parameter).unwrap_or(parameter.default)
    }

    /// Value of a whole number.
    #[must_use]
    pub fn whole(&self, parameter: &NumberParameter) -> usize {
        self.number(parameter) as usize
    }
}

/// Width of a Gaussian, in units of the features.
pub const SIGMA: NumberParameter = NumberParameter {
    name: "sigma",
    about: "Width of the kernel, relative to scores of mean square norm one (gaussian) [default: 1]",
    symbol: "S",
    range: NumberRange::Positive,
    default: 1.0,
};

/// Degree of a polynomial.
pub const POWER: NumberParameter = NumberParameter {
    name: "power",
    about: "Degree (polynomial) [default: 2]",
    symbol: "M",
    range: NumberRange::Whole(1, 64),
    default: 2.0,
};

/// Symbols counted together, or samples of a window after its first. Each kernel has its own default.
pub const ORDER: NumberParameter = NumberParameter {
    name: "order",
    about: "Symbols counted together, 1 or 2 (count) [default: 1], of a word (spectrum, mismatch) [default: 3]; \
            samples of a window after its first (empirical-mean-map) [default: 0]",
    symbol: "K",
    range: NumberRange::Whole(0, 255),
    default: 1.0,
};

/// Counts as they are, not divided by the length.
pub const RAW: NumberParameter = NumberParameter {
    name: "raw",
    about: "Do not divide counts by the number of samples (count)",
    symbol: "",
    range: NumberRange::Switch,
    default: 0.0,
};

/// Rate of a radial basis function of samples.
pub const LAMBDA: NumberParameter = NumberParameter {
    name: "lambda",
    about: "Rate of exp(-lambda/2 |x - y|^2) of two samples, in their units; of symbols that differ it is \
            exp(-lambda) (mean maps) [default: 1]",
    symbol: "L",
    range: NumberRange::Rate,
    default: 1.0,
};

/// Rate at which a kernel is exponentiated.
pub const NU: NumberParameter = NumberParameter {
    name: "nu",
    about: "Rate nu of exp(-nu |x - y|^2), with the distance that the kernel defines (latent-mean-map) [default: no \
            exponential]; or of the exponential of the divergence (symmetric-kl) [default: 1]",
    symbol: "NU",
    range: NumberRange::Positive,
    default: 1.0,
};

/// Power of a probability product.
pub const RHO: NumberParameter = NumberParameter {
    name: "rho",
    about: "Power of the probability product: 0.5 is Bhattacharyya's, 1 the expected likelihood (ppk) \
            [default: 1 of hidden Markov models, else 0.5]",
    symbol: "RHO",
    range: NumberRange::Positive,
    default: 0.5,
};

/// Transitions of the sequences that models with a past are compared over.
pub const STEPS: NumberParameter = NumberParameter {
    name: "steps",
    about: "Transitions of the sequences that hmm, lds and switching are compared over [default: 10]",
    symbol: "N",
    range: NumberRange::Whole(0, 1_000_000),
    default: 10.0,
};

/// Time that heat has spread.
pub const TIME: NumberParameter = NumberParameter {
    name: "diffusion-time",
    about: "Diffusion time of the kernel (heat) [default: 0.25]",
    symbol: "T",
    range: NumberRange::Positive,
    default: 0.25,
};

#[cfg(test)]
mod tests {
    use super::super::registry::KERNELS;
    use super::*;

    #[test]
    fn settings_have_what_was_given_last_or_the_default() {
        let settings = Settings::default().with(&RHO, 1.0).with(&RHO, 2.0);
        assert_eq!(settings.number(&RHO), 2.0);
        assert_eq!(settings.given(&NU), None);
        assert_eq!(settings.number(&NU), 1.0);
        assert_eq!(settings.whole(&STEPS), 10);
    }

    #[test]
    fn defaults_are_of_their_ranges_and_one_name_is_one_parameter() {
        let taken = KERNELS.iter().flat_map(|entry| entry.takes);
        let mut seen: Vec<&NumberParameter> = Vec::new();
        for parameter in taken {
            let KernelParameter::Number(number) = *parameter else { continue };
            assert!(number.range.contains(number.default), "{}", number.name);
            match seen.iter().find(|other| ***other == *number) {
                Some(other) => assert_eq!(other.about, number.about, "{}", number.name),
                None => seen.push(number),
            }
        }
        assert!(seen.len() >= 9);
    }
}
