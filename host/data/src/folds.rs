//! Folds for cross-validation.

use std::cmp::Reverse;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::dataset::Dataset;
use super::error::DataError;
use super::fold_error::FoldError;

/// A partition of items (series) into folds: each item is tested in exactly one fold and trained on
/// in all others.
///
/// Items are series, never windows: windows of one series are alike, and a test window whose
/// neighbour was trained on proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    fold_of: Vec<usize>,
    folds: usize,
}

impl Folds {
    /// Stratified folds: each has, of every class and of all items, its equal share to within one
    /// item.
    ///
    /// Items are dealt class by class, in their order or, with a seed, shuffled within each class.
    /// Equal seeds give equal folds.
    ///
    /// # Errors
    /// [`FoldError`] if there are fewer than two folds, fewer items than folds, or fewer than two
    /// items of a class.
    ///
    /// # Panics
    /// If a label is no index of `classes`.
    pub fn stratified(
        labels: &[usize],
        classes: &[String],
        folds: usize,
        seed: Option<u64>,
    ) -> Result<Self, FoldError> {
        assert!(labels.iter().all(|&label| label < classes.len()), "a label is no class");
        check_folds(folds)?;
        if labels.len() < folds {
            return Err(FoldError::TooFewItems { items: labels.len(), folds });
        }
        let mut rng = seed.map(ChaCha8Rng::seed_from_u64);
        let mut fold_of = vec![0; labels.len()];
        // One deal through all classes: each class starts where the one before ended, so that
        // what is left over does not pile up in the first folds.
        let mut dealt = 0;
        for class in 0..classes.len() {
            let mut items: Vec<usize> =
                (0..labels.len()).filter(|&item| labels[item] == class).collect();
            if let Some(rng) = &mut rng {
                items.shuffle(rng);
            }
            for item in items {
                fold_of[item] = dealt % folds;
                dealt += 1;
            }
        }
        let made = Self { fold_of, folds };
        made.check_training(labels, classes)?;
        Ok(made)
    }

    /// Folds that keep groups whole, balanced in size and as evenly in classes as the groups allow.
    ///
    /// Groups are taken from the largest to the smallest (equal ones in the order of their numbers
    /// or, with a seed, shuffled) and each goes to the fold where its classes are rarest, then to
    /// the one with the fewest items, then to the first. Seven alike groups in five folds so give
    /// 2, 2, 1, 1, 1. `groups[i]` is the group of item i; numbers without an item are allowed.
    ///
    /// # Errors
    /// [`FoldError`] if there are fewer than two folds, fewer groups than folds, or a class would
    /// be missing from some fold's training items.
    ///
    /// # Panics
    /// If `labels` and `groups` differ in length or a label is no index of `classes`.
    pub fn grouped(
        labels: &[usize],
        classes: &[String],
        groups: &[usize],
        folds: usize,
        seed: Option<u64>,
    ) -> Result<Self, FoldError> {
        assert_eq!(labels.len(), groups.len(), "one group per item");
        check_folds(folds)?;
        let classes_of_group = count(labels, classes.len(), groups);
        let size = |group: usize| classes_of_group[group].iter().sum::<usize>();
        let mut order: Vec<usize> =
            (0..classes_of_group.len()).filter(|&group| size(group) > 0).collect();
        if order.len() < folds {
            return Err(FoldError::TooFewGroups { groups: order.len(), folds });
        }
        if let Some(seed) = seed {
            order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        }
        order.sort_by_key(|&group| Reverse(size(group)));

        let total = count(labels, classes.len(), &vec![0; labels.len()]).concat();
        let mut in_fold = vec![vec![0; classes.len()]; folds];
        let mut fold_of_group = vec![0; classes_of_group.len()];
        for group in order {
            let joining = &classes_of_group[group];
            let fold = best_fold(&in_fold, joining, &total);
            fold_of_group[group] = fold;
            in_fold[fold].iter_mut().zip(joining).for_each(|(there, more)| *there += more);
        }
        let fold_of = groups.iter().map(|&group| fold_of_group[group]).collect();
        let made = Self { fold_of, folds };
        made.check_training(labels, classes)?;
        Ok(made)
    }

    /// Every class has an item outside each fold.
    fn check_training(&self, labels: &[usize], classes: &[String]) -> Result<(), FoldError> {
        for (class, name) in classes.iter().enumerate() {
            let mut folds = labels
                .iter()
                .zip(&self.fold_of)
                .filter(|&(&label, _)| label == class)
                .map(|(_, &fold)| fold);
            let Some(fold) = folds.next() else {
                return Err(FoldError::ClassEmpty { class: name.clone() });
            };
            if folds.all(|other| other == fold) {
                let items = labels.iter().filter(|&&label| label == class).count();
                return Err(FoldError::ClassMissing { class: name.clone(), items, fold });
            }
        }
        Ok(())
    }

    /// Number of folds.
    #[expect(clippy::len_without_is_empty, reason = "there are always two folds or more")]
    pub fn len(&self) -> usize {
        self.folds
    }

    /// The fold in which an item is tested.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn fold_of(&self, item: usize) -> usize {
        self.fold_of[item]
    }

    /// The items tested in a fold, in order.
    pub fn test(&self, fold: usize) -> Vec<usize> {
        self.items(|of| of == fold)
    }

    /// The items trained on in a fold, in order.
    pub fn train(&self, fold: usize) -> Vec<usize> {
        self.items(|of| of != fold)
    }

    fn items(&self, choose: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.fold_of.len()).filter(|&item| choose(self.fold_of[item])).collect()
    }
}

fn check_folds(folds: usize) -> Result<(), FoldError> {
    if folds < 2 { Err(FoldError::TooFewFolds { folds }) } else { Ok(()) }
}

/// Items by group and class, `[group][class]`.
fn count(labels: &[usize], classes: usize, groups: &[usize]) -> Vec<Vec<usize>> {
    let number = groups.iter().max().map_or(0, |&last| last + 1);
    let mut counts = vec![vec![0; classes]; number];
    labels.iter().zip(groups).for_each(|(&label, &group)| counts[group][label] += 1);
    counts
}

/// The fold a group should join: where it completes no class (which would then be missing from
/// training), where its classes are rarest, and which is smallest, in this order.
fn best_fold(in_fold: &[Vec<usize>], joining: &[usize], total: &[usize]) -> usize {
    let cost = |there: &[usize]| {
        let classes = || there.iter().zip(joining).zip(total).filter(|((_, more), _)| **more > 0);
        let completed = classes().filter(|((one, more), all)| **one + **more == **all).count();
        // The growth of sum_c (n_fc / n_c)^2 over all folds, up to what every choice shares: the
        // smaller that sum, the more even the classes.
        let crowding: f64 = classes()
            .map(|((&one, &more), &all)| one as f64 * more as f64 / (all as f64 * all as f64))
            .sum();
        (completed, crowding, there.iter().sum::<usize>())
    };
    let by_cost = |a: &(usize, (usize, f64, usize)), b: &(usize, (usize, f64, usize))| {
        let ((_, a), (_, b)) = (a, b);
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    };
    in_fold.iter().map(|there| cost(there)).enumerate().min_by(by_cost).map_or(0, |(fold, _)| fold)
}

impl Dataset {
    /// Folds over the series: stratified, or keeping together what is equal in the column `group`
    /// (see [`Dataset::groups`]).
    ///
    /// # Errors
    /// [`DataError::Unlabelled`], [`DataError::NoColumn`], or [`DataError::Folds`] with the reason.
    pub fn folds(
        &self,
        folds: usize,
        group: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Folds, DataError> {
        self.deal((&self.labels()?, self.classes()), folds, group, seed)
    }

    /// Deals folds by other labels than the data's own.
    pub(super) fn deal(
        &self,
        (labels, classes): (&[usize], &[String]),
        folds: usize,
        group: Option<&str>,
        seed: Option<u64>,
    ) -> Result<Folds, DataError> {
        match group {
            None => Folds::stratified(labels, classes, folds, seed),
            Some(column) => {
                let (groups, _) = self.groups(column)?;
                Folds::grouped(labels, classes, &groups, folds, seed)
            }
        }
        .map_err(|reason| DataError::Folds { file: self.source().to_owned(), reason })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(classes: usize) -> Vec<String> {
        (0..classes).map(|class| format!("class {class}")).collect()
    }

    fn sizes(folds: &Folds) -> Vec<usize> {
        (0..folds.len()).map(|fold| folds.test(fold).len()).collect()
    }

    fn spread(sizes: &[usize]) -> usize {
        sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0)
    }

    /// Seven subjects, each with the same two recordings of each of seven exercises.
    fn seven_subjects() -> (Vec<usize>, Vec<usize>) {
        (0..98).map(|item| (item / 7 % 7, item % 7)).unzip()
    }

    #[test]
    fn seven_subjects_in_five_folds_are_two_two_one_one_one() {
        let (labels, groups) = seven_subjects();
        let folds = Folds::grouped(&labels, &names(7), &groups, 5, None).expect("possible");
        assert_eq!(sizes(&folds), [28, 28, 14, 14, 14]);
        let of_subject: Vec<_> = (0..7).map(|subject| folds.fold_of(subject)).collect();
        assert_eq!(of_subject, [0, 1, 2, 3, 4, 0, 1]);

        let shuffled = |seed| Folds::grouped(&labels, &names(7), &groups, 5, Some(seed));
        assert_eq!(sizes(&shuffled(1).expect("possible")), [28, 28, 14, 14, 14]);
        assert_eq!(shuffled(1), shuffled(1));
        assert!((2..9).any(|seed| shuffled(seed) != shuffled(1)));
    }

    #[test]
    fn groups_of_one_class_each_are_spread_by_class() {
        // Eight groups, alternately of class 0 and 1, in four folds: each gets one of each.
        let labels: Vec<usize> = (0..24).map(|item| item / 3 % 2).collect();
        let groups: Vec<usize> = (0..24).map(|item| item / 3).collect();
        let folds = Folds::grouped(&labels, &names(2), &groups, 4, None).expect("possible");
        for fold in 0..4 {
            let ones = folds.test(fold).iter().filter(|&&item| labels[item] == 1).count();
            assert_eq!((folds.test(fold).len(), ones), (6, 3));
        }
    }

    #[test]
    fn a_rare_class_is_kept_in_training() {
        // Balance alone would put groups 1 and 2 together, against the large group 0; then the
        // fold that tests them would have nothing of class 6 to train on.
        let sizes = [(0, 10), (1, 5), (2, 5)];
        let common = (0..6).flat_map(|class| sizes.map(|(group, size)| vec![(class, group); size]));
        let items = common.flatten().chain([(6, 1), (6, 2)]);
        let (labels, groups): (Vec<_>, Vec<_>) = items.unzip();
        let folds = Folds::grouped(&labels, &names(7), &groups, 2, None).expect("possible");
        assert_ne!(folds.fold_of(120), folds.fold_of(121));
    }

    #[test]
    fn impossible_folds_are_refused() {
        let refused = |result: Result<Folds, FoldError>| result.expect_err("refused").to_string();
        let two = names(2);
        let message = refused(Folds::stratified(&[0, 1], &two, 1, None));
        assert!(message.contains("at least 2"), "{message}");
        let message = refused(Folds::stratified(&[0, 1], &two, 3, None));
        assert_eq!(
            message,
            "there are 2 series, and 3 folds need at least one each; ask for at most 2 folds"
        );
        let message = refused(Folds::stratified(&[0, 0, 1], &two, 2, None));
        assert!(message.contains("class `class 1` has only 1 series"), "{message}");
        assert!(message.contains("has none left to train on"), "{message}");
        let message = refused(Folds::stratified(&[0], &two[..1], 2, None));
        assert!(
            message.starts_with("there is 1 series, and cross-validation needs at least 2 series"),
            "{message}"
        );
        let message = FoldError::TooFewGroups { groups: 0, folds: 2 }.to_string();
        assert!(
            message.starts_with("there are 0 groups, and cross-validation needs at least 2 groups"),
            "{message}"
        );
        let message = refused(Folds::stratified(&[0, 0, 0], &two, 2, None));
        assert!(message.contains("`class 1` has no series"), "{message}");
        let message = refused(Folds::grouped(&[0, 1, 0, 1], &two, &[0, 0, 1, 1], 3, None));
        assert!(message.starts_with("there are 2 groups, and 3 folds need"), "{message}");
        let message = refused(Folds::grouped(&[0, 0, 1, 1], &two, &[0, 1, 2, 2], 2, None));
        assert!(
            message.starts_with("all 2 series with class `class 1` are in one fold")
                && message.contains("to train on: with groups the class must be in at least two"),
            "{message}"
        );
    }

    fn items() -> impl Strategy<Value = (Vec<usize>, Vec<usize>, usize, Option<u64>)> {
        (1..200_usize, 2..8_usize).prop_flat_map(|(number, folds)| {
            (
                prop::collection::vec(0..4_usize, number),
                prop::collection::vec(0..20_usize, number),
                Just(folds),
                any::<Option<u64>>(),
            )
        })
    }

    /// Labels numbered without gaps, so that no class is empty.
    fn dense(labels: &[usize]) -> (Vec<usize>, usize) {
        let mut seen: Vec<usize> = labels.to_vec();
        seen.sort_unstable();
        seen.dedup();
        let number = |label| seen.iter().position(|&one| one == label);
        (labels.iter().filter_map(|&label| number(label)).collect(), seen.len())
    }

    proptest! {
        #[test]
        fn stratified_folds_are_an_even_partition((labels, _, k, seed) in items()) {
            let (labels, classes) = dense(&labels);
            let rare = (0..classes).any(|class| labels.iter().filter(|&&l| l == class).count() < 2);
            match Folds::stratified(&labels, &names(classes), k, seed) {
                Err(_) => prop_assert!(rare || labels.len() < k),
                Ok(folds) => {
                    prop_assert!(!rare);
                    check_partition(&folds, labels.len())?;
                    for class in 0..classes {
                        let shares: Vec<usize> = (0..k)
                            .map(|f| folds.test(f).iter().filter(|&&i| labels[i] == class).count())
                            .collect();
                        prop_assert!(spread(&shares) <= 1);
                    }
                    prop_assert!(spread(&sizes(&folds)) <= 1);
                }
            }
        }

        #[test]
        fn groups_never_straddle((labels, groups, k, seed) in items()) {
            let (labels, classes) = dense(&labels);
            let names = names(classes);
            if let Ok(folds) = Folds::grouped(&labels, &names, &groups, k, seed) {
                check_partition(&folds, labels.len())?;
                for (item, other) in (0..labels.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    let together = folds.fold_of(item) == folds.fold_of(other);
                    prop_assert!(groups[item] != groups[other] || together);
                }
                for fold in 0..k {
                    prop_assert!(!folds.test(fold).is_empty());
                    let train = folds.train(fold);
                    for class in 0..classes {
                        prop_assert!(train.iter().any(|&item| labels[item] == class));
                    }
                }
                prop_assert_eq!(Folds::grouped(&labels, &names, &groups, k, seed), Ok(folds));
            }
        }

        #[test]
        fn equal_groups_are_dealt_evenly(
            more in 0..25_usize,
            k in 2..8_usize,
            seed: Option<u64>,
        ) {
            let number = k + more;
            let (groups, labels): (Vec<_>, Vec<_>) =
                (0..number * 6).map(|item| (item / 6, item % 3)).unzip();
            let folds = Folds::grouped(&labels, &names(3), &groups, k, seed).expect("possible");
            prop_assert!(spread(&sizes(&folds)) <= 6);
        }
    }

    fn check_partition(folds: &Folds, items: usize) -> Result<(), TestCaseError> {
        let mut tested: Vec<usize> = (0..folds.len()).flat_map(|fold| folds.test(fold)).collect();
        tested.sort_unstable();
        prop_assert_eq!(tested, (0..items).collect::<Vec<_>>());
        for fold in 0..folds.len() {
            let (test, train) = (folds.test(fold), folds.train(fold));
            prop_assert_eq!(test.len() + train.len(), items);
            prop_assert!(test.iter().all(|item| !train.contains(item)));
        }
        Ok(())
    }
}
