//! Machines on the kernel values of a data set's windows: kernels whose numbers do not come from the
//! data, so that one matrix serves every training and every fold.

use fishweir_core::classify::decide;

use super::choice::{Choice, Setting};
use super::expansion::KernelLearnError;
use super::machine::{KERNEL_WINDOWS, Learner};
use super::multi_class::KernelMachine;
use super::options::{TrainError, TrainOptions};
use super::train::Trained;
use crate::classifier::{Observations, Provenance};
use crate::data::{DataError, Dataset, Folds, SamplesView, Windows};
use crate::deploy::{Expansion, ExpansionError, ExpansionKernel, ModelKind};
use crate::kernel::Gram;
use crate::kernel::marginal::{FixedLengthModel, MarginalModel};

/// Trains machines on the kernel values of all windows of a data set.
///
/// Of the options the windows, the group, the learner (logistic regression or else a support vector
/// machine), the class weights and the values of C count.
pub struct WindowKernel<'a> {
    data: &'a Dataset,
    gram: &'a Gram,
    windows: Windows<'a>,
    of_series: Vec<usize>,
    group_of_series: Vec<usize>,
    options: &'a TrainOptions,
}

impl<'a> WindowKernel<'a> {
    /// On a matrix of the windows in their order, labelled as their series are.
    ///
    /// # Errors
    /// [`DataError`]: a series without a label, or no such column for groups.
    ///
    /// # Panics
    /// If the matrix is not of the windows.
    pub fn new(
        data: &'a Dataset,
        gram: &'a Gram,
        options: &'a TrainOptions,
    ) -> Result<Self, DataError> {
        let windows = data.windows(options.windowing.as_ref());
        assert_eq!(gram.len(), windows.all().len(), "a kernel value for every pair of windows");
        let group_of_series = match options.group.as_deref() {
            Some(column) => data.groups(column)?.0,
            None => (0..data.series().len()).collect(),
        };
        let of_series = data.labels()?;
        Ok(Self { data, gram, windows, of_series, group_of_series, options })
    }

    /// The windows, in the matrix' order.
    #[must_use]
    pub fn windows(&self) -> &Windows<'a> {
        &self.windows
    }

    /// The windows of some series, by number.
    #[must_use]
    pub fn items(&self, series: &[usize]) -> Vec<usize> {
        let all = self.windows.all().iter().enumerate();
        all.filter(|(_, window)| series.contains(&window.series)).map(|(item, _)| item).collect()
    }

    /// The classes of some windows.
    #[must_use]
    pub fn labels(&self, items: &[usize]) -> Vec<usize> {
        items.iter().map(|&item| self.of_series[self.windows.all()[item].series]).collect()
    }

    /// The best C, the first of equals, by folds inside the training windows in which series (or
    /// groups) stay whole; the first where there are none.
    ///
    /// # Errors
    /// [`KernelLearnError`] of a machine that was not trained.
    pub fn choose(&self, train: &[usize]) -> Result<Choice, KernelLearnError> {
        let labels = self.labels(train);
        let group = |&item: &usize| self.group_of_series[self.windows.all()[item].series];
        let groups: Vec<usize> = train.iter().map(group).collect();
        let classes = self.data.classes();
        let folds = (2..=self.options.inner_folds).rev();
        let made = |count| Folds::grouped(&labels, classes, &groups, count, None).ok();
        let setting = |c| Setting { scaling: None, sigma: None, c };
        let first = self.options.c.first().copied().unwrap_or(1.0);
        let folds = match folds.filter_map(made).next() {
            Some(folds) if self.options.c.len() > 1 => folds,
            _ => return Ok(Choice::only(setting(first))),
        };
        let settings: Vec<Setting> = self.options.c.iter().map(|&c| setting(c)).collect();
        let mut right = vec![vec![0; classes.len()]; settings.len()];
        let mut total = vec![0; classes.len()];
        for fold in 0..folds.len() {
            let pick = |places: Vec<usize>| -> Vec<usize> {
                places.into_iter().map(|place| train[place]).collect()
            };
            let (inner, held_back) = (pick(folds.train(fold)), pick(folds.test(fold)));
            let labels = self.labels(&held_back);
            labels.iter().for_each(|&label| total[label] += 1);
            for (setting, right) in settings.iter().zip(&mut right) {
                let values = self.train(&inner, setting.c)?.values(&held_back);
                for (values, &label) in values.iter().zip(&labels) {
                    right[label] += usize::from(decide(values).class == label);
                }
            }
        }
        let best = Choice::best(&settings, &right, &total, self.options.class_weight);
        Ok(best.unwrap_or(Choice::only(setting(first))))
    }

    /// A machine trained on some windows.
    ///
    /// # Errors
    /// [`KernelLearnError`] if it was not trained.
    pub fn train<'k>(
        &'k self,
        train: &'k [usize],
        c: f64,
    ) -> Result<WindowMachine<'k>, KernelLearnError> {
        let learner = self.options.learner;
        let classes = (self.data.classes().len(), self.options.class_weight);
        let gram = learner.gram(train.len(), |i, j| self.gram.get(train[i], train[j]));
        let machine = learner.machine(&gram, &self.labels(train), classes, c)?;
        Ok(WindowMachine { gram: self.gram, train, machine })
    }
}

/// What [`WindowKernel::train`] gives.
pub struct WindowMachine<'k> {
    gram: &'k Gram,
    train: &'k [usize],
    /// The machine, on kernel values with the windows it was trained on.
    pub machine: KernelMachine,
}

impl WindowMachine<'_> {
    /// The outputs' values on other windows, `[window][output]`.
    #[must_use]
    pub fn values(&self, items: &[usize]) -> Vec<Vec<f64>> {
        let cross = self.gram.cross(items, self.train);
        (0..items.len()).map(|row| self.machine.values(cross.row(row))).collect()
    }
}

/// Trains a machine on the fixed-length kernel of a hidden Markov model, normalised, of the windows of
/// some series: what a device evaluates against stored sequences.
///
/// A device stores symbols, and none of them is missing: windows with a missing symbol are left out,
/// and the notes say how many. C is chosen as [`WindowKernel::choose`] does.
///
/// # Errors
/// [`TrainError`]: a model of channels, windows of more than one length or that the model makes
/// impossible, more of them than a Gram matrix takes, or one of training.
pub fn train_fixed_length(
    data: &Dataset,
    series: &[usize],
    model: &FixedLengthModel,
    options: &TrainOptions,
) -> Result<Trained, TrainError> {
    let Some(alphabet) = &model.alphabet else {
        return Err(TrainError::NotStored(ExpansionError::Channels));
    };
    let found = data.classes().len();
    if found < 2 {
        return Err(TrainError::OneClass { file: data.source().to_owned(), found });
    }
    if options.c.is_empty() {
        return Err(TrainError::NoCandidate("value of C"));
    }
    let windows = data.windows(options.windowing.as_ref());
    if windows.all().len() > KERNEL_WINDOWS {
        let learner = if options.learner == Learner::KernelLogistic {
            Learner::KernelLogistic
        } else {
            Learner::KernelSvm
        };
        return Err(TrainError::TooManyWindows(windows.all().len(), learner));
    }
    let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
    let gram = MarginalModel::FixedLength(model.clone()).log_gram(&views)?.normalised();
    let problem = WindowKernel::new(data, &gram, options)?;
    let symbols =
        |item: &usize| -> Option<Vec<u16>> { views[*item].symbols()?.iter().copied().collect() };
    let all = problem.items(series);
    let (train, items): (Vec<usize>, Vec<Vec<u16>>) =
        all.iter().filter_map(|item| Some((*item, symbols(item)?))).unzip();
    if train.is_empty() {
        return Err(TrainError::NoWindows(data.source().to_owned()));
    }
    let choice = problem.choose(&train)?;
    let machine = problem.train(&train, choice.setting.c)?.machine;
    let mut notes = vec![format!(
        "machine on the normalised fixed-length kernel of a model of {} states, C = {}",
        model.hmm.states(),
        choice.setting.c
    )];
    if train.len() < all.len() {
        notes.push(format!(
            "windows left out, for a stored sequence has no missing symbol: {}",
            all.len() - train.len()
        ));
    }
    let name = std::path::Path::new(data.source()).file_name().unwrap_or_default();
    let expansion = Expansion {
        method: MarginalModel::NAMES[2].to_owned(),
        observations: Observations::Symbols(alphabet.symbols().iter().collect()),
        classes: data.classes().to_vec(),
        kernel: ExpansionKernel::FixedLength {
            model: model.hmm.clone(),
            items,
            normalised: true,
            log_scale: 0.0,
        },
        coefficients: machine.outputs.iter().map(|output| output.coefficients.clone()).collect(),
        biases: machine.outputs.iter().map(|output| output.bias).collect(),
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            data: name.to_string_lossy().into_owned(),
            series: series.len(),
            windows: train.len(),
            windowing: options.windowing,
            notes,
        },
    };
    let classifier = ModelKind::Machine(Box::new(expansion));
    Ok(Trained { classifier, choice: Some(choice), fits: Vec::new() })
}
