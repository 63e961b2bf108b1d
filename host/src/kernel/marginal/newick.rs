//! Trees in the Newick format.

use std::collections::HashSet;
use std::fmt;
use std::iter::Peekable;
use std::str::{CharIndices, FromStr};

use serde::{Deserialize, Serialize};

/// A rooted tree whose leaves have names, parents before their children and children in their order.
///
/// ```text
/// tree  = node ";"
/// node  = "(" node { "," node } ")" [ name ] [ ":" length ]  |  name [ ":" length ]
/// name  = characters but blanks ( ) [ ] ' : ; ,  |  "'" characters, '' for ' "'"
/// ```
///
/// Blanks between these and comments in `[ ]` are passed over. Lengths are finite and not negative;
/// names of leaves are there and differ. An underscore is an underscore. Of a file, one tree.
///
/// ```
/// use fishweir::kernel::marginal::Newick;
///
/// let tree: Newick = "((human:0.1,chimp:0.1)ape:0.2,mouse:0.4);".parse()?;
/// assert_eq!(tree.children(), [2, 2, 0, 0, 0]);
/// assert_eq!(tree.leaves().collect::<Vec<_>>(), ["human", "chimp", "mouse"]);
/// assert_eq!(tree.length(1), Some(0.2));
/// assert_eq!(tree.to_string(), "((human:0.1,chimp:0.1)ape:0.2,mouse:0.4);");
/// # Ok::<(), fishweir::kernel::marginal::NewickError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Newick {
    /// Number of children of each node.
    children: Vec<u16>,
    /// `[node]`; empty where an inner node has none.
    names: Vec<String>,
    /// Length of the branch to each node.
    lengths: Vec<Option<f64>>,
}

/// Reason why a text is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tree, line {line}, column {column}: {what}")]
pub struct NewickError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Fault and remedy.
    pub what: String,
}

impl crate::StableKind for NewickError {
    fn kind(&self) -> &'static str {
        "bad-tree"
    }
}

impl Newick {
    /// Number of children of each node, parents before their children: the code of a
    /// [`TreeShape`](fishweir_core::kernel::TreeShape).
    pub fn children(&self) -> &[u16] {
        &self.children
    }

    /// The length of the branch to a node, if it is given.
    pub fn length(&self, node: usize) -> Option<f64> {
        self.lengths.get(node).copied().flatten()
    }

    /// A node's name; empty for an unnamed inner node.
    pub fn name(&self, node: usize) -> &str {
        self.names.get(node).map_or("", String::as_str)
    }

    /// The leaves' names from left to right.
    pub fn leaves(&self) -> impl Iterator<Item = &str> {
        let nodes = self.children.iter().zip(&self.names);
        nodes.filter(|(children, _)| **children == 0).map(|(_, name)| name.as_str())
    }

    /// A node in words: its name, or its number from 0, parents before their children.
    pub fn called(&self, node: usize) -> String {
        match self.name(node) {
            "" => format!("inner node {node}"),
            name => format!("node `{name}`"),
        }
    }
}

/// Characters that end a name without quotes.
fn ends_name(character: char) -> bool {
    character.is_whitespace() || character.is_control() || "()[]':;,".contains(character)
}

struct Parser<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
}

impl<'t> Parser<'t> {
    fn wrong(&mut self, what: impl Into<String>) -> NewickError {
        let at = self.rest.peek().map_or(self.text.len(), |&(at, _)| at);
        self.wrong_at(at, what)
    }

    fn wrong_at(&self, at: usize, what: impl Into<String>) -> NewickError {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        NewickError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }

    /// The next character that is no blank and in no comment.
    fn peek(&mut self) -> Result<Option<char>, NewickError> {
        while let Some(&(at, character)) = self.rest.peek() {
            if character == '[' {
                if !self.rest.by_ref().any(|(_, character)| character == ']') {
                    return Err(self.wrong_at(at, "the comment is not closed; write `]` after it"));
                }
            } else if character.is_whitespace() {
                self.rest.next();
            } else {
                return Ok(Some(character));
            }
        }
        Ok(None)
    }

    fn take(&mut self, wanted: char) -> Result<bool, NewickError> {
        let found = self.peek()? == Some(wanted);
        if found {
            self.rest.next();
        }
        Ok(found)
    }

    fn bare(&mut self) -> &'t str {
        let start = self.rest.peek().map_or(self.text.len(), |&(at, _)| at);
        while self.rest.next_if(|&(_, character)| !ends_name(character)).is_some() {}
        let end = self.rest.peek().map_or(self.text.len(), |&(at, _)| at);
        &self.text[start..end]
    }

    fn name(&mut self) -> Result<String, NewickError> {
        if self.peek()? != Some('\'') {
            return Ok(self.bare().to_owned());
        }
        let start = self.rest.next().map_or(0, |(at, _)| at);
        let mut name = String::new();
        while let Some((_, character)) = self.rest.next() {
            if character != '\'' {
                name.push(character);
            } else if self.rest.next_if(|&(_, next)| next == '\'').is_some() {
                name.push('\'');
            } else {
                return Ok(name);
            }
        }
        Err(self.wrong_at(start, "the quoted name is not closed; write `'` after it"))
    }

    fn length(&mut self) -> Result<Option<f64>, NewickError> {
        if !self.take(':')? {
            return Ok(None);
        }
        self.peek()?;
        let at = self.rest.peek().map_or(self.text.len(), |&(at, _)| at);
        let text = self.bare();
        match text.parse::<f64>() {
            Ok(length) if length.is_finite() && length >= 0.0 => Ok(Some(length)),
            _ => Err(self.wrong_at(
                at,
                format!("`{text}` is not a branch length; write a number of 0 or more"),
            )),
        }
    }
}

impl FromStr for Newick {
    type Err = NewickError;

    fn from_str(text: &str) -> Result<Self, NewickError> {
        let mut parser = Parser { text, rest: text.char_indices().peekable() };
        let mut tree = Self { children: vec![], names: vec![], lengths: vec![] };
        let mut leaves = HashSet::new();
        // Nodes whose children are being read: no recursion, a text may be as deep as it is long.
        let mut open: Vec<usize> = Vec::new();
        loop {
            if let Some(&parent) = open.last() {
                match tree.children[parent].checked_add(1) {
                    Some(children) => tree.children[parent] = children,
                    None => return Err(parser.wrong("a node has more than 65535 children")),
                }
            }
            let mut node = tree.children.len();
            tree.children.push(0);
            tree.names.push(String::new());
            tree.lengths.push(None);
            if parser.take('(')? {
                open.push(node);
                continue;
            }
            parser.peek()?;
            let at = parser.rest.peek().map_or(text.len(), |&(at, _)| at);
            let name = parser.name()?;
            if name.is_empty() {
                return Err(parser.wrong_at(at, "a leaf's name, or `(`, is missing here"));
            }
            if !leaves.insert(name.clone()) {
                let what = format!("the leaf `{name}` occurs twice; names of leaves must differ");
                return Err(parser.wrong_at(at, what));
            }
            tree.names[node] = name;
            // The leaf's length, and all that is complete with it.
            loop {
                tree.lengths[node] = parser.length()?;
                if parser.take(',')? {
                    if open.is_empty() {
                        return Err(parser.wrong("`,` outside all brackets; a tree has one root"));
                    }
                    break;
                }
                if parser.take(')')? {
                    let Some(complete) = open.pop() else {
                        return Err(parser.wrong("`)` closes nothing; remove it"));
                    };
                    node = complete;
                    tree.names[node] = parser.name()?;
                    continue;
                }
                if !parser.take(';')? {
                    let what = if open.is_empty() { "`;`" } else { "`,` or `)`" };
                    return Err(parser.wrong(format!("{what} is missing here")));
                }
                if !open.is_empty() {
                    let what = format!("`;` before {} missing `)`", open.len());
                    return Err(parser.wrong(what));
                }
                if parser.peek()?.is_some() {
                    return Err(parser.wrong("text after the tree's `;`; give one tree"));
                }
                if tree.children == [0] {
                    return Err(parser.wrong_at(0, "a tree needs a root above its leaves"));
                }
                return Ok(tree);
            }
        }
    }
}

impl TryFrom<String> for Newick {
    type Error = NewickError;
    fn try_from(text: String) -> Result<Self, NewickError> {
        text.parse()
    }
}

impl From<Newick> for String {
    fn from(tree: Newick) -> Self {
        tree.to_string()
    }
}

impl fmt::Display for Newick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = |f: &mut fmt::Formatter<'_>, node: usize| -> fmt::Result {
            let name = self.name(node);
            if name.contains(ends_name) {
                write!(f, "'{}'", name.replace('\'', "''"))?;
            } else {
                f.write_str(name)?;
            }
            self.length(node).map_or(Ok(()), |length| write!(f, ":{length}"))
        };
        // Nodes whose children are being written, and how many are left.
        let mut open: Vec<(usize, u16)> = Vec::new();
        for (node, &children) in self.children.iter().enumerate() {
            if children > 0 {
                f.write_str("(")?;
                open.push((node, children));
                continue;
            }
            label(f, node)?;
            while let Some((parent, left)) = open.last_mut() {
                *left -= 1;
                if *left > 0 {
                    f.write_str(",")?;
                    break;
                }
                f.write_str(")")?;
                label(f, *parent)?;
                open.pop();
            }
        }
        f.write_str(";")
    }
}
