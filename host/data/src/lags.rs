//! The past at lags as further channels, or differences from it: the core's front end over whole series.

use std::fmt;
use std::str::FromStr;

use fishweir_core::lagged::RingIndex;
use fishweir_core::number::Channel;
use serde::{Deserialize, Serialize};

use super::Kind;
use super::samples::{Rows, Samples, SamplesView};

/// The lags, rising, at which differences of each channel are further channels, or its past itself: see the
/// core's [`LagFeatures`](fishweir_core::lagged::LagFeatures). None of them leaves samples as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "LagsForm", into = "LagsForm")]
pub struct Lags {
    lags: Vec<u32>,
    seen: PastUse,
}

/// Use of the past at the lags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum PastUse {
    /// Differences, all of them.
    #[default]
    Differences,
    /// The past itself.
    Past,
    /// Differences, each model those at one lag.
    Apart,
}

/// Form in files: `[1, 2]`, `{"past": [1, 2]}` or `{"each_lag": [1, 2]}`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LagsForm {
    Differences(Vec<u32>),
    Past { past: Vec<u32> },
    Apart { each_lag: Vec<u32> },
}

/// Reason why lags were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum LagError {
    /// One that is no number.
    #[error("`{0}` is not a lag: give a whole number of samples, from 1 to {most}", most = Lags::LONGEST)]
    NotALag(String),
    /// One that is not after the one before it, or past the longest.
    #[error("lag {0}: lags must rise, and be from 1 to {most} samples", most = Lags::LONGEST)]
    #[strum(serialize = "lag-out-of-order")]
    OutOfOrder(u32),
    /// More lags than an artefact can store.
    #[error("{0} lags: {most} are the most", most = Lags::MOST)]
    #[strum(serialize = "too-many-lags")]
    TooMany(usize),
}

crate::kinds!(LagError);

impl Lags {
    /// The longest lag, in samples: a device keeps that many.
    pub const LONGEST: u32 = 4096;
    /// The most lags.
    pub const MOST: usize = 32;
    /// Samples as they are.
    pub const NONE: Self = Self { lags: Vec::new(), seen: PastUse::Differences };

    /// Lags in samples.
    ///
    /// # Errors
    /// [`LagError`]: they rise, from one on.
    pub fn new(lags: Vec<u32>) -> Result<Self, LagError> {
        if lags.len() > Self::MOST {
            return Err(LagError::TooMany(lags.len()));
        }
        let mut least = 0;
        for &lag in &lags {
            if lag <= least || lag > Self::LONGEST {
                return Err(LagError::OutOfOrder(lag));
            }
            least = lag;
        }
        Ok(Self { lags, seen: PastUse::Differences })
    }

    /// The powers of two up to a lag.
    #[must_use]
    pub fn dyadic(longest: u32) -> Self {
        let lags = (0..).map(|power| 1 << power);
        let lags = lags.take_while(|&lag| lag <= longest.min(Self::LONGEST)).collect();
        Self { lags, seen: PastUse::Differences }
    }

    /// The past of an autoregression of an order: every lag up to it.
    #[must_use]
    pub fn order(order: u32) -> Self {
        Self { lags: (1..=order.min(Self::MOST as u32)).collect(), seen: PastUse::Past }
    }

    /// The past itself at these lags, instead of differences from it.
    #[must_use]
    pub fn of_past(self) -> Self {
        Self { seen: PastUse::Past, ..self }
    }

    /// Returns whether rows hold the past itself.
    #[must_use]
    pub fn is_past(&self) -> bool {
        self.seen == PastUse::Past
    }

    /// Differences at these lags, each of them seen by a model of its own, beside the channels: as many narrow
    /// models as lags instead of a wide one.
    #[must_use]
    pub fn apart(self) -> Self {
        Self { seen: PastUse::Apart, ..self }
    }

    /// Returns whether each model sees the differences at one lag only.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.seen == PastUse::Apart
    }

    /// Lags of a model: its own if each model has one lag, otherwise all.
    pub fn of_model(&self, model: usize) -> Self {
        match self.lags.get(model) {
            Some(&lag) if self.is_apart() => Self::one(lag),
            _ => self.clone(),
        }
    }

    /// The lags of each model that is not like the others: one entry a lag where each model sees its own, else one.
    pub fn of_models(&self) -> Vec<Self> {
        let models = if self.is_apart() { self.lags.len() } else { 1 };
        (0..models).map(|model| self.of_model(model)).collect()
    }

    /// Columns of a row that a model sees, for `channels` channels: `None` for all of them.
    pub fn columns(&self, model: usize, channels: usize) -> Option<Vec<usize>> {
        let own = channels * (1 + model);
        self.is_apart().then(|| (0..channels).chain(own..own + channels).collect())
    }

    /// Number of columns that `models` models name, for `channels` channels.
    pub fn columns_kept(&self, models: usize, channels: usize) -> usize {
        if self.is_apart() { models * self.seen_width(channels) } else { 0 }
    }

    /// Numbers that a model sees of a row made of `channels` channels.
    pub fn seen_width(&self, channels: usize) -> usize {
        if self.is_apart() { 2 * channels } else { self.width(channels) }
    }

    /// Rows of the sensor's channels in a row of those that models see, where that is the past: what an
    /// autoregression must know of them; one of any others.
    pub fn rows(&self) -> usize {
        if self.is_past() { 1 + self.lags.len() } else { 1 }
    }

    /// Describes the additional columns.
    #[must_use]
    pub fn words(&self) -> String {
        let lags = if self.lags.len() == 1 { "lag" } else { "lags" };
        match self.seen {
            PastUse::Differences => format!("differences at {lags} {self}"),
            PastUse::Past => format!("their past at {lags} {self}"),
            PastUse::Apart if self.lags.len() == 1 => format!("differences at {lags} {self}"),
            PastUse::Apart => format!("differences at {lags} {self}, a model each"),
        }
    }

    /// One lag, of one sample to the longest.
    #[must_use]
    pub fn one(lag: u32) -> Self {
        Self { lags: vec![lag.clamp(1, Self::LONGEST)], seen: PastUse::Differences }
    }

    /// The lags.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.lags
    }

    /// Returns whether samples stay as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lags.is_empty()
    }

    /// Lags of at most `most` samples.
    pub fn up_to(&self, most: usize) -> Self {
        let lags = self.lags.iter().copied().take_while(|&lag| lag as usize <= most).collect();
        Self { lags, seen: self.seen }
    }

    /// Samples that are kept: the longest lag.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.lags.last().map_or(0, |&lag| lag as usize)
    }

    /// Numbers in a row made of `channels` channels.
    #[must_use]
    pub fn width(&self, channels: usize) -> usize {
        channels * (1 + self.lags.len())
    }

    /// Kind of the rows, by names: channels, then their differences lag by lag. Symbols stay as they are.
    #[must_use]
    pub fn kind(&self, kind: &Kind) -> Kind {
        let Kind::Channels(names) = kind else { return kind.clone() };
        let less = if self.is_past() { "" } else { "less that " };
        let past = self
            .lags
            .iter()
            .flat_map(|lag| names.iter().map(move |name| format!("{name} {less}{lag} before")));
        Kind::Channels(names.iter().cloned().chain(past).collect())
    }

    /// A series, or a window, with its past or differences from it beside its channels. A difference from or of a missing
    /// channel is missing, and so is a missing past. What came before it is
    /// not looked at, as a device that begins there does not: where the past is wanted, samples without it are
    /// missing. Symbols stay what they are.
    #[must_use]
    pub fn widen<'a>(&self, samples: SamplesView<'a>) -> Widened<'a> {
        let rows = match samples.rows() {
            Some(rows) if !self.is_empty() => rows,
            _ => return Widened::As(samples),
        };
        let mut ring = Ring::new(self.clone(), rows.dimension());
        let mut wide = Rows::new(self.width(rows.dimension()));
        for row in rows.iter_in_part() {
            wide.push(row.and_then(|row| ring.widen(row)));
            match row {
                Some(row) => ring.take(row),
                None => ring.take_missing(),
            }
        }
        Widened::Made(Samples::Channels(wide))
    }
}

impl TryFrom<LagsForm> for Lags {
    type Error = LagError;
    fn try_from(written: LagsForm) -> Result<Self, LagError> {
        match written {
            LagsForm::Differences(lags) => Self::new(lags),
            LagsForm::Past { past } => Ok(Self::new(past)?.of_past()),
            LagsForm::Apart { each_lag } => Ok(Self::new(each_lag)?.apart()),
        }
    }
}

impl From<Lags> for LagsForm {
    fn from(Lags { lags, seen }: Lags) -> Self {
        match seen {
            PastUse::Differences => Self::Differences(lags),
            PastUse::Past => Self::Past { past: lags },
            PastUse::Apart => Self::Apart { each_lag: lags },
        }
    }
}

/// `none`, or lags parted by commas.
impl FromStr for Lags {
    type Err = LagError;
    fn from_str(text: &str) -> Result<Self, LagError> {
        if text == "none" {
            return Ok(Self::NONE);
        }
        let lag = |text: &str| text.parse().map_err(|_| LagError::NotALag(text.to_owned()));
        Self::new(text.split(',').map(lag).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Lags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let lags: Vec<String> = self.lags.iter().map(u32::to_string).collect();
        f.write_str(&lags.join(","))
    }
}

/// Samples with differences as further channels, or unchanged.
#[derive(Clone, Debug)]
pub enum Widened<'a> {
    /// Samples without lags.
    As(SamplesView<'a>),
    /// Samples with the differences.
    Made(Samples),
}

impl Widened<'_> {
    /// The whole, borrowed.
    #[must_use]
    pub fn view(&self) -> SamplesView<'_> {
        match self {
            Self::As(view) => *view,
            Self::Made(samples) => samples.view(),
        }
    }
}

/// The last samples of a stream, at run-time sizes: the core's ring over vectors.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    lags: Lags,
    past: Vec<Vec<T>>,
    place: RingIndex,
    row: Vec<T>,
}

impl<T: Channel> Ring<T> {
    /// State before the first sample of `channels` channels.
    pub fn new(lags: Lags, channels: usize) -> Self {
        let past = vec![vec![T::BLANK; channels]; lags.depth()];
        let row = vec![T::BLANK; lags.width(channels)];
        Self { lags, past, place: RingIndex::NEW, row }
    }

    /// A sample with its past or differences from it; `None` where the past is wanted and is not whole.
    pub fn widen(&mut self, x: &[T]) -> Option<&[T]> {
        let past = self.lags.is_past();
        if past && !self.place.is_full(self.past.len()) {
            return None;
        }
        self.place.write_row(self.lags.as_slice(), past, &self.past, x, &mut self.row);
        Some(&self.row)
    }

    /// Takes in a sample.
    pub fn take(&mut self, x: &[T]) {
        self.place.take(&mut self.past, x);
    }

    /// Takes in one that was not observed.
    pub fn take_missing(&mut self) {
        if self.lags.is_past() {
            return self.reset();
        }
        self.place.take_missing(&mut self.past);
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.place = RingIndex::NEW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(samples: &[Option<[f64; 1]>]) -> Samples {
        let mut rows = Rows::new(1);
        samples.iter().for_each(|row| rows.push(row.as_ref().map(|row| &row[..])));
        Samples::Channels(rows)
    }

    /// The definition, sample by sample: what is missing is the last that was there, and before the first
    /// lies the first.
    #[test]
    fn differences_are_from_what_was_there() {
        let series = [None, Some([2.0]), Some([5.0]), None, Some([9.0]), Some([4.0])];
        let held = [2.0, 2.0, 5.0, 5.0, 9.0, 4.0];
        let lags = Lags::new(vec![1, 2, 4]).expect("rising");
        let samples = rows(&series);
        let wide = lags.widen(samples.view());
        let wide = wide.view().rows().expect("channels");
        assert_eq!(wide.dimension(), 4);
        for (t, row) in wide.iter().enumerate() {
            let expected = series[t].map(|[x]| {
                let before = |lag: usize| x - held[t.saturating_sub(lag)];
                [x, before(1), before(2), before(4)]
            });
            assert_eq!(row, expected.as_ref().map(|row| &row[..]), "{t}");
        }
        let second = lags.widen(samples.view().slice(4..6));
        let second = second.view().rows().expect("channels");
        assert_eq!(second.row(0), Some(&[9.0, 0.0, 0.0, 0.0][..]), "nothing came before");
    }

    #[test]
    fn lags_rise_and_read_back() {
        for text in ["none", "1", "1,2,4", "3,4096"] {
            assert_eq!(text.parse::<Lags>().expect("lags").to_string(), text);
        }
        assert_eq!(Lags::dyadic(9).as_slice(), [1, 2, 4, 8]);
        for lags in [Lags::one(3), Lags::order(2), Lags::dyadic(4).apart()] {
            let text = serde_json::to_string(&lags).expect("text");
            assert_eq!(serde_json::from_str::<Lags>(&text).expect("lags"), lags, "{text}");
        }
        serde_json::from_str::<Lags>("{\"past\":[2,1]}").expect_err("they rise");
        for refused in ["", "0", "2,1", "1,1", "4097", "1,x", "-1"] {
            refused.parse::<Lags>().expect_err(refused);
        }
    }
}
