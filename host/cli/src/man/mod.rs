//! `fishweir man`: the help of all commands, as manual pages or as pages of a book.

mod markdown;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use fishweir::files;
use fishweir::report::counted;

use super::{CommandLine, Failure, Topic, output};

const EXAMPLES: &str = "\
Examples:
  fishweir man ~/.local/share/man/man1
  fishweir man host/docs/reference --markdown";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder for the pages, one per command
    folder: PathBuf,
    /// Write Markdown, one page per command with those in it
    #[arg(long)]
    markdown: bool,
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
    let ending = match arguments.markdown {
        true => "md",
        false => "1",
    };
    match arguments.markdown {
        true => markdown::collect(&root, &mut pages),
        false => collect(&root, "fishweir", &mut pages),
    }
    for (name, text) in &pages {
        files::write_whole(&folder.join(format!("{name}.{ending}")), text.as_bytes())?;
    }
    let count = counted(pages.len(), "page");
    output::print(format!("{count} written to {}\n", folder.display()).as_bytes())
}

/// The pages of a command and of those in it.
fn collect(command: &Command, name: &str, pages: &mut Vec<(String, String)>) {
    pages.push((name.to_owned(), page(command, name)));
    for inner in inner(command) {
        collect(inner, &format!("{name}-{}", inner.get_name()), pages);
    }
}

/// Subcommands of a command.
fn inner(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| inner.get_name() != "help")
}

/// Options and arguments of a command, grouped by heading.
fn sections(command: &Command) -> Vec<(&str, Vec<&Arg>)> {
    let mut sections: Vec<(&str, Vec<&Arg>)> = Vec::new();
    for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
        let heading = heading(option);
        match sections.iter_mut().find(|(title, _)| *title == heading) {
            Some((_, options)) => options.push(option),
            None => sections.push((heading, vec![option])),
        }
    }
    sections
}

/// Help of an option, longer than that of `-h` where there is one.
fn help(option: &Arg) -> String {
    let help = option.get_long_help().or_else(|| option.get_help());
    help.map(ToString::to_string).unwrap_or_default()
}

/// Values of an option, where they are listed.
fn values(option: &Arg) -> Vec<String> {
    if !option.get_action().takes_values() {
        return Vec::new();
    }
    let values = option.get_possible_values().into_iter().filter(|one| !one.is_hide_set());
    values.map(|one| one.get_name().to_owned()).collect()
}

/// Default of an option; `None` if it has no value without the option.
fn default(option: &Arg) -> Option<String> {
    let takes = option.get_action().takes_values() && !option.is_hide_default_value_set();
    let values = option.get_default_values().iter().map(|value| value.to_string_lossy());
    let text = values.collect::<Vec<_>>().join(",");
    (takes && !text.is_empty()).then_some(text)
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
        for inner in inner(command) {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, ".TP\n.B {}\n{}", plain(inner.get_name()), plain(about));
        }
    }
    for (title, options) in sections(command) {
        let _ = writeln!(text, ".SH {}", title.to_uppercase());
        for option in options {
            let help = plain(help(option)).replace("\n\n", "\n.IP\n");
            let short = option.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
            let _ = writeln!(text, ".TP\n.B {}\n{help}", plain(format!("{short}{option}")));
            let values = values(option);
            if !values.is_empty() {
                let _ = writeln!(text, ".IP\nValues: {}", plain(values.join(", ")));
            }
            if let Some(default) = default(option) {
                let _ = writeln!(text, ".IP\nDefault: {}", plain(default));
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
