//! The bundled recordings joined end to end with pauses between them: a stream to spot events in.
//!
//! ```sh
//! cargo run --release --example joined_recordings -- train.csv test.csv
//! fishweir spot train.csv --test test.csv --marks exercise --events
//! cargo run --release --example joined_recordings -- train.csv test.csv clips.csv background.csv
//! fishweir spot --clips clips.csv --background background.csv --group subject --test test.csv --marks exercise
//! ```
//!
//! A series a subject, of five subjects in the first file and two in the second. Of each recording its first twelve
//! seconds, in an order by chance; before, between and after them two to eight seconds in which the arm comes
//! to rest and trembles. Pauses are made, not recorded: the recordings have none. What is in the first file is in the
//! third and the fourth too: each recording a series with its exercise, and of each subject the pauses, one after
//! another, as a recording of the background.

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
    let files: Vec<String> = env::args().skip(1).collect();
    let (training, test, apart) = match &files[..] {
        [training, test] => (training, test, None),
        [training, test, clips, background] => (training, test, Some([clips, background])),
        _ => {
            let what =
                "name two files to write, training and test, or four: clips and background too";
            return Err(what.into());
        }
    };
    let data = Dataset::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDINGS),
        &ReadOptions::default(),
    )?;
    let (subjects, names) = data.groups("subject")?;
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let header = "series,t,ax,ay,az,wx,wy,wz,exercise\n";
    let mut texts = [header.to_owned(), header.to_owned()];
    let mut clips = String::from("series,subject,label,t,ax,ay,az,wx,wy,wz\n");
    let mut background = String::from("series,subject,t,ax,ay,az,wx,wy,wz\n");
    for (subject, name) in names.iter().enumerate() {
        let text = &mut texts[usize::from(subject >= TRAINING)];
        let mut own: Vec<_> =
            data.series().iter().zip(&subjects).filter(|(_, one)| **one == subject).collect();
        own.shuffle(random);
        let (mut t, mut rested, mut last) = (0, 0, REST.to_vec());
        let mut rest = |text: &mut String, t: &mut usize, last: &mut Vec<f64>| {
            pause(last, random, |row| {
                line(text, &[name], *t, row, Some(""));
                if subject < TRAINING {
                    line(&mut background, &[name, name], rested, row, None);
                }
                *t += 1;
                rested += 1;
            });
        };
        for (series, _) in own {
            rest(text, &mut t, &mut last);
            let rows = series.samples.view();
            let class = series.label.map_or("", |class| &data.classes()[class]);
            let rows = rows.rows().into_iter().flat_map(|rows| rows.iter()).flatten();
            for (place, row) in rows.take(OF_EACH).enumerate() {
                line(text, &[name], t, row, Some(class));
                if subject < TRAINING {
                    line(&mut clips, &[&series.id, name, class], place, row, None);
                }
                t += 1;
                last = row.to_vec();
            }
        }
        rest(text, &mut t, &mut last);
    }
    fs::write(training, &texts[0])?;
    fs::write(test, &texts[1])?;
    if let Some([clips_file, background_file]) = apart {
        fs::write(clips_file, clips)?;
        fs::write(background_file, background)?;
    }
    Ok(())
}

/// A line of a table: the series' columns, the time, a row, and a mark if there is a column of them.
fn line(text: &mut String, of: &[&str], t: usize, row: &[f64], mark: Option<&str>) {
    let _ = write!(text, "{},{t}", of.join(","));
    row.iter().for_each(|x| {
        let _ = write!(text, ",{x:.3}");
    });
    mark.iter().for_each(|mark| {
        let _ = write!(text, ",{mark}");
    });
    text.push('\n');
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
