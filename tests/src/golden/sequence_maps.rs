use fishweir::data::{Samples, SamplesView};
use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{Gram, Kernel, KernelError};
use fishweir::runtime::Hmm;
use serde::Deserialize;

use super::between::host_hmm;
use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row};
use crate::build::host::host_samples;
use crate::oracle::{Model, Sequence};
use crate::rounding::Tolerance;

/// The empirical and the latent mean map, which the host computes in `f64`.
pub(super) struct SequenceMaps;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    EmpiricalDiscrete { order: usize, alphabet_size: usize, sequences: Vec<Sequence>, lambdas: Row },
    EmpiricalContinuous { order: usize, sequences: Vec<Sequence>, lambdas: Row },
    Latent { hmm: Model, sequences: Vec<Sequence>, lambdas: Row, nu: f64 },
}

const CONVENTIONS: [(&str, Convention); 2] =
    [("half", Convention::Half), ("full", Convention::Full)];

fn samples(sequences: Vec<Sequence>) -> Result<Vec<Samples>, String> {
    let of = |sequence| host_samples(&sequence).ok_or("symbols and channels mixed");
    Ok(sequences.into_iter().map(of).collect::<Result<_, _>>()?)
}

fn plain(gram: Result<Gram, KernelError>) -> Result<Matrix, String> {
    Ok(gram.map_err(|error| error.to_string())?.rows().map(<[f64]>::to_vec).collect())
}

fn rbf(lambda: f64, convention: Convention) -> Result<Rbf, String> {
    Rbf::new(lambda, convention).map_err(|error| error.to_string())
}

impl Kind for SequenceMaps {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        match inputs {
            Inputs::EmpiricalDiscrete { order, alphabet_size, sequences, lambdas } => {
                empirical(order, Some(alphabet_size), sequences, &lambdas, comparison)
            }
            Inputs::EmpiricalContinuous { order, sequences, lambdas } => {
                empirical(order, None, sequences, &lambdas, comparison)
            }
            Inputs::Latent { hmm, sequences, lambdas, nu } => {
                let model = host_hmm(&hmm).ok_or("not a model of the host")?;
                latent(&model, nu, sequences, &lambdas, comparison)
            }
        }
    }
}

fn empirical(
    order: usize,
    alphabet: Option<usize>,
    sequences: Vec<Sequence>,
    lambdas: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let samples = samples(sequences)?;
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let grams = |rbf| -> Result<Vec<Matrix>, String> {
        let map = EmpiricalMap { order, rbf };
        let mut grams = vec![plain(map.gram(&views))?];
        if let Some(size) = alphabet {
            let features = map.features(&views, size).map_err(|error| error.to_string())?;
            grams.push(plain(Ok(Gram::of_features(&features)))?);
        }
        Ok(grams)
    };
    for (name, convention) in CONVENTIONS {
        let of_rate = |&lambda: &f64| grams(rbf(lambda, convention)?);
        let by_rate = lambdas.iter().map(of_rate).collect::<Result<Vec<_>, _>>()?;
        for way in 0..by_rate.first().map_or(0, Vec::len) {
            let all: Vec<Matrix> = by_rate.iter().map(|ways| ways[way].clone()).collect();
            comparison.field(name, all, Tolerance::EXACT);
        }
    }
    if alphabet.is_some() {
        for gram in grams(rbf(f64::INFINITY, Convention::Half)?)? {
            comparison.field("spectrum_limit", gram, Tolerance::EXACT);
        }
    }
    Ok(())
}

fn latent(
    model: &Hmm,
    nu: f64,
    sequences: Vec<Sequence>,
    lambdas: &[f64],
    comparison: &mut Comparison,
) -> Result<(), String> {
    let samples = samples(sequences)?;
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let models = std::slice::from_ref(model);
    for (name, _) in CONVENTIONS {
        comparison.blocks(name, lambdas.len());
    }
    let limited = comparison.expects("limit");
    let mut check = |name: &str, rbf| -> Result<(), String> {
        let gram = |cliques, nu| plain(LatentMap { models, rbf, cliques, nu }.gram(&views));
        for (field, cliques, nu) in [
            ("v_xq", Cliques::Emissions, None),
            ("v_qq", Cliques::Transitions, None),
            ("total", Cliques::All, None),
            ("exponentiated", Cliques::All, Some(nu)),
        ] {
            let got = gram(cliques, nu)?;
            comparison.field(&format!("{name}.{field}"), got, Tolerance::EXACT);
        }
        Ok(())
    };
    for (name, convention) in CONVENTIONS {
        for (block, &lambda) in lambdas.iter().enumerate() {
            check(&format!("{name}[{block}]"), rbf(lambda, convention)?)?;
        }
    }
    if limited { check("limit", rbf(f64::INFINITY, Convention::Half)?) } else { Ok(()) }
}
