//! Results of each method on the tasks, kept in a file, and comparisons of methods.

use std::collections::HashMap;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use clap::ValueEnum;
use fishweir::report::Table;

use crate::methods::Method;
use crate::tasks::Judged;

/// Results on tasks, family by family, and the file that keeps them.
pub(crate) struct Results {
    known: HashMap<(String, Method), Judged>,
    file: Option<File>,
}

impl Results {
    /// Reads the results in a file; empty without a file. A file is for one choice of settings, its first line.
    pub(crate) fn open(path: Option<&Path>, settings: &str) -> Result<Self, Box<dyn Error>> {
        let mut results = Self { known: HashMap::new(), file: None };
        let Some(path) = path else { return Ok(results) };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        if text.is_empty() {
            writeln!(file, "{settings}")?;
        } else if text.lines().next() != Some(settings) {
            return Err(format!("{}, line 1: is not {settings:?}", path.display()).into());
        }
        for (number, line) in text.lines().enumerate().skip(1) {
            let known = Self::parse(line)
                .ok_or_else(|| format!("{}, line {}: no result", path.display(), number + 1))?;
            results.known.insert(known.0, known.1);
        }
        results.file = Some(file);
        Ok(results)
    }

    fn parse(line: &str) -> Option<((String, Method), Judged)> {
        let words: Vec<&str> = line.split('\t').collect();
        let [family, method, roc, roc_50, median_rfp] = words[..] else { return None };
        let number = |text: &str| text.parse::<f64>().ok();
        let judged =
            Judged { roc: number(roc)?, roc_50: number(roc_50)?, median_rfp: number(median_rfp)? };
        Some(((family.to_owned(), Method::from_str(method, false).ok()?), judged))
    }

    pub(crate) fn add(
        &mut self,
        family: &str,
        method: Method,
        judged: Judged,
    ) -> Result<(), Box<dyn Error>> {
        self.known.insert((family.to_owned(), method), judged);
        if let (Some(file), Some(value)) = (&mut self.file, method.to_possible_value()) {
            let Judged { roc, roc_50, median_rfp } = judged;
            // One write, so that an interrupted run leaves whole lines.
            let name = value.get_name();
            let line = format!("{family}\t{name}\t{roc:.6}\t{roc_50:.6}\t{median_rfp:.6}\n");
            file.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// The methods whose results are not known of a family.
    pub(crate) fn missing(&self, family: &str, methods: &[Method]) -> Vec<Method> {
        let known = |method: Method| self.known.contains_key(&(family.to_owned(), method));
        methods.iter().copied().filter(|&method| !known(method)).collect()
    }

    /// A method's results, in the order of the families.
    pub(crate) fn of(&self, families: &[&str], method: Method) -> Vec<Judged> {
        let of = |family: &&str| self.known.get(&((*family).to_owned(), method)).copied();
        families.iter().filter_map(of).collect()
    }

    /// Means of methods.
    pub(crate) fn means(&self, families: &[&str], methods: &[Method]) -> Table {
        let mut table = Table::new(["method", "ROC", "ROC50", "median RFP"]);
        for &method in methods {
            let own = self.of(families, method);
            let mean = |figure: fn(&Judged) -> f64| {
                format!("{:.4}", own.iter().map(figure).sum::<f64>() / own.len().max(1) as f64)
            };
            let figures = [mean(|one| one.roc), mean(|one| one.roc_50), mean(|one| one.median_rfp)];
            table.row([method.name().to_owned()].into_iter().chain(figures));
        }
        table
    }

    /// Methods against one: mean difference with its 95 % interval over tasks, tasks won and lost, and how
    /// likely so uneven a count is by chance (two-sided sign test; ties are left out).
    pub(crate) fn against(&self, families: &[&str], base: Method, others: &[Method]) -> Table {
        let head = |figure: &str| {
            let difference = format!("{figure} difference");
            [difference, "95 %".into(), "won".into(), "lost".into(), "sign p".into()]
        };
        let first = format!("against {}", base.name());
        let mut table =
            Table::new([vec![first], head("ROC").into(), head("ROC50").into()].concat());
        let base = self.of(families, base);
        for &method in others {
            let own = self.of(families, method);
            let mut cells = vec![method.name().to_owned()];
            for figure in [(|one: &Judged| one.roc) as fn(&Judged) -> f64, |one| one.roc_50] {
                let pairs = own.iter().map(figure).zip(base.iter().map(figure));
                let gains: Vec<f64> = pairs.map(|(own, other)| own - other).collect();
                let won = gains.iter().filter(|gain| **gain > 0.0).count();
                let lost = gains.iter().filter(|gain| **gain < 0.0).count();
                let (mean, half) = interval(&gains);
                cells.push(format!("{mean:+.4}"));
                cells.push(format!("{:+.4} to {:+.4}", mean - half, mean + half));
                cells.extend([won.to_string(), lost.to_string()]);
                cells.push(format!("{:.1e}", sign(won, lost)));
            }
            table.row(cells);
        }
        table
    }
}

/// `(score, share of the tasks that reach it)`, falling.
pub(crate) fn reached(scores: &[f64]) -> Vec<(f64, f64)> {
    let mut scores = scores.to_vec();
    scores.sort_by(f64::total_cmp);
    let count = scores.len() as f64;
    let mut points = vec![(0.0, 1.0)];
    for (below, &score) in scores.iter().enumerate() {
        points.push((score, 1.0 - below as f64 / count));
        points.push((score, 1.0 - (below + 1) as f64 / count));
    }
    points
}

/// The mean, and half the width of its 95 % interval (normal).
fn interval(gains: &[f64]) -> (f64, f64) {
    let count = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / count;
    let square: f64 = gains.iter().map(|gain| (gain - mean).powi(2)).sum();
    (mean, 1.96 * (square / (count - 1.0).max(1.0) / count).sqrt())
}

/// The chance of a split as uneven as this, or more, of fair coins.
fn sign(won: usize, lost: usize) -> f64 {
    let tosses = won + lost;
    let (mut term, mut sum) = (0.5_f64.powi(tosses as i32), 0.0);
    for heads in 0..=won.min(lost) {
        sum += term;
        term *= (tosses - heads) as f64 / (heads + 1) as f64;
    }
    (2.0 * sum).min(1.0)
}
