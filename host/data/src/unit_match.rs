//! Comparison of the units in a header with those of the required channels.

use super::quantity::{Conversion, split_unit};
use crate::words::shorten;

/// A wanted channel and the channel of the data that it was read from, where their names differ.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitMatch {
    /// The wanted name, such as `ax [g]`.
    pub wanted: String,
    /// The name in the data, such as `ax (m/s^2)`; empty where the data name no channels.
    pub found: String,
    /// The conversion of the numbers.
    pub conversion: Conversion,
}

/// Result of comparing two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitComparison {
    /// Equal units in the two names, or no unit in either.
    Same,
    /// The numbers were converted.
    Converted,
    /// Only the wanted name has a unit.
    NotInData,
    /// Only the name in the data has a unit.
    OnlyInData,
}

impl UnitMatch {
    /// Returns the matches of wanted channels with the columns that were found for them, where the names differ.
    pub(super) fn all(
        wanted: &[String],
        columns: &[(usize, Conversion)],
        names: &[(usize, &str)],
    ) -> Vec<Self> {
        let mut all = Vec::new();
        for (wanted, &(column, conversion)) in wanted.iter().zip(columns) {
            let name = names.iter().find(|&&(one, _)| one == column);
            if let Some((_, found)) = name.filter(|(_, found)| found != wanted) {
                all.push(Self { wanted: wanted.clone(), found: (*found).to_owned(), conversion });
            }
        }
        all
    }

    /// Returns the matches of wanted channels with data that name no channels: one for each that has a unit.
    pub(super) fn unnamed(wanted: &[String]) -> Vec<Self> {
        let units = wanted.iter().filter(|name| !split_unit(name).1.is_empty());
        let of = |name: &String| Self {
            wanted: name.clone(),
            found: String::new(),
            conversion: Conversion::NONE,
        };
        units.map(of).collect()
    }

    /// Compares the two units.
    #[must_use]
    pub fn comparison(&self) -> UnitComparison {
        let [wanted, found] = [&self.wanted, &self.found].map(|name| split_unit(name).1);
        match (wanted.is_empty(), found.is_empty()) {
            (false, true) => UnitComparison::NotInData,
            (true, false) => UnitComparison::OnlyInData,
            _ if self.conversion == Conversion::NONE => UnitComparison::Same,
            _ => UnitComparison::Converted,
        }
    }
}

/// The conversions among some matches, in words: channels that are converted alike are named together.
///
/// ```text
/// `ax`, `ay` from m/s^2 to g (times 0.101972); `gx` from deg/s to rad/s (times 0.0174533)
/// ```
#[must_use]
pub fn conversions_in_words(matches: &[UnitMatch]) -> Option<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for one in matches.iter().filter(|one| one.comparison() == UnitComparison::Converted) {
        let (name, wanted) = split_unit(&one.wanted);
        let found = split_unit(&one.found).1;
        let how = format!("from {found} to {wanted} ({})", one.conversion);
        let name = format!("`{}`", shorten(name));
        match groups.iter_mut().find(|(known, _)| *known == how) {
            Some((_, names)) => names.push(name),
            None => groups.push((how, vec![name])),
        }
    }
    let words = groups.iter().map(|(how, names)| format!("{} {how}", names.join(", ")));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Describes the units among some matches that were not compared, and how to write them.
#[must_use]
pub fn uncompared_in_words(matches: &[UnitMatch]) -> Option<String> {
    let names = |unnamed: bool, comparison: UnitComparison| -> Vec<(String, String)> {
        let fits =
            |one: &&UnitMatch| one.found.is_empty() == unnamed && one.comparison() == comparison;
        let quoted = |name: &str| format!("`{}`", shorten(name));
        let both = |one: &UnitMatch| (quoted(&one.found), quoted(&one.wanted));
        matches.iter().filter(fits).map(both).collect()
    };
    let list = |names: &[(String, String)], found: bool| -> String {
        let one = |(of_data, wanted): &(String, String)| {
            if found { of_data.clone() } else { wanted.clone() }
        };
        names.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut clauses = Vec::new();
    let missing = names(false, UnitComparison::NotInData);
    if !missing.is_empty() {
        clauses.push(format!(
            "the units of {} were not compared, because the header names none; write {} there, as in the training \
             data",
            list(&missing, true),
            list(&missing, false)
        ));
    }
    let only = names(false, UnitComparison::OnlyInData);
    if !only.is_empty() {
        clauses.push(format!(
            "the units of {} were not compared, because the training data name none; write them there too, and fit \
             again",
            list(&only, true)
        ));
    }
    let unnamed = names(true, UnitComparison::NotInData);
    if !unnamed.is_empty() {
        clauses.push(format!(
            "units were not compared, because the data do not name their channels; write a header with those of the \
             training, {}",
            list(&unnamed, false)
        ));
    }
    (!clauses.is_empty()).then(|| clauses.join("; and "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, Kind, LiveReader, ReadOptions, Resample};

    fn of(wanted: &[&str]) -> Kind {
        Kind::Channels(wanted.iter().map(|&name| name.to_owned()).collect())
    }

    /// The matches of a table, which a stream of the same text has too.
    fn matches(wanted: &[&str], header: &str) -> Vec<UnitMatch> {
        let width = header.split(',').count();
        let row = |t: usize| {
            let fields = (1..width).map(|column| (t * column).to_string());
            [format!("0.{t}")].into_iter().chain(fields).collect::<Vec<_>>().join(",") + "\n"
        };
        let text = format!("{header}\n") + &(0..4).map(row).collect::<String>();
        let options = ReadOptions { kind: Some(of(wanted)), ..ReadOptions::default() };
        let data = Dataset::parse("data", text.as_bytes(), &options).expect("valid");
        let mut live = LiveReader::new(text.as_bytes(), "live", of(wanted));
        assert!(live.advance().expect("valid"));
        assert_eq!(live.unit_matches(), data.unit_matches());
        let slow = data.resampled(Resample::To(5.0)).expect("resampled");
        assert_eq!(slow.unit_matches(), data.unit_matches());
        data.unit_matches().to_vec()
    }

    #[test]
    fn conversions_are_named_with_their_factors() {
        let wanted = ["ax [g]", "ay [g]", "gx [rad/s]", "w [C]", "v [V]"];
        let found = matches(&wanted, "t,v [V],ax (m/s^2),ay [m/s2],gx [deg/s],w [F]");
        let words = conversions_in_words(&found).expect("converted");
        for part in [
            "`ax` from m/s^2 to g (times 0.101972)",
            "`gx` from deg/s to rad/s (times 0.0174533)",
            "`w` from F to C (times 0.555556, minus 17.7778)",
        ] {
            assert!(words.contains(part), "{words}");
        }
        assert!(!words.contains("`v`"), "{words}");
        assert_eq!(uncompared_in_words(&found), None);
        let alike = matches(&["ax [g]", "ay [g]"], "t,ax [mg],ay [mg]");
        let words = conversions_in_words(&alike).expect("converted");
        assert_eq!(words, "`ax`, `ay` from mg to g (times 0.001)");
    }

    #[test]
    fn units_of_one_side_are_named_once() {
        let found = matches(&["ax [g]", "ay [g]", "gx", "gy"], "t,ax,ay,gx [dps],gy");
        let words = uncompared_in_words(&found).expect("not compared");
        for part in ["of `ax`, `ay` were", "write `ax [g]`, `ay [g]`", "of `gx [dps]` were"] {
            assert!(words.contains(part), "{words}");
        }
        assert!(!words.contains("gy"), "{words}");
        assert_eq!(conversions_in_words(&found), None);
        for (wanted, header) in [
            (["x"], "t,x"),
            (["x [g]"], "t,x [g]"),
            (["x [g]"], "t,x (g)"),
            (["x [°/s]"], "t,x [dps]"),
        ] {
            let found = matches(&wanted, header);
            assert_eq!(uncompared_in_words(&found), None, "{header}");
            assert_eq!(conversions_in_words(&found), None, "{header}");
        }
    }

    #[test]
    fn data_that_name_no_channels_name_no_units() {
        let read = |wanted: &[&str], text: &str| {
            let options = ReadOptions { kind: Some(of(wanted)), ..ReadOptions::default() };
            Dataset::parse("data", text.as_bytes(), &options).expect("valid")
        };
        let wide = "label,0,1,2,3\na,1,2,3,4\nb,4,3,2,1\n";
        let words = uncompared_in_words(read(&["x [g]"], wide).unit_matches());
        assert!(words.is_some_and(|words| words.contains("`x [g]`")));
        assert!(read(&["x"], wide).unit_matches().is_empty());
        let rows = "1,2\n3,4\n";
        let mut live = LiveReader::new(rows.as_bytes(), "live", of(&["x [g]", "y"]));
        assert!(live.advance().expect("a row"));
        let words = uncompared_in_words(live.unit_matches()).expect("not compared");
        assert!(words.contains("`x [g]`") && !words.contains("`y`"), "{words}");
    }
}
