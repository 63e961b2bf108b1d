//! Figures along a series: the events of a spotter, the alarms of a detector.

use std::path::Path;

use fishweir::data::{Dataset, Marked, Period, Sample};
use fishweir::deploy::{Detector, DetectorModel, Found, Spotter};
use fishweir::plot::{EventPlot, Span, traces};
use fishweir::report::{EventFigures, counted};
use fishweir::spot::SpotFigures;
use fishweir_core::classify::Statistic;

use super::{Failure, output};

/// Words after data that judge nothing.
const SEEN: &str = ", on which the models were trained";

/// A series of a data set, drawn with what was found in it.
struct Drawn<'a> {
    data: &'a Dataset,
    series: usize,
}

impl Drawn<'_> {
    /// Draws the figure with the parts that a series gives.
    fn draw(&self, path: &Path, parts: EventPlot<'_>) -> Result<(), Failure> {
        let series = &self.data.series()[self.series];
        let samples = series.samples.view();
        let traces = traces(self.data.kind(), samples);
        let rate = Period::of(self.data, &[self.series]).map(|period| period.rate());
        let plot = EventPlot { traces: &traces, samples: samples.len(), rate, ..parts };
        output::draw(path, &plot.to_svg())
    }
}

/// Events of a spotter as runs with their log-odds.
fn spans(found: &[Found]) -> Vec<Span> {
    let span = |found: &Found| Span {
        samples: found.event.start as usize..found.event.end as usize,
        class: usize::from(found.event.class),
        value: Some(f64::from(found.event.log_odds_per_sample())),
    };
    found.iter().map(span).collect()
}

/// Draws the first series in which a spotter finds an event, or else the first; with the true events where they are marked, of
/// which `overlap` is what counts as found. `seen` data are those that the models were fitted to.
pub(super) fn draw_events(
    path: &Path,
    spotter: &Spotter,
    data: &Dataset,
    marked: Option<(&Marked, f64)>,
    seen: bool,
) -> Result<(), Failure> {
    let spot = |series: usize| spotter.spot(&data.series()[series].samples.view());
    let mut each = (0..data.series().len()).map(|series| (series, spot(series)));
    let with_events = each.find(|(_, found)| !found.is_empty());
    let (series, found) = with_events.unwrap_or((0, Vec::new()));
    let decided = |found: &Found| {
        let at = found.decided as usize;
        Span { samples: at..at + 1, class: usize::from(found.event.class), value: None }
    };
    let mut strips = vec![
        ("found", spans(&found)),
        ("decided", found.iter().map(decided).collect::<Vec<Span>>()),
    ];
    let mut words = format!("{} found", counted(found.len(), "event"));
    if let Some((marked, overlap)) = marked {
        let marks = marked.events(series);
        let span = |mark: &fishweir::data::Mark| Span {
            samples: mark.samples.clone(),
            class: mark.class,
            value: None,
        };
        strips.insert(0, ("true", marks.iter().map(span).collect()));
        let mut figures = SpotFigures::default();
        figures.add(marks, &found, overlap);
        words = EventFigures::of("this series", &figures).to_string();
    }
    let title = format!("Events in series {}", data.series()[series].id);
    let subtitle = format!("{}{}\n{words}", data.source(), if seen { SEEN } else { "" });
    Drawn { data, series }.draw(
        path,
        EventPlot {
            title: &title,
            subtitle: &subtitle,
            classes: spotter.classes(),
            axis: "confidence: log odds per sample, nats",
            limits: &[(0.0, "background")],
            lines: &[],
            strips: &strips,
            traces: &[],
            samples: 0,
            rate: None,
        },
    )
}

/// Draws the first series in which a detector gives an alarm, or else the first. `seen` data are those that it was made of.
pub(super) fn draw_alarms(
    path: &Path,
    model: &DetectorModel,
    detector: &Detector,
    data: &Dataset,
    seen: bool,
) -> Result<(), Failure> {
    let mut each = (0..data.series().len()).map(|series| (series, watched(detector, data, series)));
    let with_alarms = each.find(|(_, watched)| !watched.alarms.is_empty());
    let (series, Watched { values: [fit, drift], alarms }) =
        with_alarms.unwrap_or_else(|| (0, watched(detector, data, 0)));
    let title = format!("Alarms in series {}", data.series()[series].id);
    let samples = data.series()[series].samples.view().len();
    let (alarmed, samples) = (counted(alarms.len(), "alarm"), counted(samples, "sample"));
    let (source, seen) = (data.source(), if seen { SEEN } else { "" });
    let subtitle = format!(
        "{source}{seen}\n{alarmed} in {samples}: a value beyond a limit is an alarm, after which the detector starts \
         again"
    );
    let mut lines = vec![(0, fit)];
    let mut statistics = vec!["unlikely".to_owned()];
    if model.has_direction() {
        lines.push((1, drift));
        statistics.push("change".to_owned());
    }
    Drawn { data, series }.draw(
        path,
        EventPlot {
            title: &title,
            subtitle: &subtitle,
            classes: &statistics,
            axis: "deviation, multiples of the limit",
            limits: &[(1.0, "limit"), (-1.0, "limit")],
            lines: &lines,
            strips: &[("alarms", alarms)],
            traces: &[],
            samples: 0,
            rate: None,
        },
    )
}

/// Readings of a detector along a series, in multiples of their limits.
struct Watched {
    /// `[statistic][sample]`: likelihood and change; `None` of missing samples.
    values: [Vec<Option<f64>>; 2],
    alarms: Vec<Span>,
}

fn watched(detector: &Detector, data: &Dataset, series: usize) -> Watched {
    let thresholds = [detector.fit().threshold, detector.drift().threshold];
    let mut stream = detector.stream();
    let mut found = Watched { values: [Vec::new(), Vec::new()], alarms: Vec::new() };
    for (at, sample) in data.series()[series].samples.view().iter().enumerate() {
        let reading = stream.watch(sample);
        let there = sample != Sample::Missing;
        let shares = [reading.fit / thresholds[0], reading.drift[0] / thresholds[1]];
        for (values, share) in found.values.iter_mut().zip(shares) {
            values.push(there.then_some(f64::from(share)));
        }
        if let Some(alarm) = reading.alarm {
            let class = usize::from(alarm != Statistic::Fit);
            let value = Some(f64::from(shares[class]));
            found.alarms.push(Span { samples: at..at + 1, class, value });
        }
    }
    found
}
