use fishweir::data::{Samples, SamplesView};
use fishweir::kernel::mean_map::{Cliques, Convention, EmpiricalMap, LatentMap, Rbf};
use fishweir::kernel::{Gram, Kernel, KernelError};
use fishweir::runtime::Hmm;
use serde::Deserialize;

use super::between::host_hmm;
use super::compare::Comparison;
use super::precision::{Kind, Precise};
use super::schema::{HmmJson, Matrix, Row, SequenceJson};
use super::tree::Expectation;
use crate::build::host::host_samples;
use crate::oracle::{Model, Sequence};
use crate::rounding::Tolerance;

/// The empirical and the latent mean map, which the host computes in `f64`.
pub(super) struct SequenceMaps;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    EmpiricalDiscrete {
        order: usize,
        alphabet_size: usize,
        sequences: Vec<SequenceJson>,
        lambdas: Row,
    },
    EmpiricalContinuous {
        order: usize,
        sequences: Vec<SequenceJson>,
        lambdas: Row,
    },
    Latent {
        hmm: HmmJson,
        sequences: Vec<SequenceJson>,
        lambdas: Row,
        nu: f64,
    },
}

/// A matrix a rate, of an empirical map; of a latent one a block a rate, and one for the limit.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expected {
    half: Blocks,
    full: Blocks,
    spectrum_limit: Expectation,
    limit: Option<Block>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Blocks {
    Latent(Vec<Block>),
    Empirical(Expectation),
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Empirical(Expectation::Absent)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    v_xq: Expectation,
    v_qq: Expectation,
    total: Expectation,
    exponentiated: Expectation,
}

const CONVENTIONS: [(&str, Convention); 2] =
    [("half", Convention::Half), ("full", Convention::Full)];

fn samples(sequences: Vec<SequenceJson>) -> Result<Vec<Samples>, String> {
    let of = |sequence| host_samples(&Sequence::from(sequence)).ok_or("symbols and channels mixed");
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
    type Expected = Expected;

    fn check<T: Precise>(
        inputs: Inputs,
        expected: &Expected,
        comparison: &mut Comparison,
    ) -> Result<(), String> {
        match inputs {
            Inputs::EmpiricalDiscrete { order, alphabet_size, sequences, lambdas } => {
                empirical(order, Some(alphabet_size), sequences, &lambdas, expected, comparison)
            }
            Inputs::EmpiricalContinuous { order, sequences, lambdas } => {
                empirical(order, None, sequences, &lambdas, expected, comparison)
            }
            Inputs::Latent { hmm, sequences, lambdas, nu } => {
                let model = Model::try_from(hmm)?;
                let model = host_hmm(&model).ok_or("not a model of the host")?;
                latent(&model, nu, sequences, &lambdas, expected, comparison)
            }
        }
    }
}

fn empirical(
    order: usize,
    alphabet: Option<usize>,
    sequences: Vec<SequenceJson>,
    lambdas: &[f64],
    expected: &Expected,
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
    for ((name, convention), expected) in
        CONVENTIONS.into_iter().zip([&expected.half, &expected.full])
    {
        let Blocks::Empirical(expected) = expected else {
            return Err(format!("`{name}` of a latent map"));
        };
        let of_rate = |&lambda: &f64| grams(rbf(lambda, convention)?);
        let by_rate = lambdas.iter().map(of_rate).collect::<Result<Vec<_>, _>>()?;
        for way in 0..by_rate.first().map_or(0, Vec::len) {
            let all: Vec<Matrix> = by_rate.iter().map(|ways| ways[way].clone()).collect();
            comparison.field(name, expected, all, Tolerance::EXACT);
        }
    }
    if expected.limit.is_some() {
        return Err("`limit` of an empirical map".into());
    }
    if alphabet.is_some() {
        for gram in grams(rbf(f64::INFINITY, Convention::Half)?)? {
            comparison.field("spectrum_limit", &expected.spectrum_limit, gram, Tolerance::EXACT);
        }
    } else if expected.spectrum_limit != Expectation::Absent {
        return Err("`spectrum_limit` of channels".into());
    }
    Ok(())
}

fn latent(
    model: &Hmm,
    nu: f64,
    sequences: Vec<SequenceJson>,
    lambdas: &[f64],
    expected: &Expected,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let samples = samples(sequences)?;
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let models = std::slice::from_ref(model);
    let mut check = |name: &str, rbf, expected: &Block| -> Result<(), String> {
        let gram = |cliques, nu| plain(LatentMap { models, rbf, cliques, nu }.gram(&views));
        let Block { v_xq, v_qq, total, exponentiated } = expected;
        for (field, expected, cliques, nu) in [
            ("v_xq", v_xq, Cliques::Emissions, None),
            ("v_qq", v_qq, Cliques::Transitions, None),
            ("total", total, Cliques::All, None),
            ("exponentiated", exponentiated, Cliques::All, Some(nu)),
        ] {
            let got = gram(cliques, nu)?;
            comparison.field(&format!("{name}.{field}"), expected, got, Tolerance::EXACT);
        }
        Ok(())
    };
    for ((name, convention), expected) in
        CONVENTIONS.into_iter().zip([&expected.half, &expected.full])
    {
        match expected {
            Blocks::Latent(blocks) if blocks.len() == lambdas.len() => {
                for (&lambda, block) in lambdas.iter().zip(blocks) {
                    check(name, rbf(lambda, convention)?, block)?;
                }
            }
            Blocks::Empirical(Expectation::Absent) => {}
            _ => return Err(format!("`{name}` is not a block a rate")),
        }
    }
    if let Some(limit) = &expected.limit {
        check("limit", rbf(f64::INFINITY, Convention::Half)?, limit)?;
    }
    if expected.spectrum_limit != Expectation::Absent {
        return Err("`spectrum_limit` of a latent map".into());
    }
    Ok(())
}
