//! `fishweir completions`: the shell asks the program itself what may follow.

use clap::{Arg, Command, CommandFactory, ValueEnum};

use super::{CommandLine, Failure, output};

const EXAMPLES: &str = "\
Examples:
  source <(fishweir completions bash)
  fishweir completions zsh > ~/.zfunc/_fishweir
  fishweir completions fish > ~/.config/fish/completions/fishweir.fish";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
    /// Words of a command line without the program's name, of which the last is to be completed
    #[arg(long, hide = true, num_args = 0.., allow_hyphen_values = true)]
    words: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Fish,
    Zsh,
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Self::Bash => {
                r#"_fishweir() {
    local IFS=$'\n'
    COMPREPLY=($(fishweir completions bash --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fishweir fishweir
"#
            }
            Self::Fish => {
                r#"complete -c fishweir -a '(fishweir completions fish --words (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
"#
            }
            Self::Zsh => {
                r#"#compdef fishweir
_fishweir() {
    local -a found
    found=(${(f)"$(fishweir completions zsh --words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    (( $#found )) && compadd -a found || _files
}
if [ "$funcstack[1]" = _fishweir ]; then _fishweir "$@"; else compdef _fishweir fishweir; fi
"#
            }
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some(words) = &arguments.words else {
        return output::print(arguments.shell.script().as_bytes());
    };
    let mut root = CommandLine::command();
    root.build();
    let lines: String = candidates(&root, words).iter().map(|word| format!("{word}\n")).collect();
    output::print(lines.as_bytes())
}

/// Candidates for the last word; empty if it is a file, or any text.
fn candidates(root: &Command, words: &[String]) -> Vec<String> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let mut command = root;
    let mut option: Option<&Arg> = None;
    for word in before {
        let valued = option.take().is_some();
        if let Some(name) = word.strip_prefix("--") {
            let mut options = command.get_arguments();
            option =
                options.find(|one| one.get_long() == Some(name) && one.get_action().takes_values());
        } else if let Some(inner) = command.find_subcommand(word).filter(|_| !valued) {
            command = inner;
        }
    }
    let all: Vec<String> = match option {
        Some(option) => {
            let values = option.get_possible_values().into_iter();
            values.filter(|one| !one.is_hide_set()).map(|one| one.get_name().to_owned()).collect()
        }
        None if last.starts_with('-') => {
            let shown = command.get_arguments().filter(|one| !one.is_hide_set());
            shown.filter_map(|one| Some(format!("--{}", one.get_long()?))).collect()
        }
        None => command.get_subcommands().map(|one| one.get_name().to_owned()).collect(),
    };
    all.into_iter().filter(|word| word.starts_with(last.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_follow_is_found() {
        let mut root = CommandLine::command();
        root.build();
        let found = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            candidates(&root, &words)
        };
        assert_eq!(found("eva"), ["evaluate"]);
        assert_eq!(found("fit gait.csv --effort"), ["--effort"]);
        assert_eq!(found("fit --effort "), ["quick", "normal", "thorough"]);
        assert_eq!(found("network fit --class"), ["--class", "--classifier"]);
        assert_eq!(found("fit --output ga"), [""; 0]);
        assert!(found("").contains(&"predict".to_owned()));
        assert_eq!(found("fit ga"), [""; 0]);
    }
}
