//! Machines on the kernel values of a data set's windows: kernels whose numbers do not come from the
//! data, so that one matrix serves every training and every fold.

use fishweir_core::classify::{Normalisation, decide};

use crate::classifier::{Choice, Classifier, ExpansionKernel, Provenance, Rule, Selection};
use crate::data::internals::centre_and_scale_of;
use crate::data::{DataError, Dataset, Folds, Front, Kind, Lags, SamplesView, Window};
use crate::kernel::Gram;
use crate::kernel::marginal::{FixedLengthModel, MarginalError, MarginalModel};
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

    /// Gain of the bias, in standard errors: of held-back items that machines of inner folds decide differently with and without
    /// it, how many more are right with it, over the square root of their number. Zero where there cannot be folds.
    ///
    /// # Errors
    /// [`KernelLearnError`] if a machine was not trained.
    pub fn gain_of_bias(&self, train: &[usize], c: f64) -> Result<f64, KernelLearnError> {
        let groups: Vec<usize> = train.iter().map(|&item| self.groups[item]).collect();
        let labels = self.labels(train);
        let folds = inner_folds(&labels, self.classes, Some(&groups), self.request.inner_folds);
        let Some(folds) = folds else { return Ok(0.0) };
        let (mut with, mut without) = (0.0, 0.0);
        for fold in 0..folds.len() {
            let of = |places: Vec<usize>| places.iter().map(|&i| train[i]).collect::<Vec<_>>();
            let (inner, held_back) = (of(folds.train(fold)), of(folds.test(fold)));
            let machine = self.train(&inner, c)?;
            let biases = machine.machine.biases();
            for (mut values, &item) in machine.values(&held_back).into_iter().zip(&held_back) {
                let right = decide(&values).class == self.labels[item];
                values.iter_mut().zip(&biases).for_each(|(value, bias)| *value -= bias);
                match (right, decide(&values).class == self.labels[item]) {
                    (true, false) => with += 1.0,
                    (false, true) => without += 1.0,
                    _ => {}
                }
            }
        }
        let differing: f64 = with + without;
        Ok(if differing > 0.0 { (with - without) / differing.sqrt() } else { 0.0 })
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

/// Trains a machine on a kernel by marginalisation, normalised, of the windows of some series: what a device evaluates against
/// stored items.
///
/// A device stores sequences without missing samples: windows with one are left out, and the notes say how many. Of a kernel over
/// a set of models it stores log-likelihoods, which any window has. C is chosen as [`WindowKernel::choose`] does, and the bias left
/// out where it loses more than a [standard error](WindowKernel::gain_of_bias), for a pair HMM unless it gains one.
///
/// # Errors
/// [`TrainError`]: windows that the kernel does not take, more of them than a Gram matrix takes, or one of training.
pub fn train_marginal(
    data: &Dataset,
    series: &[usize],
    model: &MarginalModel,
    request: &Request,
) -> Result<Trained, TrainError> {
    let found = data.classes().len();
    if found < 2 {
        return Err(TrainError::OneClass { file: data.source().to_owned(), found });
    }
    let kind = model.kind().map_err(MarginalError::from)?;
    let windows = data.windows(request.windowing.as_ref());
    // What is held back is not looked at.
    let windows: Vec<Window<'_>> = windows.of_all(series).copied().collect();
    request.learner().check_windows(windows.len())?;
    let views: Vec<SamplesView<'_>> = windows.iter().map(|one| one.samples).collect();
    let gram = model.log_gram(&views)?.normalised();
    let problem = WindowKernel::new(data, &windows, &gram, request)?;
    let (train, kernel) = stored(model, &views)?;
    if train.is_empty() {
        return Err(TrainError::NoWindows(data.source().to_owned()));
    }
    let choice = problem.choose(&train)?;
    let machine = problem.train(&train, choice.setting.c)?.machine;
    let mut expansion = machine.expansion_on(kernel);
    // Strings of a pair HMM are seldom nearly the same: all kernels are small beside a bias, which then decides alone.
    let least = if matches!(model, MarginalModel::PairHmm(_)) { 1.0 } else { -1.0 };
    let biased = problem.gain_of_bias(&train, choice.setting.c)? >= least;
    let mut notes = vec![format!(
        "machine on the normalised {} kernel of a model of {} states, C = {}, {}",
        model.name(),
        model.states(),
        choice.setting.c,
        choice.by
    )];
    if !biased {
        expansion.biases.fill(0.0);
        notes.push(
            "without a bias: with one fewer windows of inner folds were decided rightly".into(),
        );
    }
    if train.len() < views.len() {
        let what = if matches!(kind, Kind::Symbols(_)) { "symbol" } else { "sample" };
        notes.push(format!(
            "windows left out, for a stored sequence has no missing {what}: {}",
            views.len() - train.len()
        ));
    }
    let (centre, scale) = match &kind {
        Kind::Symbols(_) => (Vec::new(), Vec::new()),
        Kind::Channels(_) => centre_and_scale_of(&kind, &views),
    };
    let classifier = Classifier {
        method: model.name().to_owned(),
        observations: (&kind).into(),
        classes: data.classes().to_vec(),
        front: Front::NONE,
        lags: Lags::NONE,
        centre,
        scale,
        models: match model {
            MarginalModel::FixedLength(model) => vec![model.hmm.clone()],
            MarginalModel::Marginalisation(set) => set.model.clone(),
            _ => Vec::new(),
        },
        codebooks: None,
        normalisation: Normalisation::NONE,
        rule: Rule::Expansion(expansion),
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

/// The windows that can be stored, and the kernel with them.
fn stored(
    model: &MarginalModel,
    views: &[SamplesView<'_>],
) -> Result<(Vec<usize>, ExpansionKernel), TrainError> {
    let (normalised, log_scale) = (true, 0.0);
    let symbols = || -> (Vec<usize>, Vec<Vec<u16>>) {
        let whole = |view: &SamplesView<'_>| -> Option<Vec<u16>> {
            view.symbols()?.iter().copied().collect()
        };
        let all = views.iter().enumerate();
        all.filter_map(|(item, view)| Some((item, whole(view)?))).unzip()
    };
    Ok(match model {
        MarginalModel::Marginalisation(set) => {
            let log = |[log, _]: &[f64; 2]| (*log > f64::NEG_INFINITY).then_some(*log);
            let logs = set.likelihoods(views)?;
            let items = logs.iter().map(|logs| logs.iter().map(log).collect()).collect();
            let prior = set.prior.clone();
            let all = (0..views.len()).collect();
            (all, ExpansionKernel::ModelSet { prior, items, normalised, log_scale })
        }
        MarginalModel::FixedLength(FixedLengthModel { channels: Some(_), .. }) => {
            let whole = |view: &SamplesView<'_>| -> Option<Vec<Vec<f64>>> {
                view.rows()?.iter().map(|row| row.map(<[f64]>::to_vec)).collect()
            };
            let all = views.iter().enumerate();
            let (train, items) = all.filter_map(|(item, view)| Some((item, whole(view)?))).unzip();
            (train, ExpansionKernel::FixedLengthChannels { items, normalised, log_scale })
        }
        MarginalModel::FixedLength(_) => {
            let (train, items) = symbols();
            (train, ExpansionKernel::FixedLength { items, normalised, log_scale })
        }
        _ => {
            let (train, items) = symbols();
            let model = Box::new(model.clone());
            (train, ExpansionKernel::Hidden { model, items, normalised, log_scale })
        }
    })
}
