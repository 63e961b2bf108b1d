//! Recipes: options of a command in a file, by the names that they have on the command line.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, ColorChoice, Command, CommandFactory, FromArgMatches};
use fishweir::files;
use toml::de::{DeTable, DeValue};

use super::failure::{self, usage_kind};
use super::{CommandLine, Failure, Topic, next, output};

/// Options that were given, on the command line or in a file, as lines of TOML; `None` without options.
pub(super) type Recipe = Option<String>;

/// Options for the output of results, not for their content.
const OF_OUTPUT: [&str; 4] = ["output", "report", "json", "dry_run"];

/// An option of a file, as words of a command line.
struct Entry {
    line: usize,
    /// Name of the option, with its dashes.
    option: String,
    words: Vec<OsString>,
}

/// Reads a command line, and the recipe that it names. `None` where the recipe itself was asked for, and is printed.
///
/// # Errors
/// What is wrong with the recipe. What is wrong with the command line ends the program, as does a request for help.
pub(super) fn parse(
    mut words: Vec<OsString>,
    color: ColorChoice,
) -> Result<Option<(CommandLine, Recipe)>, Failure> {
    let mut root = CommandLine::command().color(color);
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let named = |word: &OsString| word.to_string_lossy().starts_with("--config");
    let matches = if words[..end].iter().any(named) {
        root.build();
        // What is missing may be in the recipe.
        let given = root.clone().ignore_errors(true).try_get_matches_from(&words);
        let given = given.unwrap_or_else(|said| failure::usage(&said));
        let path = given.get_one::<std::path::PathBuf>("config").cloned();
        let mut entries = Vec::new();
        if let Some(path) = &path {
            let (command, given) = innermost(&root, &given);
            entries = read(path, command, given)?;
            let added = entries.iter().flat_map(|entry| entry.words.iter().cloned());
            words.splice(end..end, added.collect::<Vec<_>>());
        }
        match (root.clone().try_get_matches_from(words), path) {
            (Err(said), Some(path)) => return Err(at_fault(&path, &entries, said)),
            (matches, _) => matches,
        }
    } else {
        // Builds the command that is run, and no other.
        root.try_get_matches_from_mut(words)
    };
    let matches = matches.unwrap_or_else(|said| failure::usage(&said));
    let line = CommandLine::from_arg_matches(&matches).unwrap_or_else(|said| failure::usage(&said));
    let (command, given) = innermost(&root, &matches);
    next::keep(given_options(command, given));
    if line.settings.print_config {
        output::print(template(command, given).as_bytes())?;
        return Ok(None);
    }
    Ok(Some((line, Some(recipe(command, given)).filter(|text| !text.is_empty()))))
}

/// The subcommand of a command line, and its options.
fn innermost<'a>(
    mut command: &'a Command,
    mut given: &'a ArgMatches,
) -> (&'a Command, &'a ArgMatches) {
    while let Some((name, inner)) = given.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        (command, given) = (found, inner);
    }
    (command, given)
}

/// The options of a command that a recipe may have.
fn options(command: &Command) -> impl Iterator<Item = (&Arg, &str)> {
    let all = command.get_arguments().filter(|option| {
        let of_output = OF_OUTPUT.contains(&option.get_id().as_str());
        let acts =
            matches!(option.get_action(), ArgAction::Set | ArgAction::Append | ArgAction::SetTrue);
        acts && !of_output && !option.is_global_set() && !option.is_hide_set()
    });
    all.filter_map(|option| Some((option, option.get_long()?)))
}

fn is_given(option: &Arg, given: &ArgMatches) -> bool {
    given.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
}

/// The options that a command was given, by name, with their values; a flag has none.
fn given_options(command: &Command, given: &ArgMatches) -> Vec<(String, Vec<String>)> {
    let of = |(option, name): (&Arg, &str)| {
        let values = match option.get_action() {
            ArgAction::SetTrue => Vec::new(),
            _ => {
                let values = given.get_raw(option.get_id().as_str()).unwrap_or_default();
                values.map(|value| value.to_string_lossy().into_owned()).collect()
            }
        };
        (name.to_owned(), values)
    };
    options(command).filter(|(option, _)| is_given(option, given)).map(of).collect()
}

/// The options that a command was given, a line of TOML each.
fn recipe(command: &Command, given: &ArgMatches) -> String {
    let mut text = String::new();
    for (name, values) in given_options(command, given) {
        let _ = writeln!(text, "{name} = {}", in_toml(&values));
    }
    text
}

/// The values of an option in TOML: numbers as they are, where TOML reads them so.
fn in_toml(values: &[String]) -> String {
    let value = |text: &String| {
        let is_number = text.parse::<i64>().is_ok_and(|number| number.to_string() == *text)
            || text.contains('.')
                && text.parse::<f64>().is_ok_and(|number| number.to_string() == *text);
        if is_number { text.clone() } else { toml::Value::from(text.as_str()).to_string() }
    };
    match values {
        [] => "true".to_owned(),
        [one] => value(one),
        several => format!("[{}]", several.iter().map(value).collect::<Vec<_>>().join(", ")),
    }
}

/// Options that a command was given, as a file, with its other options in comments.
fn template(command: &Command, given: &ArgMatches) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut text = format!("# {name}\n{}\n", recipe(command, given));
    text += "# Not given, with the default where the program has a fixed one:\n";
    for (option, name) in options(command).filter(|(option, _)| !is_given(option, given)) {
        let default = option.get_default_values().iter();
        let default: Vec<String> = default.map(|one| one.to_string_lossy().into_owned()).collect();
        let named = option.get_value_names().unwrap_or_default().first();
        let _ = match (option.get_action(), default.is_empty(), named) {
            (ArgAction::SetTrue, ..) => writeln!(text, "# {name} = true"),
            (_, true, Some(named)) => writeln!(text, "# {name} = {named}"),
            _ => writeln!(text, "# {name} = {}", in_toml(&default)),
        };
    }
    text
}

/// Reads the entries of a recipe that the command line does not overrule.
fn read(path: &Path, command: &Command, given: &ArgMatches) -> Result<Vec<Entry>, Failure> {
    let file = path.display();
    let text = String::from_utf8(files::read(path)?).map_err(|_| {
        Failure::input(
            Topic::NotUtf8,
            format!("{file}: this is no UTF-8 text; write the recipe as such"),
        )
    })?;
    entries(path, &text, command, |option| is_overruled(option, command, given))
}

/// The entries of a recipe as words of a command line that has nothing else.
///
/// # Errors
/// What is wrong with the recipe.
pub(super) fn words(path: &Path, text: &str, command: &Command) -> Result<Vec<OsString>, Failure> {
    let entries = entries(path, text, command, |_| false)?;
    Ok(entries.into_iter().flat_map(|entry| entry.words).collect())
}

/// The entries of a recipe, but for options that are left out.
fn entries(
    path: &Path,
    text: &str,
    command: &Command,
    is_left_out: impl Fn(&Arg) -> bool,
) -> Result<Vec<Entry>, Failure> {
    let file = path.display();
    let line_of = |offset: usize| 1 + text[..offset].matches('\n').count();
    let refused = |topic: Topic, offset: usize, what: String| {
        Failure::input(topic, format!("{file}, line {}: {what}", line_of(offset)))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        refused(Topic::BadSyntax, offset, format!("{}; write option = value", error.message()))
    })?;
    let known: Vec<(&Arg, &str)> = options(command).collect();
    let mut entries = Vec::new();
    for (key, value) in table.get_ref() {
        let (name, offset): (&str, _) = (key.get_ref(), key.span().start);
        let found = known.iter().find(|(option, long)| {
            *long == name || option.get_all_aliases().is_some_and(|all| all.contains(&name))
        });
        let Some((option, long)) = found else {
            let near = known.iter().map(|(_, long)| (strsim::jaro_winkler(name, long), long));
            let near = near.filter(|(alike, _)| *alike > 0.85).max_by(|a, b| a.0.total_cmp(&b.0));
            let command = command.get_name();
            let what = match near {
                Some((_, near)) => format!("write `{near}`"),
                None => "--help lists its options".to_owned(),
            };
            let what =
                format!("`{name}` is not an option that a recipe of `{command}` has; {what}");
            return Err(refused(Topic::UnknownOption, offset, what));
        };
        if is_left_out(option) {
            continue;
        }
        let dashed = format!("--{long}");
        let wanted =
            |what: &str| refused(Topic::BadSyntax, offset, format!("`{name}` takes {what}"));
        let single = |value: &toml::Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(_) | DeValue::Float(_) => Ok(text[value.span()].replace('_', "")),
            _ => Err(wanted("a text or a number, or a list of these, as in window = 200")),
        };
        let may_be_bare = option.get_num_args().is_some_and(|count| count.min_values() == 0);
        let values = match (value.get_ref(), option.get_action()) {
            (DeValue::Boolean(true), ArgAction::SetTrue) => None,
            (DeValue::Boolean(true), ArgAction::Set) if may_be_bare => None,
            (DeValue::Boolean(false), ArgAction::SetTrue) => continue,
            (_, ArgAction::SetTrue) => return Err(wanted("true or false")),
            (DeValue::Array(all), action) => {
                let all = all.iter().map(single).collect::<Result<Vec<String>, _>>()?;
                // What is given once takes a list in one value.
                let is_once = matches!(action, ArgAction::Set);
                Some(if is_once { vec![all.join(",")] } else { all })
            }
            _ => Some(vec![single(value)?]),
        };
        let words = match values {
            None => vec![dashed.clone().into()],
            Some(values) => values.iter().map(|one| format!("{dashed}={one}").into()).collect(),
        };
        entries.push(Entry { line: line_of(offset), option: dashed, words });
    }
    Ok(entries)
}

/// Returns whether the command line has the option, or another that excludes it.
fn is_overruled(option: &Arg, command: &Command, given: &ArgMatches) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let mut others = command.get_arguments().filter(|other| !other.is_global_set());
    others.any(|other| {
        is_given(other, given)
            && (other.get_id() == option.get_id()
                || excludes(other, option)
                || excludes(option, other))
    })
}

/// Returns the failure of a command line with a recipe, whose line is named if it is at fault; the command line's own ends
/// the program.
fn at_fault(path: &Path, entries: &[Entry], said: clap::Error) -> Failure {
    let names = |entry: &&Entry, text: &str| {
        text.strip_prefix(&entry.option)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=', '[']))
    };
    let about = [ContextKind::InvalidArg, ContextKind::PriorArg].into_iter();
    let about = about.filter_map(|kind| match said.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    });
    let found = about.filter_map(|text| entries.iter().find(|entry| names(entry, text))).next();
    let Some(entry) = found.filter(|_| said.use_stderr()) else { failure::usage(&said) };
    let text = said.render().to_string();
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    Failure::input(
        usage_kind(said.kind()),
        format!("{}, line {}: {text}", path.display(), entry.line),
    )
}
