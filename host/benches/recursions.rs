//! Nanoseconds per symbol of the recursions on one core, compared with other programs:
//! `cargo bench -p fishweir --bench recursions`, with `PYTHON=...` before it where an interpreter has hmmlearn.
//!
//! The best of several runs, on sequences of 1000 samples. C with 16 lanes of `f32` (`forward_lanes.c`, where
//! there is `cc`) and hmmlearn's Baum-Welch (`hmmlearn_peers.py`) run on the same machine; the other
//! peers' figures were measured on one core of another. Rerun on an idle machine.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use fishweir::batch::{Batch, log_likelihoods, posteriors};
use fishweir::data::{Rows, Samples, SamplesView};
use fishweir::fit::{BaumWelch, fit};
use fishweir::runtime::{Emissions, Hmm as Plain};
use fishweir_core::emission::{Categorical, Emission, Gaussian};
use fishweir_core::filter::{Forward, Stream};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Real;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LENGTH: usize = 1000;
const SEQUENCES: usize = 32;

/// One sequence: hmmlearn (scaling), dynamax f32, rust-bio, C f64; then posteriors of hmmlearn.
const PEERS: [(usize, [&str; 5]); 6] = [
    (2, ["23", "44", "52", "10", "57"]),
    (4, ["31", "85", "134", "13", "79"]),
    (8, ["67", "162", "543", "21", "168"]),
    (16, ["180", "380", "2105", "74", "463"]),
    (32, ["588", "681", "6786", "50", "1503"]),
    (64, ["2545", "1315", "23853", "169", "6059"]),
];

/// Measurements of one model, in nanoseconds per symbol.
struct Figures {
    name: String,
    stream: [f64; 2],
    batch: [f64; 2],
    /// Time in `f32` for sequences that lie side by side already.
    laid: f64,
    posteriors: f64,
    baum_welch: f64,
    peers: [&'static str; 5],
    /// C with lanes of `f32`, the same without fused multiply-adds, hmmlearn's Baum-Welch.
    beside: [Option<f64>; 3],
}

/// Times of hmmlearn's Baum-Welch, by family and sizes.
type Hmmlearn = HashMap<String, f64>;

/// Asks the interpreter that the environment names.
fn hmmlearn() -> Hmmlearn {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/hmmlearn_peers.py");
    let run = std::env::var_os("PYTHON").map(|python| Command::new(python).arg(script).output());
    let Some(Ok(output)) = run else { return Hmmlearn::new() };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let (model, time) = line.rsplit_once(' ')?;
        Some((model.to_owned(), time.parse().ok()?))
    };
    printed.lines().filter_map(line).collect()
}

/// Compiles and runs the same likelihoods in C, with fused multiply-adds or, as here, without; `None` without a
/// compiler.
fn c_lanes(states: usize, symbols: usize, contract: &str) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let program = folder.path().join("forward_lanes");
    let compiled = Command::new("cc")
        .args(["-O3", "-march=native", contract])
        .args([format!("-DSTATES={states}"), format!("-DSYMBOLS={symbols}")])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/forward_lanes.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .status();
    compiled.ok().filter(std::process::ExitStatus::success)?;
    let output = Command::new(&program).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// A figure of a peer's, and how many times as long it is as `own`.
fn beside(peer: Option<f64>, own: f64) -> String {
    peer.map_or("-".to_owned(), |peer| format!("{peer:.2} ({:.2})", peer / own))
}

/// The best time of a run, in nanoseconds per symbol.
fn best(symbols: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed() < Duration::from_millis(250) {
        let now = Instant::now();
        run();
        best = best.min(now.elapsed().as_nanos() as f64 / symbols as f64);
    }
    best
}

fn rows(rng: &mut ChaCha8Rng, count: usize, length: usize) -> Vec<Vec<f64>> {
    let mut row = || {
        let row: Vec<f64> = (0..length).map(|_| rng.random_range(0.1..1.0)).collect();
        let sum: f64 = row.iter().sum();
        row.into_iter().map(|entry| entry / sum).collect()
    };
    (0..count).map(|_| row()).collect()
}

fn filled<T: Real, const K: usize>(row: &[f64]) -> [T; K] {
    std::array::from_fn(|k| T::from_f64(row[k]))
}

fn core<E: Emission<Weight: Real>, const N: usize>(
    plain: &Plain,
    emission: impl FnMut(usize) -> E,
) -> Hmm<E, N> {
    let transition = std::array::from_fn(|i| filled(&plain.transition[i]));
    let chain = Chain::from_parts(filled(&plain.initial), transition);
    Hmm::new(chain, std::array::from_fn(emission))
}

/// The core's filter, as a device would link it.
fn stream<E: Emission<Weight: Real>, const N: usize>(hmm: &Hmm<E, N>, x: &[E::Observation]) -> f64
where
    E::Observation: Sized,
{
    best(x.len(), || {
        let mut stream = Stream::new(Forward::of(hmm));
        let taken = stream.push_block(black_box(x));
        assert_eq!(taken, Ok(x.len()));
        black_box(stream.read());
    })
}

/// Many sequences on one thread: likelihoods in both precisions and for sequences side by side, posteriors, Baum-Welch.
fn many(plain: &Plain, samples: &[Samples], scale: &[f64]) -> ([f64; 3], f64, f64) {
    let views: Vec<SamplesView<'_>> = samples.iter().map(Samples::view).collect();
    let symbols = LENGTH * samples.len();
    let single = best(symbols, || {
        assert!(black_box(log_likelihoods::<f32>(plain, black_box(&views))).is_ok());
    });
    let double = best(symbols, || {
        assert!(black_box(log_likelihoods::<f64>(plain, black_box(&views))).is_ok());
    });
    let batch = Batch::new(&views);
    let laid = best(symbols, || {
        assert!(black_box(&batch).log_likelihoods::<f32>(black_box(plain)).is_ok());
    });
    let smoothed = best(symbols, || {
        assert!(black_box(posteriors(plain, black_box(&views))).is_ok());
    });
    let options =
        BaumWelch { states: plain.states(), iterations: 2, tolerance: 0.0, ..BaumWelch::default() };
    let iterations = best(symbols, || {
        assert!(fit(&options, plain.clone(), black_box(&views), scale, &|| ()).is_ok());
    });
    // Two iterations read statistics three times: before each, and for the likelihood at the end.
    ([single, double, laid], smoothed, iterations / 3.0)
}

fn categorical<const N: usize, const K: usize>(
    peers: [&'static str; 5],
    hmmlearn: &Hmmlearn,
) -> Figures {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let (initial, transition) = (rows(rng, 1, N).remove(0), rows(rng, N, N));
    let p = rows(rng, N, K);
    let plain = Plain { initial, transition, emission: Emissions::categorical(p.clone()) };
    let x: Vec<usize> = (0..LENGTH).map(|_| rng.random_range(0..K)).collect();
    let single = core::<_, N>(&plain, |j| Categorical::<K, f32>::from_parts(filled(&p[j])));
    let double = core::<_, N>(&plain, |j| Categorical::<K, f64>::from_parts(filled(&p[j])));
    let mut sequence =
        || Samples::Symbols((0..LENGTH).map(|_| Some(rng.random_range(0..K) as u16)).collect());
    let samples: Vec<Samples> = (0..SEQUENCES).map(|_| sequence()).collect();
    let ([single_f32, double_f64, laid], posteriors, baum_welch) = many(&plain, &samples, &[]);
    let stream = [stream(&single, &x), stream(&double, &x)];
    let python = hmmlearn.get(&format!("categorical {N} {K}")).copied();
    let c = |contract| if N <= 16 { c_lanes(N, K, contract) } else { None };
    let beside = [c("-ffp-contract=fast"), c("-ffp-contract=off"), python];
    let name = format!("N = {N}, {K} symbols");
    let batch = [single_f32, double_f64];
    Figures { name, stream, batch, laid, posteriors, baum_welch, peers, beside }
}

fn gaussian(hmmlearn: &Hmmlearn) -> Figures {
    const N: usize = 4;
    const D: usize = 3;
    let rng = &mut ChaCha8Rng::seed_from_u64(2);
    let (initial, transition) = (rows(rng, 1, N).remove(0), rows(rng, N, N));
    let (mean, std) = (rows(rng, N, D), rows(rng, N, D));
    let plain =
        Plain { initial, transition, emission: Emissions::gaussian(mean.clone(), std.clone()) };
    let mut draw = || -> [f64; D] { std::array::from_fn(|_| rng.random_range(-0.5..1.5)) };
    let x: Vec<[f64; D]> = (0..LENGTH).map(|_| draw()).collect();
    let rounded: Vec<[f32; D]> = x.iter().map(|x| filled(x)).collect();
    let variance = |j: usize| -> Vec<f64> { std[j].iter().map(|std| std * std).collect() };
    let single = core::<_, N>(&plain, |j| {
        Gaussian::<D, f32>::new(filled(&mean[j]), filled(&variance(j))).expect("a distribution")
    });
    let double = core::<_, N>(&plain, |j| {
        Gaussian::<D, f64>::new(filled(&mean[j]), filled(&variance(j))).expect("a distribution")
    });
    let mut sequence = || {
        let mut rows = Rows::new(D);
        (0..LENGTH).for_each(|_| rows.push(Some(&draw())));
        Samples::Channels(rows)
    };
    let samples: Vec<Samples> = (0..SEQUENCES).map(|_| sequence()).collect();
    let ([single_f32, double_f64, laid], posteriors, baum_welch) =
        many(&plain, &samples, &[1.0; D]);
    let stream = [stream(&single, &rounded), stream(&double, &x)];
    let peers = ["-"; 5];
    let beside = [None, None, hmmlearn.get(&format!("gaussian {N} {D}")).copied()];
    Figures {
        name: format!("Gaussian, N = {N}, D = {D}"),
        stream,
        batch: [single_f32, double_f64],
        laid,
        posteriors,
        baum_welch,
        peers,
        beside,
    }
}

fn main() {
    // On the pool's one thread: no call waits for another to wake.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    one.expect("a pool of one thread").install(compare);
}

fn compare() {
    let (hmmlearn, mut figures) = (&hmmlearn(), Vec::new());
    macro_rules! sizes {
        ($($row:literal $n:literal),*) => {$(
            figures.push(categorical::<$n, 4>(PEERS[$row].1, hmmlearn));
            figures.push(categorical::<$n, 16>(PEERS[$row].1, hmmlearn));
        )*};
    }
    sizes!(0 2, 1 4, 2 8, 3 16, 4 32, 5 64);
    figures.push(gaussian(hmmlearn));

    println!("One sequence's likelihood, ns a symbol on one core:\n");
    println!(
        "| model | f32 | f64 | C f64 | hmmlearn | dynamax f32 | rust-bio |\n|---|---|---|---|---|---|---|"
    );
    for f in &figures {
        let [hmmlearn, dynamax, rust_bio, c, ..] = f.peers;
        let [single, double] = f.stream;
        println!(
            "| {} | {single:.1} | {double:.1} | {c} | {hmmlearn} | {dynamax} | {rust_bio} |",
            f.name
        );
    }
    println!("\n{SEQUENCES} sequences side by side, ns a symbol on one core:\n");
    println!(
        "| model | f32 | laid out before | C, 16 lanes f32, laid out before (times that) | C, nothing fused | f64 | posteriors | hmmlearn | Baum-Welch | hmmlearn (times) |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for f in &figures {
        let [.., posteriors] = f.peers;
        let [single, double] = f.batch;
        let [fused, plain, python] = f.beside;
        let [c, plain] = [fused, plain].map(|time| beside(time, f.laid));
        let hmmlearn = beside(python, f.baum_welch);
        println!(
            "| {} | {single:.2} | {:.2} | {c} | {plain} | {double:.2} | {:.1} | {posteriors} | {:.1} | {hmmlearn} |",
            f.name, f.laid, f.posteriors, f.baum_welch
        );
    }
}
