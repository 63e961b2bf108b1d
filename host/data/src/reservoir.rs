//! A random sample of series that come one after another.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::dataset::Series;

/// The seed of all samples.
const SEED: u64 = 1;

/// So many series of those that were offered, each set of them as likely as any other (algorithm R of J. S. Vitter, Random
/// sampling with a reservoir, ACM Transactions on Mathematical Software 11, 1985).
pub(super) struct Reservoir {
    size: usize,
    offered: usize,
    /// Number, label and content of each.
    kept: Vec<(usize, Option<String>, Series)>,
    rng: ChaCha8Rng,
}

impl Reservoir {
    /// Creates a sample that is still empty.
    pub(super) fn new(size: usize) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(SEED);
        Self { size, offered: 0, kept: Vec::new(), rng }
    }

    /// Offers the next series, with the name of its class.
    pub(super) fn offer(&mut self, series: &Series, label: Option<&str>) {
        let place = match self.kept.len() < self.size {
            true => self.kept.len(),
            false => self.rng.random_range(0..=self.offered),
        };
        let one = || (self.offered, label.map(str::to_owned), series.clone());
        match self.kept.get_mut(place) {
            Some(kept) => *kept = one(),
            None if place < self.size => self.kept.push(one()),
            None => {}
        }
        self.offered += 1;
    }

    /// The sample in the order of the offers, labelled by the places of classes.
    pub(super) fn series(mut self, classes: &[String]) -> Vec<Series> {
        self.kept.sort_unstable_by_key(|kept| kept.0);
        let place = |label: Option<String>| {
            label.and_then(|label| classes.iter().position(|class| *class == label))
        };
        let series = self.kept.into_iter();
        series.map(|(_, label, one)| Series { label: place(label), ..one }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Samples;

    #[test]
    fn a_sample_is_in_order_and_even_over_the_whole() {
        let series = |id: usize| Series {
            id: id.to_string(),
            label: None,
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Symbols(vec![Some(0)]),
            line: 0,
        };
        let mut sample = Reservoir::new(200);
        (0..10_000).for_each(|id| sample.offer(&series(id), (id % 2 == 1).then_some("odd")));
        let sample = sample.series(&["even".to_owned(), "odd".to_owned()]);
        let ids: Vec<usize> = sample.iter().filter_map(|one| one.id.parse().ok()).collect();
        assert!(ids.len() == 200 && ids.windows(2).all(|pair| pair[0] < pair[1]));
        // Within five standard deviations of a half.
        let early = ids.iter().filter(|&&id| id < 5_000).count();
        assert!((65..=135).contains(&early), "{early}");
        assert!(sample.iter().zip(&ids).all(|(one, id)| one.label == (id % 2 == 1).then_some(1)));
        let mut few = Reservoir::new(200);
        (0..3).for_each(|id| few.offer(&series(id), None));
        assert_eq!(few.series(&[]).len(), 3);
    }
}
