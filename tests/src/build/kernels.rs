//! Pair and tree models from plain ones, padded to the sizes compiled with states out of reach.

use fishweir_core::kernel::{End, PairHmm, TreeModel};
use fishweir_core::number::Real;

use super::filled;
use crate::oracle::{PairEnd, PairModel, Tree};

/// A plain pair model as the core's; a padded state stays where it is and shows symbol 0.
///
/// # Errors
/// A model past the sizes, and what the core's own check says.
pub fn pair<T: Real, const N: usize, const K: usize>(
    plain: &PairModel,
) -> Result<PairHmm<T, N, K>, String> {
    let states = plain.initial.len();
    let mut transition = [[T::ZERO; N]; N];
    let mut emission = [[T::ZERO; K]; N];
    for state in states..N {
        transition[state][state] = T::ONE;
        emission[state][0] = T::ONE;
    }
    for (row, plain) in transition.iter_mut().zip(&plain.transition) {
        *row = filled(plain, 0.0)?;
    }
    for (row, plain) in emission.iter_mut().zip(&plain.emission) {
        *row = filled(plain, 0.0)?;
    }
    let end = match &plain.end {
        PairEnd::Anywhere => End::Anywhere,
        PairEnd::Silent(p) => {
            End::Silent { initial: T::from_f64(p[0]), state: filled(&p[1..], 0.0)? }
        }
        PairEnd::Emitting(state) => End::Emitting(*state),
    };
    let initial = filled(&plain.initial, 0.0)?;
    PairHmm::new(initial, transition, emission, filled(&plain.empty, 0.0)?, end)
        .map_err(|error| error.to_string())
}

/// A plain tree's model as the core's; no padded state has a fitting number of children.
///
/// # Errors
/// A model past the sizes, and what the core's own check says.
pub fn tree<T: Real, const P: usize, const J: usize>(
    plain: &Tree,
) -> Result<TreeModel<T, P, J>, String> {
    let states = plain.root.len();
    let children = plain.transition.len();
    if children > J {
        return Err(format!("matrices of {children} children do not fit {J}"));
    }
    let mut transition = [[[T::ZERO; P]; P]; J];
    for (child, matrix) in transition.iter_mut().enumerate() {
        for (state, row) in matrix.iter_mut().enumerate() {
            row[state] = T::ONE;
            if state < states {
                *row = filled(&plain.transition[child.min(children - 1)][state], 0.0)?;
            }
        }
    }
    let model = TreeModel::new(filled(&plain.root, 0.0)?, transition);
    let model = model.map_err(|error| error.to_string())?;
    Ok(match &plain.arity {
        None => model,
        Some(plain) => {
            let mut arity = [u16::MAX; P];
            arity[..states].copy_from_slice(plain);
            model.with_arities(arity)
        }
    })
}
