//! Remote homology: does a protein domain belong to a superfamily, judged from the superfamily's other families?
//! The experiment that made the Fisher kernel (Jaakkola, Diekhans and Haussler 2000; Liao and Noble 2003), with
//! profile hidden Markov models.
//!
//! A task leaves one family out of its superfamily. A profile is built from the other families' domains,
//! progressively; then domains are ranked by
//! - the profile alone: its log-odds;
//! - support vector machines on its Fisher scores, linear and Gaussian: the gradient by what match states emit,
//!   grouped by the nine components of a Dirichlet mixture, whitened by diagonal information; and on it with the
//!   log-odds beside it, linear;
//! - machines without a model: words of three (spectrum), of five but for one (mismatch), Smith-Waterman scores
//!   against the positive training domains (pairwise).
//!
//! Machines are trained on the other families against one half of the domains of other folds; all are judged
//! on the family left out against the other half: area below the curve of detections against false alarms, area
//! up to the first 50 false alarms (ROC50), median rate of false positives (median RFP).
//!
//! The data: ASTRAL domains of SCOPe 2.07 below 40 % identity as FASTA, the class (`a.1.1.2`) the
//! header's second word (<https://scop.berkeley.edu/astral/>); a table of families to leave out
//! (`family`, tab-separated, with a header); and a table of halves (`domain`, `half`: train or test).
//!
//! ```sh
//! cargo run --release -p fishweir --example protein_families -- astral.fa.gz tasks.tsv halves.tsv.gz --every 10
//! ```
//!
//! What was measured is in `host/docs/PROFILES.md`.

mod judged;
mod machine;

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use fishweir::data::{Alphabet, Dataset, FastaLabel, Kind, ReadOptions};
use fishweir::kernel::{SmithWaterman, SpectrumKernel};
use fishweir::learn::Matrix;
use fishweir::plot::{Curve, RocPlot, Shares};
use fishweir::profile::{
    AMINO, Build, Effective, MatchFeatures, Mode, Profile, ProfilePrior, SearchProfile, Training,
};

use judged::{Figures, Judged};
use machine::{Kept, Vectors, machine};

#[derive(Parser)]
struct Arguments {
    /// Domains, FASTA
    domains: PathBuf,
    /// Families to leave out
    tasks: PathBuf,
    /// Which half a domain is in where it is a negative
    halves: PathBuf,
    /// Take every so many of the tasks
    #[arg(long, default_value_t = 10)]
    every: usize,
    /// Take the tasks of superfamilies whose names begin so
    #[arg(long)]
    superfamily: Option<String>,
    /// Negatives are the domains of the same fold, as in the first experiment, and not of other folds
    #[arg(long)]
    same_fold: bool,
    /// The machines' C
    #[arg(long, default_value_t = 1.0)]
    c: f64,
    /// Align training domains to whole profiles, not to parts
    #[arg(long)]
    glocal: bool,
    /// Bits a match state
    #[arg(long, default_value_t = 0.59)]
    entropy: f64,
    /// Rounds of alignment once all domains are in
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Passes of Baum-Welch
    #[arg(long, default_value_t = 0)]
    passes: usize,
    /// Leave out the machines without a model
    #[arg(long)]
    models_only: bool,
    /// Where a table of all tasks goes, tab-separated
    #[arg(long)]
    table: Option<PathBuf>,
    /// Where figures go: tasks against ROC and ROC50, SVG
    #[arg(long)]
    figures: Option<PathBuf>,
}

/// A domain's part in a task.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Train { positive: bool },
    Test { positive: bool },
}

/// The domains, in all the shapes that methods read.
struct Domains {
    ids: Vec<String>,
    classes: Vec<String>,
    texts: Vec<String>,
    /// Symbols of [`AMINO`], codes among them.
    symbols: Vec<Vec<usize>>,
    /// Residues alone.
    residues: Vec<Vec<Option<u16>>>,
}

/// A family to leave out.
struct Task {
    family: String,
    parts: Vec<(usize, Part)>,
}

/// Methods in the order of their figures.
const OF_MODELS: [&str; 4] =
    ["profile alone", "Fisher, linear", "Fisher and log-odds, linear", "Fisher, Gaussian"];
const WITHOUT: [&str; 3] = ["spectrum 3", "mismatch 5, 1", "pairwise"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let domains = Domains::read(&arguments.domains)?;
    let tasks = tasks(&arguments, &domains)?;
    println!(
        "{}: {} domains, {} tasks\n",
        arguments.domains.display(),
        domains.ids.len(),
        tasks.len()
    );

    let mut figures = Figures { names: OF_MODELS.to_vec(), tasks: Vec::new() };
    let mut seconds = vec![0.0; 4];
    for task in &tasks {
        figures.tasks.push(of_models(&domains, task, &arguments, &mut seconds)?);
        eprint!("\r{} {} of {}   ", task.family, figures.tasks.len(), tasks.len());
    }
    println!(
        "seconds: profiles {:.1}, scores {:.1}, linear {:.1}, Gaussian {:.1}",
        seconds[0], seconds[1], seconds[2], seconds[3]
    );
    if !arguments.models_only {
        figures.names.extend(WITHOUT);
        without_models(&domains, &tasks, &arguments, &mut figures)?;
    }
    print!("\n{}\n{}", figures.means(), figures.against(0));
    report(&arguments, &domains, &tasks, &figures)
}

/// Figures of the profile alone and of machines on its Fisher scores.
fn of_models(
    domains: &Domains,
    task: &Task,
    arguments: &Arguments,
    seconds: &mut [f64],
) -> Result<Vec<Judged>, Box<dyn Error>> {
    let begun = Instant::now();
    let profile = profile(domains, task, arguments)?;
    seconds[0] += begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let search = SearchProfile::new(&profile, Mode::SEARCH)?;
    let map = MatchFeatures::new(&profile, Some(&ProfilePrior::of(&AMINO).matched));
    let symbols: Vec<&[usize]> =
        task.parts.iter().map(|&(n, _)| domains.symbols[n].as_slice()).collect();
    let found = search.match_counts(&symbols, None, |n, log_odds, counts| {
        ((log_odds - SearchProfile::null_log(symbols[n].len())) as f32, map.of(counts))
    })?;
    let odds: Vec<f32> = found.iter().map(|(odds, _)| *odds).collect();
    seconds[1] += begun.elapsed().as_secs_f64();

    let train = task.train();
    let begun = Instant::now();
    let rows = || found.iter().map(|(_, row)| row.as_slice());
    let score = Vectors::new(task.whitened(map.len(), rows(), None));
    let both = Vectors::new(task.whitened(map.len(), rows(), Some(&odds)));
    let (linear, with_odds) = (score.linear(&train, arguments.c), both.linear(&train, arguments.c));
    seconds[2] += begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let gaussian = machine(&score.gaussian(&train), task.parts.len(), &train, arguments.c);
    seconds[3] += begun.elapsed().as_secs_f64();
    [odds, linear, with_odds, gaussian].iter().map(|values| task.judge(values)).collect()
}

/// The profile of a task's positive training domains.
fn profile(
    domains: &Domains,
    task: &Task,
    arguments: &Arguments,
) -> Result<Profile, Box<dyn Error>> {
    let positives = task.parts.iter().filter(|(_, part)| *part == Part::Train { positive: true });
    let named: Vec<(String, String)> =
        positives.map(|&(n, _)| (domains.ids[n].clone(), domains.texts[n].clone())).collect();
    let training = Training {
        build: Build { effective: Effective::Entropy(arguments.entropy), ..Build::default() },
        local: !arguments.glocal,
        rounds: arguments.rounds,
        passes: arguments.passes,
        ..Training::default()
    };
    Ok(training.fit(&task.family, &AMINO, &named)?.profile)
}

/// Adds the figures of machines that need no model.
fn without_models(
    domains: &Domains,
    tasks: &[Task],
    arguments: &Arguments,
    figures: &mut Figures,
) -> Result<(), Box<dyn Error>> {
    for (length, mismatches) in [(3, 0), (5, 1)] {
        let begun = Instant::now();
        let index = SpectrumKernel { length, mismatches }.index(&domains.residues, AMINO.len())?;
        let rows = Kept::new(index.len(), |item| index.row(item));
        for (task, judged) in tasks.iter().zip(&mut figures.tasks) {
            let train: Vec<(usize, bool)> = task.global_train();
            let values = machine(&rows, index.len(), &train, arguments.c);
            let values: Vec<f32> = task.parts.iter().map(|&(n, _)| values[n]).collect();
            judged.push(task.judge(&values)?);
        }
        println!("seconds: words of {length} {:.1}", begun.elapsed().as_secs_f64());
    }

    let begun = Instant::now();
    let queries: BTreeSet<usize> = tasks
        .iter()
        .flat_map(|task| task.global_train().into_iter().filter(|(_, positive)| *positive))
        .map(|(n, _)| n)
        .collect();
    let queries: Vec<usize> = queries.into_iter().collect();
    let texts: Vec<&[usize]> = queries.iter().map(|&n| domains.symbols[n].as_slice()).collect();
    let scores = SmithWaterman::blosum62().scores(&texts, &domains.symbols);
    println!(
        "seconds: Smith-Waterman of {} and all {:.1}",
        queries.len(),
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    for (task, judged) in tasks.iter().zip(&mut figures.tasks) {
        let train = task.train();
        let own = task.global_train().into_iter().filter(|(_, positive)| *positive);
        let columns: Vec<(usize, &Vec<u8>)> =
            own.filter_map(|(n, _)| Some((n, &scores[queries.binary_search(&n).ok()?]))).collect();
        let mut rows = Matrix::new(columns.len());
        for &(n, _) in &task.parts {
            let row = columns.iter().map(|(query, scores)| {
                // Minus the logarithm of the expected number of such scores (Karlin and Altschul), of BLOSUM62 with
                // these gaps, in one comparison.
                let space = domains.symbols[*query].len() as f64 * domains.symbols[n].len() as f64;
                (0.267 * f64::from(scores[n]) - (0.041 * space).ln()).max(0.0)
            });
            rows.push(&row.collect::<Vec<f64>>());
        }
        let vectors = Vectors::unit(rows);
        let values = machine(&vectors.gaussian(&train), task.parts.len(), &train, arguments.c);
        judged.push(task.judge(&values)?);
    }
    println!("seconds: pairwise machines {:.1}", begun.elapsed().as_secs_f64());
    Ok(())
}

impl Domains {
    fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let alphabet = Alphabet::protein();
        let options = ReadOptions {
            kind: Some(Kind::Symbols(alphabet.clone())),
            fasta_label: FastaLabel::Word(2),
            ..ReadOptions::default()
        };
        let data = Dataset::read(path, &options)?;
        let labels = data.labels()?;
        let mut domains = Self {
            ids: data.series().iter().map(|series| series.id.clone()).collect(),
            classes: labels.iter().map(|&label| data.classes()[label].clone()).collect(),
            texts: Vec::new(),
            symbols: Vec::new(),
            residues: Vec::new(),
        };
        for series in data.series() {
            let view = series.samples.view();
            let symbols = view.symbols().unwrap_or_default();
            let letter =
                |symbol: &Option<u16>| symbol.map_or('X', |s| alphabet.symbols()[usize::from(s)]);
            let text: String = symbols.iter().map(letter).collect();
            let symbols = AMINO.encode(&series.id, &text)?;
            let residue =
                |&symbol: &usize| u16::try_from(symbol).ok().filter(|_| symbol < AMINO.len());
            domains.residues.push(symbols.iter().map(residue).collect());
            domains.symbols.push(symbols);
            domains.texts.push(text);
        }
        Ok(domains)
    }
}

impl Task {
    fn select(&self, wanted: impl Fn(Part) -> Option<bool>) -> Vec<(usize, bool)> {
        let parts = self.parts.iter().enumerate();
        parts.filter_map(|(item, &(_, part))| Some((item, wanted(part)?))).collect()
    }

    /// Training items, numbers within the task, and whether they are positive.
    fn train(&self) -> Vec<(usize, bool)> {
        self.select(|part| match part {
            Part::Train { positive } => Some(positive),
            Part::Test { .. } => None,
        })
    }

    /// The same by numbers of domains.
    fn global_train(&self) -> Vec<(usize, bool)> {
        self.train().into_iter().map(|(item, positive)| (self.parts[item].0, positive)).collect()
    }

    fn judge(&self, values: &[f32]) -> Result<Judged, Box<dyn Error>> {
        let test = self.select(|part| match part {
            Part::Test { positive } => Some(positive),
            Part::Train { .. } => None,
        });
        let values: Vec<(f32, bool)> =
            test.iter().map(|&(item, own)| (values[item], own)).collect();
        Ok(Judged::of(&values).ok_or("a task without positives or negatives")?)
    }

    /// Features over the root of their mean square in training, so that a row's mean square is one in training;
    /// and a number beside them that weighs as much as all.
    fn whitened<'f>(
        &self,
        width: usize,
        features: impl Iterator<Item = &'f [f32]> + Clone,
        beside: Option<&[f32]>,
    ) -> Matrix {
        let train = self.train();
        let mut squares = vec![0.0_f32; width];
        let of_train = features.clone().zip(&self.parts);
        for (row, _) in of_train.filter(|(_, (_, part))| matches!(part, Part::Train { .. })) {
            squares.iter_mut().zip(row).for_each(|(square, x)| *square += x * x);
        }
        let root = |square: f32, share: usize| match square {
            some if some > 0.0 => (train.len() as f64 / f64::from(some) / share as f64).sqrt(),
            _ => 0.0,
        };
        let scale: Vec<f64> = squares.iter().map(|&square| root(square, width)).collect();
        let own = beside.map(|values| {
            (values, root(train.iter().map(|&(item, _)| values[item] * values[item]).sum(), 1))
        });
        let mut rows = Matrix::new(width + usize::from(own.is_some()));
        for (item, row) in features.enumerate() {
            let scaled = row.iter().zip(&scale).map(|(&x, scale)| f64::from(x) * scale);
            let beside = own.iter().map(|(values, scale)| f64::from(values[item]) * scale);
            rows.push(&scaled.chain(beside).collect::<Vec<_>>());
        }
        rows
    }
}

/// The tasks that are asked for.
fn tasks(arguments: &Arguments, domains: &Domains) -> Result<Vec<Task>, Box<dyn Error>> {
    let halves: HashMap<String, String> = table(&arguments.halves)?
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .collect();
    let families = table(&arguments.tasks)?;
    let families = families.iter().filter_map(|row| row.first()).filter(|family| {
        arguments.superfamily.as_ref().is_none_or(|prefix| family.starts_with(prefix.as_str()))
    });
    let of = |family: &String| {
        let part = |n: usize| {
            let half = halves.get(&domains.ids[n]).map(String::as_str);
            part(family, &domains.classes[n], half, arguments.same_fold).map(|part| (n, part))
        };
        Task { family: family.clone(), parts: (0..domains.ids.len()).filter_map(part).collect() }
    };
    Ok(families.step_by(arguments.every).map(of).collect())
}

/// What a domain of a class is in the task that leaves a family out.
fn part(family: &str, class: &str, half: Option<&str>, same_fold: bool) -> Option<Part> {
    let to_level = |name: &str, level: usize| -> String {
        name.split('.').take(level).collect::<Vec<_>>().join(".")
    };
    let in_fold = to_level(class, 2) == to_level(family, 2);
    if class == family {
        Some(Part::Test { positive: true })
    } else if to_level(class, 3) == to_level(family, 3) {
        Some(Part::Train { positive: true })
    } else if same_fold {
        // Trained within the fold, tested outside it.
        Some(if in_fold { Part::Train { positive: false } } else { Part::Test { positive: false } })
    } else if in_fold {
        None
    } else {
        match half? {
            "train" => Some(Part::Train { positive: false }),
            _ => Some(Part::Test { positive: false }),
        }
    }
}

/// Writes the table and the figures.
fn report(
    arguments: &Arguments,
    domains: &Domains,
    tasks: &[Task],
    figures: &Figures,
) -> Result<(), Box<dyn Error>> {
    if let Some(path) = &arguments.table {
        let mut text = "family\tpositives\ttest".to_owned();
        for name in &figures.names {
            let _ = write!(text, "\t{name} ROC\t{name} ROC50\t{name} median RFP");
        }
        for (task, judged) in tasks.iter().zip(&figures.tasks) {
            let count = |wanted| task.parts.iter().filter(|(_, part)| *part == wanted).count();
            let [train, test] =
                [Part::Train { positive: true }, Part::Test { positive: true }].map(count);
            let _ = write!(text, "\n{}\t{train}\t{test}", task.family);
            for one in judged {
                let _ = write!(text, "\t{:.4}\t{:.4}\t{:.5}", one.roc, one.roc_50, one.median_rfp);
            }
        }
        std::fs::write(path, text + "\n")?;
    }
    let Some(folder) = &arguments.figures else { return Ok(()) };
    let subtitle = format!(
        "{} families left out of their superfamilies\n{} domains",
        tasks.len(),
        domains.ids.len()
    );
    type Figure = (&'static str, &'static str, fn(&Judged) -> f64);
    let kinds: [Figure; 2] = [
        ("ROC", "area (ROC)", |one| one.roc),
        ("ROC50", "area up to 50 false alarms (ROC50)", |one| one.roc_50),
    ];
    for (name, axis, figure) in kinds {
        let points: Vec<Vec<(f64, f64)>> =
            (0..figures.names.len()).map(|method| figures.reached(method, figure)).collect();
        let curves: Vec<Curve<'_>> = figures
            .names
            .iter()
            .zip(&points)
            .enumerate()
            .map(|(method, (name, points))| Curve {
                name,
                points,
                area: figures.mean(method, figure),
            })
            .collect();
        let title = format!("Remote homology: tasks against {name}");
        let shares = Shares::Tasks(axis);
        let svg = RocPlot { shares, title: &title, subtitle: &subtitle, curves: &curves }.to_svg();
        std::fs::write(folder.join(format!("protein-families-{}.svg", name.to_lowercase())), svg)?;
    }
    Ok(())
}

/// A tab-separated table without its header, gzipped or not.
fn table(path: &Path) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    Ok(text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}
