//! Recognition of a file of the wrong kind, and of the command that takes it.

use std::path::Path;

use fishweir::classifier::ClassifierError;
use fishweir::data::{DataError, Dataset, Encoding, ReadOptions, layout_of};
use fishweir::deploy::Deployed;
use fishweir::files;
use fishweir::internals::unpacked_as;
use fishweir::kernel::marginal::MarginalModel;
use fishweir_networks::NetworkFile;
use serde::de::IgnoredAny;

use super::remedy::words;
use super::{Failure, Topic};

/// Reads a model's file.
///
/// # Errors
/// Where it is a folder, empty, or cannot be read.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let refused =
        |kind: Topic, what: &str| Err(Failure::input(kind, format!("{}: {what}", path.display())));
    if path.is_dir() {
        return refused(
            Topic::IsFolder,
            "this is a folder; name a model's file in it: what `fit -o` or `export --artefact` wrote",
        );
    }
    let bytes = files::read(path)?;
    if bytes.trim_ascii().is_empty() {
        let what = "this file is empty; write the model again with `fit -o` or `export --artefact`, or copy it again";
        return refused(Topic::EmptyFile, what);
    }
    // As data may be: packed, or with the mark that some editors write.
    let encoding = Some(Encoding::Utf8);
    Ok(unpacked_as(&path.display().to_string(), &bytes, encoding)?.into_owned())
}

/// Returns the failure of a file that is no model: its kind, and the remedy.
pub(super) fn refused(file: &str, bytes: &[u8], error: &ClassifierError) -> Failure {
    let ClassifierError::Format { .. } = error else {
        return Failure::input(error.kind(), words(error));
    };
    let refused = |kind: Topic, what: String| Failure::input(kind, format!("{file}: {what}"));
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim_start_matches('\u{FEFF}');
    if text.trim_start().starts_with('{') {
        return match serde_json::from_str::<IgnoredAny>(text) {
            Err(wrong) if wrong.is_eof() => refused(
                Topic::Truncated,
                format!(
                    "this JSON ends too early, in line {} column {}; fit the model or copy its file again",
                    wrong.line(),
                    wrong.column()
                ),
            ),
            _ if is_network(file, bytes) => network(file),
            _ => Failure::input(error.kind(), words(error)),
        };
    }
    // Networks may begin with a comment, as sources do.
    if is_network(file, bytes) {
        return network(file);
    }
    if let Some(language) = language(file, text) {
        return refused(
            Topic::IsSource,
            format!(
                "this is {language} source, to be compiled into firmware; name the model or artefact that it was \
                 exported from"
            ),
        );
    }
    if let Some(what) = data(bytes, text) {
        let options = ReadOptions::default();
        let labelled =
            Dataset::parse(file, bytes, &options).is_ok_and(|data| data.labels().is_ok());
        let remedy = match labelled {
            true => format!("`fishweir fit {file} -o model.json` makes a model of it"),
            false => "name what `fit -o` or `export --artefact` wrote".to_owned(),
        };
        return refused(Topic::IsData, format!("this is data, {what}, and not a model; {remedy}"));
    }
    if text.starts_with("# STOCKHOLM") {
        return refused(
            Topic::IsData,
            format!(
                "this is data, an alignment, and not a model; `fishweir profile fit {file} -o profile.hmm` makes a \
                 profile of it"
            ),
        );
    }
    if MarginalModel::parse(file, text).is_ok() {
        return refused(
            Topic::WrongModel,
            "this is the model of a kernel by marginalisation; `fit --kernel-model` and `gram --kernel-model` take it".into(),
        );
    }
    if text.starts_with("@relation") || text.starts_with("@RELATION") || is_table(text) {
        return refused(
            Topic::IsData,
            format!(
                "this is a table of records, not a model; `fishweir network fit {file} -o network.json` makes a network \
                 of it"
            ),
        );
    }
    refused(
        Topic::NotAModel,
        "this is neither a model nor an artefact; name what `fit -o` or `export --artefact` wrote"
            .into(),
    )
}

pub(super) fn is_network(file: &str, bytes: &[u8]) -> bool {
    NetworkFile::parse(file, bytes).is_ok()
}

fn network(file: &str) -> Failure {
    Failure::input(
        Topic::WrongModel,
        format!(
            "{file}: this is a network over records; `fishweir network` takes it: network info {file}"
        ),
    )
}

/// Returns the failure of data that could not be read: a model in their place is named.
pub(super) fn no_data(path: &Path, error: DataError) -> Failure {
    let wrong = matches!(
        error,
        DataError::UnknownLayout { .. } | DataError::NotUtf8 { .. } | DataError::OtherFormat { .. }
    );
    let begins =
        |bytes: &[u8]| bytes.starts_with(b"{\"fishweir_model\"") || Deployed::is_artefact(bytes);
    match files::read(path) {
        Ok(bytes) if wrong && begins(&bytes) => Failure::input(
            Topic::IsModel,
            format!("{}: this is a model; name a file of data here", path.display()),
        ),
        _ => match nearby(path).filter(|_| matches!(error, DataError::Io { .. })) {
            Some(near) => {
                let kind = error.kind();
                Failure::input(kind, format!("{}; there is {near}", words(&error)))
            }
            None => error.into(),
        },
    }
}

/// Finds the file with the most similar name in the folder of a missing path.
pub(super) fn nearby(path: &Path) -> Option<String> {
    const ALIKE: f64 = 0.8;
    let name = path.file_name()?.to_string_lossy().into_owned();
    if path.exists() {
        return None;
    }
    let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = beside.flatten().take(10_000);
    let names = names.map(|one| one.file_name().to_string_lossy().into_owned());
    let alike = |one: String| (strsim::normalized_damerau_levenshtein(&name, &one), one);
    let near = names.map(alike).filter(|(alike, _)| *alike >= ALIKE);
    let (_, near) = near.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))?;
    Some(folder.map_or_else(|| near.clone(), |folder| folder.join(&near).display().to_string()))
}

/// The programming language of a text, by what exports write or by its name.
fn language(file: &str, text: &str) -> Option<&'static str> {
    let ends = |ending: &str| {
        Path::new(file).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
    };
    let text = text.trim_start();
    let comments = ["//", "/*", "#include", "#ifndef", "#pragma"];
    if text.contains("fishweir_core::") || !text.is_empty() && ends("rs") {
        return Some("Rust");
    }
    (comments.iter().any(|begin| text.starts_with(begin))
        || !text.is_empty() && (ends("c") || ends("h")))
    .then_some("C")
}

/// Describes the data in a file. A single line is not taken for strings of some layout.
fn data(bytes: &[u8], text: &str) -> Option<&'static str> {
    let layout = layout_of(bytes).filter(|_| text.is_empty() || text.lines().count() > 1)?;
    layout.about.split(" (").next()
}

/// Returns whether a text is lines of equally many fields.
fn is_table(text: &str) -> bool {
    [',', '\t', ';'].into_iter().any(|delimiter| {
        let mut counts = text.lines().take(4).map(|line| line.matches(delimiter).count());
        let first = counts.next().unwrap_or_default();
        first > 0 && text.lines().count() > 1 && counts.all(|count| count == first)
    })
}
