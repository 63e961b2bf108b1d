//! Valid data that may not be intended: series of one sample, labels that differ by case or blanks.

use super::dataset::{Dataset, Series};

impl Dataset {
    /// The series of one sample, in which nothing follows anything.
    pub fn single_samples(&self) -> Vec<&Series> {
        self.series().iter().filter(|one| one.samples.view().len() == 1).collect()
    }

    /// Pairs of labels that differ by case or blanks alone, among those of the data and the `known` ones of a model.
    pub fn similar_labels<'a>(&'a self, known: &'a [String]) -> Vec<[&'a str; 2]> {
        let plain = |label: &str| -> String {
            label.chars().filter(|one| !one.is_whitespace()).flat_map(char::to_lowercase).collect()
        };
        let mut labels: Vec<&str> =
            known.iter().chain(self.classes()).map(String::as_str).collect();
        labels.sort_unstable();
        labels.dedup();
        let plain: Vec<String> = labels.iter().map(|label| plain(label)).collect();
        let mut similar = Vec::new();
        for second in 1..labels.len() {
            let first = plain[..second].iter().position(|one| *one == plain[second]);
            similar.extend(first.map(|first| [labels[first], labels[second]]));
        }
        similar
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Dataset, ReadOptions};

    #[test]
    fn labels_and_lengths_that_may_not_be_meant_are_found() {
        let text = "series,label,x\n0,walk,1\n0,walk,2\n1,Walk,1\n2,run fast,1\n2,run fast,3\n3,runfast,2\n";
        let data = Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid");
        let ids: Vec<&str> = data.single_samples().iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["1", "3"]);
        assert_eq!(data.similar_labels(&[]), [["run fast", "runfast"], ["Walk", "walk"]]);
        let known = ["RUN FAST".to_owned()];
        assert_eq!(data.similar_labels(&known).len(), 3);
    }
}
