//! Mel cepstra against their definition in double precision, at every prefix and with gaps.

use std::f64::consts::{PI, TAU};

use fishweir_core::ErrorKind;
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::{Forward, Streaming};
use fishweir_core::front::{Cepstra, Front, Preprocessed};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_tests::laws::{Trial, check};
use fishweir_tests::sample::Sampler;

const RATE: f64 = 8000.0;

fn mel(frequency: f64) -> f64 {
    1127.0 * (1.0 + frequency / 700.0).ln()
}

/// The log energies of a frame, by the sums of the definition.
fn bands(frame: &[f64], bands: usize) -> Vec<f64> {
    let length = frame.len();
    let windowed: Vec<f64> = (0..length)
        .map(|n| {
            let window = 0.54 - 0.46 * (TAU * n as f64 / (length - 1) as f64).cos();
            window * (frame[n] - 0.97 * frame[n.saturating_sub(1)])
        })
        .collect();
    let power = |k: usize| {
        let angle = |n: usize| TAU * (k * n % length) as f64 / length as f64;
        let re: f64 = (0..length).map(|n| windowed[n] * angle(n).cos()).sum();
        let im: f64 = (0..length).map(|n| windowed[n] * angle(n).sin()).sum();
        re * re + im * im
    };
    let power: Vec<f64> = (0..length / 2).map(power).collect();
    let width = mel(RATE / 2.0) / (bands + 1) as f64;
    let energy = |band: usize| {
        let weight = |k: usize| {
            let off = mel(k as f64 * RATE / length as f64) / width - (band + 1) as f64;
            (1.0 - off.abs()).max(0.0)
        };
        (1..length / 2).map(|k| weight(k) * power[k]).sum::<f64>().max(1e-10).ln()
    };
    (0..bands).map(energy).collect()
}

fn cepstrum(bands: &[f64], count: usize) -> Vec<f64> {
    let all = bands.len() as f64;
    let term = |q: usize, b: usize| (PI * q as f64 * (b as f64 + 0.5) / all).cos() * bands[b];
    let sum = |q: usize| (0..bands.len()).map(|b| term(q, b)).sum::<f64>();
    (0..count).map(|q| (2.0 / all).sqrt() * sum(q)).collect()
}

/// Two tones that rise, and noise.
fn sound(seed: u64, length: usize) -> Vec<[f32; 1]> {
    let mut s = Sampler::new(seed);
    let tone = |t: f64, f: f64| (TAU * t * (f + t / 20.0) / RATE).sin();
    (0..length)
        .map(|t| {
            (0.3 * tone(t as f64, 300.0) + 0.1 * tone(t as f64, 2100.0) + 0.01 * s.normal()) as f32
        })
        .map(|x| [x])
        .collect()
}

/// Rows that a front end hands on.
fn rows<const E: usize, F: Front<[f32; E], Sample = [f32; 1]>>(
    front: &F,
    samples: &[Option<[f32; 1]>],
) -> Vec<Option<[f32; E]>> {
    let (mut state, mut rows) = (front.initial_state(), Vec::new());
    for x in samples {
        let heard = front.step(&mut state, x.as_ref(), |row| rows.push(row.copied()));
        heard.expect("numbers");
    }
    rows
}

fn against_definition<const W: usize, const BINS: usize>(hop: usize) {
    let samples = sound(7, 3 * W + 5);
    let mut samples: Vec<_> = samples.into_iter().map(Some).collect();
    samples[W + hop + 2] = None;
    let log = Cepstra::<BINS, 20, 0>::new(hop as u32, RATE).expect("settings");
    let full = Cepstra::<BINS, 20, 12>::new(hop as u32, RATE).expect("settings");
    let (log, full) = (rows::<20, _>(&log, &samples), rows::<12, _>(&full, &samples));
    let frames: Vec<_> = samples.windows(W).step_by(hop).collect();
    assert_eq!((log.len(), full.len()), (frames.len(), frames.len()));
    let (mut whole, mut missing) = (0, 0);
    for ((frame, log), full) in frames.into_iter().zip(log).zip(full) {
        let frame: Option<Vec<f64>> = frame.iter().map(|x| x.map(|[x]| x.into())).collect();
        let Some(frame) = frame else {
            missing += 1;
            assert_eq!((log, full), (None, None));
            continue;
        };
        whole += 1;
        let wanted = bands(&frame, 20);
        let near = |found: &[f32], wanted: &[f64]| {
            for (&found, wanted) in found.iter().zip(wanted) {
                assert!((f64::from(found) - wanted).abs() < 2e-3, "{found} {wanted}");
            }
        };
        near(&log.expect("a row"), &wanted);
        near(&full.expect("a row"), &cepstrum(&wanted, 12));
    }
    assert!(whole >= 2 && missing >= 1, "{whole} {missing}");
}

#[test]
fn every_length_of_frame_is_as_defined() {
    against_definition::<128, 64>(50);
    against_definition::<256, 128>(128);
    against_definition::<512, 256>(512);
    against_definition::<1024, 512>(400);
}

#[test]
fn the_laws_of_a_stream_hold_behind_it() {
    let front = Cepstra::<64, 10, 4>::new(32, RATE).expect("settings");
    let state = Gaussian::<4, f32>::new([-5.0, 0.0, 0.0, 0.0], [9.0; 4]).expect("a state");
    let hmm = Hmm::new(Chain::<f32, 1>::new([1.0], [[1.0]]).expect("a chain"), [state]);
    let sound = sound(3, 320);
    let samples: Vec<_> = (0..).zip(&sound).map(|(t, x)| (t != 230).then_some(x)).collect();
    let fronted = Preprocessed::new(front, Forward::of(&hmm));
    check(&fronted, Trial { samples: &samples, refusable: &[] }, |prefix, read| {
        let prefix: Vec<_> = prefix.iter().map(|x| x.copied()).collect();
        let mut stream = Forward::of(&hmm).initial_state();
        for row in rows::<4, _>(&front, &prefix) {
            match row {
                Some(row) => Forward::of(&hmm).step(&mut stream, &row).expect("numbers"),
                None => Forward::of(&hmm).step_missing(&mut stream),
            }
        }
        assert_eq!(read, Forward::of(&hmm).read(&stream));
    });
    let with = |gap: Option<[f32; 1]>| {
        let mut state = fronted.initial_state();
        for x in &samples {
            match x.copied().or(gap) {
                Some(x) => assert_eq!(fronted.step(&mut state, &x).is_err(), Some(x) == gap),
                None => fronted.step_missing(&mut state),
            }
        }
        state
    };
    // What is no sample is refused, and missing.
    for odd in [f32::INFINITY, 2e12] {
        assert_eq!(with(Some([odd])), with(None));
    }
}

#[test]
fn settings_that_are_none_are_refused() {
    let kind = |hop, rate| Cepstra::<64, 20, 4>::new(hop, rate).map_err(|error| error.kind);
    assert_eq!(kind(0, RATE).err(), Some(ErrorKind::NotInRange));
    assert_eq!(kind(129, RATE).err(), Some(ErrorKind::NotInRange));
    assert_eq!(kind(64, 0.0).err(), Some(ErrorKind::NotPositive));
    assert_eq!(kind(64, f64::NAN).err(), Some(ErrorKind::NotPositive));
    let many = Cepstra::<64, 60, 4>::new(64, RATE).map_err(|error| error.kind);
    assert_eq!(many.err(), Some(ErrorKind::Inconsistent));
}
