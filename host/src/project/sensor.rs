//! Sensors of a real board: on its I2C bus with a driver crate, at its analogue inputs, and a microphone.

use super::sensor_part::{BASE_RATE, FILTERS, INPUTS, MOST_DIVISOR, SensorPart, SensorPlace};
use super::template::{fill, select};
use super::{PROJECT_BOARDS, ProjectBoard, ProjectError};
use crate::data::{Conversion, split_unit};

/// A sensor with the channels that it measures for a program.
#[derive(Clone, Debug)]
pub struct Sensor {
    part: SensorPart,
    /// Channels: three, or six with turning.
    channels: usize,
    /// Factor of each, from the driver's unit.
    factors: Vec<f64>,
    /// The sensor's own samples per second, and the driver's name of that.
    odr: (f64, String),
}

/// Form of a sample for the program.
pub(super) struct Observed<'a> {
    /// Rust's name of the type of a sample.
    pub(super) sample: &'a str,
    /// Binary places of the channels in fixed point; nothing in floating point.
    pub(super) places: &'a [i32],
}

impl Sensor {
    /// A sensor for channels of these names, their units in brackets: acceleration along x, y and z, then turning about them, if the
    /// part measures it; voltages; or the one of a microphone, which needs no unit. Where a name has no unit, `units` has that of accelerations and that of turning.
    ///
    /// # Errors
    /// [`ProjectError::Sensor`]: other channels, units that do not convert, a rate that the sensor does not have.
    pub fn new(
        part: SensorPart,
        channels: &[String],
        units: &[String],
        rate: f64,
    ) -> Result<Self, ProjectError> {
        let facts = part.facts();
        let wrong = |what: String| Err(ProjectError::Sensor { part: facts.title, what });
        let (counts, measures): (&[usize], _) = match part {
            SensorPart::Adc => (&[1, 2, 3, INPUTS], "1 to 4 channels"),
            SensorPart::Microphone => (&[1], "1 channel"),
            _ if facts.turns => (&[3, 6], "3 channels, or 6 with turning"),
            _ => (&[3], "3 channels"),
        };
        if !counts.contains(&channels.len()) {
            return wrong(format!(
                "it measures {measures}, and these are {}: {}",
                channels.len(),
                channels.join(", ")
            ));
        }
        let mut factors = Vec::new();
        for (index, name) in channels.iter().enumerate() {
            let (base, own) = split_unit(name);
            let axis = ["x", "y", "z"][index % 3];
            let last = base.chars().last().map(|last| last.to_ascii_lowercase());
            let last = last.filter(|_| part.place() == SensorPlace::Bus);
            if last.is_some_and(|last| "xyz".contains(last) && !axis.contains(last)) {
                return wrong(format!(
                    "channel {} is `{name}`, where it measures {axis}: its channels are x, y, z, and then turning about them",
                    index + 1
                ));
            }
            let unit =
                if own.is_empty() { units.get(index / 3).map_or("", String::as_str) } else { own };
            let from = facts.units[index / 3 % 2];
            if part == SensorPart::Microphone {
                factors.push(1.0);
                continue;
            }
            if unit.is_empty() {
                let example = match (part, channels.len() > 3) {
                    (SensorPart::Adc, _) => "V",
                    (_, true) => "g,deg/s",
                    (_, false) => "g",
                };
                return wrong(format!(
                    "the name of channel `{name}` says no unit: give --units, for instance {example}"
                ));
            }
            match Conversion::between(from, unit) {
                Some(conversion) if conversion.offset == 0.0 => factors.push(conversion.factor),
                _ => {
                    let what = match (part, index < 3) {
                        (SensorPart::Adc, _) => "a voltage",
                        (_, true) => "an acceleration",
                        (_, false) => "a turning rate",
                    };
                    return wrong(format!(
                        "channel `{name}` is in {unit}, where it measures {what}"
                    ));
                }
            }
        }
        let odr = match part {
            SensorPart::Adc => (rate, String::new()),
            SensorPart::Microphone => (rate, format!("{}", rate.round())),
            SensorPart::Mpu6050 => {
                let divisor = (BASE_RATE / rate).floor();
                if divisor < 1.0 {
                    return wrong(format!("{rate} samples per second: it has up to {BASE_RATE}"));
                }
                let divisor = divisor.min(MOST_DIVISOR);
                (BASE_RATE / divisor, format!("{}", divisor - 1.0))
            }
            _ => {
                // A clock may be off by a hundredth, and names of rates are rounded.
                let fits = facts.rates.iter().find(|(own, _)| *own >= 0.99 * rate);
                let Some(&(own, name)) = fits else {
                    let most = facts.rates.last().map_or(0.0, |(rate, _)| *rate);
                    return wrong(format!("{rate} samples per second: it has up to {most}"));
                };
                (own, name.to_owned())
            }
        };
        Ok(Self { part, channels: channels.len(), factors, odr })
    }

    /// Line of TOML of the driver.
    pub(super) fn package(&self) -> &'static str {
        self.part.facts().package
    }

    /// Returns whether it is on a bus of its own: with a file `bus.rs`.
    pub(super) fn has_bus(&self) -> bool {
        self.part.place() == SensorPlace::Bus
    }

    /// Returns whether its samples come by themselves, and are waited for.
    pub(super) fn is_heard(&self) -> bool {
        self.part == SensorPart::Microphone
    }

    /// The sensor's own samples per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.odr.0
    }

    /// `driver.rs`, and `bus.rs` of a sensor on a bus.
    ///
    /// # Errors
    /// A board without a place for it, or a microphone of another rate.
    pub(super) fn files(
        &self,
        board: &ProjectBoard,
    ) -> Result<Vec<(&'static str, String)>, ProjectError> {
        let facts = self.part.facts();
        let place = self.part.place();
        let wrong = |what: String| Err(ProjectError::Sensor { part: facts.title, what });
        let Some(source) = board.sensor_source(place) else {
            let (what, name) = match place {
                SensorPlace::Bus => ("I2C bus", "i2c"),
                SensorPlace::Inputs => ("analogue inputs", "adc"),
                SensorPlace::Ear => ("microphone", "microphone"),
            };
            let has = |one: &&ProjectBoard| one.sensor_source(place).is_some();
            let others: Vec<&str> = PROJECT_BOARDS.iter().filter(has).map(|one| one.name).collect();
            return wrong(format!(
                "{} has no {what} here: its board.toml has no `{name}` in [sources]; there is one on {}",
                board.name,
                others.join(", ")
            ));
        };
        if let (SensorPlace::Ear, Some(hertz)) = (place, board.value("{{mic_hertz}}"))
            && !hertz.parse().is_ok_and(|own: f64| (own / self.odr.0 - 1.0).abs() <= 0.01)
        {
            let rate = self.odr.0;
            return wrong(format!("{rate} samples per second: on {} it has {hertz}", board.name));
        }
        let turns = self.has_bus() && self.channels > 3;
        let axes: &[&str] = match place {
            SensorPlace::Bus => &["ax", "ay", "az", "gx", "gy", "gz"],
            _ => &["a", "b", "c", "d"],
        };
        let axes = &axes[..self.channels];
        let converted: Vec<String> = axes
            .iter()
            .zip(&self.factors)
            .map(|(axis, &factor)| match factor {
                1.0 => (*axis).to_owned(),
                factor => format!("{axis} * {:?}", factor as f32),
            })
            .collect();
        let (hertz, odr) = &self.odr;
        // Half of what the sensor samples is the most that its samples can tell.
        let filter = FILTERS.iter().find(|(bandwidth, _)| 2.0 * bandwidth <= *hertz);
        let filter = filter.map_or("Filter6", |(_, name)| name);
        let measured = match place {
            SensorPlace::Bus if turns => "acceleration and turning",
            SensorPlace::Bus => "acceleration",
            SensorPlace::Inputs => "voltages",
            SensorPlace::Ear => "Sound",
        };
        let values = [
            ("{{part}}", capitalised(facts.title)),
            ("{{driver}}", facts.driver.to_owned()),
            ("{{what}}", measured.to_owned()),
            ("{{odr_hertz}}", format!("{}", (hertz * 100.0).round() / 100.0)),
            ("{{odr}}", odr.clone()),
            ("{{filter}}", filter.to_owned()),
            ("{{count}}", self.channels.to_string()),
            ("{{axes}}", axes.join(", ")),
            ("{{converted}}", converted.join(", ")),
            ("{{is_turning}}", turns.to_string()),
            (
                "{{turning_range}}",
                if turns { ", and 1000 degrees per second" } else { "" }.to_owned(),
            ),
            (
                "{{turning_digit}}",
                if turns { ", and turning of one, of 1000 degrees per second" } else { "" }
                    .to_owned(),
            ),
        ];
        let wrapper = match place {
            SensorPlace::Ear => include_str!("template/sensors/microphone.rs"),
            _ => include_str!("template/sensors/sensor.rs"),
        };
        let template = if self.has_bus() { facts.template } else { source };
        let marks = [
            ("turning", turns),
            ("still", !turns),
            ("two", self.channels > 1),
            ("three", self.channels > 2),
            ("four", self.channels > 3),
        ];
        let driver = select(&template.replace("{{sensor}}", wrapper), &marks);
        let mut files = vec![("src/driver.rs", board.fill(&fill(&driver, &values)))];
        if self.has_bus() {
            files.push(("src/bus.rs", board.fill(source)));
        }
        Ok(files)
    }

    /// `sensor.rs` of a program with a model.
    pub(super) fn next_source(&self, observed: &Observed<'_>) -> Result<String, ProjectError> {
        let each = (0..self.channels).map(|channel| format!("measured[{channel}]"));
        let lacks = observed.sample.contains("Option<");
        let (before, observe) = if observed.places.is_empty() {
            if !observed.sample.contains("f32") {
                return Err(ProjectError::Sensor {
                    part: self.part.facts().title,
                    what: "the model observes no real numbers".to_owned(),
                });
            }
            let each = if lacks { "measured.map(Some)" } else { "measured" };
            ("", format!("Some({each})"))
        } else {
            let each: Vec<String> = each
                .zip(observed.places)
                .map(|(value, &places)| {
                    let scale = f64::from(places).exp2() as f32;
                    let integer = format!("integer({value} * {scale:?})?");
                    if lacks { format!("Some({integer})") } else { integer }
                })
                .collect();
            (INTEGER, format!("Some([{}])", each.join(", ")))
        };
        let values = [("{{count}}", self.channels.to_string()), ("{{observe}}", observe)];
        Ok(fill(include_str!("template/sensors/next.rs"), &values) + before)
    }

    /// `sensor.rs` of a program that records.
    pub(super) fn record_source() -> &'static str {
        include_str!("template/sensors/record.rs")
    }
}

/// The nearest integer of 16 bits.
const INTEGER: &str = "
/// The nearest integer; `None` if 16 bits do not hold it.
fn integer(x: f32) -> Option<i16> {
    let rounded = if x < 0.0 { x - 0.5 } else { x + 0.5 };
    // Towards zero.
    (-32_768.5 < x && x < 32_767.5).then_some(rounded as i16)
}
";

/// The text with a capital at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn samples_come_in_the_units_of_the_channels_at_a_rate_of_the_sensor() {
        let sensor = Sensor::new(
            SensorPart::Lsm6dso,
            &channels("ax [g],ay [m/s2],az [mg],gx [dps],gy [rad/s],gz"),
            &channels("g,rad/s"),
            50.0,
        )
        .expect("measured");
        let g = 1.0 / 9.806_65;
        let degrees = 180.0 / std::f64::consts::PI;
        let wanted = [g, 1.0, 1000.0 * g, degrees, 1.0, 1.0];
        for (factor, wanted) in sensor.factors.iter().zip(wanted) {
            assert!((factor - wanted).abs() < 1e-12 * wanted, "{factor} {wanted}");
        }
        assert_eq!((sensor.rate(), &*sensor.odr.1), (52.0, "Rate52"));
        for (part, rate, own) in [
            (SensorPart::Lis2dh12, 50.0, 50.0),
            (SensorPart::Lis2dh12, 51.0, 100.0),
            (SensorPart::Bmi270, 1.0, 25.0),
            (SensorPart::Mpu6050, 50.0, 50.0),
            (SensorPart::Mpu6050, 1.0, 1000.0 / 256.0),
        ] {
            let sensor = Sensor::new(part, &channels("x [g],y [g],z [g]"), &[], rate);
            assert_eq!(sensor.expect("measured").rate(), own, "{part:?} {rate}");
        }
    }

    #[test]
    fn what_a_sensor_does_not_measure_is_refused() {
        for (part, names, rate, wanted) in [
            (SensorPart::Lis2dh12, "x [g],y [g]", 50.0, "3 channels"),
            (SensorPart::Lis2dh12, "a [g],b [g],c [g],d [g],e [g],f [g]", 50.0, "3 channels"),
            (SensorPart::Bmi270, "x [g],z [g],y [g]", 50.0, "`z [g]`"),
            (SensorPart::Bmi270, "x,y,z", 50.0, "--units"),
            (SensorPart::Bmi270, "x [V],y [V],z [V]", 50.0, "an acceleration"),
            (SensorPart::Lsm6dso, "x [g],y [g],z [g],u [g],v [g],w [g]", 50.0, "a turning rate"),
            (SensorPart::Lis2dh12, "x [g],y [g],z [g]", 500.0, "up to 400"),
            (SensorPart::Mpu6050, "x [g],y [g],z [g]", 2000.0, "up to 1000"),
        ] {
            let error = Sensor::new(part, &channels(names), &[], rate).expect_err("refused");
            assert!(error.to_string().contains(wanted), "{error}");
        }
    }
}
