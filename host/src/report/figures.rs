//! Tables of accuracies and classes: what the first screen has, and all of it where a report is formatted by `{:#}`.

use std::fmt;

use super::table::share;
use super::{Table, counted, grouped};
use crate::evaluate::{Figures, Interval, Latency, Roc};

/// Classes up to which a summary has the matrix.
const MATRIX: usize = 8;

/// Rows of a table that compares several classifiers.
pub(super) struct Beside<'a> {
    pub name: &'a str,
    pub accuracy: Option<f64>,
    pub interval: Option<Interval>,
    pub gain: Option<Interval>,
    pub roc: Option<&'a Roc>,
    pub roc_area_by_fold: Option<f64>,
    pub latency: Option<Latency>,
}

/// Describes the intervals and their units; also those of the gains if classifiers are compared.
pub(super) fn interval_words(group: Option<&str>, compared: bool) -> String {
    let gains = if compared { "; Student's for gains" } else { "" };
    let over = group.unwrap_or("series");
    format!(
        "95 % intervals: Wilson's{gains}, with each {over} as one observation, because its windows are alike"
    )
}

/// Writes the accuracy of each classifier; in full also areas and latencies.
pub(super) fn write_beside<'a>(
    f: &mut fmt::Formatter<'_>,
    first: &str,
    classifiers: impl Iterator<Item = Beside<'a>>,
) -> fmt::Result {
    let (full, classifiers) = (f.alternate(), classifiers.collect::<Vec<Beside<'_>>>());
    let compared = classifiers.len() > 1;
    let in_folds = classifiers.iter().any(|one| one.roc_area_by_fold.is_some());
    let more_than = format!("more than {first}");
    let heads = ["", "accuracy", "95 %"].into_iter();
    let heads = heads.chain([more_than.as_str(), "95 %"].into_iter().filter(|_| compared));
    let further = ["ROC area"].into_iter().chain(in_folds.then_some("by fold"));
    let further = further.chain(["decided after", "9 in 10"]);
    let mut table = Table::new(heads.chain(further.filter(|_| full)));
    for one in &classifiers {
        let mut cells = vec![one.name.to_owned()];
        let mut accuracy = of_interval(one.interval, share);
        // Of one series or group it has no interval.
        if one.interval.is_none() {
            accuracy[0] = one.accuracy.map_or_else(String::new, share);
        }
        cells.extend(accuracy);
        if compared {
            cells.extend(of_interval(one.gain, |gain| format!("{gain:+.3}")));
        }
        if full {
            cells.push(one.roc.map_or_else(String::new, |roc| share(roc.area)));
            if in_folds {
                cells.push(one.roc_area_by_fold.map_or_else(String::new, share));
            }
            let samples = one.latency.map(|late| [late.median, late.ninetieth].map(grouped));
            cells.extend(samples.unwrap_or_default());
        }
        table.row(cells);
    }
    write!(f, "{table}")?;
    if !full {
        return Ok(());
    }
    writeln!(
        f,
        "  decided after: number of samples after which a right decision did not change any more (median, 90th \
         percentile)"
    )
}

/// A figure and its interval.
fn of_interval(interval: Option<Interval>, show: impl Fn(f64) -> String) -> [String; 2] {
    let text = |Interval { mean, low, high }: Interval| {
        [show(mean), format!("{} to {}", show(low), show(high))]
    };
    interval.map(text).unwrap_or_default()
}

/// Writes recall and precision of each class, and the confusion matrix: in a summary of many classes the most frequent
/// mistake in its place.
pub(super) fn write_figures(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    let (full, classes) = (f.alternate(), figures.classes.len());
    let matrix = full || classes <= MATRIX;
    if matrix {
        writeln!(f, "  rows are true classes, columns decisions")?;
    }
    let heads = figures.classes.iter().map(String::as_str).filter(|_| matrix);
    let heads = [""].into_iter().chain(heads).chain(["recall", "95 %", "precision", "95 %"]);
    let heads = heads.chain(full.then_some("F1")).chain(["windows"]);
    let mut table = Table::new(heads.chain((!matrix).then_some("mostly mistaken for")));
    for (index, (class, row)) in figures.per_class.iter().zip(&figures.confusion).enumerate() {
        let count = |&count: &usize| if count == 0 { ".".to_owned() } else { grouped(count) };
        let decided = figures.confusion.iter().any(|row| row[index] > 0);
        // Nothing of an absent class could be found; that it was decided for is wrong, and counts.
        let [found, counts] = [class.windows > 0, class.windows > 0 || decided];
        let shown = |there: bool, of: f64| if there { share(of) } else { ".".to_owned() };
        let range = |interval: Option<Interval>, there: bool| match interval.filter(|_| there) {
            Some(Interval { low, high, .. }) => format!("{} to {}", share(low), share(high)),
            None => ".".to_owned(),
        };
        let mut cells = vec![class.class.clone()];
        cells.extend(row.iter().filter(|_| matrix).map(count));
        cells.extend([
            shown(found, class.recall),
            range(class.recall_interval, found),
            shown(counts, class.precision),
            range(class.precision_interval, decided),
        ]);
        cells.extend(full.then(|| shown(counts, class.f1)));
        cells.push(grouped(class.windows));
        if !matrix {
            let most = figures.most_mistaken(index);
            cells.push(most.map_or_else(String::new, |(name, n)| format!("{name} {}", grouped(n))));
        }
        table.row(cells);
    }
    write!(f, "{table}")?;
    write_doubts(f, figures)
}

/// Writes what is missing from figures: classes without a window, refused samples, windows without a decision.
pub(super) fn write_doubts(f: &mut fmt::Formatter<'_>, figures: &Figures) -> fmt::Result {
    for (index, class) in figures.per_class.iter().enumerate().filter(|one| one.1.windows == 0) {
        let so = match figures.confusion.iter().any(|row| row[index] > 0) {
            true => "decisions for it are wrong; macro-F1 counts it with an F1 of 0",
            false => "it is in no average",
        };
        writeln!(f, "  {}: no window here; {so}", class.class)?;
    }
    if figures.refused_samples > 0 || figures.undecided > 0 {
        writeln!(
            f,
            "  {} impossible under all models and counted as missing; {} without a decision, judged wrong",
            counted(figures.refused_samples, "sample"),
            counted(figures.undecided, "window")
        )?;
    }
    Ok(())
}
