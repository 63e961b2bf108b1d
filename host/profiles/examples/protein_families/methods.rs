//! The methods: each scores a task's domains, higher if they are more likely to be of the superfamily.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use clap::ValueEnum;
use fishweir::kernel::{SmithWaterman, SpectrumKernel};
use fishweir::learn::Matrix;
use fishweir_profiles::{AMINO, MatchFeatures, Mode, ProfileFit, ProfilePrior, SearchProfile};

use crate::machine::{Kept, Vectors, machine};
use crate::tasks::{Domains, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Method {
    Profile,
    Fisher,
    FisherOdds,
    FisherGaussian,
    Spectrum,
    Mismatch,
    Pairwise,
    HalfProfile,
    HalfOwn,
    HalfOther,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile alone",
            Self::Fisher => "Fisher, linear",
            Self::FisherOdds => "Fisher and log-odds, linear",
            Self::FisherGaussian => "Fisher, Gaussian",
            Self::Spectrum => "spectrum 3",
            Self::Mismatch => "mismatch 5, 1",
            Self::Pairwise => "pairwise",
            Self::HalfProfile => "half profiles alone",
            Self::HalfOwn => "half profiles, own positives",
            Self::HalfOther => "half profiles, other positives",
        }
    }
}

/// The C of machines that are no linear ones on Fisher scores.
const C: f64 = 1.0;

/// A task's domains by a profile.
struct Scored {
    /// Log-odds by the null model, in nats.
    odds: Vec<f32>,
    /// Fisher scores.
    rows: Vec<Vec<f32>>,
}

impl Scored {
    /// Scores by the profile of some of the task's items.
    fn by(domains: &Domains, task: &Task, items: &[usize]) -> Result<Self, Box<dyn Error>> {
        let numbers = items.iter().map(|&item| task.parts[item].0);
        let named: Vec<(String, String)> =
            numbers.map(|n| (domains.ids[n].clone(), domains.texts[n].clone())).collect();
        let profile = ProfileFit::default().fit(&task.family, &AMINO, &named)?.profile;
        let search = SearchProfile::new(&profile, Mode::SEARCH)?;
        let map = MatchFeatures::new(&profile, Some(&ProfilePrior::of(&AMINO).matched));
        let symbols: Vec<&[usize]> =
            task.parts.iter().map(|&(n, _)| domains.symbols[n].as_slice()).collect();
        let found = search.match_counts(&symbols, None, |n, log_odds, counts| {
            ((log_odds - SearchProfile::null_log(symbols[n].len())) as f32, map.of(counts))
        })?;
        let (odds, rows) = found.into_iter().unzip();
        Ok(Self { odds, rows })
    }

    /// Scores over the root of their mean square in training, so that a row's mean square is one in training;
    /// last the log-odds, which weigh as much as all, or zero.
    fn whitened(&self, train: &[(usize, bool)], with_odds: bool) -> Vectors {
        let width = self.rows.first().map_or(0, Vec::len);
        let mut squares = vec![0.0_f32; width + 1];
        for &(item, _) in train {
            let row = self.rows[item].iter().chain([&self.odds[item]]);
            squares.iter_mut().zip(row).for_each(|(square, x)| *square += x * x);
        }
        let scale = |(entry, &square): (usize, &f32)| match (entry < width, square > 0.0) {
            (true, true) => (train.len() as f32 / square / width as f32).sqrt(),
            (false, true) if with_odds => (train.len() as f32 / square).sqrt(),
            _ => 0.0,
        };
        let scale: Vec<f32> = squares.iter().enumerate().map(scale).collect();
        let mut rows = Matrix::new(width + 1);
        for (row, odds) in self.rows.iter().zip(&self.odds) {
            let scaled =
                row.iter().chain([odds]).zip(&scale).map(|(x, scale)| f64::from(x * scale));
            rows.push(&scaled.collect::<Vec<_>>());
        }
        Vectors::new(rows)
    }
}

/// A method and its values.
type Said = (Method, Vec<f32>);

/// Scores of the methods that need a profile.
pub(crate) fn of_models(
    domains: &Domains,
    task: &Task,
    methods: &[Method],
    c: f64,
) -> Result<Vec<Said>, Box<dyn Error>> {
    let mut found = Vec::new();
    let wants = |some: &[Method]| methods.iter().any(|method| some.contains(method));
    let train = task.train();
    let positives: Vec<usize> = train.iter().filter(|one| one.1).map(|one| one.0).collect();
    use Method::{
        Fisher, FisherGaussian, FisherOdds, HalfOther, HalfOwn, HalfProfile, Profile as Alone,
    };
    if wants(&[Alone, Fisher, FisherOdds, FisherGaussian]) {
        let scored = Scored::by(domains, task, &positives)?;
        if wants(&[FisherOdds]) {
            found.push((FisherOdds, scored.whitened(&train, true).linear(&train, c)));
        }
        if wants(&[Fisher, FisherGaussian]) {
            let vectors = scored.whitened(&train, false);
            if wants(&[Fisher]) {
                found.push((Fisher, vectors.linear(&train, c)));
            }
            if wants(&[FisherGaussian]) {
                let rows = vectors.gaussian(&train);
                found.push((FisherGaussian, machine(&rows, task.parts.len(), &train, C)));
            }
        }
        found.push((Alone, scored.odds));
    }
    if wants(&[HalfProfile, HalfOwn, HalfOther]) {
        let halves = halves(domains, task, &positives);
        let mut sums =
            [HalfProfile, HalfOwn, HalfOther].map(|one| (one, vec![0.0; task.parts.len()]));
        for [own, other] in [[0, 1], [1, 0]] {
            let scored = Scored::by(domains, task, &halves[own])?;
            let trained = |half: &[usize]| {
                let train: Vec<(usize, bool)> = train
                    .iter()
                    .copied()
                    .filter(|(item, positive)| !positive || half.contains(item))
                    .collect();
                scored.whitened(&train, true).linear(&train, c)
            };
            let values = [&scored.odds, &trained(&halves[own]), &trained(&halves[other])];
            for ((_, sum), values) in sums.iter_mut().zip(values) {
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        found.extend(sums);
    }
    found.retain(|(method, _)| methods.contains(method));
    Ok(found)
}

/// Fits families in two halves of about one size; the domains of a single family.
fn halves(domains: &Domains, task: &Task, positives: &[usize]) -> [Vec<usize>; 2] {
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &item in positives {
        families.entry(&domains.classes[task.parts[item].0]).or_default().push(item);
    }
    let mut groups: Vec<Vec<usize>> = families.into_values().collect();
    if groups.len() == 1 {
        groups = positives.iter().map(|&item| vec![item]).collect();
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let mut halves = [Vec::new(), Vec::new()];
    for group in groups {
        let smaller = usize::from(halves[1].len() < halves[0].len());
        halves[smaller].extend(group);
    }
    halves
}

/// Scores of a method that needs no profile, task by task; `None` for other methods.
pub(crate) fn without_models(
    domains: &Domains,
    tasks: &[&Task],
    method: Method,
    mut judge: impl FnMut(&Task, &[f32]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (length, mismatches) = match method {
        _ if tasks.is_empty() => return Ok(()),
        Method::Spectrum => (3, 0),
        Method::Mismatch => (5, 1),
        Method::Pairwise => return pairwise(domains, tasks, judge),
        _ => return Ok(()),
    };
    let index = SpectrumKernel { length, mismatches }.index(&domains.residues(), AMINO.len())?;
    // Rows are of all domains: what one task asked for is there for the next.
    let rows = Kept::new(index.len(), |items| items.iter().map(|&item| index.row(item)).collect());
    for task in tasks {
        let values = machine(&rows, index.len(), &task.global_train(), C);
        let values: Vec<f32> = task.parts.iter().map(|&(n, _)| values[n]).collect();
        judge(task, &values)?;
    }
    Ok(())
}

/// Smith-Waterman scores against the positive training domains as features.
fn pairwise(
    domains: &Domains,
    tasks: &[&Task],
    mut judge: impl FnMut(&Task, &[f32]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let positives = |task: &Task| {
        let train = task.global_train();
        train.into_iter().filter(|(_, positive)| *positive).map(|(n, _)| n).collect::<Vec<_>>()
    };
    // A superfamily at a time: its tasks are neighbours and share their domains.
    for tasks in tasks.chunk_by(|a, b| superfamily(&a.family) == superfamily(&b.family)) {
        let queries: BTreeSet<usize> = tasks.iter().flat_map(|task| positives(task)).collect();
        let texts: Vec<&[usize]> = queries.iter().map(|&n| domains.symbols[n].as_slice()).collect();
        let scores = SmithWaterman::blosum62().scores(&texts, &domains.symbols);
        let scores: BTreeMap<usize, Vec<u8>> = queries.into_iter().zip(scores).collect();
        for task in tasks {
            let columns = positives(task);
            let mut rows = Matrix::new(columns.len());
            for &(n, _) in &task.parts {
                let row = columns.iter().map(|query| {
                    // Minus the logarithm of the expected number of such scores (Karlin and Altschul), of BLOSUM62
                    // with these gaps, in one comparison.
                    let lengths = [*query, n].map(|n| domains.symbols[n].len() as f64);
                    let score = f64::from(scores[query][n]);
                    (0.267 * score - (0.041 * lengths[0] * lengths[1]).ln()).max(0.0)
                });
                rows.push(&row.collect::<Vec<f64>>());
            }
            let (train, vectors) = (task.train(), Vectors::unit(rows));
            judge(task, &machine(&vectors.gaussian(&train), task.parts.len(), &train, C))?;
        }
    }
    Ok(())
}

fn superfamily(family: &str) -> &str {
    family.rsplit_once('.').map_or(family, |(superfamily, _)| superfamily)
}
