//! Roles of the columns in a table of samples.

use std::borrow::Cow;
use std::collections::HashSet;

use super::error::DataError;
use super::median::median;
use super::place::Place;
use super::quantity::{TimeUnit, split_unit};
use super::role_names::{COUNTERS, LABELS, SERIES, WHOLE, base, numbers_something};
use super::source::{Column, Finding, Findings, Source};
use super::stamps::{Times, is_date, nanoseconds, plain, rank};
use super::table::Table;
use crate::words::shorten;

/// Rows that are looked at.
const LOOKED_AT: usize = 2000;

/// Different fields that are counted.
const MANY: usize = 100;

/// Roles of the columns.
#[derive(Debug)]
pub(super) struct Roles {
    pub(super) series: Option<usize>,
    pub(super) label: Option<usize>,
    pub(super) time: Option<(usize, Times)>,
    /// Columns of a whole series.
    pub(super) columns: Vec<usize>,
    /// Columns that may be channels.
    pub(super) channels: Vec<usize>,
    /// The usual step of the first times, in seconds.
    pub(super) usual_step: Option<f64>,
    /// `true` if the rows of several series take turns, sorted by time.
    pub(super) take_turns: bool,
    /// `true` if the channels that were named hold words.
    words: bool,
    /// `true` if a column that was not named may be a channel.
    spare: bool,
    pub(super) findings: Findings,
}

/// Statistics of a column's first rows.
#[derive(Default)]
struct Look {
    numbers: usize,
    words: usize,
    missing: usize,
    /// Number of those that are not whole.
    fractions: usize,
    /// Fields that differ, at most a hundred.
    different: HashSet<String>,
    /// Steps by one from row to row.
    by_one: usize,
    rising: usize,
    falling: usize,
    same: usize,
    /// The first fields that are there.
    first: Vec<String>,
    /// Place of the first of them.
    place: Option<Box<Place>>,
    last: Option<f64>,
    before: String,
}

impl Look {
    fn take(&mut self, field: &str, value: Option<f64>) {
        if field == self.before {
            self.same += 1;
        }
        field.clone_into(&mut self.before);
        match value {
            Some(value) => {
                self.numbers += 1;
                self.fractions += usize::from(value.fract() != 0.0);
                if let Some(last) = self.last.replace(value) {
                    self.by_one += usize::from(value == last + 1.0);
                    self.rising += usize::from(value > last);
                    self.falling += usize::from(value < last);
                }
            }
            None => self.words += 1,
        }
        if self.different.len() < MANY {
            self.different.insert(field.to_owned());
        }
        if self.first.len() < 64 {
            self.first.push(field.to_owned());
        }
    }

    fn seen(&self) -> usize {
        self.numbers + self.words
    }

    /// Returns whether most rows repeat the row before.
    fn runs(&self) -> bool {
        self.seen() > 2 && 2 * self.same > self.seen()
    }

    /// Returns whether it numbers stretches of rows.
    fn numbers_runs(&self) -> bool {
        self.runs() && self.words == 0 && self.fractions == 0 && self.different.len() > 1
    }

    /// Returns whether it numbers the rows, of all series or anew in each.
    fn counts(&self) -> bool {
        self.words == 0 && self.seen() > 1 && 10 * (self.by_one + 1) >= 9 * self.seen()
    }

    /// Returns whether values come back, and rarely in the next row.
    fn takes_turns(&self) -> bool {
        let changes = self.seen() - self.same.min(self.seen());
        (2..MANY).contains(&self.different.len()) && changes > 3 * self.different.len()
    }

    /// Returns whether no number is below the one before.
    fn never_falls(&self) -> bool {
        self.numbers > 0 && self.falling == 0 && self.words == 0 || self.are_dates()
    }

    /// Returns whether it rises from most rows to the next, or rises and never falls.
    fn rises(&self) -> bool {
        self.numbers > 0
            && (2 * self.rising + 2 >= self.numbers || self.falling == 0 && self.rising > 0)
    }

    fn are_dates(&self) -> bool {
        !self.first.is_empty() && self.first.iter().all(|field| nanoseconds(field).is_some())
    }

    /// Returns whether it has codes of events by its name: few whole numbers.
    fn are_codes(&self, name: &str) -> bool {
        const CODES: [&str; 6] = ["event", "event_code", "event_id", "marker", "trigger", "stim"];
        CODES.contains(&plain(name).as_str())
            && self.words == 0
            && self.fractions == 0
            && (1..MANY).contains(&self.different.len())
    }

    /// Returns whether it may be a label: words, or a few whole numbers, in most rows. Marks of events are in few.
    fn may_label(&self) -> bool {
        self.seen() > self.missing
            && (self.words > 0 || self.fractions == 0 && self.different.len() < MANY)
    }
}

/// Looks at the first rows of each column.
fn look(table: &mut Table<'_>, source: &Source) -> Vec<Look> {
    let mut looks: Vec<Look> = table.header().iter().map(|_| Look::default()).collect();
    let commas = table.commas();
    for _ in 0..LOOKED_AT {
        // What is wrong with a row is said where it is read.
        let Ok(true) = table.next_row() else { break };
        if table.is_header() {
            continue;
        }
        for (column, look) in looks.iter_mut().enumerate() {
            let Ok(field) = table.field(column) else { continue };
            match source.missing.has(field) {
                true => look.missing += 1,
                false => {
                    look.place.get_or_insert_with(|| table.place(column));
                    look.take(field, commas.number(field));
                }
            }
        }
    }
    looks
}

/// A column that was named, or an error.
pub(super) fn named(table: &Table<'_>, column: &Column) -> Result<Option<usize>, DataError> {
    let Column::Name(name) = column else { return Ok(None) };
    match column.place(table.header()) {
        Some(place) => Ok(Some(place)),
        None => Err(table.bad_header(format!(
            "has no column `{}`; it has {}",
            shorten(name),
            shorten(&table.header().join(", "))
        ))),
    }
}

impl Roles {
    /// Finds the roles in a table; the caller reads its rows anew. `wanted` are names of channels that a model has.
    ///
    /// # Errors
    /// A column that was named and does not exist; invalid times.
    pub(super) fn of(
        looked: &mut Table<'_>,
        source: &Source,
        wanted: &[String],
    ) -> Result<Self, DataError> {
        let looks = look(looked, source);
        let table = &*looked;
        let names = table.header();
        let mut findings = table.findings().clone();
        // Data to estimate may lack it.
        let target = source.target.as_ref().and_then(|column| column.place(names));
        let is_wanted = |column: usize| {
            if target == Some(column) {
                return true;
            }
            let own = split_unit(&names[column]).0;
            wanted.iter().any(|name| split_unit(name).0 == own)
        };
        // Those that were named have no other purpose.
        let mut taken: Vec<usize> = Vec::new();
        // A column of groups may be one that every data set has.
        taken.extend(source.columns.iter().filter_map(|column| column.place(names)));
        for column in &source.channels {
            taken.extend(named(table, column)?);
        }
        for column in
            [&source.label, &source.series, &source.time, &source.marks].into_iter().flatten()
        {
            taken.extend(named(table, column)?);
        }
        let free = |column: usize, taken: &[usize]| !taken.contains(&column) && !is_wanted(column);
        let by_names = |known: &[&str], taken: &[usize], fits: &dyn Fn(&Look) -> bool| {
            known.iter().find_map(|wanted| {
                (0..names.len()).find(|&column| {
                    base(&names[column]) == *wanted && free(column, taken) && fits(&looks[column])
                })
            })
        };

        // In whatever case.
        let alike = |wanted: &str| {
            let exact = table.column(wanted);
            exact.or_else(|| names.iter().position(|name| base(name) == wanted))
        };
        let nameless = Nameless::of(table, source, &looks);
        let time = match &source.time {
            Some(column) => named(table, column)?,
            None if nameless.is_some() => nameless.as_ref().and_then(|one| one.time),
            None => {
                let exact = table.time()?.map(|(column, _)| column);
                let timely = |column: &usize| {
                    rank(&names[*column]).is_some()
                        && free(*column, &taken)
                        && (looks[*column].rises()
                            // A day alone is no time.
                            || looks[*column].are_dates()
                                && !(is_date(&names[*column]) && looks[*column].runs()))
                };
                let best =
                    (0..names.len()).filter(timely).min_by_key(|&column| rank(&names[column]));
                if let (None, Some(column)) = (exact, best) {
                    findings.add(Finding::Time, format!("times are in `{}`", names[column]));
                }
                exact.filter(|&column| free(column, &taken)).or(best)
            }
        };
        taken.extend(time);
        let series = match &source.series {
            Some(column) => named(table, column)?,
            None if nameless.is_some() => nameless.as_ref().and_then(|one| one.series),
            None => match alike("series").filter(|&column| free(column, &taken)) {
                Some(exact) => Some(exact),
                None => {
                    let fits = |look: &Look| look.same > 0 || look.takes_turns();
                    // Of devices that take turns each is a series.
                    let found = by_names(&SERIES, &taken, &fits)
                        .or_else(|| by_names(&WHOLE, &taken, &Look::takes_turns))
                        .or_else(|| {
                            (0..names.len()).find(|&column| {
                                numbers_something(&base(&names[column]))
                                    && free(column, &taken)
                                    && looks[column].numbers_runs()
                            })
                        });
                    if let Some(column) = found {
                        findings
                            .add(Finding::Series, format!("`{}` names the series", names[column]));
                    }
                    found
                }
            },
        };
        taken.extend(series);
        let label = match &source.label {
            Some(column) => named(table, column)?,
            None if nameless.is_some() => nameless.as_ref().and_then(|one| one.label),
            None => match alike("label").filter(|&column| free(column, &taken)) {
                Some(exact) => Some(exact),
                None => {
                    let found = by_names(&LABELS, &taken, &Look::may_label);
                    if let Some(column) = found {
                        findings.add(Finding::Label, format!("labels are in `{}`", names[column]));
                    }
                    found
                }
            },
        };
        taken.extend(label);
        for (about, column, what) in [
            (Finding::Time, time, "has the times"),
            (Finding::Series, series, "names the series"),
            (Finding::Label, label, "has the labels"),
        ] {
            if let Some(column) = column.filter(|_| nameless.is_some()) {
                findings.add(about, format!("column {} {what}", column + 1));
            }
        }
        let times = time.map(|column| {
            let said = match &source.time {
                // A unit may be said where the file has none.
                Some(Column::Name(said)) if !split_unit(said).1.is_empty() => said.as_str(),
                _ => names[column].as_str(),
            };
            let commas = table.commas();
            let fields: Vec<Cow<'_, str>> =
                looks[column].first.iter().map(|field| commas.in_points(field)).collect();
            let fields: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
            let settled = Times::of(said, &fields).map_err(|what| match &looks[column].place {
                Some(place)
                    if looks[column].first.first().is_some_and(|one| what.contains(one)) =>
                {
                    let what = format!("{what}; put units into the header, as `t [ms]`");
                    DataError::Layout { place: place.clone(), what }
                }
                _ => table.bad_header(what),
            })?;
            if let Some(found) = settled.found {
                findings.add(Finding::Time, format!("`{}` holds {found}", names[column]));
            }
            let seconds: Vec<f64> =
                fields.iter().filter_map(|field| settled.times.seconds(field)).collect();
            let mut steps: Vec<f64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
            steps.retain(|&step| step > 0.0);
            Ok(((column, settled.times), median(&mut steps)))
        });
        let (time, usual_step) = match times.transpose()? {
            Some((time, usual_step)) => (Some(time), usual_step),
            None => (None, None),
        };
        let mut roles = Self {
            series,
            label,
            time,
            usual_step,
            take_turns: false,
            words: false,
            spare: false,
            columns: Vec::new(),
            channels: Vec::new(),
            findings,
        };
        roles.columns.extend(source.columns.iter().filter_map(|column| column.place(names)));
        for column in &source.channels {
            roles.channels.extend(named(table, column)?);
        }
        let hold_words = |&column: &usize| looks[column].words > looks[column].numbers;
        roles.words = roles.channels.iter().all(hold_words);
        let time = time.map(|(column, _)| column);
        let canonical = time.is_some_and(|time| {
            TimeUnit::of(&names[time]).is_some()
                && (time + 1..names.len()).any(|one| !taken.contains(&one))
        }) || time.is_none() && series.is_some() && series == alike("series");
        let behind = time.map_or(0, |time| time + 1);
        for column in 0..names.len() {
            if taken.contains(&column) {
                continue;
            }
            let is_channel = match (source.channels.is_empty(), canonical) {
                _ if target == Some(column) => true,
                (false, _) => {
                    roles.spare |= roles.may_be_channel(table, &looks, column);
                    false
                }
                (true, true) => column >= behind,
                (true, false) => roles.may_be_channel(table, &looks, column),
            };
            if is_channel && !is_wanted(column) && looks[column].are_codes(&names[column]) {
                let what =
                    format!("`{}` is left out: it has codes of events, not samples", names[column]);
                roles.findings.add(Finding::Channels, what);
            } else if is_channel {
                roles.channels.push(column);
            } else if !source.channels.is_empty() && !WHOLE.contains(&base(&names[column]).as_str())
            {
                // Channels were named: what else is there may change within a series.
            } else if canonical && column < behind {
                roles.columns.push(column);
            } else {
                roles.leave(&names[column], &looks[column], column, wanted);
            }
        }
        roles.columns.sort_unstable();
        if let (Some(series), Some((time, _))) = (roles.series, roles.time)
            && looks[series].takes_turns()
            && looks[time].never_falls()
        {
            roles.take_turns = true;
            let what = "rows of several series are interleaved: they are sorted by its name";
            roles.findings.add(Finding::Series, what);
        }
        Ok(roles)
    }

    /// Returns whether the rows of a table are events, in the column that was named as the one channel.
    ///
    /// Events are words, with times or series and without other channels.
    pub(super) fn are_events(&self) -> bool {
        self.words && !self.spare && (self.time.is_some() || self.series.is_some())
    }

    /// Returns whether a column's content may be a channel: numbers that do not number the rows, or name subjects.
    fn may_be_channel(&self, table: &Table<'_>, looks: &[Look], column: usize) -> bool {
        let (name, look) = (base(&table.header()[column]), &looks[column]);
        let timely = rank(&table.header()[column]).is_some() || look.are_dates();
        let counter = look.counts() && COUNTERS.contains(&name.as_str());
        let whole = WHOLE.contains(&name.as_str()) || SERIES.contains(&name.as_str());
        let other = whole || counter || timely && self.time.is_some();
        look.numbers > look.words && !other
    }

    /// Assigns a column that is no channel.
    fn leave(&mut self, name: &str, look: &Look, column: usize, wanted: &[String]) {
        let whole = WHOLE.contains(&base(name).as_str());
        let few = look.words > look.numbers && look.same * 2 > look.seen();
        if look.seen() > 0 && (whole || few) && rank(name).is_none() && !look.are_dates() {
            self.findings.add(Finding::Columns, format!("`{name}` describes whole series"));
            self.columns.push(column);
        } else if wanted.is_empty() {
            self.findings.add(Finding::Channels, format!("`{name}` is left out"));
        }
    }
}

/// Roles of columns without names, if no options give them.
struct Nameless {
    series: Option<usize>,
    label: Option<usize>,
    time: Option<usize>,
}

impl Nameless {
    /// Finds the roles in a table without a header.
    ///
    /// Words that stay for many rows are labels, another value that stays names the series, and the first column of numbers that
    /// rise is the time.
    fn of(table: &Table<'_>, source: &Source, looks: &[Look]) -> Option<Self> {
        let said = source.label.is_some() || source.series.is_some() || source.time.is_some();
        if table.has_header() || said || !source.channels.is_empty() {
            return None;
        }
        let staying: Vec<usize> = (0..looks.len()).filter(|&column| looks[column].runs()).collect();
        let different = |column: &usize| looks[*column].different.len();
        let words =
            staying.iter().copied().filter(|&column| looks[column].words > looks[column].numbers);
        let label = words.min_by_key(different);
        let others = staying
            .iter()
            .copied()
            .filter(|&column| Some(column) != label && different(&column) > 1);
        let series = others.max_by_key(different);
        let rising = |column: &usize| {
            let look = &looks[*column];
            !staying.contains(column)
                && look.words == 0
                && 5 * look.rising >= 4 * look.seen().saturating_sub(1)
        };
        let time = (0..looks.len()).find(rising);
        // Numbers alone say nothing of themselves.
        label.filter(|_| series.or(time).is_some())?;
        Some(Self { series, label, time })
    }
}

/// Returns whether rows of a text are samples, if its header does not use the layout's own names.
///
/// They are if there are times, or a column that names the series, and a channel of numbers.
pub(super) fn may_be_samples(text: &[u8], source: &Source) -> bool {
    let Ok(mut table) = Table::open_as("", text, source) else { return false };
    let Ok(roles) = Roles::of(&mut table, source, &[]) else { return false };
    (roles.time.is_some() || roles.series.is_some()) && !roles.channels.is_empty()
}
