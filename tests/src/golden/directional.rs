use fishweir_core::filter::{Forgetting, Memory, Recursion};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::{Dual, Real};
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::{at, push};
use super::movement::{DirectionJson, ParametrisationJson};
use super::precision::{Kind, Precise};
use super::schema::{HmmJson, SequenceJson};
use super::tree::{Expectation, Tree};
use crate::build::{Family, Task, along, dispatch_any, samples};
use crate::oracle::{Direction, Model, Parametrisation, Sequence};
use crate::rounding::Rounding;

/// Directional derivatives of every prefix's log-likelihood, and both with forgetting.
pub(super) struct Directional;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: HmmJson,
    sequence: SequenceJson,
    parametrisation: ParametrisationJson,
    direction: DirectionJson,
    lambda: f64,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expected {
    log_likelihood: Expectation,
    directional: Expectation,
    log_c: Expectation,
    d_log_c: Expectation,
    #[serde(rename = "forget_L")]
    forget: Expectation,
    #[serde(rename = "forget_dL")]
    d_forget: Expectation,
    /// Times at which a long case states the fields with `_at`.
    indices: Option<Vec<usize>>,
    log_likelihood_at: Expectation,
    directional_at: Expectation,
    log_c_at: Expectation,
    d_log_c_at: Expectation,
    #[serde(rename = "forget_L_at")]
    forget_at: Expectation,
    #[serde(rename = "forget_dL_at")]
    d_forget_at: Expectation,
}

impl Kind for Directional {
    type Inputs = Inputs;
    type Expected = Expected;

    fn check<T: Precise>(
        inputs: Inputs,
        expected: &Expected,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        let model = Model::try_from(inputs.hmm)?;
        let sequence = Sequence::from(inputs.sequence);
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
        let Expected {
            log_likelihood,
            directional,
            log_c,
            d_log_c,
            forget: forget_l,
            d_forget: forget_dl,
            indices,
            log_likelihood_at,
            directional_at,
            log_c_at,
            d_log_c_at,
            forget_at,
            d_forget_at,
        } = expected;
        let fields = [
            ("log_likelihood", log_likelihood, log_likelihood_at, &series.log, log),
            ("directional", directional, directional_at, &series.directional, derivative),
            ("log_c", log_c, log_c_at, &series.step, log),
            ("d_log_c", d_log_c, d_log_c_at, &series.d_step, derivative),
            ("forget_L", forget_l, forget_at, &series.forget, forget),
            ("forget_dL", forget_dl, d_forget_at, &series.d_forget, d_forget),
        ];
        for (name, whole, some, got, tolerance) in fields {
            comparison.field(name, whole, got.clone(), tolerance);
            match indices {
                Some(indices) => {
                    comparison.field(&format!("{name}_at"), some, at(indices, got)?, tolerance);
                }
                None if *some != Expectation::Absent => {
                    comparison.fail(format!("{name}_at some times, but no `indices`"));
                }
                None => {}
            }
        }
        Ok(())
    }
}

struct Derive<'a> {
    sequence: &'a Sequence,
    direction: &'a Direction,
    by: Parametrisation,
    lambda: f64,
}

#[derive(Default)]
struct Series {
    log: Vec<Tree>,
    directional: Vec<Tree>,
    step: Vec<Tree>,
    d_step: Vec<Tree>,
    forget: Vec<Tree>,
    d_forget: Vec<Tree>,
}

impl<T: Real> Task<T> for Derive<'_> {
    type Output = Series;

    fn run<E: Family<T>, const N: usize>(self, hmm: &Hmm<E, N>) -> Result<Series, String> {
        let moved = along(hmm, self.direction, self.by)?;
        let memory = Memory::factor(T::from_f64(self.lambda)).map_err(|error| error.to_string())?;
        let stream = Forgetting::of(&moved, memory);
        let mut state = stream.start();
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
            let step = state.belief().evidence().less(&before);
            put(step, &mut series.step, &mut series.d_step);
            put(stream.read(&state), &mut series.forget, &mut series.d_forget);
        }
        Ok(series)
    }
}
