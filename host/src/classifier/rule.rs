//! Rules of decision.

use fishweir_core::kernel::Affinity;
use serde::{Deserialize, Serialize};

use crate::kernel::ScoreKernel;
use crate::kernel::marginal::MarginalModel;
use crate::kernel::mean_map::words_of;
use crate::runtime::{EmissionDirection, Hmm};

/// Rule that computes decision values.
///
/// For two classes one output decides by its sign (class 1 if positive), otherwise the largest of one per class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Linear in evidence and scores: it compiles to directions, or needs no direction.
    Linear(Vec<Output>),
    /// Weights on the frequencies of words of symbols.
    ///
    /// Directions have a row of emissions per context, in lexicographic order, and the classifier's one model finds every symbol
    /// equally likely.
    Words {
        /// Symbols of a word before its last: the context that it comes in.
        order: usize,
        /// The outputs.
        outputs: Vec<Output>,
    },
    /// Kernel values with stored items, for which no direction stands.
    Expansion(Expansion),
}

/// A direction in a model's parameters: logits of initial and transition probabilities, and of
/// symbols, or means (in the sensor's units) and log standard deviations. Along it the derivative of
/// `log p` weighs the score.
///
/// Or one in the logarithms of the model's factors, which need not sum to one: with an emission part
/// of weights on expected statistics, `initial` and `transition` are rates of such logarithms too. Along it the derivative of `log p` weighs expected
/// statistics: `d log p / d log A_ij` is the expected number of transitions from `i` to `j`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Rates of the initial logits, `[state]`.
    pub initial: Vec<f64>,
    /// Rates of the transition logits, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Rates of the emissions' parameters.
    pub emission: EmissionDirection,
}

/// One output: `bias + f(t) ( sum_m ( weight_m log p_m + direction_m . score_m ) + sum_w codeword_w count_w +
/// sum_l level_l exceeded_l )`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Bias.
    pub bias: f64,
    /// Weights on the models' log-likelihoods, `[model]`.
    pub weights: Vec<f64>,
    /// Directions, `[model]`; empty where the classifier uses no score.
    pub directions: Vec<Direction>,
    /// Weights of codewords, `[codebook][codeword]`; empty without codebooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codewords: Vec<f64>,
    /// Weights of levels that a codeword's likeness exceeds, `[codebook][codeword][level]`; empty without levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<f64>,
}

/// A kernel machine: `value_o(x) = bias_o + sum_m coefficient_om k(item_m, x)`.
///
/// Items all of whose coefficients are zero are no support vectors and are not deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    /// The kernel and its items.
    pub kernel: ExpansionKernel,
    /// `[output][item]`.
    pub coefficients: Vec<Vec<f64>>,
    /// `[output]`.
    pub biases: Vec<f64>,
}

/// A kernel that no direction stands for, and the items it was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpansionKernel {
    /// The fixed-length kernel of the classifier's one model, over symbols.
    FixedLength {
        /// Sequences of one length, `[item][position]`.
        items: Vec<Vec<u16>>,
        /// `true` for `k(s, x) / sqrt(k(s, s) k(x, x))`; otherwise it is `k(s, x) exp(-log_scale)`.
        normalised: bool,
        /// The logarithm of the divisor of an unnormalised kernel in training.
        log_scale: f64,
    },
    /// The fixed-length kernel of the classifier's one model, over channels.
    FixedLengthChannels {
        /// Sequences of one length, `[item][position][channel]`.
        items: Vec<Vec<Vec<f64>>>,
        /// As of [`FixedLength`](Self::FixedLength).
        normalised: bool,
        /// As of [`FixedLength`](Self::FixedLength).
        log_scale: f64,
    },
    /// The kernel over the set of the classifier's models: `k(s, x) = sum_m prior_m P(s | m) P(x | m)`.
    ModelSet {
        /// Prior, `[model]`.
        prior: Vec<f64>,
        /// Log-likelihoods of the items, `[item][model]`; `None` where the model makes the item impossible.
        items: Vec<Vec<Option<f64>>>,
        /// As of [`FixedLength`](Self::FixedLength).
        normalised: bool,
        /// As of [`FixedLength`](Self::FixedLength).
        log_scale: f64,
    },
    /// A kernel over another hidden model: hidden binomial, pair HMM, hidden tree or pruned tree.
    Hidden {
        /// The hidden model, with its numbers; in the classifier's file, the text of its own.
        #[serde(with = "crate::kernel::marginal::as_text")]
        model: Box<MarginalModel>,
        /// Strings, `[item][position]`.
        items: Vec<Vec<u16>>,
        /// As of [`FixedLength`](Self::FixedLength).
        normalised: bool,
        /// As of [`FixedLength`](Self::FixedLength).
        log_scale: f64,
    },
    /// A kernel between models: the classifier's models after the first, each compared with the model that streaming
    /// expectation-maximisation makes of the stream, starting from the first.
    Models {
        /// The kernel.
        by: ComparedBy,
        /// Transitions of the sequences that are compared.
        steps: usize,
        /// How the stream's model adapts.
        start: AdaptedStart,
        /// As of [`FixedLength`](Self::FixedLength).
        normalised: bool,
        /// As of [`FixedLength`](Self::FixedLength).
        log_scale: f64,
    },
    /// A kernel on the Fisher scores of the bank, all of whose models have one number of states.
    Scores {
        /// `true` if each model's log-likelihood follows its score.
        likelihood: bool,
        /// Subtracted before whitening, `[entry]`.
        centre: Vec<f64>,
        /// Whitening of the entries.
        whitening: WhiteningRows,
        /// The kernel on whitened scores.
        kernel: ScoreKernel,
        /// Items as [`FeatureMap`](crate::learn::FeatureMap) extracts them, `[item][entry]`.
        items: Vec<Vec<f64>>,
    },
}

/// A kernel between two hidden Markov models: see [`HmmKernel`](crate::kernel::between::HmmKernel).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ComparedBy {
    /// The probability product kernel.
    Product {
        /// The power, above zero.
        rho: f64,
    },
    /// The mean map.
    MeanMap {
        /// The reciprocal squared width, not negative.
        lambda: f64,
    },
}

impl ComparedBy {
    /// The measure of the core.
    pub(crate) fn affinity(self) -> Affinity<f64> {
        match self {
            Self::Product { rho } => Affinity::Product { rho },
            Self::MeanMap { lambda } => Affinity::MeanMap { lambda },
        }
    }
}

/// How a model adapts to a stream: see [`OnlineEm`](fishweir_core::filter::OnlineEm).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptedStart {
    /// Weight of a sample, above 0 and at most 1: the memory is its reciprocal, in samples.
    pub step_size: f64,
    /// Samples that are only collected before the model changes.
    pub warm_up: u64,
    /// Least variance of a channel.
    pub variance_floor: f64,
    /// Samples that each transition is given beforehand.
    pub pseudo_count: f64,
}

impl AdaptedStart {
    /// A memory of 50 samples, and a change after 10.
    pub const DEFAULT: Self =
        Self { step_size: 0.02, warm_up: 10, variance_floor: 1e-4, pseudo_count: 0.1 };

    /// Checks the settings; an error describes the fault.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { step_size, variance_floor, pseudo_count, .. } = *self;
        if !(step_size > 0.0 && step_size <= 1.0) {
            return Err(format!("step_size is {step_size}; write a number above 0, at most 1"));
        }
        if !(variance_floor > 0.0 && variance_floor.is_finite()) {
            return Err(format!("variance_floor is {variance_floor}; write a positive number"));
        }
        if !(pseudo_count >= 0.0 && pseudo_count.is_finite()) {
            return Err(format!("pseudo_count is {pseudo_count}; write 0 or a positive number"));
        }
        Ok(())
    }
}

/// Whitening of centred scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhiteningRows {
    /// Factors, `[entry]`: ones for the practical kernel.
    Diagonal(Vec<f64>),
    /// A matrix, `[whitened entry][entry]`, square.
    Full(Vec<Vec<f64>>),
}

impl Rule {
    /// The rule of a Bayes classifier with one model per class: log-likelihoods, and the logarithms of the classes' priors.
    #[must_use]
    pub fn bayes(log_priors: &[f64]) -> Self {
        let classes = log_priors.len();
        let output = |bias: f64, weight: &dyn Fn(usize) -> f64| Output {
            bias,
            weights: (0..classes).map(weight).collect(),
            directions: Vec::new(),
            codewords: Vec::new(),
            levels: Vec::new(),
        };
        Self::Linear(match log_priors {
            [first, second] => {
                vec![output(second - first, &|model| if model == 1 { 1.0 } else { -1.0 })]
            }
            all => {
                let each = all.iter().enumerate();
                each.map(|(class, &bias)| output(bias, &|model| f64::from(model == class)))
                    .collect()
            }
        })
    }
}

impl Expansion {
    /// Checks that there are outputs for `classes` classes, and numbers for each item; an error describes the fault.
    pub(crate) fn check(&self, classes: usize) -> Result<(), String> {
        let wanted = if (classes, self.biases.len()) == (2, 1) { 1 } else { classes };
        check_count("biases", self.biases.len(), wanted)?;
        check_count("coefficients", self.coefficients.len(), wanted)?;
        check_rows("coefficients", &self.coefficients, self.items())?;
        match &self.kernel {
            ExpansionKernel::FixedLength { items, .. } => {
                check_rows("items", items, items.first().map_or(0, Vec::len))?;
            }
            ExpansionKernel::FixedLengthChannels { items, .. } => {
                check_rows("items", items, items.first().map_or(0, Vec::len))?;
            }
            ExpansionKernel::ModelSet { prior, items, .. } => {
                check_rows("items", items, prior.len())?;
            }
            ExpansionKernel::Models { by, start, .. } => {
                by.affinity().validate().map_err(|error| error.to_string())?;
                start.check()?;
            }
            ExpansionKernel::Hidden { model, .. } => {
                model.validate().map_err(|error| error.to_string())?;
            }
            ExpansionKernel::Scores { centre, whitening, items, .. } => {
                check_rows("items", items, centre.len())?;
                match whitening {
                    WhiteningRows::Diagonal(row) => {
                        check_count("whitening", row.len(), centre.len())?;
                    }
                    WhiteningRows::Full(rows) => {
                        check_count("whitening", rows.len(), centre.len())?;
                        check_rows("whitening", rows, centre.len())?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Number of items, support vectors or not.
    pub fn items(&self) -> usize {
        match &self.kernel {
            ExpansionKernel::FixedLength { items, .. } | ExpansionKernel::Hidden { items, .. } => {
                items.len()
            }
            ExpansionKernel::FixedLengthChannels { items, .. } => items.len(),
            ExpansionKernel::ModelSet { items, .. } => items.len(),
            ExpansionKernel::Models { .. } => self.coefficients.first().map_or(0, Vec::len),
            ExpansionKernel::Scores { items, .. } => items.len(),
        }
    }
}

fn check_count(part: &str, found: usize, wanted: usize) -> Result<(), String> {
    let wrong = || format!("{part} has {found} entries, and {wanted} are needed");
    if found == wanted { Ok(()) } else { Err(wrong()) }
}

fn check_rows<T>(part: &str, rows: &[Vec<T>], wanted: usize) -> Result<(), String> {
    let mut rows = rows.iter().enumerate();
    rows.try_for_each(|(index, row)| check_count(&format!("{part} [{index}]"), row.len(), wanted))
}

/// Contexts that a device numbers.
pub const CONTEXTS_AT_MOST: usize = u16::MAX as usize;

/// Number of contexts of `order` symbols.
///
/// `None` if they, or the symbols of one, are more than a device can number, or if a table has no room for the words of one
/// symbol.
#[must_use]
pub fn contexts_of(symbols: usize, order: usize) -> Option<usize> {
    u16::try_from(order).ok()?;
    let contexts = words_of(symbols, order)?.checked_div(symbols)?;
    (contexts <= CONTEXTS_AT_MOST).then_some(contexts)
}

impl Direction {
    /// Returns whether the direction fits a model, or one whose emissions have a row per context.
    pub(crate) fn fits(&self, model: &Hmm, contexts: Option<usize>) -> bool {
        let states = model.states();
        let row = |row: &[f64]| row.len() == states && row.iter().all(|w| w.is_finite());
        row(&self.initial)
            && self.transition.len() == states
            && self.transition.iter().all(|from| row(from))
            && self.emission.fits(&model.emission, contexts.unwrap_or(states))
    }
}
