//! A front end over channels of some names: its sizes, its tables, its cost.

use fishweir_core::front::mel::{cosines, hamming, triangles};
use fishweir_core::{ErrorKind, ModelError};

use super::{Front, FrontError, Mel, Stage, VectorQuantiser};
use crate::{Alphabet, Kind};

/// A [`Front`] over channels of some names, and the lags behind it: the input of the models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontEnd {
    front: Front,
    stages: Vec<PlacedStage>,
    /// The names of its rows' channels; empty without a stage.
    names: Vec<String>,
}

/// A stage over channels.
#[derive(Clone, Debug, PartialEq)]
pub enum PlacedStage {
    /// Means of samples in a row.
    Decimate {
        /// Number of samples of a mean.
        every: u32,
        /// Number of channels.
        channels: usize,
    },
    /// Norm of the marked channels.
    Magnitude {
        /// Whether a channel is one of them.
        group: Vec<bool>,
    },
    /// Slopes of each channel.
    Slopes {
        /// Number of samples before and after that a slope is of.
        samples: u32,
        /// Number of channels.
        channels: usize,
    },
    /// Mel cepstra of sound.
    Cepstra(Box<MelPlaced>),
    /// Words that are learnt, or blank before.
    Symbols(VectorQuantiser),
}

/// Mel cepstra with their tables.
#[derive(Clone, Debug, PartialEq)]
pub struct MelPlaced {
    pub mel: Mel,
    pub window: Vec<f32>,
    pub rises: Vec<f32>,
    pub segments: Vec<u8>,
    pub cosines: Vec<Vec<f32>>,
}

/// Cost of a stage on a device.
struct Taken {
    /// Bytes of flash, and their alignment.
    flash: usize,
    aligned: usize,
    /// Bytes of RAM.
    ram: usize,
    /// Multiply-adds one of its own samples, on average.
    work: f64,
}

impl Front {
    /// The stages over channels.
    ///
    /// # Errors
    /// [`FrontError`] naming the stage that does not fit, and why.
    pub fn over(&self, kind: &Kind) -> Result<FrontEnd, FrontError> {
        let mut names = match kind {
            Kind::Channels(names) => names.clone(),
            Kind::Symbols(_) if self.is_empty() => Vec::new(),
            Kind::Symbols(_) => return Err(FrontError::Symbols),
        };
        let mut symbols = self.stages().iter().skip_while(|stage| !stage.makes_symbols()).skip(1);
        if let Some(stage) = symbols.next() {
            return Err(FrontError::AfterSymbols(stage.clone()));
        }
        // Each would double the channels, and give two of them one name.
        let mut slopes = self.stages().iter().filter(|stage| matches!(stage, Stage::Slopes(_)));
        if let Some(stage) = slopes.nth(1) {
            return Err(FrontError::SlopesAgain(stage.clone()));
        }
        let stages = self.stages().iter().map(|stage| PlacedStage::of(stage, &mut names));
        let stages = stages.collect::<Result<_, _>>()?;
        Ok(FrontEnd { front: self.clone(), stages, names })
    }
}

impl PlacedStage {
    /// Places a stage over channels, whose names become those of its rows.
    fn of(stage: &Stage, names: &mut Vec<String>) -> Result<Self, FrontError> {
        match stage {
            Stage::Decimate(every) => Ok(Self::Decimate { every: *every, channels: names.len() }),
            Stage::Magnitude(group) => {
                if let Some(none) = group.iter().find(|name| !names.contains(name)) {
                    return Err(FrontError::NoChannel(none.clone(), names.join(", ")));
                }
                let within: Vec<bool> = names.iter().map(|name| group.contains(name)).collect();
                let mut norm = Some(format!("|{}|", group.join("+")));
                let kept = names.drain(..).zip(&within);
                *names = kept
                    .filter_map(|(name, &within)| if within { norm.take() } else { Some(name) })
                    .collect();
                Ok(Self::Magnitude { group: within })
            }
            Stage::Slopes(samples) => {
                let channels = names.len();
                names.extend_from_within(..);
                names[channels..].iter_mut().for_each(|name| *name = format!("slope of {name}"));
                Ok(Self::Slopes { samples: *samples, channels })
            }
            Stage::Cepstra(mel) => {
                if names.len() != 1 {
                    let all = names.join(", ");
                    return Err(FrontError::NotOneChannel(stage.clone(), names.len(), all));
                }
                let (what, count) = match mel.cepstra {
                    0 => ("band", mel.bands),
                    some => ("cepstrum", some),
                };
                *names = (0..count).map(|entry| format!("{what} {entry}")).collect();
                let of_rate = |error: ModelError| match error.kind {
                    ErrorKind::Inconsistent => FrontError::EmptyBand(stage.clone(), error.row),
                    _ => FrontError::Rate(stage.clone()),
                };
                MelPlaced::new(*mel).map_err(of_rate).map(|one| Self::Cepstra(Box::new(one)))
            }
            Stage::Symbols(words) => {
                Ok(Self::Symbols(VectorQuantiser::blank(*words as usize, names.len())))
            }
            Stage::Words(quantiser) if quantiser.weights().len() == names.len() => {
                Ok(Self::Symbols(quantiser.clone()))
            }
            Stage::Words(quantiser) => Err(FrontError::WordsOf {
                words: quantiser.weights().len(),
                channels: names.len(),
                names: names.join(", "),
            }),
        }
    }

    /// Numbers in one of its rows, or how many symbols there are.
    pub fn width(&self) -> usize {
        match self {
            Self::Decimate { channels, .. } => *channels,
            Self::Magnitude { group } => 1 + group.iter().filter(|&&within| !within).count(),
            Self::Slopes { channels, .. } => 2 * channels,
            Self::Cepstra(one) => one.width(),
            Self::Symbols(quantiser) => quantiser.words().len(),
        }
    }

    /// Number of samples that `rows` rows take.
    fn samples(&self, rows: usize) -> usize {
        match self {
            Self::Decimate { every, .. } => rows.saturating_mul(*every as usize),
            Self::Magnitude { .. } | Self::Slopes { .. } | Self::Symbols(_) => rows,
            Self::Cepstra(one) => {
                let hops = rows.saturating_sub(1).saturating_mul(one.mel.hop as usize);
                hops.saturating_add(one.mel.window as usize)
            }
        }
    }

    /// Samples from a row to the next.
    fn every(&self) -> usize {
        self.samples(2) - self.samples(1)
    }

    /// Cost on a device.
    fn taken(&self) -> Taken {
        match self {
            Self::Decimate { channels, .. } => {
                Taken { flash: 4, aligned: 4, ram: 4 * channels + 8, work: *channels as f64 }
            }
            Self::Magnitude { group } => {
                Taken { flash: group.len(), aligned: 1, ram: 0, work: group.len() as f64 }
            }
            Self::Slopes { samples, channels } => {
                let numbers = (*samples as usize - 1) * channels;
                Taken { flash: 0, aligned: 1, ram: 4 * numbers + 8, work: numbers as f64 }
            }
            Self::Cepstra(one) => {
                let Mel { window, hop, bands, cepstra, .. } = one.mel;
                let (w, b, c) = (window as usize, bands as usize, cepstra as usize);
                let flash = 4 + 4 * w + 2 * w + 4 * b * c + w / 2;
                let row = 2 * w * window.ilog2() as usize + 3 * w + b * c;
                let work = row as f64 / f64::from(hop);
                Taken { flash: flash.next_multiple_of(4), aligned: 4, ram: 4 * w + 12, work }
            }
            Self::Symbols(quantiser) => {
                let (words, channels) = (quantiser.words().len(), quantiser.weights().len());
                let work = (2 * words * channels) as f64;
                Taken { flash: 4 * channels * (1 + words), aligned: 4, ram: 0, work }
            }
        }
    }
}

impl MelPlaced {
    fn new(mel: Mel) -> Result<Self, ModelError> {
        let (window, bands) = (mel.window as usize, mel.bands as usize);
        let mut made = Self {
            mel,
            window: vec![0.0; window],
            rises: vec![0.0; window / 2],
            segments: vec![0; window / 2],
            cosines: vec![vec![0.0; bands]; mel.cepstra as usize],
        };
        hamming(&mut made.window);
        triangles(mel.rate, bands, &mut made.rises, &mut made.segments)?;
        made.cosines.iter_mut().enumerate().for_each(|(q, row)| cosines(q, row));
        Ok(made)
    }

    /// Numbers in a row.
    pub fn width(&self) -> usize {
        let Mel { bands, cepstra, .. } = self.mel;
        (if cepstra == 0 { bands } else { cepstra }) as usize
    }
}

impl FrontEnd {
    /// Front end that it was made from.
    pub fn front(&self) -> &Front {
        &self.front
    }

    /// Stages of the front end.
    pub fn stages(&self) -> &[PlacedStage] {
        &self.stages
    }

    /// Returns whether samples stay as they are.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Returns whether models receive symbols.
    pub fn makes_symbols(&self) -> bool {
        matches!(self.stages.last(), Some(PlacedStage::Symbols(_)))
    }

    /// Numbers in a row made of `channels` channels, or number of symbols.
    pub fn width(&self, channels: usize) -> usize {
        self.stages.last().map_or(channels, PlacedStage::width)
    }

    /// Kind of the rows, by names. Symbols stay as they are.
    pub fn kind(&self, kind: &Kind) -> Kind {
        match kind {
            Kind::Channels(_) if self.makes_symbols() => {
                let letters: String =
                    VectorQuantiser::LETTERS.chars().take(self.width(self.names.len())).collect();
                // Letters that differ and show are an alphabet.
                Alphabet::new(&letters).map_or_else(|_| kind.clone(), Kind::Symbols)
            }
            Kind::Channels(_) if !self.is_empty() => Kind::Channels(self.names.clone()),
            other => other.clone(),
        }
    }

    /// The samples that the first row takes.
    pub fn first(&self) -> usize {
        self.samples(1)
    }

    /// Number of samples that `rows` rows take.
    pub fn samples(&self, rows: usize) -> usize {
        self.stages.iter().rev().fold(rows, |rows, stage| stage.samples(rows))
    }

    /// Number of rows that `samples` samples make.
    pub fn rows(&self, samples: usize) -> usize {
        samples.checked_sub(self.first()).map_or(0, |left| 1 + left / self.every())
    }

    /// The samples from a row to the next.
    pub fn every(&self) -> usize {
        self.stages.iter().map(PlacedStage::every).fold(1, usize::saturating_mul)
    }

    /// Offset of each stage in flash, in bytes, and their end.
    ///
    /// The stages up to each one are a value of their own, with the largest alignment among them.
    pub fn layout(&self) -> (Vec<usize>, usize) {
        let (mut end, mut aligned) = (0_usize, 1);
        let begin = |stage: &PlacedStage| {
            let taken = stage.taken();
            aligned = aligned.max(taken.aligned);
            let at = end.next_multiple_of(aligned);
            end = (at + taken.flash).next_multiple_of(aligned);
            at
        };
        (self.stages.iter().map(begin).collect(), end)
    }

    /// Bytes of flash and of RAM, and multiply-adds per sample.
    pub fn cost(&self) -> (usize, usize, usize) {
        let (mut ram, mut work, mut apart) = (0, 0.0, 1);
        for stage in &self.stages {
            let taken = stage.taken();
            ram += taken.ram;
            work += taken.work / apart as f64;
            apart = usize::saturating_mul(apart, stage.every());
        }
        // Beside a state that 64-bit exponents align.
        (self.layout().1, ram.next_multiple_of(8), work.ceil() as usize)
    }
}
