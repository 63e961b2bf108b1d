//! Pages of a book: a table of options per heading.

use std::fmt::Write as _;

use clap::Command;

use super::{default, help, inner, sections, values};

/// Pages of the commands in `root`, with an index; subcommands are sections of their command's page.
pub(super) fn collect(root: &Command, pages: &mut Vec<(String, String)>) {
    let mut index = "# Commands\n\n".to_owned();
    index +=
        "The help of the program, written by `fishweir man --markdown`. Options of all commands:\n";
    options(root, &mut index);
    index += "\n| command | |\n|---|---|\n";
    for command in inner(root) {
        let name = command.get_name();
        let _ = writeln!(index, "| [{name}]({name}.md) | {} |", cell(&about(command)));
        let mut text = String::new();
        section(command, &format!("fishweir {name}"), 1, &mut text);
        pages.push((name.to_owned(), text));
    }
    pages.push(("README".to_owned(), index));
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace('<', "&lt;")
        .replace("\n\n", "<br>")
        .replace('\n', " ")
}

fn section(command: &Command, name: &str, level: usize, text: &mut String) {
    let _ = writeln!(text, "{} {name}\n\n{}.", "#".repeat(level), about(command));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(text, "\n```text\n{}\n```", usage.trim_start_matches("Usage: ").trim());
    if let Some(long) = command.get_long_about() {
        let long = long.to_string();
        if long.trim() != about(command) {
            let _ = writeln!(text, "\n{}", long.trim().replace('<', "&lt;"));
        }
    }
    options(command, text);
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        let after = after.to_string();
        for part in after.split("\n\n") {
            match part.split_once('\n').filter(|(title, _)| title.ends_with(':')) {
                Some((title, lines)) => {
                    let lines: Vec<&str> =
                        lines.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
                    let _ = writeln!(text, "\n{title}\n\n```text\n{}\n```", lines.join("\n"));
                }
                None => {
                    let _ = writeln!(text, "\n{}", part.replace('<', "&lt;"));
                }
            }
        }
    }
    for inner in inner(command) {
        text.push('\n');
        section(inner, &format!("{name} {}", inner.get_name()), level + 1, text);
    }
}

/// A table per heading.
fn options(command: &Command, text: &mut String) {
    // Options of all commands are listed once.
    let all = command.get_name() == "fishweir";
    for (title, options) in sections(command) {
        let own = options.iter().filter(|option| all || !option.is_global_set());
        let own: Vec<_> =
            own.filter(|option| !matches!(option.get_id().as_str(), "help" | "version")).collect();
        if own.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n| {} | |\n|---|---|", title.to_lowercase());
        for option in own {
            let short = option.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
            let mut about = cell(&help(option));
            let values = values(option);
            if !values.is_empty() {
                about += &format!("<br>Values: {}", values.join(", "));
            }
            if let Some(default) = default(option) {
                about += &format!("<br>Default: `{default}`");
            }
            let _ = writeln!(
                text,
                "| `{}` | {about} |",
                format!("{short}{option}").replace('|', "\\|")
            );
        }
    }
}
