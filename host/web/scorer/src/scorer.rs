//! What the exports act on.

use fishweir::data::{DataError, Dataset, Kind, ReadOptions, Resample, Sample, Windowing};
use fishweir::deploy::{Deployed, OpenWindow, WindowStream};
use fishweir::report::ContractSummary;
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
    channels: Option<&'d [String]>,
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
    /// `true` if the samples came at another rate than the model's, and were resampled.
    resampled: bool,
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
        let read = Deployed::from_artefact("the model", &self.input).map_err(|error| error.to_string());
        let described = read.and_then(|model| {
            model.check_windows().map_err(|error| error.to_string())?;
            let (observations, cost) = (model.observations(), model.cost());
            let kind = observations.kind().map_err(|error| error.to_string())?;
            let Kind::Channels(channels) = &kind else {
                return Err("a model of symbols; the page decides on channels".to_owned());
            };
            let text = serde_json::to_string(&Description {
                classes: model.classes(),
                channels: Some(channels),
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

/// Reads data as a model needs them; those at another rate are resampled.
fn read(model: &Deployed, bytes: &[u8]) -> Result<Dataset, DataError> {
    let period = model.contract().and_then(|contract| contract.period);
    let kind = Some(model.observations().kind()?);
    let options = ReadOptions { kind, period, values: model.values(), skips: true, ..ReadOptions::default() };
    let name = "the file";
    match Dataset::parse(name, bytes, &options) {
        Err(DataError::OtherRate { .. }) if period.is_some() => {
            let resample = period.map(|period| Resample::To(period.rate()));
            Dataset::parse(name, bytes, &ReadOptions { resample, ..options })
        }
        read => read,
    }
}

fn decisions(model: &Deployed, bytes: &[u8]) -> Result<String, String> {
    let data = read(model, bytes).map_err(|error| error.to_string())?;
    let windowing: Option<Windowing> = model.contract().and_then(|contract| contract.windowing);
    let Kind::Channels(channels) = data.kind() else { return Err("these are no channels".into()) };
    let all: Vec<usize> = (0..data.series().len()).collect();
    let period = fishweir::data::Period::of(&data, &all);
    let mut found = Decisions {
        channels: channels.clone(),
        rate: period.map(|period| period.rate()),
        resampled: data.is_resampled(),
        series: Vec::new(),
        decisions: Vec::new(),
    };
    for one in data.series() {
        let view = one.samples.view();
        let mut lines = vec![Vec::with_capacity(view.len()); channels.len()];
        for values in view.rows().iter().flat_map(|rows| rows.iter_in_part()) {
            for (channel, line) in lines.iter_mut().enumerate() {
                let value = values.map(|values| values[channel] as f32);
                line.push(value.filter(|value| value.is_finite()));
            }
        }
        let label = one.label.and_then(|label| data.classes().get(label)).cloned();
        let id = one.id.clone();
        found.series.push(Series {
            id,
            label: label.unwrap_or_default(),
            times: one.times.clone(),
            channels: lines,
        });
    }
    let mut stream = model.stream();
    for window in data.windows(windowing.as_ref()).all() {
        stream.reset();
        for sample in window.samples.iter() {
            // A refused sample is missing, as on a device.
            let _ = stream.push(sample);
        }
        let (start, end) = (window.start as u64, (window.start + window.samples.len()) as u64);
        if let Some((class, margin, _)) = decided(model, OpenWindow { start, end, stream: &stream })
        {
            found.decisions.push(Decision {
                series: window.source.id.clone(),
                start,
                end,
                class: model.classes()[class].clone(),
                margin,
            });
        }
    }
    serde_json::to_string(&found).map_err(|error| error.to_string())
}
