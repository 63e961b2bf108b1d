//! Table 1 of N. A. Mehta and A. G. Gray, "Generative and Latent Mean Map Kernels", 2010: seven ways to
//! tell two classes of strings apart, by models of each string and by models of each class.

use std::borrow::Cow;
use std::error::Error;

use fishweir::Parametrisation;
use fishweir::batch::log_likelihoods;
use fishweir::data::SamplesView;
use fishweir::fit::{BaumWelch, FitError};
use fishweir::kernel::between::{Affinity, HmmKernel, ModelKernel};
use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{FisherKernel, Gram, Kernel, Metric};
use fishweir::runtime::Hmm;
use rayon::prelude::*;

use super::Task;
use super::chosen::{LossTable, Setting};

/// Passes of Baum-Welch at most, and the log-likelihood, in nats, that a pass may still move.
const PASSES: usize = 1_000;
const TOLERANCE: f64 = 1e-6;
/// Rates at which latent maps are exponentiated, if they are.
const NU: [Option<f64>; 4] = [None, Some(10.0), Some(100.0), Some(1_000.0)];

/// Strings of two classes, and the models fitted to them.
pub(crate) struct Strings<'a> {
    pub(crate) items: &'a [SamplesView<'a>],
    /// Symbols of the alphabet.
    pub(crate) size: usize,
    /// States of the model of each class.
    pub(crate) states: [usize; 2],
    /// Transitions of the strings that models are compared over.
    pub(crate) steps: &'a [usize],
    /// Rates of mean maps; infinity is the product kernel, and has rows of its own.
    pub(crate) lambda: &'a [f64],
}

/// The least that a document reports of each method, in its order.
pub(crate) type Published = [&'static str; 7];

/// A model of some strings, without pseudocounts.
fn fit(items: &[SamplesView<'_>], size: usize, states: usize) -> Result<Hmm, FitError> {
    let samples: usize = items.iter().map(SamplesView::len).sum();
    let options = BaumWelch {
        states,
        iterations: PASSES,
        tolerance: TOLERANCE / samples.max(1) as f64,
        symbol_pseudocount: 0.0,
        transition_pseudocount: 0.0,
        ..BaumWelch::default()
    };
    Ok(options.fit(items, size, &[], &|| ())?.model)
}

impl Strings<'_> {
    /// Fits a model to each string, with the given number of states.
    pub(crate) fn models(
        &self,
        states: impl Fn(&SamplesView<'_>) -> usize + Sync,
    ) -> Result<Vec<Hmm>, FitError> {
        let one = |item: &SamplesView<'_>| fit(std::slice::from_ref(item), self.size, states(item));
        self.items.par_iter().map(one).collect()
    }

    /// The model of the training strings of a class.
    fn of_class(&self, task: &Task<'_>, train: &[usize], class: usize) -> Result<Hmm, FitError> {
        let own = train.iter().filter(|&&item| task.labels[item] == class);
        let own: Vec<SamplesView<'_>> = own.map(|&item| self.items[item]).collect();
        fit(&own, self.size, self.states[class])
    }

    /// The rows of the table.
    pub(crate) fn rows(
        &self,
        task: &Task<'_>,
        models: &[Hmm],
        published: Published,
        table: &mut LossTable,
    ) -> Result<(), Box<dyn Error>> {
        let [mean_map, rho_1, rho_half, empirical, latent, fisher, bayes] = published;
        let maps: Vec<Affinity<f64>> =
            self.lambda.iter().map(|&lambda| Affinity::MeanMap { lambda }).collect();
        let products = [1.0, 0.5].map(|rho| [Affinity::Product { rho }]);
        for (name, published, measures) in [
            ("generative mean map", mean_map, &maps[..]),
            ("product kernel, rho 1", rho_1, &products[0]),
            ("product kernel, rho 1/2", rho_half, &products[1]),
        ] {
            let settings = between(models, measures, self.steps)?;
            let decided = task.decide_by(|_| Ok(Cow::Borrowed(&settings[..])))?;
            table.row(task, name, published, &decided);
        }
        let windows = self.windows()?;
        let decided = task.decide_by(|_| Ok(Cow::Borrowed(&windows[..])))?;
        table.row(task, "empirical mean map", empirical, &decided);
        let decided = task.decide_by(|train| Ok(Cow::Owned(self.latent(task, train)?)))?;
        table.row(task, "latent mean map, one class's model", latent, &decided);
        let decided = task.decide_by(|train| {
            let models = [self.of_class(task, train, 0)?];
            let (parametrisation, metric) = (Parametrisation::SOFTMAX, Metric::Practical);
            let kernel = FisherKernel { models: &models, parametrisation, metric, form: None };
            Ok(Cow::Owned(vec![Setting::new("practical", kernel.gram(self.items)?)]))
        })?;
        table.row(task, "Fisher, one class's model", fisher, &decided);
        let decided = task.decide_with(|train, test| {
            let views: Vec<SamplesView<'_>> = test.iter().map(|&item| self.items[item]).collect();
            let mut logs = Vec::new();
            for class in 0..2 {
                let model = self.of_class(task, train, class)?;
                let found = log_likelihoods::<f64>(&model, &views)?.into_iter();
                // What a class's model makes impossible is not of that class.
                logs.push(found.map(|log| log.unwrap_or(f64::NEG_INFINITY)).collect::<Vec<f64>>());
            }
            Ok((0..test.len()).map(|item| usize::from(logs[1][item] > logs[0][item])).collect())
        })?;
        table.row(task, "Bayes", bayes, &decided);
        Ok(())
    }

    /// Empirical maps of windows of two to four symbols.
    fn windows(&self) -> Result<Vec<Setting>, Box<dyn Error>> {
        let mut settings = Vec::new();
        for order in 1..=3 {
            for lambda in [1.0, f64::INFINITY] {
                let rbf = Rbf::new(lambda, Convention::Half)?;
                let features = EmpiricalMap { order, rbf }.features(self.items, self.size)?;
                let words = format!("order {order}, lambda {lambda}");
                settings.push(Setting::new(words, Gram::of_features(&features)));
            }
        }
        Ok(settings)
    }

    /// Latent maps by the model of the first class at an infinite rate, as they are and exponentiated.
    fn latent(&self, task: &Task<'_>, train: &[usize]) -> Result<Vec<Setting>, Box<dyn Error>> {
        let models = [self.of_class(task, train, 0)?];
        let mut settings = Vec::new();
        let rbf = Rbf::new(f64::INFINITY, Convention::Half)?;
        for nu in NU {
            let map = LatentMap { models: &models, rbf, cliques: Cliques::All, nu };
            let words = nu.map_or_else(|| "as it is".to_owned(), |nu| format!("nu {nu}"));
            settings.push(Setting::new(words, map.gram(self.items)?));
        }
        Ok(settings)
    }
}

/// Normalised kernels between models, at every measure and length.
pub(crate) fn between(
    models: &[Hmm],
    measures: &[Affinity<f64>],
    steps: &[usize],
) -> Result<Vec<Setting>, Box<dyn Error>> {
    let mut settings = Vec::new();
    for &measure in measures {
        for &steps in steps {
            let words = match measure {
                Affinity::MeanMap { lambda } => format!("lambda {lambda}, T {steps}"),
                Affinity::Product { .. } => format!("T {steps}"),
            };
            let gram = HmmKernel::new(measure, steps)?.log_gram(models)?.normalised();
            settings.push(Setting::new(words, gram));
        }
    }
    Ok(settings)
}
