//! Notes of commands on data: readings that may not be as intended.

use std::collections::BTreeSet;

use fishweir::classifier::{Contract, OtherScale, WildSample, scales_in_words};
use fishweir::data::{
    Column, Dataset, Irregular, Kind, Period, ReadOptions, Sentinel, Series, UnitMatch, Values,
    Windowing, conversions_in_words, rate_words, split_unit, uncompared_in_words,
};
use fishweir::evaluate::CrossValidationOptions;
use fishweir::model::ModelFamily;
use fishweir::report::{counted, grouped, to_three_digits};

use super::{Failure, Topic, absent, findings, note, note_once};

/// Columns that name what series may have in common.
const LIKELY_GROUPS: [&str; 6] = ["subject", "user", "patient", "device", "session", "source"];

/// Columns that say when a sample was taken, where none is `t`.
const LIKELY_TIMES: [&str; 16] = [
    "t",
    "time",
    "timestamp",
    "datetime",
    "ts",
    "seconds",
    "milliseconds",
    "seconds_elapsed",
    "elapsed",
    "t_s",
    "t_ms",
    "t_us",
    "time_s",
    "time_ms",
    "time_us",
    "timestamp_ms",
];

fn is_one_of(names: &[&str], column: &str) -> bool {
    names.iter().any(|one| column.eq_ignore_ascii_case(one))
}

/// Tells in what data differ from a training, where that is not refused.
pub(super) fn against(data: &Dataset, contract: Option<&Contract>, classes: &[String]) {
    let Some(contract) = contract else { return };
    let file = data.source();
    let others = contract.other_scales(data, classes);
    let mut noted = Noted::new();
    other_scales(file, &others, &mut noted);
    resting(data, contract, &mut noted);
    // Where a whole channel is in another scale, that is said.
    for WildSample { channel, place: (series, t), count, .. } in contract.wild_samples(data) {
        if others.iter().all(|one| one.channel != channel) {
            note(
                Topic::WildSample,
                format_args!(
                    "channel `{channel}` is more than a hundred standard deviations of training from its mean, in \
                     {}: the first is {}; write NA where nothing was measured",
                    counted(count, "sample"),
                    place(data, &data.series()[series], t)
                ),
            );
        }
    }
    let all: Vec<usize> = (0..data.series().len()).collect();
    let period = Period::of(data, &all);
    if let (None, Some(period), Kind::Channels(_)) = (contract.period, period, data.kind()) {
        note(
            Topic::UnknownRate,
            format_args!(
                "{file}: the samples come at {}, and the rate of the training is unknown: if it was another, the \
                 decisions are wrong",
                rate_words(period.seconds)
            ),
        );
    }
    if let (Some(period), None) = (contract.period, period) {
        note(
            Topic::NoTimes,
            format_args!(
                "{file}: {}; the rate of the training is assumed, {}",
                match data.irregular() {
                    Some(_) => "the times are too irregular for a rate",
                    None => "there is no column `t`, so the rate is unknown",
                },
                rate_words(period.seconds)
            ),
        );
    }
}

/// The kind of a note and the channel that it is of.
pub(super) type Noted = BTreeSet<(&'static str, String)>;

/// Selects the channels of which no scale was noted before.
pub(super) fn not_noted(mut others: Vec<OtherScale>, noted: &Noted) -> Vec<OtherScale> {
    others.retain(|one| !noted.contains(&(Topic::OtherScale.into(), one.channel.clone())));
    others
}

/// Notes channels that are in another scale than in training.
pub(super) fn other_scales(file: &str, others: &[OtherScale], noted: &mut Noted) {
    noted.extend(others.iter().map(|one| (Topic::OtherScale.into(), one.channel.clone())));
    if let Some(words) = scales_in_words(others) {
        note(Topic::OtherScale, format_args!("{file}: {words}; check the units"));
    }
}

/// Notes channels that rest as they did not in training, but for those noted before.
pub(super) fn resting(data: &Dataset, contract: &Contract, noted: &mut Noted) {
    let file = data.source();
    let mut resting = contract.resting_channels(data);
    resting.retain(|one| noted.insert((Topic::ConstantChannel.into(), one.channel.clone())));
    for one in resting {
        note(Topic::ConstantChannel, format_args!("{file}: {one}"));
    }
}

/// Tells of units that were converted, and of those that were not compared.
pub(super) fn units(source: &str, matches: &[UnitMatch]) {
    if let Some(words) = conversions_in_words(matches) {
        note_once(Topic::UnitsConverted, format_args!("{source}: converted {words}"));
    }
    if let Some(words) = uncompared_in_words(matches) {
        note_once(Topic::UnitsNotCompared, format_args!("{source}: {words}"));
    }
}

/// Tells of labels that differ by case or blanks, among those of data and those that a model knows.
pub(super) fn similar(data: &Dataset, known: &[String]) {
    let similar = data.similar_labels(known);
    if similar.is_empty() {
        return;
    }
    let groups: Vec<String> = similar.iter().map(|labels| labels.join(", ")).collect();
    note(
        Topic::SimilarLabels,
        format_args!(
            "{}: labels that differ only by case or blanks are different classes: {}; write them alike if they are one",
            data.source(),
            groups.join("; ")
        ),
    );
}

/// Refuses series of several rates, and notes readings of the data that may not be intended.
pub(super) fn of_data(
    data: &Dataset,
    options: &ReadOptions,
    contract: Option<&Contract>,
) -> Result<(), Failure> {
    findings::tell(data.source(), data.findings());
    data.check_one_rate()?;
    units(data.source(), data.unit_matches());
    let mut lacking = data.missing().absent.clone();
    if let (Kind::Channels(names), Some(Column::Name(target))) =
        (data.kind(), &options.source.target)
    {
        // What is to be estimated is no channel.
        let is_target = |name: &str| name == target || split_unit(name).0 == target;
        for (name, count) in names.iter().zip(&mut lacking) {
            *count = if is_target(name) { 0 } else { *count };
        }
    }
    if let Kind::Channels(names) = data.kind()
        && let Some(words) = absent::in_words(names, &lacking, data.observations(), contract)
    {
        note(Topic::UnobservedChannel, format_args!("{}: {words}", data.source()));
    }
    if let (None, Kind::Channels(names)) = (&options.kind, data.kind()) {
        let timed = data.series().iter().any(|one| !one.times.is_empty());
        let (stands, before) =
            if timed { ("stands behind `t` and ", "`t`") } else { ("", "a column `t`") };
        for name in names.iter().filter(|name| is_one_of(&LIKELY_GROUPS, name)) {
            note(
                Topic::MaybeGroup,
                format_args!(
                    "{}: the column `{name}` {stands}is read as a channel; if it describes whole series, put it \
                     before {before}",
                    data.source()
                ),
            );
        }
        for name in names.iter().filter(|name| !timed && is_one_of(&LIKELY_TIMES, name)) {
            note(
                Topic::MaybeTime,
                format_args!(
                    "{}: the column `{name}` is read as a channel; if it has the times of the samples, name it `t`",
                    data.source()
                ),
            );
        }
    }
    if let Some(irregular) = data.irregular() {
        let Irregular { count, series, share, batches } = &irregular;
        match batches {
            Some(batches) => note(
                Topic::IrregularTimes,
                format_args!(
                    "{}: the samples of {} come in batches of {}, as in series `{}`: {} s apart within one and {} s \
                     on average; `t` should have the time when a sample was taken, not when it was transmitted; else \
                     omit `t`",
                    data.source(),
                    counted(*count, "series"),
                    batches.length,
                    series.id,
                    to_three_digits(batches.within),
                    to_three_digits(batches.mean),
                ),
            ),
            None => note(
                Topic::IrregularTimes,
                format_args!(
                    "{}: the times of {} are irregular: of the steps of series `{}`, {:.0} % differ from the usual \
                     one by more than 30 %; models count samples, not seconds: {}",
                    data.source(),
                    counted(*count, "series"),
                    series.id,
                    100.0 * share,
                    match options.values {
                        Values::Reals => "--resample makes them even",
                        _ => "write a row per period, with NA where nothing was recorded",
                    }
                ),
            ),
        }
    }
    if let Some(period) = data.rounded_period() {
        note(
            Topic::RoundedTimes,
            format_args!(
                "{}: the times are rounded to about the length of a step; by the mean step the samples come at {}; \
                 write finer times or, if samples were lost, a row of NA for each",
                data.source(),
                rate_words(period)
            ),
        );
    }
    for Sentinel { channel, value, count } in data.sentinels() {
        note(
            Topic::WildSample,
            format_args!(
                "{}: channel `{channel}` is {value} in {}, far from its other values: if this marks missing values, \
                 give --na={value}",
                data.source(),
                counted(count, "sample")
            ),
        );
    }
    if data.may_be_milliseconds() {
        note(
            Topic::MaybeMilliseconds,
            format_args!(
                "{}: `t` has whole numbers, read as seconds; if its unit is another, name it: `t [ms]`",
                data.source()
            ),
        );
    }
    if let Some(first) = data.single_samples().first() {
        note(
            Topic::SingleSamples,
            format_args!(
                "{}: {} one sample, such as `{}`: so no change over time is used",
                data.source(),
                match data.single_samples().len() {
                    1 => "1 series has".to_owned(),
                    many => format!("{} have", counted(many, "series")),
                },
                first.id
            ),
        );
    }
    if let Some(gaps) = data.gaps() {
        note(
            Topic::Gaps,
            format_args!(
                "{}: {gaps}. The samples on both sides are treated as neighbours, unless the gap is longer than a window{}",
                data.source(),
                // Longer gaps than those that are filled are left.
                match options.resample {
                    Some(_) => "",
                    None => ". --resample HZ fills such places with missing samples",
                }
            ),
        );
    }
    Ok(())
}

/// Notes series too short for a window, and samples outside windows.
pub(super) fn windows(data: &Dataset, windowing: Option<&Windowing>) {
    let Some(by) = windowing else { return };
    let (windows, all) = (data.windows(windowing), data.series().len());
    let length = grouped(by.length.get());
    match windows.short_kept() {
        0 => {}
        short if short == all => note(
            Topic::ShortSeries,
            format_args!(
                "every series is shorter than a window of {length} samples: each is one window"
            ),
        ),
        short => note(
            Topic::ShortSeries,
            format_args!(
                "{} of {} shorter than a window of {length} samples: each is one window",
                counted(short, "series"),
                grouped(all)
            ),
        ),
    }
    if windows.uncovered() > 0 {
        let samples = counted(windows.uncovered(), "sample");
        note(
            Topic::LeftOver,
            format_args!("{samples} at the ends of series, or before gaps, are in no window"),
        );
    }
}

/// Tells of windows in which nothing was observed: they are decided on all the same.
pub(super) fn unobserved(data: &Dataset, windowing: Option<&Windowing>) {
    let windows = data.windows(windowing);
    let count = windows.all().iter().filter(|window| window.samples.observed() == 0).count();
    if count > 0 {
        note(
            Topic::Unobserved,
            format_args!(
                "{} without an observed sample, {DECIDED_BLINDLY}",
                counted(count, "window")
            ),
        );
    }
}

/// Explanation of a decision without an observed sample.
pub(super) const DECIDED_BLINDLY: &str = "decided by the classifier's priors or biases alone";

/// Tells of a column that most likely names groups, where none is named.
pub(super) fn groups(data: &Dataset, named: Option<&str>) {
    // A group a series, or one of all, parts nothing.
    let parts = |column: &&String| {
        let groups = data.groups(column).map_or(0, |(_, names)| names.len());
        1 < groups && groups < data.series().len()
    };
    if named.is_none()
        && let Some(column) =
            data.columns().iter().filter(|column| is_one_of(&LIKELY_GROUPS, column)).find(parts)
    {
        note(
            Topic::UngroupedColumn,
            format_args!(
                "there is a column `{column}`: series of one {column} may be both trained and tested on; --group \
                 {column} keeps them together"
            ),
        );
    }
}

/// Refuses to fit models to series whose posterior memory has no room for: they are taken whole, whatever
/// the windows.
pub(super) fn room_to_fit(data: &Dataset, states: usize) -> Result<(), Failure> {
    room(data, None, states, "give it as several series")
}

/// Refuses to fit models of a family whose posteriors have no room.
pub(super) fn room_for(data: &Dataset, family: &ModelFamily) -> Result<(), Failure> {
    match family {
        ModelFamily::HiddenMarkov(fit) => room_to_fit(data, fit.states),
        // A linear system takes two covariances and a gain per sample: as much memory as a chain of that number of states.
        ModelFamily::LinearSystem(fit) => room_to_fit(data, 2 * fit.states * fit.states),
        ModelFamily::SwitchingSystem(fit) => room_to_fit(data, 2 * fit.system.states.pow(2)),
        // A number per state and duration; long ones of negative binomial distributions are as if they had no memory.
        ModelFamily::SemiMarkov(fit) => {
            let longest = if fit.durations { fit.longest.unwrap_or(64) } else { 1 };
            room_to_fit(data, fit.start.states.saturating_mul(longest))
        }
        _ => Ok(()),
    }
}

/// Refuses to score windows whose posterior memory has no room for.
pub(super) fn room_to_score(
    data: &Dataset,
    windowing: Option<&Windowing>,
    states: usize,
) -> Result<(), Failure> {
    room(data, windowing, states, "cut it with --window")
}

/// Refuses a posterior that memory has no room for, before the work that ends there: two reals per
/// state and sample of the longest window, at least.
fn room(
    data: &Dataset,
    windowing: Option<&Windowing>,
    states: usize,
    remedy: &str,
) -> Result<(), Failure> {
    let windows = data.windows(windowing);
    let Some(longest) = windows.all().iter().max_by_key(|window| window.samples.len()) else {
        return Ok(());
    };
    let samples = longest.samples.len();
    let bytes = samples.saturating_mul(16).saturating_mul(states);
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(()),
        Err(_) => Err(Failure::input(
            Topic::NoMemory,
            format!(
                "{}, line {}: series `{}`: {} under {} take about {} MB of memory, more than there is; {remedy}",
                data.source(),
                longest.source.line,
                longest.source.id,
                counted(samples, "sample"),
                counted(states, "state"),
                grouped(bytes.div_ceil(1_000_000))
            ),
        )),
    }
}

/// Describes the place of a sample.
pub(super) fn place(data: &Dataset, series: &Series, sample: usize) -> String {
    let time = series.times.get(sample).map_or_else(String::new, |t| format!(" (t = {t})"));
    let (id, file, line) = (&series.id, data.source(), series.line);
    format!("sample {sample}{time} of series `{id}`, which begins in {file}, line {line}")
}

/// Usual number of folds: five, or fewer if there are fewer series, or groups of them.
pub(super) fn usual_folds(data: &Dataset, group: Option<&str>) -> Result<usize, Failure> {
    let CrossValidationOptions { folds, .. } = CrossValidationOptions::usual(data, group)?;
    let usual = CrossValidationOptions::USUAL;
    if (2..usual).contains(&CrossValidationOptions::units(data, group)?) {
        let of = group.unwrap_or("series");
        note(
            Topic::FewFolds,
            format_args!("{folds} folds, one per {of}, as there are fewer than {usual}"),
        );
    }
    Ok(folds)
}
