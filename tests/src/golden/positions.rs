use fishweir_core::context::{
    ContextLikelihood, ContextStatistics, IndependentPositions, Positions as ByPosition,
};
use fishweir_core::emission::{Categorical, Emission, Parametrisation};
use fishweir_core::filter::Stream;
use fishweir_core::kernel::PositionFisher;
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::features::{Features, with_gaps};
use super::host_context;
use super::kernel::{after, all};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::build::filled;
use crate::rounding::Tolerance;

/// Sequences of independent positions.
pub(super) struct Positions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    theta: Matrix,
    sequences: Vec<Vec<usize>>,
}

/// Symbols and positions that the tests are compiled for. A padded symbol has probability zero, and a
/// padded position, which no sequence reaches, always shows symbol 0.
const SYMBOLS: usize = 32;
const LENGTH: usize = 128;

type Model<T> = IndependentPositions<SYMBOLS, LENGTH, T>;

fn model<T: Real>(theta: &[Row]) -> Result<Model<T>, String> {
    if theta.len() > LENGTH {
        return Err(format!("{} positions do not fit {LENGTH}", theta.len()));
    }
    let certain = filled(&[1.0], 0.0)?;
    let mut rows = [Categorical::from_parts(certain); LENGTH];
    for (row, plain) in rows.iter_mut().zip(theta) {
        *row = Categorical::from_parts(filled(plain, 0.0)?);
        row.validate().map_err(|error| error.to_string())?;
    }
    Ok(Model::new(ByPosition, rows))
}

impl Kind for Positions {
    type Inputs = Inputs;

    fn check<T: Precise>(
        Inputs { theta, sequences }: Inputs,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        if sequences.iter().any(|sequence| sequence.len() != theta.len()) {
            return Err("a sequence of another length than the model's".into());
        }
        if T::ROUNDING == 0.0 {
            host_context::positions(&theta, &sequences, comparison)?;
        }
        let model = model::<T>(&theta)?;
        let unit = T::ROUNDING;
        let logs: Vec<f64> = sequences
            .iter()
            .map(|sequence| {
                after(ContextLikelihood::of(&model), all(sequence))
                    .map_or(f64::NEG_INFINITY, |log| log.to_f64())
            })
            .collect();
        let possible: Vec<bool> = logs.iter().map(|log| log.is_finite()).collect();
        let most = logs.iter().filter(|log| log.is_finite()).fold(0.0, |m: f64, l| m.max(l.abs()));
        let slack = Tolerance::absolute(unit * (3.0 * theta.len() as f64 + 4.0 * most));
        comparison.field("log_probability", logs, slack);

        // A sequence that cannot be has no kernel with any.
        let (mut invariant, mut quadratic) = (vec![], vec![]);
        let (mut error, mut square) = (0.0_f64, 0.0_f64);
        for stream in &sequences {
            let (mut row, mut quadratic_row) = (vec![], vec![]);
            for stored in &sequences {
                let values = kernel(&model, stored, stream).map(|[k, q]| (k.to_f64(), q.to_f64()));
                let counts = stream.iter().zip(stored).zip(&theta).filter(|((x, y), _)| x == y);
                let matched: f64 = counts.map(|((x, _), theta)| theta[*x].recip()).sum();
                if let Some((k, _)) = values {
                    let off = unit * (4.0 * matched + 2.0 * theta.len() as f64 + 2.0);
                    error = error.max(off);
                    square = square.max(2.0 * (1.0 + k).abs() * off + off * off);
                    square = square.max(4.0 * unit * (1.0 + k).powi(2));
                }
                row.push(values.map(|(k, _)| k));
                quadratic_row.push(values.map(|(_, q)| q));
            }
            invariant.push(row);
            quadratic.push(quadratic_row);
        }
        comparison.field("invariant", invariant, Tolerance::absolute(error));
        let slack = Tolerance::absolute(square);
        comparison.field("quadratic", quadratic, slack);

        let kinds = [
            ("practical_ratio", Parametrisation::RATIO),
            ("practical_softmax", Parametrisation::SOFTMAX),
        ];
        for (name, parametrisation) in kinds {
            let mut features = Features { score: vec![], error: vec![] };
            for sequence in sequences.iter().zip(&possible).filter_map(|(s, p)| p.then_some(s)) {
                let statistics = after(ContextStatistics::of(&model), all(sequence))?;
                let score = model.score(&statistics, parametrisation);
                let rows = score.iter().zip(&theta);
                let row = rows.flat_map(|(score, theta)| score[..theta.len()].iter());
                let row: Row = row.map(|entry| entry.to_f64()).collect();
                features.error.push(row.iter().map(|x| 4.0 * unit * (1.0 + x.abs())).collect());
                features.score.push(row);
            }
            let (gram, error) = features.gram(None);
            let [gram, error] = [gram, error].map(|rows| with_gaps(rows, &possible));
            comparison.field_each(name, gram, Tolerance::EXACT, error);
        }
        Ok(())
    }
}

/// The invariant kernel of a stored sequence and a stream, and the quadratic one.
fn kernel<T: Real>(model: &Model<T>, stored: &[usize], stream: &[usize]) -> Option<[T; 2]> {
    let mut padded = stored.to_vec();
    padded.resize(LENGTH, 0);
    let mut stream_of = Stream::new(PositionFisher::of(model, [&padded[..]]).ok()?);
    stream_of.push_block(stream).ok()?;
    let ([kernel], [quadratic]) =
        (stream_of.read(), stream_of.recursion().quadratic(stream_of.state()));
    Some([kernel, quadratic])
}
