//! Sends the samples of a sensor to a host that records them: `fishweir record`.
//!
//! Samples are numbered from the start of the device and sent once, as [`MeasuredSample`]s. The host knows by the numbers
//! which ones the line lost. Between samples the channels are described, one after another and again and again
//! ([`ChannelDescription`]), so that a host may come at any time. Nothing is asked of the device: it only writes.
//!
//! ```
//! use fishweir_device::applications::record::Recorder;
//!
//! # struct Line(Vec<u8>);
//! # impl embedded_io::ErrorType for Line { type Error = core::convert::Infallible; }
//! # impl embedded_io::Write for Line {
//! #     fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> { self.0.extend(bytes); Ok(bytes.len()) }
//! #     fn flush(&mut self) -> Result<(), Self::Error> { Ok(()) }
//! # }
//! # fn main() -> Result<(), core::convert::Infallible> {
//! # let mut serial = Line(Vec::new());
//! # let mut measure = || Some([0.0_f32, 0.5, 9.81]);
//! // Fifty samples per second.
//! let mut recorder = Recorder::new(["ax [m/s^2]", "ay [m/s^2]", "az [m/s^2]"], 20_000_000);
//! for _ in 0..100 {
//!     recorder.push(&mut serial, measure().as_ref())?;
//! #   let wait_for_the_next_sample = || ();
//!     wait_for_the_next_sample();
//! }
//! # Ok(()) }
//! ```

use embedded_io::Write;
use fishweir_core::wire::{
    ChannelDescription, F32, Frame, MeasuredSample, SampleIndex, U16, VERSION,
};

/// Sender of the samples of a sensor with `CHANNELS` channels.
///
/// RAM: the names' addresses and 24 bytes on a 32-bit part; on the stack a frame of a sample or of 80 bytes. On the line: a
/// sample takes `4 CHANNELS + 11` bytes, descriptions at most 304 bytes per second, or one per sample.
#[derive(Clone, Debug)]
pub struct Recorder<'a, const CHANNELS: usize> {
    names: [&'a str; CHANNELS],
    period_ns: u64,
    /// Number of the next sample.
    number: u32,
    /// The channel that is described next, and the samples until then.
    channel: usize,
    pause: u32,
}

/// Nanoseconds between two descriptions.
const DESCRIBED_EVERY: u64 = 250_000_000;

impl<'a, const CHANNELS: usize> Recorder<'a, CHANNELS> {
    /// A recorder before the first sample of channels with these names, intended to come every `period_ns` nanoseconds; 0 if
    /// they have no period.
    ///
    /// A name longer than [`ChannelDescription::NAME_LONGEST`] bytes is cut. The host refuses names that are empty, or that
    /// two channels have.
    #[must_use]
    pub const fn new(names: [&'a str; CHANNELS], period_ns: u64) -> Self {
        const {
            assert!(CHANNELS > 0 && CHANNELS <= u16::MAX as usize, "no or too many channels");
        }
        Self { names, period_ns, number: 0, channel: 0, pause: 0 }
    }

    /// Sends the next sample; `None` is one that was not observed. So is a channel that is NaN.
    ///
    /// # Errors
    /// When the output fails. The sample is lost then, and its number with it: the next sample may be sent all the same.
    pub fn push<S: Write>(
        &mut self,
        serial: &mut S,
        sample: Option<&[f32; CHANNELS]>,
    ) -> Result<(), S::Error> {
        let frame = self.sample(sample);
        let description = self.description();
        serial.write_all(frame.as_bytes())?;
        if let Some(description) = description {
            serial.write_all(description.as_bytes())?;
        }
        serial.flush()
    }

    /// [`push`](Self::push) over a line that others run beside: the same bytes out.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    #[cfg(any(feature = "async", test))]
    #[cfg_attr(docsrs, doc(cfg(feature = "async")))]
    pub async fn push_async<S: embedded_io_async::Write>(
        &mut self,
        serial: &mut S,
        sample: Option<&[f32; CHANNELS]>,
    ) -> Result<(), S::Error> {
        let frame = self.sample(sample);
        let description = self.description();
        serial.write_all(frame.as_bytes()).await?;
        if let Some(description) = description {
            serial.write_all(description.as_bytes()).await?;
        }
        serial.flush().await
    }

    fn sample(&mut self, sample: Option<&[f32; CHANNELS]>) -> Frame<MeasuredSample<CHANNELS>> {
        let mut values = [F32::new(f32::NAN); CHANNELS];
        if let Some(sample) = sample {
            for (value, &measured) in values.iter_mut().zip(sample) {
                *value = F32::new(measured);
            }
        }
        let head = SampleIndex::from_number(self.number).head(MeasuredSample::<CHANNELS>::TAG);
        self.number = self.number.wrapping_add(1);
        Frame::new(&MeasuredSample { head, values })
    }

    /// Description of the next channel, if one is due.
    fn description(&mut self) -> Option<Frame<ChannelDescription>> {
        if let Some(pause) = self.pause.checked_sub(1) {
            self.pause = pause;
            return None;
        }
        let channel = self.channel;
        self.channel = if channel + 1 < CHANNELS { channel + 1 } else { 0 };
        // At first all of them, each after a sample.
        if self.number as usize >= CHANNELS {
            let samples = DESCRIBED_EVERY.checked_div(self.period_ns).unwrap_or(16);
            self.pause = u32::try_from(samples).unwrap_or(u32::MAX).saturating_sub(1);
        }
        let mut name = [0; ChannelDescription::NAME_LONGEST];
        let text = self.names.get(channel).copied().unwrap_or_default();
        let end = (0..=name.len()).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        for (to, &byte) in name.iter_mut().zip(text.as_bytes().get(..end).unwrap_or_default()) {
            *to = byte;
        }
        Some(Frame::new(&ChannelDescription {
            head: SampleIndex::from_number(self.number).head(ChannelDescription::TAG),
            version: VERSION,
            channel: U16::new(channel as u16),
            channels: U16::new(CHANNELS as u16),
            period_ns: self.period_ns.into(),
            name,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use embassy_futures::block_on;
    use fishweir_core::wire::{Head, Receiver};
    use zerocopy::FromBytes;

    use super::*;
    use crate::applications::wire::{Later, Wire};

    const LONG: &str = "\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}\u{e4}a\u{e4}\u{e4}";

    /// Number of a sample, and the bits of its values.
    type Sample = (u32, [u32; 2]);

    /// The samples on a line, and the described channels, by index.
    fn read(bytes: &[u8]) -> (Vec<Sample>, Vec<(u16, String)>) {
        let (mut receiver, mut room) = (Receiver::new(), [0; 96]);
        let (mut samples, mut described) = (Vec::new(), Vec::new());
        for &byte in bytes {
            let Some(length) = receiver.push(byte, &mut room) else { continue };
            let record = &room[..length];
            let (head, _) = Head::split(record).expect("a head");
            if head.tag == ChannelDescription::TAG {
                let one = ChannelDescription::read_from_bytes(record).expect("a description");
                assert_eq!((one.channels.get(), one.version), (2, VERSION));
                assert_eq!(one.head.sample_index().number(), samples.len() as u32);
                let end = one.name.iter().position(|&byte| byte == 0).unwrap_or(one.name.len());
                let name = std::str::from_utf8(&one.name[..end]).expect("UTF-8");
                described.push((one.channel.get(), name.into()));
            } else {
                let sample = MeasuredSample::<2>::read_from_bytes(record).expect("a sample");
                assert_eq!(sample.head.tag, MeasuredSample::<2>::TAG);
                let values = sample.values.map(|value| value.get().to_bits());
                samples.push((sample.head.sample_index().number(), values));
            }
        }
        assert_eq!(receiver.corrupt(), 0);
        (samples, described)
    }

    fn measured(t: u32) -> Option<[f32; 2]> {
        (t % 7 != 3).then_some([t as f32, -0.5 * t as f32])
    }

    #[test]
    fn samples_are_numbered_and_channels_described_in_both_forms() {
        let mut recorder = Recorder::new(["x", LONG], 10_000_000);
        let mut line = Wire::default();
        for t in 0..60 {
            recorder.push(&mut line, measured(t).as_ref()).expect("memory");
        }
        let (samples, described) = read(line.received());
        let nan = [f32::NAN; 2];
        let expected = (0..60).map(|t| (t, measured(t).unwrap_or(nan).map(f32::to_bits)));
        assert_eq!(samples, expected.collect::<Vec<_>>());
        // Both at once, then one each quarter of a second, the long name cut between two letters.
        let cut = LONG.chars().take(24).collect::<String>();
        assert_eq!(cut.len(), ChannelDescription::NAME_LONGEST - 1);
        assert_eq!(described, [(0, "x".into()), (1, cut.clone()), (0, "x".into()), (1, cut)]);

        let mut later = Wire::default();
        let mut recorder = Recorder::new(["x", LONG], 10_000_000);
        for t in 0..60 {
            let sample = measured(t);
            block_on(recorder.push_async(&mut Later(&mut later), sample.as_ref())).expect("memory");
        }
        assert_eq!(later.received(), line.received());
    }

    #[test]
    fn numbers_go_on_and_a_sample_that_fails_has_one() {
        let mut recorder = Recorder::new(["x", "y"], 0);
        recorder.number = 0xFFFF;
        let mut line = Wire::default();
        recorder.push(&mut line, None).expect("memory");
        recorder.push(&mut [0; 4].as_mut_slice(), None).expect_err("no room");
        recorder.push(&mut line, None).expect("memory");
        let heads = read_heads(line.received());
        assert_eq!(heads, [0xFFFF, 0x1_0001]);
        recorder.number = 0x100_0000;
        let mut line = Wire::default();
        recorder.push(&mut line, None).expect("memory");
        assert_eq!(read_heads(line.received()), [0]);
    }

    fn read_heads(bytes: &[u8]) -> Vec<u32> {
        let (mut receiver, mut room, mut numbers) = (Receiver::new(), [0; 96], Vec::new());
        for &byte in bytes {
            let Some(length) = receiver.push(byte, &mut room) else { continue };
            let (head, _) = Head::split(&room[..length]).expect("a head");
            if head.tag == MeasuredSample::<2>::TAG {
                numbers.push(head.sample_index().number());
            }
        }
        numbers
    }
}
