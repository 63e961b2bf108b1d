//! The application, its driver and a simulated sensor, on this machine.

use std::cell::RefCell;
use std::string::String;
use std::vec::Vec;

use embassy_futures::{block_on, yield_now};
use embedded_hal::i2c::{self, NoAcknowledgeSource, Operation};
use fishweir_core::filter::Stream;

use super::super::wire::{Later, Wire};
use super::simulated::{NotAcknowledged, PERIOD_NS, Part, SimulatedSensor, Traffic, Trouble};
use super::*;

#[allow(unreachable_pub, dead_code)]
mod motion {
    include!("../../../../models/motion.rs");
}

struct Bus<'a>(&'a RefCell<SimulatedSensor>);

#[derive(Debug)]
struct BusError;

impl i2c::Error for BusError {
    fn kind(&self) -> i2c::ErrorKind {
        i2c::ErrorKind::NoAcknowledge(NoAcknowledgeSource::Unknown)
    }
}

impl i2c::ErrorType for Bus<'_> {
    type Error = BusError;
}

impl I2c for Bus<'_> {
    fn transaction(&mut self, address: u8, parts: &mut [Operation<'_>]) -> Result<(), BusError> {
        let told: Vec<Part> = parts
            .iter()
            .map(|part| match part {
                Operation::Write(bytes) => Part::Write(bytes.to_vec()),
                Operation::Read(buffer) => Part::Read(buffer.len()),
            })
            .collect();
        let outcome = self.0.borrow_mut().transaction(address, &told);
        let read = outcome.map_err(|NotAcknowledged| BusError)?;
        let mut read = read.into_iter();
        for part in parts {
            if let Operation::Read(buffer) = part {
                buffer.fill_with(|| read.next().expect("as many as asked for"));
            }
        }
        Ok(())
    }
}

struct Clock<'a>(&'a RefCell<SimulatedSensor>);

impl DelayNs for Clock<'_> {
    fn delay_ns(&mut self, ns: u32) {
        self.0.borrow_mut().advance(ns.into());
    }
}

impl embedded_hal_async::delay::DelayNs for Clock<'_> {
    async fn delay_ns(&mut self, ns: u32) {
        yield_now().await;
        self.0.borrow_mut().advance(ns.into());
    }
}

/// Lying still with z up, each sample its own: the number of the sample is in the digits of x.
fn still(samples: usize) -> Vec<[f32; 3]> {
    (0..samples).map(|t| [(t % 20) as f32 * 0.004, 0.0, 1.0]).collect()
}

struct Outcome {
    report: Report,
    lines: Vec<String>,
    traffic: Traffic,
}

/// Asserts that the watch has the same outcome while other tasks run.
fn watch(recording: &[[f32; 3]], troubles: &[Trouble]) -> Outcome {
    let world = || RefCell::new(SimulatedSensor::new(recording.to_vec(), troubles.to_vec()));
    let goes_on = |world: &RefCell<SimulatedSensor>| {
        let world = world.borrow();
        !world.is_over() || world.has_data()
    };
    let (alone, mut wire, mut pin) = (world(), Wire::default(), Alarm::none());
    let report = watch_sensor(
        &mut Accelerometer::new(Bus(&alone), Sa0Pad::High),
        &mut Clock(&alone),
        &mut wire,
        &mut Stream::new(&motion::MODEL),
        &motion::CLASSES,
        &mut pin,
        || goes_on(&alone),
    );
    let (beside, mut other) = (world(), Wire::default());
    let waited = block_on(watch_sensor_async(
        &mut Accelerometer::new(Bus(&beside), Sa0Pad::High),
        &mut Clock(&beside),
        &mut Later(&mut other),
        &mut Stream::new(&motion::MODEL),
        &motion::CLASSES,
        &mut pin,
        || goes_on(&beside),
    ));
    assert_eq!((waited, &other), (report, &wire));
    let traffic = alone.into_inner().traffic();
    assert_eq!(beside.into_inner().traffic(), traffic);
    let report = report.expect("memory does not fail");
    Outcome { report, lines: wire.lines(), traffic }
}

/// The decisions that the recording gives where the samples of `missing` never came.
fn decision_after(recording: &[[f32; 3]], samples: usize, missing: &[usize]) -> String {
    let mut stream = Stream::new(&motion::MODEL);
    for (t, felt) in recording[..samples].iter().enumerate() {
        if missing.contains(&t) {
            stream.push(None).expect("nothing to refuse");
        } else {
            let digits = felt.map(|g| (g / 0.004).round());
            stream.push(&digits.map(|digits| digits * 0.004)).expect("possible");
        }
    }
    let decision = stream.read();
    let class = motion::CLASSES[decision.class];
    std::format!("decision {samples} {class} {:08x}", decision.margin.to_bits())
}

fn lines_with<'a>(outcome: &'a Outcome, word: &str) -> Vec<&'a str> {
    outcome.lines.iter().map(String::as_str).filter(|line| line.starts_with(word)).collect()
}

#[test]
fn every_sample_is_read_once_and_decided_as_on_paper() {
    let recording = still(403);
    let outcome = watch(&recording, &[]);
    // A look every eight samples, the last for three.
    assert_eq!(outcome.report, Report { samples: 403, ..Report::default() });
    assert_eq!((outcome.traffic.samples, outcome.traffic.refused), (403, 0));
    assert_eq!(outcome.traffic.polls, 51);
    let expected: Vec<String> =
        (1..=51).map(|block| decision_after(&recording, 403.min(8 * block), &[])).collect();
    assert_eq!(outcome.lines[..51], expected);
    assert_eq!(outcome.lines[51], "done 403 0 0 0");
    assert!(expected[50].contains("resting"));
}

#[test]
fn a_short_silence_loses_nothing_because_the_fifo_keeps_it() {
    let recording = still(400);
    let outcome = watch(&recording, &[Trouble::NoAnswer(900..1200)]);
    assert_eq!(lines_with(&outcome, "fault"), ["fault 40 no answer"]);
    assert_eq!(lines_with(&outcome, "lost"), [""; 0]);
    assert_eq!(outcome.report, Report { samples: 400, faults: 1, ..Report::default() });
    assert!(outcome.traffic.refused >= 2);
    assert!(outcome.lines.contains(&decision_after(&recording, 400, &[])));
}

#[test]
fn a_long_silence_overruns_the_fifo_and_the_lost_samples_are_missing() {
    let recording = still(400);
    // Last read at 0.8 s, 40 samples. Read again at 2.08 s: 104 have come, the FIFO holds 72 to 103.
    let outcome = watch(&recording, &[Trouble::NoAnswer(900..2000)]);
    assert_eq!(lines_with(&outcome, "fault"), ["fault 40 no answer", "fault 40 overrun"]);
    assert_eq!(lines_with(&outcome, "lost"), ["lost 72 32"]);
    let missing: Vec<usize> = (40..72).collect();
    assert!(outcome.lines.contains(&decision_after(&recording, 104, &missing)));
    assert!(outcome.lines.contains(&decision_after(&recording, 400, &missing)));
    assert_eq!(outcome.report, Report { samples: 400, lost: 32, refused: 0, faults: 2 });
}

#[test]
fn a_stalled_sensor_is_set_up_anew() {
    let recording = still(400);
    // Samples 0 to 49, then none. Last data at 1.12 s; given up at 1.6 s; set up at 1.76 s.
    let outcome = watch(&recording, &[Trouble::Stall(1000)]);
    assert_eq!(lines_with(&outcome, "fault"), ["fault 50 stalled"]);
    let missing: Vec<usize> = (50..88).collect();
    assert_eq!(lines_with(&outcome, "lost"), ["lost 88 38"]);
    assert!(outcome.lines.contains(&decision_after(&recording, 400, &missing)));
}

#[test]
fn a_sensor_that_lost_its_settings_gets_them_again() {
    let recording = still(400);
    let outcome = watch(&recording, &[Trouble::PowerLoss(1000)]);
    assert_eq!(lines_with(&outcome, "fault"), ["fault 48 stalled"]);
    let [lost] = lines_with(&outcome, "lost")[..] else { panic!("{:?}", outcome.lines) };
    assert!(lost.starts_with("lost 80 32"), "{lost}");
    let missing: Vec<usize> = (48..80).collect();
    assert!(outcome.lines.contains(&decision_after(&recording, 400, &missing)));
}

#[test]
fn after_a_long_gap_the_classifier_begins_anew() {
    let recording = still(2_000);
    let outcome = watch(&recording, &[Trouble::NoAnswer(1_000..35_000)]);
    let [lost] = lines_with(&outcome, "lost")[..] else { panic!("{:?}", outcome.lines) };
    assert!(lost.ends_with(" reset"), "{lost}");
    let start = lost.split(' ').nth(1).and_then(|at| at.parse().ok()).expect("a number");
    let fresh = decision_after(&recording[start..], 2_000 - start, &[]);
    let last = lines_with(&outcome, "decision").last().copied().map(String::from);
    let margin = |line: &str| line.rsplit(' ').next().map(String::from);
    assert_eq!(last.as_deref().and_then(margin), margin(&fresh));
}

#[test]
fn a_stranger_and_an_empty_bus_are_told_apart() {
    let world = RefCell::new(SimulatedSensor::new(still(1), Vec::new()));
    let mut other = Accelerometer::new(Bus(&world), Sa0Pad::Low);
    assert_eq!(other.start(), Err(SensorFault::NoAnswer));

    struct Zeros;
    impl i2c::ErrorType for Zeros {
        type Error = BusError;
    }
    impl I2c for Zeros {
        fn transaction(&mut self, _: u8, parts: &mut [Operation<'_>]) -> Result<(), BusError> {
            for part in parts {
                if let Operation::Read(buffer) = part {
                    buffer.fill(0);
                }
            }
            Ok(())
        }
    }
    assert_eq!(Accelerometer::new(Zeros, Sa0Pad::High).start(), Err(SensorFault::WrongDeviceId(0)));
    assert_eq!(std::format!("{}", SensorFault::WrongDeviceId(0x1b)), "stranger 1b");
}

#[test]
fn the_simulated_world_is_the_sensors() {
    let mut sensor = SimulatedSensor::new(still(2), Vec::new());
    sensor.advance(10 * PERIOD_NS);
    assert!(!sensor.is_over(), "the world waits for the sensor to be set up");
    let write = |register, value| [Part::Write(std::vec![register, value])];
    let read = |register| [Part::Write(std::vec![register]), Part::Read(1)];
    // Sub-addresses without the top bit do not increment: the identity stays.
    sensor.transaction(0x19, &write(0x0F, 0)).expect("it is there");
    assert_eq!(sensor.transaction(0x19, &read(0x0F)), Ok(std::vec![0x33]));
    assert_eq!(sensor.transaction(0x18, &read(0x0F)), Err(NotAcknowledged));
    // 50 Hz, 12 bits, 8 g, no FIFO: z = 1 g is 250 digits, left-justified.
    for (register, value) in [(0x23, 0x28), (0x20, 0x47)] {
        sensor.transaction(0x19, &write(register, value)).expect("it is there");
    }
    assert_eq!(sensor.transaction(0x19, &read(0x27)), Ok(std::vec![0]));
    sensor.advance(PERIOD_NS);
    assert_eq!(sensor.transaction(0x19, &read(0x27)), Ok(std::vec![0x0F]));
    let burst = [Part::Write(std::vec![0xA8]), Part::Read(6)];
    let z = (250_i16 << 4).to_le_bytes();
    assert_eq!(sensor.transaction(0x19, &burst), Ok(std::vec![0, 0, 0, 0, z[0], z[1]]));
}
