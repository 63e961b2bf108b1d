//! Front ends, which turn a sensor's samples into the rows that models see: the core's, over whole series.

mod placed;
mod quantiser;
mod stream;

use std::fmt;
use std::num::IntErrorKind;
use std::str::FromStr;

use fishweir_core::front::LONGEST_SLOPE;
use serde::{Deserialize, Serialize};

use super::{Kind, Lags, SamplesView};

pub use placed::{FrontEnd, PlacedStage};
pub use quantiser::VectorQuantiser;
pub use stream::{FrontOutput, FrontStream};

/// The stages that samples go through before models see them, in order: see the core's
/// [`front`](fishweir_core::front). Without any, models see samples as they are.
///
/// ```
/// use fishweir_data::Front;
///
/// let front: Front = "magnitude=ax+ay+az,decimate=4".parse()?;
/// assert_eq!(front.stages().len(), 2);
/// assert_eq!(front.to_string(), "magnitude=ax+ay+az,decimate=4");
/// # Ok::<(), fishweir_data::FrontError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Front(Vec<Stage>);

/// One stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Stage {
    /// Each row is the mean of this number of samples.
    Decimate(u32),
    /// Some channels become their Euclidean norm, the others pass.
    Magnitude(Vec<String>),
    /// The channels, and the slope of each over this number of samples.
    Slopes(u32),
    /// Mel cepstra of a sound.
    Cepstra(Mel),
    /// A symbol: the index of the nearest of this number of code words, which training learns.
    Symbols(u32),
    /// A symbol by code words that were learnt.
    Words(VectorQuantiser),
}

/// The settings of mel cepstra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mel {
    /// Samples of a frame: 128, 256, 512 or 1024.
    pub window: u32,
    /// Samples from a frame's beginning to the next one's.
    pub hop: u32,
    /// Bands of the mel scale.
    pub bands: u32,
    /// Cepstra of a row; 0 if the bands' log energies are the row.
    pub cepstra: u32,
    /// Samples per second.
    pub rate: f64,
}

/// Reason why a front end was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FrontError {
    /// An unknown stage.
    #[error(
        "`{0}` is not a stage of a front end: decimate=SAMPLES, magnitude=CHANNEL+CHANNEL, slopes=SAMPLES, \
         cepstra=WINDOW/HOP/BANDS/CEPSTRA@RATE, bands=WINDOW/HOP/BANDS@RATE or symbols=COUNT"
    )]
    NotAStage(String),
    /// Means of too few samples, or too many.
    #[error("decimate={0}: the mean is over 2 to {most} samples", most = Front::LONGEST)]
    #[strum(serialize = "bad-decimation")]
    Every(String),
    /// Slopes over too few samples, or too many.
    #[error("slopes={0}: a slope is over 2 to {LONGEST_SLOPE} samples")]
    #[strum(serialize = "bad-slopes")]
    Over(String),
    /// Slopes of channels that have slopes already.
    #[error("{0}: there are slopes already; a front end can have one stage of them")]
    SlopesAgain(Stage),
    /// A norm of too few channels.
    #[error(
        "magnitude={0}: name two or more channels, each once, as ax+ay+az; names cannot contain +"
    )]
    #[strum(serialize = "bad-magnitude")]
    Group(String),
    /// A norm of a channel that does not exist.
    #[error("magnitude of {0}: there is no such channel, only {1}")]
    #[strum(serialize = "unknown-channel")]
    NoChannel(String, String),
    /// A frame that there is no transform of, or a hop that passes samples over.
    #[error("{0}: a window has 128, 256, 512 or 1024 samples, and the hop is from 1 to the window")]
    #[strum(serialize = "bad-frame")]
    Window(Stage),
    /// More bands or cepstra than a frame allows.
    #[error("{0}: there can be 1 to 128 bands, and no more cepstra than bands")]
    #[strum(serialize = "bad-bands")]
    Bands(Stage),
    /// Bands too narrow for their frame.
    #[error(
        "{0}: no frequency of the transform is in band {1}: take fewer bands, or a longer window"
    )]
    EmptyBand(Stage, usize),
    /// An invalid rate.
    #[error("{0}: the rate is in samples per second, above zero")]
    #[strum(serialize = "bad-rate")]
    Rate(Stage),
    /// Not exactly one channel.
    #[error("{0} needs one channel, and there are {1} ({2})")]
    NotOneChannel(Stage, usize, String),
    /// Too few symbols, or too many.
    #[error("symbols={0}: the number must be 2 to 64")]
    #[strum(serialize = "bad-symbols")]
    Words(String),
    /// Invalid code words.
    #[error(
        "symbols={0}: give a number, or weights above zero and 2 to 64 centres of as many numbers, as W/W;C/C;C/C"
    )]
    #[strum(serialize = "bad-symbols")]
    NotWords(String),
    /// Words of other channels than there are.
    #[error("the centres have {words} numbers, and there are {channels} channels ({names})")]
    #[strum(serialize = "wrong-channels")]
    WordsOf {
        /// Channels of the words.
        words: usize,
        /// Channels that there are.
        channels: usize,
        /// Names of the channels.
        names: String,
    },
    /// A stage after symbols.
    #[error("{0}: symbols must be the last stage")]
    AfterSymbols(Stage),
    /// Fewer different rows than words.
    #[error(
        "symbols={words}: the training samples have only {rows} different rows; take no more symbols than that"
    )]
    FewRows {
        /// Words asked for.
        words: usize,
        /// Different rows there are.
        rows: usize,
    },
    /// Symbols, which have no front end.
    #[error("a front end needs real channels, and these are symbols: leave the front end out")]
    #[strum(serialize = "front-of-symbols")]
    Symbols,
}

crate::kinds!(FrontError);

impl Front {
    /// Samples as they are.
    pub const NONE: Self = Self(Vec::new());
    /// The most samples of a mean.
    pub const LONGEST: u32 = 65_536;

    /// Stages in order.
    #[must_use]
    pub fn of(stages: Vec<Stage>) -> Self {
        Self(stages)
    }

    /// The stages, in order.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.0
    }

    /// Returns whether models see samples as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Describes the rows, one stage after another.
    #[must_use]
    pub fn words(&self) -> String {
        let words: Vec<String> = self.0.iter().map(Stage::words).collect();
        words.join(", then ")
    }
}

impl Front {
    /// Returns whether only the magnitude of some channels is left.
    pub fn takes_magnitude_of(&self, channels: &[String]) -> bool {
        self.0.iter().any(|stage| match stage {
            Stage::Magnitude(group) => {
                group.len() == channels.len() && channels.iter().all(|name| group.contains(name))
            }
            _ => false,
        })
    }

    /// The rate in hertz that samples have by the settings of its mel bands; `None` without such a stage.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let mut samples = 1.0;
        for stage in &self.0 {
            match stage {
                Stage::Decimate(every) => samples *= f64::from(*every),
                Stage::Cepstra(mel) => return Some(samples * mel.rate),
                _ => {}
            }
        }
        None
    }

    /// Returns whether models receive symbols.
    #[must_use]
    pub fn makes_symbols(&self) -> bool {
        self.0.last().is_some_and(Stage::makes_symbols)
    }

    /// Kind of the models' input, for samples of a kind.
    ///
    /// # Errors
    /// [`FrontError`] naming the stage that does not fit, and why.
    pub fn kind(&self, kind: &Kind) -> Result<Kind, FrontError> {
        Ok(self.over(kind)?.kind(kind))
    }

    /// Learns the words of its symbols from some series, unless they are there: see [`VectorQuantiser`].
    ///
    /// # Errors
    /// [`FrontError`] where a stage does not fit, or the series have too few samples for as many words.
    pub fn learnt(
        &self,
        kind: &Kind,
        series: &[SamplesView<'_>],
        seed: u64,
    ) -> Result<Self, FrontError> {
        let Some((&Stage::Symbols(count), before)) = self.0.split_last() else {
            return Ok(self.clone());
        };
        // Refused by name where a stage does not fit.
        self.over(kind)?;
        let front = Self(before.to_vec()).over(kind)?;
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for samples in series {
            let seen = front.widen(*samples, &Lags::NONE);
            let seen = seen.view();
            rows.extend(
                seen.rows().into_iter().flat_map(|all| all.iter().flatten()).map(<[f64]>::to_vec),
            );
        }
        let words = count as usize;
        let quantiser = VectorQuantiser::learn(&rows, words, seed)
            .map_err(|rows| FrontError::FewRows { words, rows })?;
        let learnt = before.iter().cloned().chain([Stage::Words(quantiser)]);
        Ok(Self(learnt.collect()))
    }
}

impl Stage {
    /// Returns whether it makes symbols, after which no stage comes.
    #[must_use]
    pub fn makes_symbols(&self) -> bool {
        matches!(self, Self::Symbols(_) | Self::Words(_))
    }

    /// Describes the output of the stage.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Decimate(every) => format!("means of {every} samples"),
            Self::Magnitude(names) => format!("the magnitude of {}", names.join(", ")),
            Self::Slopes(samples) => format!("channels and their slopes over {samples} samples"),
            Self::Cepstra(Mel { window, hop, bands, cepstra: 0, rate }) => format!(
                "log energies of {bands} mel bands over {window} samples every {hop} at {rate} Hz"
            ),
            Self::Cepstra(Mel { window, hop, bands, cepstra, rate }) => format!(
                "{cepstra} cepstra of {bands} mel bands over {window} samples every {hop} at {rate} Hz"
            ),
            Self::Symbols(words) => format!("the nearest of {words} words"),
            Self::Words(quantiser) => format!("the nearest of {} words", quantiser.words().len()),
        }
    }

    /// Returns whether it is a spectrum of sound, which the core has under its feature `microfft`.
    #[must_use]
    pub fn is_of_sound(&self) -> bool {
        matches!(self, Self::Cepstra(_))
    }

    fn check(self) -> Result<Self, FrontError> {
        match &self {
            Self::Decimate(every) if !(2..=Front::LONGEST).contains(every) => {
                Err(FrontError::Every(every.to_string()))
            }
            Self::Slopes(samples) if !(2..=LONGEST_SLOPE as u32).contains(samples) => {
                Err(FrontError::Over(samples.to_string()))
            }
            Self::Magnitude(names) => {
                let twice = |(at, name): (usize, &String)| names[..at].contains(name);
                let bad = names.len() < 2
                    || names.iter().any(String::is_empty)
                    || names.iter().enumerate().any(twice);
                if bad { Err(FrontError::Group(names.join("+"))) } else { Ok(self) }
            }
            Self::Cepstra(mel) => {
                if !([128, 256, 512, 1024].contains(&mel.window)
                    && (1..=mel.window).contains(&mel.hop))
                {
                    return Err(FrontError::Window(self));
                }
                if !((1..=128).contains(&mel.bands) && mel.cepstra <= mel.bands) {
                    return Err(FrontError::Bands(self));
                }
                if !(mel.rate.is_finite() && mel.rate > 0.0) {
                    return Err(FrontError::Rate(self));
                }
                Ok(self)
            }
            Self::Symbols(words) if !VectorQuantiser::WORDS.contains(&(*words as usize)) => {
                Err(FrontError::Words(words.to_string()))
            }
            Self::Decimate(_) | Self::Slopes(_) | Self::Symbols(_) | Self::Words(_) => Ok(self),
        }
    }
}

impl FromStr for Stage {
    type Err = FrontError;
    fn from_str(text: &str) -> Result<Self, FrontError> {
        let none = || FrontError::NotAStage(text.to_owned());
        let (name, settings) = text.split_once('=').ok_or_else(none)?;
        // A number too large for its type is reported as out of range.
        let count = |out_of_range: fn(String) -> FrontError, other: FrontError| {
            settings.parse::<u32>().map_err(|error| match error.kind() {
                IntErrorKind::PosOverflow => out_of_range(settings.to_owned()),
                _ => other,
            })
        };
        let stage = match name {
            "decimate" => Self::Decimate(count(FrontError::Every, none())?),
            "slopes" => Self::Slopes(count(FrontError::Over, none())?),
            "magnitude" => Self::Magnitude(settings.split('+').map(str::to_owned).collect()),
            "cepstra" | "bands" => {
                let (sizes, rate) = settings.split_once('@').ok_or_else(none)?;
                let rate = rate.parse().map_err(|_| none())?;
                let sizes: Result<Vec<u32>, _> = sizes.split('/').map(str::parse).collect();
                let [window, hop, bands, cepstra] =
                    match (name, sizes.map_err(|_| none())?.as_slice()) {
                        ("bands", &[window, hop, bands]) => [window, hop, bands, 0],
                        ("cepstra", &[window, hop, bands, cepstra]) if cepstra > 0 => {
                            [window, hop, bands, cepstra]
                        }
                        _ => return Err(none()),
                    };
                Self::Cepstra(Mel { window, hop, bands, cepstra, rate })
            }
            "symbols" if settings.contains(';') => match VectorQuantiser::parse(settings) {
                Some(quantiser) => Self::Words(quantiser),
                None => return Err(FrontError::NotWords(settings.to_owned())),
            },
            "symbols" => {
                let other = FrontError::NotWords(settings.to_owned());
                Self::Symbols(count(FrontError::Words, other)?)
            }
            _ => return Err(none()),
        };
        stage.check()
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimate(every) => write!(f, "decimate={every}"),
            Self::Slopes(samples) => write!(f, "slopes={samples}"),
            Self::Magnitude(names) => write!(f, "magnitude={}", names.join("+")),
            Self::Cepstra(Mel { window, hop, bands, cepstra: 0, rate }) => {
                write!(f, "bands={window}/{hop}/{bands}@{rate}")
            }
            Self::Cepstra(Mel { window, hop, bands, cepstra, rate }) => {
                write!(f, "cepstra={window}/{hop}/{bands}/{cepstra}@{rate}")
            }
            Self::Symbols(words) => write!(f, "symbols={words}"),
            Self::Words(quantiser) => write!(f, "symbols={quantiser}"),
        }
    }
}

impl TryFrom<String> for Stage {
    type Error = FrontError;
    fn try_from(text: String) -> Result<Self, FrontError> {
        text.parse()
    }
}

impl From<Stage> for String {
    fn from(stage: Stage) -> Self {
        stage.to_string()
    }
}

/// Stages parted by commas.
impl FromStr for Front {
    type Err = FrontError;
    fn from_str(text: &str) -> Result<Self, FrontError> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stages: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&stages.join(","))
    }
}

#[cfg(test)]
mod tests;
