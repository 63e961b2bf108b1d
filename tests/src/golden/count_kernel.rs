use fishweir::data::Samples;
use fishweir::kernel::{CountKernel, Counted, Gram};
use fishweir::runtime::Hmm;
use serde::Deserialize;

use super::compare::Comparison;
use super::host::gram_tree;
use super::precision::{Kind, Precise};

use super::tree::Tree;
use crate::build::host::{host_model, host_samples};
use crate::oracle::{Model, Sequence};
use crate::rounding::Tolerance;

/// The marginalised count kernel, which the host computes in `f64`.
pub(super) struct Counts;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Model,
    sequences: Vec<Sequence>,
}

impl Kind for Counts {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let model = host_model(&inputs.hmm).ok_or("not a model of the host")?;
        model.validate().map_err(|error| error.to_string())?;
        let sequences: Vec<Samples> = inputs
            .sequences
            .into_iter()
            .map(|sequence| host_samples(&sequence).ok_or("not symbols"))
            .collect::<Result<_, _>>()?;
        let features = |counted, raw| features(&model, &sequences, counted, raw);
        let (one, two) = (features(Counted::Single, false), features(Counted::Pairs, false));
        let sizes = [model.states(), model.size(), model.states()];
        let gram = |features: &[_]| gram_tree(features, Gram::of_features);
        for (name, got) in [
            ("features1", nested(&one, &sizes[..1])),
            ("gram1", gram(&one)),
            ("gram1_raw", gram(&features(Counted::Single, true))),
            ("features2", nested(&two, &sizes)),
            ("gram2", gram(&two)),
        ] {
            comparison.field(name, got, Tolerance::EXACT);
        }
        Ok(())
    }
}

/// Each sequence's features; none of an impossible one.
fn features(
    model: &Hmm,
    sequences: &[Samples],
    counted: Counted,
    raw: bool,
) -> Vec<Option<Vec<f64>>> {
    let kernel = CountKernel { models: std::slice::from_ref(model), counted, raw };
    let of = |samples: &Samples| kernel.features(&[samples.view()]).ok()?.pop();
    sequences.iter().map(of).collect()
}

/// Flat features as lists of lists, the sizes of the inner ones last to first.
fn nested(features: &[Option<Vec<f64>>], sizes: &[usize]) -> Tree {
    fn fold(flat: Vec<Tree>, sizes: &[usize]) -> Tree {
        match sizes {
            [] => Tree::List(flat),
            [size, outer @ ..] => {
                let lists = flat.chunks(*size).map(|inner| Tree::List(inner.to_vec())).collect();
                fold(lists, outer)
            }
        }
    }
    let of = |features: &Option<Vec<f64>>| match features {
        Some(flat) => fold(flat.iter().map(|&x| Tree::Number(x)).collect(), sizes),
        None => Tree::Undefined,
    };
    Tree::List(features.iter().map(of).collect())
}
