//! Lines of a device that watches a stream, compared with the host's.

use std::fmt;

use serde::Serialize;

use super::{counted, grouped};

/// A run on a board at a port, its lines compared with the host's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineComparison {
    /// The model's file.
    pub model: String,
    /// The data's file.
    pub data: String,
    /// The port of the board.
    pub board: String,
    /// Samples or records sent.
    pub samples: usize,
    /// Lines that the host expects.
    pub expected: usize,
    /// Lines that differ, are missing or too many.
    pub differing_answers: usize,
    /// The first of them, the device's and the host's.
    pub first_difference: Option<[String; 2]>,
    /// Samples and lines that the line lost.
    pub lost: usize,
    /// Seconds by the wall clock.
    pub seconds: f64,
}

impl LineComparison {
    /// Compares the lines of a device with the host's. `names` are the files of model and data, and the port.
    #[must_use]
    pub fn new(
        [model, data, board]: [String; 3],
        samples: usize,
        told: &[Option<String>],
        expected: &[String],
        seconds: f64,
    ) -> Self {
        let damaged = told.iter().filter(|line| line.is_none()).count();
        let whole = || told.iter().flatten();
        // Of its counts the last says what the device lost.
        let counts = whole().rev().find_map(|line| line.strip_prefix("counts "));
        let lost = counts.and_then(|line| line.split(' ').nth(4)).and_then(|n| n.parse().ok());
        let answers: Vec<&String> = whole()
            .filter(|line| {
                !["counts ", "done ", "ready "].iter().any(|word| line.starts_with(word))
            })
            .collect();
        let pair = |index: usize| {
            let words = |line: Option<&String>| line.map_or("nothing".to_owned(), String::clone);
            [words(answers.get(index).copied()), words(expected.get(index))]
        };
        let pairs = (0..answers.len().max(expected.len())).map(pair);
        let differing: Vec<[String; 2]> = pairs.filter(|[there, here]| there != here).collect();
        Self {
            model,
            data,
            board,
            samples,
            expected: expected.len(),
            differing_answers: differing.len(),
            first_difference: differing.into_iter().next(),
            lost: damaged + lost.unwrap_or(0),
            seconds,
        }
    }
}

impl fmt::Display for LineComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, data, board, .. } = self;
        writeln!(f, "{model} on {data}, at {board}")?;
        writeln!(
            f,
            "  {} of {} of the host differ, bit for bit, in {}",
            grouped(self.differing_answers),
            counted(self.expected, "line"),
            counted(self.samples, "sample")
        )?;
        if let Some([there, here]) = &self.first_difference {
            writeln!(f, "  the first: `{there}`, where the host says `{here}`")?;
        }
        if self.lost > 0 {
            writeln!(f, "  the line lost {}", counted(self.lost, "sample or answer"))?;
        }
        writeln!(f, "  in {:.1} s", self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(told: &[Option<&str>], expected: &[&str]) -> LineComparison {
        let told: Vec<Option<String>> = told.iter().map(|line| line.map(str::to_owned)).collect();
        let expected: Vec<String> = expected.iter().map(|&line| line.to_owned()).collect();
        let names = ["model", "data", "port"].map(str::to_owned);
        LineComparison::new(names, 9, &told, &expected, 0.0)
    }

    #[test]
    fn lines_differ_that_are_others_missing_or_too_many() {
        let counts = Some("counts 9 0 0 1 0 0 0 0 0");
        let same = compared(&[Some("event 1"), counts], &["event 1"]);
        assert_eq!((same.differing_answers, same.lost), (0, 0));
        let none = compared(&[counts], &["event 1"]);
        let first = none.first_difference.expect("a difference");
        assert_eq!(
            (first.as_slice(), none.differing_answers),
            (&["nothing", "event 1"].map(String::from)[..], 1)
        );
        assert_eq!(compared(&[Some("alarm 2"), counts], &[]).differing_answers, 1);
        let lossy = compared(&[None, Some("counts 9 2 0 1 2 0 1 0 0")], &[]);
        assert_eq!((lossy.differing_answers, lossy.lost), (0, 3));
    }
}
