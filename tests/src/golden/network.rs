use fishweir::kernel::between::ModelKernel;
use fishweir_networks::records::{MISSING, Records, Variable};
use fishweir_networks::{
    Network, NetworkFisher, NetworkProduct, ObservedNetwork, Power, Width, joint,
};
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use super::tree::Tree;
use crate::rounding::Tolerance;

/// The Fisher kernel of Bayesian networks, on records and on sets.
pub(super) struct NetworkKernels;

/// The probability product kernel between Bayesian networks.
pub(super) struct NetworkProducts;

/// A network, `cpt[node][row][state]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkJson {
    cards: Vec<usize>,
    parents: Vec<Vec<usize>>,
    cpt: Vec<Matrix>,
}

impl NetworkJson {
    fn network(self) -> Result<Network, String> {
        let variables = Variable::numbered(&self.cards);
        Network::new(variables, self.parents, &self.cpt).map_err(|error| error.to_string())
    }

    /// The probabilities of all configurations of the other nodes, and for each those of the configurations of observed ones.
    pub(super) fn flattened(&self, observed: &[usize]) -> (Row, Matrix) {
        let nodes = self.cards.len();
        let hidden: Vec<usize> = (0..nodes).filter(|node| !observed.contains(node)).collect();
        let code = |record: &[usize], nodes: &[usize]| {
            nodes.iter().fold(0, |code, &node| code * self.cards[node] + record[node])
        };
        let count = |nodes: &[usize]| nodes.iter().map(|&node| self.cards[node]).product::<usize>();
        let mut joint = vec![vec![0.0; count(observed)]; count(&hidden)];
        let all: Vec<usize> = (0..nodes).collect();
        for number in 0..count(&all) {
            let (mut rest, mut record) = (number, vec![0; nodes]);
            for node in 0..nodes {
                record[node] = rest % self.cards[node];
                rest /= self.cards[node];
            }
            let of_node =
                |node: usize| self.cpt[node][code(&record, &self.parents[node])][record[node]];
            joint[code(&record, &hidden)][code(&record, observed)] +=
                (0..nodes).map(of_node).product::<f64>();
        }
        let weight: Row = joint.iter().map(|row| row.iter().sum()).collect();
        for (row, weight) in joint.iter_mut().zip(&weight) {
            let even = 1.0 / row.len() as f64;
            row.iter_mut().for_each(|p| *p = if *weight > 0.0 { *p / weight } else { even });
        }
        (weight, joint)
    }

    fn fisher(self) -> Result<NetworkFisher, String> {
        Ok(NetworkFisher::new(self.network()?, Width::default(), 1))
    }
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Univariate {
        theta: Row,
    },
    Gram {
        bn: NetworkJson,
        observations: Vec<Vec<u16>>,
    },
    Equivalent {
        networks: Vec<NetworkJson>,
        networks_other: Vec<NetworkJson>,
        observations: Vec<Vec<u16>>,
    },
    Set {
        bn: NetworkJson,
        #[serde(rename = "X")]
        x: Vec<Vec<u16>>,
        #[serde(rename = "Y")]
        y: Vec<Vec<u16>>,
    },
    Greedy {
        bn: NetworkJson,
        #[serde(rename = "X")]
        x: Vec<Vec<u16>>,
        start_indices: Vec<usize>,
    },
    Hidden {
        bn: NetworkJson,
        hidden: Vec<usize>,
        observations: Vec<Vec<u16>>,
    },
    ParentsOnly {
        bn: NetworkJson,
    },
}

/// An entry of the Gram matrix.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Highlight {
    row: usize,
    column: usize,
    #[serde(rename = "value")]
    _value: f64,
}

/// Rows as records with so many columns.
fn records(columns: usize, rows: &[Vec<u16>]) -> Result<Records, String> {
    match rows.iter().find(|row| row.len() != columns) {
        Some(row) => Err(format!("an observation of {} entries for {columns} nodes", row.len())),
        None => Ok(Records::of_rows(columns, rows)),
    }
}

fn gram(fisher: &NetworkFisher, records: &Records) -> Result<Matrix, String> {
    let gram = fisher.gram(records).map_err(|error| error.to_string())?;
    Ok(gram.rows().map(<[f64]>::to_vec).collect())
}

impl Kind for NetworkKernels {
    type Inputs = Inputs;

    /// The host's kernel, which is in `f64` alone: the case's own tolerance in either precision.
    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let highlight: Option<Highlight> = comparison.read("highlight")?;
        let mut field = |name: &str, got: Tree| {
            comparison.field(name, got, Tolerance::EXACT);
        };
        match inputs {
            Inputs::Univariate { theta } => {
                let states: Vec<Vec<u16>> = (0..theta.len() as u16).map(|k| vec![k]).collect();
                let bn = NetworkJson {
                    cards: vec![theta.len()],
                    parents: vec![vec![]],
                    cpt: vec![vec![theta]],
                };
                let got = gram(&bn.fisher()?, &records(1, &states)?)?;
                field("gram", got.into());
            }
            Inputs::Gram { bn, observations } => {
                let records = records(bn.cards.len(), &observations)?;
                let fisher = bn.fisher()?;
                let got = gram(&fisher, &records)?;
                if let Some(Highlight { row, column, .. }) = &highlight {
                    let entry = got.get(*row).and_then(|row| row.get(*column)).copied();
                    field("highlight.value", entry.into());
                }
                field("gram", got.into());
                field("parent_probabilities", parents(&fisher));
                let dimension = fisher.dimension();
                field("information_dimension", dimension.into());
            }
            Inputs::Equivalent { networks, networks_other, observations } => {
                let sides = [("gram", networks), ("gram_other", networks_other)];
                for (name, networks) in sides {
                    for bn in networks {
                        let records = records(bn.cards.len(), &observations)?;
                        field(name, gram(&bn.fisher()?, &records)?.into());
                    }
                }
            }
            Inputs::Set { bn, x, y } => {
                let (x, y) = (records(bn.cards.len(), &x)?, records(bn.cards.len(), &y)?);
                let fisher = bn.fisher()?;
                let mean = |set| fisher.mean(set).map_err(|error| error.to_string());
                let pairs = (x.len() * y.len()) as f64;
                let (x, y) = (mean(&x)?, mean(&y)?);
                field("set_kernel", fisher.set_kernel(&x, &y).into());
                field("set_kernel_xx", fisher.set_kernel(&x, &x).into());
                field("set_kernel_yy", fisher.set_kernel(&y, &y).into());
                field("mmd_squared", fisher.mmd_squared(&x, &y).into());
                let by_node = fisher.set_kernel_by_node(&x, &y);
                let sums: Row = by_node.into_iter().map(|value| pairs * value).collect();
                field("per_variable", sums.into());
            }
            Inputs::Greedy { bn, x, start_indices } => {
                let records = records(bn.cards.len(), &x)?;
                let found = bn.fisher()?.representatives(&records, &start_indices);
                let found = found.map_err(|error| error.to_string())?;
                field("final_indices", found.indices.into());
                field("final_objective", found.objective.into());
                field("trace", found.trace.into());
            }
            Inputs::Hidden { bn, hidden, observations } => {
                let nodes = bn.cards.len();
                let visible: Vec<usize> =
                    (0..nodes).filter(|node| !hidden.contains(node)).collect();
                let seen = records(visible.len(), &observations)?;
                let whole = seen.rows().map(|row| {
                    let mut whole = vec![MISSING; nodes];
                    visible.iter().zip(row).for_each(|(&node, &state)| whole[node] = state);
                    whole
                });
                let records = Records::of_rows(nodes, whole);
                field("gram", gram(&bn.fisher()?, &records)?.into());
            }
            Inputs::ParentsOnly { bn } => {
                field("parent_probabilities", parents(&bn.fisher()?));
            }
        }
        Ok(())
    }
}

fn parents(fisher: &NetworkFisher) -> Tree {
    let nodes = 0..fisher.network().shape().nodes();
    nodes.map(|node| fisher.parent_probabilities(node).to_vec()).collect::<Matrix>().into()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    pub(super) bn: NetworkJson,
    pub(super) observed: Vec<usize>,
    pub(super) bn2: NetworkJson,
    pub(super) observed2: Vec<usize>,
    pub(super) rhos: Row,
}

impl Kind for NetworkProducts {
    type Inputs = Pair;

    /// The host's kernel, which is in `f64` alone: the case's own tolerance in either precision.
    fn check<T: Precise>(inputs: Pair, comparison: &mut Comparison) -> Result<(), String> {
        let Pair { bn, observed, bn2, observed2, rhos } = inputs;
        let networks = [
            ObservedNetwork { network: bn.network()?, observed },
            ObservedNetwork { network: bn2.network()?, observed: observed2 },
        ];
        let most = Width::default();
        let [first, second] = &networks;
        for (name, of) in [("marginal", first), ("marginal2", second)] {
            let table =
                joint(&of.network, &of.observed, most).map_err(|error| error.to_string())?;
            comparison.field(name, table, Tolerance::EXACT);
        }
        let (mut tilde, mut truth, mut cosine) = (Row::new(), Row::new(), Row::new());
        for rho in rhos {
            let gram = |power| {
                let kernel = NetworkProduct { rho, power, most };
                kernel.log_gram(&networks).map_err(|error| error.to_string())
            };
            let of_joint = gram(Power::OfJoint)?;
            tilde.push(of_joint.get(0, 1).exp());
            cosine.push(of_joint.normalised().get(0, 1));
            truth.push(gram(Power::OfMarginal)?.get(0, 1).exp());
        }
        comparison.field("k_tilde", tilde, Tolerance::EXACT);
        comparison.field("k_true", truth, Tolerance::EXACT);
        comparison.field("cosine_tilde", cosine, Tolerance::EXACT);
        Ok(())
    }
}
