//! Events from windows, for comparison: what a classifier of windows of one length makes of a marked stream.

use fishweir_core::spot::Event;

use super::{SpotFigures, SpotPlan};
use crate::data::{DataError, Dataset, Marked, Rows, Samples, SamplesView};
use crate::deploy::{Deployed, Found};
use crate::learn::{Augment, ClassifierKind, Request, TrainError, train};

/// Figures of windowed decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowedEvents {
    /// Samples of a window; a decision comes every half.
    pub window: usize,
    /// Results of finding events.
    pub figures: SpotFigures,
}

/// Reason why a classifier of windows finds no events.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum WindowedEventsError {
    /// The windows are no data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No classifier.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The classifier cannot be deployed.
    #[error("{0}")]
    #[strum(serialize = "not-deployed")]
    Deploy(String),
}

crate::kinds!(WindowedEventsError,
    Self::Data(error) => error,
    Self::Train(error) => error,
);

impl SpotPlan {
    /// A linear machine on Fisher scores learns windows cut within events, and within the background as a class of its
    /// own; it decides on windows of the test series that overlap by half, each from a fresh state, and samples in a
    /// row that are decided alike are an event. A window is half as long as the median event.
    ///
    /// Cost: a fit of every class, and two passes of the test series.
    ///
    /// # Errors
    /// [`WindowedEventsError`].
    pub fn windowed(
        &self,
        training: &Marked,
        test: &Marked,
        progress: &(dyn Fn() + Sync),
    ) -> Result<WindowedEvents, WindowedEventsError> {
        let all: Vec<usize> = (0..training.data().series().len()).collect();
        let mut lengths: Vec<usize> = all
            .iter()
            .flat_map(|&one| training.events(one))
            .map(|mark| mark.samples.len())
            .collect();
        lengths.sort_unstable();
        let window = (lengths.get(lengths.len() / 2).copied().unwrap_or(0) / 2).max(2);

        let classes = training.classes();
        let groups = (0..classes.len()).map(Some).chain([None]);
        let cut = groups.flat_map(|class| {
            // Of two marks no name begins so: a name is not empty.
            let name = class.map_or("", |class| &classes[class]);
            let stretches = training.stretches(class, &all);
            let windows = stretches.into_iter().flat_map(move |one| {
                (0..one.len() / window).map(move |n| one.slice(n * window..(n + 1) * window))
            });
            windows.map(move |one| (format!("{name}#"), owned(one))).collect::<Vec<_>>()
        });
        let data = Dataset::labelled(training.data().kind().clone(), cut)?;
        let request = Request::minimal(ClassifierKind::Fisher).with(|request| {
            request.baum_welch = self.baum_welch.clone();
            request.augment = Augment::NONE;
            request.c = vec![1.0];
        });
        let windows: Vec<usize> = (0..data.series().len()).collect();
        let classifier = train(&data, &windows, &request, progress)?.classifier;
        let deployed =
            classifier.deploy().map_err(|error| WindowedEventsError::Deploy(error.to_string()))?;

        let of_training =
            |name: &str| classes.iter().position(|one| Some(&**one) == name.strip_suffix('#'));
        let classes: Vec<Option<usize>> =
            deployed.classes().iter().map(|name| of_training(name)).collect();
        let mut figures = SpotFigures::default();
        for (index, series) in test.data().series().iter().enumerate() {
            let found = events(&deployed, &classes, series.samples.view(), window);
            figures.add(test.events(index), &found, self.overlap);
        }
        Ok(WindowedEvents { window, figures })
    }
}

fn owned(view: SamplesView<'_>) -> Samples {
    match view {
        SamplesView::Symbols(symbols) => Samples::Symbols(symbols.to_vec()),
        SamplesView::Channels(rows) => {
            let mut copy = Rows::new(rows.dimension());
            rows.iter().for_each(|row| copy.push(row));
            Samples::Channels(copy)
        }
    }
}

/// Decides every half window on the middle half of the last window, and joins what is decided alike.
fn events(
    classifier: &Deployed,
    classes: &[Option<usize>],
    samples: SamplesView<'_>,
    window: usize,
) -> Vec<Found> {
    let (mut stream, hop) = (classifier.stream(), window / 2);
    let mut found: Vec<Found> = Vec::new();
    let mut start = 0;
    while start + window <= samples.len() {
        stream.reset();
        for sample in samples.slice(start..start + window).iter() {
            // What is refused is no evidence.
            let _ = stream.push(sample);
        }
        let class = stream.decision().ok().and_then(|read| *classes.get(read.class)?);
        let (from, to, decided) =
            ((start + hop / 2) as u64, (start + hop / 2 + hop) as u64, (start + window) as u64);
        if let Some(class) = class {
            let class = class as u8;
            match found
                .last_mut()
                .filter(|last| last.event.class == class && last.event.end == from)
            {
                // Its end is known when the next window has another class, or none.
                Some(last) => (last.event.end, last.decided) = (to, decided + hop as u64),
                None => found.push(Found {
                    event: Event { class, start: from, end: to, log_odds: 0.0 },
                    decided: decided + hop as u64,
                }),
            }
        }
        start += hop;
    }
    found
}
