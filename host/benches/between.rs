//! A Gram matrix of kernels between hidden Markov models on one core, compared with the time that its
//! multiply-adds alone take: `cargo bench -p fishweir --bench between`.
//!
//! The limit is measured here: as many multiply-adds of numbers that stay in registers, as wide as this
//! machine has them, rounded after each of the two. The best of several runs, in turn with the matrix and
//! as long; seconds are of the processor where the system tells them, so that other work on the machine
//! costs neither.

use std::hint::black_box;
use std::time::Instant;

use fishweir::kernel::between::{Affinity, HmmKernel, ModelKernel};
use fishweir::runtime::{Emissions, Hmm};
use multiversion::multiversion;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MODELS: usize = 200;
const STATES: usize = 8;
const CHANNELS: usize = 6;
/// Transitions.
const STEPS: usize = 100;
const RUNS: usize = 9;

/// Numbers side by side: enough to hide how long one multiply-add takes.
type Registers = [[f64; 8]; 6];

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn multiply_add(times: usize, registers: &mut Registers, factor: &[f64; 8]) {
    for _ in 0..times {
        for register in registers.iter_mut() {
            for lane in 0..8 {
                register[lane] = register[lane] * factor[lane] + 1.0;
            }
        }
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn multiply_add_halved(times: usize, registers: &mut Registers, factor: &[f64; 8]) {
    for _ in 0..times {
        for register in registers.iter_mut() {
            for lane in 0..8 {
                register[lane] = register[lane] * factor[lane] + 1.0;
            }
        }
    }
}

/// Seconds that this thread has run, by Linux.
fn of_processor() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(told.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Seconds that something takes on this thread.
fn seconds(run: impl FnOnce()) -> f64 {
    let (now, before) = (Instant::now(), of_processor());
    run();
    match (before, of_processor()) {
        (Some(before), Some(after)) => after - before,
        _ => now.elapsed().as_secs_f64(),
    }
}

/// Time in seconds of `count` multiply-adds.
fn alone(count: usize) -> f64 {
    let (times, factor) = (count * size_of::<f64>() / size_of::<Registers>(), [0.5; 8]);
    let mut registers: Registers = [[1.0; 8]; 6];
    let wide = seconds(|| multiply_add(times, black_box(&mut registers), black_box(&factor)));
    let half =
        seconds(|| multiply_add_halved(times, black_box(&mut registers), black_box(&factor)));
    wide.min(half)
}

fn rows(rng: &mut ChaCha8Rng, count: usize, length: usize) -> Vec<Vec<f64>> {
    (0..count).map(|_| (0..length).map(|_| rng.random_range(0.1..1.0)).collect()).collect()
}

fn model(rng: &mut ChaCha8Rng) -> Hmm {
    let distribution = |row: Vec<f64>| -> Vec<f64> {
        let sum: f64 = row.iter().sum();
        row.into_iter().map(|entry| entry / sum).collect()
    };
    Hmm {
        initial: distribution(rows(rng, 1, STATES).remove(0)),
        transition: rows(rng, STATES, STATES).into_iter().map(distribution).collect(),
        emission: Emissions::gaussian(rows(rng, STATES, CHANNELS), rows(rng, STATES, CHANNELS)),
    }
}

fn main() {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    one.install(measure);
}

fn measure() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let models: Vec<Hmm> = (0..MODELS).map(|_| model(rng)).collect();
    let pairs = MODELS * (MODELS + 1) / 2;
    let count = pairs * STEPS * STATES * STATES * (2 * STATES + 1);
    println!("{MODELS} models, N = {STATES}, D = {CHANNELS}, T = {STEPS}\n");
    println!("| kernel | Gram matrix, ms | a pair, us | its multiply-adds alone, ms | ratio |");
    println!("|---|---|---|---|---|");
    let measures = [
        ("product, rho 1", Affinity::Product { rho: 1.0 }),
        ("product, rho 1/2", Affinity::Product { rho: 0.5 }),
        ("mean map, lambda 1", Affinity::MeanMap { lambda: 1.0 }),
    ];
    for (name, measure) in measures {
        let kernel = HmmKernel::new(measure, STEPS).expect("a kernel");
        let (mut gram, mut limit) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            limit = limit.min(alone(count));
            gram = gram.min(seconds(|| {
                assert!(black_box(kernel.log_gram(black_box(&models))).is_ok());
            }));
        }
        println!(
            "| {name} | {:.0} | {:.1} | {:.0} | {:.1} |",
            gram * 1e3,
            gram * 1e6 / pairs as f64,
            limit * 1e3,
            gram / limit
        );
    }
}
