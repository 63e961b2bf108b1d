//! A stream through a front end, at run-time sizes: the core's arithmetic over vectors.

use fishweir_core::ObservationError;
use fishweir_core::front::{
    FrameState, MeanState, MelTables, Step, nearest_word, norm_of_group, or_missing,
};
use fishweir_core::lagged::RingIndex;
use fishweir_core::number::Real;

use super::FrontEnd;
use super::placed::{MelPlaced, PlacedStage};
use crate::lags::{Lags, Widened};
use crate::samples::{Rows, Samples, SamplesView};

/// Input of the models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrontOutput<'a, T> {
    /// A row of numbers.
    Row(&'a [T]),
    /// The number of a word.
    Symbol(u16),
    /// One that is missing.
    Missing,
}

impl<'a, T> FrontOutput<'a, T> {
    /// The row, if it is one.
    pub fn row(self) -> Option<&'a [T]> {
        if let Self::Row(row) = self { Some(row) } else { None }
    }

    /// The symbol, if it is one.
    pub fn symbol(self) -> Option<u16> {
        if let Self::Symbol(symbol) = self { Some(symbol) } else { None }
    }
}

/// Callback for each complete row.
type Hear<'h, T> = &'h mut dyn FnMut(FrontOutput<'_, T>);

/// The stages of a front end and their states.
#[derive(Clone, Debug)]
pub struct FrontStream<T> {
    stages: Vec<State<T>>,
}

#[derive(Clone, Debug)]
enum State<T> {
    Decimate { every: u32, sum: Vec<T>, place: MeanState, row: Vec<T> },
    Magnitude { group: Vec<bool>, row: Vec<T> },
    Slopes { ring: Vec<Vec<T>>, place: RingIndex, row: Vec<T> },
    Cepstra(Box<MelState<T>>),
    Symbols { weights: Vec<T>, words: Vec<Vec<T>> },
}

#[derive(Clone, Debug)]
struct MelState<T> {
    of: MelPlaced,
    ring: Vec<f32>,
    place: FrameState,
    frame: Vec<f32>,
    bands: Vec<f32>,
    made: Vec<f32>,
    row: Vec<T>,
}

impl<T: Real> FrontStream<T> {
    /// State before the first sample.
    pub fn new(front: &FrontEnd) -> Self {
        Self { stages: front.stages().iter().map(State::of).collect() }
    }

    /// Takes in one sample, `None` for a missing one, and passes on a row that it completes.
    ///
    /// # Errors
    /// An invalid sample, or one that completes a row which is invalid for a later stage: it is missing there.
    pub fn push(&mut self, x: Option<&[T]>, hear: Hear<'_, T>) -> Result<(), ObservationError> {
        through(&mut self.stages, x, hear)
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.stages.iter_mut().for_each(State::reset);
    }
}

/// Pushes a row through the stages, as the core's chains do.
fn through<T: Real>(
    stages: &mut [State<T>],
    x: Option<&[T]>,
    hear: Hear<'_, T>,
) -> Result<(), ObservationError> {
    let Some((first, rest)) = stages.split_first_mut() else {
        hear(x.map_or(FrontOutput::Missing, FrontOutput::Row));
        return Ok(());
    };
    let mut tell = |step, row: &[T]| match step {
        Step::Within => Ok(()),
        Step::Row => through(rest, Some(row), hear),
        Step::Missing => through(rest, None, hear),
    };
    let (refused, told);
    match first {
        State::Decimate { every, sum, place, row } => {
            let (x, step, error) = or_missing(x, |x| place.mean(*every, sum, x, row));
            (refused, told) = (error, tell(step, row));
            place.take(*every, sum, x);
        }
        State::Magnitude { group, row } => {
            refused = x.map_or(Ok(()), |x| norm_of_group(group.iter().copied(), x, row));
            let whole = x.is_some() && refused.is_ok();
            told = tell(if whole { Step::Row } else { Step::Missing }, row);
        }
        State::Slopes { ring, place, row } => {
            refused = x.map_or(Ok(()), |x| place.with_slopes(ring, x, row));
            let x = x.filter(|_| refused.is_ok());
            told = tell(if x.is_some() { Step::Row } else { Step::Missing }, row);
            match x {
                Some(x) => place.take(ring, x),
                None => place.take_missing(ring),
            }
        }
        State::Cepstra(state) => {
            let x = x.and_then(<[T]>::first).map(|x| x.to_f64() as f32);
            let (x, step, error) = or_missing(x, |x| state.place.step(state.ring.len(), x));
            if step == Step::Row {
                state.make(x.unwrap_or(0.0));
            }
            (refused, told) = (error, tell(step, &state.row));
            state.place.take(state.of.mel.hop, &mut state.ring, x);
        }
        State::Symbols { weights, words } => {
            let words = words.iter().map(Vec::as_slice);
            let symbol = x.map(|x| nearest_word(weights, words, x)).transpose();
            (refused, told) = (symbol.map(drop), Ok(()));
            // The last stage, and no more words than there are letters.
            let symbol = symbol.ok().flatten().and_then(|symbol| u16::try_from(symbol).ok());
            hear(symbol.map_or(FrontOutput::Missing, FrontOutput::Symbol));
        }
    }
    refused.and(told)
}

impl<T: Real> State<T> {
    fn of(stage: &PlacedStage) -> Self {
        let row = vec![T::ZERO; stage.width()];
        let reals = |numbers: &[f32]| numbers.iter().map(|&x| T::from_f64(x.into())).collect();
        match stage {
            PlacedStage::Symbols(quantiser) => Self::Symbols {
                weights: reals(quantiser.weights()),
                words: quantiser.words().iter().map(|word| reals(word)).collect(),
            },
            PlacedStage::Decimate { every, .. } => {
                Self::Decimate { every: *every, sum: row.clone(), place: MeanState::NEW, row }
            }
            PlacedStage::Magnitude { group } => Self::Magnitude { group: group.clone(), row },
            PlacedStage::Slopes { samples, channels } => {
                let ring = vec![vec![T::ZERO; *channels]; *samples as usize - 1];
                Self::Slopes { ring, place: RingIndex::NEW, row }
            }
            PlacedStage::Cepstra(one) => Self::Cepstra(Box::new(MelState {
                ring: vec![0.0; one.window.len()],
                place: FrameState::new(one.window.len()),
                frame: vec![0.0; one.window.len()],
                bands: vec![0.0; one.mel.bands as usize],
                made: vec![0.0; one.width()],
                of: MelPlaced::clone(one),
                row,
            })),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Decimate { sum, place, .. } => {
                sum.fill(T::ZERO);
                *place = MeanState::NEW;
            }
            Self::Slopes { place, .. } => *place = RingIndex::NEW,
            Self::Magnitude { .. } | Self::Symbols { .. } => {}
            Self::Cepstra(state) => state.place = FrameState::new(state.ring.len()),
        }
    }
}

impl<T: Real> MelState<T> {
    /// The row of the frame that ends with a sample.
    fn make(&mut self, x: f32) {
        let tables = MelTables {
            window: &self.of.window,
            rises: &self.of.rises,
            segments: &self.of.segments,
            cosines: &self.of.cosines,
        };
        self.place.frame(&self.ring, x, &mut self.frame);
        tables.row(&mut self.frame, &mut self.bands, &mut self.made);
        let made = self.row.iter_mut().zip(&self.made);
        made.for_each(|(to, &x)| *to = T::from_f64(x.into()));
    }
}

impl FrontEnd {
    /// Times of the samples that a stage refuses: they are missing.
    pub fn refused(&self, samples: SamplesView<'_>) -> Vec<usize> {
        let mut stream = FrontStream::<f64>::new(self);
        let rows = samples.rows().into_iter().flat_map(|rows| rows.iter());
        let refused = rows.map(|row| stream.push(row, &mut |_| ()).is_err());
        refused.enumerate().filter_map(|(t, refused)| refused.then_some(t)).collect()
    }

    /// A series, or a window, as models see it: through the stages, then with its past or differences from it at
    /// lags. What came before it is not looked at, as a device that begins there does not.
    pub fn widen<'a>(&self, samples: SamplesView<'a>, lags: &Lags) -> Widened<'a> {
        let rows = match samples.rows() {
            Some(rows) if !self.is_empty() => rows,
            _ => return lags.widen(samples),
        };
        let mut stream = FrontStream::<f64>::new(self);
        if self.makes_symbols() {
            let mut made = Vec::new();
            for row in rows.iter() {
                let _ = stream.push(row, &mut |heard| made.push(heard.symbol()));
            }
            return Widened::Made(Samples::Symbols(made));
        }
        let mut made = Rows::new(self.width(rows.dimension()));
        for row in rows.iter() {
            // What a front end refuses is missing.
            let _ = stream.push(row, &mut |heard| made.push(heard.row()));
        }
        let made = Samples::Channels(made);
        match lags.widen(made.view()) {
            Widened::Made(wide) => Widened::Made(wide),
            Widened::As(_) => Widened::Made(made),
        }
    }
}
