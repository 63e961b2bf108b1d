use crate::checks::try_after;

use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::Marginalisation;
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::doubles;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row, zip_with};
use super::through_host;
use crate::build::{Family, Task, dispatch_any, filled, padded, samples};
use crate::oracle::{Law, Model, Observation, Sequence};
use crate::rounding::{Rounding, Tolerance};

/// The marginalisation kernel over a finite set of models.
pub(super) struct FiniteSet;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Table { prior: Row, likelihood: Matrix },
    Hmm { prior: Row, models: Vec<Model>, sequences: Vec<Sequence> },
    Gaussian { prior: Row, means: Row, sigmas: Row, x: Row },
}

/// Models that the tests are compiled for; a padded one has no prior.
const MODELS: usize = 8;

/// Single observations are sequences of length one, under models of one state.
fn single(law: Law) -> Model {
    Model { initial: vec![1.0], transition: vec![vec![1.0]], emission: vec![law] }
}

impl Inputs {
    pub(super) fn plain(self) -> Result<(Row, Vec<Model>, Vec<Sequence>), String> {
        Ok(match self {
            Self::Table { prior, likelihood } => {
                let items = likelihood.first().map_or(0, Vec::len);
                let models = likelihood.into_iter().map(|row| single(Law::Categorical(row)));
                let item = |x| vec![Some(Observation::Symbol(x))];
                (prior, models.collect(), (0..items).map(item).collect())
            }
            Self::Hmm { prior, models, sequences } => (prior, models, sequences),
            Self::Gaussian { prior, means, sigmas, x } => {
                let law = |mean, sigma: f64| Law::Gaussian {
                    mean: vec![mean],
                    variance: vec![sigma * sigma],
                };
                let laws = zip_with(means, sigmas, law)?;
                let item = |x| vec![Some(Observation::Channels(vec![x]))];
                (prior, laws.into_iter().map(single).collect(), x.into_iter().map(item).collect())
            }
        })
    }
}

impl Kind for FiniteSet {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (prior, models, items) = inputs.plain()?;
        if prior.len() != models.len() || models.len() > MODELS {
            return Err(format!("{} models do not fit their prior, or {MODELS}", models.len()));
        }
        let largest = models.iter().max_by_key(|model| model.states()).ok_or("no model")?;
        let task = Compare { prior: &prior, models: &models, items: &items };
        let answers = dispatch_any::<T, _>(largest, task)?;
        let mut slack = Tolerance::EXACT;
        for model in &models {
            for item in &items {
                let each = Rounding::of(model, item, T::ROUNDING).log().absolute;
                slack.absolute = slack.absolute.max(each);
            }
        }
        let logs = answers.log_gram.iter().flatten().filter(|log| log.is_finite());
        let most = logs.fold(0.0_f64, |most, log| most.max(log.abs()));
        // Two items, the prior, a sum over models, and the logarithms' own size.
        let own = T::ROUNDING * (2.0 * MODELS as f64 + 8.0 * most + 8.0);
        let log = Tolerance::absolute(2.0 * slack.absolute + own);
        let value = Tolerance::relative(log.absolute);
        let mut compare = |log_gram: Vec<Row>| {
            let gram: Vec<Row> =
                log_gram.iter().map(|row| row.iter().map(|log| log.exp()).collect()).collect();
            let mass: f64 = gram.iter().flatten().sum();
            comparison.field("log_gram", log_gram, log);
            comparison.field("gram", gram, value);
            comparison.field("total_mass", mass, value);
        };
        compare(answers.log_gram);
        if T::ROUNDING == 0.0
            && let Some(log_gram) = through_host::finite_set(&prior, &models, &items)?
        {
            compare(log_gram);
        }
        comparison.field("log_likelihood", answers.logs, log);
        Ok(())
    }
}

struct Compare<'a> {
    prior: &'a [f64],
    models: &'a [Model],
    items: &'a [Sequence],
}

struct Answers {
    log_gram: Vec<Row>,
    /// `[model][item]`.
    logs: Vec<Row>,
}

impl<T: Real> Task<T> for Compare<'_> {
    type Output = Answers;

    fn run<E: Family<T>, const N: usize>(self, _: &Hmm<E, N>) -> Result<Answers, String> {
        let built = self.models.iter().map(padded::<T, E, N>).collect::<Result<Vec<_>, _>>()?;
        let models: Box<[Hmm<E, N>; MODELS]> =
            Box::new(std::array::from_fn(|m| *built.get(m).unwrap_or(&built[0])));
        let prior: [T; MODELS] = filled(self.prior, 0.0)?;
        let run = |stored: &[[T; MODELS]; 1], item: &Sequence| {
            let kernel = Marginalisation::of(&models, &prior, stored).map_err(|e| e.to_string())?;
            let stream = try_after(kernel, samples::<T, E>(item)?).map_err(|e| e.to_string())?;
            Ok::<_, String>((stream.read()[0].to_f64(), kernel.log_likelihoods(stream.state())))
        };
        let features: Vec<[T; MODELS]> = self
            .items
            .iter()
            .map(|item| Ok(run(&[[T::ZERO; MODELS]], item)?.1))
            .collect::<Result<_, String>>()?;
        let row = |stored: &[T; MODELS]| {
            self.items
                .iter()
                .map(|item| Ok(run(&[*stored], item)?.0))
                .collect::<Result<Row, String>>()
        };
        let log_gram = features.iter().map(row).collect::<Result<_, _>>()?;
        let logs = (0..self.models.len())
            .map(|m| doubles(&features.iter().map(|item| item[m]).collect::<Vec<_>>()))
            .collect();
        Ok(Answers { log_gram, logs })
    }
}
