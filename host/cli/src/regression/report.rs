//! Reports on regressions.

use std::fmt;

use fishweir::classifier::{Target, TargetSpread};
use fishweir::data::{DataError, Dataset};
use fishweir::deploy::DeviceCost;
use fishweir::regress::{Estimate, Omitted, RegressionFigures, Validation};
use fishweir::report::{DataSummary, Table, counted, grouped, short, write_cost};
use serde::Serialize;

/// Errors on the windows of one group.
#[derive(Serialize)]
pub(crate) struct GroupErrors {
    group: String,
    #[serde(flatten)]
    figures: RegressionFigures,
}

impl GroupErrors {
    /// Errors by group; empty where no column is named.
    pub(crate) fn all(
        data: &Dataset,
        group: Option<&str>,
        estimates: &[Estimate],
    ) -> Result<Vec<Self>, DataError> {
        let Some(column) = group else { return Ok(Vec::new()) };
        let (of_series, names) = data.groups(column)?;
        let mut all = Vec::new();
        for (number, group) in names.into_iter().enumerate() {
            let own = estimates.iter().filter(|one| of_series[one.series] == number);
            let own: Vec<Estimate> = own.copied().collect();
            if !own.is_empty() {
                all.push(Self { group, figures: RegressionFigures::of(&own) });
            }
        }
        Ok(all)
    }
}

fn number(x: f64) -> String {
    format!("{x:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn cells(name: &str, figures: &RegressionFigures) -> [String; 6] {
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.3}"));
    let RegressionFigures { windows, rmse, mae, r2, coverage } = *figures;
    let [rmse, mae] = [rmse, mae].map(number);
    [name.to_owned(), grouped(windows), rmse, mae, share(r2), share(coverage)]
}

/// A table of errors; `of` names its rows.
fn table<'a>(of: &str, rows: impl IntoIterator<Item = (&'a str, &'a RegressionFigures)>) -> Table {
    let mut table = Table::new([of, "windows", "RMSE", "MAE", "R2", "covered"]);
    rows.into_iter().for_each(|(name, figures)| table.row(cells(name, figures)));
    table
}

fn write_groups(
    f: &mut fmt::Formatter<'_>,
    column: Option<&String>,
    groups: &[GroupErrors],
) -> fmt::Result {
    let Some(column) = column.filter(|_| !groups.is_empty()) else { return Ok(()) };
    let rows = groups.iter().map(|one| (one.group.as_str(), &one.figures));
    write!(f, "\n{}", table(&format!("by {column}"), rows))
}

fn write_omitted(f: &mut fmt::Formatter<'_>, omitted: &Omitted) -> fmt::Result {
    let Omitted { without_target, undecided, refused_samples } = *omitted;
    if without_target > 0 {
        writeln!(f, "{} without a target left out", counted(without_target, "window"))?;
    }
    if undecided > 0 {
        writeln!(f, "{} without an estimate: scores out of range", counted(undecided, "window"))?;
    }
    if refused_samples > 0 {
        writeln!(f, "{} refused, and counted as missing", counted(refused_samples, "sample"))?;
    }
    Ok(())
}

/// The report of `fit --target`.
#[derive(Serialize)]
pub(crate) struct FitSummary {
    pub(crate) data: DataSummary,
    pub(crate) method: String,
    pub(crate) target: Target,
    /// The target in training.
    pub(crate) trained: TargetSpread,
    pub(crate) notes: Vec<String>,
    /// RMSE on windows held out of the ridge regression alone.
    pub(crate) held_out_rmse: f64,
    /// The cross-validation that gave the interval.
    pub(crate) validation: Validation,
    pub(crate) group: Option<String>,
    pub(crate) groups: Vec<GroupErrors>,
    pub(crate) cost: DeviceCost,
    pub(crate) model: String,
}

impl fmt::Display for FitSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        writeln!(f, "{} estimates {}", self.method, self.target.words())?;
        let TargetSpread { mean, deviation } = self.trained;
        let [mean, deviation] = [mean, deviation].map(number);
        writeln!(f, "in training: mean {mean}, standard deviation {deviation}")?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))?;
        let Validation { figures, baseline, folds, omitted, .. } = &self.validation;
        let rows = [("cross-validated", figures), ("mean of training", baseline)];
        write!(f, "\n{}", table(&format!("{} folds", folds.len()), rows))?;
        write_omitted(f, omitted)?;
        write_groups(f, self.group.as_ref(), &self.groups)?;
        writeln!(f)?;
        write_cost(f, "on a device", &self.cost)?;
        writeln!(f, "model written to {}", self.model)
    }
}

/// A cross-validated regression.
#[derive(Serialize)]
pub(crate) struct Validated {
    pub(crate) method: String,
    #[serde(flatten)]
    pub(crate) validation: Validation,
    pub(crate) groups: Vec<GroupErrors>,
}

/// The report of `evaluate --target`.
#[derive(Serialize)]
pub(crate) struct CrossValidated {
    pub(crate) data: DataSummary,
    pub(crate) target: String,
    pub(crate) unit: String,
    pub(crate) group: Option<String>,
    pub(crate) folds: usize,
    pub(crate) regressions: Vec<Validated>,
}

impl fmt::Display for CrossValidated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        let unit = if self.unit.is_empty() { String::new() } else { format!(", in {}", self.unit) };
        let over = self.group.as_deref().unwrap_or("series");
        writeln!(f, "errors of `{}`{unit}, in {} folds by {over}\n", self.target, self.folds)?;
        let own = self.regressions.iter().map(|one| (one.method.as_str(), &one.validation.figures));
        let mean = self.regressions.first().map(|one| &one.validation.baseline);
        let rows = own.chain(mean.map(|mean| ("mean of training", mean)));
        write!(f, "{}", table("", rows))?;
        for one in &self.regressions {
            let Validation { interval, omitted, folds, .. } = &one.validation;
            let (half, share) = (number(interval.half_width), short(100.0 * interval.coverage));
            writeln!(f, "{}: interval \u{b1} {half} for {share} %", one.method)?;
            write_omitted(f, omitted)?;
            if f.alternate() {
                let mut by_fold =
                    Table::new(["fold", "windows", "RMSE", "MAE", "R2", "covered", "setting"]);
                for (index, fold) in folds.iter().enumerate() {
                    let mut row = cells(&(index + 1).to_string(), &fold.figures).to_vec();
                    row.push(fold.setting.clone());
                    by_fold.row(row);
                }
                write!(f, "\n{by_fold}")?;
            }
            write_groups(f, self.group.as_ref(), &one.groups)?;
        }
        Ok(())
    }
}

/// The report of `evaluate --model` on a regression.
#[derive(Serialize)]
pub(crate) struct ModelErrors {
    pub(crate) model: String,
    pub(crate) method: String,
    pub(crate) data: DataSummary,
    pub(crate) target: Target,
    pub(crate) figures: RegressionFigures,
    /// Errors of the training's mean; null for an artefact, which does not have it.
    pub(crate) baseline: Option<RegressionFigures>,
    pub(crate) omitted: Omitted,
    pub(crate) group: Option<String>,
    pub(crate) groups: Vec<GroupErrors>,
    pub(crate) cost: DeviceCost,
}

impl fmt::Display for ModelErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.data)?;
        writeln!(f, "{} ({}) estimates {}\n", self.model, self.method, self.target.words())?;
        let rows = [("model", &self.figures)].into_iter();
        let rows = rows.chain(self.baseline.iter().map(|mean| ("mean of training", mean)));
        write!(f, "{}", table("", rows))?;
        write_omitted(f, &self.omitted)?;
        write_groups(f, self.group.as_ref(), &self.groups)?;
        writeln!(f)?;
        write_cost(f, "on a device", &self.cost)
    }
}
