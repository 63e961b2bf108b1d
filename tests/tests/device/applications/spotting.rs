//! `spot_events`: the device spots what the host spots, every bit of it.

use fishweir::classifier::{Observations, Provenance};
use fishweir::data::{Rows, Sample, Samples};
use fishweir::deploy::{Found, SpottedClass, Spotter, SpotterModel};
use fishweir::device::{Dialogue, Input};
use fishweir::parity::Recording;
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::wire::Request;
use fishweir_tests::quick::channels_missing;

use super::{PATIENCE, build};
use crate::c_interface::{Form, said};
use crate::steps::Step;
use crate::{all_boards, on_boards, on_every_kind_of_core};

/// Two channels about some levels, a state each.
fn about(levels: &[[f64; 2]]) -> Hmm {
    let states = levels.len();
    let row = |from: usize| {
        let other = 0.1 / (states - 1).max(1) as f64;
        let stays = 1.0 - other * (states - 1) as f64;
        (0..states).map(|to| if to == from { stays } else { other }).collect()
    };
    Hmm {
        initial: vec![1.0 / states as f64; states],
        transition: (0..states).map(row).collect(),
        emission: Emissions::gaussian(
            levels.iter().map(|level| level.to_vec()).collect(),
            vec![vec![1.0, 0.75]; states],
        ),
    }
}

/// Two classes, of two states and of one, beside a background of two.
fn model() -> SpotterModel {
    let class = |name: &str, levels: &[[f64; 2]], exit| SpottedClass {
        name: name.into(),
        model: about(levels),
        entry: 1e-3,
        exit,
    };
    SpotterModel {
        observations: Observations::Channels(vec!["x".into(), "y".into()]),
        background: about(&[[0.0, 0.0], [0.5, -0.5]]),
        classes: vec![
            class("up and on", &[[2.0, 1.0], [3.0, 0.0]], 0.02),
            class("down", &[[-2.0, -1.0]], 0.05),
        ],
        lag: 25,
        provenance: Provenance::default(),
    }
}

/// Rows that the model draws: background, and by turns an event of each class.
fn drawn(model: &SpotterModel, seed: u64) -> Vec<Vec<f64>> {
    let [first, second] = [0, 1].map(|class| &model.classes[class].model);
    let stretches = [(&model.background, 70), (first, 45), (&model.background, 60), (second, 20)];
    let mut rows = Vec::new();
    for (one, seed) in stretches.iter().cycle().take(12).zip(seed..) {
        let Samples::Channels(drawn) = one.0.simulate(one.1, seed) else { panic!("of channels") };
        rows.extend(drawn.view().iter().map(|row| row.expect("none is missing").to_vec()));
    }
    rows
}

/// Spotters with recordings of theirs, two streams each: of channels, all there or some missing, and of symbols; one that cannot
/// wait for survivors to agree.
pub(crate) fn spotters() -> Vec<(SpotterModel, Vec<Step>)> {
    let mut impatient = model();
    impatient.lag = 2;
    let mut in_part = model();
    in_part.provenance.channels = channels_missing([true, true]);
    let coin = |heads: f64| Hmm {
        initial: vec![1.0],
        transition: vec![vec![1.0]],
        emission: Emissions::categorical(vec![vec![heads, 1.0 - heads, 0.0]]),
    };
    let runs = |name: &str, heads| SpottedClass {
        name: name.into(),
        model: coin(heads),
        entry: 0.02,
        exit: 0.1,
    };
    let coins = SpotterModel {
        observations: Observations::Symbols("HTX".into()),
        background: coin(0.5),
        classes: vec![runs("heads", 0.95), runs("tails", 0.03)],
        lag: 60,
        provenance: Provenance::default(),
    };
    let of_channels = |model: &SpotterModel, lacking: bool| {
        let mut steps = Vec::new();
        for (seed, length) in [(1, usize::MAX), (100, 392)] {
            for (t, row) in drawn(model, seed).into_iter().take(length).enumerate() {
                let mut row: Vec<f32> = row.iter().map(|&x| x as f32).collect();
                match t % 30 {
                    14 => row[1] = f32::NAN,
                    16 => row[0] = f32::INFINITY,
                    1 | 3 | 5 if lacking => row[t % 2] = f32::NAN,
                    // Far from every state.
                    20 if t > 200 => row[0] = -1e4,
                    21 if t > 200 => row[0] = 1e30,
                    _ => {}
                }
                steps.push(if t % 30 == 29 { Step::Missing } else { Step::Row(row) });
            }
            steps.push(Step::Reset);
        }
        steps
    };
    let tosses = (0..600_usize).map(|t| match t {
        // The third has no likelihood anywhere.
        _ if t % 97 == 13 => Step::Symbol(2),
        _ if t % 89 == 7 => Step::Symbol(9),
        _ if t % 83 == 5 => Step::Missing,
        120 | 421 => Step::Reset,
        40..=70 | 200..=240 | 400..=420 => Step::Symbol(0),
        300..=330 => Step::Symbol(1),
        _ => Step::Symbol((t * t / 3 % 2) as u16),
    });
    let mut tosses: Vec<Step> = tosses.collect();
    tosses.push(Step::Reset);
    let mut all: Vec<(SpotterModel, Vec<Step>)> = Vec::new();
    for (model, lacking) in [(model(), false), (impatient, false), (in_part, true)] {
        let steps = of_channels(&model, lacking);
        all.push((model, steps));
    }
    all.push((coins, tosses));
    all
}

/// What is sent: two streams, every 15th sample missing, half of those lost on the way, and one no number; and what must be
/// answered.
fn dialogue(spotter: &Spotter, streams: [Vec<Vec<f64>>; 2]) -> (Dialogue, Vec<String>) {
    let (mut sent, mut expected) = (Dialogue::new(), Vec::new());
    let [mut samples, mut missing, mut refused, mut events, mut lost] = [0; 5];
    let mut stream = spotter.stream();
    let line = |what: &str, Found { event, decided }: &Found| {
        let class = &spotter.classes()[usize::from(event.class)];
        let (start, end, bits) = (event.start, event.end, event.log_odds.to_bits());
        format!("{what} {decided} {start} {end} {bits:08x} {class}")
    };
    for rows in streams {
        for (t, mut row) in rows.into_iter().enumerate() {
            samples += 1;
            if t % 15 == 14 {
                if t % 30 == 14 {
                    sent.push(Input::Missing);
                } else {
                    sent.lose(1);
                    lost += 1;
                }
                missing += 1;
                stream.push(Sample::Missing).expect("taken in");
            } else {
                if t == 100 {
                    row[1] = f64::NAN;
                    refused += 1;
                    expected.push(format!("refused {}", t + 1));
                }
                sent.push(Input::Vector(&row.iter().map(|&x| x as f32).collect::<Vec<f32>>()));
                // A refused sample is missing.
                let _ = stream.push(Sample::Row(&row));
            }
            let decided = stream.decided();
            events += decided.len();
            expected.extend(decided.iter().map(|found| line("event", found)));
        }
        sent.ask(Request::End);
        let undecided = stream.undecided();
        events += undecided.len();
        let what = |found: &Found| if found.event.end == found.decided { "open" } else { "event" };
        expected.extend(undecided.iter().map(|found| line(what(found), found)));
        stream.reset();
    }
    sent.ask(Request::Report);
    sent.ask(Request::Stop);
    expected.push(format!("counts {samples} {missing} {refused} {events} {lost} 0 0"));
    (sent, expected)
}

#[test]
fn the_device_spots_what_the_host_spots() {
    let model = model();
    let spotter = model.deploy().expect("sound");
    // The first ends within an event, the second just after one.
    let [whole, mut cut] = [1, 100].map(|seed| drawn(&model, seed));
    cut.truncate(392);
    let (sent, expected) = dialogue(&spotter, [whole, cut]);
    let of = |what: &str| expected.iter().filter(|line| line.starts_with(what)).count();
    let found = (of("event"), of("open"), of("refused"));
    assert!(found == (9, 1, 2), "{expected:?}");
    let source = spotter.to_source();
    on_every_kind_of_core(|board| {
        let built = build(board, "spot_events", &source);
        let mut answers = built.start().exchange_frames(PATIENCE, &sent).expect("answers");
        let greeting = answers.remove(0);
        assert!(greeting.starts_with("ready 2 "), "{}: {greeting}", board.name);
        // What the work cost stands last.
        let told = answers.pop().unwrap_or_default();
        let done = told.rsplitn(3, ' ').nth(2).unwrap_or_default();
        println!("{}: {greeting}; {told}; {:?}", board.name, built.image.sections);
        answers.push(done.to_owned());
        assert_eq!(answers, expected, "{}", board.name);
    });
}

/// Samples that lack a channel are taken by the other.
#[test]
fn a_device_spots_in_samples_that_lack_channels_what_the_host_spots() {
    let mut model = model();
    model.provenance.channels = channels_missing([true, true]);
    let spotter = model.deploy().expect("sound");
    let (mut sent, mut expected) = (Dialogue::new(), Vec::new());
    let (mut stream, rows) = (spotter.stream(), drawn(&model, 7));
    let line = |what: &str, Found { event, decided }: &Found| {
        let class = &spotter.classes()[usize::from(event.class)];
        let (start, end, bits) = (event.start, event.end, event.log_odds.to_bits());
        format!("{what} {decided} {start} {end} {bits:08x} {class}")
    };
    let samples = rows.len();
    for (t, mut row) in rows.into_iter().enumerate() {
        match t % 5 {
            1 | 3 => row[1] = f64::NAN,
            2 => row[0] = f64::NAN,
            _ => {}
        }
        sent.push(Input::Vector(&row.iter().map(|&x| x as f32).collect::<Vec<f32>>()));
        stream.push(Sample::Row(&row)).expect("possible");
        expected.extend(stream.decided().iter().map(|found| line("event", found)));
    }
    sent.ask(Request::End);
    let last = stream.undecided();
    let what = |found: &Found| if found.event.end == found.decided { "open" } else { "event" };
    expected.extend(last.iter().map(|found| line(what(found), found)));
    sent.ask(Request::Report);
    sent.ask(Request::Stop);
    let events = expected.len();
    assert!(events >= 5, "{expected:?}");
    expected.push(format!("counts {samples} 0 0 {events} 0 0 0"));
    on_boards(|board| {
        let built = build(board, "spot_events", &spotter.to_source());
        let mut answers = built.start().exchange_frames(PATIENCE, &sent).expect("answers");
        assert!(answers.remove(0).starts_with("ready 2 "), "{}", board.name);
        let counts = answers.pop().unwrap_or_default();
        // What the work cost stands last.
        answers.push(counts.rsplitn(3, ' ').nth(2).unwrap_or_default().to_owned());
        assert_eq!(answers, expected, "{}", board.name);
    });
}

/// Two streams, every 15th sample missing: the first ends within an event.
#[test]
fn firmware_in_c_spots_what_the_host_spots() {
    let model = model();
    let spotter = model.deploy().expect("sound");
    let streams = [1, 100].map(|seed| {
        let mut rows = Rows::new(2);
        for (t, row) in drawn(&model, seed).iter().enumerate() {
            rows.push((t % 15 != 14).then_some(row));
        }
        Samples::Channels(rows)
    });
    let line = |start: &str, found: &[Found]| {
        found.iter().fold(start.to_owned(), |line, Found { event, .. }| {
            let (class, bits) = (event.class, event.log_odds.to_bits());
            format!("{line} {class:08x} {:08x} {:08x} {bits:08x}", event.start, event.end)
        })
    };
    let mut expected = Vec::new();
    for samples in &streams {
        let mut stream = spotter.stream();
        for sample in samples.view().iter() {
            stream.push(sample).expect("possible");
            expected.push(line("00000000", &stream.decided()));
        }
        expected.push(line("end", &stream.undecided()));
    }
    let told = |what: &str| {
        expected.iter().filter(|line| line.starts_with(what) && line.contains(' ')).count()
    };
    assert!(told("0") >= 9 && told("end") >= 1, "{expected:?}");
    let recording = Recording::new(streams.iter().map(Samples::view), None);
    // The bits of a core without hardware floats are asked for by tests/boards.
    for core in if all_boards() { &["m4f", "m0"][..] } else { &["m4f"] } {
        let said = said(Form::Source(spotter.to_source()), &recording, core, false);
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{core}");
    }
}
