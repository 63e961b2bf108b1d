//! Units in headers, scales with wild samples, and live streams whose scale, channels or times are other than in training.

use std::fmt::Write as _;

use crate::fixtures::{Folder, Noise};
use crate::{Messages, Told, as_json, fishweir, notes, printed, refuses};

/// Acceleration with gravity and a turning rate at 50 Hz, two classes: lines of `series,label,t,<channels>`.
fn motions(channels: &str, factors: [f64; 2]) -> String {
    let mut text = format!("series,label,t,{channels}\n");
    let mut noise = Noise(5);
    for series in 0..8 {
        let (label, hertz) = [("slow", 1.0), ("fast", 3.0)][series % 2];
        for t in 0..200 {
            let [acceleration, rate] = sample(t, hertz, &mut noise);
            let [a, r] = [factors[0] * acceleration, factors[1] * rate];
            let time = f64::from(t) / 50.0;
            let _ = writeln!(text, "{series},{label},{time:.2},{a:.5},{r:.5}");
        }
    }
    text
}

fn sample(t: u32, hertz: f64, noise: &mut Noise) -> [f64; 2] {
    let mut near = |value: f64| value + 0.05 * noise.next().unwrap_or(0.0);
    let wave = (std::f64::consts::TAU * hertz * f64::from(t) / 50.0).sin();
    [near(1.0 + 0.4 * wave), near(wave)]
}

/// A stream of one series of motions: `t,<channels>`, a sample from `late` on times a factor.
fn stream(count: u32, late: u32, factor: f64) -> String {
    let mut noise = Noise(9);
    let mut text = "t,ax [g],gx [rad/s]\n".to_owned();
    for t in 0..count {
        let factor = if t < late { 1.0 } else { factor };
        let [a, r] = sample(t, 1.0 + 2.0 * f64::from(t / 100 % 2), &mut noise).map(|x| factor * x);
        let _ = writeln!(text, "{:.2},{a:.5},{r:.5}", f64::from(t) / 50.0);
    }
    text
}

fn of_motions(folder: &Folder, channels: &str) -> String {
    let data = folder.put("motions.csv", motions(channels, [1.0, 1.0]));
    let model = folder.at("motions.json");
    printed(&format!("fit {data} -o {model} --classifier bayes --states 2 --window 50"));
    model
}

const UNITS: &str = "ax [g],gx [rad/s]";

fn kinds<'a>(told: &'a [Told], kind: &str) -> Vec<&'a Told> {
    told.iter().filter(|note| note.kind == kind).collect()
}

/// The notes of a stream that is decided to its end.
#[track_caller]
fn streamed(model: &str, input: impl Into<String>) -> Vec<Told> {
    notes(fishweir(&format!("predict --stream --model {model}")).write_stdin(input.into()))
}

#[test]
fn units_of_one_side_are_noted_once_with_what_to_write() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    let artefact = folder.at("motions.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let data = folder.put("bare.csv", motions("ax,gx", [1.0, 1.0]));
    let twice = format!("evaluate {data} --model {model} --model {artefact}");
    for line in [
        format!("predict {data} --model {model}"),
        format!("predict {data} --model {artefact}"),
        format!("evaluate {data} --model {model}"),
        format!("gram {data} --model {model} -o /dev/null"),
        twice,
    ] {
        let told = notes(&line);
        let [note] = kinds(&told, "units-not-compared")[..] else { panic!("{line}: {told:?}") };
        assert!(note.is("units-not-compared bare.csv ax gx ax [g] gx [rad/s]"), "{note}");
        assert!(kinds(&told, "units-converted").is_empty(), "{told:?}");
    }
    // The other way round, and both at once.
    let plain = folder.at("plain.json");
    let fit = |model: &str| format!("fit {data} -o {model} --classifier bayes --states 1");
    assert!(kinds(&notes(&fit(&plain)), "units-not-compared").is_empty());
    let named = folder.put("named.csv", motions("ax [g],gx", [1.0, 1.0]));
    let told = notes(&format!("predict {named} --model {plain}"));
    let [note] = kinds(&told, "units-not-compared")[..] else { panic!("{told:?}") };
    assert!(note.is("units-not-compared named.csv ax [g]") && !note.names("gx"), "{note}");
    let told = notes(&format!("predict {named} --model {model}"));
    let [note] = kinds(&told, "units-not-compared")[..] else { panic!("{told:?}") };
    assert!(note.is("units-not-compared gx [rad/s]") && !note.names("ax"), "{note}");
    // The names of the training: nothing to say.
    assert!(notes(&format!("predict {} --model {model}", folder.at("motions.csv"))).is_empty());
    // Live, with a header and without.
    let live = stream(100, 100, 1.0);
    assert!(streamed(&model, live.clone()).is_empty());
    for header in ["t,ax,gx\n", ""] {
        let rows = live.lines().skip(1).map(|row| match header {
            "" => row.split_once(',').expect("fields").1.to_owned() + "\n",
            _ => row.to_owned() + "\n",
        });
        let told = streamed(&model, header.to_owned() + &rows.collect::<String>());
        let [note] = kinds(&told, "units-not-compared")[..] else { panic!("{told:?}") };
        assert!(note.is("units-not-compared ax [g] gx [rad/s]"), "{note}");
    }
}

#[test]
fn conversions_are_noted_with_their_factor_and_no_hint_contradicts_them() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    let put = |channels: &str, factors| folder.put("other.csv", motions(channels, factors));
    let degree = 180.0 / std::f64::consts::PI;
    let si = "ax (m/s^2),gx [deg/s]";
    let data = put(si, [9.806_65, degree]);
    let told = notes(&format!("predict {data} --model {model}"));
    let [note] = &told[..] else { panic!("one note, not {told:?}") };
    let expected = "units-converted other.csv ax m/s^2 g 0.101972 gx deg/s rad/s 0.0174533";
    assert!(note.is(expected), "{note}");
    let live = stream(600, 0, 9.806_65).replace("ax [g],gx [rad/s]", "ax [m/s^2],gx [rad/s]");
    let told = streamed(&model, live);
    assert_eq!(kinds(&told, "units-converted").len(), 1, "{told:?}");
    let scales = kinds(&told, "other-scale");
    assert!(scales.iter().all(|note| note.names("gx") && !note.names("ax")), "{told:?}");
    // A header in SI, numbers in g: the hint is of what the header says, not of the unit that was converted from.
    let told = notes(&format!("predict {} --model {model}", put(si, [1.0, degree])));
    let [note] = kinds(&told, "other-scale")[..] else { panic!("{told:?}") };
    assert!(note.is("other-scale ax before (m/s^2)") && !note.names("gx"), "{note}");
    assert!(!note.message.contains("where the training had"), "{note}");
    refuses(
        &format!("predict {} --model {model}", put("ax [g],gx [g]", [1.0, 1.0])),
        "other-unit gx",
    );
}

#[test]
fn a_wild_sample_neither_makes_another_scale_nor_hides_one() {
    let folder = Folder::new();
    let model = of_motions(&folder, "ax,gx");
    let judge = |factor: f64, wild: &str| {
        let text = motions("ax,gx", [factor, factor]);
        let spoilt = text.lines().enumerate().map(|(line, row)| match line {
            700 => {
                row.rsplitn(3, ',').nth(2).expect("fields").to_owned()
                    + &format!(",{wild},{wild}\n")
            }
            _ => format!("{row}\n"),
        });
        let data = folder.put("wild.csv", spoilt.collect::<String>());
        let output = as_json(&*format!("predict {data} --model {model}"));
        Messages::of(&output.stderr).notes
    };
    for wild in ["1e30", "-1e30", "400", "0.5"] {
        let told = judge(1.0, wild);
        assert!(kinds(&told, "other-scale").is_empty(), "{wild}: {told:?}");
        for (factor, guess) in [(9.806_65, "m/s^2"), (1.0 / 9.806_65, "g"), (0.001, "thousand")] {
            let told = judge(factor, wild);
            let [note] = kinds(&told, "other-scale")[..] else {
                panic!("{wild}, {factor}: {told:?}")
            };
            assert!(note.is(&format!("other-scale ax gx {guess}")), "{note}");
        }
    }
    let wild = |factor: f64| {
        let rows = stream(400, 0, factor).replace("ax [g],gx [rad/s]", "ax,gx");
        rows.replacen("\n1.00,", "\n1.00,1e30,1e30\n1.01,", 1)
    };
    let note = |factor: f64| {
        let mut command = fishweir(&format!("predict --stream --model {model}"));
        Messages::of(&as_json(command.write_stdin(wild(factor))).stderr).notes
    };
    assert!(kinds(&note(1.0), "other-scale").is_empty());
    let told = note(9.806_65);
    assert!(kinds(&told, "other-scale")[0].is("other-scale ax m/s^2"), "{told:?}");
}

#[test]
fn the_scale_of_a_stream_is_judged_again() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    assert!(streamed(&model, stream(1800, 1800, 1.0)).is_empty());
    for (count, late) in [(1800, 800), (1100, 1000)] {
        let told = streamed(&model, stream(count, late, 1000.0));
        let [note] = &told[..] else { panic!("one note, not {told:?}") };
        assert!(note.is("other-scale ax gx line"), "{note}");
    }
    // A channel that stops is noted when it does.
    let stopped = |row: (usize, &str)| match row {
        (line, row) if line > 700 => row.rsplit_once(',').expect("fields").0.to_owned() + ",0.5\n",
        (_, row) => format!("{row}\n"),
    };
    let rows = stream(1800, 1800, 1.0).lines().enumerate().map(stopped).collect::<String>();
    let told = streamed(&model, rows);
    let [note] = &told[..] else { panic!("one note, not {told:?}") };
    assert!(note.is("constant-channel gx line"), "{note}");
}

#[test]
fn a_channel_that_is_never_there_is_named() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    let without = |count: u32, from: usize| {
        let dead = |row: (usize, &str)| match row {
            (line, row) if line > from => {
                row.rsplit_once(',').expect("fields").0.to_owned() + ",NA\n"
            }
            (_, row) => format!("{row}\n"),
        };
        stream(count, count, 1.0).lines().enumerate().map(dead).collect::<String>()
    };
    for count in [100, 900] {
        let told = streamed(&model, without(count, 0));
        let [note] = kinds(&told, "unobserved-channel")[..] else { panic!("{told:?}") };
        assert!(note.is("unobserved-channel gx [rad/s]") && !note.names("ax"), "{note}");
    }
    let told = streamed(&model, without(900, 200));
    let [note] = kinds(&told, "unobserved-channel")[..] else { panic!("{told:?}") };
    assert!(note.is("unobserved-channel gx 201"), "{note}");
    let told = streamed(&model, without(300, 200));
    let [note] = kinds(&told, "unobserved-channel")[..] else { panic!("{told:?}") };
    assert!(note.is("unobserved-channel gx 201"), "{note}");
    // Each is there, and never both.
    let either = |row: (usize, &str)| match (row.0, row.1.split(',').collect::<Vec<_>>().as_slice())
    {
        (0, _) => format!("{}\n", row.1),
        (line, [t, a, r]) => {
            let [a, r] = if line % 2 == 0 { [a, "NA"] } else { ["NA", r] };
            format!("{t},{a},{r}\n")
        }
        (_, fields) => panic!("{fields:?}"),
    };
    let rows = stream(100, 100, 1.0).lines().enumerate().map(either).collect::<String>();
    let told = streamed(&model, rows);
    let [note] = kinds(&told, "unobserved-channel")[..] else { panic!("{told:?}") };
    assert!(!note.names("ax") && !note.names("gx"), "{note}");
    // A file is refused, by the name of the channel.
    let rows = motions(UNITS, [1.0, 1.0]);
    let dead = rows.lines().enumerate().map(|(line, row)| match line {
        0 => format!("{row}\n"),
        _ => row.rsplit_once(',').expect("fields").0.to_owned() + ",NA\n",
    });
    let data = folder.put("dead.csv", dead.collect::<String>());
    refuses(&format!("predict {data} --model {model}"), "no-whole-row gx");
}

#[test]
fn what_the_times_of_a_stream_are_taken_for_is_noted() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    let timed = |time: &dyn Fn(usize) -> String, count: usize| {
        let rows = stream(400, 400, 1.0);
        let row = |(line, row): (usize, &str)| match line {
            0 => format!("{row}\n"),
            _ => format!("{},{}\n", time(line - 1), row.split_once(',').expect("fields").1),
        };
        rows.lines().take(count + 1).enumerate().map(row).collect::<String>()
    };
    for count in [12, 400] {
        let told = streamed(&model, timed(&|t| t.to_string(), count));
        let [note] = &told[..] else { panic!("one note, not {told:?}") };
        assert!(note.is("no-times t 0.02 [ms]"), "{note}");
    }
    let uneven = |t: usize| format!("{:.4}", 0.02 * t as f64 + 0.004 * (t * t % 5) as f64);
    let told = streamed(&model, timed(&uneven, 400));
    assert_eq!(kinds(&told, "irregular-times").len(), 1, "{told:?}");
    // Series that are shorter than a window have a rate too.
    let fast = |t: usize| format!("{:.2}", 0.01 * t as f64);
    let short = timed(&fast, 20).replacen("t,", "series,t,", 1);
    let short = |name: &str| {
        let rows = short.lines().skip(1).map(|row| format!("{name},{row}\n"));
        rows.collect::<String>()
    };
    let text = format!("series,t,{UNITS}\n{}{}", short("a"), short("b"));
    let line = format!("predict --stream --model {model}");
    refuses(fishweir(&line).write_stdin(text), "other-rate 100 50");
}

/// Mel bands of another rate are at other frequencies than they say.
#[test]
fn a_front_end_at_another_rate_than_the_data_is_refused() {
    let folder = Folder::new();
    let data = folder.put("motions.csv", motions("ax,gx", [1.0, 1.0]));
    let line = |rate: &str| {
        let front = format!("magnitude=ax+gx,cepstra=128/16/8/4@{rate}");
        format!("fit {data} -o {} --front {front} --iterations 2", folder.at("m.json"))
    };
    refuses(&mut fishweir(&line("8000")), "front-rate 8000 50");
    fishweir(&line("50")).assert().success();
}

/// A clock that is set back begins a window, wherever it is among the samples that a rate is judged by.
#[test]
fn a_clock_that_is_set_back_ends_no_stream() {
    let folder = Folder::new();
    let model = of_motions(&folder, UNITS);
    for reset in [96, 110, 128] {
        let set_back = |(line, text): (usize, &str)| match text.split_once(',') {
            Some((_, rest)) if line > reset => {
                format!("{:.2},{rest}\n", f64::from((line - reset) as u32) / 50.0)
            }
            _ => format!("{text}\n"),
        };
        let input: String = stream(400, 400, 1.0).lines().enumerate().map(set_back).collect();
        let told = streamed(&model, input);
        assert_eq!(kinds(&told, "time-leaps").len(), 1, "{told:?}");
    }
}
