//! Machines on kernel values among the classifiers: by marginalisation, by a kernel's name, and on a
//! matrix made elsewhere.

use std::borrow::Cow;
use std::path::PathBuf;

use fishweir::StableKind as _;
use fishweir::data::{Dataset, ReadOptions, SamplesView, Windows};
use fishweir::evaluate::{CrossValidation, CrossValidationOptions, cross_validate_kernel};
use fishweir::kernel::marginal::MarginalModel;
use fishweir::kernel::parameter::{KernelParameter, LAMBDA, NumberParameter, SIGMA};
use fishweir::kernel::registry::{Compares, Entry};
use fishweir::kernel::{Gram, ReadGram, read_gram};
use fishweir::learn::{ClassifierKind, Request};
use fishweir::report::{counted, grouped};

use super::Arguments;
use crate::kernels::{Asked, Reads, SPECTRUM_UNASKED, id, item_refused};
use crate::options::{each_once, note_idle};
use crate::{Failure, Topic, note};

/// A kernel, and the name of its machine among the classifiers.
pub(super) struct NamedKernel {
    name: String,
    kernel: Kernel,
}

enum Kernel {
    /// A kernel by the numbers of a file.
    Marginal(MarginalModel),
    /// A kernel by its name: its models are fitted in each fold.
    ByName(&'static Entry),
    /// A matrix of this origin was given.
    Matrix(PathBuf, ReadGram),
}

impl Arguments {
    fn asked(&self, entry: &'static Entry) -> Result<Asked<'_>, Failure> {
        // What another kernel or a classifier reads is no mistake here.
        let read = |number: &'static NumberParameter, kinds: &[ClassifierKind]| {
            let setting = KernelParameter::Number(number);
            let reads = |kind: &ClassifierKind| kind.takes(number) || kinds.contains(kind);
            let elsewhere = self.classifier.iter().any(reads)
                || self.kernel.iter().any(|other| other.takes.contains(&setting));
            entry.takes.contains(&setting) || !elsewhere
        };
        let sigma = match self.kernels.sigma() {
            _ if !read(&SIGMA, &[]) => None,
            [] => None,
            [one] => Some(*one),
            _ => {
                return Err(Failure::input(
                    Topic::OneValue,
                    "--sigma takes one number with --kernel; only --classifier chooses among several",
                ));
            }
        };
        let maps = [ClassifierKind::LatentMap, ClassifierKind::EmpiricalMap];
        let lambda = self.kernels.lambda().filter(|_| read(&LAMBDA, &maps));
        let mut shared = self.kernels.numbers().to_vec();
        shared.extend(sigma.map(|sigma| (&SIGMA, sigma)));
        shared.retain(|(number, _)| read(number, &[]));
        shared.extend(lambda.map(|lambda| (&LAMBDA, lambda)));
        Ok(Asked {
            entry,
            options: &self.options,
            training: self.training.with(&Default::default(), &self.emitting),
            cutting: &self.cutting,
            model: None,
            information_from: None,
            numbers: None,
            shared,
            beside_classifiers: true,
            order_read: self.classifier.contains(&ClassifierKind::EmpiricalMap),
            asked: &self.kernel,
        })
    }
}

/// The kernels asked for, in order, each once; of several on one kernel the file is in the name.
pub(super) fn read(arguments: &Arguments) -> Result<Vec<NamedKernel>, Failure> {
    let files = each_once(&arguments.kernel_model);
    let models: Vec<MarginalModel> =
        files.iter().map(|path| MarginalModel::read(path)).collect::<Result<_, _>>()?;
    let kernels: Vec<&str> = models.iter().map(MarginalModel::name).collect();
    let name = |(path, kernel): (&PathBuf, &&str)| {
        let alike = kernels.iter().filter(|other| *other == kernel).count();
        if alike > 1 { format!("{kernel} {}", path.display()) } else { (*kernel).to_owned() }
    };
    let names: Vec<String> = files.iter().zip(&kernels).map(name).collect();
    let marginal = names.into_iter().zip(models);
    let mut all: Vec<NamedKernel> = marginal
        .map(|(name, model)| NamedKernel { name, kernel: Kernel::Marginal(model) })
        .collect();
    if arguments.kernel.is_empty() {
        let mut given = arguments.options.given();
        let read = arguments.classifier.contains(&ClassifierKind::EmpiricalMap);
        given.retain(|name| *name != "--order" || !read);
        note_idle(&given, "it goes with --kernel")?;
    }
    let mut seen = Vec::new();
    for entry in &arguments.kernel {
        if seen.contains(&entry.name) {
            continue;
        }
        seen.push(entry.name);
        if matches!(entry.compares, Compares::Marginal) {
            return Err(Failure::input(
                Topic::NeedsKernelModel,
                format!(
                    "--kernel {} needs its numbers: give a file with a [{}] as --kernel-model",
                    entry.name, entry.name
                ),
            ));
        }
        arguments.asked(entry)?.read()?;
        all.push(NamedKernel {
            name: format!("kernel {}", entry.name),
            kernel: Kernel::ByName(entry),
        });
    }
    for path in each_once(&arguments.gram) {
        let name = format!("matrix {}", path.display());
        let read = read_gram(&path)?;
        all.push(NamedKernel { name, kernel: Kernel::Matrix(path, read) });
    }
    Ok(all)
}

/// Options of reading: as the first kernel with numbers of its own requires, if there is one.
pub(super) fn reading(
    arguments: &Arguments,
    kernels: &[NamedKernel],
) -> Result<ReadOptions, Failure> {
    let values = arguments.emitting.values();
    let first = kernels.iter().find_map(|one| match &one.kernel {
        Kernel::Marginal(model) => Some(model),
        _ => None,
    });
    let Some(first) = first else {
        return Ok(ReadOptions { values, ..arguments.reading.options() });
    };
    let kind = first.kind().map_err(|error| Failure::input(error.kind(), error.to_string()))?;
    Ok(ReadOptions { values, ..arguments.reading.options_for(kind, None)? })
}

fn request(arguments: &Arguments) -> Result<Request, Failure> {
    arguments.training.request(ClassifierKind::Bayes, &arguments.cutting)
}

/// Refuses data that a kernel does not take before anything is trained: more windows than a machine's matrix
/// has room for, a window that has no kernel value with the first, a matrix of other items.
pub(super) fn check(
    arguments: &Arguments,
    data: &Dataset,
    kernels: &[NamedKernel],
) -> Result<(), Failure> {
    if kernels.is_empty() {
        return Ok(());
    }
    let request = request(arguments)?;
    let windows = data.windows(request.windowing.as_ref());
    request.learner().check_windows(windows.all().len())?;
    let views = views(&windows);
    for NamedKernel { kernel, .. } in kernels {
        match kernel {
            Kernel::Marginal(model) => {
                let taken = model.log_cross_gram(&views, &views[..views.len().min(1)]);
                taken.map_err(|error| item_refused(error, data, &windows))?;
            }
            Kernel::ByName(entry) => arguments.asked(entry)?.check_fitted(data)?,
            Kernel::Matrix(path, read) => {
                check_matrix(&path.display().to_string(), read, data, &windows)?
            }
        }
    }
    Ok(())
}

fn views<'w>(windows: &Windows<'w>) -> Vec<SamplesView<'w>> {
    windows.all().iter().map(|one| one.samples).collect()
}

/// Refuses a matrix of other items than the windows.
fn check_matrix(
    file: &str,
    ReadGram { gram, ids, .. }: &ReadGram,
    data: &Dataset,
    windows: &Windows<'_>,
) -> Result<(), Failure> {
    let (source, items, rows) = (data.source(), windows.all(), gram.len());
    if items.len() != rows {
        return Err(Failure::input(
            Topic::OtherItems,
            format!(
                "{file}: a matrix of {}, and {source} has {}: give the --window and --hop of the matrix",
                counted(rows, "item"),
                grouped(items.len())
            ),
        ));
    }
    let names: Vec<String> = items.iter().map(id).collect();
    let other = ids.as_ref().and_then(|ids| ids.iter().zip(&names).position(|(a, b)| a != b));
    if let (Some(row), Some(ids)) = (other, ids) {
        return Err(Failure::input(
            Topic::OtherItems,
            format!(
                "{file}: item {} is `{}`, and in {source} it is `{}`: the items must be the same, in the same order",
                row + 1,
                ids[row],
                names[row]
            ),
        ));
    }
    note_spectrum(file, gram)
}

/// Reports that a matrix is not that of a kernel.
fn note_spectrum(name: &str, gram: &Gram) -> Result<(), Failure> {
    if gram.len() <= SPECTRUM_UNASKED {
        let spectrum = gram.spectrum()?;
        if !spectrum.is_positive_semidefinite() {
            note(
                Topic::NotSemidefinite,
                format_args!(
                    "{name}: NOT positive semidefinite (eigenvalues {:.3e} to {:.3e}): a support vector machine \
                 on it has no unique optimum",
                    spectrum.smallest, spectrum.largest
                ),
            );
        }
    }
    Ok(())
}

#[cfg(target_family = "wasm")]
pub(super) fn validate(
    _: &Arguments,
    _: &Dataset,
    _: &NamedKernel,
    _: CrossValidationOptions,
) -> Result<CrossValidation, Failure> {
    Err(Failure::not_in_a_page("--kernel"))
}

/// Cross-validates a machine on a kernel: normalised, unless its matrix is given.
#[cfg(not(target_family = "wasm"))]
pub(super) fn validate(
    arguments: &Arguments,
    data: &Dataset,
    NamedKernel { name, kernel }: &NamedKernel,
    folds: CrossValidationOptions,
) -> Result<CrossValidation, Failure> {
    let request = request(arguments)?;
    let windows = data.windows(request.windowing.as_ref());
    let one_for_all = |gram: &Gram| {
        cross_validate_kernel(
            data,
            |_| Ok::<_, Failure>(Cow::Borrowed(gram)),
            name,
            &request,
            folds,
        )
    };
    let validated = match kernel {
        Kernel::Marginal(model) => {
            let logs = model.log_gram(&views(&windows));
            let logs = logs.map_err(|error| item_refused(error, data, &windows))?;
            one_for_all(&logs.normalised())
        }
        Kernel::Matrix(_, read) => one_for_all(&read.gram),
        Kernel::ByName(entry) => {
            let asked = arguments.asked(entry)?;
            if asked.fits_nothing_shared() {
                let matrix = asked.matrix(&Reads::Fitted, data, &windows, &[], true)?;
                note_spectrum(name, &matrix.computed.gram)?;
                return one_for_all(&matrix.computed.gram)
                    .map_err(|error| Failure::of(data, error));
            }
            let of_fold = |train: &[usize]| -> Result<Cow<'_, Gram>, Failure> {
                let matrix = asked.matrix(&Reads::Fitted, data, &windows, train, true)?;
                Ok(Cow::Owned(matrix.computed.gram))
            };
            cross_validate_kernel(data, of_fold, name, &request, folds)
        }
    };
    validated.map_err(|error| Failure::of(data, error))
}
