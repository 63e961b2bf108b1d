//! How far `f32` is from `f64` after a long stream: log-likelihood and tangent, and the margins of
//! classifiers, the same numbers in both models, so that only rounding of the recursion differs.
//!
//! `cargo run --release -p fishweir-tests --example long_stream -- 100000000`

use fishweir_core::classify::{Normalisation, StreamClassifier, StreamModel};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{Categorical, Emission, Gaussian};
use fishweir_core::filter::{RollingLogLikelihood, Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STATES: usize = 4;
const SYMBOLS: usize = 16;
const CHANNELS: usize = 3;

type Single = Dual<f32, 1>;
type Double = Dual<f64, 1>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let samples = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 1_000_000,
    };
    println!("The last column is of the last 1000 samples, given those before.");
    println!(
        "| stream | samples | log p (f64) | f32 off by | a sample | w . score (f64) | f32 off by | \
         recent log p off by |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut draw = Draw { rng: ChaCha8Rng::seed_from_u64(11), state: 0 };

    let single = categorical();
    let double = Hmm::new(
        widened_chain(single.chain()),
        single.emission().map(|e| Categorical::from_parts(e.probability().map(widened))),
    );
    let alphabet = *single.emission();
    compare("categorical, N = 4, K = 16", &single, &double, samples, || {
        let state = draw.step(single.chain());
        let symbol = draw.choose(alphabet[state].probability().map(|p| p.value));
        (symbol, symbol)
    })?;

    let plain = gaussian()?;
    let single = Hmm::new(
        single_chain(),
        plain.map(|gaussian| gaussian.along_log_std(&[[1.0, -0.5, 0.25]], &[[0.125, 0.5, -0.25]])),
    );
    let double = Hmm::new(widened_chain(single.chain()), single.emission().map(widened_gaussian));
    compare("Gaussian, N = 4, D = 3", &single, &double, samples, || {
        let state = draw.step(single.chain());
        let (mean, rate) = (plain[state].mean(), plain[state].rate());
        let x = std::array::from_fn(|d| mean[d] + draw.normal() / rate[d]);
        (x, x.map(f64::from))
    })?;

    println!(
        "\n| classifier | normalisation | samples | log p (f64) | margin (f64) | f32 off by |"
    );
    println!("|---|---|---|---|---|---|");
    let single = categorical();
    let hidden = |hmm: Hmm<Categorical<SYMBOLS, Single>, STATES>| {
        let laws = hmm.emission().map(|e| Categorical::from_parts(e.probability().map(widened)));
        Hmm::new(widened_chain(hmm.chain()), laws)
    };
    // The rival has the symbols in another order, so that what parts the two is small.
    let turned = |law: &Categorical<SYMBOLS, Single>| {
        Categorical::from_parts(std::array::from_fn(|k| law.probability()[SYMBOLS - 1 - k]))
    };
    let rival = Hmm::new(*single.chain(), single.emission().each_ref().map(turned));
    let symbol = |draw: &mut Draw| draw.rng.random_range(0..SYMBOLS);
    margins("hidden", [single, rival], [single, rival].map(hidden), samples, || symbol(&mut draw))?;
    let known = [single, rival].map(|hmm| ContextModel::new(Steps, *hmm.emission()));
    let wide = [single, rival].map(|hmm| ContextModel::new(Steps, *hidden(hmm).emission()));
    margins("known", known, wide, samples, || symbol(&mut draw))?;
    Ok(())
}

/// Pushes one stream to two classifiers of the same numbers, with a direction each, and prints their
/// margins at every power of ten.
fn margins<S, D>(
    name: &str,
    single: [S; 2],
    double: [D; 2],
    samples: u64,
    mut next: impl FnMut() -> usize,
) -> Result<(), Box<dyn std::error::Error>>
where
    S: StreamModel<Real = f32, Observation = usize> + Copy,
    D: StreamModel<Real = f64, Observation = usize> + Copy,
{
    let pairs = [Normalisation::NONE, Normalisation::PER_SAMPLE, Normalisation::PER_ROOT_SAMPLE]
        .map(|by| {
            let narrow = StreamClassifier::from_parts(single, [[1.0, -1.0]], [0.0], by);
            (narrow, StreamClassifier::from_parts(double, [[1.0, -1.0]], [0.0], by))
        });
    let [(narrow, wide), ..] = &pairs;
    let (mut narrow, mut wide) = (Stream::new(narrow), Stream::new(wide));
    let mut report_at = 1000;
    for t in 1..=samples {
        let x = next();
        narrow.push(&x)?;
        wide.push(&x)?;
        if t == report_at || t == samples {
            report_at *= 10;
            let log = wide.recursion().log_likelihoods(wide.state())[0];
            for (by, (single, double)) in ["none", "1/t", "1/sqrt t"].iter().zip(&pairs) {
                let expected = double.read(wide.state()).margin;
                let off = f64::from(single.read(narrow.state()).margin) - expected;
                println!("| {name} | {by} | {t:.0e} | {log:.1} | {expected:.6} | {off:.1e} |");
            }
        }
    }
    Ok(())
}

/// Pushes one stream to both, and prints at every power of ten.
fn compare<S, D, X, Y>(
    name: &str,
    single: &Hmm<S, STATES>,
    double: &Hmm<D, STATES>,
    samples: u64,
    mut next: impl FnMut() -> (X, Y),
) -> Result<(), Box<dyn std::error::Error>>
where
    S: Emission<Weight = Single, Observation = X>,
    D: Emission<Weight = Double, Observation = Y>,
{
    let mut narrow = Stream::new(RollingLogLikelihood::<_, STATES, 10>::of(single, 100)?);
    let mut wide = Stream::new(RollingLogLikelihood::<_, STATES, 10>::of(double, 100)?);
    let mut report_at = 1000;
    for t in 1..=samples {
        let (x, y) = next();
        narrow.push(&x)?;
        wide.push(&y)?;
        if t == report_at || t == samples {
            report_at *= 10;
            let (got, expected) = (narrow.state().belief().log(), wide.state().belief().log());
            let recent_off = f64::from(narrow.read().reading.value) - wide.read().reading.value;
            let off = f64::from(got.value) - expected.value;
            let slope_off = f64::from(got.tangent[0]) - expected.tangent[0];
            println!(
                "| {name} | {t:.0e} | {:.1} | {off:.2} | {:.1e} | {:.3} | {slope_off:.4} | \
                 {recent_off:.1e} |",
                expected.value,
                off / t as f64,
                expected.tangent[0],
            );
        }
    }
    Ok(())
}

fn single_chain() -> Chain<Single, STATES> {
    let stay = |i: usize, j: usize| if i == j { 0.85 } else { 0.05 };
    let transition = std::array::from_fn(|i| std::array::from_fn(|j| stay(i, j)));
    let slope = |row: usize, j: usize| ((7 * row + 3 * j) % 5) as f32 - 2.0;
    let slopes = std::array::from_fn(|i| std::array::from_fn(|j| slope(i, j)));
    Chain::from_parts([0.25; STATES], transition).along_logits(&[[0.5, -0.5, 1.0, 0.0]], &[slopes])
}

fn categorical() -> Hmm<Categorical<SYMBOLS, Single>, STATES> {
    let emission = std::array::from_fn(|state| {
        let weight = |k: usize| 1.0 + ((5 * k + 3 * state) % 11) as f32;
        let total: f32 = (0..SYMBOLS).map(weight).sum();
        let slope = |k: usize| ((3 * k + state) % 7) as f32 / 3.0 - 1.0;
        Categorical::from_parts(std::array::from_fn(|k| weight(k) / total))
            .along_logits(&[std::array::from_fn(slope)])
    });
    Hmm::new(single_chain(), emission)
}

fn gaussian() -> Result<[Gaussian<CHANNELS>; STATES], Box<dyn std::error::Error>> {
    let mut laws = [Gaussian::new([0.0; CHANNELS], [1.0; CHANNELS])?; STATES];
    for (state, law) in laws.iter_mut().enumerate() {
        let centre = state as f32;
        *law = Gaussian::new([centre, 9.81 - centre, -0.5 * centre], [0.5, 1.0 + centre, 2.0])?;
    }
    Ok(laws)
}

fn widened(weight: Single) -> Double {
    Dual { value: f64::from(weight.value), tangent: weight.tangent.map(f64::from) }
}

fn widened_chain(chain: &Chain<Single, STATES>) -> Chain<Double, STATES> {
    Chain::from_parts(chain.initial().map(widened), chain.transition().map(|row| row.map(widened)))
}

fn widened_gaussian(law: Gaussian<CHANNELS, Single>) -> Gaussian<CHANNELS, Double> {
    let view = law.view();
    let rates = |rates: &[[f32; 1]], d: usize| rates[d].map(f64::from);
    Gaussian::from_parts(
        law.mean().map(f64::from),
        law.rate().map(f64::from),
        widened(view.constant),
        std::array::from_fn(|d| rates(view.linear, d)),
        std::array::from_fn(|d| rates(view.quadratic, d)),
    )
}

/// Draws from the model.
struct Draw {
    rng: ChaCha8Rng,
    state: usize,
}

impl Draw {
    fn step(&mut self, chain: &Chain<Single, STATES>) -> usize {
        self.state = self.choose(chain.transition()[self.state].map(|p| p.value));
        self.state
    }

    fn choose<const K: usize>(&mut self, probabilities: [f32; K]) -> usize {
        let mut rest: f32 = self.rng.random();
        for (choice, p) in probabilities.iter().enumerate() {
            rest -= p;
            if rest < 0.0 {
                return choice;
            }
        }
        K - 1
    }

    fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.rng.random::<f32>()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.rng.random::<f32>()).cos()
    }
}
