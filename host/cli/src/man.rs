//! `fishweir man`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use fishweir::files;
use fishweir::report::counted;

use super::{CommandLine, Failure, Topic, output};

const EXAMPLES: &str = "\
Examples:
  fishweir man ~/.local/share/man/man1";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder for the pages, one per command
    folder: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| {
        let what = format!("{}: {error}; name another folder", folder.display());
        Failure::input(Topic::UnwritableFolder, what)
    })?;
    let mut root = CommandLine::command();
    root.build();
    let mut pages = Vec::new();
    collect(&root, "fishweir", &mut pages);
    for (name, text) in &pages {
        files::write_whole(&folder.join(format!("{name}.1")), text.as_bytes())?;
    }
    let count = counted(pages.len(), "page");
    output::print(format!("{count} written to {}\n", folder.display()).as_bytes())
}

/// The pages of a command and of those in it.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
    pages.push((name.to_owned(), page(command, name)));
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        collect(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
}

/// Text of a page: no line of it is a request, and no letter of it an escape.
fn plain(text: impl ToString) -> String {
    let text = text.to_string().replace('\\', "\\e").replace('-', "\\-");
    let lines = text.lines().map(|line| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn page(command: &Command, name: &str) -> String {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = format!(
        ".TH {} 1 \"\" \"fishweir {}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        plain(name),
        plain(about),
        plain(command.clone().render_usage().to_string().trim_start_matches("Usage: "))
    );
    if let Some(long) = command.get_long_about() {
        let _ = writeln!(text, ".SH DESCRIPTION\n{}", plain(long).replace("\n\n", "\n.PP\n"));
    }
    if command.has_subcommands() {
        text += ".SH COMMANDS\n";
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, ".TP\n.B {}\n{}", plain(inner.get_name()), plain(about));
        }
    }
    let shown: Vec<&Arg> = command.get_arguments().filter(|option| !option.is_hide_set()).collect();
    let mut headings: Vec<&str> = Vec::new();
    for &option in &shown {
        let heading = heading(option);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for title in headings {
        let _ = writeln!(text, ".SH {}", title.to_uppercase());
        for &option in shown.iter().filter(|option| heading(option) == title) {
            let help = option.get_long_help().or_else(|| option.get_help());
            let help = help.map(plain).unwrap_or_default().replace("\n\n", "\n.IP\n");
            let short = option.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
            let _ = writeln!(text, ".TP\n.B {}\n{help}", plain(format!("{short}{option}")));
            let values = option.get_possible_values().into_iter().filter(|one| !one.is_hide_set());
            let values: Vec<String> = values.map(|one| one.get_name().to_owned()).collect();
            if !values.is_empty() && option.get_action().takes_values() {
                let _ = writeln!(text, ".IP\nValues: {}", plain(values.join(", ")));
            }
        }
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let _ = writeln!(text, ".SH NOTES\n.nf\n{}\n.fi", plain(after));
    }
    text
}

/// The heading that an option stands under.
fn heading(option: &Arg) -> &str {
    let plain = if option.is_positional() { "Arguments" } else { "Options" };
    option.get_help_heading().unwrap_or(plain)
}
