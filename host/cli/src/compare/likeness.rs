//! The kernel of models of one kind.

use fishweir::dynamics::LinearNetwork;
use fishweir::kernel::LogGram;
use fishweir::kernel::between::{
    Affinity, FactorialHmm, FactorialKernel, Gamma, GammaProduct, MeanField, ModelKernel,
    Multinomial, MultinomialProduct, NetworkKernel, PairError, log_gram_of_fitted,
};
use fishweir::model::FittedModel;
use fishweir_networks::{Network, NetworkProduct, ObservedNetwork, Power, Width};

use super::Asked;
use super::given::{Given, Named};
use crate::kernels::pair_failure;
use crate::{Failure, Topic};

/// Models that can be compared with each other.
pub(super) enum Alike {
    Fitted(Vec<FittedModel>),
    Networks(Vec<Network>),
    Factorial(Vec<FactorialHmm>),
    LinearNetworks(Vec<LinearNetwork>),
    Gamma(Vec<Gamma>),
    Multinomial(Vec<Multinomial>),
}

impl Alike {
    /// Gathers models, which must be of one kind.
    pub(super) fn of(models: Vec<Named>) -> Result<Self, Failure> {
        let mut all: Option<Self> = None;
        let first = models.first().map(|one| one.name.clone()).unwrap_or_default();
        for Named { name, model, .. } in models {
            match (&mut all, model) {
                (None, model) => all = Some(Self::one(model)),
                (Some(Self::Fitted(all)), Given::Fitted(model)) => all.push(model),
                (Some(Self::Networks(all)), Given::Network(model)) => all.push(model),
                (Some(Self::Factorial(all)), Given::Factorial(model)) => all.push(model),
                (Some(Self::LinearNetworks(all)), Given::LinearNetwork(model)) => all.push(model),
                (Some(Self::Gamma(all)), Given::Gamma(model)) => all.push(model),
                (Some(Self::Multinomial(all)), Given::Multinomial(model)) => all.push(model),
                (Some(all), model) => {
                    let (of, other) = (all.noun(), Self::one(model).noun());
                    let what = format!(
                        "{first} and {name}: one is a {of}, the other a {other}; compare models of one kind"
                    );
                    return Err(Failure::input(Topic::OtherKernel, what));
                }
            }
        }
        all.ok_or_else(|| Failure::input(Topic::EmptyFile, "there is no model"))
    }

    fn one(model: Given) -> Self {
        match model {
            Given::Fitted(model) => Self::Fitted(vec![model]),
            Given::Network(model) => Self::Networks(vec![model]),
            Given::Factorial(model) => Self::Factorial(vec![model]),
            Given::LinearNetwork(model) => Self::LinearNetworks(vec![model]),
            Given::Gamma(model) => Self::Gamma(vec![model]),
            Given::Multinomial(model) => Self::Multinomial(vec![model]),
        }
    }

    /// Their kind.
    pub(super) const fn noun(&self) -> &'static str {
        match self {
            Self::Fitted(_) => "sequence model",
            Self::Networks(_) => "network",
            Self::Factorial(_) => "factorial hidden Markov model",
            Self::LinearNetworks(_) => "linear-Gaussian network",
            Self::Gamma(_) => "gamma or exponential distribution",
            Self::Multinomial(_) => "multinomial distribution",
        }
    }

    /// Whether they are of sequences, or of draws, whose number `--steps` gives.
    pub(super) const fn takes_steps(&self) -> bool {
        matches!(self, Self::Fitted(_) | Self::Factorial(_) | Self::Multinomial(_))
    }

    /// `log k` of all pairs.
    pub(super) fn log_gram(&self, asked: &Asked<'_>, names: &[String]) -> Result<LogGram, Failure> {
        let of_kernel =
            |why| pair_failure(PairError { row: 0, column: 0, why }, |model| names[model].clone());
        let of_pair = |error| pair_failure(error, |model| names[model].clone());
        let (measure, steps) = (asked.measure, asked.steps);
        match self {
            Self::Fitted(models) => log_gram_of_fitted(models, measure, steps).map_err(of_pair),
            Self::Networks(networks) => {
                let rho = self.power(asked)?;
                let observed = observed(networks, asked.observed, names)?;
                let hides =
                    observed.iter().any(|one| one.observed.len() < one.network.shape().nodes());
                // Of hidden nodes the joint's power is another kernel.
                let power = if hides && rho != 1.0 { Power::OfMarginal } else { Power::OfJoint };
                let kernel = NetworkProduct { rho, power, most: Width::default() };
                kernel.log_gram(&observed).map_err(of_pair)
            }
            Self::Factorial(models) if asked.mean_field => {
                let kernel = MeanField::new(self.power(asked)?, steps).map_err(of_kernel)?;
                kernel.log_gram(models).map_err(of_pair)
            }
            Self::Factorial(models) => {
                let kernel = FactorialKernel::new(measure, steps).map_err(of_kernel)?;
                kernel.log_gram(models).map_err(of_pair)
            }
            Self::LinearNetworks(models) => {
                let kernel = NetworkKernel::new(measure).map_err(of_kernel)?;
                kernel.log_gram(models).map_err(of_pair)
            }
            Self::Gamma(models) => {
                let kernel = GammaProduct::new(self.power(asked)?).map_err(of_kernel)?;
                kernel.log_gram(models).map_err(of_pair)
            }
            Self::Multinomial(models) => {
                let kernel =
                    MultinomialProduct::new(self.power(asked)?, steps).map_err(of_kernel)?;
                kernel.log_gram(models).map_err(of_pair)
            }
        }
    }

    /// The power of a probability product; other kernels are refused.
    fn power(&self, asked: &Asked<'_>) -> Result<f64, Failure> {
        match asked.measure {
            Affinity::Product { rho } => Ok(rho),
            Affinity::MeanMap { .. } => {
                let bound = if asked.mean_field { " by mean field" } else { "" };
                let what = format!("a {} has no mean map{bound}; take --kernel ppk", self.noun());
                Err(Failure::input(Topic::Unsupported, what))
            }
        }
    }
}

/// Networks with the nodes that are compared, in one order.
fn observed(
    networks: &[Network],
    asked: &[String],
    names: &[String],
) -> Result<Vec<ObservedNetwork>, Failure> {
    let Some(first) = networks.first() else { return Ok(Vec::new()) };
    let shared: Vec<String> = if asked.is_empty() {
        let all = (0..first.shape().nodes()).map(|node| first.name(node).to_owned());
        all.filter(|name| networks.iter().all(|one| one.node(name).is_ok())).collect()
    } else {
        asked.to_vec()
    };
    if shared.is_empty() {
        let what = format!(
            "{}: the networks share no node; compare networks of the same variables",
            names[0]
        );
        return Err(Failure::input(Topic::UnknownColumn, what));
    }
    let mut observed = Vec::with_capacity(networks.len());
    for (network, name) in networks.iter().zip(names) {
        let mut nodes = Vec::with_capacity(shared.len());
        for wanted in &shared {
            let node = network
                .node(wanted)
                .map_err(|why| Failure::input(Topic::UnknownColumn, format!("{name}: {why}")))?;
            let (own, of_first) =
                (&network.variables()[node], &first.variables()[first.node(wanted)?]);
            if own.states != of_first.states {
                let what = format!(
                    "{name}: node `{wanted}` has the states {}, and in {} {}; give both the same, in one order",
                    own.states.join(", "),
                    names[0],
                    of_first.states.join(", ")
                );
                return Err(Failure::input(Topic::OtherClasses, what));
            }
            nodes.push(node);
        }
        observed.push(ObservedNetwork { network: network.clone(), observed: nodes });
    }
    Ok(observed)
}
