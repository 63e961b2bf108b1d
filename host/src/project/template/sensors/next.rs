//! The samples of the sensor as the model was trained on them: {{observed}}, at {{rate}}.

use crate::driver;
use crate::self_test::Sample;

/// Next item of the sensor.
#[allow(dead_code, reason = "a sensor has no recordings")]
pub enum Next {
    /// A new stream begins, independent of earlier samples. Only recordings have a class.
    Stream { label: Option<usize> },
    /// A sample.
    Sample(Sample),
    /// The time of a sample has passed without one.
    Missing,
    /// The stream ends.
    End,
}

/// The sensor.
pub struct Sensor(driver::Sensor);

impl Sensor {
    /// A sensor before its first sample.
    pub fn new() -> Self {
        Self(driver::Sensor::new())
    }

{{heard?}}    /// Waits for the next sample.
{{heard?}}    pub async fn wait(&mut self) {
{{heard?}}        self.0.wait().await;
{{heard?}}    }
{{heard?}}
    /// Returns the next item: there is always one.
    pub fn next(&mut self) -> Option<Next> {
        let sample = self.0.measure().and_then(observed);
        Some(sample.map_or(Next::Missing, Next::Sample))
    }
}

/// A sample as the model observes it; `None` if it cannot.
fn observed(measured: [f32; {{count}}]) -> Option<Sample> {
    {{observe}}
}
