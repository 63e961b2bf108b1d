//! The pair HMM kernel on logs of a machine's cycle that lose some events and have some twice: how often a device tells the
//! programme that runs, and how early.
//!
//! ```sh
//! cargo run --release -p fishweir --example lost_events
//! ```
//!
//! Each of two programmes is a cycle of 16 events: open, fill, stir, drain. They have the same events as often, in another order.
//! A log loses each event with a probability and has each of the others twice with the same probability. Machines are trained on 12
//! logs; 400 others are pushed event by event to the machine as a device holds it, in `f32`, against its stored logs.
//!
//! Beside the kernel of `host/docs/kernels/lost-events.toml` are two others: the fixed-length kernel, for which logs are cut or
//! filled to 16 events, and one hidden Markov model of 8 states per programme. Figures: `host/docs/KERNELS.md`.
use std::error::Error;

use fishweir::classifier::Classifier;
use fishweir::data::{Alphabet, Dataset, Kind, Sample, Samples};
use fishweir::kernel::marginal::{FixedLengthModel, MarginalModel};
use fishweir::learn::{ClassifierKind, Request, train, train_marginal};
use fishweir::runtime::{Emissions, Hmm};

/// The programmes' cycles, in symbols of the alphabet `ofsd`.
const PROGRAMMES: [(&str, &str); 2] = [("rinse", "offsdofsddoffsdd"), ("wash", "ofsddoffsddofsfd")];
const TRAINED: usize = 12;
const JUDGED: usize = 400;
const LOSSES: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.3];

/// Numbers from 0 to 1, the same on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A log of a programme.
    fn log(&mut self, cycle: &str, loss: f64) -> Vec<u16> {
        let mut log = Vec::new();
        for event in cycle.bytes() {
            let symbol = "ofsd".bytes().position(|one| one == event).unwrap_or(0) as u16;
            if self.next() >= loss {
                log.push(symbol);
                if self.next() < loss {
                    log.push(symbol);
                }
            }
        }
        log
    }
}

/// Labelled logs.
fn logs(draw: &mut Draw, count: usize, loss: f64) -> Vec<(usize, Vec<u16>)> {
    let one = |n: usize| (n % 2, draw.log(PROGRAMMES[n % 2].1, loss));
    (0..count).map(one).filter(|(_, log)| !log.is_empty()).collect()
}

fn dataset(logs: &[(usize, Vec<u16>)]) -> Result<Dataset, Box<dyn Error>> {
    let samples = |log: &Vec<u16>| Samples::Symbols(log.iter().copied().map(Some).collect());
    let series = logs.iter().map(|(class, log)| (PROGRAMMES[*class].0, samples(log)));
    Ok(Dataset::labelled(Kind::Symbols(Alphabet::new("ofsd")?), series.collect::<Vec<_>>())?)
}

/// A log cut to 16 events, or filled with its last.
fn fixed(log: &(usize, Vec<u16>)) -> (usize, Vec<u16>) {
    let mut events = log.1.clone();
    let last = events.last().copied().unwrap_or(0);
    events.resize(PROGRAMMES[0].1.len(), last);
    (log.0, events)
}

/// Shares of logs that a classifier decides rightly after a quarter, a half, three quarters and all of their events.
fn judged(classifier: &Classifier, logs: &[(usize, Vec<u16>)]) -> Result<[f64; 4], Box<dyn Error>> {
    let deployed = classifier.deploy()?;
    let mut right = [0.0; 4];
    let mut stream = deployed.stream();
    for (class, log) in logs {
        stream.reset();
        for (count, &event) in log.iter().enumerate() {
            // A log longer than any that was trained on ends there.
            let _ = stream.push(Sample::Symbol(event));
            for (quarter, right) in right.iter_mut().enumerate() {
                let due = (log.len() * (quarter + 1)).div_ceil(4);
                if count + 1 == due {
                    let decided = stream.decision()?.class;
                    *right += f64::from(deployed.classes()[decided] == PROGRAMMES[*class].0);
                }
            }
        }
    }
    Ok(right.map(|right| right / logs.len() as f64))
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/kernels/lost-events.toml");
    let pair = MarginalModel::read(file.as_ref())?;
    // A state per event, which stays as long as the cycle is.
    let path = Hmm {
        initial: vec![0.25; 4],
        transition: vec![vec![0.25; 4]; 4],
        emission: Emissions::categorical(
            (0..4)
                .map(|state| (0..4).map(|k| if k == state { 0.91 } else { 0.03 }).collect())
                .collect(),
        ),
    };
    let alphabet = Some(Alphabet::new("ofsd")?);
    let same_length =
        MarginalModel::FixedLength(FixedLengthModel { alphabet, channels: None, hmm: path });
    println!(
        "| lost, and doubled | pair HMM | after 3/4 | after 1/2 | stored | state (B) | fixed length | one HMM per programme |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|");
    for loss in LOSSES {
        let mut draw = Draw(1);
        let (seen, unseen) = (logs(&mut draw, TRAINED, loss), logs(&mut draw, JUDGED, loss));
        let all: Vec<usize> = (0..seen.len()).collect();
        let request = Request::minimal(ClassifierKind::Bayes).with(|request| {
            request.c = vec![1.0, 10.0, 100.0];
        });
        let machine = train_marginal(&dataset(&seen)?, &all, &pair, &request)?.classifier;
        let [_, half, three, whole] = judged(&machine, &unseen)?;
        let (items, cost) = (machine.deploy()?.items(), machine.deploy()?.cost());

        let cut: Vec<_> = seen.iter().map(fixed).collect();
        let other = train_marginal(&dataset(&cut)?, &all, &same_length, &request)?.classifier;
        let fixed_unseen: Vec<_> = unseen.iter().map(fixed).collect();
        let [.., of_fixed] = judged(&other, &fixed_unseen)?;

        let request = Request::minimal(ClassifierKind::Bayes).with(|request| {
            request.baum_welch.states = 8;
            request.baum_welch.restarts = 5;
            request.baum_welch.iterations = 100;
        });
        let bayes = train(&dataset(&seen)?, &all, &request, &|| ())?.classifier;
        let [.., of_bayes] = judged(&bayes, &unseen)?;
        println!(
            "| {:.0} % | {whole:.3} | {three:.3} | {half:.3} | {items} | {} | {of_fixed:.3} | {of_bayes:.3} |",
            100.0 * loss,
            cost.state_bytes
        );
    }
    Ok(())
}
