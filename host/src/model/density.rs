use fishweir_core::emission::{Gaussian, Parametrisation, Spread, Width};
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::smooth::SequenceError;
use serde::{Deserialize, Serialize};

use super::score::push_emissions;
use super::{ContextModelError, Model, ModelScore, Scored};
use crate::batch::{Accumulate, Batch, Expectations};
use crate::data::{Samples, SamplesView};
use crate::fit::{BaumWelch, Fit, FitError, Topology};
use crate::parallel::each;
use crate::runtime::numbers::push_row;
use crate::runtime::{
    Distribution, Emissions, Hmm, HmmError, RowState, check, padded_states, with_states,
};

/// Independent samples of a mixture of diagonal Gaussians, of one where there is one component:
/// `p(x_1..T) = prod_t sum_m weight_m N(x_t; mean_m, std_m)`.
///
/// The posterior of a component is that of the first state of a hidden Markov model with the weights as
/// its initial distribution, and is the core's. A missing sample counts nothing.
///
/// Score: the weights, where there are two at least, then for each component its means and its variances
/// (or log standard deviations), `[channel]`: `M + 2 M D` entries, or `2 D`. Sources: Shawe-Taylor
/// and Cristianini, "Kernel Methods for Pattern Analysis", 2004, examples 12.30 and 12.31 with the
/// posteriors that the latter leaves out. Work per sample: `M` likelihoods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct DensityModel {
    weight: Vec<f64>,
    emission: Emissions,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    weight: Vec<f64>,
    mean: Vec<Vec<f64>>,
    std: Vec<Vec<f64>>,
}

impl TryFrom<Parts> for DensityModel {
    type Error = HmmError;

    fn try_from(Parts { weight, mean, std }: Parts) -> Result<Self, HmmError> {
        Self::new(weight, mean, std)
    }
}

impl From<DensityModel> for Parts {
    fn from(DensityModel { weight, emission }: DensityModel) -> Self {
        let [mean, std] = emission.parts().rows().map(<[Vec<f64>]>::to_vec);
        Self { weight, mean, std }
    }
}

impl DensityModel {
    /// A mixture from its weights, `[component]`, means and standard deviations,
    /// `[component][channel]`, in the sensor's units.
    ///
    /// # Errors
    /// [`HmmError`] naming the first number that is wrong.
    pub fn new(
        weight: Vec<f64>,
        mean: Vec<Vec<f64>>,
        std: Vec<Vec<f64>>,
    ) -> Result<Self, HmmError> {
        let (count, channels) = (weight.len(), mean.first().map_or(0, Vec::len));
        if padded_states(count).is_none() {
            let wanted = count.clamp(1, 64);
            return Err(HmmError::Shape { part: "weight".into(), found: count, wanted });
        }
        check::distribution("weight", &weight)?;
        check::length("mean[0]", channels, channels.max(1))?;
        check::gaussians(&mean, &std, count, channels)?;
        Ok(Self { weight, emission: Emissions::gaussian(mean, std) })
    }

    /// The mixture of `options.states` Gaussians that all samples make likeliest, by expectation and
    /// maximisation from k-means: Baum-Welch for a model without memory, with its restarts and its
    /// floor. A single Gaussian is there after one pass.
    ///
    /// `scale` is the standard deviation of each channel over all training data; `progress` is called after every pass.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of range or there is nothing to fit.
    pub fn fit(
        options: &BaumWelch,
        sequences: &[SamplesView<'_>],
        scale: &[f64],
        progress: &(dyn Fn() + Sync),
    ) -> Result<(Self, Fit), ContextModelError> {
        // Weights stand in for the first state; there are no transitions to smooth.
        let topology = Topology::Ergodic;
        let options = BaumWelch { topology, transition_pseudocount: 0.0, ..options.clone() };
        options.validate()?;
        let rows = sequences.iter().filter(|samples| samples.rows().is_some());
        match rows.map(SamplesView::observed).sum() {
            0 => return Err(FitError::NoData.into()),
            // A point has no spread.
            found @ 1 => return Err(FitError::FewPoints { found }.into()),
            _ => {}
        }
        let fit = options.likeliest(expectations, sequences, scale.len(), scale, progress)?;
        let model =
            Self { weight: fit.model.initial.clone(), emission: fit.model.emission.clone() };
        Ok((model, fit))
    }

    /// Weights, `[component]`.
    pub fn weight(&self) -> &[f64] {
        &self.weight
    }

    /// Means and standard deviations, `[component][channel]`.
    pub fn emission(&self) -> &Emissions {
        &self.emission
    }

    /// The model as a hidden Markov model without memory: every row of transitions is the weights.
    pub fn memoryless(&self) -> Hmm {
        Hmm {
            initial: self.weight.clone(),
            transition: vec![self.weight.clone(); self.weight.len()],
            emission: self.emission.clone(),
        }
    }

    /// The distribution of a sample, as kernels between models compare it.
    pub fn distribution(&self) -> Distribution {
        let component = self.emission.distributions().unwrap_or_default();
        Distribution::Mixture { weight: self.weight.clone(), component }
    }

    fn channels(&self) -> usize {
        self.emission.shape().size
    }

    /// Entries of a score that are weights': a single one is no parameter.
    fn weights(&self) -> usize {
        if self.weight.len() > 1 { self.weight.len() } else { 0 }
    }
}

/// Expected statistics of samples that are independent: every one is the first of its sequence. The
/// expected counts of components stand in `initial`.
fn expectations(model: &Hmm, batch: &Batch<'_>) -> Vec<Result<Expectations, SequenceError>> {
    let sequences = batch.sequences();
    with_states!(model.states(), N => match model.channels::<f64, N>() {
        Some(hmm) => {
            let forward = Forward::of(&hmm);
            each(sequences.len(), &|index| of_one(model, forward, sequences[index]))
        }
        None => sequences.iter().map(|_| Ok(Expectations::zero(model))).collect(),
    })
}

fn of_one<const N: usize>(
    model: &Hmm,
    forward: Forward<'_, RowState<f64>, N>,
    samples: SamplesView<'_>,
) -> Result<Expectations, SequenceError> {
    let mut expected = Expectations::zero(model);
    let mut observed = Vec::new();
    let rows = samples.rows().into_iter().flat_map(|rows| rows.iter());
    for (time, row) in rows.enumerate() {
        let Some(row) = row else { continue };
        let mut state = forward.initial_state();
        forward
            .step(&mut state, row)
            .map_err(|error| SequenceError::Observation { time, error })?;
        let posterior = forward.filtered(&state);
        expected.log_likelihood += state.log();
        for (sum, share) in expected.initial.iter_mut().zip(posterior) {
            *sum += share;
        }
        observed.push((row, posterior));
    }
    let weighed = observed.iter().map(|(row, posterior)| (*row, posterior));
    RowState::collect::<N>(&model.emission, weighed, &mut expected.emission);
    Ok(expected)
}

impl Model for DensityModel {
    fn noun(&self) -> &'static str {
        if self.weight.len() > 1 { "mixture of Gaussians" } else { "Gaussian" }
    }

    fn size(&self) -> usize {
        self.channels()
    }

    /// `logits[component]`, where there are two at least, then `mean[component][channel]` and
    /// `log_std[component][channel]`, component by component.
    fn parameter_names(&self) -> Vec<String> {
        let mut names: Vec<String> = (0..self.weights()).map(|m| format!("logits[{m}]")).collect();
        for component in 0..self.weight.len() {
            for block in ["mean", "log_std"] {
                names.extend((0..self.channels()).map(|d| format!("{block}[{component}][{d}]")));
            }
        }
        names
    }
}

impl Scored for DensityModel {
    fn parameters(&self) -> usize {
        self.weights() + 2 * self.weight.len() * self.channels()
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        let units = vec![1.0; self.channels()];
        let score = |expected: &Expectations| {
            let mut score = Vec::with_capacity(self.parameters());
            if self.weights() > 0 {
                push_row(&self.weight, &expected.initial, parametrisation, &mut score);
            }
            push_emissions(&self.emission, &expected.emission, parametrisation, &units, &mut score);
            ModelScore { log_likelihood: expected.log_likelihood, score }
        };
        let expected = expectations(&self.memoryless(), &Batch::new(sequences));
        each(expected.len(), &|index| expected[index].as_ref().map(score).map_err(|error| *error))
    }

    fn draw(&self, length: usize, seed: u64) -> Samples {
        self.memoryless().simulate(length, seed)
    }

    /// Information of a single Gaussian, by its channels; `None` for a mixture.
    fn information(
        &self,
        length: usize,
        parametrisation: Parametrisation,
    ) -> Option<Vec<Vec<f64>>> {
        let [mean, std] = self.emission.parts().rows();
        let ([mean], [std]) = (mean, std) else { return None };
        let width = match parametrisation.spread {
            Spread::Variance => Width::Variance,
            Spread::LogStandardDeviation => Width::LogStandardDeviation,
        };
        let channel = |(mean, std): (&f64, &f64)| {
            let one = Gaussian::<1, f64>::new([*mean], [std * std]).ok()?;
            Some(one.information_in(width))
        };
        let channels: Vec<[f64; 2]> = mean.iter().zip(std).map(channel).collect::<Option<_>>()?;
        // Means first, then spreads.
        let of = |part: usize| channels.iter().map(move |information| information[part]);
        let diagonal: Vec<f64> = of(0).chain(of(1)).map(|one| length as f64 * one).collect();
        let row = |a: usize| {
            let mut row = vec![0.0; diagonal.len()];
            row[a] = diagonal[a];
            row
        };
        Some((0..diagonal.len()).map(row).collect())
    }
}
