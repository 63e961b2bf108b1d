//! Recordings with what a sensor does wrong among them, as code that is not the host's takes them, and what the host answers.

use std::fmt::Write as _;

use fishweir::data::{Dataset, Sample, SamplesView};
use fishweir::deploy::{Deployed, Detector, Format, Found, PushError, Spotter, WindowStream};
use fishweir_core::ObservationError;
use fishweir_core::classify::Statistic;

/// A step of a recording.
pub(crate) enum Step {
    Row(Vec<f32>),
    Symbol(u16),
    Missing,
    Reset,
}

/// The first samples of each series, with what a sensor does wrong among them.
pub(crate) fn steps(data: &Dataset, most: usize) -> Vec<Step> {
    let (mut steps, mut t) = (Vec::new(), 0_usize);
    for series in data.series() {
        let samples: Vec<Step> = match series.samples.view() {
            SamplesView::Symbols(symbols) => {
                symbols.iter().map(|x| x.map_or(Step::Missing, Step::Symbol)).collect()
            }
            view => {
                let rows = view.rows().expect("channels");
                let row = |row: &[f64]| Step::Row(row.iter().map(|&x| x as f32).collect());
                rows.iter().map(|x| x.map_or(Step::Missing, row)).collect()
            }
        };
        for mut step in samples.into_iter().take(most) {
            match &mut step {
                _ if t % 37 == 5 => step = Step::Missing,
                Step::Symbol(symbol) if t % 41 == 3 => *symbol = 999,
                Step::Row(row) => match t % 123 {
                    41 => row[0] = f32::NAN,
                    82 => row[1] = f32::INFINITY,
                    // Far from every state, and impossible in each.
                    100 => row[1] = 1e5,
                    101 => row[1] = -1e30,
                    110 => row.fill(f32::NAN),
                    _ => {}
                },
                _ => {}
            }
            steps.push(step);
            t += 1;
        }
        steps.push(Step::Reset);
    }
    steps
}

impl Step {
    /// Whether it is a row that lacks a channel.
    fn lacks_some(&self) -> bool {
        matches!(self, Self::Row(row) if row.iter().any(|x| x.is_nan()))
    }

    /// The host's sample of it; a missing one of a reset.
    pub(crate) fn as_sample<R>(&self, push: impl FnOnce(Sample<'_>) -> R) -> R {
        match self {
            Self::Reset | Self::Missing => push(Sample::Missing),
            Self::Symbol(symbol) => push(Sample::Symbol(*symbol)),
            Self::Row(row) => {
                let row: Vec<f64> = row.iter().copied().map(f64::from).collect();
                push(Sample::Row(&row))
            }
        }
    }
}

/// The lines that C prints for the steps, as the host decides.
pub(crate) fn expected<F: Format>(
    deployed: &Deployed<F>,
    mut stream: WindowStream,
    steps: &[Step],
) -> String {
    let in_part = deployed.contract().is_some_and(fishweir::classifier::Contract::lacks_some);
    let mut text = String::new();
    for step in steps {
        let lacks = !in_part && step.lacks_some();
        let pushed = match step {
            Step::Reset => {
                stream.reset();
                continue;
            }
            step => step.as_sample(|sample| stream.push(sample)),
        };
        // Writing to a string does not fail.
        let _ = write!(text, "{:08x}", status_of(pushed, lacks));
        if let Some(window) = stream.decided() {
            let decision = window.stream.decision().expect("in range");
            let mut numbers = vec![decision.class as u32, decision.margin.to_bits()];
            if let Some(confidence) = deployed.confidence() {
                let told = window.stream.believed(&confidence.of_core()).expect("a bank");
                numbers.push(told.probability.to_bits());
                numbers.push(told.rejection.map_or(0, |reason| reason as u32));
            }
            numbers.extend(window.stream.log_likelihoods().into_iter().map(f32::to_bits));
            numbers.iter().for_each(|number| _ = write!(text, " {number:08x}"));
        }
        text.push('\n');
    }
    text
}

/// The status in C of a sample, which may lack a channel that it must have.
fn status_of(pushed: Result<(), PushError>, lacks: bool) -> u32 {
    match pushed {
        Ok(()) if lacks => 2,
        Ok(()) => 0,
        Err(PushError::Observation(ObservationError::Impossible)) => 1,
        Err(_) => 2,
    }
}

/// The lines that C prints of a detector for the steps.
pub(crate) fn detected(detector: &Detector, steps: &[Step]) -> String {
    let (mut stream, mut text) = (detector.stream(), String::new());
    for step in steps {
        let lacks = !detector.lacks_some() && step.lacks_some();
        let pushed = match step {
            Step::Reset => {
                stream.reset();
                continue;
            }
            step => step.as_sample(|sample| stream.push(sample)),
        };
        let read = stream.read();
        let place = match read.alarm {
            None => u32::MAX,
            Some(Statistic::Fit) => 0,
            Some(Statistic::Drift(direction)) => 1 + direction as u32,
        };
        let value = read.alarm.and_then(|alarm| read.value(alarm)).unwrap_or(0.0);
        let statistics = [value, read.fit, read.drift[0]].map(f32::to_bits);
        let status = status_of(pushed, lacks);
        let _ = write!(text, "{status:08x} {place:08x}");
        statistics.iter().for_each(|number| _ = write!(text, " {number:08x}"));
        text.push('\n');
        if read.alarm.is_some() {
            stream.reset();
        }
    }
    text
}

/// The lines of a spotter for the steps: the events of each sample, and of a reset those that are left.
pub(crate) fn spotted(spotter: &Spotter, lacks_some: bool, steps: &[Step]) -> String {
    let (mut stream, mut text) = (spotter.stream(), String::new());
    for step in steps {
        let lacks = !lacks_some && step.lacks_some();
        let (status, found) = match step {
            Step::Reset => (u32::MAX, stream.undecided()),
            step => {
                let pushed = step.as_sample(|sample| stream.push(sample));
                (status_of(pushed, lacks), stream.decided())
            }
        };
        let _ = write!(text, "{status:08x}");
        for Found { event, .. } in found {
            let (class, bits) = (event.class, event.log_odds.to_bits());
            let _ = write!(text, " {class:08x} {:08x} {:08x} {bits:08x}", event.start, event.end);
        }
        text.push('\n');
        if matches!(step, Step::Reset) {
            stream.reset();
        }
    }
    text
}

/// `recording.h`.
pub(crate) fn recording(steps: &[Step]) -> String {
    let mut text = String::from("static const struct step recording[] = {\n");
    let number = |x: &f32| match x {
        x if x.is_nan() => "__builtin_nanf(\"\")".to_owned(),
        x if x.is_infinite() => "__builtin_inff()".to_owned(),
        x => format!("{x:?}f"),
    };
    for step in steps {
        let line = match step {
            Step::Row(row) => {
                let row: Vec<String> = row.iter().map(number).collect();
                format!("{{SAMPLE, {{{}}}}}", row.join(", "))
            }
            Step::Symbol(symbol) => format!("{{SAMPLE, {symbol}}}"),
            Step::Missing => String::from("{.kind = MISSING}"),
            Step::Reset => String::from("{.kind = RESET}"),
        };
        let _ = writeln!(text, "    {line},");
    }
    text + "};\n"
}

/// The line that differs first.
#[track_caller]
pub(crate) fn assert_same(found: &str, wanted: &str) {
    for (t, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(found, wanted, "line {t}");
    }
    assert_eq!(found.lines().count(), wanted.lines().count());
}
