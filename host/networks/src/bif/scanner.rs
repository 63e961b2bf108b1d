//! Scanner: words and marks with their places, from characters.

use std::str::Chars;

/// Characters that end a word.
pub(super) fn ends_word(one: char) -> bool {
    one.is_whitespace() || "{}()[]|,;\"".contains(one)
}

/// Line and column.
pub(super) type At = (usize, usize);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// A quoted text.
    Text(String),
    Mark(char),
    End,
}

impl Token {
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Text(text) => format!("\"{text}\""),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::End => "the end of the file".into(),
        }
    }
}

/// Returns whether a character is a blank, or one that the format ignores between words.
fn is_passed_over(one: char) -> bool {
    one.is_whitespace() || matches!(one, ',' | '|')
}

pub(super) struct Scanner<'t> {
    rest: Chars<'t>,
    pub(super) at: At,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text.chars(), at: (1, 1) }
    }

    fn step(&mut self) -> Option<char> {
        let one = self.rest.next()?;
        self.at = if one == '\n' { (self.at.0 + 1, 1) } else { (self.at.0, self.at.1 + 1) };
        Some(one)
    }

    fn starts(&self, with: &str) -> bool {
        self.rest.as_str().starts_with(with)
    }

    /// The next token and where it begins; an error is where something that was opened does not end.
    pub(super) fn token(&mut self) -> Result<(Token, At), (At, &'static str)> {
        loop {
            let start = self.at;
            if self.starts("//") {
                while self.step().is_some_and(|one| one != '\n') {}
            } else if self.starts("/*") {
                self.step();
                self.step();
                while !self.starts("*/") {
                    if self.step().is_none() {
                        return Err((start, "the comment is not closed; write `*/` after it"));
                    }
                }
                self.step();
                self.step();
            } else if self.rest.as_str().starts_with(is_passed_over) {
                self.step();
            } else {
                return Ok((self.solid(start)?, start));
            }
        }
    }

    fn solid(&mut self, start: At) -> Result<Token, (At, &'static str)> {
        let Some(one) = self.step() else { return Ok(Token::End) };
        if one == '"' {
            let mut text = String::new();
            loop {
                match self.step() {
                    Some('"') => return Ok(Token::Text(text)),
                    Some('\\') if self.starts("\"") || self.starts("\\") => {
                        text.extend(self.step())
                    }
                    Some(one) => text.push(one),
                    None => {
                        return Err((start, "the quoted text is not closed; write `\"` after it"));
                    }
                }
            }
        }
        if ends_word(one) {
            return Ok(Token::Mark(one));
        }
        let mut word = String::from(one);
        while let Some(next) = self.rest.clone().next().filter(|&next| !ends_word(next)) {
            word.push(next);
            self.step();
        }
        Ok(Token::Word(word))
    }
}
