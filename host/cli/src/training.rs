//! A training on some series, with a bar, and what to say before it.

use std::borrow::Cow;

use fishweir::data::{Dataset, LargeTable};
use fishweir::learn::{
    ClassifierKind, Disparity, MixedUnits, Request, Space, Stuck, Trained, Trainer, WildSample,
    coarse_channels, constant_channels, disparate_channels, fixed_channels, mixed_units,
    refused_samples, scarce_classes, stuck_channels, train_in_chunks, wild_samples,
};
use fishweir::report::{counted, grouped, to_three_digits};
use fishweir::runtime::STATE_SIZES;

use super::arguments::TrainingArguments;
use super::reading::Cutting;
use super::{Failure, Topic, note, progress, tell};

/// Trains on some series, with a bar.
pub(super) fn fit(data: &Dataset, series: &[usize], request: &Request) -> Result<Trained, Failure> {
    let space = Space::of(data, series, request).map_err(|error| Failure::of(data, error))?;
    warn(&space, 1);
    let bar = progress::passes(format!("fitting {}", request.kind), space.most_passes());
    let trained = Trainer::new(data).train_in(&space, &|| bar.inc(1));
    bar.finish_and_clear();
    trained.map_err(|error| Failure::of(data, error))
}

/// Trains a classifier on a table, a chunk at a time, with choices by its sample as the request takes it.
pub(super) fn fit_table(
    table: &LargeTable,
    sample: &Dataset,
    request: &Request,
) -> Result<Trained, Failure> {
    let series: Vec<usize> = (0..sample.series().len()).collect();
    let space = Space::of(sample, &series, request).map_err(|error| Failure::of(sample, error))?;
    warn(&space, 1);
    let most = space.most_passes().saturating_add(request.baum_welch.iterations);
    let bar = progress::passes(format!("fitting {}", request.kind), most);
    let trained = train_in_chunks(table, &Trainer::new(sample), &space, &|| bar.inc(1));
    bar.finish_and_clear();
    trained.map_err(|error| Failure::of(sample, error))
}

/// The requests of several classifiers on a data set, with the options that they come from: what varies series is said in the
/// data's terms. Refuses what takes too long or too much memory.
pub(super) fn requests(
    training: &TrainingArguments,
    kinds: &[ClassifierKind],
    cutting: &Cutting,
    data: &Dataset,
) -> Result<(TrainingArguments, Vec<Request>), Failure> {
    let all = |training: &TrainingArguments| {
        kinds.iter().map(|&kind| training.request(kind, cutting)).collect::<Result<Vec<_>, _>>()
    };
    let training = training.clone().varying(&all(training)?, data.kind())?;
    let requests = all(&training)?;
    training.check_effort(kinds, cutting, data)?;
    let states = requests.iter().map(|request| request.baum_welch.states).max();
    tell::room_to_fit(data, states.unwrap_or_default())?;
    Ok((training, requests))
}

/// The data as a request takes them: where it takes whole samples, one that lacks a channel is missing, and that is noted.
///
/// # Errors
/// Where a series has no whole sample.
pub(super) fn as_taken<'d>(
    data: &'d Dataset,
    request: &Request,
) -> Result<Cow<'d, Dataset>, Failure> {
    if !request.takes_whole_samples(data) {
        return Ok(Cow::Borrowed(data));
    }
    data.check_whole_rows()?;
    note(
        Topic::PartialSamples,
        format_args!(
            "{}: {} all channels, so {} without a channel count as missing (with --codebooks 0 only the channel \
             is left out)",
            data.source(),
            match request.kind.compiles() {
                true => "codebooks need".to_owned(),
                false => format!("{} needs", request.kind),
            },
            counted(data.missing().partial, "sample"),
        ),
    );
    Ok(Cow::Owned(data.whole_samples()))
}

/// Passes of Baum-Welch at most of a training on all series; none of what will be refused.
pub(super) fn most_passes(data: &Dataset, request: &Request) -> usize {
    let all: Vec<usize> = (0..data.series().len()).collect();
    Space::of(data, &all, request).map_or(0, |space| space.most_passes())
}

/// Notes what a modeller would want to know before the work: channels that say nothing or are of several scales,
/// classes of hardly any series, and how long many classes take.
pub(super) fn warn(space: &Space<'_>, trainings: usize) {
    let (data, series, request) = (space.data(), space.series(), space.request());
    for channel in constant_channels(data, series) {
        note(
            Topic::ConstantChannel,
            format_args!(
                "channel `{channel}` never changes in the training data, so it separates no classes; leave it out"
            ),
        );
    }
    if space.leaves_out_codebooks() {
        let what = match request.front.is_empty() {
            true => {
                "which the models leave out; codebooks need all channels, so the default has none (--codebooks)"
            }
            false => "and count as missing, because a front end needs all channels",
        };
        note(
            Topic::PartialSamples,
            format_args!(
                "{}: {} lack a channel, {what}",
                data.source(),
                counted(data.missing().partial, "sample"),
            ),
        );
    }
    let wild = wild_samples(data, series);
    faults(data, series, &wild);
    for (channel, step, spread) in coarse_channels(data, series) {
        note(
            Topic::CoarseChannel,
            format_args!(
                "channel `{channel}` has a standard deviation of {spread:.3}, and single precision has steps of \
                 {step} at its values: subtract an offset, in the data and on the device"
            ),
        );
    }
    // A few wild samples make such a difference, and are noted.
    let mut disparate = disparate_channels(data, series);
    disparate.retain(|one| {
        let count =
            wild.iter().find(|wild| wild.channel == one.channel).map_or(0, |wild| wild.count);
        count == 0 || 2 * count > observed_in(data, series, one.large.0)
    });
    for Disparity { channel, measure, small, large } in disparate {
        note(
            Topic::DisparateChannel,
            format_args!(
                "channel `{channel}` is {} times as large in class `{}` as in class `{}`, by its {measure} ({} and {}): if \
             their units differ, write them in one",
                grouped((large.1 / small.1) as usize),
                large.0,
                small.0,
                to_three_digits(large.1),
                to_three_digits(small.1)
            ),
        );
    }
    if let Some(length) = space.too_long_for_positions() {
        note(
            Topic::LongStrings,
            format_args!(
                "strings of {length} symbols are too long for one state per position, which goes up to {}: if they \
                 are aligned, cut them to the part that separates the classes, or give --topology positions, whose \
                 last state covers all further positions",
                STATE_SIZES[STATE_SIZES.len() - 1]
            ),
        );
    }
    // An unknown column is reported when folds are made.
    let scarce = scarce_classes(data, series, request.group.as_deref()).unwrap_or_default();
    for (class, count) in scarce {
        let units = match request.group.as_deref() {
            Some(column) => format!("series of {count} {column}"),
            None => counted(count, "series"),
        };
        note(
            Topic::FewSeries,
            format_args!(
                "class `{class}` has only {units}: too little is held out to choose settings and to judge; record at \
                 least three"
            ),
        );
    }
    if let Some((count, (series, t))) = refused_samples(data, series, &request.front) {
        let (samples, first) = (counted(count, "sample"), &data.series()[series]);
        let place = tell::place(data, first, t);
        note(
            Topic::RefusedSamples,
            format_args!("--front refuses {samples}, which count as missing; the first is {place}"),
        );
    }
    // What there is no room for is refused, however long it would take.
    if let Some(work) = space.work().filter(|work| work.check().is_ok()) {
        let minutes = work.minutes() * trainings as f64;
        if minutes > MANY_MINUTES {
            note(
                Topic::LongTraining,
                format_args!(
                    "{} on {} of {} features or more: about {minutes:.0} minutes on one core; bayes, a single \
                     --scaling or --c, --mirror none or --copies 0 are quicker",
                    request.kind,
                    counted(work.windows, "window"),
                    grouped(work.features)
                ),
            );
        }
    }
}

/// Counts the observed samples of a class.
fn observed_in(data: &Dataset, series: &[usize], class: &str) -> usize {
    let class = data.classes().iter().position(|name| name == class);
    let own = series.iter().map(|&index| &data.series()[index]).filter(|one| one.label == class);
    own.map(|one| one.samples.view().observed()).sum()
}

/// Notes recordings that may be faulty: a model would learn the fault.
fn faults(data: &Dataset, series: &[usize], wild: &[WildSample<'_>]) {
    for channel in fixed_channels(data, series) {
        note(
            Topic::ConstantChannel,
            format_args!(
                "channel `{channel}` never changes within a series of the training data, so it is learnt as a \
                 constant of each series; leave it out if the sensor was stuck"
            ),
        );
    }
    for Stuck { channel, series, class } in stuck_channels(data, series) {
        let (count, first) = (counted(series.len(), "series"), &data.series()[series[0]].id);
        note(
            Topic::ConstantChannel,
            match class {
                Some(class) => format!(
                    "channel `{channel}` is constant in class `{class}` and changes in others: if the sensor was \
                     stuck, the class is recognised by that; leave the channel out, or record the class again"
                ),
                None => format!(
                    "channel `{channel}` keeps one value for long in {count}, such as `{first}`, and not in others \
                     of the class: leave them out if the sensor was stuck"
                ),
            },
        );
    }
    for &WildSample { channel, place: (series, t), value, count } in wild {
        let place = tell::place(data, &data.series()[series], t);
        let value = if value.abs() < 1e6 { value.to_string() } else { format!("{value:e}") };
        let others = match count {
            1 => String::new(),
            2 => "; 1 more sample is so, too".to_owned(),
            more => format!("; {} more are so, too", counted(more - 1, "sample")),
        };
        note(
            Topic::WildSample,
            format_args!(
                "channel `{channel}` is {value} in {place}, far beyond all others{others}: write NA where nothing was \
                 measured"
            ),
        );
    }
    if let Some(MixedUnits { large, small, classes, factor, guess }) = mixed_units(data, series) {
        let kind = if classes { "class" } else { "series" };
        let named = |names: &[&str]| match names {
            [one] => format!("{kind} `{one}`"),
            [first, rest @ ..] => format!("{kind} `{first}` and {} more", grouped(rest.len())),
            [] => String::new(),
        };
        note(
            Topic::MixedUnits,
            format_args!(
                "in each channel {} {} {} times as large as {}; perhaps {}: write all in the same unit",
                named(&large),
                if large.len() == 1 { "is" } else { "are" },
                to_three_digits(factor),
                named(&small),
                guess
                    .replace("the training's", "the others'")
                    .replace("the training", "the others")
            ),
        );
    }
}

/// Minutes beyond which the time of a training is reported.
const MANY_MINUTES: f64 = 5.0;
