use std::f64::consts::LN_2;

use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Chain;
use fishweir_core::kernel::{Affinity, ModelPairKernel, Overlaps};
use fishweir_core::number::power;
use multiversion::multiversion;

use super::compared::{ComparedDistribution, checked, same_space, wrong};
use super::{BetweenError, ModelKernel, PairError};
use crate::elementary::Elementary;
use crate::kernel::LogGram;
use crate::parallel::each;
use crate::runtime::{Hmm, padded, padded_rows, with_states};

/// The kernel between hidden Markov models, over sequences of one length: how alike are those that they
/// make?
///
/// ```text
/// k(p, q) = sum over hidden paths of both of (p(path) q(path'))^rho prod_t psi(state_t, state'_t)
/// ```
///
/// with `psi` the kernel of two states' emissions, by the probability product (`rho`) or the mean map
/// (`rho` one). Models may have different numbers of states, and of real channels different families.
/// Over `T` transitions sequences have `T + 1` samples. For `rho` other than one it is the kernel of states
/// and observations together, which the states' order does not change and splitting one in two does.
///
/// Sources: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, section 4.2; Mehta and Gray,
/// "Generative and Latent Mean Map Kernels", 2010, Proposition 3. Time a pair of models of `N` and `M`
/// states: `psi` once, and `N M (N + M + 1)` multiply-adds per step, both padded to one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HmmKernel {
    measure: Affinity<f64>,
    steps: usize,
}

/// A model with precomputed values for every comparison.
struct Prepared {
    /// Initial probabilities to the measure's power.
    initial: Vec<f64>,
    /// Transition probabilities to the measure's power, over `2^shift`.
    ///
    /// No row sums to more than one, and pairs of states need not be rescaled at every step.
    transition: Vec<Vec<f64>>,
    shift: i32,
    state: Vec<ComparedDistribution>,
}

impl HmmKernel {
    /// The kernel by a measure, over `steps` transitions.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where the measure's parameter is out of range.
    pub fn new(measure: Affinity<f64>, steps: usize) -> Result<Self, BetweenError> {
        Ok(Self { measure: checked(measure)?, steps })
    }

    /// The probability product kernel.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where `rho` is not above zero and finite.
    pub fn product(rho: f64, steps: usize) -> Result<Self, BetweenError> {
        Self::new(Affinity::Product { rho }, steps)
    }

    /// The mean map of `exp(-lambda/2 |x - y|^2)`.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where `lambda` is negative or not finite.
    pub fn mean_map(lambda: f64, steps: usize) -> Result<Self, BetweenError> {
        Self::new(Affinity::MeanMap { lambda }, steps)
    }

    /// `log psi` of every pair of states, `[state of a][state of b]`: the kernel of their emissions.
    ///
    /// # Errors
    /// [`BetweenError`] as [`log_value`](ModelKernel::log_value).
    pub fn log_overlaps(&self, a: &Hmm, b: &Hmm) -> Result<Vec<Vec<f64>>, BetweenError> {
        let (a, b) = (self.prepare(a)?, self.prepare(b)?);
        let mut rows = vec![vec![f64::NEG_INFINITY; b.state.len()]; a.state.len()];
        self.overlap(&a, &b, |i, j, log| rows[i][j] = log)?;
        Ok(rows)
    }

    fn prepare(&self, hmm: &Hmm) -> Result<Prepared, BetweenError> {
        hmm.validate().map_err(|error| wrong("model", &error))?;
        let Some(distributions) = hmm.emission.distributions() else {
            let family = hmm.emission.family().name();
            let why = format!("there is no kernel between {family} emissions");
            return Err(BetweenError::Model { part: "emission".into(), why });
        };
        let powered = |row: &Vec<f64>| -> Vec<f64> {
            row.iter().map(|&p| power(p, self.measure.exponent())).collect()
        };
        let mut transition: Vec<Vec<f64>> = hmm.transition.iter().map(powered).collect();
        let most = transition.iter().map(|row| row.iter().sum::<f64>()).fold(0.0, f64::max);
        // Exact: by a power of two; by none where rows sum to one, but for rounding.
        let shift = if most > 0.0 { (most.portable_log2() - 1e-6).ceil() } else { 0.0 };
        let shift = shift.clamp(-1_000.0, 1_000.0) as i32;
        let scale = f64::from(-shift).exp2();
        transition.iter_mut().flatten().for_each(|p| *p *= scale);
        let state = distributions.iter().map(|one| ComparedDistribution::of(one, self.measure));
        let state = state.collect::<Result<_, _>>()?;
        Ok(Prepared { initial: powered(&hmm.initial), transition, shift, state })
    }

    fn overlap(
        &self,
        a: &Prepared,
        b: &Prepared,
        mut put: impl FnMut(usize, usize, f64),
    ) -> Result<(), BetweenError> {
        if let (Some(a), Some(b)) = (a.state.first(), b.state.first()) {
            same_space(a, b)?;
        }
        let mut scratch = Vec::new();
        for (i, own) in a.state.iter().enumerate() {
            for (j, other) in b.state.iter().enumerate() {
                put(i, j, own.log_overlap(other, self.measure, &mut scratch)?);
            }
        }
        Ok(())
    }

    fn value(&self, a: &Prepared, b: &Prepared) -> Result<f64, BetweenError> {
        let states = a.state.len().max(b.state.len());
        with_states!(states, N => self.at_size::<N, { N * N }>(a, b))
    }

    fn at_size<const N: usize, const P: usize>(
        &self,
        a: &Prepared,
        b: &Prepared,
    ) -> Result<f64, BetweenError> {
        // States that are padded have nothing in common with any.
        let mut logs = [f64::NEG_INFINITY; P];
        self.overlap(a, b, |i, j, log| logs[i * N + j] = log)?;
        let (first, second) = (a.chain::<N>(), b.chain::<N>());
        let between = ModelPairKernel::new(&first, &second, Overlaps::<f64, P>::of_logs(logs));
        let shifted = self.steps as f64 * f64::from(a.shift + b.shift);
        Ok(run(&between, self.steps) + shifted * LN_2)
    }
}

impl Prepared {
    fn chain<const N: usize>(&self) -> Chain<f64, N> {
        Chain::from_parts(padded(&self.initial), padded_rows(&self.transition))
    }
}

/// `T + 1` steps, with the widest vectors where a row of pairs is one of them: more of them to a row, and
/// compilers fill them by gathering.
fn run<const N: usize, const P: usize>(
    between: &ModelPairKernel<'_, Chain<f64, N>, Chain<f64, N>, Overlaps<f64, P>>,
    steps: usize,
) -> f64 {
    if N == 8 { run_wide(between, steps) } else { run_narrow(between, steps) }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn run_wide<const N: usize, const P: usize>(
    between: &ModelPairKernel<'_, Chain<f64, N>, Chain<f64, N>, Overlaps<f64, P>>,
    steps: usize,
) -> f64 {
    steps_of(between, steps)
}

#[multiversion(targets("x86_64+avx2"))]
fn run_narrow<const N: usize, const P: usize>(
    between: &ModelPairKernel<'_, Chain<f64, N>, Chain<f64, N>, Overlaps<f64, P>>,
    steps: usize,
) -> f64 {
    steps_of(between, steps)
}

#[inline(always)]
fn steps_of<const N: usize, const P: usize>(
    between: &ModelPairKernel<'_, Chain<f64, N>, Chain<f64, N>, Overlaps<f64, P>>,
    steps: usize,
) -> f64 {
    let mut state = between.initial_state();
    for _ in 0..=steps {
        // No step is refused.
        let _ = between.step(&mut state, &());
    }
    between.read(&state)
}

impl ModelKernel for HmmKernel {
    type Model = Hmm;

    fn log_value(&self, a: &Hmm, b: &Hmm) -> Result<f64, BetweenError> {
        self.value(&self.prepare(a)?, &self.prepare(b)?)
    }

    fn log_gram(&self, models: &[Hmm]) -> Result<LogGram, PairError> {
        let prepared = each(models.len(), &|model| {
            let own = self.prepare(&models[model]);
            own.map_err(|why| PairError { row: model, column: model, why })
        });
        let prepared = prepared.into_iter().collect::<Result<Vec<_>, _>>()?;
        LogGram::try_from_fn(prepared.len(), |row, column| {
            let value = self.value(&prepared[row], &prepared[column]);
            value.map_err(|why| PairError { row, column, why })
        })
    }
}
