//! Folds of cross-validations, judged by many processes.

use serde::{Deserialize, Serialize};

use super::share::Share;
use crate::classifier::has_a_file;
use crate::evaluate::JudgedFold;
use crate::sums::Digest;

/// Reason why folds are no cross-validation.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum FoldPartError {
    /// Folds of another cross-validation.
    #[error(
        "the folds are from a cross-validation with other data, classifiers or settings ({found}, not {expected}); \
         evaluate them again"
    )]
    #[strum(serialize = "other-folds")]
    Other {
        /// Fingerprint of the part's.
        found: Digest,
        /// Fingerprint of the one wanted.
        expected: Digest,
    },
    /// A fold that is there already.
    #[error("fold {fold} of {method} comes twice; leave one of the two parts out")]
    #[strum(serialize = "repeated-fold")]
    Repeated {
        /// Name of the classifier.
        method: String,
        /// The fold, from 1.
        fold: usize,
    },
    /// A fold that no part has.
    #[error("fold {fold} of {method} is missing; add the part that has it")]
    #[strum(serialize = "missing-fold")]
    Missing {
        /// Name of the classifier.
        method: String,
        /// The fold, from 1.
        fold: usize,
    },
}

crate::kinds!(FoldPartError);

/// Some folds of the cross-validations of some classifiers on the same data.
///
/// Tasks are numbered classifier by classifier, and in each fold by fold; a part has a [`Share`] of them. Its file is JSON with a
/// checksum, and holds decisions and choices, and no sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldPart {
    /// Fingerprint of the data, the folds and the settings.
    of: Digest,
    /// Names of the classifiers.
    methods: Vec<String>,
    /// Number of folds of each.
    folds: usize,
    judged: Vec<OneFold>,
}

/// A fold of a classifier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OneFold {
    /// Number of the task.
    task: usize,
    fold: JudgedFold,
}

has_a_file!(FoldPart);

impl FoldPart {
    /// A part without a fold yet.
    pub fn new(of: Digest, methods: Vec<String>, folds: usize) -> Self {
        Self { of, methods, folds, judged: Vec::new() }
    }

    /// The folds of a classifier, by its index, that are in a share, from 0.
    pub fn share(&self, share: Share, method: usize) -> Vec<usize> {
        let tasks = share.range(self.methods.len() * self.folds);
        (0..self.folds).filter(|fold| tasks.contains(&(method * self.folds + fold))).collect()
    }

    /// Adds a fold, from 0, of a classifier, by its index.
    pub fn add(&mut self, method: usize, fold: usize, judged: JudgedFold) {
        self.judged.push(OneFold { task: method * self.folds + fold, fold: judged });
    }

    /// Number of folds that were judged, of all classifiers together.
    pub fn len(&self) -> usize {
        self.judged.len()
    }

    /// Returns whether no fold was judged.
    pub fn is_empty(&self) -> bool {
        self.judged.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        match self.judged.iter().all(|one| one.task < self.methods.len().saturating_mul(self.folds))
        {
            true => Ok(()),
            false => Err("it has a fold that is not part of its cross-validation".to_owned()),
        }
    }

    /// All folds of each classifier, `[classifier][fold]`, of parts in any order; `self` has the fingerprint, and folds too.
    ///
    /// # Errors
    /// [`FoldPartError`], and the index of the part that it is about: of another cross-validation, repeated folds. That of missing
    /// ones is 0.
    pub fn joined(self, parts: Vec<Self>) -> Result<Vec<Vec<JudgedFold>>, (usize, FoldPartError)> {
        let named = |task: usize| (self.methods[task / self.folds].clone(), task % self.folds + 1);
        let mut all: Vec<Option<JudgedFold>> = vec![None; self.methods.len() * self.folds];
        for (index, part) in parts.into_iter().enumerate() {
            let expected = (self.of, &self.methods, self.folds);
            if (part.of, &part.methods, part.folds) != expected {
                let (found, expected) = (part.of, self.of);
                return Err((index, FoldPartError::Other { found, expected }));
            }
            for OneFold { task, fold } in part.judged {
                if all[task].replace(fold).is_some() {
                    let (method, fold) = named(task);
                    return Err((index, FoldPartError::Repeated { method, fold }));
                }
            }
        }
        if let Some(task) = all.iter().position(Option::is_none) {
            let (method, fold) = named(task);
            return Err((0, FoldPartError::Missing { method, fold }));
        }
        let mut all = all.into_iter().flatten();
        Ok(self.methods.iter().map(|_| all.by_ref().take(self.folds).collect()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(shares: &[Share], of: &[u64]) -> FoldPart {
        let digest = Digest::of_value(&of).expect("a fingerprint");
        let mut part = FoldPart::new(digest, vec!["one".into(), "other".into()], 3);
        for &share in shares {
            for method in 0..2 {
                for fold in part.share(share, method) {
                    part.add(method, fold, JudgedFold::default());
                }
            }
        }
        part
    }

    #[test]
    fn folds_are_each_judged_once() {
        let none = || part(&[], &[1]);
        let shares: Vec<Share> = (1..=4).filter_map(|number| Share::new(number, 4)).collect();
        let parts: Vec<FoldPart> = shares.iter().rev().map(|&share| part(&[share], &[1])).collect();
        assert_eq!(parts.iter().map(FoldPart::len).sum::<usize>(), 6);
        let joined = none().joined(parts.clone()).expect("whole");
        assert_eq!(joined.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        let told = |parts: Vec<FoldPart>| {
            let (index, error) = none().joined(parts).expect_err("refused");
            (index, error.to_string())
        };
        let (index, error) = told(parts[..3].to_vec());
        assert!(index == 0 && error.contains("fold 1 of one is missing"), "{error}");
        let (index, error) = told([&parts[..], &parts[1..2]].concat());
        assert!(index == 4 && error.contains("fold 1 of other comes twice"), "{index} {error}");
        let (index, error) = told(vec![parts[0].clone(), part(&shares[1..2], &[2])]);
        assert!(index == 1 && error.contains("from a cross-validation with other data"), "{error}");
    }
}
