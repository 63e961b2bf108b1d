//! Classifies the samples of an accelerometer, and survives the sensor's faults.
//!
//! Every [`POLL_MS`] it asks whether data are ready, empties the FIFO over the I2C bus, and pushes the
//! samples. Its output is lines of text:
//!
//! ```text
//! decision <sample> <class> <margin>       at the end of every window, or of every block of samples without windows
//! fault <sample> <what>                    the sensor has a fault; reported once until it is over
//! lost <sample> <count> [reset]            the fault is over; <count> samples were lost
//! done <samples> <lost> <refused> <faults>
//! ```
//!
//! Samples are counted from 1, lost ones included; margins are the eight hexadecimal digits of an
//! `f32`. What a fault leads to:
//!
//! | fault | found by | then |
//! |---|---|---|
//! | `no answer`, `bus error` | an I2C transaction | polled on; the FIFO keeps 32 samples (0.64 s) meanwhile |
//! | `overrun` | the FIFO's flag | the samples overwritten are counted by the clock |
//! | `stalled` | no data ready for [`TIMEOUT_MS`] | the sensor is set up anew, as after a loss of power |
//! | `stranger` | `WHO_AM_I` | asked again |
//!
//! Lost samples are pushed as missing, so that time keeps its meaning to the models; after more than
//! [`LONGEST_GAP`] of them, or of those that the windows of the model bear, the past says nothing, and the classifier
//! begins anew. Their number is
//! the time waited times the rate: exact to a sample as far as the sensor's clock is. The time of the
//! bus transfers themselves is not counted.

mod accelerometer;
#[cfg(test)]
#[allow(unreachable_pub, reason = "the tests of the main workspace compile this file too")]
mod simulated;
#[cfg(test)]
mod tests;

use core::fmt;

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_hal::i2c::I2c;
use embedded_io::Write;

pub use accelerometer::{
    Accelerometer, FIFO_DEPTH, FifoStatus, G_PER_DIGIT, RATE_HERTZ, Sa0Pad, SensorFault,
};

use super::conversation::write_line;
#[cfg(any(feature = "async", test))]
use super::conversation::write_line_async;
use super::lines::{Class, decided};
use crate::alarm::Alarm;
use crate::classifier::{ClassifierStream, Due};
use crate::log::log;

/// Milliseconds between two polls of the FIFO: eight samples, a quarter of its capacity.
pub const POLL_MS: u32 = 160;
/// Milliseconds without data after which the sensor has stalled.
pub const TIMEOUT_MS: u32 = 3 * POLL_MS;
/// Samples that may be lost before the stream counts as a new one: half a minute.
pub const LONGEST_GAP: u32 = 30 * RATE_HERTZ;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Samples, lost ones included.
    pub samples: u32,
    /// Samples that the sensor lost.
    pub lost: u32,
    /// Samples that the models refused; pushed as missing.
    pub refused: u32,
    /// Troubles of the sensor.
    pub faults: u32,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, lost, refused, faults } = self;
        write!(f, "done {samples} {lost} {refused} {faults}")
    }
}

/// Watches the sensor as long as `goes_on` returns `true`. The alarm is raised while a class other than the first is decided.
///
/// # Errors
/// When the output fails. What is wrong with the sensor goes to the output, and it is tried again.
pub fn watch_sensor<I, D, S, C, P, const MODELS: usize>(
    sensor: &mut Accelerometer<I>,
    delay: &mut D,
    output: &mut S,
    classifier: &mut C,
    classes: &[&str],
    alarm: &mut Alarm<P>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Report, S::Error>
where
    I: I2c,
    D: DelayNs,
    S: Write,
    C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    P: OutputPin,
{
    let mut watch = Watch::default();
    while goes_on() {
        if let Some(ms) = watch.pause() {
            delay.delay_ms(ms);
            watch.wait(ms);
        }
        let (outcome, told) = watch.look(sensor, classifier, classes);
        show(alarm, &told);
        for line in told.into_iter().flatten() {
            write_line(output, format_args!("{line}"))?;
        }
        // At the end of the world nothing is at fault.
        if let Some(fault) = watch.news(outcome).filter(|_| goes_on()) {
            write_line(output, format_args!("{}", watch.at_fault(fault)))?;
        }
    }
    write_line(output, format_args!("{}", watch.report))?;
    Ok(watch.end())
}

/// [`watch_sensor`] beside others, which run while it waits for the clock and the output: the same bytes out.
///
/// The bus is waited for here too, some 2 ms at 400 kHz for the eight samples of a look: the sensor's driver has no
/// other form.
///
/// # Errors
/// As [`watch_sensor`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn watch_sensor_async<I, D, S, C, P, const MODELS: usize>(
    sensor: &mut Accelerometer<I>,
    delay: &mut D,
    output: &mut S,
    classifier: &mut C,
    classes: &[&str],
    alarm: &mut Alarm<P>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Report, S::Error>
where
    I: I2c,
    D: embedded_hal_async::delay::DelayNs,
    S: embedded_io_async::Write,
    C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    P: OutputPin,
{
    let mut watch = Watch::default();
    while goes_on() {
        if let Some(ms) = watch.pause() {
            delay.delay_ms(ms).await;
            watch.wait(ms);
        }
        let (outcome, told) = watch.look(sensor, classifier, classes);
        show(alarm, &told);
        for line in told.into_iter().flatten() {
            write_line_async(output, line).await?;
        }
        if let Some(fault) = watch.news(outcome).filter(|_| goes_on()) {
            write_line_async(output, watch.at_fault(fault)).await?;
        }
    }
    write_line_async(output, watch.report).await?;
    Ok(watch.end())
}

/// Raises the alarm while a class other than the first is decided. A pin that fails is tried again at the next decision.
fn show<P: OutputPin>(alarm: &mut Alarm<P>, told: &[Option<Line<'_>>]) {
    for line in told.iter().flatten() {
        if let Line::Decision { is_first, .. } = line {
            let _ = alarm.set(!is_first);
        }
    }
}

/// Answer to the host.
enum Line<'c> {
    /// `is_first` also where nothing can be decided.
    Decision {
        sample: u32,
        class: Class<'c>,
        margin: u32,
        is_first: bool,
    },
    Fault {
        sample: u32,
        fault: SensorFault,
    },
    Lost {
        sample: u32,
        gap: u32,
        reset: bool,
    },
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decision { sample, class, margin, .. } => {
                write!(f, "decision {sample} {class} {margin:08x}")
            }
            Self::Fault { sample, fault } => write!(f, "fault {sample} {fault}"),
            Self::Lost { sample, gap, reset } => {
                let reset = if *reset { " reset" } else { "" };
                write!(f, "lost {sample} {gap}{reset}")
            }
        }
    }
}

/// Samples that may be lost before the stream counts as a new one.
fn longest_gap<C, const MODELS: usize>(classifier: &C) -> u32
where
    C: ClassifierStream<MODELS, Sample = [f32; 3]>,
{
    classifier.contract().windows.map_or(LONGEST_GAP, |windows| windows.longest_gap)
}

/// Progress of the stream.
#[derive(Debug, Default)]
struct Watch {
    report: Report,
    /// Set up, and not known to have stalled since.
    is_running: bool,
    /// Fault of the sensor, until a block has been read.
    fault: Option<SensorFault>,
    /// Samples may be missing before those in the FIFO.
    has_gap: bool,
    /// Since the last sample that was in time, or since the sensor was first set up: milliseconds
    /// waited, and samples read or given up.
    waited_ms: u32,
    taken: u32,
    /// Milliseconds without data, or since the sensor was set up anew.
    idle_ms: u32,
    /// Lost samples that are still to be pushed as missing.
    lost: u32,
    /// The next look is to follow at once.
    at_once: bool,
}

impl Watch {
    /// Milliseconds to wait before the next look.
    fn pause(&self) -> Option<u32> {
        (!self.at_once).then_some(POLL_MS)
    }

    /// Polls once: returns the outcome, and the line to report.
    fn look<'c, I, C, const MODELS: usize>(
        &mut self,
        sensor: &mut Accelerometer<I>,
        classifier: &mut C,
        classes: &[&'c str],
    ) -> (Result<(), SensorFault>, [Option<Line<'c>>; 2])
    where
        I: I2c,
        C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    {
        let before = self.report;
        self.at_once = false;
        let outcome = self.poll(sensor, classifier);
        // An overrun is reported before the FIFO is read, and every moment counts; so is a window.
        self.at_once = outcome == Err(SensorFault::Overrun) || self.at_once;
        let Report { samples, lost, .. } = self.report;
        let gap = lost - before.lost;
        let reset = gap > longest_gap(classifier);
        let told = Line::Lost { sample: before.samples + gap, gap, reset };
        let lost = (gap > 0).then_some(told);
        // At the end of each window, or of every block of samples without windows.
        let has_windows = classifier.contract().windows.is_some();
        let pushed =
            if has_windows { samples > before.samples } else { samples - before.samples > gap };
        let decision = (pushed && classifier.due() == Due::Decided).then(|| {
            let decision = classifier.decision();
            let is_first = !decision.is_ok_and(|decision| decision.class > 0);
            let (class, margin) = decided(decision, classes);
            Line::Decision { sample: samples, class, margin, is_first }
        });
        (outcome, [lost, decision])
    }

    /// The fault of a look, where it is not known already.
    fn news(&self, outcome: Result<(), SensorFault>) -> Option<SensorFault> {
        outcome.err().filter(|&fault| self.fault != Some(fault))
    }

    /// Takes note of a fault, until a block has been read.
    fn at_fault(&mut self, fault: SensorFault) -> Line<'static> {
        log!(warn, "sensor: {}", fault);
        self.fault = Some(fault);
        self.report.faults += 1;
        Line::Fault { sample: self.report.samples, fault }
    }

    fn end(&self) -> Report {
        log!(info, "{=u32} samples, {=u32} lost", self.report.samples, self.report.lost);
        self.report
    }

    fn wait(&mut self, ms: u32) {
        self.waited_ms = self.waited_ms.saturating_add(ms);
        self.idle_ms = self.idle_ms.saturating_add(ms);
    }

    /// Takes the samples that the sensor has.
    fn poll<I, C, const MODELS: usize>(
        &mut self,
        sensor: &mut Accelerometer<I>,
        classifier: &mut C,
    ) -> Result<(), SensorFault>
    where
        I: I2c,
        C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    {
        if self.fill(classifier) {
            return Ok(());
        }
        if !self.is_running {
            return self.start(sensor);
        }
        let FifoStatus { samples, full } = sensor.waiting()?;
        if samples == 0 {
            if self.idle_ms < TIMEOUT_MS {
                return Ok(());
            }
            self.is_running = false;
            return Err(SensorFault::Stalled);
        }
        if full && self.fault != Some(SensorFault::Overrun) {
            self.has_gap = true;
            return Err(SensorFault::Overrun);
        }
        if self.has_gap {
            self.close_gap(samples.into(), classifier);
            if self.fill(classifier) {
                return Ok(());
            }
        }
        let has_windows = classifier.contract().windows.is_some();
        let mut waiting = u32::from(samples);
        while waiting > 0 {
            let x = sensor.sample()?;
            waiting -= 1;
            self.taken += 1;
            self.report.samples += 1;
            if classifier.push(Some(&x)).is_err() {
                self.report.refused += 1;
            }
            if has_windows && classifier.due() == Due::Decided {
                // A decision is reported before the rest is read.
                self.at_once = waiting > 0;
                if self.at_once {
                    return Ok(());
                }
            }
        }
        // A sample more or less is the clocks'. Others that are late may never come: the next block tells.
        let late = self.due().saturating_sub(self.taken);
        let has_gap = late > 1;
        let waited_ms = if has_gap { late * 1000 / RATE_HERTZ } else { 0 };
        *self =
            Self { report: self.report, is_running: true, has_gap, waited_ms, ..Self::default() };
        Ok(())
    }

    /// Samples that should have come in the time waited.
    fn due(&self) -> u32 {
        let due = (u64::from(self.waited_ms) * u64::from(RATE_HERTZ) + 500) / 1000;
        u32::try_from(due).unwrap_or(u32::MAX)
    }

    fn start<I: I2c>(&mut self, sensor: &mut Accelerometer<I>) -> Result<(), SensorFault> {
        sensor.start()?;
        self.is_running = true;
        self.idle_ms = 0;
        // Before the first sample nothing can be lost.
        self.has_gap = self.report.samples > 0;
        if !self.has_gap {
            self.waited_ms = 0;
        }
        Ok(())
    }

    /// Makes up for the time without samples, up to those that wait in the FIFO.
    fn close_gap<C, const MODELS: usize>(&mut self, waiting: u32, classifier: &mut C)
    where
        C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    {
        let lost = self.due().saturating_sub(self.taken + waiting);
        self.has_gap = false;
        self.taken += lost;
        if lost > longest_gap(classifier) {
            classifier.reset();
            self.count_lost(lost);
        } else {
            self.lost = lost;
        }
    }

    /// Pushes lost samples as missing, up to the end of a window: whether there was one.
    fn fill<C, const MODELS: usize>(&mut self, classifier: &mut C) -> bool
    where
        C: ClassifierStream<MODELS, Sample = [f32; 3]>,
    {
        let has_windows = classifier.contract().windows.is_some();
        while self.lost > 0 {
            self.lost -= 1;
            let _ = classifier.push(None);
            self.count_lost(1);
            if has_windows && classifier.due() == Due::Decided {
                self.at_once = true;
                return true;
            }
        }
        false
    }

    fn count_lost(&mut self, lost: u32) {
        self.report.samples += lost;
        self.report.lost += lost;
    }
}
