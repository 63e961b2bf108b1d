//! Frames of a device, as a line lost and damaged them.

use std::io::Cursor;
use std::time::Duration;

use fishweir_core::wire::Frame;

use super::*;

const NAMES: [&str; 2] = ["ax [g]", "ay [g]"];

fn sample(number: u32) -> Vec<u8> {
    let head = SampleIndex::from_number(number).head(MeasuredSample::<2>::TAG);
    let values = [number as f32, -0.25 * number as f32].map(F32::new);
    Frame::new(&MeasuredSample { head, values }).as_bytes().to_vec()
}

fn description(channel: u16, name: &str) -> Vec<u8> {
    let mut bytes = [0; ChannelDescription::NAME_LONGEST];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Frame::new(&ChannelDescription {
        head: SampleIndex::default().head(ChannelDescription::TAG),
        version: VERSION,
        channel: channel.into(),
        channels: 2.into(),
        period_ns: 10_000_000.into(),
        name: bytes,
    })
    .as_bytes()
    .to_vec()
}

fn described() -> Vec<u8> {
    [description(1, NAMES[1]), sample(4), description(0, NAMES[0])].concat()
}

/// A take of all that comes after the descriptions, and why it ended.
fn take(frames: &[u8]) -> (Take, DeviceError) {
    let options = Options::default();
    let bytes = [&described(), frames].concat();
    let mut listener = SampleListener::new(Cursor::new(bytes), &options).expect("described");
    assert_eq!(
        (listener.channels(), listener.period()),
        (&NAMES.map(str::to_owned)[..], Some(0.01))
    );
    let (take, ended) = listener.record(&mut |_| true);
    (take, ended.expect_err("the line ends"))
}

/// Numbers of the samples, `None` where missing; each must hold what was sent under its number.
fn numbers(take: &Take) -> Vec<Option<u32>> {
    let row = |row: &[f32]| {
        let [x, y] = *row else { panic!("two channels") };
        assert!(x.is_nan() == y.is_nan() && (x.is_nan() || y == -0.25 * x), "{row:?}");
        (!x.is_nan()).then_some(x as u32)
    };
    take.rows().map(row).collect()
}

#[test]
fn whatever_is_damaged_or_lost_no_sample_is_invented() {
    let frames: Vec<Vec<u8>> = (100..106).map(sample).collect();
    let all: Vec<Option<u32>> = (100..106).map(Some).collect();
    let (whole, ended) = take(&frames.concat());
    assert_eq!((numbers(&whole), whole.lost(), whole.repeated()), (all.clone(), 0, 0));
    assert!(matches!(ended, DeviceError::Stopped { answers: 6 }), "{ended}");
    for victim in 0..frames.len() {
        let missing = |numbers: &[Option<u32>]| {
            let mut expected = all.clone();
            expected[victim] = None;
            // Nothing says that samples were before the first, or after the last.
            let expected: &[_] = match victim {
                0 => &expected[1..],
                5 => &expected[..5],
                _ => &expected,
            };
            numbers == expected
        };
        for at in 0..frames[victim].len() {
            for way in 0..10 {
                let mut damaged = frames.clone();
                match way {
                    0 => drop(damaged[victim].remove(at)),
                    1 => damaged[victim].insert(at, frames[victim][at]),
                    bit => damaged[victim][at] ^= 1 << (bit - 2),
                }
                let (take, _) = take(&damaged.concat());
                let found = numbers(&take);
                assert!(found == all || missing(&found), "{victim} {at} {way}: {found:?}");
                assert_eq!(take.lost(), found.iter().filter(|one| one.is_none()).count());
            }
        }
        let mut doubled = frames.clone();
        doubled.insert(victim, frames[victim].clone());
        let (take, _) = take(&doubled.concat());
        assert_eq!((numbers(&take), take.repeated()), (all.clone(), 1));
    }
}

#[test]
fn numbers_wrap_and_a_device_that_restarts_ends_the_take() {
    let wrapped = [sample(0xFF_FFFE), sample(0xFF_FFFF), sample(0), sample(2)].concat();
    let (wrapped, _) = take(&wrapped);
    assert_eq!((wrapped.samples(), wrapped.lost()), (5, 1));
    for next in [99, 0, 20_000] {
        let (take, ended) = take(&[sample(100), sample(101), sample(next), sample(102)].concat());
        assert_eq!(numbers(&take), [Some(100), Some(101)]);
        assert!(matches!(ended, DeviceError::Restarted { samples: 2 }), "{ended}");
    }
}

#[test]
fn other_records_are_refused_by_what_they_are() {
    let refused = |frames: Vec<u8>, words: &str| {
        let (take, ended) = take(&[sample(1), frames].concat());
        assert_eq!((take.samples(), ended.to_string().contains(words)), (1, true), "{ended}");
    };
    refused(description(0, "az [g]"), "`az [g]`");
    let three =
        MeasuredSample { head: SampleIndex::from_number(2).head(b'D'), values: [F32::new(0.0); 3] };
    refused(Frame::new(&three).as_bytes().to_vec(), "12 bytes for 2 channels");
    let other = Frame::new(&SampleIndex::default().head(b'A')).as_bytes().to_vec();
    refused(other.clone(), "0x41");

    let options = Options::default();
    let opened = |frames: Vec<u8>| SampleListener::new(Cursor::new(frames), &options).err();
    let refusal = |frames| opened(frames).expect("refused").to_string();
    assert!(refusal(other).contains("another application"));
    for (name, why) in
        [("", "be empty"), ("Label", "a column of the table"), ("t [s]", "a column of the table")]
    {
        let said = refusal([description(0, name), description(1, "y")].concat());
        assert!(said.contains("channel 1 ") && said.contains(why), "{said}");
    }
    let said = refusal([description(0, "y"), description(1, "y")].concat());
    assert!(said.contains("channel 2 ") && said.contains("two channels"), "{said}");
}

#[test]
fn the_rate_is_measured_through_late_arrivals_and_losses() {
    let began = Instant::now();
    let mut take = Take::new(2, Some(0.01));
    for number in (0..1000_u32).filter(|number| number % 10 != 3) {
        // Sixteen milliseconds are one transfer of USB.
        let late = Duration::from_millis(16 - u64::from(number * 7 % 16));
        let arrived = began + Duration::from_micros(10_400) * number + late;
        assert!(take.push(
            SampleIndex::from_number(number),
            [0.0, f32::INFINITY].into_iter(),
            arrived
        ));
    }
    let MeasuredPeriod { seconds, relative_error } = take.measured().expect("enough samples");
    assert!((seconds / 0.0104 - 1.0).abs() < 1e-3, "{seconds}");
    assert!(relative_error < 1e-3, "{relative_error}");
    assert!(take.rows().all(|row| row[1].is_nan()), "what is no number is missing");
    assert_eq!((take.samples(), take.lost()), (1000, 100));
}
