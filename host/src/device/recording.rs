//! Samples of a device that runs `record`: it sends what it measures, the host keeps it as takes.

use std::io::Read;
use std::time::Instant;

use fishweir_core::wire::{
    ChannelDescription, F32, LONGEST_GAP, MeasuredSample, SampleIndex, VERSION,
};
use zerocopy::FromBytes;

use super::line::{Line, LineEvent};
use super::session::{bad, read};
use super::{DeviceError, Options};

/// Receiver of the samples of a device.
pub struct SampleListener<'o, R> {
    line: Line<'o, R>,
    channels: Vec<String>,
    period: Option<f64>,
}

impl<'o, R: Read> SampleListener<'o, R> {
    /// Listens until the device has described all channels of its samples.
    ///
    /// # Errors
    /// When the link fails, when no description of some channel comes within [`Options::patience`], or when the device sends
    /// records of another application, or names that no table can have.
    pub fn new(reader: R, options: &'o Options) -> Result<Self, DeviceError> {
        let mut line = Line::new(reader, options);
        let began = Instant::now();
        let mut names: Vec<Option<String>> = Vec::new();
        loop {
            match line.hear(0)? {
                LineEvent::Record(head, rest) if head.tag == ChannelDescription::TAG => {
                    let one: ChannelDescription = read(head, &rest, 0)?;
                    let (channel, name, period) = described(&one)?;
                    names.resize(one.channels.get().into(), None);
                    if let Some(place) = names.get_mut(channel) {
                        *place = Some(name);
                    }
                    if let Some(channels) = names.iter().cloned().collect::<Option<Vec<_>>>() {
                        check_names(&channels)?;
                        line.expect_records_of(size_of::<F32>() * (channels.len() + 1));
                        return Ok(Self { line, channels, period });
                    }
                }
                LineEvent::Record(head, _) if head.tag != MeasuredSample::<0>::TAG => {
                    return Err(bad(0, format!("tag {:#04x}, of another application", head.tag)));
                }
                LineEvent::End => return Err(DeviceError::Stopped { answers: 0 }),
                _ if began.elapsed() > options.patience => {
                    return Err(DeviceError::NotDescribed { seconds: options.patience.as_secs() });
                }
                _ => {}
            }
        }
    }

    /// Names of the channels, each with its unit in brackets where it has one.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// Sample period in seconds that the device intends; `None` if it states none.
    pub fn period(&self) -> Option<f64> {
        self.period
    }

    /// Frames that arrived damaged.
    pub fn corrupt(&self) -> u64 {
        self.line.corrupt()
    }

    /// Takes in samples until `goes_on` returns `false`; it is asked before each wait, at least once every
    /// [`Options::retry`].
    ///
    /// Lost samples become missing ones by their numbers; a doubled sample is dropped. A number that goes back, or that is
    /// further ahead than the time that has passed bears, is of a device that restarted.
    ///
    /// Returns the samples so far, and why they end before they were to.
    ///
    /// # Errors
    /// In the second part: when the link fails or is silent for longer than [`Options::patience`], when the device restarted
    /// ([`DeviceError::Restarted`]), or when its samples are not those that it described.
    pub fn record(
        &mut self,
        goes_on: &mut dyn FnMut(&Take) -> bool,
    ) -> (Take, Result<(), DeviceError>) {
        let mut take = Take::new(self.channels.len(), self.period);
        loop {
            if !goes_on(&take) {
                return (take, Ok(()));
            }
            if let Err(error) = self.hear_sample(&mut take) {
                return (take, Err(error));
            }
        }
    }

    fn hear_sample(&mut self, take: &mut Take) -> Result<(), DeviceError> {
        let answers = take.samples();
        match self.line.hear(answers)? {
            LineEvent::Record(head, rest) if head.tag == MeasuredSample::<0>::TAG => {
                let Some(values) =
                    <[F32]>::ref_from_bytes(&rest).ok().filter(|all| all.len() == take.channels)
                else {
                    let (bytes, channels) = (rest.len(), take.channels);
                    return Err(bad(answers, format!("{bytes} bytes for {channels} channels")));
                };
                let values = values.iter().map(|value| value.get());
                match take.push(head.sample_index(), values, Instant::now()) {
                    true => Ok(()),
                    false => Err(DeviceError::Restarted { samples: answers }),
                }
            }
            LineEvent::Record(head, rest) if head.tag == ChannelDescription::TAG => {
                let one: ChannelDescription = read(head, &rest, answers)?;
                let (channel, name, period) = described(&one)?;
                let same = self.channels.get(channel) == Some(&name) && period == self.period;
                if same && usize::from(one.channels.get()) == self.channels.len() {
                    return Ok(());
                }
                Err(bad(answers, format!("another description of channel {channel}: `{name}`")))
            }
            LineEvent::Record(head, _) => Err(bad(answers, format!("tag {:#04x}", head.tag))),
            LineEvent::Silence => Ok(()),
            LineEvent::End => Err(DeviceError::Stopped { answers }),
        }
    }
}

/// Index and name of a described channel, and the intended sample period in seconds.
fn described(one: &ChannelDescription) -> Result<(usize, String, Option<f64>), DeviceError> {
    if one.version != VERSION {
        return Err(DeviceError::Version { found: one.version });
    }
    let end = one.name.iter().position(|&byte| byte == 0).unwrap_or(one.name.len());
    let name = one.name.get(..end).and_then(|name| std::str::from_utf8(name).ok());
    let channel = usize::from(one.channel.get());
    let name =
        name.ok_or_else(|| bad(0, format!("a name of channel {channel} that is no UTF-8")))?;
    let period = one.period_ns.get();
    Ok((channel, name.to_owned(), (period > 0).then(|| period as f64 / 1e9)))
}

/// Refuses names that would not be those of channels in a table.
///
/// # Errors
/// [`DeviceError::ChannelName`] naming the first that is empty, a repetition, or the name of another column.
pub fn check_names(channels: &[String]) -> Result<(), DeviceError> {
    for (index, name) in channels.iter().enumerate() {
        let plain = name.split(['[', '(']).next().unwrap_or_default().trim().to_lowercase();
        let why = match plain.as_str() {
            "" => "a name must not be empty",
            "series" | "label" | "t" | "time" => "a column of the table has this name",
            _ if channels[..index].contains(name) => "two channels have this name",
            _ if name.contains(char::is_control) => "a control character is in it",
            _ if name.len() > ChannelDescription::NAME_LONGEST => "a name has at most 48 bytes",
            _ => continue,
        };
        return Err(DeviceError::ChannelName { channel: index + 1, name: name.clone(), why });
    }
    Ok(())
}

/// Samples in a row: one series.
#[derive(Clone, Debug)]
pub struct Take {
    channels: usize,
    /// `[sample][channel]`; NaN where missing.
    values: Vec<f32>,
    /// Intended sample period in seconds.
    stated: Option<f64>,
    last: Option<SampleIndex>,
    began: Instant,
    lost: usize,
    repeated: u64,
    clock: Clock,
}

/// Values further ahead than half of the numbers are in the past.
const AHEAD: u32 = 1 << 23;

impl Take {
    fn new(channels: usize, stated: Option<f64>) -> Self {
        let (values, began, clock) = (Vec::new(), Instant::now(), Clock::default());
        Self { channels, values, stated, last: None, began, lost: 0, repeated: 0, clock }
    }

    /// Number of samples, lost ones included.
    pub fn samples(&self) -> usize {
        self.values.len() / self.channels.max(1)
    }

    /// Number of samples that the line lost.
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Number of samples that came twice and are in it once.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Seconds since the first sample; 0 before it.
    pub fn seconds(&self) -> f64 {
        self.last.map_or(0.0, |_| self.began.elapsed().as_secs_f64())
    }

    /// Samples in order, `[channel]`; NaN where a channel was lost or not observed.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.channels.max(1))
    }

    /// Sample period by this machine's clock, from the times at which samples arrived; `None` of fewer than three samples.
    pub fn measured(&self) -> Option<MeasuredPeriod> {
        self.clock.period()
    }

    /// Takes in a sample; `false` if its number is of a device that restarted.
    fn push(
        &mut self,
        index: SampleIndex,
        values: impl Iterator<Item = f32>,
        now: Instant,
    ) -> bool {
        let ahead = match self.last {
            None => 1,
            Some(last) => index.number().wrapping_sub(last.number()) & 0xFF_FFFF,
        };
        if ahead == 0 {
            self.repeated += 1;
            return true;
        }
        if self.last.is_none() {
            self.began = now;
        }
        let seconds = (now - self.began).as_secs_f64();
        let lost = (ahead - 1) as usize;
        let bears = self.stated.is_none_or(|period| lost as f64 * period <= 2.0 * seconds + 2.0);
        if ahead > AHEAD || (lost > usize::from(LONGEST_GAP) && !bears) {
            return false;
        }
        self.lost += lost;
        self.values.resize(self.values.len() + lost * self.channels, f32::NAN);
        // What is no number is no measurement.
        let finite = |value: f32| if value.is_finite() { value } else { f32::NAN };
        self.clock.push(self.samples() as f64, seconds);
        self.values.extend(values.map(finite));
        self.last = Some(index);
        true
    }
}

/// Sample period of a take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPeriod {
    /// Period in seconds.
    pub seconds: f64,
    /// Its standard error, relative to it.
    pub relative_error: f64,
}

/// Least squares of the times of arrival over the numbers of the samples.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    count: f64,
    /// Means of number and time, and their sums of squares and products about them.
    means: [f64; 2],
    squares: [f64; 3],
}

impl Clock {
    fn push(&mut self, number: f64, time: f64) {
        self.count += 1.0;
        let before = [number - self.means[0], time - self.means[1]];
        for (mean, difference) in self.means.iter_mut().zip(before) {
            *mean += difference / self.count;
        }
        let after = [number - self.means[0], time - self.means[1]];
        for (sum, product) in self.squares.iter_mut().zip([
            before[0] * after[0],
            before[0] * after[1],
            before[1] * after[1],
        ]) {
            *sum += product;
        }
    }

    fn period(&self) -> Option<MeasuredPeriod> {
        let [numbers, both, times] = self.squares;
        let seconds = both / numbers;
        if self.count < 3.0 || seconds <= 0.0 {
            return None;
        }
        let left = (times - seconds * both).max(0.0) / (self.count - 2.0);
        Some(MeasuredPeriod { seconds, relative_error: (left / numbers).sqrt() / seconds })
    }
}

#[cfg(test)]
mod tests;
