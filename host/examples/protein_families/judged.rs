//! How well the domains of a family left out are found: areas, false alarms, and who wins.

use fishweir::evaluate::Roc;
use fishweir::report::Table;

/// A method's figures on a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judged {
    /// Area below the curve of detections against false alarms.
    pub(crate) roc: f64,
    /// The same up to the first fifty false alarms, relative to the largest it could be.
    pub(crate) roc_50: f64,
    /// The median over the family of the share of negatives that score as high or higher.
    pub(crate) median_rfp: f64,
}

impl Judged {
    /// Of values and whether they are of the family. `None` where all or none are.
    pub(crate) fn of(values: &[(f32, bool)]) -> Option<Self> {
        let roc = Roc::of_leads(values.iter().copied())?;
        let mut negatives: Vec<f32> =
            values.iter().filter(|(_, own)| !own).map(|&(value, _)| value).collect();
        negatives.sort_by(f32::total_cmp);
        let count = negatives.len() as f64;
        let rate = |value: f32| {
            (negatives.len() - negatives.partition_point(|&other| other < value)) as f64 / count
        };
        let mut rates: Vec<f64> =
            values.iter().filter(|(_, own)| *own).map(|&(value, _)| rate(value)).collect();
        rates.sort_by(f64::total_cmp);
        let (low, high) = (rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
        let (roc_50, median_rfp) = (roc.area_up_to(50.0 / count), 0.5 * (low + high));
        Some(Self { roc: roc.area, roc_50, median_rfp })
    }
}

/// Figures `[task][method]`, and the methods' names.
pub(crate) struct Figures {
    pub(crate) names: Vec<&'static str>,
    pub(crate) tasks: Vec<Vec<Judged>>,
}

impl Figures {
    fn of(&self, method: usize, figure: fn(&Judged) -> f64) -> impl Iterator<Item = f64> {
        self.tasks.iter().map(move |task| figure(&task[method]))
    }

    pub(crate) fn mean(&self, method: usize, figure: fn(&Judged) -> f64) -> f64 {
        self.of(method, figure).sum::<f64>() / self.tasks.len().max(1) as f64
    }

    /// Means of all methods.
    pub(crate) fn means(&self) -> Table {
        let mut table = Table::new(["method", "ROC", "ROC50", "median RFP"]);
        for (method, name) in self.names.iter().enumerate() {
            let figures: [fn(&Judged) -> f64; 3] =
                [|one| one.roc, |one| one.roc_50, |one| one.median_rfp];
            let cells = figures.map(|figure| format!("{:.4}", self.mean(method, figure)));
            table.row([(*name).to_owned()].into_iter().chain(cells));
        }
        table
    }

    /// Every method against one: mean difference with its 95 % interval over tasks, tasks won and lost, and how
    /// likely so uneven a count is by chance (two-sided sign test; ties are left out).
    pub(crate) fn against(&self, base: usize) -> Table {
        let head = |figure: &str| {
            [
                format!("{figure} difference"),
                "95 %".into(),
                "won".into(),
                "lost".into(),
                "sign p".into(),
            ]
        };
        let columns = [
            vec![format!("against {}", self.names[base])],
            head("ROC").into(),
            head("ROC50").into(),
        ];
        let mut table = Table::new(columns.concat());
        for method in (0..self.names.len()).filter(|&method| method != base) {
            let mut cells = vec![self.names[method].to_owned()];
            for figure in [(|one: &Judged| one.roc) as fn(&Judged) -> f64, |one| one.roc_50] {
                let pairs = self.of(method, figure).zip(self.of(base, figure));
                let gains: Vec<f64> = pairs.map(|(own, other)| own - other).collect();
                let (won, lost) = (
                    gains.iter().filter(|gain| **gain > 0.0).count(),
                    gains.iter().filter(|gain| **gain < 0.0).count(),
                );
                let (mean, half) = interval(&gains);
                cells.push(format!("{mean:+.4}"));
                cells.push(format!("{:+.4} to {:+.4}", mean - half, mean + half));
                cells.extend([
                    won.to_string(),
                    lost.to_string(),
                    format!("{:.1e}", sign(won, lost)),
                ]);
            }
            table.row(cells);
        }
        table
    }

    /// `(score, share of the tasks that reach it)` of a method, falling.
    pub(crate) fn reached(&self, method: usize, figure: fn(&Judged) -> f64) -> Vec<(f64, f64)> {
        let mut scores: Vec<f64> = self.of(method, figure).collect();
        scores.sort_by(f64::total_cmp);
        let count = scores.len() as f64;
        let mut points = vec![(0.0, 1.0)];
        for (below, &score) in scores.iter().enumerate() {
            points.push((score, 1.0 - below as f64 / count));
            points.push((score, 1.0 - (below + 1) as f64 / count));
        }
        points
    }
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
