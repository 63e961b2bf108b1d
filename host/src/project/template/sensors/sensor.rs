/// The sensor; `None` until it has answered.
pub struct Sensor(Option<Driver>);

impl Sensor {
    /// A sensor before its first sample.
    pub fn new() -> Self {
        Self(None)
    }

    /// Returns the newest sample, in the units of its channels; `None` if there is no new one.
    pub fn measure(&mut self) -> Option<[f32; {{count}}]> {
        if self.0.is_none() {
            self.0 = start();
        }
        match read(self.0.as_mut()?) {
            Ok(sample) => sample.map(|[{{axes}}]| [{{converted}}]),
            Err(Lost) => {
                self.0 = None;
                None
            }
        }
    }
}

/// The sensor does not answer.
#[allow(dead_code, reason = "not every sensor can be lost")]
struct Lost;
