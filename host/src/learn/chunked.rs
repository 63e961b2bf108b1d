//! Training on a table that memory need not hold: choices by a sample, numbers by all of it.

use crate::classifier::{Provenance, Rule};
use crate::data::{DataError, Dataset, Lags, LargeTable, SamplesView, Series, Widened, scale_of};
use crate::fit::{BaumWelch, Climb, Fit, FitError, FittedMoments, LeafSums};
use crate::learn::error::TrainError;
use crate::learn::features::FeatureMap;
use crate::learn::features::scaler::{FeatureScaler, Scales};
use crate::learn::kind::ClassifierKind;
use crate::learn::machine::Path;
use crate::learn::request::Request;
use crate::learn::search::plan::Plan;
use crate::learn::solver::learner::Learner;
use crate::learn::solver::loss::ClassWeight;
use crate::learn::solver::ridge::RowSums;
use crate::learn::space::Space;
use crate::learn::trainer::{Trained, Trainer};
use crate::learn::training::fits::models_of;
use crate::learn::training::set::{TrainingSet, log_shares};
use crate::parallel::each;
use crate::runtime::Hmm;
use crate::words::{counted, grouped};

/// Trains a classifier on a table, a chunk at a time. The trainer is over the table's [sample](LargeTable::sample), as the request
/// takes it, and the space over all of its series.
///
/// Forms, topology and settings are chosen by the sample, and so are units, scalings, codebooks and the floors of standard
/// deviations. From the sample's models Baum-Welch goes on over all series, to the bits of [`fit`](crate::fit::fit) over them in
/// memory; priors are shares of all windows; a machine in closed form is of the features of all windows, by the normal equations.
/// Where the sample is the whole table this is [`Trainer::train_in`].
///
/// `progress` is called after every pass. Time: a reading of the table for each pass of Baum-Welch, and one for a machine. RAM: that
/// of the sample's training, of a chunk, and for `d` features `log2(n) d^2 / 2` reals.
///
/// # Errors
/// [`TrainError`] naming what is wrong; [`TrainError::InChunks`] of what needs all windows at a time.
pub fn train_in_chunks(
    table: &LargeTable,
    trainer: &Trainer<'_>,
    space: &Space<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Trained, TrainError> {
    let sample = trainer.data();
    check_request(space.request())?;
    check_classes(table, sample)?;
    let (plan, mut trained) = trainer.train_planned(space, progress)?;
    let (all, some) = (table.counts().series, sample.series().len());
    if all == some {
        return Ok(trained);
    }
    let set = TrainingSet::new(trainer.shared(), &plan.series, &plan.trial, progress)?;
    let chunked = Chunked { table, set: &set, plan: &plan };
    chunked.check()?;
    let form = trained.form.as_ref().map_or(&plan.trial.form, |chosen| &chosen.form);
    let (fits, windows) = chunked.fits(&set.baum_welch(form), &trained.fits)?;
    let models = models_of(&fits);
    let classifier = &mut trained.classifier;
    classifier.provenance = Provenance {
        series: all,
        windows: windows.iter().sum(),
        ..std::mem::take(&mut classifier.provenance)
    };
    classifier.provenance.notes.push(format!(
        "choices, units, scalings and floors from a random sample of {} of {}; models, priors and machine from all",
        grouped(some),
        counted(all, "series")
    ));
    match plan.trial.request.features() {
        None => {
            classifier.models = models;
            classifier.rule = Rule::bayes(&log_shares(&windows));
        }
        Some(features) => {
            let map = set.feature_map(features, &plan.series, &models)?;
            classifier.rule = chunked.machine(&map)?;
            classifier.models = map.models().to_vec();
            classifier.codebooks = map.codebooks().cloned();
        }
    }
    trained.fits = fits;
    Ok(trained)
}

/// Refuses a class of which the sample has no series.
fn check_classes(table: &LargeTable, sample: &Dataset) -> Result<(), TrainError> {
    let counts = &table.counts().of_class;
    let there = sample.labels()?;
    if let Some(unlabelled) = counts.get(&None) {
        let what = format!(
            "{} no label; label each, or leave it out",
            match unlabelled {
                1 => "1 series has".to_owned(),
                many => format!("{} have", counted(*many, "series")),
            }
        );
        return Err(DataError::NoChunks { file: sample.source().to_owned(), what }.into());
    }
    for (class, name) in sample.classes().iter().enumerate() {
        if !there.contains(&class) {
            let own = counts.get(&Some(name.clone())).copied().unwrap_or(0);
            return Err(TrainError::InChunks {
                what: format!(
                    "class `{name}`, with no series in the sample of {} of {}, is",
                    counted(sample.series().len(), "series"),
                    grouped(own)
                ),
                remedy: "take a larger sample",
            });
        }
    }
    Ok(())
}

/// Refuses what a request has that needs all windows at a time.
fn check_request(request: &Request) -> Result<(), TrainError> {
    let kind = request.kind;
    let refused = |what: String, remedy| Err(TrainError::InChunks { what, remedy });
    match kind {
        ClassifierKind::Bayes => Ok(()),
        _ if !kind.compiles() || kind == ClassifierKind::EmpiricalMap => {
            refused(format!("{kind} is"), "take bayes, fisher, top or count")
        }
        _ if request.class_weight != ClassWeight::Even => {
            refused("a machine of balanced classes is".into(), "weigh windows alike")
        }
        _ => request.learner.map_or(Ok(()), check_learner),
    }
}

/// Refuses a learner whose machine is not of sums over windows.
fn check_learner(learner: &Learner) -> Result<(), TrainError> {
    match learner.in_closed_form() {
        true => Ok(()),
        false => Err(TrainError::InChunks {
            what: format!("the learner {} is", learner.name),
            remedy: "take the learner ridge, whose machine follows from sums over windows",
        }),
    }
}

/// A plan that was chosen by the sample of a table.
struct Chunked<'c> {
    table: &'c LargeTable,
    set: &'c TrainingSet<'c>,
    plan: &'c Plan,
}

/// A model of a class, or of all, on its way over the table.
struct Climbing<'o> {
    /// Index of its lags among those of the models.
    lags: usize,
    options: &'o BaumWelch,
    class: Option<usize>,
    moments: FittedMoments,
    start: Hmm,
    climb: Option<Climb<'o>>,
    fit: Option<Fit>,
}

impl Chunked<'_> {
    /// Refuses what the plan has that needs all windows at a time.
    fn check(&self) -> Result<(), TrainError> {
        let trial = &self.plan.trial;
        if !trial.is_plain(self.set.data.kind()) {
            let what = "copies and mirror images of series are".into();
            return Err(TrainError::InChunks { what, remedy: "take series as they are" });
        }
        match trial.request.kind {
            ClassifierKind::Bayes => Ok(()),
            _ => check_learner(trial.learner),
        }
    }

    /// The chunks, as the request takes samples.
    fn chunks(&self) -> Result<impl Iterator<Item = Result<Dataset, DataError>>, DataError> {
        let whole = self.set.data.missing().partial == 0;
        let as_taken = move |data: Dataset| match whole && data.missing().partial > 0 {
            true => data.whole_samples(),
            false => data,
        };
        Ok(self.table.chunks()?.map(move |chunk| chunk.map(as_taken)))
    }

    /// Fits that go on from those of the sample over all series, and the windows of each class.
    fn fits(
        &self,
        options: &BaumWelch,
        begun: &[Fit],
    ) -> Result<(Vec<Fit>, Vec<usize>), TrainError> {
        let lags = self.plan.trial.form.lags.of_models();
        let options: Vec<BaumWelch> =
            lags.iter().map(|lags| BaumWelch { rows: lags.rows(), ..options.clone() }).collect();
        let mut climbing = self.begun(&lags, &options, begun);
        let windowing = self.plan.trial.request.windowing;
        let (mut windows, mut within) = (vec![0; self.set.classes().len()], false);
        for pass in 0.. {
            let mut sums: Vec<LeafSums> = climbing.iter().map(|_| LeafSums::default()).collect();
            for chunk in self.chunks()? {
                let data = chunk?;
                let series: Vec<&Series> = data.series().iter().collect();
                if pass == 0 {
                    for window in data.windows(windowing.as_ref()).all() {
                        within |= window.start > 0;
                        window.label().into_iter().for_each(|class| windows[class] += 1);
                    }
                }
                for (at, lags) in lags.iter().enumerate() {
                    let wide = self.widened(lags, &series);
                    let here = |one: &Climbing<'_>| one.lags == at && one.fit.is_none();
                    let each = climbing.iter().zip(&mut sums).filter(|(one, _)| here(one));
                    for (one, sums) in each {
                        let own = one.of_class(&series, &wide);
                        let added = sums.add(one.model(), &own);
                        added.map_err(|error| self.failed(one.class, error))?;
                    }
                }
            }
            for (one, sums) in climbing.iter_mut().zip(sums) {
                one.step(sums).map_err(|error| self.failed(one.class, error))?;
            }
            (self.set.progress)();
            if climbing.iter().all(|one| one.fit.is_some()) {
                break;
            }
        }
        // Restarts are those of the sample.
        let of = |(fit, begun): (Fit, &Fit)| {
            let (seed, restarts) = (begun.seed, begun.restarts.clone());
            Fit { seed, restarts, ..fit }
        };
        let fits = climbing.into_iter().filter_map(|one| one.fit).zip(begun).map(of);
        let fits = fits.map(|fit| if within { fit.starting_anywhere() } else { fit });
        Ok((fits.collect(), windows))
    }

    /// The sample's models, with the moments of the sample.
    fn begun<'o>(
        &self,
        lags: &[Lags],
        options: &'o [BaumWelch],
        begun: &[Fit],
    ) -> Vec<Climbing<'o>> {
        let series: Vec<&Series> = self.set.data.series().iter().collect();
        let universal = self.plan.trial.universal();
        let of_lags = begun.len() / lags.len().max(1);
        let mut climbing = Vec::with_capacity(begun.len());
        for (at, fits) in begun.chunks(of_lags.max(1)).enumerate().take(lags.len()) {
            let (lags, options) = (&lags[at], &options[at]);
            let wide = self.widened(lags, &series);
            let views: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
            let scale = scale_of(&self.set.seen_at(lags), &views);
            for (class, fit) in fits.iter().enumerate() {
                let mut one = Climbing {
                    lags: at,
                    options,
                    class: (!universal).then_some(class),
                    moments: FittedMoments::default(),
                    start: fit.model.clone(),
                    climb: None,
                    fit: None,
                };
                let (own, family) = (one.of_class(&series, &wide), fit.model.emission.family());
                one.moments = FittedMoments::of(options, family, &own, &scale);
                climbing.push(one);
            }
        }
        climbing
    }

    fn widened<'s>(&self, lags: &Lags, series: &[&'s Series]) -> Vec<Widened<'s>> {
        each(series.len(), &|index| self.set.widen_by(lags, series[index].samples.view()))
    }

    fn failed(&self, class: Option<usize>, source: FitError) -> TrainError {
        match class.and_then(|class| self.set.classes().get(class)) {
            Some(class) => TrainError::Fit { class: class.clone(), source },
            None => TrainError::Universal { source },
        }
    }

    /// The machine of the features of all windows.
    fn machine(&self, map: &FeatureMap) -> Result<Rule, TrainError> {
        let Some(choice) = &self.plan.setting else {
            return Err(TrainError::NoCandidate("setting"));
        };
        let setting = choice.setting;
        let scaling = setting.scaling.ok_or(TrainError::NoCandidate("scaling"))?;
        let scales = Scales { scaling, codebook_weight: setting.codebook_weight };
        let varied = self.set.varied(&self.plan.series)?;
        let examples = self.set.examples_of(map, &varied, &varied.all())?;
        let metric = FeatureScaler::of(&examples.rows, &examples.lengths, map, scales)?;
        drop(examples);
        let mut sums = RowSums::new(map.len(), self.set.classes().len())?;
        for chunk in self.chunks()? {
            let data = chunk?;
            let windows = data.windows(self.plan.trial.request.windowing.as_ref());
            let cut: Vec<_> = windows.all().iter().collect();
            let mut examples = self.set.examples_in(map, (&data, usize::MAX), &cut)?;
            metric.apply(&mut examples.rows);
            sums.add(&examples.rows, &examples.labels);
        }
        (self.set.progress)();
        let machines = sums.machines(setting.c)?;
        Ok(Rule::Linear(Path::of_machines(metric, machines).outputs(map)))
    }
}

impl Climbing<'_> {
    /// Sequences of the model's class.
    fn of_class<'w>(&self, series: &[&Series], wide: &'w [Widened<'_>]) -> Vec<SamplesView<'w>> {
        let own = |one: &Series| self.class.is_none() || one.label == self.class;
        let all = series.iter().zip(wide).filter(|(one, _)| own(one));
        all.map(|(_, wide)| wide.view()).collect()
    }

    fn model(&self) -> &Hmm {
        self.climb.as_ref().map_or(&self.start, Climb::model)
    }

    /// Ends a pass.
    fn step(&mut self, sums: LeafSums) -> Result<(), FitError> {
        if self.fit.is_some() {
            return Ok(());
        }
        let observed = sums.observed();
        let expected = sums.total(self.model())?;
        let mut climb = match self.climb.take() {
            Some(climb) => climb,
            None => {
                let moments = std::mem::take(&mut self.moments);
                Climb::from_model(self.options, moments, observed, self.start.clone())?
            }
        };
        self.fit = climb.step(&expected);
        self.climb = Some(climb);
        Ok(())
    }
}
