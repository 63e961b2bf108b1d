//! The hidden Markov models of a file, and passes of Baum-Welch over them by parts.

use super::expected::{ExpectedSums, ModelSums, PartError};
use super::share::Share;
use crate::classifier::{Classifier, ClassifierError};
use crate::data::internals::FrontEnd;
use crate::data::{Dataset, Lags, SamplesView, Widened, Window, Windowing, scale_of};
use crate::fit::{BaumWelch, ExpectationStep, FitError, FittedMoments, starting_anywhere};
use crate::model::{FittedModel, ModelSet};
use crate::runtime::Hmm;
use crate::sums::{Digest, LEAF, digests_of};

/// A file of hidden Markov models that passes of Baum-Welch improve: a Bayes classifier with one model per class, or a set
/// of models.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelFile {
    /// A Bayes classifier.
    Classifier(Box<Classifier>),
    /// Models of classes, or one of all series.
    Set(Box<ModelSet>),
}

/// A model by its name, and the class of its series; `None` for all series.
pub(super) struct Named<'m> {
    pub(super) name: &'m str,
    class: Option<&'m str>,
    pub(super) model: &'m Hmm,
}

impl ModelFile {
    /// Parses a file; `file` is for messages.
    ///
    /// # Errors
    /// [`PartError`]: no such file, or models that passes of Baum-Welch do not improve.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, PartError> {
        let found = match ModelSet::is_one(bytes) {
            true => Self::Set(Box::new(ModelSet::parse(file, bytes)?)),
            false => Self::Classifier(Box::new(Classifier::parse(file, bytes)?)),
        };
        found.named()?;
        Ok(found)
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    /// Where a number has no place in JSON.
    pub fn to_json(&self) -> Result<String, ClassifierError> {
        match self {
            Self::Classifier(classifier) => classifier.to_json(),
            Self::Set(set) => set.to_json(),
        }
    }

    pub(super) fn named(&self) -> Result<Vec<Named<'_>>, PartError> {
        let unfit = |what: &str| PartError::Unfit(what.to_owned());
        match self {
            Self::Classifier(classifier) => {
                let Classifier { classes, models, .. } = &**classifier;
                if !classifier.is_bayes() || classes.len() != models.len() {
                    return Err(unfit(
                        "its machine is trained on features of its models, which would change; give a Bayes classifier",
                    ));
                }
                let named = classes.iter().zip(models);
                let named = named.map(|(name, model)| Named { name, class: Some(name), model });
                if classifier.confidence.is_some() {
                    return Err(unfit(
                        "its calibration was learnt with its models, which would change; fit it without",
                    ));
                }
                Ok(named.collect())
            }
            Self::Set(set) => {
                let one = |named: &'_ crate::model::NamedModel| -> bool {
                    named.class.as_ref().is_none_or(|class| *class == named.name)
                };
                let alone = set.models.len() == 1;
                if !set.models.iter().all(|named| one(named) && (alone || named.class.is_some())) {
                    return Err(unfit(
                        "its models are of single series; fit one per class, or one for all",
                    ));
                }
                let named =
                    |named: &'_ crate::model::NamedModel| named.model.hidden_markov().is_some();
                if !set.models.iter().all(named) {
                    return Err(unfit("it has models other than hidden Markov models"));
                }
                let all = set.models.iter().filter_map(|named| {
                    let (name, class) = (named.name.as_str(), named.class.as_deref());
                    Some(Named { name, class, model: named.model.hidden_markov()? })
                });
                Ok(all.collect())
            }
        }
    }

    /// Fingerprint of the models, and of how they see samples.
    pub(super) fn digest(&self) -> Result<Digest, PartError> {
        let json = |error: serde_json::Error| PartError::Unfit(error.to_string());
        let models: Vec<(&str, &Hmm)> =
            self.named()?.iter().map(|one| (one.name, one.model)).collect();
        match self {
            Self::Classifier(own) => {
                Digest::of_value(&(&own.front, &own.lags, models)).map_err(json)
            }
            Self::Set(set) => Digest::of_value(&(&set.provenance.windowing, models)).map_err(json),
        }
    }

    /// Names of the models.
    ///
    /// # Errors
    /// [`PartError::Unfit`].
    pub fn names(&self) -> Result<Vec<String>, PartError> {
        Ok(self.named()?.iter().map(|one| one.name.to_owned()).collect())
    }

    /// Number of series of a data set that no model is of: of other classes, or of none.
    ///
    /// # Errors
    /// [`PartError::Unfit`].
    pub fn left_out(&self, data: &Dataset) -> Result<usize, PartError> {
        let named = self.named()?;
        let is_of = |label: Option<usize>| {
            let class = label.map(|label| data.classes()[label].as_str());
            named.iter().any(|one| one.class.is_none() || one.class == class)
        };
        Ok(data.series().iter().filter(|series| !is_of(series.label)).count())
    }

    /// A share of the expected statistics of each model over the series of its class, in the order of the data.
    ///
    /// Every share reads all of the data for its fingerprint and its moments, and runs the recursions over its own leaves.
    /// A classifier's models see whole series, a set's the windows that it was fitted to.
    ///
    /// # Errors
    /// [`PartError`]: series of another kind, or that a model makes impossible.
    pub fn expect(&self, data: &Dataset, share: Share) -> Result<ExpectedSums, PartError> {
        let unfit = |error: String| PartError::Unfit(error);
        let (front, lags, cut): (FrontEnd, Lags, Option<&Windowing>) = match self {
            Self::Classifier(own) => (own.front_end().map_err(unfit)?, own.lags.clone(), None),
            Self::Set(set) => (FrontEnd::default(), Lags::NONE, set.provenance.windowing.as_ref()),
        };
        let within = match self {
            Self::Classifier(own) => own.provenance.windowing.as_ref(),
            Self::Set(_) => None,
        };
        let anywhere = data.windows(within).all().iter().any(|window| window.start > 0);
        let windows = data.windows(cut);
        let kind = lags.kind(&front.kind(data.kind()));
        let wide: Vec<Widened<'_>> =
            windows.all().iter().map(|window| front.widen(window.samples, &lags)).collect();
        let views: Vec<SamplesView<'_>> = wide.iter().map(Widened::view).collect();
        let scale = scale_of(&kind, &views);
        let of_model = |named: Named<'_>| {
            let class = named.class.map(|class| data.classes().iter().position(|one| one == class));
            let own = windows.all().iter().zip(&views).filter(|(window, _)| {
                class.is_none_or(|class| class.is_some() && window.label() == class)
            });
            let (own, sequences): (Vec<&Window<'_>>, Vec<SamplesView<'_>>) =
                own.map(|(window, view)| (window, *view)).unzip();
            sums_of(&named, &sequences, &scale, &lags, share).map_err(|error| match error {
                PartError::Fit { model, source: FitError::Impossible { sequence, why } } => {
                    let series = own.get(sequence).map_or("", |window| window.source.id.as_str());
                    let series = series.to_owned();
                    PartError::Impossible { series, model, why }
                }
                other => other,
            })
        };
        let sums = self.named()?.into_iter().map(of_model).collect::<Result<_, _>>()?;
        Ok(ExpectedSums::new(self.digest()?, anywhere, sums))
    }

    /// The models that the sums of all leaves make likeliest, by the pseudocounts and the floor of the options.
    ///
    /// Where a classifier's windows begin within series, so do its models: a state is the first as often as it is any. A model
    /// without a sequence stays.
    ///
    /// # Errors
    /// [`PartError`]: sums of other models, or leaves that are missing.
    pub fn maximised(&self, sums: &ExpectedSums, options: &BaumWelch) -> Result<Self, PartError> {
        sums.check_models(self.digest()?)?;
        self.next(sums, options)
    }

    /// [`maximised`](Self::maximised), of sums of models with the same fingerprint.
    pub(super) fn next(&self, sums: &ExpectedSums, options: &BaumWelch) -> Result<Self, PartError> {
        let named = self.named()?;
        if sums.sums.len() != named.len() {
            return Err(PartError::Unfit("the sums are for another number of models".to_owned()));
        }
        let mut next = Vec::with_capacity(named.len());
        for (Named { name, model, .. }, sums_of_it) in named.iter().zip(&sums.sums) {
            if sums_of_it.sequences == 0 {
                next.push((*model).clone());
                continue;
            }
            let expected = sums_of_it.total_for(model)?;
            let rows = match self {
                Self::Classifier(own) => own.lags.rows(),
                Self::Set(_) => 1,
            };
            let components = model.emission.shape().components.max(1);
            let options = BaumWelch { rows, components, ..options.clone() };
            let fitted = options.maximised(model, &expected, sums_of_it.moments.clone());
            let mut fitted =
                fitted.map_err(|source| PartError::Fit { model: (*name).to_owned(), source })?;
            if sums.anywhere {
                let family = fitted.emission.family();
                starting_anywhere(&mut fitted, &family.occupancy(&expected.emission));
            }
            next.push(fitted);
        }
        Ok(self.with_models(next))
    }

    fn with_models(&self, models: Vec<Hmm>) -> Self {
        match self {
            Self::Classifier(own) => {
                let mut classifier = Classifier { models, ..(**own).clone() };
                add_pass(&mut classifier.provenance.notes);
                Self::Classifier(Box::new(classifier))
            }
            Self::Set(set) => {
                let mut set = set.clone();
                add_pass(&mut set.provenance.notes);
                for (named, model) in set.models.iter_mut().zip(models) {
                    named.model = FittedModel::from(model);
                }
                Self::Set(set)
            }
        }
    }
}

/// Adds a pass to those that the notes tell of.
fn add_pass(notes: &mut Vec<String>) {
    const PASSES: &str = "passes of Baum-Welch by parts: ";
    let before = notes.iter().position(|note| note.starts_with(PASSES));
    let count = before.and_then(|at| notes[at][PASSES.len()..].parse::<u64>().ok());
    let note = format!("{PASSES}{}", count.unwrap_or(0) + 1);
    match before {
        Some(at) => notes[at] = note,
        None => notes.push(note),
    }
}

/// A share of the sums of one model.
fn sums_of(
    named: &Named<'_>,
    sequences: &[SamplesView<'_>],
    scale: &[f64],
    lags: &Lags,
    share: Share,
) -> Result<ModelSums, PartError> {
    let model = named.model;
    let options = BaumWelch {
        rows: lags.rows(),
        components: model.emission.shape().components.max(1),
        ..BaumWelch::default()
    };
    let moments = FittedMoments::of(&options, model.emission.family(), sequences, scale);
    let leaves = sequences.len().div_ceil(LEAF);
    let range = share.range(leaves);
    let some = &sequences[range.start * LEAF..sequences.len().min(range.end * LEAF)];
    let data = digests_of(sequences, 0).total(leaves).ok().flatten();
    let data = data.unwrap_or_else(|| Digest::of_sequences(&[]));
    let marks = digests_of(some, range.start);
    let step = ExpectationStep::from_leaf(range.start, some);
    let whole = (data, sequences.len(), moments);
    ModelSums::new((named.name, model), (&step, range), &marks, whole)
}
