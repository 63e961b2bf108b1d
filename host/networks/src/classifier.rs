//! Classifiers of records.

use serde::{Deserialize, Serialize};

use super::learn::{
    HillClimb, Prior, check_records, chow_liu, fit_parameters, k_dependence, naive_bayes,
    tree_augmented,
};
use super::linear::{CellFeatures, Labelled, Taught};
use super::{Inference, Network, NetworkError, NetworkFisher, Shape, Width};
use crate::records::{MISSING, Records, Variable};
use fishweir::internals::Elementary;
use fishweir::internals::each;
use fishweir::learn::{Choice, Linear, Selection};

/// Method of decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Bayes' rule, attributes independent given the class.
    NaiveBayes,
    /// Bayes' rule, a tree among the attributes.
    TreeAugmented,
    /// Bayes' rule, with up to this number of attributes as parents of each.
    KDependence(usize),
    /// Bayes' rule under a network that was climbed to, the class a node like any other.
    Climbed,
    /// Logistic regression on the features of the Fisher kernel of a tree over the attributes.
    FisherTree,
    /// Logistic regression on the Fisher kernel of a network over the attributes, found by hill climbing.
    FisherClimbed,
    /// Logistic regression on log-odds of class networks and their gradients, the TOP kernel's features; a
    /// tree among the attributes.
    TopTree,
    /// Logistic regression on the TOP kernel of class networks, with up to this number of attributes as parents of each.
    TopKDependence(usize),
}

impl Method {
    /// Returns whether a linear machine decides; otherwise Bayes' rule does.
    #[must_use]
    pub fn is_linear(self) -> bool {
        use Method::{FisherClimbed, FisherTree, TopKDependence, TopTree};
        matches!(self, FisherTree | FisherClimbed | TopTree | TopKDependence(_))
    }
}

/// Plan for the training of a classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifierPlan {
    /// Method of decision.
    pub method: Method,
    /// The prior of the tables.
    pub prior: Prior,
    /// Hill climbing of graphs.
    pub climb: HillClimb,
}

/// A classifier of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredClassifier", into = "StoredClassifier")]
pub struct NetworkClassifier {
    method: Method,
    class: Variable,
    /// The column of the class.
    column: usize,
    /// Network over all columns for Bayes' rule, over the attributes for a linear machine.
    network: Network,
    /// One table per output in the shape of the network's, and its bias; empty for Bayes' rule.
    outputs: Vec<Linear>,
}

/// Result of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedNetwork {
    /// The classifier.
    pub classifier: NetworkClassifier,
    /// Choice of the cost of the machine; `None` for Bayes' rule.
    pub choice: Option<Choice>,
}

impl TrainedNetwork {
    /// The choice as a model's file keeps it.
    #[must_use]
    pub fn selection(&self) -> Option<Selection> {
        self.choice.clone().map(|choice| Selection {
            form: None,
            machine: Some(choice),
            learner: Some("logistic".to_owned()),
            mirror: Vec::new(),
            copies: None,
        })
    }
}

impl ClassifierPlan {
    /// Trains a classifier of the column `class` on records of these variables; records without a class
    /// are left out.
    ///
    /// # Errors
    /// [`NetworkError`]: no such column, less than two classes, a class without a record, records that do
    /// not fit, or with missing fields where a graph is learnt from whole ones.
    pub fn train(
        &self,
        variables: &[Variable],
        records: &Records,
        class: usize,
    ) -> Result<NetworkClassifier, NetworkError> {
        self.train_choosing(variables, records, class).map(|trained| trained.classifier)
    }

    /// Trains a classifier, and reports how the cost of a linear machine was chosen.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_choosing(
        &self,
        variables: &[Variable],
        records: &Records,
        class: usize,
    ) -> Result<TrainedNetwork, NetworkError> {
        if class >= variables.len() {
            return Err(NetworkError::UnknownNode(format!("number {class}")));
        }
        check_records(variables, records)?;
        let labelled: Vec<usize> =
            (0..records.len()).filter(|&row| records.row(row)[class] != MISSING).collect();
        let trained = self.train_labelled(variables, &records.subset(&labelled), class);
        trained.map_err(|error| error.at_record(|record| labelled[record]))
    }

    fn train_labelled(
        &self,
        variables: &[Variable],
        records: &Records,
        class: usize,
    ) -> Result<TrainedNetwork, NetworkError> {
        let of_class = &variables[class];
        let mut counts = vec![0_usize; of_class.card()];
        records.rows().for_each(|row| counts[usize::from(row[class])] += 1);
        if let [class] = of_class.states.as_slice() {
            let (class, column) = (class.clone(), of_class.name.clone());
            return Err(NetworkError::OneClass { class, column });
        }
        if counts.len() < 2 {
            return Err(NetworkError::NoRecords("a classifier needs records of two classes"));
        }
        if let Some(empty) = counts.iter().position(|&count| count == 0) {
            let (class, column) = (of_class.states[empty].clone(), of_class.name.clone());
            return Err(NetworkError::ClassEmpty { class, column });
        }
        let (network, outputs, choice) = match self.method.is_linear() {
            true => self.linear(variables, records, class)?,
            false => {
                let graph = self.graph(variables, records, class)?;
                (fit_parameters(variables, &graph, records, self.prior)?, Vec::new(), None)
            }
        };
        let (method, class, column) = (self.method, of_class.clone(), class);
        let classifier = NetworkClassifier { method, class, column, network, outputs };
        Ok(TrainedNetwork { classifier, choice })
    }

    /// The graph over all columns that decides by Bayes' rule.
    fn graph(
        &self,
        variables: &[Variable],
        records: &Records,
        class: usize,
    ) -> Result<Vec<Vec<usize>>, NetworkError> {
        match self.method {
            Method::NaiveBayes => naive_bayes(variables, class),
            Method::TreeAugmented | Method::TopTree => tree_augmented(variables, records, class),
            Method::KDependence(k) | Method::TopKDependence(k) => {
                k_dependence(variables, records, class, k)
            }
            _ => Ok(self.climb.learn(variables, records)?.parents),
        }
    }

    fn linear(
        &self,
        variables: &[Variable],
        records: &Records,
        class: usize,
    ) -> Result<(Network, Vec<Linear>, Option<Choice>), NetworkError> {
        let (network, whole) = self.taught(variables, (records, records), class)?;
        let inner = |some: &[usize]| match self.method {
            // These look at no class: they tell nothing of the ones that are held back.
            Method::FisherTree | Method::FisherClimbed => Ok(None),
            _ => {
                let taught = self.taught(variables, (&records.subset(some), records), class);
                taught.map(|(_, taught)| Some(taught))
            }
        };
        let (outputs, choice) = labelled(variables, records, class).machines(&whole, inner)?;
        Ok((network, outputs, Some(choice)))
    }

    /// The network over the attributes and the features that `some` records teach, and where `all` are in
    /// them.
    fn taught(
        &self,
        variables: &[Variable],
        (some, all): (&Records, &Records),
        class: usize,
    ) -> Result<(Network, Taught), NetworkError> {
        let columns = without(variables.len(), class);
        let attributes: Vec<Variable> =
            columns.iter().map(|&column| variables[column].clone()).collect();
        let of_some = some.select(&columns);
        let parents = match self.method {
            Method::FisherTree => chow_liu(&attributes, &of_some)?,
            Method::FisherClimbed => {
                self.climb_attributes(&columns).learn(&attributes, &of_some)?.parents
            }
            _ => {
                let graph = self.graph(variables, some, class)?;
                columns.iter().map(|&column| places(&graph[column], &columns)).collect()
            }
        };
        let fit = |records: &Records| fit_parameters(&attributes, &parents, records, self.prior);
        let fisher = |network| NetworkFisher::new(network, Width::default(), self.climb.seed);
        let network = fit(&of_some)?;
        let features = match self.method {
            Method::FisherTree | Method::FisherClimbed => {
                CellFeatures::fisher(&fisher(network.clone()))
            }
            _ => {
                let of_class = |state: usize| {
                    let own = |row: &usize| usize::from(some.row(*row)[class]) == state;
                    let rows: Vec<usize> = (0..some.len()).filter(own).collect();
                    Ok(fisher(fit(&of_some.subset(&rows))?))
                };
                let classes = (0..variables[class].card()).map(of_class);
                CellFeatures::top(&classes.collect::<Result<Vec<_>, NetworkError>>()?)?
            }
        };
        let all = all.select(&columns);
        let cells =
            all.rows().enumerate().map(|(index, row)| network.cells_of(index, row).collect());
        let taught = Taught::new(features, columns.len(), cells)?;
        Ok((network, taught))
    }

    /// The climb with the edges between attributes alone.
    fn climb_attributes(&self, columns: &[usize]) -> HillClimb {
        let edges = |edges: &[(usize, usize)]| {
            let pair = |&(a, b): &(usize, usize)| match places(&[a, b], columns)[..] {
                [a, b] => Some((a, b)),
                _ => None,
            };
            edges.iter().filter_map(pair).collect()
        };
        let mut climb = self.climb.clone();
        climb.constraints.required = edges(&self.climb.constraints.required);
        climb.constraints.forbidden = edges(&self.climb.constraints.forbidden);
        climb
    }
}

/// The classes of records that have one.
fn labelled(variables: &[Variable], records: &Records, class: usize) -> Labelled {
    let labels = records.rows().map(|row| usize::from(row[class])).collect();
    Labelled { labels, classes: variables[class].states.clone() }
}

/// All columns but the class.
fn without(columns: usize, class: usize) -> Vec<usize> {
    (0..columns).filter(|&column| column != class).collect()
}

/// Finds the indices of some columns among others; columns that are not there are left out.
fn places(some: &[usize], among: &[usize]) -> Vec<usize> {
    some.iter().filter_map(|column| among.iter().position(|one| one == column)).collect()
}

impl NetworkClassifier {
    /// Method of decision.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The class: its name and states.
    pub fn class(&self) -> &Variable {
        &self.class
    }

    /// The column of the class.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The network: over all columns for Bayes' rule, over the attributes for a linear machine.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Tables and biases of a linear machine, in the shape of the network's; empty for Bayes' rule.
    pub fn outputs(&self) -> &[Linear] {
        &self.outputs
    }

    /// The outputs of each record, `[record][output]`: logarithms of the classes' probabilities by Bayes'
    /// rule, or the machines' values, one for two classes. A record has all columns; what its class says is
    /// not looked at. Missing attributes are summed out, or have their expected features.
    ///
    /// # Errors
    /// [`NetworkError`]: records that do not fit, that are impossible whatever the class, or have missing
    /// fields where the network is too wide.
    pub fn values(&self, records: &Records) -> Result<Vec<Vec<f64>>, NetworkError> {
        let columns = self.network.shape().nodes() + usize::from(!self.outputs.is_empty());
        if records.columns() != columns {
            let (found, nodes) = (records.columns(), columns);
            return Err(NetworkError::Length { record: 0, found, nodes });
        }
        let mut records = match self.outputs.is_empty() {
            true => records.clone(),
            false => records.select(&without(columns, self.column)),
        };
        if self.outputs.is_empty() {
            records.forget(self.column);
        }
        self.network.check(&records)?;
        let hidden = usize::from(self.outputs.is_empty());
        let partial = |row: &[u16]| row.iter().filter(|&&v| v == MISSING).count() > hidden;
        let inference = match records.rows().any(partial) {
            true => Some(Inference::of(&self.network, Width::default())?),
            false => None,
        };
        let logs: Vec<f64> = self.network.theta().iter().map(|theta| theta.portable_ln()).collect();
        let values = each(records.len(), &|index| {
            let record = records.row(index);
            let inference = inference.as_ref().filter(|_| partial(record));
            match self.outputs.is_empty() {
                true => self.bayes(index, record, &logs, inference),
                false => self.linear(index, record, inference),
            }
        });
        values.into_iter().collect()
    }

    fn bayes(
        &self,
        index: usize,
        record: &[u16],
        logs: &[f64],
        inference: Option<&Inference>,
    ) -> Result<Vec<f64>, NetworkError> {
        let impossible = || NetworkError::Impossible { record: index, node: None };
        if let Some(inference) = inference {
            let posterior = inference.marginal(self.column, record).ok_or_else(impossible)?;
            return Ok(posterior.into_iter().map(Elementary::portable_ln).collect());
        }
        let mut whole = record.to_vec();
        let of_class = |class: usize| {
            whole[self.column] = class as u16;
            self.network.cells_of(index, &whole).map(|cell| Ok(logs[cell?])).sum()
        };
        let joint: Vec<f64> =
            (0..self.class.card()).map(of_class).collect::<Result<_, NetworkError>>()?;
        let largest = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let total =
            joint.iter().map(|log| (log - largest).portable_exp()).sum::<f64>().portable_ln()
                + largest;
        Ok(joint.into_iter().map(|log| log - total).collect())
    }

    fn linear(
        &self,
        index: usize,
        record: &[u16],
        inference: Option<&Inference>,
    ) -> Result<Vec<f64>, NetworkError> {
        if let Some(inference) = inference {
            let impossible = NetworkError::Impossible { record: index, node: None };
            let families = inference.posterior(record).ok_or(impossible)?.families();
            let value = |output: &Linear| {
                fishweir::internals::inner_product(&output.weights, &families) + output.bias
            };
            return Ok(self.outputs.iter().map(value).collect());
        }
        let cells: Vec<usize> = self.network.cells_of(index, record).collect::<Result<_, _>>()?;
        let value = |output: &Linear| {
            cells.iter().map(|&cell| output.weights[cell]).sum::<f64>() + output.bias
        };
        Ok(self.outputs.iter().map(value).collect())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredClassifier {
    method: Method,
    class: Variable,
    column: usize,
    network: Network,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outputs: Vec<StoredOutput>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredOutput {
    table: Vec<f64>,
    bias: f64,
}

impl From<NetworkClassifier> for StoredClassifier {
    fn from(classifier: NetworkClassifier) -> Self {
        let NetworkClassifier { method, class, column, network, outputs } = classifier;
        let output = |Linear { weights, bias }: Linear| StoredOutput { table: weights, bias };
        let outputs = outputs.into_iter().map(output).collect();
        Self { method, class, column, network, outputs }
    }
}

impl TryFrom<StoredClassifier> for NetworkClassifier {
    type Error = NetworkError;

    fn try_from(stored: StoredClassifier) -> Result<Self, NetworkError> {
        let StoredClassifier { method, class, column, network, outputs } = stored;
        let linear = method.is_linear();
        let columns = network.shape().nodes() + usize::from(linear);
        let wanted = match (linear, class.card()) {
            (false, _) => 0,
            (true, 2) => 1,
            (true, classes) => classes,
        };
        let wrong = |what: &str| Err(NetworkError::Other(format!("the classifier {what}")));
        // Names and states of the class are those of a node, or could be.
        Shape::new(std::slice::from_ref(&class), vec![vec![]])?;
        if column >= columns {
            return wrong("has its class in a column that does not exist");
        }
        if !linear && network.variables()[column] != class {
            return wrong("names a class that is not the network's node of its column");
        }
        if outputs.len() != wanted {
            return wrong(&format!("has {} outputs where {wanted} belong", outputs.len()));
        }
        for StoredOutput { table, bias } in &outputs {
            if table.len() != network.shape().all_cells() {
                return wrong("has a table with another number of entries than the network's");
            }
            if !table.iter().chain([bias]).all(|value| value.is_finite()) {
                return wrong("has a number that is not finite");
            }
        }
        let output = |StoredOutput { table, bias }: StoredOutput| Linear { weights: table, bias };
        let outputs = outputs.into_iter().map(output).collect();
        Ok(Self { method, class, column, network, outputs })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// With random classes, held-out records are decided rightly half the time, unless they were seen.
    #[test]
    fn costs_are_judged_on_records_that_taught_nothing() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let toss = |_| [rng.random_range(0..2), rng.random_range(0..40), rng.random_range(0..40)];
        let records = Records::of_rows(3, (0..240).map(toss));
        let variables = Variable::numbered(&[2, 40, 40]);
        for method in [Method::TopTree, Method::TopKDependence(1)] {
            let (prior, climb) = (Prior::PseudoCount(1.0), HillClimb::default());
            let plan = ClassifierPlan { method, prior, climb };
            let taught = |some: &Records| {
                plan.taught(&variables, (some, &records), 0).map(|(_, taught)| Some(taught))
            };
            let whole = taught(&records).expect("features").expect("some");
            let labelled = labelled(&variables, &records, 0);
            let most = |choice: Result<Choice, NetworkError>| {
                let candidates = choice.expect("machines").candidates;
                candidates.iter().map(|one| one.accuracy).fold(0.0, f64::max)
            };
            let seen = most(labelled.choose(&whole, |_| Ok(None)));
            let held_back = most(labelled.choose(&whole, |some| taught(&records.subset(some))));
            assert!(seen > 0.75, "{method:?}: {seen}");
            assert!((0.375..0.625).contains(&held_back), "{method:?}: {held_back}");
        }
    }
}
