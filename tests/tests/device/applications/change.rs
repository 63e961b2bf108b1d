//! `detect_change`: limits that keep their promise, changes that are found, and the same on a device.

use std::sync::LazyLock;

use fishweir::classifier::{Direction, Observations};
use fishweir::data::{Rows, Sample, Samples, SamplesView};
use fishweir::deploy::{Calibration, CalibrationError, Detector};
use fishweir::device::{Board, Dialogue, Input};
use fishweir::fit::BaumWelch;
use fishweir::parity::Recording;
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::classify::{ChangeReading, Statistic};
use fishweir_core::wire::Request;

use super::{build, lines, recordings};
use crate::c_interface::{Form, said};
use crate::on_boards;

const CHANNELS: [&str; 3] = ["ax", "ay", "az"];
/// One false alarm in 2000 samples is wanted.
const CALIBRATION: Calibration = Calibration { memory: 50.0, mean_time: 2_000.0 };

fn observations() -> Observations {
    Observations::Channels(CHANNELS.map(String::from).to_vec())
}

fn fitted(states: usize, series: &[SamplesView<'_>]) -> Hmm {
    let baum_welch = BaumWelch { states, iterations: 10, ..BaumWelch::default() };
    baum_welch.fit(series, CHANNELS.len(), &[0.5; 3], &|| ()).expect("fits").model
}

/// A model of one exercise, and the detector of an offset on `ax` that simulation calibrates.
static SIMULATED: LazyLock<(Hmm, Detector)> = LazyLock::new(|| {
    let data = recordings(&CHANNELS);
    let class = data.classes().iter().position(|name| name == "PEN").expect("an exercise");
    let series = data.series().iter().filter(|series| series.label == Some(class));
    let model = fitted(4, &series.map(|series| series.samples.view()).collect::<Vec<_>>());
    let normal = drawn(&model, 0..40);
    let normal: Vec<SamplesView<'_>> = normal.iter().map(Samples::view).collect();
    let direction = Direction::offset(&model, 0).expect("a channel");
    let detector =
        CALIBRATION.calibrate(&model, &direction, &observations(), &normal).expect("calibrates");
    (model, detector)
});

fn drawn(model: &Hmm, seeds: std::ops::Range<u64>) -> Vec<Samples> {
    seeds.map(|seed| model.simulate(10_000, seed)).collect()
}

/// The series with an offset on `ax` from a sample on.
fn slipped(series: &Samples, from: usize, offset: f64) -> Samples {
    let mut slipped = Rows::new(CHANNELS.len());
    for (t, row) in series.view().rows().expect("channels").iter().enumerate() {
        let mut row = row.expect("none is missing").to_vec();
        row[0] += if t < from { 0.0 } else { offset };
        slipped.push(Some(&row));
    }
    Samples::Channels(slipped)
}

#[test]
fn false_alarms_come_as_rarely_as_wanted() {
    let (model, detector) = &*SIMULATED;
    let fresh = drawn(model, 1_000..1_040);
    let alarms = detector.alarms(&fresh.iter().map(Samples::view).collect::<Vec<_>>());
    // 200 are due in 400 000 samples; calibration and this count are off by some 7 % each.
    println!("{alarms} alarms in 400 000 samples");
    assert!((140..=280).contains(&alarms), "{alarms} alarms");
}

#[test]
fn recordings_calibrate_for_the_recordings_that_follow() {
    let data = recordings(&CHANNELS);
    let third = |third: usize| -> Vec<SamplesView<'_>> {
        let views = data.series().iter().map(|series| series.samples.view());
        views.map(|all| all.slice(all.len() * third / 3..all.len() * (third + 1) / 3)).collect()
    };
    let model = fitted(8, &third(0));
    let direction = Direction::offset(&model, 0).expect("a channel");
    let calibration = Calibration { memory: 50.0, mean_time: 1_500.0 };
    let calibrate = |normal: &[SamplesView<'_>]| {
        calibration.calibrate(&model, &direction, &observations(), normal).expect("calibrates")
    };
    // Some 37 are due in 55 000 samples.
    let alarms = calibrate(&third(1)).alarms(&third(2));
    println!("{alarms} alarms in a third of the recordings");
    assert!((19..=74).contains(&alarms), "{alarms} alarms");
    // A model is not the world: limits from simulation hold for simulations.
    let simulated = drawn(&model, 0..20);
    let simulated: Vec<SamplesView<'_>> = simulated.iter().map(Samples::view).collect();
    let alarms = calibrate(&simulated).alarms(&third(2));
    assert!(alarms > 370, "{alarms} alarms");
}

#[test]
fn an_offset_is_found_by_the_drift_along_it_and_before_the_fit_finds_it() {
    let (model, detector) = &*SIMULATED;
    let from = 500;
    let [mut drift_delay, mut fit_delay, mut seen] = [0, 0, 0];
    for (seed, offset) in (2_000..2_020).zip([0.2, -0.2].into_iter().cycle()) {
        let series = slipped(&model.simulate(1_500, seed), from, offset);
        let mut stream = detector.stream();
        let [mut drift, mut fit] = [None; 2];
        for (t, x) in series.view().iter().enumerate() {
            stream.push(x).expect("possible");
            let reading = stream.read();
            if t == from - 1 && reading.alarm.is_some() {
                break; // A false alarm just before would be taken for a find.
            }
            if t >= from && drift.is_none() && reading.alarm == Some(Statistic::Drift(0)) {
                assert_eq!(reading.drift[0] > 0.0, offset > 0.0, "its sign tells which way");
                drift = Some(t - from);
            }
            if t >= from && fit.is_none() && reading.fit.abs() > detector.fit().threshold {
                fit = Some(t - from);
            }
        }
        drift_delay += drift.unwrap_or(1_000);
        fit_delay += fit.unwrap_or(1_000);
        seen += usize::from(drift.is_some_and(|delay| delay < 100));
    }
    println!("{seen} of 20; mean delays {} and {}", drift_delay / 20, fit_delay / 20);
    assert!(seen >= 18, "{seen} of 20 within two seconds");
    assert!(3 * drift_delay < 2 * fit_delay, "{drift_delay} against {fit_delay}");
}

/// A log of four kinds of events, and the same machine when it errs more often and recovers later.
fn machines() -> [Hmm; 2] {
    [(0.02, 0.3, 0.05), (0.04, 0.15, 0.1)].map(|(fails, recovers, errors)| Hmm {
        initial: vec![1.0, 0.0],
        transition: vec![vec![1.0 - fails, fails], vec![recovers, 1.0 - recovers]],
        emission: Emissions::categorical(vec![
            vec![0.6, 0.3 - errors, 0.1, errors],
            vec![0.25, 0.125, 0.125, 0.5],
        ]),
    })
}

#[test]
fn a_log_is_watched_for_the_change_that_is_feared() {
    let [healthy, failing] = machines();
    let letters = Observations::Symbols(String::from("RSTE"));
    let direction = Direction::towards(&healthy, &failing).expect("of one shape");
    let normal = drawn(&healthy, 0..40);
    let normal: Vec<SamplesView<'_>> = normal.iter().map(Samples::view).collect();
    let calibration = Calibration { memory: 200.0, ..CALIBRATION };
    let detector =
        calibration.calibrate(&healthy, &direction, &letters, &normal).expect("calibrates");

    let symbols = |model: &Hmm, length, seed| match model.simulate(length, seed) {
        Samples::Symbols(symbols) => symbols,
        Samples::Channels(_) => panic!("a log is of symbols"),
    };
    let log = [symbols(&healthy, 3_000, 77), symbols(&failing, 3_000, 78)].concat();
    let (mut stream, mut sent, mut expected) = (detector.stream(), Dialogue::new(), Vec::new());
    for (t, symbol) in log.iter().enumerate() {
        let symbol = symbol.expect("none is missing");
        sent.push(Input::Symbol(symbol));
        let reading = stream.watch(Sample::Symbol(symbol));
        let Some(statistic) = reading.alarm else { continue };
        let value = reading.value(statistic).expect("it has one");
        expected.push((t + 1, statistic, value));
    }
    let (before, after): (Vec<_>, Vec<_>) = expected.iter().partition(|(t, ..)| *t <= 3_000);
    assert!(before.len() <= 4, "{before:?}");
    let towards = |(_, statistic, value): &&(usize, Statistic, f32)| {
        *statistic == Statistic::Drift(0) && *value > 0.0
    };
    assert!(after.iter().filter(towards).count() >= 5, "{after:?}");
    sent.ask(Request::Report);
    sent.ask(Request::Stop);

    let board = Board::named(Board::default_name()).expect("in the table");
    let built = build(board, "detect_change", &detector.to_source());
    let mut answers = lines(built.start(), "ready 1", &sent).expect("answers");
    assert_eq!(answers.pop(), Some(format!("counts 6000 0 0 {} 0 0 0", expected.len())));
    let told: Vec<String> = expected
        .iter()
        .map(|(t, statistic, value)| {
            let name = if *statistic == Statistic::Fit { "fit" } else { "drift 0" };
            format!("alarm {t} {name} {:08x}", value.to_bits())
        })
        .collect();
    assert_eq!(answers, told);
}

#[test]
fn too_little_is_said_to_be() {
    let (model, _) = &*SIMULATED;
    let direction = Direction::offset(model, 0).expect("a channel");
    let short = model.simulate(19_999, 1);
    let outcome = CALIBRATION.calibrate(model, &direction, &observations(), &[short.view()]);
    let error = outcome.expect_err("ten alarms are the least");
    assert!(matches!(error, CalibrationError::TooFew { observed: 19_999, .. }), "{error}");
    let hasty = Calibration { mean_time: 40.0, ..CALIBRATION };
    let outcome = hasty.calibrate(model, &direction, &observations(), &[short.view()]);
    assert!(matches!(outcome, Err(CalibrationError::Setting { .. })));
    assert!(Direction::offset(model, 3).is_none());
    assert!(Direction::towards(model, &fitted(2, &[short.view()])).is_none());
}

/// The device's line where a sample raises an alarm.
fn alarm_line(reading: &ChangeReading, sample: usize) -> Option<String> {
    let statistic = reading.alarm?;
    let value = reading.value(statistic).expect("it has one").to_bits();
    let name = if statistic == Statistic::Fit { "fit" } else { "drift 0" };
    Some(format!("alarm {sample} {name} {value:08x}"))
}

/// The device's answer to the request for its statistics.
fn reading_line(reading: &ChangeReading, sample: usize) -> String {
    let [fit, drift] = [reading.fit, reading.drift[0]].map(f32::to_bits);
    format!("reading {sample} {fit:08x} {drift:08x}")
}

/// What is sent to the device: every 10th sample missing, the statistics asked for after every 25th,
/// once what is no number, every 401st sample lost on the way; and what it must answer.
fn dialogue(detector: &Detector, series: &Samples) -> (Dialogue, Vec<String>) {
    let (mut sent, mut expected) = (Dialogue::new(), Vec::new());
    let mut stream = detector.stream();
    let [mut missing, mut refused, mut alarms, mut lost] = [0; 4];
    let samples = series.view().len();
    for (t, x) in series.view().iter().enumerate() {
        let Sample::Row(row) = x else { panic!("none is missing") };
        let mut row = row.to_vec();
        let reading = if t % 401 == 400 {
            sent.lose(1);
            (missing, lost) = (missing + 1, lost + 1);
            stream.watch(Sample::Missing)
        } else if t % 10 == 9 {
            sent.push(Input::Missing);
            missing += 1;
            stream.watch(Sample::Missing)
        } else {
            if t == 333 {
                row[1] = f64::NAN;
                refused += 1;
                expected.push(format!("refused {}", t + 1));
            }
            sent.push(Input::Vector(&row.iter().map(|&x| x as f32).collect::<Vec<f32>>()));
            stream.watch(Sample::Row(&row))
        };
        alarms += usize::from(reading.alarm.is_some());
        expected.extend(alarm_line(&reading, t + 1));
        if t % 25 == 24 {
            sent.ask(Request::Reading);
            expected.push(reading_line(&stream.read(), t + 1));
        }
    }
    sent.ask(Request::Report);
    sent.ask(Request::Stop);
    expected.push(format!("counts {samples} {missing} {refused} {alarms} {lost} 0 0"));
    (sent, expected)
}

#[test]
fn the_device_alarms_when_the_host_does() {
    let (model, detector) = &*SIMULATED;
    let change = 1_500;
    let series = slipped(&model.simulate(2_000, 5), change, 0.2);
    let (sent, expected) = dialogue(detector, &series);
    let at = |line: &str| line.split(' ').nth(1).and_then(|at| at.parse::<usize>().ok());
    let alarms: Vec<usize> = expected
        .iter()
        .filter(|line| line.starts_with("alarm"))
        .filter_map(|line| at(line))
        .collect();
    let (before, after): (Vec<usize>, Vec<usize>) = alarms.iter().partition(|&&at| at <= change);
    assert!(before.len() <= 3 && after.len() >= 5 && after[0] < change + 100, "{alarms:?}");
    let source = detector.to_source();
    on_boards(|board| {
        let built = build(board, "detect_change", &source);
        assert_eq!(lines(built.start(), "ready 1", &sent).expect("answers"), expected);
    });
}

/// Samples that lack a channel, or two, are taken by what they have.
#[test]
fn a_device_alarms_on_samples_that_lack_channels_when_the_host_does() {
    let (model, _) = &*SIMULATED;
    let holed = |series: Samples| {
        let mut holed = Rows::new(CHANNELS.len());
        for (t, row) in series.view().rows().expect("channels").iter().enumerate() {
            let mut row = row.expect("whole").to_vec();
            row[2] = if t % 4 == 0 { row[2] } else { f64::NAN };
            row[1] = if t % 9 == 5 { f64::NAN } else { row[1] };
            holed.push(Some(&row));
        }
        Samples::Channels(holed)
    };
    let normal: Vec<Samples> = drawn(model, 0..40).into_iter().map(holed).collect();
    let normal: Vec<SamplesView<'_>> = normal.iter().map(Samples::view).collect();
    let direction = Direction::offset(model, 0).expect("a channel");
    let detector =
        CALIBRATION.calibrate(model, &direction, &observations(), &normal).expect("calibrates");
    let series = holed(slipped(&model.simulate(900, 5), 500, 0.2));
    let (mut stream, mut sent, mut expected) = (detector.stream(), Dialogue::new(), Vec::new());
    for (t, row) in series.view().rows().expect("channels").iter_in_part().enumerate() {
        let row = row.expect("ax is there");
        sent.push(Input::Vector(&row.iter().map(|&x| x as f32).collect::<Vec<f32>>()));
        let reading = stream.watch(Sample::Row(row));
        expected.extend(alarm_line(&reading, t + 1));
        if t % 10 == 9 {
            sent.ask(Request::Reading);
            expected.push(reading_line(&stream.read(), t + 1));
        }
    }
    sent.ask(Request::Report);
    sent.ask(Request::Stop);
    let alarms = expected.iter().filter(|line| line.starts_with("alarm")).count();
    assert!(alarms > 3, "{expected:?}");
    expected.push(format!("counts 900 0 0 {alarms} 0 0 0"));
    on_boards(|board| {
        let built = build(board, "detect_change", &detector.to_source());
        assert_eq!(lines(built.start(), "ready 1", &sent).expect("answers"), expected);
    });
}

/// Every statistic of every sample, and the alarms; every tenth sample is missing.
#[test]
fn firmware_in_c_alarms_when_the_host_does() {
    let (model, detector) = &*SIMULATED;
    let series = slipped(&model.simulate(1_000, 5), 500, 0.2);
    let mut holed = Rows::new(CHANNELS.len());
    for (t, row) in series.view().rows().expect("channels").iter().enumerate() {
        holed.push(if t % 10 == 9 { None } else { row });
    }
    let holed = Samples::Channels(holed);
    let (mut stream, mut alarms) = (detector.stream(), 0);
    let answer = |sample| {
        let reading = stream.watch(sample);
        let (statistic, value) = match reading.alarm {
            None => (u32::MAX, 0.0),
            Some(Statistic::Fit) => (0, reading.fit),
            Some(Statistic::Drift(_)) => (1, reading.drift[0]),
        };
        alarms += usize::from(reading.alarm.is_some());
        let [value, fit, drift] = [value, reading.fit, reading.drift[0]].map(f32::to_bits);
        format!("00000000 {statistic:08x} {value:08x} {fit:08x} {drift:08x}")
    };
    let expected: Vec<String> = holed.view().iter().map(answer).collect();
    assert!(alarms >= 3, "{alarms} alarms");
    let recording = Recording::new([holed.view()], None);
    let said = said(Form::Source(detector.to_source()), &recording, "m4f", false);
    assert_eq!(said.lines().collect::<Vec<_>>(), expected);
}
