//! Windows of a given length and hop, borrowed from their series.

use std::num::NonZeroUsize;
use std::ops::Range;

use fishweir_core::contract::{Partial, Windows as CoreWindows};
use serde::{Deserialize, Serialize};

use super::dataset::{Dataset, Series};
use super::samples::{Sample, SamplesView};

/// Treatment of a series shorter than a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortSeries {
    /// A short series is one window as it is; a hidden Markov model takes any length.
    #[default]
    Keep,
    /// A short series gives no window.
    Drop,
}

/// Windows of series: they begin at 0, `hop`, `2 hop`, ... as long as `length` observations are
/// left.
///
/// A gap parts a series: after more than `length` missing observations in a row, or where the time `t` leaps as far,
/// windows begin anew at the next observation. A stream and a device do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windowing {
    /// Observations in a window.
    pub length: NonZeroUsize,
    /// Observations from the beginning of one window to that of the next.
    pub hop: NonZeroUsize,
    /// Treatment of shorter series.
    pub short: ShortSeries,
}

/// A run of observations of one series.
#[derive(Clone, Copy, Debug)]
pub struct Window<'a> {
    /// Index of its series in [`Dataset::series`], and so into what [`Dataset::groups`] and
    /// [`Dataset::labels`] return.
    pub series: usize,
    /// Series of the window.
    pub source: &'a Series,
    /// Index of its first observation in the series.
    pub start: usize,
    /// Observations of the window.
    pub samples: SamplesView<'a>,
}

impl Window<'_> {
    /// The class of its series.
    pub fn label(&self) -> Option<usize> {
        self.source.label
    }
}

/// The windows of a data set, those of a series together and in order.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    windows: Vec<Window<'a>>,
    of_series: Vec<Range<usize>>,
    short_kept: usize,
    short_dropped: usize,
    uncovered: usize,
}

impl Dataset {
    /// Cuts every series into windows; `None` makes each series one window.
    pub fn windows(&self, windowing: Option<&Windowing>) -> Windows<'_> {
        let mut all = Windows {
            windows: Vec::new(),
            of_series: Vec::with_capacity(self.series().len()),
            short_kept: 0,
            short_dropped: 0,
            uncovered: 0,
        };
        for (index, series) in self.series().iter().enumerate() {
            all.cut(index, series, windowing);
        }
        all
    }
}

impl Series {
    /// Samples of the window as a reader without times receives them: one stream for each run between leaps of the time longer
    /// than a window.
    pub fn streams(&self, windowing: Option<&Windowing>) -> Vec<SamplesView<'_>> {
        let view = self.samples.view();
        match windowing.map(|by| by.length.get()) {
            Some(length) if !self.leaps(length).is_empty() => {
                parts(self, length).into_iter().map(|part| view.slice(part)).collect()
            }
            _ => Vec::from([view]),
        }
    }
}

impl<'a> Windows<'a> {
    fn cut(&mut self, index: usize, series: &'a Series, windowing: Option<&Windowing>) {
        let view = series.samples.view();
        let first = self.windows.len();
        let mut add = |range: Range<usize>| {
            let (start, samples) = (range.start, view.slice(range));
            self.windows.push(Window { series: index, source: series, start, samples });
        };
        match windowing {
            None => add(0..view.len()),
            Some(by)
                if view.len() < by.length.get() && series.leaps(by.length.get()).is_empty() =>
            {
                match by.short {
                    ShortSeries::Keep => {
                        add(0..view.len());
                        self.short_kept += 1;
                    }
                    ShortSeries::Drop => {
                        self.short_dropped += 1;
                        self.uncovered += view.len();
                    }
                }
            }
            Some(by) => {
                let (length, hop) = (by.length.get(), by.hop.get());
                let mut covered = 0;
                for part in parts(series, length) {
                    let Some(free) = part.len().checked_sub(length) else { continue };
                    let (start, last) = (part.start, free / hop);
                    (0..=last).for_each(|n| add(start + n * hop..start + n * hop + length));
                    covered += last * hop.min(length) + length;
                }
                self.uncovered += view.len() - covered;
            }
        }
        self.of_series.push(first..self.windows.len());
    }

    /// All windows, series by series.
    pub fn all(&self) -> &[Window<'a>] {
        &self.windows
    }

    /// Some of the windows, by their indices in [`all`](Self::all), which rise.
    #[must_use]
    pub fn subset(&self, some: &[usize]) -> Self {
        let windows = some.iter().filter_map(|&index| self.windows.get(index).copied()).collect();
        let before = |end: usize| some.iter().filter(|&&index| index < end).count();
        let of_series = self.of_series.iter().map(|of| before(of.start)..before(of.end)).collect();
        Self { windows, of_series, ..self.clone() }
    }

    /// The windows of one series.
    ///
    /// # Panics
    /// If there is no such series.
    pub fn of(&self, series: usize) -> &[Window<'a>] {
        &self.windows[self.of_series[series].clone()]
    }

    /// The windows of some series, such as those of a fold.
    pub fn of_all<'w>(&'w self, series: &'w [usize]) -> impl Iterator<Item = &'w Window<'a>> {
        series.iter().flat_map(|&index| self.of(index))
    }

    /// Series shorter than a window that are kept as one window each.
    pub fn short_kept(&self) -> usize {
        self.short_kept
    }

    /// Number of short series that give no window.
    pub fn short_dropped(&self) -> usize {
        self.short_dropped
    }

    /// Observations that are in no window: ends of series, gaps where the hop exceeds the length,
    /// dropped series.
    pub fn uncovered(&self) -> usize {
        self.uncovered
    }
}

/// The runs of a series between gaps that are longer than a window. A run ends with as many missing observations, and
/// one more, as a window may have: windows that end there are decided on.
fn parts(series: &Series, longest_gap: usize) -> Vec<Range<usize>> {
    let (view, leaps) = (series.samples.view(), series.leaps(longest_gap));
    let whole = 0..view.len();
    if leaps.is_empty() && view.len() - view.observed() <= longest_gap {
        return Vec::from([whole]);
    }
    let (mut parts, mut start, mut missing) = (Vec::new(), 0, 0);
    let (mut leaps, mut leapt) = (leaps.iter().copied().peekable(), false);
    let end_of = |t: usize, missing: usize| t - missing + missing.min(longest_gap + 1);
    for (t, sample) in view.iter().enumerate() {
        // A leap before missing observations parts where the next is observed.
        leapt |= leaps.next_if_eq(&t).is_some();
        if sample == Sample::Missing {
            missing += 1;
            continue;
        }
        if leapt || missing > longest_gap {
            parts.push(start..end_of(t, missing));
            (start, leapt) = (t, false);
        }
        missing = 0;
    }
    parts.push(start..end_of(view.len(), missing));
    parts
}

impl Windowing {
    /// The core's form.
    #[must_use]
    pub fn as_core(&self) -> CoreWindows {
        let samples = |n: NonZeroUsize| u32::try_from(n.get()).unwrap_or(u32::MAX);
        let partial = match self.short {
            ShortSeries::Keep => Partial::OnRequest,
            ShortSeries::Drop => Partial::Never,
        };
        CoreWindows { partial, ..CoreWindows::of(samples(self.length), samples(self.hop)) }
    }

    /// Converts from the core's form; `None` for windows without a length or a hop.
    #[must_use]
    pub fn from_core(windows: &CoreWindows) -> Option<Self> {
        let samples = |n: u32| NonZeroUsize::new(n as usize);
        Some(Self {
            length: samples(windows.length)?,
            hop: samples(windows.hop)?,
            short: match windows.partial {
                Partial::Never => ShortSeries::Drop,
                _ => ShortSeries::Keep,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Alphabet, Kind, Samples};

    /// Series whose observation t is the symbol t.
    fn counting(lengths: &[u16]) -> Dataset {
        let symbols: String = ('\u{4E00}'..).take(300).collect();
        let kind = Kind::Symbols(Alphabet::new(&symbols).expect("distinct"));
        let series = lengths.iter().map(|&length| Series {
            id: length.to_string(),
            label: None,
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Symbols((0..length).map(Some).collect()),
            line: 0,
        });
        Dataset::new("memory", kind, Vec::new(), Vec::new(), series.collect()).expect("consistent")
    }

    fn by(length: usize, hop: usize, short: ShortSeries) -> Windowing {
        let nonzero = |number| NonZeroUsize::new(number).expect("positive");
        Windowing { length: nonzero(length), hop: nonzero(hop), short }
    }

    #[test]
    fn windows_begin_every_hop_and_fit() {
        let data = counting(&[10, 3, 4]);
        let windows = data.windows(Some(&by(4, 3, ShortSeries::Keep)));
        let cut: Vec<_> =
            windows.all().iter().map(|one| (one.series, one.start, one.samples.len())).collect();
        assert_eq!(cut, [(0, 0, 4), (0, 3, 4), (0, 6, 4), (1, 0, 3), (2, 0, 4)]);
        assert_eq!((windows.short_kept(), windows.short_dropped(), windows.uncovered()), (1, 0, 0));
        assert_eq!(windows.of_all(&[2, 0]).count(), 4);

        let windows = data.windows(Some(&by(4, 5, ShortSeries::Drop)));
        assert_eq!((windows.of(0).len(), windows.of(1).len(), windows.of(2).len()), (2, 0, 1));
        assert_eq!((windows.short_kept(), windows.short_dropped(), windows.uncovered()), (0, 1, 5));

        let whole = data.windows(None);
        assert_eq!(whole.all().len(), 3);
        assert_eq!(whole.uncovered(), 0);
    }

    proptest! {
        #[test]
        fn windows_are_views_of_their_places(
            lengths in prop::collection::vec(1..300_u16, 1..5),
            length in 1..80_usize,
            hop in 1..80_usize,
            keep: bool,
        ) {
            let data = counting(&lengths);
            let short = if keep { ShortSeries::Keep } else { ShortSeries::Drop };
            let windows = data.windows(Some(&by(length, hop, short)));
            let mut covered = std::collections::BTreeSet::new();
            for window in windows.all() {
                let symbols = window.samples.symbols().expect("symbols");
                for (t, symbol) in (window.start..).zip(symbols) {
                    prop_assert_eq!(symbol.map(usize::from), Some(t));
                    covered.insert((window.series, t));
                }
                prop_assert!(window.start % hop == 0);
            }
            prop_assert_eq!(data.observations() - covered.len(), windows.uncovered());
            for (series, &all) in lengths.iter().enumerate() {
                let expected = match usize::from(all).checked_sub(length) {
                    Some(rest) => rest / hop + 1,
                    None => usize::from(keep),
                };
                prop_assert_eq!(windows.of(series).len(), expected);
            }
        }
    }
}
