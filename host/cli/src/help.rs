//! Short help, `-h`: the options that most users need. `--help` lists all.

use clap::Arg;
use clap::builder::Resettable;

/// Hides an option from `-h` unless it is one of these. A form of the report stands in no group.
pub(super) fn brief(option: Arg, shown: &[&str]) -> Arg {
    let id = option.get_id().as_str();
    let (is_report, is_shown) = (id == "json", option.is_positional() || shown.contains(&id));
    let option = option.hide_short_help(!is_shown);
    if is_report { option.help_heading(Resettable::Reset) } else { option }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use crate::CommandLine;

    /// Runs a check on each command that does something.
    fn each(command: &mut Command, check: &mut dyn FnMut(&mut Command)) {
        if !command.has_subcommands() {
            return check(command);
        }
        let inner = command.get_subcommands_mut().filter(|inner| inner.get_name() != "help");
        inner.for_each(|inner| each(inner, check));
    }

    #[test]
    fn short_help_has_fifteen_options_at_most_and_an_example() {
        let mut all = CommandLine::command();
        all.build();
        let mut seen = 0;
        each(&mut all, &mut |command| {
            seen += 1;
            let text = command.render_help().to_string();
            let options = text.lines().filter(|line| line.trim_start().starts_with('-')).count();
            assert!(options <= 15, "{options} options of {}:\n{text}", command.get_name());
            for text in [text, command.render_long_help().to_string()] {
                let examples = text.split("\nExamples:\n").nth(1);
                let example = examples.is_some_and(|part| part.contains("  fishweir "));
                assert!(example, "no example of {}:\n{text}", command.get_name());
            }
        });
        assert!(seen > 30, "{seen} commands");
    }
}
