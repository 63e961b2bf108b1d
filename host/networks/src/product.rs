//! The probability product kernel of networks.

use super::junction::{joint, network_factors};
use super::{JunctionTree, Network, NetworkError, Width};
use fishweir::internals::Elementary;
use fishweir::kernel::between::{BetweenError, ModelKernel};

/// A network of which some nodes are observed, in an order in which they are those of another.
#[derive(Clone, Debug)]
pub struct ObservedNetwork {
    /// The network.
    pub network: Network,
    /// Observed nodes of the network.
    pub observed: Vec<usize>,
}

/// Distribution whose power a [`NetworkProduct`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Power of `p(x, h)`, before hidden nodes are summed out.
    ///
    /// The kernel is the partition function of both networks' tables, with the observed nodes shared.
    OfJoint,
    /// Power of `p(x)`: the kernel itself, by a table over the observed nodes.
    OfMarginal,
}

/// The probability product kernel of networks,
///
/// ```text
/// k(p, q)  = sum_x p(x)^rho q(x)^rho
/// k~(p, q) = sum_x (sum_h p(x, h)^rho) (sum_h' q(x, h')^rho)
/// ```
///
/// over the observed nodes `x`; the two are one at `rho = 1`, or without hidden nodes. Zero to the power
/// is zero. Source: Jebara, Kondor and Howard, "Probability product kernels", 2004, section 4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkProduct {
    /// The power, above zero.
    pub rho: f64,
    /// Distribution whose power is taken.
    pub power: Power,
    /// Largest size of a clique.
    pub most: Width,
}

impl ModelKernel for NetworkProduct {
    type Model = ObservedNetwork;

    fn log_value(&self, a: &ObservedNetwork, b: &ObservedNetwork) -> Result<f64, BetweenError> {
        let range = "finite and above 0";
        if !(self.rho.is_finite() && self.rho > 0.0) {
            return Err(BetweenError::Parameter { name: "rho", value: self.rho, range });
        }
        let part = |part: &str| {
            let part = part.to_owned();
            move |why: NetworkError| BetweenError::Model { part, why: why.to_string() }
        };
        for (network, name) in [(a, "the first network"), (b, "the second network")] {
            network.check().map_err(part(name))?;
        }
        let (first, second) = (a.observed.len(), b.observed.len());
        if first != second {
            return Err(BetweenError::Shapes { what: "observed nodes", first, second });
        }
        for (&one, &other) in a.observed.iter().zip(&b.observed) {
            let (first, second) =
                (a.network.shape().cards()[one], b.network.shape().cards()[other]);
            if first != second {
                return Err(BetweenError::Shapes {
                    what: "states of an observed node",
                    first,
                    second,
                });
            }
        }
        match self.power {
            Power::OfJoint => self.of_joint(a, b).map_err(part("the two networks together")),
            Power::OfMarginal => {
                let table = |network: &ObservedNetwork, name| {
                    joint(&network.network, &network.observed, self.most).map_err(part(name))
                };
                let (p, q) = (table(a, "the first network")?, table(b, "the second network")?);
                let terms = p.iter().zip(&q).map(|(p, q)| (p * q).portable_powf(self.rho));
                Ok(terms.sum::<f64>().portable_ln())
            }
        }
    }
}

impl NetworkProduct {
    fn of_joint(&self, a: &ObservedNetwork, b: &ObservedNetwork) -> Result<f64, NetworkError> {
        let mut cards = a.network.shape().cards().to_vec();
        let number = |node: usize| match b.observed.iter().position(|&observed| observed == node) {
            Some(place) => a.observed[place],
            None => {
                cards.push(b.network.shape().cards()[node]);
                cards.len() - 1
            }
        };
        let numbers: Vec<usize> = (0..b.network.shape().nodes()).map(number).collect();
        let mut factors = network_factors(&a.network, self.rho);
        factors.extend(
            network_factors(&b.network, self.rho)
                .into_iter()
                .map(|factor| factor.renamed(&numbers)),
        );
        let scopes: Vec<Vec<usize>> =
            factors.iter().map(|factor| factor.variables().to_vec()).collect();
        let tree = JunctionTree::new(&cards, &scopes, self.most)?;
        Ok(tree.log_partition(&factors, &[]))
    }
}

impl ObservedNetwork {
    fn check(&self) -> Result<(), NetworkError> {
        for (index, &node) in self.observed.iter().enumerate() {
            if node >= self.network.shape().nodes() {
                return Err(NetworkError::UnknownNode(format!("number {node}")));
            }
            if self.observed[..index].contains(&node) {
                let name = self.network.name(node);
                return Err(NetworkError::Other(format!("node `{name}` is observed twice")));
            }
        }
        Ok(())
    }
}
