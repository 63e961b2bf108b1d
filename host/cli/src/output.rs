//! Output of commands: files, or standard output for `-`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fishweir::data::LAYOUTS;
use fishweir::files;
use fishweir::report::{self, Report};

use super::failure::{is_quiet, report_format};
use super::{Failure, Topic, note};

/// Prints a report on standard output, for people or as JSON.
pub(super) fn print_report(report: &impl Report, json: bool) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    report::write(report, report_format(json), &mut out)?;
    Ok(out.flush()?)
}

/// Files that a command will write, found to be writable.
pub(super) struct Outputs {
    /// One of them is standard output: it is not for reports then.
    on_standard_output: bool,
}

impl Outputs {
    /// Checks, before the work that fills them, that all can be written, that none is an input, and
    /// that no two are one.
    pub(super) fn check(outputs: &[&Path], inputs: &[&Path]) -> Result<Self, Failure> {
        let refuse = |path: &Path, topic: Topic, why: &str| {
            Err(Failure::input(topic, format!("{}: {why}; name another output", path.display())))
        };
        for (index, output) in outputs.iter().enumerate() {
            let (standard, before) = (is_standard(output), &outputs[..index]);
            if !standard {
                files::check_writable(output)?;
                if inputs.iter().any(|input| files::is_same(output, input)) {
                    return refuse(output, Topic::OutputIsInput, "is an input itself");
                }
            }
            let is_it = |other: &&Path| match (standard, is_standard(other)) {
                (false, false) => files::is_same(output, other),
                (one, other) => one && other,
            };
            if before.iter().any(is_it) {
                return refuse(output, Topic::SameOutput, "is named for two outputs");
            }
        }
        Ok(Self { on_standard_output: outputs.iter().any(|output| is_standard(output)) })
    }

    /// Prints a report, for people or as JSON: on standard output, or on standard error where the
    /// former has the result itself.
    pub(super) fn print(&self, report: &impl Report, json: bool) -> Result<(), Failure> {
        if self.on_standard_output && !json && is_quiet() {
            return Ok(());
        }
        if self.on_standard_output {
            return Ok(report::write(report, report_format(json), &mut io::stderr().lock())?);
        }
        print_report(report, json)
    }

    /// Prints a report as [`print`](Self::print) does, and for people a line after it: the option that gives more.
    pub(super) fn print_with(
        &self,
        report: &impl Report,
        json: bool,
        hint: Option<&str>,
    ) -> Result<(), Failure> {
        self.print(report, json)?;
        // A hint may name a file.
        let hint = hint.map(report::printable);
        match hint {
            Some(hint) if !json && self.on_standard_output => {
                Ok(writeln!(io::stderr().lock(), "{hint}")?)
            }
            Some(hint) if !json => Ok(writeln!(io::stdout().lock(), "{hint}")?),
            _ => Ok(()),
        }
    }
}

/// Writes one of the outputs.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_standard(path) {
        return print(bytes);
    }
    Ok(files::write_whole(path, bytes)?)
}

/// Writes a figure that is drawn in addition to a report or a table, and reports its path.
pub(super) fn draw(path: &Path, svg: &str) -> Result<(), Failure> {
    write(path, svg.as_bytes())?;
    if !is_standard(path) {
        note(Topic::FigureWritten, format_args!("figure written to {}", path.display()));
    }
    Ok(())
}

/// Writes to standard output, and sees it off. What hung up there is known by this error alone: those of
/// libraries that format hide it.
pub(super) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a file without the endings for its content: `walk` of `data/walk.csv.gz`.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut stem: &str = &name;
    let of_data = LAYOUTS.iter().flat_map(|layout| [layout.name, layout.alias]);
    for ending in ["gz"].into_iter().chain(of_data).chain(["txt", "json", "model", "fishweir"]) {
        let rest = stem.strip_suffix(ending).and_then(|rest| rest.strip_suffix('.'));
        stem = rest.filter(|rest| !rest.is_empty()).unwrap_or(stem);
    }
    stem.to_owned()
}

/// A path in the current folder, named after another file.
pub(super) fn named_after(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(stem(path) + ending)
}
