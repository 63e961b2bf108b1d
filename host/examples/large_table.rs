//! A large table of short series, for measurements of memory: so many series, two channels, two classes, 8 to 20 samples each.
//!
//! ```sh
//! cargo run --release --example large_table 1000000 > large.csv
//! ```

use std::io::{self, BufWriter, Write};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() -> io::Result<()> {
    let series = std::env::args().nth(1).and_then(|text| text.parse::<u64>().ok());
    let Some(series) = series else {
        eprintln!("usage: large_table SERIES > FILE.csv");
        std::process::exit(2);
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "series,label,t,x,y")?;
    for id in 0..series {
        let slow = rng.random::<bool>();
        let mut high = rng.random::<bool>();
        for t in 0..rng.random_range(8..=20) {
            high ^= rng.random::<f64>() < if slow { 0.1 } else { 0.4 };
            let level = if high { 1.0 } else { -1.0 };
            let mut noise = || 2.0 * rng.random::<f64>() + rng.random::<f64>() - 1.5;
            let (x, y) = (level + noise(), 0.5 * level + noise());
            let label = if slow { "slow" } else { "fast" };
            writeln!(out, "{id},{label},{t},{x:.3},{y:.3}")?;
        }
    }
    out.flush()
}
