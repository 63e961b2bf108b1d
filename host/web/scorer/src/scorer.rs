//! The scorer behind the exports.

use fishweir::data::{Kind, LiveReader, Sample};
use fishweir::deploy::{Deployed, OpenWindow, WindowStream};
use fishweir::report::{ContractSummary, to_three_digits};
use serde::Serialize;

/// A model, a stream through it, and what crosses to the page.
pub(crate) struct Scorer {
    pub(crate) input: Vec<u8>,
    pub(crate) text: String,
    /// Margin and probability of the last decision.
    pub(crate) last: (f32, f32),
    model: Option<(Deployed, WindowStream)>,
    sample: Vec<f64>,
}

impl Default for Scorer {
    fn default() -> Self {
        let last = (f32::NAN, f32::NAN);
        Self { input: Vec::new(), text: String::new(), last, model: None, sample: Vec::new() }
    }
}

/// A model, as the page is told of it: under the names that `info --json` has.
#[derive(Serialize)]
struct Description<'d> {
    classes: &'d [String],
    channels: &'d [String],
    contract: Option<ContractSummary>,
    model_bytes: usize,
    state_bytes: usize,
    multiply_adds_per_sample: usize,
}

/// Decisions on a file, and the series that they are about.
#[derive(Serialize)]
struct Decisions {
    channels: Vec<String>,
    rate: Option<f64>,
    series: Vec<Series>,
    decisions: Vec<Decision>,
}

#[derive(Serialize)]
struct Series {
    id: String,
    label: String,
    times: Vec<f64>,
    /// `[channel][sample]`; null where missing.
    channels: Vec<Vec<Option<f32>>>,
}

#[derive(Serialize)]
struct Decision {
    series: String,
    start: u64,
    end: u64,
    class: String,
    margin: f32,
}

impl Scorer {
    /// Takes the input as an artefact.
    pub(crate) fn load(&mut self) -> bool {
        let read =
            Deployed::from_artefact("the model", &self.input).map_err(|error| error.to_string());
        let described = read.and_then(|model| {
            model.check_windows().map_err(|error| error.to_string())?;
            let (observations, cost) = (model.observations(), model.cost());
            let kind = observations.kind().map_err(|error| error.to_string())?;
            if let Some(target) = model.target() {
                return Err(format!(
                    "a model that estimates `{}`; the page decides between classes",
                    target.name
                ));
            }
            let Kind::Channels(channels) = &kind else {
                return Err("a model of symbols; the page decides on channels".to_owned());
            };
            let text = serde_json::to_string(&Description {
                classes: model.classes(),
                channels,
                contract: model.contract().map(|one| ContractSummary::new(one, observations)),
                model_bytes: cost.model_bytes,
                state_bytes: cost.state_bytes,
                multiply_adds_per_sample: cost.multiply_adds_per_sample,
            });
            Ok((text.map_err(|error| error.to_string())?, channels.len(), model))
        });
        match described {
            Ok((text, channels, model)) => {
                self.text = text;
                self.sample = vec![f64::NAN; channels];
                let stream = model.window_stream();
                self.model = Some((model, stream));
                true
            }
            Err(why) => self.refuse(why),
        }
    }

    /// Takes the input as a file of data, and decides on its windows.
    pub(crate) fn decide(&mut self) -> bool {
        let Some((model, _)) = &self.model else { return self.refuse("there is no model".into()) };
        match decisions(model, &self.input) {
            Ok(text) => {
                self.text = text;
                true
            }
            Err(why) => self.refuse(why),
        }
    }

    fn refuse(&mut self, why: String) -> bool {
        self.text = why;
        false
    }

    pub(crate) fn begin(&mut self) {
        if let Some((_, stream)) = &mut self.model {
            stream.reset();
        }
        self.sample.fill(f64::NAN);
    }

    pub(crate) fn set(&mut self, channel: usize, value: f64) {
        if let Some(place) = self.sample.get_mut(channel) {
            *place = value;
        }
    }

    /// Takes the sample in; a class, -1 or -2.
    pub(crate) fn push(&mut self) -> i32 {
        self.last = (f32::NAN, f32::NAN);
        let Some((model, stream)) = &mut self.model else { return -1 };
        let sample = row(model, &self.sample);
        let pushed = stream.push(sample);
        self.sample.fill(f64::NAN);
        match (stream.decided(), pushed) {
            (Some(window), _) => match decided(model, window) {
                Some((class, margin, probability)) => {
                    self.last = (margin, probability);
                    class as i32
                }
                None => -1,
            },
            (None, Ok(())) => -1,
            (None, Err(_)) => -2,
        }
    }
}

/// A sample of the model; it is missing if it lacks a channel that the model needs.
fn row<'s>(model: &Deployed, values: &'s [f64]) -> Sample<'s> {
    let in_part = model.contract().is_some_and(|contract| contract.lacks_some());
    let missing = values.iter().filter(|value| value.is_nan()).count();
    match missing == values.len() || missing > 0 && !in_part {
        true => Sample::Missing,
        false => Sample::Row(values),
    }
}

/// Class, margin and probability of a decision; the last is NaN without calibration.
fn decided(model: &Deployed, window: OpenWindow<'_>) -> Option<(usize, f32, f32)> {
    let decision = window.stream.decision().ok().filter(|one| !one.margin.is_nan())?;
    let belief = model.confidence().and_then(|one| window.stream.believed(&one.of_core()));
    Some((decision.class, decision.margin, belief.map_or(f32::NAN, |one| one.probability)))
}

/// Largest relative error of a file's period beside the model's own: times in a table are rounded.
const ROUNDED: f64 = 0.005;

/// Decides on a table of samples: the windows of each series, as a stream.
fn decisions(model: &Deployed, bytes: &[u8]) -> Result<String, String> {
    let kind = model.observations().kind().map_err(|error| error.to_string())?;
    let Kind::Channels(channels) = &kind else { return Err("the model is of symbols".to_owned()) };
    let mut reader = LiveReader::new(bytes, "the file", kind.clone()).of_values(model.values());
    let mut found = Decisions {
        channels: channels.clone(),
        rate: None,
        series: Vec::new(),
        decisions: Vec::new(),
    };
    let mut stream = model.window_stream();
    let ends = model.contract().is_none_or(|contract| contract.windowing.is_none());
    loop {
        let more = reader.advance().map_err(|error| error.to_string())?;
        if !more || reader.begins_series() {
            // A short series is decided at its end, and so is each without windows.
            let last = if ends { stream.decided() } else { stream.short() };
            found.add(model, last);
            stream.reset();
        }
        if !more {
            break;
        }
        if reader.begins_series() || found.series.is_empty() {
            let label = reader.label().unwrap_or_default().to_owned();
            let channels = vec![Vec::new(); channels.len()];
            let id = found.series.len().to_string();
            found.series.push(Series { id, label, times: Vec::new(), channels });
        }
        let sample = reader.sample();
        if let Some(series) = found.series.last_mut() {
            series.times.extend(reader.time());
            for (channel, line) in series.channels.iter_mut().enumerate() {
                let value = match sample {
                    Sample::Row(row) => row[channel] as f32,
                    _ => f32::NAN,
                };
                line.push(Some(value).filter(|value| value.is_finite()));
            }
        }
        let in_part = model.contract().is_some_and(|contract| contract.lacks_some());
        // A refused sample is missing, as on a device.
        let _ = stream.push(if in_part { sample } else { sample.if_whole() });
        let decided = if ends { None } else { stream.decided() };
        found.add(model, decided);
    }
    if found.series.is_empty() {
        return Err("the file has no samples".to_owned());
    }
    found.check_rate(model)?;
    serde_json::to_string(&found).map_err(|error| error.to_string())
}

impl Decisions {
    /// Adds the decision on a window of the last series.
    fn add(&mut self, model: &Deployed, window: Option<OpenWindow<'_>>) {
        let Some((window, series)) = window.zip(self.series.last()) else { return };
        if let Some((class, margin, _)) = decided(model, window) {
            let (series, class) = (series.id.clone(), model.classes()[class].clone());
            let (start, end) = (window.start, window.end);
            self.decisions.push(Decision { series, start, end, class, margin });
        }
    }

    /// Refuses samples at another rate than the model's.
    fn check_rate(&mut self, model: &Deployed) -> Result<(), String> {
        let timed = self.series.iter().find(|one| one.times.len() > 1);
        let Some(times) = timed.map(|one| &one.times) else { return Ok(()) };
        let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
        self.rate = Some(1.0 / period);
        let Some(wanted) = model.contract().and_then(|contract| contract.period) else {
            return Ok(());
        };
        let off = (period / wanted.seconds - 1.0).abs();
        // Times that number the samples say nothing of the rate.
        if (period - 1.0).abs() < 1e-9 || off <= wanted.tolerance + ROUNDED {
            return Ok(());
        }
        Err(format!(
            "the file has {} samples per second, and the model takes {}; `fishweir convert --resample` brings it to that rate",
            to_three_digits(1.0 / period),
            to_three_digits(wanted.rate())
        ))
    }
}

#[cfg(test)]
mod tests {
    use fishweir::data::{Dataset, Samples, Windowing};
    use fishweir::learn::{ClassifierKind, Request, train};

    use super::*;

    /// Waves of two rates, as the classes have them; the table that has them.
    fn waves() -> (Deployed, String) {
        let wave = |class: usize, t: usize| (if class == 0 { 0.3 } else { 1.1 } * t as f64).sin();
        let kind = Kind::Channels(vec!["x".into()]);
        let series = (0..8).map(|n| {
            let samples: Samples = (0..60).map(|t| [wave(n % 2, t + n)]).collect();
            (["slow", "fast"][n % 2], samples)
        });
        let data = Dataset::labelled(kind, series).expect("series");
        let [length, hop] = [20, 10].map(|n| std::num::NonZeroUsize::new(n).expect("positive"));
        let windowing = Some(Windowing { length, hop, short: Default::default() });
        let mut request = Request::new(ClassifierKind::Bayes);
        request.windowing = windowing;
        let all: Vec<usize> = (0..8).collect();
        let trained = train(&data, &all, &request, &|| ()).expect("trained");
        let mut table = String::from("series,label,x\n");
        for series in 0..2 {
            for t in 0..40 {
                let label = ["slow", "fast"][series];
                table += &format!("{series},{label},{}\n", wave(series, t));
            }
        }
        (trained.classifier.deploy().expect("a device's"), table)
    }

    fn loaded() -> (Scorer, String) {
        let (model, table) = waves();
        let input = model.to_artefact().expect("an artefact");
        let mut scorer = Scorer { input, ..Scorer::default() };
        assert!(scorer.load(), "{}", scorer.text);
        (scorer, table)
    }

    #[test]
    fn a_file_and_a_stream_are_decided_alike() {
        let (mut scorer, table) = loaded();
        assert!(scorer.text.contains("\"slow\"") && scorer.text.contains("\"length\":20"));
        scorer.input = table.clone().into_bytes();
        assert!(scorer.decide(), "{}", scorer.text);
        let found: serde_json::Value = serde_json::from_str(&scorer.text).expect("JSON");
        let decisions = found["decisions"].as_array().expect("decisions");
        assert_eq!(decisions.len(), 6, "windows of 20 every 10 of two series of 40");
        let mut each = decisions.iter();
        let classes = scorer.model.as_ref().expect("loaded").0.classes().to_vec();
        for series in ["0", "1"] {
            scorer.begin();
            let own = table.lines().skip(1).filter(|line| line.starts_with(series));
            for line in own {
                let value = line.rsplit(',').next().and_then(|text| text.parse().ok());
                scorer.set(0, value.expect("a number"));
                let class = scorer.push();
                if class < 0 {
                    assert!(scorer.last.0.is_nan());
                    continue;
                }
                let one = each.next().expect("a decision");
                assert_eq!(one["class"], classes[class as usize].as_str());
                assert_eq!(one["margin"].as_f64().map(|margin| margin as f32), Some(scorer.last.0));
            }
        }
        assert!(each.next().is_none());
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let mut scorer = Scorer::default();
        assert!(!scorer.decide() && scorer.push() == -1);
        scorer.input = b"not an artefact".to_vec();
        assert!(!scorer.load() && scorer.text.contains("the model"), "{}", scorer.text);
        let (mut scorer, _) = loaded();
        for (file, word) in [("y\n1\n", "x"), ("x\noops\n", "line 2"), ("", "no samples")] {
            scorer.input = file.as_bytes().to_vec();
            assert!(!scorer.decide() && scorer.text.contains(word), "{file}: {}", scorer.text);
        }
    }
}
