//! Decisions on windows of a stream, by the core's window classifier around a bank of models with directions.

use std::any::Any;
use std::borrow::Borrow;
use std::rc::Rc;

use fishweir_core::ObservationError;
use fishweir_core::classify::{Normalisation, StreamClassifier, StreamModel, WindowClassifier};
use fishweir_core::contract::{Contract, Windows};
use fishweir_core::emission::VectorSpace;
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Real;
use fishweir_core::score::ScoreOf;
use serde::Deserialize;

use super::compare::Comparison;
use super::inference::doubles;
use super::movement::{DirectionJson, ParametrisationJson};
use super::precision::{Kind, Precise};
use super::schema::{InPartJson, Matrix, Row, lacks_channels};
use crate::build::{
    Family, Task, coordinates, direction, dispatch_any, dispatch_in_part, padded, samples,
};
use crate::oracle::{Direction, Model, Parametrisation, Sequence};
use crate::rounding::{Rounding, Tolerance};

/// Features and decisions of every full window of a stream.
pub(super) struct Windowed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    models: Vec<Model>,
    directions: Vec<Vec<DirectionJson>>,
    parametrisation: ParametrisationJson,
    /// `[class][feature]`.
    weights: Matrix,
    bias: Row,
    window: u32,
    hop: u32,
    per_sample: bool,
    sequence: InPartJson,
}

/// Models of a bank that the tests are compiled for; a smaller bank is padded with models that weigh nothing.
const MODELS: usize = 8;
/// Outputs that the tests are compiled for; a padded class has a value below all others.
const OUTPUTS: usize = 8;
/// The value of a padded class.
const NEVER: f64 = -1e30;

/// A bank of models with directions, and the stream that it sees.
struct Bank {
    models: Vec<Model>,
    /// `[model][direction]`.
    directions: Vec<Vec<Direction>>,
    by: Parametrisation,
    sequence: Sequence,
    windows: Windows,
    normalisation: Normalisation,
}

/// An output of the classifier: a bias, and weights on the bank's features.
#[derive(Clone)]
struct Affine {
    bias: f64,
    weights: Row,
}

/// A decision at the end of a window.
#[derive(Clone)]
struct Decided {
    /// The sample, counted from 0, after which it was made.
    end: usize,
    /// `[output]`.
    values: Row,
    class: usize,
    /// Models that the window rules out.
    ruled_out: [bool; MODELS],
}

impl Kind for Windowed {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let Inputs {
            models,
            directions,
            parametrisation,
            weights,
            bias,
            window,
            hop,
            per_sample,
            sequence,
        } = inputs;
        let sequence: Sequence = sequence.into();
        if directions.len() != models.len() || bias.len() != weights.len() {
            return Err("models and directions, or weights and biases, differ in number".into());
        }
        let along = directions.first().map_or(0, Vec::len);
        let of_model = |(list, model): (Vec<DirectionJson>, &Model)| {
            list.into_iter().map(|one| one.for_model(model)).collect::<Result<Vec<_>, _>>()
        };
        let directions =
            directions.into_iter().zip(&models).map(of_model).collect::<Result<Vec<_>, _>>()?;
        let features = models.len() * (1 + along);
        if directions.iter().any(|list| list.len() != along)
            || weights.iter().any(|row| row.len() != features)
        {
            return Err(
                "models differ in their number of directions, or rows of weights in length".into(),
            );
        }
        // No gap ends a stream: windows of missing samples alone decide.
        let windows = Windows { longest_gap: u32::MAX, ..Windows::of(window, hop) };
        let by = Parametrisation::from(parametrisation);
        let normalisation =
            if per_sample { Normalisation::PER_SAMPLE } else { Normalisation::NONE };
        let bank = Bank { models, directions, by, sequence, windows, normalisation };

        let classes: Vec<Affine> = bias
            .iter()
            .zip(&weights)
            .map(|(&bias, weights)| Affine { bias, weights: weights.clone() })
            .collect();
        let decided = bank.decide::<T>(&classes)?;
        // A classifier with an output for each feature reads the features.
        let mut read: Vec<Row> = vec![Vec::new(); decided.len()];
        let unit = |f: usize| {
            let weights = (0..features).map(|g| if f == g { 1.0 } else { 0.0 }).collect();
            Affine { bias: 0.0, weights }
        };
        let units: Vec<Affine> = (0..features).map(unit).collect();
        for units in units.chunks(OUTPUTS) {
            for (read, decided) in read.iter_mut().zip(bank.decide::<T>(units)?) {
                read.extend(decided.values);
            }
        }

        let slack = bank.slack(T::ROUNDING, decided.iter().map(|decided| decided.end))?;
        let ends: Vec<usize> = decided.iter().map(|decided| decided.end).collect();
        comparison.field("window_ends", ends, Tolerance::EXACT);
        let undefined = |f: usize, decided: &Decided| {
            !f.is_multiple_of(1 + along) && decided.ruled_out[f / (1 + along)]
        };
        let feature = |read: &Row, decided: &Decided| -> Vec<Option<f64>> {
            let each = read.iter().enumerate();
            each.map(|(f, &value)| (!undefined(f, decided)).then_some(value)).collect()
        };
        let defined: Vec<Vec<Option<f64>>> =
            read.iter().zip(&decided).map(|(read, decided)| feature(read, decided)).collect();
        let few = Tolerance::relative(4.0 * T::ROUNDING);
        comparison.field_each("features", defined, few, slack.clone());
        // Weights times what features are off by, and the roundings of a sum of products.
        let off: Vec<Row> = slack
            .iter()
            .zip(&read)
            .map(|(slack, read)| {
                let of_class = |affine: &Affine| {
                    let terms = affine.weights.iter().zip(slack.iter().zip(read));
                    let off = |(w, (slack, value)): (&f64, (&f64, &f64))| {
                        w.abs() * (2.0 * slack + 8.0 * T::ROUNDING * value.abs())
                    };
                    terms.map(off).sum::<f64>() + 8.0 * T::ROUNDING * affine.bias.abs()
                };
                classes.iter().map(of_class).collect()
            })
            .collect();
        let values: Vec<Row> = decided.iter().map(|decided| decided.values.clone()).collect();
        comparison.field_each("decision_values", values.clone(), Tolerance::EXACT, off.clone());
        // Values as near to each other as they may be off decide for either class.
        let close = values.iter().zip(&off).zip(&decided).map(|((values, off), decided)| {
            let [best, own] = [values[decided.class], off[decided.class]];
            let rivals = values.iter().zip(off).enumerate();
            let mut rivals = rivals.filter(|(class, _)| *class != decided.class);
            let open = rivals.any(|(_, (value, off))| best - value < own + off);
            if open { classes.len() as f64 } else { 0.0 }
        });
        let close: Row = close.collect();
        let decisions: Vec<usize> = decided.iter().map(|decided| decided.class).collect();
        comparison.field_each("decision", decisions, Tolerance::EXACT, close);
        Ok(())
    }
}

impl Bank {
    /// The decisions of a classifier with these outputs.
    fn decide<T: Real>(&self, outputs: &[Affine]) -> Result<Vec<Decided>, String> {
        let (models, outputs_of) = (self.models.len(), outputs.len());
        if models > MODELS || outputs_of > OUTPUTS || models * outputs_of == 0 {
            return Err(format!(
                "{models} models and {outputs_of} classes; the tests are compiled for up to {MODELS} and {OUTPUTS}"
            ));
        }
        // Models of a bank have the same number of states.
        let largest = self.models.iter().max_by_key(|model| model.states());
        let largest = largest.ok_or("a bank without models")?;
        let decide = Decide { bank: self, outputs };
        if self.sequence.iter().flatten().any(lacks_channels) {
            return dispatch_in_part::<T, _>(largest, decide);
        }
        dispatch_any::<T, _>(largest, decide)
    }

    /// What rounding adds to each feature, `[window][feature]`.
    fn slack(&self, unit: f64, ends: impl Iterator<Item = usize>) -> Result<Vec<Row>, String> {
        let length = self.windows.length as usize;
        let factor =
            if self.normalisation == Normalisation::NONE { 1.0 } else { 1.0 / length as f64 };
        let of_window = |end: usize| -> Result<Row, String> {
            let start =
                (end + 1).checked_sub(length).ok_or("a decision before a window is full")?;
            let window = &self.sequence[start..=end];
            let mut slack = Row::new();
            for (model, directions) in self.models.iter().zip(&self.directions) {
                let rounding = Rounding::of(model, window, unit);
                slack.push(factor * rounding.log().absolute);
                slack.extend(directions.iter().map(|direction| {
                    let most = rounding.largest_rate(model, direction, self.by, window);
                    factor * rounding.derivative(most).absolute
                }));
            }
            Ok(slack)
        };
        ends.map(of_window).collect()
    }
}

struct Decide<'a> {
    bank: &'a Bank,
    outputs: &'a [Affine],
}

impl<T: Real> Task<T> for Decide<'_> {
    type Output = Vec<Decided>;

    fn run<E: Family<T>, const N: usize>(self, _: &Hmm<E, N>) -> Result<Vec<Decided>, String> {
        let Self { bank, outputs } = self;
        let plain = bank.models.iter().map(padded::<T, E, N>).collect::<Result<Vec<_>, _>>()?;
        let along = bank.directions.first().map_or(0, Vec::len);
        let taken = samples::<T, E>(&bank.sequence)?;
        let weight = |o: usize, m: usize, j: usize| {
            outputs.get(o).map_or(0.0, |affine| affine.weights[m * (1 + along) + j])
        };
        let classifier = Outputs {
            weights: std::array::from_fn(|o| {
                std::array::from_fn(|m| {
                    T::from_f64(if m < plain.len() { weight(o, m, 0) } else { 0.0 })
                })
            }),
            biases: std::array::from_fn(|o| {
                T::from_f64(outputs.get(o).map_or(NEVER, |affine| affine.bias))
            }),
            count: outputs.len(),
        };
        if along == 0 {
            let models = std::array::from_fn(|m| *plain.get(m).unwrap_or(&plain[0]));
            return classifier.run::<_, E::Sample>(models, bank, &taken);
        }
        // An output's direction is what it weighs the directions by, added up.
        let mut moved = Vec::new();
        for (m, (model, list)) in plain.iter().zip(&bank.directions).enumerate() {
            let own = list.first().ok_or("a model without directions")?;
            let first = coordinates(own, bank.by);
            let part = |one: &Direction| -> Result<ScoreOf<E, N>, String> {
                let part = direction::<T, E, N>(one)?;
                match coordinates(one, bank.by) {
                    by if by == first => Ok(part),
                    by => part.convert_direction(model, by, first).map_err(|e| e.to_string()),
                }
            };
            let parts: Vec<ScoreOf<E, N>> = list.iter().map(part).collect::<Result<_, _>>()?;
            let sum: [ScoreOf<E, N>; OUTPUTS] = std::array::from_fn(|o| {
                let mut sum = ScoreOf::<E, N>::ZERO;
                for (j, part) in parts.iter().enumerate() {
                    sum.add_scaled(T::from_f64(weight(o, m, 1 + j)), part);
                }
                sum
            });
            moved.push(model.with_directions(&sum, first));
        }
        let still = plain[0].with_directions(
            &[ScoreOf::<E, N>::ZERO; OUTPUTS],
            coordinates(&bank.directions[0][0], bank.by),
        );
        let models = std::array::from_fn(|m| *moved.get(m).unwrap_or(&still));
        classifier.run::<_, E::Sample>(models, bank, &taken)
    }
}

/// The linear part of a classifier, padded.
struct Outputs<T> {
    weights: [[T; MODELS]; OUTPUTS],
    biases: [T; OUTPUTS],
    count: usize,
}

impl<T: Real> Outputs<T> {
    fn run<H, S>(
        self,
        models: [H; MODELS],
        bank: &Bank,
        taken: &[Option<S>],
    ) -> Result<Vec<Decided>, String>
    where
        H: StreamModel<Real = T, State: 'static>,
        S: Borrow<H::Observation>,
    {
        let Self { weights, biases, count } = self;
        let classifier = StreamClassifier::from_parts(models, weights, biases, bank.normalisation);
        classifier.validate().map_err(|error| error.to_string())?;
        decide(&Numbered { classifier, taken, count }, bank.windows, taken.len())
    }
}

/// A classifier whose observations are indices of a stream's samples, so that its state has one type whatever its
/// models are.
struct Numbered<'a, H: StreamModel, S> {
    classifier: StreamClassifier<H, MODELS, OUTPUTS>,
    taken: &'a [Option<S>],
    count: usize,
}

type StateOf<H> = <StreamClassifier<H, MODELS, OUTPUTS> as Streaming>::State;

impl<H: StreamModel<State: 'static>, S> Numbered<'_, H, S> {
    fn state<'s>(&self, state: &'s Rc<dyn Any>) -> &'s StateOf<H> {
        state.downcast_ref().expect("a state of this classifier")
    }
}

impl<H, S> Streaming for Numbered<'_, H, S>
where
    H: StreamModel<State: 'static>,
    S: Borrow<H::Observation>,
{
    type Observation = usize;
    type State = Rc<dyn Any>;
    /// The end of the window is for the reader of the stream to fill in.
    type Reading = Decided;

    fn initial_state(&self) -> Rc<dyn Any> {
        Rc::new(self.classifier.initial_state())
    }

    fn step(&self, state: &mut Rc<dyn Any>, x: &usize) -> Result<(), ObservationError> {
        let mut after = *self.state(state);
        let x = self.taken[*x].as_ref().expect("a sample that is not missing");
        self.classifier.step(&mut after, x.borrow())?;
        *state = Rc::new(after);
        Ok(())
    }

    fn step_missing(&self, state: &mut Rc<dyn Any>) {
        let mut after = *self.state(state);
        self.classifier.step_missing(&mut after);
        *state = Rc::new(after);
    }

    fn read(&self, state: &Rc<dyn Any>) -> Decided {
        let state = self.state(state);
        let mut values = doubles(&self.classifier.decision_values(state));
        values.truncate(self.count);
        let class = self.classifier.read(state).class;
        Decided { end: 0, values, class, ruled_out: *state.ruled_out() }
    }
}

/// A classifier of any type: one instance of the windows serves all.
#[derive(Clone, Copy)]
struct AnyClassifier<'a>(&'a dyn Run);

trait Run {
    fn initial_state(&self) -> Rc<dyn Any>;
    fn step(&self, state: &mut Rc<dyn Any>, x: &usize) -> Result<(), ObservationError>;
    fn step_missing(&self, state: &mut Rc<dyn Any>);
    fn read(&self, state: &Rc<dyn Any>) -> Decided;
}

impl<R: Streaming<Observation = usize, State = Rc<dyn Any>, Reading = Decided>> Run for R {
    fn initial_state(&self) -> Rc<dyn Any> {
        Streaming::initial_state(self)
    }
    fn step(&self, state: &mut Rc<dyn Any>, x: &usize) -> Result<(), ObservationError> {
        Streaming::step(self, state, x)
    }
    fn step_missing(&self, state: &mut Rc<dyn Any>) {
        Streaming::step_missing(self, state);
    }
    fn read(&self, state: &Rc<dyn Any>) -> Decided {
        Streaming::read(self, state)
    }
}

impl Streaming for AnyClassifier<'_> {
    type Observation = usize;
    type State = Rc<dyn Any>;
    type Reading = Decided;

    fn initial_state(&self) -> Self::State {
        self.0.initial_state()
    }
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        self.0.step(state, x)
    }
    fn step_missing(&self, state: &mut Self::State) {
        self.0.step_missing(state);
    }
    fn read(&self, state: &Self::State) -> Decided {
        self.0.read(state)
    }
}

/// Runs a classifier over a stream with as many states as its windows take.
fn decide<H, S>(
    classifier: &Numbered<'_, H, S>,
    windows: Windows,
    length: usize,
) -> Result<Vec<Decided>, String>
where
    H: StreamModel<State: 'static>,
    S: Borrow<H::Observation>,
{
    let given: Vec<bool> = (0..length).map(|t| classifier.taken[t].is_some()).collect();
    macro_rules! with_states {
        ($($states:literal)+) => {
            match windows.states() {
                $($states => on_windows::<$states>(AnyClassifier(classifier), windows, &given),)+
                states => Err(format!("{states} windows open at a time; the tests are compiled for up to 32")),
            }
        };
    }
    with_states!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

fn on_windows<const STATES: usize>(
    classifier: AnyClassifier<'_>,
    windows: Windows,
    given: &[bool],
) -> Result<Vec<Decided>, String> {
    let contract = Contract { windows: Some(windows), ..Contract::NONE };
    let stream = WindowClassifier::<_, STATES>::new(classifier, &contract);
    let mut stream = Stream::new(stream.map_err(|error| error.to_string())?);
    let decide = |(end, given): (usize, &bool)| {
        let decided = stream.decide(given.then_some(&end))?;
        Some(Decided { end, ..decided })
    };
    Ok(given.iter().enumerate().filter_map(decide).collect())
}
