//! What the files of kernels between models have in common: a pair of plain models, by the core in the
//! precision under test and by the host in `f64`.

use fishweir::kernel::between::{DistributionKernel, HmmKernel, ModelKernel};
use fishweir::runtime::{Distribution, Emissions, Hmm as HostHmm, family};
use fishweir_core::emission::{Categorical, FullGaussian, Gaussian, Mixture};
use fishweir_core::filter::Stream;
use fishweir_core::kernel::{Affinity, ModelPairKernel, Overlaps, ProductKernel};
use serde::Deserialize;

use super::compare::Comparison;
use super::precision::Precise;
use super::schema::{Matrix, Row, zip_with};
use super::tree::Tree;
use crate::build::{Family, host::host_model, padded};
use crate::oracle::{Law, Model};
use crate::rounding::Tolerance;

/// A mixture of Gaussians.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MixtureJson {
    weights: Row,
    means: Matrix,
    variances: Option<Matrix>,
    covariances: Option<Vec<Matrix>>,
}

impl TryFrom<MixtureJson> for Law {
    type Error = String;

    fn try_from(json: MixtureJson) -> Result<Self, String> {
        let component = match (json.variances, json.covariances) {
            (Some(variances), None) => {
                zip_with(json.means, variances, |mean, variance| Law::Gaussian { mean, variance })?
            }
            (None, Some(covariances)) => {
                let full = |mean, covariance| Law::FullGaussian { mean, covariance };
                zip_with(json.means, covariances, full)?
            }
            _ => return Err("either `variances` or `covariances`".into()),
        };
        Ok(Law::Mixture { weight: json.weights, component })
    }
}

/// A single distribution is a model of one state and one sample.
pub(super) fn single(law: Law) -> Model {
    Model { initial: vec![1.0], transition: vec![vec![1.0]], emission: vec![law] }
}

/// Two models that are compared.
pub(super) struct Pair {
    pub(super) models: [Model; 2],
    /// Transitions.
    pub(super) steps: usize,
}

/// `log k` of both, of each with itself, and `log psi` of their states.
#[derive(Clone, Debug)]
pub(super) struct Logs {
    pub(super) both: f64,
    pub(super) own: [f64; 2],
    pub(super) psi: Matrix,
    /// What single precision may be off by, in the logarithm, and in that of `psi`.
    slack: [f64; 2],
}

impl Logs {
    pub(super) fn normalised(&self) -> f64 {
        (self.both - 0.5 * (self.own[0] + self.own[1])).exp()
    }
}

impl Pair {
    pub(super) fn of(first: Law, second: Law) -> Self {
        Self { models: [single(first), single(second)], steps: 0 }
    }

    /// By the core.
    pub(super) fn logs<T: Precise>(&self, measure: Affinity<f64>) -> Result<Logs, String> {
        let [a, b] = &self.models;
        let (both, psi) = self.core::<T>(a, b, measure)?;
        let own = [self.core::<T>(a, a, measure)?.0, self.core::<T>(b, b, measure)?.0];
        let states = (a.states() + b.states()) as f64;
        let finite = psi.iter().flatten().filter(|log| log.is_finite());
        let largest = finite.fold(0.0_f64, |most, log| most.max(log.abs()));
        // A step: the chains' stored numbers and sums, and `psi`, by way of its logarithm.
        let step = 2.0 * states + 40.0 + 16.0 * largest;
        let steps = (self.steps + 1) as f64 * step + 4.0 * both.abs().min(1e9);
        Ok(Logs { both, own, psi, slack: [steps, step].map(|steps| T::ROUNDING * steps) })
    }

    /// The same by the host; `None` of what it has no family for.
    pub(super) fn host_logs(&self, measure: Affinity<f64>) -> Result<Option<Logs>, String> {
        let said = |error: fishweir::kernel::between::BetweenError| error.to_string();
        if self.steps == 0 && self.models.iter().all(|model| model.states() == 1) {
            let kernel = DistributionKernel::new(measure).map_err(said)?;
            let laws = self.models.each_ref().map(|model| distribution(&model.emission[0]));
            let gram = kernel.log_gram(&laws).map_err(|error| error.to_string())?;
            let (both, own) = (gram.get(0, 1), [gram.get(0, 0), gram.get(1, 1)]);
            return Ok(Some(Logs { both, own, psi: vec![vec![both]], slack: [0.0; 2] }));
        }
        let [Some(a), Some(b)] = self.models.each_ref().map(host_hmm) else { return Ok(None) };
        let kernel = HmmKernel::new(measure, self.steps).map_err(said)?;
        let psi = kernel.log_overlaps(&a, &b).map_err(said)?;
        let gram = kernel.log_gram(&[a, b]).map_err(|error| error.to_string())?;
        let (both, own) = (gram.get(0, 1), [gram.get(0, 0), gram.get(1, 1)]);
        Ok(Some(Logs { both, own, psi, slack: [0.0; 2] }))
    }

    fn core<T: Precise>(
        &self,
        a: &Model,
        b: &Model,
        measure: Affinity<f64>,
    ) -> Result<(f64, Matrix), String> {
        let measure = match measure {
            Affinity::Product { rho } => Affinity::Product { rho: T::from_f64(rho) },
            Affinity::MeanMap { lambda } => Affinity::MeanMap { lambda: T::from_f64(lambda) },
        };
        // Padded channels would be compared, too: every number of them is compiled.
        macro_rules! with_channels {
            ($channels:expr, $family:ident $(, $components:literal)?) => {
                match $channels {
                    1 => self.run::<T, $family<1, T>>(a, b, measure),
                    2 => self.run::<T, $family<2, T>>(a, b, measure),
                    3 => self.run::<T, $family<3, T>>(a, b, measure),
                    4 => self.run::<T, $family<4, T>>(a, b, measure),
                    d => Err(format!("{d} channels")),
                }
            };
        }
        match a.emission.first().ok_or("a model without states")? {
            Law::Categorical(_) => self.run::<T, Categorical<4, T>>(a, b, measure),
            Law::Gaussian { mean, .. } => with_channels!(mean.len(), Gaussian),
            Law::FullGaussian { mean, .. } => with_channels!(mean.len(), FullGaussian),
            Law::Mixture { component, .. } => match component.first().ok_or("an empty mixture")? {
                Law::Categorical(_) => self.run::<T, Mixture<Categorical<4, T>, 4>>(a, b, measure),
                Law::Gaussian { mean, .. } => with_channels!(mean.len(), Mixed),
                Law::FullGaussian { mean, .. } => with_channels!(mean.len(), MixedFull),
                law => Err(format!("a mixture of {law:?}")),
            },
            law => Err(format!("a model of {law:?}")),
        }
    }

    fn run<T: Precise, E: Family<T> + ProductKernel>(
        &self,
        a: &Model,
        b: &Model,
        measure: Affinity<T>,
    ) -> Result<(f64, Matrix), String> {
        const N: usize = 4;
        let (first, second) = (padded::<T, E, N>(a)?, padded::<T, E, N>(b)?);
        let overlaps = Overlaps::<T, { N * N }>::of(first.emission(), second.emission(), measure)
            .map_err(|error| error.to_string())?;
        let row = |row: &[T]| row.iter().take(b.states()).map(|log| log.to_f64()).collect();
        let psi = overlaps.logs().chunks(N).take(a.states()).map(row).collect();
        let power = measure.exponent();
        let (first, second) = (first.chain().powered(power), second.chain().powered(power));
        let mut stream = Stream::new(ModelPairKernel::new(&first, &second, overlaps));
        for _ in 0..=self.steps {
            stream.push(&()).map_err(|error| error.to_string())?;
        }
        Ok((stream.read().to_f64(), psi))
    }
}

type Mixed<const D: usize, T> = Mixture<Gaussian<D, T>, 4>;
type MixedFull<const D: usize, T> = Mixture<FullGaussian<D, T>, 4>;

/// A law as the host compares it.
fn distribution(law: &Law) -> Distribution {
    match law.clone() {
        Law::Categorical(p) => Distribution::Categorical(p),
        Law::Bernoulli(p) => Distribution::Bernoulli(p),
        Law::Poisson(rate) => Distribution::Poisson(rate),
        Law::Gaussian { mean, variance } => Distribution::Gaussian { mean, variance },
        Law::FullGaussian { mean, covariance } => {
            Distribution::FullGaussian { mean, covariance: covariance.concat() }
        }
        Law::Mixture { weight, component } => {
            let component = component.iter().map(distribution).collect();
            Distribution::Mixture { weight, component }
        }
    }
}

/// The host's model, of every family that it has; `None` of others.
pub(super) fn host_hmm(model: &Model) -> Option<HostHmm> {
    if let Some(hmm) = host_model(model) {
        return Some(hmm);
    }
    let full = |law: &Law| match law {
        Law::FullGaussian { mean, covariance } => Some((mean.clone(), covariance.concat())),
        _ => None,
    };
    let mixed = |law: &Law| {
        let Law::Mixture { weight, component } = law else { return None };
        let part = |law: &Law| match law {
            Law::Gaussian { mean, variance } => {
                Some((mean.clone(), variance.iter().map(|v| v.sqrt()).collect::<Row>()))
            }
            _ => None,
        };
        let parts: Option<Vec<(Row, Row)>> = component.iter().map(part).collect();
        let (mean, std): (Matrix, Matrix) = parts?.into_iter().unzip();
        Some((weight.clone(), (mean.concat(), std.concat())))
    };
    let laws = || model.emission.iter();
    let emission = if let Some(full) = laws().map(full).collect::<Option<Vec<_>>>() {
        let (mean, covariance) = full.into_iter().unzip();
        Emissions::new(family("full-gaussian")?, [mean, covariance])
    } else {
        let mixed = laws().map(mixed).collect::<Option<Vec<_>>>()?;
        let (weight, parts): (Matrix, Vec<(Row, Row)>) = mixed.into_iter().unzip();
        let (mean, std) = parts.into_iter().unzip();
        Emissions::new(family("mixture")?, [weight, mean, std])
    };
    let (initial, transition) = (model.initial.clone(), model.transition.clone());
    Some(HostHmm { initial, transition, emission })
}

/// What is compared of some measures, by the core and then by the host.
pub(super) struct Compared<'c> {
    comparison: &'c mut Comparison,
    single: bool,
    all: Vec<Vec<Logs>>,
}

impl<'c> Compared<'c> {
    /// By both; in single precision by the core alone.
    pub(super) fn of<T: Precise>(
        pair: &Pair,
        measures: &[Affinity<f64>],
        comparison: &'c mut Comparison,
    ) -> Result<Self, String> {
        let core = measures.iter().map(|&measure| pair.logs::<T>(measure));
        let mut all = vec![core.collect::<Result<Vec<_>, _>>()?];
        let single = T::ROUNDING > 0.0;
        if !single {
            let host = measures.iter().map(|&measure| pair.host_logs(measure));
            all.extend(host.collect::<Result<Option<Vec<_>>, _>>()?);
        }
        Ok(Self { comparison, single, all })
    }

    /// A number a measure: logarithms, or what comes of them.
    pub(super) fn each(&mut self, name: &str, of: impl Fn(&Logs) -> f64) {
        self.tree(name, 0, |all| all.iter().map(&of).collect::<Row>().into());
    }

    /// A number of the only measure.
    pub(super) fn only(&mut self, name: &str, of: impl Fn(&Logs) -> f64) {
        self.tree(name, 0, |all| all.first().map(&of).into());
    }

    /// `psi`, `[measure][state][state of the other]`.
    pub(super) fn psi(&mut self, name: &str) {
        self.tree(name, 1, |all| {
            let row = |row: &Row| row.iter().map(|log| log.exp()).collect::<Row>();
            all.iter()
                .map(|logs| logs.psi.iter().map(row).collect())
                .collect::<Vec<Matrix>>()
                .into()
        });
    }

    fn tree(&mut self, name: &str, slack: usize, of: impl Fn(&[Logs]) -> Tree) {
        for logs in &self.all {
            let worst = logs.iter().fold(0.0_f64, |most, logs| most.max(logs.slack[slack]));
            let slack = match (self.single, name.contains("log_")) {
                (false, _) => Tolerance::EXACT,
                (true, true) => Tolerance::absolute(worst),
                // Three logarithms make a cosine.
                (true, false) => Tolerance::relative(3.0 * worst),
            };
            self.comparison.field(name, of(logs), slack);
        }
    }
}
