//! Evaluation of a classifier of records on records that it never saw.

use fishweir_core::classify::decide;

use super::{ClassifierPlan, NetworkClassifier, NetworkError};
use crate::records::{Binning, MISSING, Records, Schema, TextTable};
use fishweir::data::{DataError, FoldError, Folds};
use fishweir::evaluate::{Figures, Interval, Judged, Units};

/// Results of a classifier on records with a class.
#[derive(Clone, Debug)]
pub struct NetworkEvaluation {
    /// Figures over all records; a window is a record.
    pub figures: Figures,
    /// The accuracy with an interval over records.
    pub accuracy: Option<Interval>,
    /// Mean of minus the logarithm of the probability of the class, in nats; of Bayes' rule alone.
    pub log_loss: Option<f64>,
    /// Right decisions per record, for paired comparisons.
    pub units: Units,
}

/// Reason why a classifier was not evaluated.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum NetworkEvaluateError {
    /// The table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The folds.
    #[error(transparent)]
    Folds(#[from] FoldError),
    /// The classifier.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

fishweir::kinds!(NetworkEvaluateError,
    Self::Data(error) => error,
    Self::Folds(error) => error,
    Self::Network(error) => error,
);

/// Decision on a record, and the probability of its class.
type Verdict = (Judged, Option<f64>);

impl NetworkEvaluation {
    /// Judges a classifier on records; those without a class are left out.
    ///
    /// # Errors
    /// As [`NetworkClassifier::values`]; [`NetworkError::Unlabelled`] where no record has a class.
    pub fn of(classifier: &NetworkClassifier, records: &Records) -> Result<Self, NetworkError> {
        let numbers: Vec<usize> = (0..records.len()).collect();
        let verdicts = judge(classifier, records, &numbers)?;
        if verdicts.is_empty() {
            return Err(NetworkError::Unlabelled(classifier.class().name.clone()));
        }
        Ok(Self::of_verdicts(classifier.class().states.as_slice(), &verdicts))
    }

    fn of_verdicts(classes: &[String], verdicts: &[Verdict]) -> Self {
        let judged: Vec<Judged> = verdicts.iter().map(|(judged, _)| judged.clone()).collect();
        // A record is a unit.
        let unit: Vec<usize> = (0..judged.len()).collect();
        let figures = Figures::of(classes, &judged).with_intervals(&judged, &unit);
        let right = verdicts.iter().map(|(j, _)| (usize::from(j.decision == Some(j.label)), 1));
        let units = Units::of_counts(right);
        let logs: Option<Vec<f64>> = verdicts.iter().map(|(_, log)| *log).collect();
        let mean = |logs: Vec<f64>| -logs.iter().sum::<f64>() / logs.len() as f64;
        let log_loss = logs.filter(|logs| !logs.is_empty()).map(mean);
        Self { figures, accuracy: units.accuracy(), log_loss, units }
    }

    /// Cross-validates in stratified folds: cuts, graph, tables and machine are learnt from the other
    /// folds alone; the states of columns that are not cut are those of the whole table.
    ///
    /// # Errors
    /// [`NetworkEvaluateError`].
    pub fn cross_validate(
        plan: &ClassifierPlan,
        binning: &Binning,
        table: &TextTable,
        class: usize,
        (folds, seed): (usize, Option<u64>),
    ) -> Result<Self, NetworkEvaluateError> {
        let all: Vec<usize> = (0..table.len()).collect();
        let whole = Schema::learn(table, &all, Some(class), binning)?;
        let classes = whole.variables()[class].states.clone();
        let of_whole = whole.records(table)?;
        let labelled: Vec<usize> =
            all.into_iter().filter(|&row| of_whole.row(row)[class] != MISSING).collect();
        if labelled.is_empty() {
            let column = whole.variables()[class].name.clone();
            return Err(NetworkError::Unlabelled(column).into());
        }
        if let [only] = classes.as_slice() {
            let (class, column) = (only.clone(), whole.variables()[class].name.clone());
            return Err(NetworkError::OneClass { class, column }.into());
        }
        let labels: Vec<usize> =
            labelled.iter().map(|&row| usize::from(of_whole.row(row)[class])).collect();
        let dealt = Folds::stratified(&labels, &classes, folds, seed)?;
        let mut verdicts = Vec::new();
        for fold in 0..folds {
            let rows = |places: Vec<usize>| places.into_iter().map(|place| labelled[place]);
            let train: Vec<usize> = rows(dealt.train(fold)).collect();
            let test: Vec<usize> = rows(dealt.test(fold)).collect();
            let schema = Schema::learn(table, &train, Some(class), binning)?;
            let records = schema.records(table)?;
            let classifier = plan
                .train(&schema.variables(), &records.subset(&train), class)
                .map_err(|error| error.at_record(|record| train[record]))?;
            let judged = judge(&classifier, &records.subset(&test), &test);
            verdicts.extend(judged.map_err(|error| error.at_record(|record| test[record]))?);
        }
        // In the order of the table: so comparisons pair the same records.
        verdicts.sort_by_key(|(judged, _)| judged.series);
        Ok(Self::of_verdicts(&classes, &verdicts))
    }
}

/// The verdicts on records that have a class; `numbers` are their names.
fn judge(
    classifier: &NetworkClassifier,
    records: &Records,
    numbers: &[usize],
) -> Result<Vec<Verdict>, NetworkError> {
    let values = classifier.values(records)?;
    let class = classifier.class();
    for (record, row) in records.rows().enumerate() {
        let value = row[classifier.column()];
        if value != MISSING && usize::from(value) >= class.card() {
            let (node, last) = (class.name.clone(), class.card() - 1);
            return Err(NetworkError::UnknownState { record, node, value, last });
        }
    }
    let bayes = !classifier.method().is_linear();
    let verdict = |((record, values), &number): ((&[u16], &Vec<f64>), &usize)| {
        let label = record[classifier.column()];
        let decision = decide(values);
        let judged = Judged {
            series: number,
            start: 0,
            label: label.into(),
            decision: Some(decision.class),
            margin: decision.margin as f32,
            leads: Vec::new(),
            likelihood: None,
            settled: 0,
            refused: 0,
        };
        (label != MISSING).then(|| (judged, bayes.then(|| values[usize::from(label)])))
    };
    Ok(records.rows().zip(&values).zip(numbers).filter_map(verdict).collect())
}
