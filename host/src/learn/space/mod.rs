//! Search space of a request on some series: every form of class models, listed once and priced, and the settings of the machines
//! on them.

pub(crate) mod listing;
mod open;
mod price;
pub(crate) mod trial;
mod validate;
pub(crate) mod work;

use std::sync::Arc;

use crate::classifier::{Form, Scaling, ScoreModels};
use crate::data::internals::FrontEnd;
use crate::data::{Dataset, Kind};
use crate::fit::BaumWelch;
use crate::kernel::PARAMETERS_AT_MOST;
use crate::learn::error::TrainError;
use crate::learn::request::Request;
use crate::learn::space::open::{EACH_LAG_FLOOR, Open};
use crate::learn::space::trial::{Settings, Trial};
use crate::learn::variation::Augment;
use crate::runtime::family::{OF_SYMBOLS, of_past};
use crate::runtime::{Family, padded_states};

/// The scalings to choose from by default.
const SCALINGS: [Scaling; 2] = [Scaling::Practical, Scaling::Diagonal];

/// Scalings for one model of all classes.
const ONE_MODEL_SCALINGS: [Scaling; 3] = [Scaling::Practical, Scaling::Diagonal, Scaling::Whitened];

/// Weights of codebooks beside one model of all classes. In folds of training parts of ten sets (`host/docs/ACCURACY.md`)
/// four codebooks with two levels gained 0.003 in the mean over eight with none, by this choice 0.008.
const ONE_MODEL_WEIGHTS: [f64; 2] = [1.0, 4.0];

/// Search space of a [`Request`] on some series of a data set.
pub struct Space<'a> {
    pub(crate) data: &'a Dataset,
    pub(crate) series: &'a [usize],
    /// Request, with the words of a front end's symbols learnt.
    pub(crate) request: Arc<Request>,
    pub(crate) open: Open,
    pub(crate) front: FrontEnd,
    /// Default emission family of the forms; `None` if the observations refuse the given family.
    pub(crate) usual_family: Option<&'static dyn Family>,
    /// Samples of the middle window.
    pub(crate) middle: usize,
    /// `true` if a topology that is [automatic](crate::fit::Topology::Automatic) may become a state per position.
    pub(crate) unsettled: bool,
    pub(crate) augment: Augment,
    /// Forms to try; a single one if nothing is tried.
    forms: Vec<Form>,
    left_out: usize,
    without_codebooks: bool,
}

/// Divisor of the samples: if more than this part lacks a channel, codebooks are dropped.
const LACKING: usize = 10;

impl Request {
    /// Returns whether training takes whole samples alone, so that one that lacks a channel is missing
    /// ([`Dataset::whole_samples`]).
    ///
    /// Kernel machines and codebooks do, if at most a tenth of the samples lack a channel. If more do, training refuses them, and
    /// the default is without codebooks.
    #[must_use]
    pub fn takes_whole_samples(&self, data: &Dataset) -> bool {
        let partial = data.missing().partial;
        if partial == 0 || LACKING * partial > data.observations() {
            return false;
        }
        let codebooks = || match self.codebooks.is_empty() {
            true => Open::of(self).tries_codebooks(),
            false => self.codebooks.iter().any(|&count| count > 0),
        };
        !self.kind.compiles() || codebooks()
    }
}

impl<'a> Space<'a> {
    /// Lists the forms of a request on some series, none of their labels looked at but for what a class is. The words
    /// of a front end's symbols are learnt on the way.
    ///
    /// # Errors
    /// [`TrainError`]: a front end that does not fit, or forms that all take more than the limits allow.
    pub fn of(
        data: &'a Dataset,
        series: &'a [usize],
        request: &Request,
    ) -> Result<Self, TrainError> {
        let request = Arc::new(learnt(request, data, series)?);
        let front = request.front.over(data.kind()).map_err(TrainError::Front)?;
        let channels = matches!(data.kind(), Kind::Channels(_)) && !request.front.makes_symbols();
        let mut open = Open::of(&request);
        let mut without_codebooks = false;
        if data.missing().partial > 0 && request.codebooks.is_empty() {
            // Codebooks see whole samples alone.
            without_codebooks = open.tries_codebooks();
            open.codebooks.clear();
        }
        let mut space = Self {
            data,
            series,
            open,
            usual_family: request.baum_welch.family_over(channels).ok(),
            middle: 0,
            unsettled: false,
            augment: request.augmentation(),
            front,
            request,
            forms: Vec::new(),
            left_out: 0,
            without_codebooks,
        };
        space.middle = space.middle_length();
        space.unsettled = matches!(data.kind(), Kind::Symbols(_)) && space.positions().is_some();
        let all = space.listed();
        let count = all.len();
        let kept = space.within_limits(all)?;
        space.left_out = count - kept.len();
        space.forms = space.untried(kept);
        Ok(space)
    }

    /// Returns whether codebooks, which are the default, are left out because samples lack channels.
    #[must_use]
    pub fn leaves_out_codebooks(&self) -> bool {
        self.without_codebooks
    }

    /// The data set.
    #[must_use]
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The series to train on.
    #[must_use]
    pub fn series(&self) -> &'a [usize] {
        self.series
    }

    /// The request, with the words of its front end learnt.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The forms that are tried, the first first; one where nothing is.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Number of further forms that exceed the limits.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The first form, whatever the data allow.
    pub(crate) fn first(&self) -> Form {
        self.open.first_over(&self.request, self.data.kind())
    }

    /// Form that is used without a judgement.
    ///
    /// It is a model for each lag if there is one; for strings the one that likelihood settles, if all its outcomes keep the
    /// limits; otherwise the first.
    pub(crate) fn unjudged(&self) -> Form {
        let first = || self.forms.first().cloned().unwrap_or_else(|| self.first());
        match (self.usual(&self.forms), self.data.kind()) {
            (Some(usual), _) => usual.clone(),
            (None, Kind::Symbols(_)) if self.forms.len() > 1 && self.left_out == 0 => self.first(),
            (None, _) => first(),
        }
    }

    /// Filters the forms if a model for each lag is used untried.
    ///
    /// The result is that form, with the codebooks that were requested, at the floor that suits it if it is among them; without
    /// such a form, all forms with the models of the first. For series too short for codebooks that is a model per class: on the
    /// test part of pen tracks of eight samples it had an accuracy of 0.978, where models for each lag alone had 0.909.
    fn untried(&self, mut forms: Vec<Form>) -> Vec<Form> {
        if !self.open.each_lag_untried {
            return forms;
        }
        if let Some(form) = self.usual(&forms) {
            return vec![form.clone()];
        }
        let models = forms.first().map(|form| form.models.clone());
        forms.retain(|form| Some(&form.models) == models.as_ref());
        forms
    }

    /// Form with a model for each lag that is used without a trial: see [`untried`](Self::untried).
    fn usual<'f>(&self, forms: &'f [Form]) -> Option<&'f Form> {
        let alone = self.open.codebooks.is_empty() || self.open.asks_each_lag;
        let whole = |form: &&Form| form.codebooks > 0 || alone;
        let each_lag = || forms.iter().filter(|form| form.lags.is_apart()).filter(whole);
        each_lag().find(|form| form.std_floor == Some(EACH_LAG_FLOOR)).or(each_lag().next())
    }

    /// Emission family of a form; `None` for the one that suits the observations.
    pub(crate) fn emission_of(&self, form: &Form) -> Option<&'static dyn Family> {
        let own = self.request.baum_welch.emission;
        if form.lags.is_past() { own.or_else(of_past) } else { own }
    }

    /// A form to try, with all settings of its machine, on series that are varied as far as that is not to be chosen.
    ///
    /// One model of all classes that was not asked for is learnt from by ridge regression, with whitened scores to choose
    /// from too, and fitted in fewer passes.
    pub(crate) fn trial(&self, form: &Form) -> Trial {
        let request = &self.request;
        let universal = form.models == ScoreModels::Universal;
        let own = form.models == self.open.first.models && !self.open.asks_each_lag;
        let learner = if universal && !own { request.learner_of_one() } else { request.learner() };
        let iterations = match universal {
            true => self.open.baum_welch.iterations.min(request.one_model_iterations),
            false => self.open.baum_welch.iterations,
        };
        let baum_welch = BaumWelch {
            states: form.states,
            topology: form.topology,
            std_floor: form.std_floor.unwrap_or(self.open.baum_welch.std_floor),
            emission: self.emission_of(form),
            iterations,
            ..self.open.baum_welch.clone()
        };
        let whitened = universal && !own && request.scalings.is_empty();
        let parameters = form.states * (1 + form.states + self.emission_parameters(form));
        let without_whitening = whitened && parameters > PARAMETERS_AT_MOST;
        let scalings = match request.scalings.as_slice() {
            [] if whitened && !without_whitening => ONE_MODEL_SCALINGS.to_vec(),
            [] => SCALINGS.to_vec(),
            given => given.to_vec(),
        };
        let codebook_weights = match request.codebook_weights.as_slice() {
            _ if form.codebooks == 0 => vec![1.0],
            [] if universal => ONE_MODEL_WEIGHTS.to_vec(),
            [] => vec![1.0],
            given => given.to_vec(),
        };
        let settings = Settings {
            scalings,
            codebook_weights,
            kernels: request.kernels(),
            c: request.costs_of(learner),
            without_whitening,
        };
        let (request, form) = (Arc::clone(request), form.clone());
        Trial { request, form, baum_welch, learner, settings, augment: self.augment.clone() }
    }

    /// Parameters of a state's emission, in round figures.
    pub(crate) fn emission_parameters(&self, form: &Form) -> usize {
        match self.data.kind() {
            // A mean and a deviation, and of the past a coefficient; or a mean and a deviation of all that is seen.
            Kind::Channels(names) if form.lags.is_past() => names.len() * (1 + form.lags.rows()),
            Kind::Channels(names) => 2 * form.lags.seen_width(names.len()),
            Kind::Symbols(alphabet) => alphabet.len(),
        }
    }

    /// The length of strings that have about one, if that is the reason why no state per position is tried.
    #[must_use]
    pub fn too_long_for_positions(&self) -> Option<usize> {
        let length = self.would_try_positions().then(|| self.aligned_length()).flatten()?;
        padded_states(length).is_none().then_some(length)
    }
}

/// A request with the words of a front end's symbols learnt from training series, none of their labels looked at, and
/// emissions of symbols.
fn learnt(request: &Request, data: &Dataset, series: &[usize]) -> Result<Request, TrainError> {
    let mut request = request.clone();
    if !request.front.makes_symbols() {
        return Ok(request);
    }
    let views = series.iter().map(|&one| data.series()[one].samples.view());
    let (views, seed) = (views.collect::<Vec<_>>(), request.baum_welch.seed);
    request.front = request.front.learnt(data.kind(), &views, seed).map_err(TrainError::Front)?;
    request.baum_welch.emission.get_or_insert(OF_SYMBOLS);
    Ok(request)
}
