//! Valid data that may not be intended: series of one sample, labels that differ by case or blanks.

use std::collections::BTreeMap;

use super::dataset::{Dataset, Kind, Series};
use super::samples::RowsView;

/// Numbers that loggers write where nothing was measured.
const SENTINELS: [f64; 9] =
    [-99.0, -999.0, -9999.0, 999.0, 9999.0, 99_999.0, -32_768.0, 32_767.0, 65_535.0];

/// A number that stands for a missing value, most likely.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentinel<'a> {
    /// The channel.
    pub channel: &'a str,
    /// The number.
    pub value: f64,
    /// Samples with it.
    pub count: usize,
}

impl Dataset {
    /// Channels whose least or largest number is one that loggers write for a missing value, comes twice or more, and is
    /// farther from all others than these are from each other.
    pub fn sentinels(&self) -> Vec<Sentinel<'_>> {
        let Kind::Channels(names) = self.kind() else { return Vec::new() };
        let rows = || {
            let rows = self.series().iter().filter_map(|one| one.samples.view().rows());
            rows.flat_map(|rows| RowsView::iter_in_part(&rows)).flatten()
        };
        let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; names.len()];
        for row in rows() {
            for d in 0..ranges.len() {
                ranges[d] = [ranges[d][0].min(row[d]), ranges[d][1].max(row[d])];
            }
        }
        let mut found = Vec::new();
        for (d, ends) in ranges.iter().enumerate() {
            for value in ends.iter().copied().filter(|end| SENTINELS.contains(end)) {
                let all = || rows().map(|row| row[d]).filter(|x| !x.is_nan());
                let count = all().filter(|&x| x == value).count();
                let others = all().filter(|&x| x != value);
                let [least, most] = others
                    .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [x.min(a), x.max(b)]);
                let apart = (least - value).abs().min((most - value).abs());
                if count > 1 && least < most && apart > most - least {
                    found.push(Sentinel { channel: &names[d], value, count });
                }
            }
        }
        found
    }

    /// The series of one sample, in which nothing follows anything.
    pub fn single_samples(&self) -> Vec<&Series> {
        self.series().iter().filter(|one| one.samples.view().len() == 1).collect()
    }

    /// Groups of labels that differ by case or blanks alone, among those of the data and the `known` ones of a model.
    pub fn similar_labels<'a>(&'a self, known: &'a [String]) -> Vec<Vec<&'a str>> {
        let plain = |label: &str| -> String {
            label.chars().filter(|one| !one.is_whitespace()).flat_map(char::to_lowercase).collect()
        };
        let mut labels: Vec<&str> =
            known.iter().chain(self.classes()).map(String::as_str).collect();
        labels.sort_unstable();
        labels.dedup();
        let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for label in labels {
            groups.entry(plain(label)).or_default().push(label);
        }
        groups.into_values().filter(|labels| labels.len() > 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, ReadOptions};

    #[test]
    fn marks_of_missing_values_among_numbers_are_found() {
        let data = |text: &str| {
            Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid")
        };
        let logged = data("t,x,y\n0,1,-999\n1,-999,3\n2,2,4\n3,-999,-999\n4,3,-999\n");
        let found: Vec<_> = logged
            .sentinels()
            .iter()
            .map(|one| (one.channel.to_owned(), one.value, one.count))
            .collect();
        assert_eq!(found, [("x".to_owned(), -999.0, 2), ("y".to_owned(), -999.0, 3)]);
        assert_eq!(data("t,x\n0,-99\n1,-99\n2,-40\n3,60\n").sentinels(), []);
    }

    #[test]
    fn labels_and_lengths_that_may_not_be_meant_are_found() {
        let text = "series,label,x\n0,walk,1\n0,walk,2\n1,Walk,1\n2,run fast,1\n2,run fast,3\n3,runfast,2\n";
        let data = Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid");
        let ids: Vec<&str> = data.single_samples().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["1", "3"]);
        assert_eq!(data.similar_labels(&[]), [["run fast", "runfast"], ["Walk", "walk"]]);
        let known = ["RUN FAST".to_owned()];
        assert_eq!(data.similar_labels(&known)[0], ["RUN FAST", "run fast", "runfast"]);
    }
}
