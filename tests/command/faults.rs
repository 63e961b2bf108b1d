//! Faults of sensors and clocks: channels that are stuck or lost for a while, wild samples, mixed units, times that are
//! rounded, or of the handing over. Each is noted by its kind, and sound data have no note.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fixtures::{Folder, Noise};
use crate::{Messages, Told, answers, as_json, fishweir, notes, refuses};

/// One channel of a sample: series, sample, channel, its number; what is written.
type Change<'a> = &'a dyn Fn(usize, usize, usize, f64) -> String;

fn as_it_is(_: usize, _: usize, _: usize, x: f64) -> String {
    format!("{x:.5}")
}

fn number(noise: &mut Noise, series: usize, t: usize, channel: usize) -> f64 {
    let hertz = [1.0, 3.0][series % 2];
    let phase = std::f64::consts::TAU * hertz * t as f64 / 50.0 + channel as f64;
    phase.sin() + 0.05 * noise.next().unwrap_or(0.0) + if channel == 2 { 1.0 } else { 0.0 }
}

/// Eight series of two classes with three channels, after the time that `time` writes, if any.
fn table(header: &str, time: &dyn Fn(usize) -> String, change: Change<'_>) -> String {
    let mut noise = Noise(5);
    let mut text = format!("series,label,{header}x,y,z\n");
    for series in 0..8 {
        for t in 0..150 {
            let _ = write!(text, "{series},{},{}", ["slow", "fast"][series % 2], time(t));
            for channel in 0..3 {
                let x = number(&mut noise, series, t, channel);
                let comma = if channel == 0 { "" } else { "," };
                let _ = write!(text, "{comma}{}", change(series, t, channel, x));
            }
            text.push('\n');
        }
    }
    text
}

/// At 50 Hz.
fn even(change: Change<'_>) -> String {
    table("t,", &|t| format!("{:.2},", t as f64 / 50.0), change)
}

/// A stream of one series at 50 Hz.
fn stream(count: usize, time: &dyn Fn(usize) -> String, change: Change<'_>) -> String {
    let mut noise = Noise(9);
    let mut text = "t,x,y,z\n".to_owned();
    for t in 0..count {
        text += &time(t);
        for channel in 0..3 {
            let x = number(&mut noise, t / 150, t, channel);
            let _ = write!(text, ",{}", change(0, t, channel, x));
        }
        text.push('\n');
    }
    text
}

fn at_50(t: usize) -> String {
    format!("{:.2}", t as f64 / 50.0)
}

const FIT: &str = "--classifier bayes --states 2 --window 50";

fn model(folder: &Folder, data: &str) -> String {
    let data = folder.put("train.csv", data);
    let model = folder.at("m.json");
    fishweir(&format!("fit {data} -o {model} {FIT}")).assert().success();
    model
}

fn fitted(folder: &Folder, data: &str) -> Vec<Told> {
    let data = folder.put("faulty.csv", data);
    notes(&mut fishweir(&format!("fit {data} -o {} {FIT}", folder.at("faulty.json"))))
}

/// All series but the last: other data than a model's own.
fn but_one(data: &str) -> String {
    data.lines().filter(|line| !line.starts_with("7,")).map(|line| format!("{line}\n")).collect()
}

fn evaluated(folder: &Folder, model: &str, data: &str) -> Vec<Told> {
    let data = folder.put("test.csv", data);
    notes(&mut fishweir(&format!("evaluate {data} --model {model}")))
}

fn streamed(model: &str, text: String) -> Vec<Told> {
    notes(fishweir(&format!("predict --stream --model {model}")).write_stdin(text))
}

/// The kinds of the faults that were noted, each once.
fn faults(told: &[Told]) -> Vec<&str> {
    let of_faults = [
        "constant-channel",
        "irregular-times",
        "mixed-units",
        "other-scale",
        "rounded-times",
        "unknown-rate",
        "unobserved-channel",
        "wild-sample",
    ];
    let mut found: Vec<&str> = told.iter().map(|note| note.kind.as_str()).collect();
    found.retain(|kind| of_faults.contains(kind));
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn sound_data_have_no_fault() {
    let folder = Folder::new();
    // No note at all: a kind that is new is one too.
    let sound = even(&as_it_is);
    assert_eq!(fitted(&folder, &sound), []);
    let model = model(&folder, &sound);
    assert_eq!(evaluated(&folder, &model, &but_one(&sound)), []);
    let calm: String = sound
        .lines()
        .filter(|line| !line.contains("fast"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(faults(&evaluated(&folder, &model, &calm)).is_empty());
    assert_eq!(streamed(&model, stream(1300, &at_50, &as_it_is)), []);
}

/// What is there is read, and what has no effect or no sample is told.
#[test]
fn remedies_and_files_as_they_are() {
    let folder = Folder::new();
    let sound = even(&as_it_is);
    let model = model(&folder, &sound);
    let bytes = std::fs::read(&model).expect("a model");
    let marked = folder.put("marked.json", [b"\xEF\xBB\xBF", bytes.as_slice()].concat());
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&bytes).expect("written");
    let packed = folder.put("packed.json.gz", packed.finish().expect("packed"));
    for model in [&marked, &packed] {
        assert_eq!(evaluated(&folder, model, &but_one(&sound)), []);
    }
    let told = streamed(&model, String::new());
    assert!(matches!(told.as_slice(), [note] if note.kind == "no-samples"), "{told:?}");

    let twice = even(&|_, _, _, x| format!("{x:.5}")).replacen("0.02,", "0.00,", 1);
    let data = folder.put("twice.csv", twice);
    refuses(&format!("evaluate {data} --model {model}"), "time-order 0");

    // A channel that is called as the time is, but for its case.
    let warm = sound.replacen(",t,x,", ",t [s],T,", 1);
    let of_warm = self::model(&folder, &warm);
    assert_eq!(evaluated(&folder, &of_warm, &but_one(&warm)), []);
    let data = folder.put("train.csv", &sound);
    let fit = format!("fit {data} -o {} --copies 2", folder.at("none.json"));
    let front = "--front magnitude=x+y+z --vectors x,y,z --gain 0.1";
    answers(format!("{fit} {front} --rotation 20"), "idle-option --rotation");
    refuses(&format!("{fit} --lags -1"), "invalid-value --lags");
}

#[test]
fn a_stuck_channel_is_noted_by_all_commands() {
    let folder = Folder::new();
    let model = model(&folder, &even(&as_it_is));
    // In each recording at another number, in some, in one class, and from some sample on.
    let frozen: [Change<'_>; 4] = [
        &|series, _, channel, x| match channel {
            1 => series.to_string(),
            _ => as_it_is(0, 0, 0, x),
        },
        &|series, _, channel, x| match (channel, series) {
            (1, 2..5) => "0.5".into(),
            _ => as_it_is(0, 0, 0, x),
        },
        &|series, _, channel, x| match (channel, series % 2) {
            (1, 1) => "0".into(),
            _ => as_it_is(0, 0, 0, x),
        },
        &|series, t, channel, x| match (channel, series) {
            (1, 3) if t > 50 && t != 99 => "0.5".into(),
            _ => as_it_is(0, 0, 0, x),
        },
    ];
    for (index, change) in frozen.into_iter().enumerate() {
        let data = even(change);
        if index < 3 {
            assert_eq!(faults(&fitted(&folder, &data)), ["constant-channel"], "{index}");
        }
        let told = evaluated(&folder, &model, &data);
        // Half a series is less than it takes.
        let wanted: &[&str] = if index < 3 { &["constant-channel"] } else { &[] };
        assert_eq!(faults(&told), wanted, "{index}");
    }
    for stuck in [600..700, 600..1300, 1200..1300, 0..100] {
        let text = stream(1300, &at_50, &|_, t, channel, x| match channel {
            1 if stuck.contains(&t) => "0.5".into(),
            _ => as_it_is(0, 0, 0, x),
        });
        let told = streamed(&model, text);
        assert_eq!(faults(&told), ["constant-channel"], "{stuck:?}");
    }
}

#[test]
fn a_channel_that_is_missing_now_and_then_is_named_with_its_count() {
    let folder = Folder::new();
    let model = model(&folder, &even(&as_it_is));
    let lost: Change<'_> = &|series, t, channel, x| match channel {
        1 if series < 4 && t % 100 == 7 => "NA".into(),
        _ => as_it_is(0, 0, 0, x),
    };
    for told in [fitted(&folder, &even(lost)), evaluated(&folder, &model, &even(lost))] {
        assert_eq!(faults(&told), ["unobserved-channel"]);
        assert!(told.iter().any(|note| note.message.contains("`y`") && note.message.contains('8')));
    }
    let told = streamed(&model, stream(1300, &at_50, lost));
    assert_eq!(faults(&told), ["unobserved-channel"]);
    let at_the_end: Change<'_> = &|_, t, channel, x| match channel {
        1 if t >= 1200 => "NA".into(),
        _ => as_it_is(0, 0, 0, x),
    };
    assert_eq!(faults(&streamed(&model, stream(1300, &at_50, at_the_end))), ["unobserved-channel"]);
}

#[test]
fn wild_samples_and_mixed_units_are_noted_before_the_training() {
    let folder = Folder::new();
    let wild = even(&|series, t, channel, x| match (series, t, channel) {
        (3, 12, 1) => "1e30".into(),
        _ => as_it_is(0, 0, 0, x),
    });
    let line = format!("fit {} -o {} {FIT}", folder.put("w.csv", wild), folder.at("w.json"));
    let told = Messages::of(&as_json(&mut fishweir(&line)).stderr).notes;
    assert!(
        told.iter()
            .any(|note| note.kind == "wild-sample" && note.message.contains("1e30 in sample"))
    );
    for factor in [9.81, 1000.0] {
        let mixed = even(&|series, _, _, x| {
            let factor = if series < 4 { factor } else { 1.0 };
            as_it_is(0, 0, 0, factor * x)
        });
        assert_eq!(faults(&fitted(&folder, &mixed)), ["mixed-units"], "{factor}");
    }
}

/// Whole milliseconds of 800 Hz have the mean step of 800 Hz, and batches that of their samples.
#[test]
fn rounded_and_batched_times_have_their_rate() {
    let folder = Folder::new();
    let whole =
        |hertz: f64| move |t: usize| format!("{:.0}", (1000.0 * t as f64 / hertz + 0.25).floor());
    let rounded = |hertz: f64| {
        let time = whole(hertz);
        table("t [ms],", &move |t| format!("{},", time(t)), &as_it_is)
    };
    let eight = rounded(800.0);
    assert_eq!(faults(&fitted(&folder, &eight)), ["rounded-times"]);
    let of_800 = model(&folder, &eight);
    let evaluate = |data: String| {
        let data = folder.put("test.csv", data);
        fishweir(&format!("evaluate {data} --model {of_800}"))
    };
    let finer = table("t [ms],", &|t| format!("{:.2},", 1000.0 * t as f64 / 800.0), &as_it_is);
    evaluate(finer).assert().success();
    refuses(&mut evaluate(rounded(1000.0)), "other-rate 1000");
    let told = streamed(&of_800, stream(600, &whole(800.0), &as_it_is).replacen('t', "t [ms]", 1));
    assert!(faults(&told).is_empty(), "{told:?}");
    let fast = stream(600, &whole(1000.0), &as_it_is).replacen('t', "t [ms]", 1);
    let line = format!("predict --stream --model {of_800}");
    refuses(fishweir(&line).write_stdin(fast), "other-rate 1000");

    let of_50 = model(&folder, &even(&as_it_is));
    for length in [2, 3, 10, 32] {
        let batched = |t: usize| {
            format!("{:.4}", (t / length * length) as f64 / 50.0 + 0.0001 * (t % length) as f64)
        };
        let data = table("t,", &|t| format!("{},", batched(t)), &as_it_is);
        assert_eq!(faults(&evaluated(&folder, &of_50, &data)), ["irregular-times"], "{length}");
        assert_eq!(faults(&fitted(&folder, &data)), ["irregular-times"], "{length}");
        let line = format!("predict --stream --model {of_50}");
        let run = fishweir(&line).write_stdin(stream(600, &batched, &as_it_is)).assert().success();
        let decisions = String::from_utf8_lossy(&run.get_output().stdout).lines().count();
        assert!(decisions > 10, "{length}: {decisions}");
    }
}

/// Lost samples, stalls that are made up for, late samples and rows without a time leave a stream at its rate.
#[test]
fn a_stream_at_the_rate_of_the_training_is_never_ended() {
    let folder = Folder::new();
    let at = |hertz: f64, unit: f64| move |t: usize| (t as f64 / hertz / unit).round() * unit;
    let sixty = at(60.0, 0.01);
    let data = table("t,", &|t| format!("{:.4},", t as f64 / 60.0), &as_it_is);
    let of_60 = model(&folder, &data);
    let mut lost = Noise(3);
    let lines = stream(20_000, &|t| format!("{:.2}", sixty(t)), &as_it_is);
    let kept = |(line, _): &(usize, &str)| *line == 0 || lost.next().unwrap_or(0.0).abs() > 0.13;
    let some: String =
        lines.lines().enumerate().filter(kept).map(|(_, line)| format!("{line}\n")).collect();
    let share = some.lines().count() as f64 / 20_000.0;
    assert!((0.85..0.97).contains(&share), "{share}");
    fishweir(&format!("predict --stream --model {of_60}")).write_stdin(some).assert().success();

    let of_50 = model(&folder, &even(&as_it_is));
    // Every seventh hundred samples forty are held up, and come at once.
    let stalled = |t: usize| match t % 700 {
        held @ 600..640 => (t - held + 640) as f64 / 50.0 + 0.0005 * (held as f64 - 640.0),
        _ => t as f64 / 50.0,
    };
    let late = |t: usize| t as f64 / 50.0 + if t % 10 == 3 { 0.012 } else { 0.0 };
    let untimed =
        |t: usize| if t % 7 == 3 { String::new() } else { format!("{:.2}", t as f64 / 50.0) };
    let times: [&dyn Fn(usize) -> String; 2] =
        [&|t| format!("{:.4}", stalled(t)), &|t| format!("{:.4}", late(t))];
    for time in times {
        let text = stream(5000, time, &as_it_is);
        fishweir(&format!("predict --stream --model {of_50}")).write_stdin(text).assert().success();
    }
    let told = streamed(&of_50, stream(5000, &untimed, &as_it_is));
    assert!(faults(&told).is_empty(), "{told:?}");
    assert_eq!(told.iter().filter(|note| note.kind == "no-time").count(), 1, "{told:?}");
}

/// Channels that rest in training may rest, and those that only series differ in stay as they are.
#[test]
fn what_rests_or_is_fixed_in_training_is_not_stuck() {
    let folder = Folder::new();
    let change: Change<'_> = &|series, t, channel, x| match channel {
        0 => (30 + 7 * series).to_string(),
        1 if t < 60 => "0".to_owned(),
        _ => as_it_is(0, 0, 0, x),
    };
    let data = even(change);
    let told = fitted(&folder, &data);
    assert_eq!(told.iter().filter(|note| note.kind == "constant-channel").count(), 1, "{told:?}");
    let model = model(&folder, &data);
    let one: String = data
        .lines()
        .filter(|line| !line.contains("fast"))
        .map(|line| format!("{line}\n"))
        .collect();
    for data in [&data, &one] {
        assert!(faults(&evaluated(&folder, &model, data)).is_empty());
    }
    let long: Change<'_> = &|_, t, channel, x| match channel {
        0 => "44".to_owned(),
        1 if (200..1200).contains(&t) => "0".to_owned(),
        _ => as_it_is(0, 0, 0, x),
    };
    assert!(faults(&streamed(&model, stream(1300, &at_50, long))).is_empty());
}

/// A wild sample in what is judged is named, and hides nothing.
#[test]
fn a_wild_sample_is_noted_where_it_is_decided_on() {
    let folder = Folder::new();
    let model = model(&folder, &even(&as_it_is));
    let wild = even(&|series, t, channel, x| match (series, t, channel) {
        (3, 12, 1) => "9999".into(),
        _ => as_it_is(0, 0, 0, x),
    });
    let told = evaluated(&folder, &model, &wild);
    assert_eq!(faults(&told), ["wild-sample"]);
    assert!(
        told.iter().any(|note| note.message.contains("`y`") && note.message.contains("sample 12"))
    );
}

#[test]
fn a_model_without_a_rate_says_so_where_data_have_one() {
    let folder = Folder::new();
    let untimed = table("", &|_| String::new(), &as_it_is);
    let model = model(&folder, &untimed);
    assert!(faults(&evaluated(&folder, &model, &untimed)).is_empty());
    assert_eq!(faults(&evaluated(&folder, &model, &even(&as_it_is))), ["unknown-rate"]);
    assert_eq!(faults(&streamed(&model, stream(300, &at_50, &as_it_is))), ["unknown-rate"]);
    let numbered = stream(300, &|t| t.to_string(), &as_it_is);
    assert!(faults(&streamed(&model, numbered)).is_empty());
}

/// What changes in the middle of the samples that are judged at once is known by the next.
#[test]
fn a_scale_that_changes_in_a_stream_is_named_by_what_comes_after() {
    let folder = Folder::new();
    let model = model(&folder, &even(&as_it_is));
    for (late, factor, words) in [(1200, 1000.0, "thousandths"), (700, 9.81, "m/s^2")] {
        let text = stream(2300, &at_50, &|_, t, _, x| {
            as_it_is(0, 0, 0, if t < late { x } else { factor * x })
        });
        let told = streamed(&model, text);
        assert_eq!(faults(&told), ["other-scale"]);
        assert!(told.iter().any(|note| note.message.contains(words)), "{told:?}");
    }
    // Wherever the stream ends.
    for count in [1000, 1010, 1500] {
        let text = stream(count, &at_50, &|_, t, _, x| {
            as_it_is(0, 0, 0, if t < 800 { x } else { 1000.0 * x })
        });
        assert_eq!(faults(&streamed(&model, text)), ["other-scale"], "{count}");
    }
    // A channel that was off for a while alone is named beside one that still is.
    let text = stream(2000, &at_50, &|_, t, channel, x| {
        let off = channel == 0 && (700..1000).contains(&t) || channel == 1 && t >= 700;
        as_it_is(0, 0, 0, if off { 1000.0 * x } else { x })
    });
    let told = streamed(&model, text);
    for channel in ["`x`", "`y`"] {
        let named =
            told.iter().any(|note| note.kind == "other-scale" && note.message.contains(channel));
        assert!(named, "{channel}: {told:?}");
    }
}

/// A channel without numbers is noted once, however the stream goes on.
#[test]
fn a_channel_that_comes_and_goes_is_noted_once() {
    let folder = Folder::new();
    let model = model(&folder, &even(&as_it_is));
    let lost = |lost: &dyn Fn(usize) -> bool| {
        let change = |_, t, channel, x| match channel == 0 && lost(t) {
            true => "NA".to_owned(),
            false => as_it_is(0, 0, 0, x),
        };
        let told = streamed(&model, stream(3000, &at_50, &change));
        told.iter().filter(|note| note.kind == "unobserved-channel").count()
    };
    assert_eq!(lost(&|t| (100..700).contains(&t)), 1);
    assert_eq!(lost(&|t| t % 10 == 3), 1);
    assert_eq!(lost(&|t| t >= 2900), 1);
    assert_eq!(lost(&|_| false), 0);
}
