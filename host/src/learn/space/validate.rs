//! Checks of a request before anything is fitted.

use crate::classifier::{CODEBOOKS_MOST, LEVELS_MOST, Observations, ScoreModels, contexts_of};
use crate::data::{Kind, Lags, Period};
use crate::deploy::{DeployError, check_size, has_machines};
use crate::fit::BaumWelch;
use crate::learn::error::TrainError;
use crate::learn::features::Features;
use crate::learn::features::scaler::Scales;
use crate::learn::kind::ClassifierKind;
use crate::learn::request::{LagChoice, Request};
use crate::learn::space::Space;

impl Space<'_> {
    /// Refuses, before anything is fitted, a request whose training would fail.
    ///
    /// # Errors
    /// [`TrainError`] naming what is wrong.
    pub fn check(&self) -> Result<(), TrainError> {
        self.check_for(2)
    }

    /// Refuses what [`check`](Self::check) does, where fewer classes may do.
    pub(crate) fn check_for(&self, classes: usize) -> Result<(), TrainError> {
        check(self, classes)
    }
}

/// Refuses series of several rates, no windows, lags that reach beyond each, more features than there is room for, and
/// parts of a request that do not go together, or not with what is observed.
fn check(space: &Space<'_>, classes: usize) -> Result<(), TrainError> {
    let (data, request) = (space.data, &*space.request);
    data.check_one_rate()?;
    if data.windows(request.windowing.as_ref()).of_all(space.series).next().is_none() {
        return Err(TrainError::NoWindows(data.source().to_owned()));
    }
    check_parts(space)?;
    check_reach(space)?;
    space.work().map_or(Ok(()), |work| work.check())?;
    data.labels()?;
    let found = data.classes().len();
    if found < classes {
        return Err(TrainError::OneClass { file: data.source().to_owned(), found });
    }
    let log_odds = request.features() == Some(Features::LogOdds);
    if log_odds && space.open.first.models != ScoreModels::All {
        return Err(TrainError::NeedsAllModels);
    }
    let mut weights = request.codebook_weights.iter();
    if let Some(&weight) = weights.find(|one| !Scales::CODEBOOK_WEIGHTS.contains(one)) {
        return Err(TrainError::CodebookWeight(weight));
    }
    check_emissions(space)?;
    check_lags(space)?;
    check_codebooks(space)?;
    check_lists(request)?;
    let first = space.front.first();
    let windows = data.windows(request.windowing.as_ref());
    if let Some(window) = windows.of_all(space.series).find(|one| one.samples.len() < first) {
        return Err(TrainError::short_front(data, window, first));
    }
    if request.kind.compiles() { Ok(()) } else { check_machine(request, data.kind(), space) }
}

/// Refuses samples that lack channels where only whole ones are taken. To a front end such a sample is missing.
fn check_parts(space: &Space<'_>) -> Result<(), TrainError> {
    let (data, request) = (space.data, &*space.request);
    let rows = data.missing().partial;
    if rows == 0 {
        return Ok(());
    }
    if !space.front.is_empty() {
        return Ok(data.check_whole_rows()?);
    }
    let what = match request.codebooks.iter().any(|&count| count > 0) {
        true => "codebooks",
        false if !request.kind.compiles() => "kernel machines",
        false => return Ok(()),
    };
    Err(TrainError::PartialSamples { file: data.source().to_owned(), rows, what })
}

/// Refuses lags at which no window of the series has a past.
fn check_reach(space: &Space<'_>) -> Result<(), TrainError> {
    let length = |one: &usize| space.length(*one, &space.front);
    // Of equals the first.
    let Some(&longest) = space.series.iter().rev().max_by_key(|one| length(one)) else {
        return Ok(());
    };
    let length = length(&longest);
    let given = match &space.request.lags {
        LagChoice::Given(lags) => lags.as_slice(),
        LagChoice::Usual | LagChoice::Choose => &[],
    };
    // A model for each of several lags is had as far as series reach.
    let others = given.iter().filter(|lags| !lags.is_apart());
    let all = [&space.open.first.lags].into_iter().chain(others);
    let too_long = |lags: &&Lags| lags.depth() >= length && !lags.is_empty();
    let Some(lags) = all.into_iter().find(too_long) else { return Ok(()) };
    let (lags, series) = (lags.clone(), space.data.series()[longest].id.clone());
    let windowed = space.request.windowing.is_some();
    Err(TrainError::LongLags { lags, series, length, windowed })
}

/// Refuses emissions, a front end, words and rates that do not fit the observations.
fn check_emissions(space: &Space<'_>) -> Result<(), TrainError> {
    let (request, observed, front) = (&*space.request, space.data.kind(), &space.front);
    let kind = request.kind;
    let channels = matches!(front.kind(observed), Kind::Channels(_));
    let of_words = kind == ClassifierKind::EmpiricalMap;
    if channels && (of_words || kind == ClassifierKind::LatentMap) {
        return Err(TrainError::NotSymbols(kind));
    }
    let period = Period::of(space.data, space.series);
    if let (Some(period), Some(wanted)) = (period, request.front.rate())
        && !period.admits(1.0 / wanted)
    {
        let file = space.data.source().to_owned();
        return Err(TrainError::FrontRate { file, found: period.rate(), wanted });
    }
    let symbols = front.makes_symbols() && kind.compiles() && !of_words;
    if !(front.is_empty() || symbols || channels && request.takes_lags(observed)) {
        return Err(TrainError::FrontOf);
    }
    if of_words && contexts_of(observed.size(), request.order).is_none() {
        let (symbols, length) = (observed.size(), request.order.saturating_add(1));
        return Err(TrainError::TooManyWords { symbols, length });
    }
    if request.lambda.is_nan() || request.lambda < 0.0 {
        return Err(TrainError::Lambda(request.lambda));
    }
    request.baum_welch.family_over(channels).map_err(TrainError::Observed)?;
    if let Some(family) = request.baum_welch.emission {
        let counts = request.features() == Some(Features::Counts);
        let refused = counts && family.statistics_name().is_none()
            || !kind.compiles() && !has_machines(family);
        if refused {
            return Err(TrainError::Emission { kind, family: family.name() });
        }
    }
    Ok(())
}

/// Refuses lags for data without differences, and models for each lag that are of classes.
fn check_lags(space: &Space<'_>) -> Result<(), TrainError> {
    let (request, lags) = (&*space.request, &space.open.first.lags);
    let takes_lags = request.takes_lags(space.data.kind());
    if !lags.is_empty() && !takes_lags {
        return Err(TrainError::Lags(lags.clone()));
    }
    if let Some(other) = space.open.lags.first()
        && space.open.asks_each_lag
        && !takes_lags
    {
        return Err(TrainError::Lags(other.clone()));
    }
    if let LagChoice::Given(given) = &request.lags
        && let Some(other) = given.iter().find(|other| !other.is_empty() && !takes_lags)
    {
        return Err(TrainError::Lags(other.clone()));
    }
    if lags.is_apart() && space.open.first.models != ScoreModels::Universal {
        return Err(TrainError::LagsApart(lags.clone()));
    }
    Ok(())
}

/// Refuses codebooks for data or machines without them, or more of them than exist.
fn check_codebooks(space: &Space<'_>) -> Result<(), TrainError> {
    let request = &*space.request;
    // What an effort tries is in range.
    let given = request.codebooks.iter().copied().max();
    let codebooks = space.open.first.codebooks.max(given.unwrap_or(0));
    let scores =
        request.features() == Some(Features::Scores) && request.takes_lags(space.data.kind());
    if codebooks > 0 && (request.has_past() || !scores) {
        return Err(TrainError::Codebooks);
    }
    if space.open.levels > LEVELS_MOST {
        return Err(TrainError::Levels(space.open.levels));
    }
    if codebooks > CODEBOOKS_MOST {
        return Err(TrainError::TooManyCodebooks(codebooks));
    }
    Ok(())
}

/// Refuses sizes and floors out of range wherever they stand in their list, and values that do not rise.
fn check_lists(request: &Request) -> Result<(), TrainError> {
    let fit = &request.baum_welch;
    let own = std::iter::once(fit.clone());
    let states = request.states.iter().map(|&states| BaumWelch { states, ..fit.clone() });
    let floors = request.std_floors.iter().map(|&std_floor| BaumWelch { std_floor, ..fit.clone() });
    own.chain(states)
        .chain(floors)
        .try_for_each(|fit| fit.validate())
        .map_err(TrainError::Observed)?;
    for (name, values) in [("C", &request.c), ("sigma", &request.sigma)] {
        let is_positive = values.iter().all(|value| value.is_finite() && *value > 0.0);
        if !is_positive || !values.is_sorted_by(|a, b| a < b) {
            return Err(TrainError::NotRising(name));
        }
    }
    Ok(())
}

/// Refuses requests that a kernel machine on scores cannot be trained or deployed with.
fn check_machine(request: &Request, observed: &Kind, space: &Space<'_>) -> Result<(), TrainError> {
    let (kind, learner) = (request.kind, request.learner());
    if !learner.on_kernel() && request.landmarks.is_none() {
        let on_kernel = crate::learn::LEARNERS.iter().filter(|one| one.on_kernel());
        let names: Vec<&str> = on_kernel.map(|one| one.name).collect();
        let names = names.join(" or ");
        return Err(TrainError::NeedsKernelLearner(kind, learner.machine, names));
    }
    let observations = Observations::from(observed);
    let size = observations.size();
    let refused = |advice| move |source| TrainError::NotDeployed { kind, source, advice };
    let advice = match check_size(&observations, 1, size) {
        Ok(()) => "take fewer states",
        Err(_) => "take fisher, which compiles",
    };
    check_size(&observations, space.open.first.states, size).map_err(refused(advice))?;
    for (_, kernel) in request.kernels() {
        kernel
            .validate()
            .map_err(DeployError::Parameter)
            .map_err(refused("take another number of the kernel"))?;
    }
    Ok(())
}
