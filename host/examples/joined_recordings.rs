//! The bundled recordings joined end to end with pauses between them: a stream to spot events in.
//!
//! ```sh
//! cargo run --release --example joined_recordings -- train.csv test.csv
//! fishweir spot train.csv --test test.csv --marks exercise --events
//! ```
//!
//! A series a subject, of five subjects in the first file and two in the second. Of each recording its first twelve
//! seconds, in an order by chance; before, between and after them two to eight seconds in which the arm comes
//! to rest and trembles. Pauses are made, not recorded: the recordings have none.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fishweir::data::{Dataset, ReadOptions};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RECORDINGS: &str = "data/ts-watch-exercises/all.csv.gz";
/// Samples at 50 Hz.
const OF_EACH: usize = 600;
/// Gravity on a hanging arm, and no turning.
const REST: [f64; 6] = [0.2, -0.6, -0.3, 0.0, 0.0, 0.0];
const TRAINING: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let [training, test] = &env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("name two files to write: training and test".into());
    };
    let data = Dataset::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDINGS),
        &ReadOptions::default(),
    )?;
    let (subjects, names) = data.groups("subject")?;
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let header = "series,t,ax,ay,az,wx,wy,wz,exercise\n";
    let mut texts = [header.to_owned(), header.to_owned()];
    for (subject, name) in names.iter().enumerate() {
        let text = &mut texts[usize::from(subject >= TRAINING)];
        let mut own: Vec<_> =
            data.series().iter().zip(&subjects).filter(|(_, one)| **one == subject).collect();
        own.shuffle(random);
        let mut t = 0;
        let mut put = |row: &[f64], class: &str| {
            let _ = write!(text, "{name},{t}");
            row.iter().for_each(|x| {
                let _ = write!(text, ",{x:.3}");
            });
            let _ = writeln!(text, ",{class}");
            t += 1;
        };
        let mut last = REST.to_vec();
        for (series, _) in own {
            pause(&mut last, random, |row| put(row, ""));
            let rows = series.samples.view();
            let class = series.label.map_or("", |class| &data.classes()[class]);
            for row in rows.rows().into_iter().flat_map(|rows| rows.iter()).flatten().take(OF_EACH)
            {
                put(row, class);
                last = row.to_vec();
            }
        }
        pause(&mut last, random, |row| put(row, ""));
    }
    fs::write(training, &texts[0])?;
    fs::write(test, &texts[1])?;
    Ok(())
}

/// Comes to rest, and trembles.
fn pause(last: &mut [f64], random: &mut ChaCha8Rng, mut put: impl FnMut(&[f64])) {
    for _ in 0..random.random_range(100..400) {
        for (x, rest) in last.iter_mut().zip(REST) {
            *x += 0.03 * (rest - *x) + random.random_range(-0.05..0.05);
        }
        put(last);
    }
}
