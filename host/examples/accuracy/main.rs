//! Accuracy, cost and time on public sets of labelled series and strings, with the models that `--effort` finds (`normal` by
//! default).
//!
//! The only facts given about a set are the layout of its files and the groups that must stay in one fold.
//!
//! ```sh
//! cargo run --release --example accuracy -- DATA BENCH --write splits --effort quick
//! ```
//!
//! `python3 host/examples/accuracy_peers.py splits --all DATA BENCH --page host/docs/ACCURACY.md` runs this at `quick`
//! and at `normal`, other programs on the same splits, and writes the table.
//!
//! DATA and BENCH are folders with a folder a set; those that are missing are left out, and said so. Every split
//! is written as tables, a pair a fold (series of channels as `.csv`, strings as `.tsv`), so that other programs see the
//! same, with the set's public address. All choices are made on training parts. One thread; seconds are those of the
//! processor.

mod sets;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use fishweir::data::{Alphabet, Dataset, Folds, Kind, Series};
use fishweir::evaluate::{Figures, Judged, Units, judge};
use fishweir::learn::{ClassifierKind, Effort, Request, ScoreModels, train};
use sets::{SETS, Set, Split};

#[derive(Parser)]
struct Arguments {
    /// Folders that hold folders of sets
    folders: Vec<PathBuf>,
    /// Names of the sets to run, separated by commas [default: all]
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Folder for splits and figures
    #[arg(long)]
    write: PathBuf,
    /// Size of the search: quick, normal or thorough
    #[arg(long, value_parser = effort, default_value = "normal")]
    effort: Effort,
    /// Judge three folds of every training part, and no test part: for choosing among ways to choose
    #[arg(long)]
    within: bool,
    /// Write splits alone
    #[arg(long)]
    splits_alone: bool,
}

fn effort(name: &str) -> Result<Effort, &'static str> {
    match name {
        "quick" => Ok(Effort::Quick),
        "normal" => Ok(Effort::Normal),
        "thorough" => Ok(Effort::Thorough),
        _ => Err("quick, normal or thorough"),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    println!(
        "{:<14} {:>5} {:>9} {:>17} {:>9} {:>8} {:>9} {:>9} {:>7}  chosen",
        "set", "tests", "accuracy", "95 %", "macro-F1", "fit s", "decide s", "flash B", "RAM B"
    );
    for set in &SETS {
        if !(arguments.only.is_empty() || arguments.only.iter().any(|name| name == set.name)) {
            continue;
        }
        let found = arguments.folders.iter().map(|folder| folder.join(set.folder));
        let Some(folder) = found.into_iter().find(|folder| folder.is_dir()) else {
            println!("{:<14} not found: {}, from {}", set.name, set.folder, set.source);
            continue;
        };
        let mut splits = set.splits(&folder)?;
        if arguments.within {
            splits = within(set, &splits)?;
        }
        let to = arguments.write.join(set.name);
        fs::create_dir_all(&to)?;
        fs::write(to.join("source.txt"), format!("{}\n", set.source))?;
        for (fold, Split { data, train, test }) in splits.iter().enumerate() {
            for (name, series) in [("train", train), ("test", test)] {
                let (text, extension) = match data.kind() {
                    Kind::Channels(names) => (table(data, names, series)?, "csv"),
                    Kind::Symbols(alphabet) => (strings(data, alphabet, series)?, "tsv"),
                };
                fs::write(to.join(format!("{fold}.{name}.{extension}")), text)?;
            }
        }
        if !arguments.splits_alone {
            measure(set, &splits, &arguments, &to)?;
        }
    }
    Ok(())
}

/// Folds of the first training part.
fn within(set: &Set, splits: &[Split]) -> Result<Vec<Split>, Box<dyn Error>> {
    let Some(Split { data, train, .. }) = splits.first() else { return Ok(Vec::new()) };
    let of = |all: &[usize]| -> Vec<usize> { train.iter().map(|&series| all[series]).collect() };
    let (labels, classes) = (of(&data.labels()?), data.classes());
    let folds = match set.group {
        Some(column) => Folds::grouped(&labels, classes, &of(&data.groups(column)?.0), 3, None),
        None => Folds::stratified(&labels, classes, 3, Some(1)),
    }?;
    let part = |items: Vec<usize>| items.into_iter().map(|item| train[item]).collect();
    let split = |fold: usize| Split {
        data: data.clone(),
        train: part(folds.train(fold)),
        test: part(folds.test(fold)),
    };
    Ok((0..folds.len()).map(split).collect())
}

/// Trains and judges on every split.
fn measure(
    set: &Set,
    splits: &[Split],
    arguments: &Arguments,
    to: &Path,
) -> Result<(), Box<dyn Error>> {
    let (mut all, mut units, mut chosen) = (Vec::<Judged>::new(), Vec::new(), Vec::new());
    let (mut fitting, mut deciding, mut flash, mut ram) = (0.0, 0.0, 0, 0);
    let mut classes = Vec::new();
    for Split { data, train: training, test } in splits {
        let mut options = Request::new(ClassifierKind::Fisher).trying(arguments.effort);
        options.group = set.group.map(str::to_owned);
        let start = processor_seconds();
        let trained = train(data, training, &options, &|| ())?;
        let deployed = trained.classifier.deploy()?;
        let fitted = processor_seconds();
        let windows = data.windows(None);
        let cut: Vec<_> = windows.of_all(test).copied().collect();
        let judged = judge(&deployed, &cut);
        deciding += processor_seconds() - fitted;
        fitting += fitted - start;
        let cost = deployed.cost();
        (flash, ram) = (flash.max(cost.model_bytes), ram.max(cost.state_bytes));
        let groups = data.groups(set.group.unwrap_or("series"))?.0;
        units.extend(judged.iter().map(|one| groups[one.series]));
        all.extend(judged);
        classes = data.classes().to_vec();
        if let Some(form) = &trained.form {
            let form = &form.form;
            let setting = trained.choice.as_ref().map(|choice| choice.setting.to_string());
            chosen.push(format!(
                "{} of {} states, {:?}, floor {}, lags {}, {} codebooks, {:?}, {}",
                match form.models {
                    ScoreModels::Universal if form.lags.is_apart() => "one a lag",
                    ScoreModels::Universal => "one",
                    _ => "one a class",
                },
                form.states,
                form.topology,
                form.std_floor.unwrap_or_default(),
                form.lags,
                form.codebooks,
                form.normalisation.code(),
                setting.unwrap_or_default()
            ));
        }
    }
    let figures = Figures::of(&classes, &all);
    let interval = Units::of(&all, &units).accuracy();
    let (low, high) = interval.map_or((f64::NAN, f64::NAN), |one| (one.low, one.high));
    let folds = splits.len() as f64;
    chosen.dedup();
    println!(
        "{:<14} {:>5} {:>9.3} {:>8.3} {:>8.3} {:>9.3} {:>8.2} {:>9.3} {:>9} {:>7}  {}",
        set.name,
        all.len(),
        figures.accuracy,
        low,
        high,
        figures.macro_f1,
        fitting / folds,
        deciding / folds,
        flash,
        ram,
        chosen.join(" | ")
    );
    let effort = format!("{:?}", arguments.effort).to_lowercase();
    let row = format!(
        "{},fishweir --effort {effort},{},{},{low},{high},{},{},{},{flash},{ram}\n",
        set.name,
        all.len(),
        figures.accuracy,
        figures.macro_f1,
        fitting / folds,
        deciding / folds,
    );
    Ok(fs::write(to.join(format!("fishweir-{effort}.csv")), row)?)
}

/// Seconds that this process has had of a processor; zero where the system does not say.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Strings as a table that other programs read, `-` where a symbol is missing.
fn strings(
    data: &Dataset,
    alphabet: &Alphabet,
    series: &[usize],
) -> Result<String, Box<dyn Error>> {
    let letter = |symbol: &Option<u16>| symbol.map_or('-', |one| alphabet.symbols()[one as usize]);
    let mut text = "label\tid\tsequence\n".to_owned();
    for &index in series {
        let Series { label, samples, .. } = &data.series()[index];
        let label = &data.classes()[label.ok_or("a label")?];
        let letters: String =
            samples.view().symbols().ok_or("symbols")?.iter().map(letter).collect();
        let _ = writeln!(text, "{label}\t{index}\t{letters}");
    }
    Ok(text)
}

/// Series of channels as a table that other programs read.
fn table(data: &Dataset, names: &[String], series: &[usize]) -> Result<String, Box<dyn Error>> {
    let mut text = format!("series,label,t,{}\n", names.join(","));
    for &index in series {
        let Series { label, samples, .. } = &data.series()[index];
        let label = &data.classes()[label.ok_or("a label")?];
        for (t, row) in samples.view().rows().ok_or("rows")?.iter().enumerate() {
            let _ = write!(text, "{index},{label},{t}");
            for channel in 0..names.len() {
                let _ = match row {
                    Some(row) => write!(text, ",{:?}", row[channel]),
                    None => write!(text, ",NA"),
                };
            }
            text.push('\n');
        }
    }
    Ok(text)
}
