use fishweir_core::filter::{Forgetting, ForgettingFactor, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Dual, Real};
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::{at, push};
use super::movement::{DirectionJson, ParametrisationJson};
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::{Family, Task, dispatch_any, samples, with_directions};
use crate::oracle::{Direction, Model, Parametrisation, Sequence};
use crate::rounding::Rounding;

/// Directional derivatives of every prefix's log-likelihood, and both with forgetting.
pub(super) struct Directional;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequence: Sequence,
    parametrisation: ParametrisationJson,
    direction: DirectionJson,
    lambda: f64,
}

impl Kind for Directional {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = inputs.hmm;
        let sequence = inputs.sequence;
        let direction = inputs.direction.for_model(&model)?;
        let by = Parametrisation::from(inputs.parametrisation);
        let lambda = inputs.lambda;
        let task = Derive { sequence: &sequence, direction: &direction, by, lambda };
        let series = dispatch_any::<T, _>(&model, task)?;
        let rounding = Rounding::of(&model, &sequence, T::ROUNDING);
        let most = rounding.largest_rate(&model, &direction, by, &sequence);
        let log = rounding.log();
        let derivative = rounding.derivative(most);
        let forget = log.plus(rounding.forgotten(lambda, rounding.largest_step));
        let d_forget = derivative.plus(rounding.forgotten(lambda, most));
        let fields = [
            ("log_likelihood", &series.log, log),
            ("directional", &series.directional, derivative),
            ("log_c", &series.step, log),
            ("d_log_c", &series.d_step, derivative),
            ("forget_L", &series.forget, forget),
            ("forget_dL", &series.d_forget, d_forget),
        ];
        // Times at which a long case states the fields with `_at`.
        let indices: Option<Vec<usize>> = comparison.read("indices")?;
        for (name, got, tolerance) in fields {
            comparison.field(name, got.clone(), tolerance);
            if let Some(indices) = &indices {
                comparison.field(&format!("{name}_at"), at(indices, got)?, tolerance);
            }
        }
        Ok(())
    }
}

pub(super) struct Derive<'a> {
    pub(super) sequence: &'a Sequence,
    pub(super) direction: &'a Direction,
    pub(super) by: Parametrisation,
    pub(super) lambda: f64,
}

#[derive(Default)]
pub(super) struct Series {
    log: Vec<Tree>,
    pub(super) directional: Vec<Tree>,
    step: Vec<Tree>,
    d_step: Vec<Tree>,
    forget: Vec<Tree>,
    d_forget: Vec<Tree>,
}

impl<T: Real> Task<T> for Derive<'_> {
    type Output = Series;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Series, String> {
        let moved = with_directions(hmm, self.direction, self.by)?;
        let memory = ForgettingFactor::factor(T::from_f64(self.lambda))
            .map_err(|error| error.to_string())?;
        let stream = Forgetting::of(&moved, memory);
        let mut state = stream.initial_state();
        let mut series = Series::default();
        let impossible = || Tree::Number(f64::NEG_INFINITY);
        let mut possible = true;
        for x in samples::<T, E>(self.sequence)? {
            let before = state.belief().evidence();
            let was_possible = possible;
            possible = possible && push(&stream, &mut state, x.as_ref())?;
            if !possible {
                series.log.push(impossible());
                series.forget.push(impossible());
                series.step.push(if was_possible { impossible() } else { Tree::Undefined });
                for derivative in
                    [&mut series.directional, &mut series.d_step, &mut series.d_forget]
                {
                    derivative.push(Tree::Undefined);
                }
                continue;
            }
            let put = |dual: Dual<T, 1>, value: &mut Vec<Tree>, rate: &mut Vec<Tree>| {
                value.push(dual.value.to_f64().into());
                rate.push(dual.tangent[0].to_f64().into());
            };
            let log = state.belief().log();
            put(log, &mut series.log, &mut series.directional);
            let step = state.belief().evidence().difference(&before);
            put(step, &mut series.step, &mut series.d_step);
            put(stream.read(&state), &mut series.forget, &mut series.d_forget);
        }
        Ok(series)
    }
}
