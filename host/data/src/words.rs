//! Numbers, counts and names as people read them.

use std::borrow::Cow;

/// Text for a terminal: with control characters escaped, but for line feeds and tabs. Names of files have
/// whatever somebody put there.
pub fn printable(text: &str) -> Cow<'_, str> {
    let harmful = |one: char| one.is_control() && !matches!(one, '\n' | '\t');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        if harmful(one) { shown.extend(one.escape_default()) } else { shown.push(one) }
    }
    Cow::Owned(shown)
}

/// A number with its digits in groups of three: `25 194`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number, in powers of ten where it would be a row of zeros.
pub fn short(number: f64) -> String {
    match number.abs() {
        0.0 | 1e-6..1e15 => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// A number to three digits.
pub fn to_three_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let digits = (2.0 - number.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{number:.digits$}")
}

/// Formats a number to three digits with its digits grouped: for people alone.
///
/// The result of [`to_three_digits`] can be typed in again.
pub fn grouped_to_three_digits(number: f64) -> String {
    match number.round() {
        // Beyond what an integer holds there is nothing that is counted.
        rounded @ 1e3..1e15 => grouped(rounded as usize),
        _ => to_three_digits(number),
    }
}

/// A count and its noun, in the plural where it is not one.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = match noun {
        "series" => "",
        _ if number == 1 => "",
        _ if noun.ends_with("ss") => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", grouped(number))
}

/// Returns whether a character is invisible or changes the layout.
///
/// Such are control characters, those that break a line or turn the direction of text, and those without width (Unicode's
/// property `Default_Ignorable_Code_Point`: joiners, soft hyphens, fillers, selectors of variants, tags). A name with one does
/// not read as it looks, in a report or in an exported source.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
                | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// A field short and printable enough for a message.
pub fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A rate for people: `50 Hz`, `1 sample per 60 s`.
#[must_use]
pub fn rate_words(seconds: f64) -> String {
    let (number, [before, after]) = match seconds > 1.0 {
        true => (seconds, ["1 sample per ", " s"]),
        false => (1.0 / seconds, ["", " Hz"]),
    };
    let number = if number < 1e12 { trimmed(number) } else { format!("{number:.2e}") };
    format!("{before}{number}{after}")
}

fn trimmed(number: f64) -> String {
    let text = if number >= 100.0 { format!("{number:.1}") } else { to_three_digits(number) };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        let all = [0, 7, 999, 1000, 25_194, 166_825, 1_000_000].map(grouped);
        assert_eq!(all, ["0", "7", "999", "1 000", "25 194", "166 825", "1 000 000"]);
    }

    #[test]
    fn three_digits_are_grouped_for_people() {
        let all = [0.123_4, 12.34, 999.4, 999.7, 39_000.4, 1e5, -1234.0];
        let all = all.map(grouped_to_three_digits);
        assert_eq!(all, ["0.123", "12.3", "999", "1 000", "39 000", "100 000", "-1234"]);
    }

    #[test]
    fn no_number_is_a_row_of_zeros() {
        let all = [0.0, 0.3, 1e-6, -25.0, 1e-300, -2.5e20].map(short);
        assert_eq!(all, ["0", "0.3", "0.000001", "-25", "1e-300", "-2.5e20"]);
    }

    #[test]
    fn nouns_agree_with_their_numbers() {
        assert_eq!(counted(1, "window"), "1 window");
        assert_eq!(counted(2, "class"), "2 classes");
        assert_eq!(counted(98, "series"), "98 series");
    }

    #[test]
    fn nothing_in_a_name_moves_the_cursor() {
        assert_eq!(
            printable("a\x1B[31m\u{9B}b\r.csv:\n\tok"),
            "a\\u{1b}[31m\\u{9b}b\\r.csv:\n\tok"
        );
        assert!(matches!(printable("Größe.csv\n"), Cow::Borrowed(_)));
    }
}
