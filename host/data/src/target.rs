//! Data of a regression: series, and a number per sample that is to be estimated.

use serde::Serialize;

use super::dataset::{Dataset, Kind, Series};
use super::error::DataError;
use super::place::Place;
use super::quantity::split_unit;
use super::samples::{Rows, Samples, SamplesView};
use super::source::Column;
use super::windows::{Window, Windowing};
use crate::words::shorten;

/// The part of a window that a target is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetValue {
    /// The mean over the window, of those samples that have a target.
    #[default]
    Mean,
    /// The value at the last sample.
    Last,
}

/// Series without their target, and the target of each sample.
#[derive(Clone, Debug)]
pub struct RegressionData {
    /// The series; all have one label, the name of the target.
    pub data: Dataset,
    /// Name of the target, without its unit.
    pub name: String,
    /// Unit of the target; empty where it is unknown.
    pub unit: String,
    /// Target of each sample, `[series][time]`; NaN where it is missing.
    pub targets: Vec<Vec<f64>>,
}

impl RegressionData {
    /// Takes a target out of a data set: a channel, a column of whole series, or `label` for labels that are numbers.
    ///
    /// # Errors
    /// [`DataError::NoTarget`], [`DataError::OnlyTarget`]; [`DataError::Layout`] for a label or value that is not a number.
    pub fn new(data: Dataset, column: &str) -> Result<Self, DataError> {
        let wanted = Column::of(column);
        let none = Vec::new();
        let channels = match data.kind() {
            Kind::Channels(names) => names,
            Kind::Symbols(_) => &none,
        };
        if let Some(place) = wanted.place(channels) {
            return Self::of_channel(data, place);
        }
        let place = wanted.place(data.columns());
        if place.is_some() || column == "label" && !data.classes().is_empty() {
            let name = place.map_or(column, |place| &data.columns()[place]).to_owned();
            return Self::of_series(data, &name, place);
        }
        let available = [channels.as_slice(), data.columns()].concat().join(", ");
        let (file, column) = (data.source().to_owned(), column.to_owned());
        Err(DataError::NoTarget { file, column, available })
    }

    fn of_channel(data: Dataset, place: usize) -> Result<Self, DataError> {
        let Kind::Channels(names) = data.kind() else {
            return Ok(Self {
                data,
                name: String::new(),
                unit: String::new(),
                targets: Vec::new(),
            });
        };
        let mut names = names.clone();
        let column = names.remove(place);
        if names.is_empty() {
            return Err(DataError::OnlyTarget { file: data.source().to_owned(), column });
        }
        let mut all = data.series().to_vec();
        let mut targets = Vec::with_capacity(all.len());
        for one in &mut all {
            let mut of_series = Vec::with_capacity(one.samples.view().len());
            let mut left = Rows::with_capacity(names.len(), one.samples.view().len());
            if let SamplesView::Channels(rows) = one.samples.view() {
                let mut kept = vec![0.0; names.len()];
                for row in rows.iter_in_part() {
                    of_series.push(row.map_or(f64::NAN, |row| row[place]));
                    if let Some(row) = row {
                        kept[..place].copy_from_slice(&row[..place]);
                        kept[place..].copy_from_slice(&row[place + 1..]);
                    }
                    left.push(row.map(|_| kept.as_slice()));
                }
            }
            one.samples = Samples::Channels(left);
            targets.push(of_series);
        }
        Self::made(&data, Kind::Channels(names), &column, (all, targets))
    }

    /// The target is a column of whole series, or the label.
    fn of_series(data: Dataset, column: &str, place: Option<usize>) -> Result<Self, DataError> {
        let mut targets = Vec::with_capacity(data.series().len());
        for one in data.series() {
            let text = match (place, one.label) {
                (Some(place), _) => one.columns[place].trim(),
                (None, Some(label)) => data.classes()[label].trim(),
                (None, None) => "",
            };
            let number = match text {
                "" | "?" => f64::NAN,
                text => text.parse().unwrap_or(f64::INFINITY),
            };
            if number.is_infinite() {
                let what = format!(
                    "series `{}`: `{}` of the target `{column}` is not a finite number; correct it, or leave the \
                     series out",
                    one.id,
                    shorten(text)
                );
                let place = Box::new(Place::line(data.source(), one.line));
                return Err(DataError::Layout { place, what });
            }
            targets.push(vec![number; one.samples.view().len()]);
        }
        let (all, kind) = (data.series().to_vec(), data.kind().clone());
        Self::made(&data, kind, column, (all, targets))
    }

    fn made(
        data: &Dataset,
        kind: Kind,
        column: &str,
        (mut all, targets): (Vec<Series>, Vec<Vec<f64>>),
    ) -> Result<Self, DataError> {
        for one in &mut all {
            one.label = Some(0);
        }
        let (name, unit) = split_unit(column);
        let (name, unit) = (name.to_owned(), unit.to_owned());
        let (source, columns) = (data.source().to_owned(), data.columns().to_vec());
        let without = Dataset::new(source, kind, vec![name.clone()], columns, all)?;
        let data = without.with_clock(data.clock()).with_checksum_of(data);
        Ok(Self { data, name, unit, targets })
    }

    /// Cuts the only series into consecutive parts, each a series: folds can then be made of it. At most five, none shorter than
    /// a window. Several series stay as they are.
    ///
    /// # Errors
    /// [`DataError`] if a part has no observation.
    #[must_use = "it has the parts"]
    pub fn in_parts(self, windowing: Option<&Windowing>) -> Result<Self, DataError> {
        let ([whole], Some(windowing)) = (self.data.series(), windowing) else { return Ok(self) };
        let samples = whole.samples.view();
        let parts = (samples.len() / windowing.length.get()).min(5);
        if parts < 2 {
            return Ok(self);
        }
        let (mut all, mut targets) = (Vec::new(), Vec::new());
        for part in 0..parts {
            let range = part * samples.len() / parts..(part + 1) * samples.len() / parts;
            all.push(Series {
                id: format!("{}/{}", whole.id, part + 1),
                times: whole.times.get(range.clone()).unwrap_or_default().to_vec(),
                samples: samples.slice(range.clone()).to_samples(),
                ..whole.clone()
            });
            targets.push(self.targets[0][range].to_vec());
        }
        let kind = self.data.kind().clone();
        let made = Self::made(&self.data, kind, &self.name, (all, targets))?;
        Ok(Self { unit: self.unit, ..made })
    }

    /// The target of a window of the data; `None` if it is missing.
    #[must_use]
    pub fn of_window(&self, window: &Window<'_>, of: TargetValue) -> Option<f64> {
        let end = window.start + window.samples.len();
        let own = self.targets.get(window.series)?.get(window.start..end)?;
        let (mut count, mut sum) = (0.0, 0.0);
        match of {
            TargetValue::Last => (count, sum) = (1.0, *own.last()?),
            TargetValue::Mean => {
                for &value in own.iter().filter(|value| !value.is_nan()) {
                    count += 1.0;
                    sum += value;
                }
            }
        }
        let value: f64 = sum / count;
        value.is_finite().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::{ReadOptions, ShortSeries, Source};

    fn read(text: &str, column: &str) -> Result<RegressionData, DataError> {
        let source = Source { target: Some(Column::of(column)), ..Source::default() };
        let options = ReadOptions { source, ..ReadOptions::default() };
        RegressionData::new(Dataset::parse("data.csv", text.as_bytes(), &options)?, column)
    }

    fn windows(length: usize) -> Windowing {
        let length = NonZeroUsize::new(length).expect("positive");
        Windowing { length, hop: length, short: ShortSeries::Keep }
    }

    #[test]
    fn a_target_is_no_channel() {
        let text = "series,user,t,x,class (N),y\na,1,0,1,2,3\na,1,1,,4,5\na,1,2,6,,7\na,1,3,8,,\n";
        let source = read(text, "class").expect("a channel, whatever its name");
        assert_eq!(source.data.kind(), &Kind::Channels(vec!["x".into(), "y".into()]));
        assert_eq!((source.name.as_str(), source.unit.as_str()), ("class", "N"));
        assert_eq!(source.data.classes(), ["class"]);
        let all = source.data.windows(Some(&windows(2)));
        let of = |window: usize, of| source.of_window(&all.all()[window], of);
        assert_eq!(of(0, TargetValue::Mean), Some(3.0));
        assert_eq!(of(0, TargetValue::Last), Some(4.0));
        assert_eq!([of(1, TargetValue::Mean), of(1, TargetValue::Last)], [None; 2]);
        // Rows that lacked the target alone are whole.
        assert_eq!(source.data.missing().partial, 2);
    }

    #[test]
    fn whole_series_have_targets_too() {
        let text = "series,age,label,t,x\na,7,1.5,0,1\na,7,1.5,1,2\nb,,2.5,0,3\n";
        let source = read(text, "label").expect("labels that are numbers");
        assert_eq!(source.targets, [vec![1.5, 1.5], vec![2.5]]);
        let kind = |text: &str, column: &str| read(text, column).expect_err("refused").kind();
        assert_eq!(kind(text, "force"), "unknown-target");
        assert_eq!(kind("series,t,x\na,0,1\n", "x"), "only-target");
        assert_eq!(kind("series,label,t,x\na,up,0,1\na,up,1,2\n", "label"), "not-a-number");
        let strings = "label\tid\tsequence\n1.5\ta\tACGT\nhigh\tb\tACGA\n";
        assert_eq!(kind(strings, "label"), "bad-layout");
    }

    #[test]
    fn the_only_series_is_cut_into_parts() {
        let rows: String = (0..43).map(|t| format!("{t},{t},{}\n", 2 * t)).collect();
        let source = read(&format!("t,x,force\n{rows}"), "force").expect("a channel");
        let parts = source.clone().in_parts(Some(&windows(10))).expect("parts");
        let lengths: Vec<usize> = parts.targets.iter().map(Vec::len).collect();
        assert_eq!(lengths, [10, 11, 11, 11]);
        assert_eq!(parts.targets.concat(), source.targets[0]);
        let first = |part: usize| {
            parts.data.series()[part].samples.view().rows().map(|rows| rows.values()[0])
        };
        assert_eq!(first(2), Some(21.0));
        assert_eq!(source.clone().in_parts(Some(&windows(30))).expect("whole").targets.len(), 1);
        assert_eq!(source.in_parts(None).expect("whole").targets.len(), 1);
    }
}
