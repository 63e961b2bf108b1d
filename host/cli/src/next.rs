//! The last line of a report: what to do next, and the option that reports more.

use std::path::PathBuf;

use crate::failure::report_format;
use fishweir::report::ReportFormat;

/// The line: the next step, if there is one, and the option that reports more, unless all is reported.
pub(super) fn hint(next: Option<String>) -> Option<String> {
    let more = (report_format(false) == ReportFormat::Summary)
        .then(|| "--verbose reports more".to_owned());
    let next = next.map(|next| format!("next: {next}"));
    let words: Vec<String> = next.into_iter().chain(more).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The line after the judgement of a model: which boards suit it, and a project for one.
pub(super) fn with_model(model: &str) -> Option<String> {
    hint(Some(format!(
        "fishweir info {model} for boards that suit it, fishweir new FOLDER --model {model} for firmware"
    )))
}

/// Files as they are typed, the first of many.
pub(super) fn files(data: &[PathBuf]) -> String {
    let names: Vec<String> = data.iter().take(2).map(|path| path.display().to_string()).collect();
    names.join(" ") + if data.len() > 2 { " ..." } else { "" }
}
