//! Reports as pages: the option `--report`.

use std::path::{Path, PathBuf};

use fishweir::data::{Dataset, Windowing};
use fishweir::deploy::{Deployed, DetectorModel, SpotterModel};
use fishweir::evaluate::{CrossValidation, judge};
use fishweir::files;
use fishweir::report::{
    CardFacts, DetectorInspection, Document, ModelCard, Report, SpotterInspection,
};
use serde_json::Value;

use super::info;
use super::model::Model;
use super::output::{self, is_standard};
use super::{Failure, Topic, note};

/// The option that writes a report as a page.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct PageReport {
    /// Also write the report as a page for browsers, with figures and the model's card; or as the page's JSON, FILE.json
    #[arg(long, value_name = "FILE.html", help_heading = "Figures")]
    report: Option<PathBuf>,
}

impl PageReport {
    /// The file, to be checked with the other outputs.
    pub(super) fn output(&self) -> Option<&Path> {
        self.report.as_deref()
    }

    /// Writes the document that `fill` completes, if a report as a page is wanted.
    pub(super) fn write(
        &self,
        command: &str,
        report: &impl Report,
        fill: impl FnOnce(&mut Document) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(path) = &self.report else { return Ok(()) };
        let mut document = Document::new(command, report)?;
        fill(&mut document)?;
        let text = serde_json::to_string(&document)?;
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let text = match is_json {
            true => text + "\n",
            false => page(&document, &text)?,
        };
        output::write(path, text.as_bytes())?;
        if !is_standard(path) {
            note(Topic::FigureWritten, format_args!("report written to {}", path.display()));
        }
        Ok(())
    }
}

/// The page with a document: with what decides by its model, if that is at hand.
#[cfg(not(target_family = "wasm"))]
fn page(document: &Document, text: &str) -> Result<String, Failure> {
    let model = match (&document.inspection, &document.model) {
        (Value::Null, _) | (_, None) => None,
        (_, Some(file)) => {
            let name = Path::new("model");
            let model = Model::parse(name, file.get().as_bytes())?;
            // Some models have no artefact: their reports are without one.
            super::page::artefact(name, &model).ok()
        }
    };
    let scorer = model.as_ref().and_then(|_| super::page::scorer_at_hand());
    let page = fishweir_web::Page {
        scorer: scorer.as_deref(),
        model: model.as_deref().filter(|_| scorer.is_some()).map(|model| ("model", model)),
        report: Some(text),
        ..Default::default()
    };
    Ok(page.to_html()?)
}

/// No page: it is there already, and takes the document.
#[cfg(target_family = "wasm")]
fn page(_: &Document, _: &str) -> Result<String, Failure> {
    let what = "--report: a program in a page writes FILE.json alone";
    Err(Failure::input(Topic::Unsupported, what))
}

/// Adds cross-validated classifiers: their windows, of all folds.
pub(super) fn add_validated(document: &mut Document, data: &Dataset, all: &[CrossValidation]) {
    for one in all {
        let windows = one.judged.iter().flatten();
        document.judge(&one.method, data.classes(), one.roc.as_ref(), windows);
    }
}

/// Adds a model's decisions on all windows of the data.
pub(super) fn add_decisions(
    document: &mut Document,
    deployed: &Deployed,
    data: &Dataset,
    windowing: Option<&Windowing>,
) {
    let windows = data.windows(windowing);
    let judged = judge(deployed, windows.all());
    document.decide(data, windowing, deployed.classes(), &judged);
}

/// Adds a model's file, its cost and its card; `evaluation` are results as `evaluate --json` prints them.
pub(super) fn add_model(
    document: &mut Document,
    path: &Path,
    bytes: &[u8],
    evaluation: bool,
) -> Result<(), Failure> {
    let results = evaluation.then(|| document.results.clone());
    document.card = Some(card(path, bytes, results.as_ref())?);
    document.model = serde_json::from_slice(bytes).unwrap_or_default();
    document.inspection = inspection(path, bytes)?;
    Ok(())
}

/// JSON that `info --json` prints of a classifier of series; null of other models.
fn inspection(path: &Path, bytes: &[u8]) -> Result<Value, Failure> {
    if SpotterModel::is_one(bytes)
        || DetectorModel::is_one(bytes)
        || super::recognise::is_network(&path.display().to_string(), bytes)
    {
        return Ok(Value::Null);
    }
    let model = Model::parse(path, bytes)?;
    Ok(serde_json::to_value(info::inspect(path, &model, (model.rate(None)?, None))?)?)
}

/// The card of a model of any kind.
pub(super) fn card(
    path: &Path,
    bytes: &[u8],
    evaluation: Option<&Value>,
) -> Result<ModelCard, Failure> {
    let file = path.display().to_string();
    if SpotterModel::is_one(bytes) {
        let model = SpotterModel::parse(&file, bytes)?;
        let found = SpotterInspection::new(file, bytes.len(), &model)?;
        return Ok(ModelCard::new(&CardFacts { evaluation, ..CardFacts::of_spotter(&found) }));
    }
    if DetectorModel::is_one(bytes) {
        let model = DetectorModel::parse(&file, bytes)?;
        let found = DetectorInspection::new(file, bytes.len(), &model)?;
        return Ok(ModelCard::new(&CardFacts { evaluation, ..CardFacts::of_detector(&found) }));
    }
    if super::recognise::is_network(&file, bytes) {
        return super::network::card(&file, bytes, evaluation);
    }
    let model = Model::parse(path, bytes)?;
    let found = info::inspect(path, &model, (model.rate(None)?, None))?;
    Ok(ModelCard::new(&CardFacts { evaluation, ..CardFacts::of_classifier(&found) }))
}

/// Reads the results of an evaluation.
pub(super) fn evaluation(path: &Path) -> Result<Value, Failure> {
    let bytes = files::read(path)?;
    let refused = |why: String| {
        let file = path.display();
        Failure::input(
            Topic::UnfitFile,
            format!("{file}: {why}; name what `fishweir evaluate --json` printed"),
        )
    };
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| refused(format!("this is not JSON: {error}")))?;
    match value.get("accuracy").or_else(|| value.get("classifiers")) {
        Some(_) => Ok(value),
        None => Err(refused("it has neither `accuracy` nor `classifiers`".into())),
    }
}
