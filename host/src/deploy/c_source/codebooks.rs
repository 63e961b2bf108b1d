//! The tables of codebooks, in floats or in integers.

use std::fmt::Write as _;

use fishweir_core::classify::{CODEWORDS, Coding, TAPS};

use super::literals::table;
use crate::classifier::BookIn;
use crate::deploy::codebooks::Weighed;

/// How a type of numbers is written: its name in C, and a literal.
pub(super) type Written<T> = (&'static str, fn(&T) -> String);

/// Adds the tables of codebooks: scales and weights are `numbers`, levels are `wide`.
pub(super) fn code_tables<T: Coding>(
    text: &mut String,
    books: &[BookIn<T>],
    weighed: &Weighed<T>,
    numbers: Written<T>,
    wide: Written<T::Wide>,
) {
    let (count, first) = (books.len(), books.first());
    let channels = first.map_or(0, |book| book.scale.len());
    let levels = first.map_or(0, |book| book.levels.len() / CODEWORDS);
    let outputs = weighed.words.first().map_or(0, Vec::len);
    // Writing to a string does not fail.
    let _ = writeln!(text, "/* Levels of each code vector. */\n#define LEVELS {levels}");
    let mut numbers_of = |name: &str, sizes: &[usize], numbers_in: &mut dyn Iterator<Item = &T>| {
        let entries: Vec<String> = numbers_in.map(numbers.1).collect();
        *text += &table(numbers.0, name, sizes, &entries);
    };
    numbers_of("CODE_SCALE", &[count, channels], &mut books.iter().flat_map(|book| &book.scale));
    numbers_of("CODE_WEIGHT", &[count, CODEWORDS, outputs], &mut weighed.words.iter().flatten());
    if levels > 0 {
        let sizes = [count, CODEWORDS, levels, outputs];
        numbers_of("LEVEL_WEIGHT", &sizes, &mut weighed.above.iter().flatten());
        let level = books.iter().flat_map(|book| &book.levels);
        let level: Vec<String> = level.map(wide.1).collect();
        *text += &table(wide.0, "CODE_LEVEL", &[count, CODEWORDS, levels], &level);
    }
    let dilation: Vec<String> = books.iter().map(|book| book.dilation.to_string()).collect();
    *text += &table("uint32_t", "DILATION", &[count], &dilation);
    let vectors = books.iter().flat_map(|book| book.vectors.as_flattened());
    let vectors: Vec<String> = vectors.map(i8::to_string).collect();
    *text += &table("int8_t", "CODE_VECTOR", &[count, TAPS, CODEWORDS], &vectors);
}
