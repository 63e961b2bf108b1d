//! Machines on the kernel values of a data set's windows: kernels whose numbers do not come from the
//! data, so that one matrix serves every training and every fold.

use fishweir_core::classify::Normalisation;

use crate::classifier::{
    Choice, Classifier, ExpansionKernel, Observations, Provenance, Rule, Selection,
};
use crate::data::{DataError, Dataset, Folds, Front, Lags, SamplesView, Window};
use crate::deploy::DeployError;
use crate::kernel::Gram;
use crate::kernel::marginal::{FixedLengthModel, MarginalModel};
use crate::learn::error::TrainError;
use crate::learn::request::Request;
use crate::learn::selection::choice::{choose_c, inner_folds};
use crate::learn::solver::expansion::KernelLearnError;
use crate::learn::solver::multi_class::KernelMachine;
use crate::learn::trainer::Trained;
use crate::learn::variation::AS_THEY_ARE;

/// Trains machines on kernel values of labelled items.
///
/// Of the request the learner (or what stands for it on a Gram matrix), the class
/// weights, the values of C and the number of inner folds count.
pub struct WindowKernel<'a> {
    /// Gram matrix of all items.
    pub gram: &'a Gram,
    /// Classes of the items, `[item]`.
    pub labels: Vec<usize>,
    /// Groups of the items, `[item]`: inner folds keep each group together.
    pub groups: Vec<usize>,
    /// Names of the classes.
    pub classes: &'a [String],
    /// Request of the machines.
    pub request: &'a Request,
}

impl<'a> WindowKernel<'a> {
    /// Creates the kernel for a matrix of windows of a data set, with the labels of their series.
    ///
    /// Inner folds keep each series together or, if the request names a column, each group.
    ///
    /// # Errors
    /// [`DataError`]: a series without a label, or no such column for groups.
    ///
    /// # Panics
    /// If the matrix is not of the windows: a mistake of the caller, not of a file.
    pub fn new(
        data: &'a Dataset,
        windows: &[Window<'_>],
        gram: &'a Gram,
        request: &'a Request,
    ) -> Result<Self, DataError> {
        assert_eq!(gram.len(), windows.len(), "a kernel value for every pair of windows");
        let group_of_series = match request.group.as_deref() {
            Some(column) => data.groups(column)?.0,
            None => (0..data.series().len()).collect(),
        };
        let label_of_series = data.labels()?;
        let of = |of_series: &[usize]| windows.iter().map(|one| of_series[one.series]).collect();
        let (labels, groups) = (of(&label_of_series), of(&group_of_series));
        Ok(Self { gram, labels, groups, classes: data.classes(), request })
    }

    /// The classes of some items.
    pub fn labels(&self, items: &[usize]) -> Vec<usize> {
        items.iter().map(|&item| self.labels[item]).collect()
    }

    /// The C that decides most items of inner folds rightly, of equals the smallest; the middle one where
    /// there cannot be folds.
    ///
    /// # Errors
    /// [`TrainError`] of a machine that was not trained.
    pub fn choose(&self, train: &[usize]) -> Result<Choice, TrainError> {
        let groups: Vec<usize> = train.iter().map(|&item| self.groups[item]).collect();
        let most = self.request.inner_folds;
        let folds = inner_folds(&self.labels(train), self.classes, Some(&groups), most);
        self.choose_by(train, folds.as_ref())
    }

    /// Chooses by given folds of the training items.
    ///
    /// # Errors
    /// Those of [`choose`](Self::choose).
    pub fn choose_by(&self, train: &[usize], folds: Option<&Folds>) -> Result<Choice, TrainError> {
        let c = &self.request.costs();
        let groups: Vec<usize> = train.iter().map(|&item| self.groups[item]).collect();
        let (labels, weight) = (self.labels(train), self.request.class_weight);
        choose_c(c, (&labels, &groups), folds, weight, |inner, held_back| {
            let of = |places: &[usize]| places.iter().map(|&i| train[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(inner), of(held_back));
            let machines = self.path(&inner, c)?;
            Ok(machines.into_iter().map(|machine| machine.values(&held_back)).collect())
        })
    }

    /// A machine trained on some items.
    ///
    /// # Errors
    /// [`KernelLearnError`] if it was not trained.
    pub fn train<'k>(
        &'k self,
        train: &'k [usize],
        c: f64,
    ) -> Result<WindowMachine<'k>, KernelLearnError> {
        self.path(train, &[c])?.pop().ok_or(KernelLearnError::Empty)
    }

    /// Machines trained on some items, one for each of rising values of C.
    fn path<'k>(
        &'k self,
        train: &'k [usize],
        c: &[f64],
    ) -> Result<Vec<WindowMachine<'k>>, KernelLearnError> {
        let on_gram = self.request.learner().on_gram();
        let classes = (self.classes.len(), self.request.class_weight);
        let gram = on_gram.gram(train.len(), |i, j| self.gram.get(train[i], train[j]));
        let path = KernelMachine::path(on_gram, &gram, &self.labels(train), classes, c)?;
        let machine = |machine| WindowMachine { gram: self.gram, train, machine };
        Ok(path.into_iter().map(machine).collect())
    }
}

/// Machine that [`WindowKernel::train`] returns.
pub struct WindowMachine<'k> {
    gram: &'k Gram,
    train: &'k [usize],
    /// The machine, on kernel values with the windows it was trained on.
    pub machine: KernelMachine,
}

impl WindowMachine<'_> {
    /// The outputs' values on other windows, `[window][output]`.
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
    request: &Request,
) -> Result<Trained, TrainError> {
    let Some(alphabet) = &model.alphabet else {
        return Err(TrainError::NotStored(DeployError::Channels));
    };
    let found = data.classes().len();
    if found < 2 {
        return Err(TrainError::OneClass { file: data.source().to_owned(), found });
    }
    let windows = data.windows(request.windowing.as_ref());
    // What is held back is not looked at.
    let windows: Vec<Window<'_>> = windows.of_all(series).copied().collect();
    request.learner().check_windows(windows.len())?;
    let views: Vec<SamplesView<'_>> = windows.iter().map(|one| one.samples).collect();
    let gram = MarginalModel::FixedLength(model.clone()).log_gram(&views)?.normalised();
    let problem = WindowKernel::new(data, &windows, &gram, request)?;
    let symbols =
        |item: usize| -> Option<Vec<u16>> { views[item].symbols()?.iter().copied().collect() };
    let (train, items): (Vec<usize>, Vec<Vec<u16>>) =
        (0..views.len()).filter_map(|item| Some((item, symbols(item)?))).unzip();
    if train.is_empty() {
        return Err(TrainError::NoWindows(data.source().to_owned()));
    }
    let choice = problem.choose(&train)?;
    let machine = problem.train(&train, choice.setting.c)?.machine;
    let mut notes = vec![format!(
        "machine on the normalised fixed-length kernel of a model of {} states, C = {}, {}",
        model.hmm.states(),
        choice.setting.c,
        choice.by
    )];
    if train.len() < views.len() {
        notes.push(format!(
            "windows left out, for a stored sequence has no missing symbol: {}",
            views.len() - train.len()
        ));
    }
    let kernel = ExpansionKernel::FixedLength { items, normalised: true, log_scale: 0.0 };
    let classifier = Classifier {
        method: MarginalModel::NAMES[2].to_owned(),
        observations: Observations::Symbols(alphabet.text()),
        classes: data.classes().to_vec(),
        front: Front::NONE,
        lags: Lags::NONE,
        centre: Vec::new(),
        scale: Vec::new(),
        models: vec![model.hmm.clone()],
        codebooks: None,
        normalisation: Normalisation::NONE,
        rule: Rule::Expansion(machine.expansion_on(kernel)),
        confidence: None,
        teaching: None,
        provenance: Provenance {
            windows: train.len(),
            windowing: request.windowing,
            notes,
            selection: Some(Selection {
                form: None,
                machine: Some(choice.clone()),
                learner: Some(request.learner().standing_in().name.to_owned()),
                mirror: Vec::new(),
                copies: None,
            }),
            ..Provenance::of(data, series)
        },
    };
    Ok(Trained {
        classifier,
        choice: Some(choice),
        fits: Vec::new(),
        varied: AS_THEY_ARE.to_owned(),
        form: None,
    })
}
