//! Networks in the Bayesian Interchange Format.

mod parser;
mod scanner;

use std::fmt::Write as _;

use parser::Parser;
use scanner::ends_word;

use super::Network;
use crate::records::Variable;

/// Reason why a text is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}, column {column}: {what}")]
pub struct BifError {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Fault and remedy.
    pub what: String,
}

impl fishweir::StableKind for BifError {
    fn kind(&self) -> &'static str {
        "bad-bif"
    }
}

/// Reads a network.
///
/// ```text
/// file        = { "network" name "{" { property } "}" | variable | probability }
/// variable    = "variable" name "{" { "type" "discrete" "[" n "]" "{" state { state } "}" ";" | property } "}"
/// probability = "probability" "(" name { name } ")" "{" { row | property } "}"
/// row         = ( "(" state { state } ")" | "default" | "table" ) number { number } ";"
/// ```
///
/// Commas and `|` between words are passed over as blanks are: the first name of a probability is the node, others are its parents. A name is any run of characters but blanks and `{ } ( ) [ ] | , ; "`, or stands in quotes, within which
/// `\"` is a quote and `\\` a backslash; blanks around it are dropped. Comments are those of C++. A row of states lists the node's probabilities given them; `default` fills the rows that
/// are not listed; `table` of a node with parents lists all, the node's state varying slowest, the last
/// parent's fastest. Rows rounded in print, within 1e-3 of one, are divided by their sum.
///
/// Source: Cozman, "The interchange format for Bayesian networks", 1998.
///
/// # Errors
/// [`BifError`] at the line and column where the text ceases to be a network: an unknown or second name,
/// state or row, a number that is no probability, a row that does not sum to one, edges that lead round.
pub fn read_bif(file: &str, text: &str) -> Result<Network, BifError> {
    Parser::new(file, text).network()
}

/// Writes a network as [`read_bif`] reads it; numbers as short as they are read back to the bit.
pub fn write_bif(network: &Network) -> String {
    let mut text = "network unknown {\n}\n".to_owned();
    let names =
        |names: &mut dyn Iterator<Item = &str>| names.map(quoted).collect::<Vec<_>>().join(", ");
    for Variable { name, states } in network.variables() {
        let (name, card) = (quoted(name), states.len());
        let states = names(&mut states.iter().map(String::as_str));
        let _ =
            writeln!(text, "variable {name} {{\n  type discrete [ {card} ] {{ {states} }};\n}}");
    }
    for node in 0..network.shape().nodes() {
        let parents = network.shape().parents(node);
        let _ = write!(text, "probability ( {}", quoted(network.name(node)));
        if !parents.is_empty() {
            let parents = names(&mut parents.iter().map(|&parent| network.name(parent)));
            let _ = write!(text, " | {parents}");
        }
        text.push_str(" ) {\n");
        let rows = network.table(node).chunks(network.shape().cards()[node]);
        for (row, entries) in rows.enumerate() {
            let given = network.shape().states_of_row(node, row);
            let given = parents
                .iter()
                .zip(given)
                .map(|(&parent, state)| network.variables()[parent].states[state].as_str());
            let head = match parents.len() {
                0 => "table".to_owned(),
                _ => format!("({})", names(&mut given.into_iter())),
            };
            let entries: Vec<String> = entries.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "  {head} {};", entries.join(", "));
        }
        text.push_str("}\n");
    }
    text
}

/// A name, in quotes where it would not be read as one without.
fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && name.chars().all(|one| !ends_word(one))
        && !name.starts_with("//")
        && !name.starts_with("/*");
    if plain {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
