//! A stand-in for a sensor: a triangle wave per channel. Replace it by your sensor's driver, which gives samples of the
//! channels, at {{rate}}.

/// Names of the channels, each with its unit in brackets: the columns of the table that is recorded.
pub const CHANNELS: [&str; {{count}}] = [{{channels}}];

/// The sensor.
pub struct Sensor {
    /// Samples so far.
    samples: u16,
}

impl Sensor {
    /// A sensor before its first sample.
    pub fn new() -> Self {
        Self { samples: 0 }
    }

    /// Returns the next sample; `None` if the sensor has none, NaN for a channel that it has not.
    pub fn measure(&mut self) -> Option<[f32; CHANNELS.len()]> {
        let now = self.samples;
        self.samples = now.wrapping_add(1);
        let wave = |channel: usize| {
            let phase = now.wrapping_add(25 * channel as u16) % 100;
            f32::from(phase.min(100 - phase)) / 50.0
        };
        Some(core::array::from_fn(wave))
    }
}
