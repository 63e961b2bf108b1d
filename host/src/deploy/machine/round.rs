//! Rounding of a kernel machine to the numbers that a device holds.

use crate::elementary::Elementary;
use crate::kernel::ScoreKernel;
use crate::kernel::between::{HmmKernel, ModelKernel};
use fishweir_core::filter::Stream;
use fishweir_core::kernel::FixedLengthNorm;

use super::compared::Compared;
use super::hidden::{Hidden, Law};
use super::set::ModelSet;
use super::{DeployedWhitening, Machine, Norms, Scores, Sequences, Stored, StoredKernel, scores};
use crate::classifier::{
    Classifier, Expansion, ExpansionKernel, Observations, Rule, WhiteningRows,
};
use crate::data::SamplesView;
use crate::deploy::attach::{Names, attach};
use crate::deploy::common::Common;
use crate::deploy::error::DeployError;
use crate::deploy::model::DeployedModel;
use crate::runtime::{Hmm, with_two_sizes};

impl Classifier {
    /// Support vectors alone, whitened or with their norms, in `f32`.
    ///
    /// A kernel of inner products takes its whitening into the stored items, whatever it is; one of
    /// distances, angles or roots needs it on the device, `F` numbers of it or `F^2`.
    pub(in crate::deploy) fn store(
        &self,
        expansion: &Expansion,
    ) -> Result<(Common, Machine), DeployError> {
        let Expansion { kernel, coefficients, biases } = expansion;
        if !matches!(kernel, ExpansionKernel::Hidden { .. }) {
            self.check_stored()?;
        }
        shape("classes", self.classes.len().min(2), 2)?;
        expansion.check(self.classes.len()).map_err(DeployError::Models)?;
        let support: Vec<usize> = (0..expansion.items())
            .filter(|&item| coefficients.iter().any(|row| row[item] != 0.0))
            .collect();
        if support.is_empty() {
            return Err(DeployError::Empty);
        }
        let names = Names::of(&self.classes, self.models.len(), &self.observations);
        let attached =
            |(index, model): (usize, &Hmm)| attach((index, names), model, &[], self.states());
        let models: Result<Vec<DeployedModel>, _> =
            self.models.iter().enumerate().map(attached).collect();
        let mut models = models?;
        if let ExpansionKernel::Models { .. } = kernel {
            shape("models", models.len(), 1 + expansion.items())?;
            let stored = std::iter::once(0).chain(support.iter().map(|item| item + 1));
            models = stored.map(|index| models[index].clone()).collect();
        }
        let (kernel, excess) = self.store_kernel(kernel, &support)?;
        // An item's coefficient makes up for what rounding did to its norm.
        let own = |row: &[f64], (&item, excess): (&usize, &f64)| row[item] * excess.portable_exp();
        let coefficients: Vec<Vec<f64>> = coefficients
            .iter()
            .map(|row| support.iter().zip(&excess).map(|item| own(row, item)).collect())
            .collect();
        let outputs = (rows("coefficients", &coefficients)?, row("biases", 0, biases)?);
        let (observations, classes) = (self.observations.clone(), self.classes.clone());
        let common = Common::new(observations, classes, outputs, self.provenance.contract());
        Ok((Common { normalisation: self.normalisation, ..common }, Machine { models, kernel }))
    }

    fn check_stored(&self) -> Result<(), DeployError> {
        for (model, family) in self.models.iter().map(|model| model.emission.family()).enumerate() {
            if !scores::has_machines(family) {
                return Err(DeployError::Emission { model, family: family.name() });
            }
        }
        self.check_models().map_err(DeployError::Models)?;
        if matches!(
            &self.rule,
            Rule::Expansion(Expansion {
                kernel: ExpansionKernel::ModelSet { .. } | ExpansionKernel::Models { .. },
                ..
            })
        ) {
            return Ok(());
        }
        for (index, model) in self.models.iter().enumerate() {
            shape(&format!("model {index}"), model.states(), self.models[0].states())?;
        }
        Ok(())
    }

    /// The kernel, and by how much each item's log norm grew when it was rounded, `[support vector]`.
    fn store_kernel(
        &self,
        kernel: &ExpansionKernel,
        support: &[usize],
    ) -> Result<(StoredKernel, Vec<f64>), DeployError> {
        match kernel {
            ExpansionKernel::FixedLength { items, normalised, log_scale } => {
                if matches!(self.observations, Observations::Channels(_)) {
                    return Err(DeployError::Channels);
                }
                shape("models", self.models.len(), 1)?;
                let model = &self.models[0];
                let stored: Vec<Vec<u16>> =
                    support.iter().map(|&item| items[item].clone()).collect();
                for (&item, symbols) in support.iter().zip(&stored) {
                    if symbols.iter().any(|&symbol| usize::from(symbol) >= model.size()) {
                        return Err(DeployError::Impossible(item));
                    }
                }
                let own = |item: usize| log_norm(model, &items[item]);
                let (norms, excess) = rounded_norms(support, (*normalised, *log_scale), own)?;
                let stored = Stored::Symbols(stored);
                Ok((StoredKernel::FixedLength(Sequences { stored, norms }), excess))
            }
            ExpansionKernel::FixedLengthChannels { items, normalised, log_scale } => {
                shape("models", self.models.len(), 1)?;
                let model = &self.models[0];
                let stored = support
                    .iter()
                    .map(|&item| {
                        let mut samples = items[item].iter();
                        samples
                            .try_for_each(|x| shape("a stored sample", x.len(), model.size()))?;
                        rows("items", &items[item])
                    })
                    .collect::<Result<_, _>>()?;
                let own = |item: usize| log_norm_of_channels(model, &items[item]);
                let (norms, excess) = rounded_norms(support, (*normalised, *log_scale), own)?;
                let stored = Stored::Channels(stored);
                Ok((StoredKernel::FixedLength(Sequences { stored, norms }), excess))
            }
            ExpansionKernel::ModelSet { prior, items, normalised, log_scale } => {
                shape("prior", prior.len(), self.models.len())?;
                let items = support.iter().map(|&item| (item, items[item].as_slice()));
                let kernel = ModelSet::rounded(prior, items, (*normalised, *log_scale))?;
                Ok((StoredKernel::ModelSet(kernel), vec![0.0; support.len()]))
            }
            ExpansionKernel::Models { by, steps, start, normalised, log_scale } => {
                let own = |item: usize| {
                    let model = self.models.get(item + 1)?;
                    let kernel = HmmKernel::new(by.affinity(), *steps).ok()?;
                    kernel.log_value(model, model).ok().filter(|log| log.is_finite())
                };
                let (norms, excess) = rounded_norms(support, (*normalised, *log_scale), own)?;
                let symbols = matches!(self.observations, Observations::Symbols(_));
                let sizes = (symbols, self.states(), self.size());
                let kernel = Compared::rounded((*by, *steps), *start, norms, sizes)?;
                Ok((StoredKernel::Models(kernel), excess))
            }
            ExpansionKernel::Hidden { model, items, normalised, log_scale } => {
                let room = items.iter().map(Vec::len).max().unwrap_or(0);
                let law = Law::rounded(model)?;
                let stored: Vec<Vec<u16>> =
                    support.iter().map(|&item| items[item].clone()).collect();
                law.check(support, &stored, self.size())?;
                let stored = stored.iter().map(|string| law.in_its_order(string)).collect();
                let own = |item: usize| {
                    let symbols: Vec<Option<u16>> = items[item].iter().copied().map(Some).collect();
                    let item = SamplesView::Symbols(&symbols);
                    model.log_kernel(item, item).ok().filter(|log| log.is_finite())
                };
                let (norms, excess) = rounded_norms(support, (*normalised, *log_scale), own)?;
                Ok((StoredKernel::Hidden(Hidden { law, stored, norms, room }), excess))
            }
            ExpansionKernel::Scores { likelihood, centre, whitening, kernel, items } => {
                scores::check_size(&self.observations, self.states(), self.size())?;
                let units = units(&self.models, &self.scale, *likelihood)?;
                let entries = units.len();
                shape("centre", centre.len(), entries)?;
                let whitened: Vec<Vec<f64>> = support
                    .iter()
                    .map(|&item| {
                        let centred: Vec<f64> =
                            items[item].iter().zip(centre).map(|(u, centre)| u - centre).collect();
                        whitening.apply(&centred)
                    })
                    .collect::<Result<_, _>>()?;
                kernel.validate().map_err(DeployError::Parameter)?;
                let (whitening, stored) = folded(whitening, &units, *kernel, whitened)?;
                let centre: Vec<f64> =
                    centre.iter().zip(&units).map(|(centre, unit)| centre / unit).collect();
                let kernel = StoredKernel::Scores(Scores {
                    likelihood: *likelihood,
                    centre: row("centre", 0, &centre)?,
                    whitening,
                    kernel: kernel.of_reals(|x| x as f32),
                    stored: rows("items", &stored)?,
                });
                Ok((kernel, vec![0.0; support.len()]))
            }
        }
    }
}

/// Splits a whitening into the part for the device and items whitened with the rest.
///
/// The scores of the device have no units of the channels yet.
fn folded(
    whitening: &WhiteningRows,
    units: &[f64],
    kernel: ScoreKernel,
    whitened: Vec<Vec<f64>>,
) -> Result<(DeployedWhitening, Vec<Vec<f64>>), DeployError> {
    let in_units = |row: &[f64]| -> Vec<f64> {
        row.iter().zip(units).map(|(factor, unit)| factor * unit).collect()
    };
    let (whitening, stored) = match (whitening, kernel) {
        (WhiteningRows::Diagonal(rate), _) => {
            (DeployedWhitening::Diagonal(row("whitening", 0, &in_units(rate))?), whitened)
        }
        (WhiteningRows::Full(matrix), ScoreKernel::Polynomial { .. }) => {
            let folded = whitened.iter().map(|item| transposed(matrix, item)).collect();
            (DeployedWhitening::Diagonal(row("whitening", 0, units)?), folded)
        }
        (WhiteningRows::Full(matrix), _) => {
            let matrix: Vec<Vec<f64>> = matrix.iter().map(|row| in_units(row)).collect();
            (DeployedWhitening::Full(rows("whitening", &matrix)?), whitened)
        }
    };
    Ok((whitening, stored.into_iter().map(|item| kernel.stored(item)).collect()))
}

impl WhiteningRows {
    fn apply(&self, centred: &[f64]) -> Result<Vec<f64>, DeployError> {
        match self {
            Self::Diagonal(rate) => {
                shape("whitening", rate.len(), centred.len())?;
                Ok(rate.iter().zip(centred).map(|(rate, u)| rate * u).collect())
            }
            Self::Full(matrix) => {
                shape("whitening", matrix.len(), centred.len())?;
                matrix
                    .iter()
                    .enumerate()
                    .map(|(index, row)| {
                        shape(&format!("whitening [{index}]"), row.len(), centred.len())?;
                        Ok(row.iter().zip(centred).map(|(a, b)| a * b).sum())
                    })
                    .collect()
            }
        }
    }
}

/// Logarithms of what the kernels of the support vectors are divided by, and by how much each grew when it was rounded.
fn rounded_norms(
    support: &[usize],
    (normalised, log_scale): (bool, f64),
    log_own: impl Fn(usize) -> Option<f64>,
) -> Result<(Norms, Vec<f64>), DeployError> {
    let mut log_norms = Vec::with_capacity(support.len());
    for &item in support {
        log_norms.push(if normalised {
            0.5 * log_own(item).ok_or(DeployError::Impossible(item))?
        } else {
            log_scale
        });
    }
    let log = row("norms", 0, &log_norms)?;
    let excess = log.iter().zip(&log_norms).map(|(&log, exact)| f64::from(log) - exact).collect();
    Ok((Norms { log, normalised }, excess))
}

/// As [`log_norm`], of channels.
fn log_norm_of_channels(model: &Hmm, item: &[Vec<f64>]) -> Option<f64> {
    with_two_sizes!(model.states(), N => {
        let hmm = model.channels::<f64, N>()?;
        let mut norm = Stream::new(FixedLengthNorm::of(&hmm, item.len()));
        item.iter().try_for_each(|x| norm.push(x.as_slice())).ok()?;
        Some(norm.read()).filter(|log| log.is_finite())
    })
}

/// `log k(s, s)`; `None` where it is that of zero.
fn log_norm(model: &Hmm, item: &[u16]) -> Option<f64> {
    with_two_sizes!(model.states(), N => {
        let hmm = model.categorical::<f64, N>()?;
        let mut norm = Stream::new(FixedLengthNorm::of(&hmm, item.len()));
        norm.push_block(item).ok()?;
        Some(norm.read()).filter(|log| log.is_finite())
    })
}

/// Factor on each entry of the core's scores, `[entry]`: the channel's unit for a mean.
fn units(models: &[Hmm], scale: &[f64], likelihood: bool) -> Result<Vec<f64>, DeployError> {
    let mut units = Vec::new();
    for model in models {
        let (states, family) = (model.states(), model.emission.family());
        units.resize(units.len() + states + states * states, 1.0);
        for block in (0..states).flat_map(|_| family.score()) {
            let width = block.width.of(model.emission.shape());
            if family.in_units(block) {
                shape("scale", scale.len(), width)?;
                units.extend(scale);
            } else {
                units.resize(units.len() + width, 1.0);
            }
        }
        units.extend(likelihood.then_some(1.0));
    }
    Ok(units)
}

fn transposed(matrix: &[Vec<f64>], item: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; item.len()];
    for (row, &weight) in matrix.iter().zip(item) {
        for (entry, factor) in product.iter_mut().zip(row) {
            *entry += weight * factor;
        }
    }
    product
}

pub(super) fn shape(part: &str, found: usize, wanted: usize) -> Result<(), DeployError> {
    if found == wanted {
        return Ok(());
    }
    Err(DeployError::Shape { part: part.to_owned(), found, wanted })
}

pub(super) fn rows(part: &'static str, table: &[Vec<f64>]) -> Result<Vec<Vec<f32>>, DeployError> {
    table.iter().enumerate().map(|(index, values)| row(part, index, values)).collect()
}

/// Rounded; as the core's own check would have it, a number is finite and below `2^48`.
pub(super) fn row(
    part: &'static str,
    index: usize,
    values: &[f64],
) -> Result<Vec<f32>, DeployError> {
    let round = |(entry, &value): (usize, &f64)| {
        if value.is_finite() && value.abs() < 2f64.powi(48) {
            Ok(value as f32)
        } else {
            Err(DeployError::Number { part, row: index, entry, value })
        }
    };
    values.iter().enumerate().map(round).collect()
}
