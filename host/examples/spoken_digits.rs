//! Spoken digits from sound: mel cepstra, a hidden Markov model a digit, the same on a microcontroller.
//!
//! ```sh
//! cargo run --release -p fishweir --example spoken_digits -- recordings OUT
//! ```
//!
//! `recordings` holds WAV files named `digit_speaker_take.wav`, one channel: those of the Free Spoken Digit Dataset
//! (Z. Jackson et al., github.com/Jakobovski/free-spoken-digit-dataset, CC BY-SA 4.0; 8 kHz, 16 bits). With several
//! speakers each is judged by models that never heard them; with one, takes below 5 are held out, as that data set's
//! authors do; with nothing to hold out the models are fitted and that is said. In OUT come the model, `digits.json`,
//! and one recording a digit as a table, `digits.csv`.
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, Kind, Samples, Series};
use fishweir::files;
use fishweir::learn::{ClassifierKind, Request, train};

/// Takes that are held out of one speaker's.
const HELD_OUT: usize = 5;

struct Recording {
    digit: String,
    speaker: String,
    take: usize,
    sound: Vec<[f64; 1]>,
}

/// A WAV file of whole numbers, full scale one.
fn read(path: &Path) -> Result<(Recording, u32), Box<dyn Error>> {
    let named = || format!("{}: named otherwise than digit_speaker_take.wav", path.display());
    let stem = path.file_stem().and_then(|stem| stem.to_str()).ok_or_else(named)?;
    let [digit, speaker, take] = stem.split('_').collect::<Vec<_>>()[..] else {
        return Err(named().into());
    };
    let of_file = |error: hound::Error| format!("{}: {error}", path.display());
    let mut wav = hound::WavReader::open(path).map_err(of_file)?;
    let spec = wav.spec();
    if spec.channels != 1 || spec.sample_format != hound::SampleFormat::Int {
        let name = path.display();
        return Err(format!("{name}: one channel of whole numbers is wanted").into());
    }
    let full = f64::from(spec.bits_per_sample - 1).exp2();
    let sound = wav.samples::<i32>().map(|x| x.map(|x| [f64::from(x) / full]));
    let sound = sound.collect::<Result<_, _>>().map_err(of_file)?;
    let take = take.parse().map_err(|_| named())?;
    Ok((Recording { digit: digit.into(), speaker: speaker.into(), take, sound }, spec.sample_rate))
}

fn classifier(data: &Dataset, series: &[usize], rate: u32) -> Result<Classifier, Box<dyn Error>> {
    let mut options = Request::minimal(ClassifierKind::Bayes);
    options.front = format!("cepstra=256/128/26/13@{rate}").parse()?;
    options.baum_welch.states = 5;
    options.std_floors = vec![0.3];
    Ok(train(data, series, &options, &|| ())?.classifier)
}

/// Number of series that a device decides rightly.
fn right(data: &Dataset, of: &Classifier, series: &[usize]) -> Result<usize, Box<dyn Error>> {
    let deployed = of.deploy()?;
    let (mut stream, mut right) = (deployed.stream(), 0);
    for one in series.iter().map(|&one| &data.series()[one]) {
        stream.reset();
        for sample in one.samples.view().iter() {
            stream.push(sample)?;
        }
        right += usize::from(one.label == Some(stream.decision()?.class));
    }
    Ok(right)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(folder), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("give the folder of the recordings, and one to write to".into());
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "wav"));
    paths.sort();
    let read = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let rates: BTreeSet<u32> = read.iter().map(|(_, rate)| *rate).collect();
    let [rate] = rates.iter().copied().collect::<Vec<_>>()[..] else {
        let name = folder.display();
        return Err(format!(
            "{name}: the WAV files have different rates ({rates:?}); one rate is needed"
        )
        .into());
    };
    let all: Vec<Recording> = read.into_iter().map(|(one, _)| one).collect();
    let digits: BTreeSet<&String> = all.iter().map(|one| &one.digit).collect();
    let digits: Vec<String> = digits.into_iter().cloned().collect();
    let speakers: BTreeSet<&String> = all.iter().map(|one| &one.speaker).collect();
    let series = all.iter().map(|one| Series {
        id: format!("{}_{}_{}", one.digit, one.speaker, one.take),
        label: digits.iter().position(|digit| *digit == one.digit),
        columns: vec![one.speaker.clone()],
        times: Vec::new(),
        samples: one.sound.iter().copied().collect::<Samples>(),
        line: 0,
    });
    let kind = Kind::Channels(vec!["x".into()]);
    let source = folder.display().to_string();
    let columns = vec!["speaker".to_owned()];
    let data = Dataset::new(source, kind, digits.clone(), columns, series.collect())?;
    println!("{} recordings of {} digits by {} speakers", all.len(), digits.len(), speakers.len());

    // What is held out, and its name.
    let of = |held: &dyn Fn(&Recording) -> bool| -> [Vec<usize>; 2] {
        let (test, rest) = (0..all.len()).partition(|&one| held(&all[one]));
        [rest, test]
    };
    let trials: Vec<(String, [Vec<usize>; 2])> = match speakers.len() {
        1 => vec![(format!("takes below {HELD_OUT}"), of(&|one| one.take < HELD_OUT))],
        _ => speakers.iter().map(|&name| (name.clone(), of(&|one| one.speaker == *name))).collect(),
    };
    let (mut decided, mut rightly) = (0, 0);
    for (name, [rest, test]) in &trials {
        let known: BTreeSet<&String> = rest.iter().map(|&one| &all[one].digit).collect();
        if known.len() < digits.len() || test.is_empty() {
            println!("{name}: not held out, for not every digit is left, or nothing is there");
            continue;
        }
        let count = right(&data, &classifier(&data, rest, rate)?, test)?;
        println!("{name}: {count} of {} right", test.len());
        (decided, rightly) = (decided + test.len(), rightly + count);
    }
    match decided {
        0 => println!("nothing was judged: more takes, or speakers, are wanted"),
        some => println!("held out: {:.3} right of {some}", rightly as f64 / some as f64),
    }

    let every: Vec<usize> = (0..all.len()).collect();
    let fitted = classifier(&data, &every, rate)?;
    let seen = right(&data, &fitted, &every)?;
    println!("of the recordings that it was fitted to: {seen} of {} right", every.len());
    std::fs::create_dir_all(&out)?;
    let (model, table) = (out.join("digits.json"), out.join("digits.csv"));
    fitted.save(&model)?;
    let mut text = String::from("series,label,t,x\n");
    for digit in &digits {
        for one in all.iter().filter(|one| one.digit == *digit).take(1) {
            for (t, [x]) in one.sound.iter().enumerate() {
                text += &format!("{},{digit},{t},{x}\n", one.speaker.clone() + "_" + digit);
            }
        }
    }
    files::write_whole(&table, text.as_bytes())?;
    let (model, table) = (model.display(), table.display());
    println!("on an emulated board: fishweir run {table} --model {model} --limit 4000");
    Ok(())
}
