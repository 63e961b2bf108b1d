use std::collections::BTreeMap;
use std::ops::Range;

use crate::parallel::try_each;

/// Sequences of a leaf: four groups of lanes.
pub const LEAF: usize = 64;

/// Leaves summed at a time; the results of these alone are in memory beside the tree.
const AT_ONCE: usize = 64;

/// A term of a sum.
pub trait Summand {
    /// Adds another term, which comes after it in the order of the data.
    fn add(&mut self, other: &Self);
}

/// Reason why sums do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum SumsError {
    /// Leaves that are summed already.
    #[error("the sums of leaves {} occur twice; leave one of the parts out", words(.0))]
    #[strum(serialize = "repeated-leaves")]
    Overlap(Range<usize>),
    /// Leaves that no part has.
    #[error("leaves {} are missing; add the parts that have them", words(.0))]
    #[strum(serialize = "missing-leaves")]
    Missing(Range<usize>),
    /// A node that the tree does not have.
    #[error("{count} leaves from leaf {first} on are not a node of the tree of {leaves} leaves")]
    #[strum(serialize = "no-such-leaves")]
    Node {
        /// The first leaf.
        first: usize,
        /// The number of leaves.
        count: usize,
        /// Leaves of the tree.
        leaves: usize,
    },
}

crate::kinds!(SumsError);

/// A range in words, its last leaf included.
fn words(leaves: &Range<usize>) -> String {
    match leaves.len() {
        1 => leaves.start.to_string(),
        _ => format!("{} to {}", leaves.start, leaves.end.saturating_sub(1)),
    }
}

/// Sums over some of the leaves of a data set, along a binary tree over their indices.
///
/// Node `i` of level `k` is of the leaves `i 2^k .. (i + 1) 2^k`, and its sum is
///
/// ```text
/// S(k, i) = S(k-1, 2i) + S(k-1, 2i+1),      total of n leaves = S(first node) + ( S(second) + ( ... ) )
/// ```
///
/// where the nodes are those of the binary digits of `n`, largest first. So the total's bits are those of the leaves, in
/// whatever order, by whomever and in whatever parts they are added. Complete nodes alone are kept: of adjacent leaves
/// some `2 log2 n` of them.
///
/// ```
/// use fishweir::sums::{Summand, Sums};
///
/// #[derive(Clone, PartialEq, Debug)]
/// struct Real(f64);
/// impl Summand for Real {
///     fn add(&mut self, other: &Self) {
///         self.0 += other.0;
///     }
/// }
/// let terms = [1e16, 1.0, -1e16, 1.0, 1.0];
/// let add = |order: &[usize]| {
///     let mut sums = Sums::new();
///     order.iter().try_for_each(|&leaf| sums.insert(leaf, 0, Real(terms[leaf])))?;
///     sums.total(terms.len())
/// };
/// assert_eq!(add(&[0, 1, 2, 3, 4])?, add(&[4, 2, 0, 3, 1])?);
/// # Ok::<(), fishweir::sums::SumsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sums<S> {
    /// Level and sum of each node, by its first leaf.
    nodes: BTreeMap<usize, (u32, S)>,
}

impl<S> Default for Sums<S> {
    fn default() -> Self {
        Self { nodes: BTreeMap::new() }
    }
}

impl<S: Summand> Sums<S> {
    /// Creates sums over no leaf.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the sum of the `2^level` leaves from `first` on.
    ///
    /// # Errors
    /// [`SumsError`]: some of them are summed already, or are no node. Nothing is added then.
    pub fn insert(&mut self, first: usize, level: u32, sum: S) -> Result<(), SumsError> {
        self.check(first, level)?;
        self.join(first, level, sum);
        Ok(())
    }

    /// Adds the sums over other leaves.
    ///
    /// # Errors
    /// [`SumsError::Overlap`] with the first leaves that both have. Nothing is added then.
    pub fn merge(&mut self, other: Self) -> Result<(), SumsError> {
        self.check_apart(&other)?;
        for (first, (level, sum)) in other.nodes {
            self.join(first, level, sum);
        }
        Ok(())
    }

    /// Checks that other sums are over other leaves.
    ///
    /// # Errors
    /// [`SumsError::Overlap`] with leaves that both have.
    pub fn check_apart(&self, other: &Self) -> Result<(), SumsError> {
        other.nodes.iter().try_for_each(|(&first, (level, _))| self.check(first, *level))
    }

    fn check(&self, first: usize, level: u32) -> Result<(), SumsError> {
        let count = 1_usize.checked_shl(level).unwrap_or(0);
        let end = first.checked_add(count).filter(|_| count > 0 && first.is_multiple_of(count));
        let end = end.ok_or(SumsError::Node { first, count, leaves: usize::MAX })?;
        // Nodes are disjoint: only the last that begins before the end can reach into it.
        let before = self.nodes.range(..end).next_back();
        match before.map(|(&from, &(level, _))| from..from + (1 << level)) {
            Some(found) if found.end > first => {
                Err(SumsError::Overlap(found.start.max(first)..found.end.min(end)))
            }
            _ => Ok(()),
        }
    }

    /// Keeps a node, and adds it to its sibling for as long as there is one.
    fn join(&mut self, mut first: usize, mut level: u32, mut sum: S) {
        loop {
            let sibling = first ^ (1 << level);
            if self.nodes.get(&sibling).is_none_or(|(other, _)| *other != level) {
                break;
            }
            let Some((_, mut other)) = self.nodes.remove(&sibling) else { break };
            if sibling < first {
                std::mem::swap(&mut sum, &mut other);
            }
            sum.add(&other);
            (first, level) = (first.min(sibling), level + 1);
        }
        self.nodes.insert(first, (level, sum));
    }

    /// The sum over all leaves of a data set that has `leaves`; `None` without a leaf.
    ///
    /// # Errors
    /// [`SumsError::Missing`] with the first leaves that are not summed; [`SumsError::Node`] of leaves past the last.
    pub fn total(self, leaves: usize) -> Result<Option<S>, SumsError> {
        self.check_whole(leaves)?;
        let mut nodes = self.nodes.into_values().rev();
        let last = nodes.next().map(|(_, sum)| sum);
        Ok(last.map(|last| {
            nodes.fold(last, |right, (_, mut left)| {
                left.add(&right);
                left
            })
        }))
    }

    /// Checks that each of `leaves` leaves is summed, and no other.
    ///
    /// # Errors
    /// As [`total`](Self::total).
    pub fn check_whole(&self, leaves: usize) -> Result<(), SumsError> {
        let mut next = 0;
        for (first, level, _) in self.nodes() {
            if first > next {
                return Err(SumsError::Missing(next..first.min(leaves)));
            }
            next = first + (1 << level);
            if next > leaves {
                return Err(SumsError::Node { first, count: 1 << level, leaves });
            }
        }
        if next < leaves { Err(SumsError::Missing(next..leaves)) } else { Ok(()) }
    }

    /// The nodes: first leaf, level, and sum over its `2^level` leaves, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = (usize, u32, &S)> {
        self.nodes.iter().map(|(&first, (level, sum))| (first, *level, sum))
    }

    /// The nodes in order, and their sums.
    pub(crate) fn into_nodes(self) -> impl Iterator<Item = (usize, u32, S)> {
        self.nodes.into_iter().map(|(first, (level, sum))| (first, level, sum))
    }

    /// Number of leaves summed.
    pub fn leaves(&self) -> usize {
        self.nodes.values().map(|(level, _)| 1_usize << level).sum()
    }
}

/// Sums over a range of leaves, over threads, some leaves at a time: memory does not grow with their number.
///
/// # Errors
/// That of the first leaf that fails.
pub(crate) fn sum_leaves<S: Summand + Send, E: Send>(
    leaves: Range<usize>,
    of_leaf: &(dyn Fn(usize) -> Result<S, E> + Sync),
) -> Result<Sums<S>, E> {
    let mut sums = Sums::new();
    for from in leaves.clone().step_by(AT_ONCE) {
        let count = AT_ONCE.min(leaves.end - from);
        for (leaf, sum) in (from..).zip(try_each(count, &|index| of_leaf(from + index))?) {
            // Each leaf of a range comes once.
            sums.join(leaf, 0, sum);
        }
    }
    Ok(sums)
}

/// The sum over some items, leaf by leaf over threads; `None` without an item.
///
/// # Errors
/// That of the first leaf that fails.
pub(crate) fn sum_items<S: Summand + Send, E: Send>(
    items: usize,
    of_items: &(dyn Fn(Range<usize>) -> Result<S, E> + Sync),
) -> Result<Option<S>, E> {
    let leaves = items.div_ceil(LEAF);
    let of_leaf = |leaf: usize| of_items(leaf * LEAF..items.min((leaf + 1) * LEAF));
    // None is missing.
    Ok(sum_leaves(0..leaves, &of_leaf)?.total(leaves).ok().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum, and how it was bracketed.
    #[derive(Clone, Debug, PartialEq)]
    struct Term(String);

    impl Summand for Term {
        fn add(&mut self, other: &Self) {
            self.0 = format!("({}+{})", self.0, other.0);
        }
    }

    fn leaf(index: usize) -> Term {
        Term(index.to_string())
    }

    #[test]
    fn every_order_and_every_division_adds_alike() {
        for count in 1..20 {
            let whole = sum_leaves(0..count, &|index| Ok::<_, ()>(leaf(index))).expect("leaves");
            let whole = whole.total(count).expect("whole");
            let mut by_sevens = Sums::new();
            for k in (0..19).map(|k| k * 7 % 19).filter(|&k| k < count) {
                by_sevens.insert(k, 0, leaf(k)).expect("apart");
            }
            assert_eq!(by_sevens.total(count).expect("whole"), whole);
            for first in 0..count {
                for second in first..count {
                    let mut sums = Sums::new();
                    for range in [second..count, 0..first, first..second] {
                        let part = sum_leaves(range, &|index| Ok::<_, ()>(leaf(index)));
                        sums.merge(part.expect("leaves")).expect("apart");
                    }
                    assert_eq!(sums.total(count).expect("whole"), whole);
                }
            }
        }
        let seven = sum_leaves(0..7, &|index| Ok::<_, ()>(leaf(index))).expect("leaves");
        let total = seven.total(7).expect("whole").expect("some");
        assert_eq!(total.0, "(((0+1)+(2+3))+((4+5)+6))");
    }

    #[test]
    fn what_is_there_already_is_missing_or_is_no_node_is_named() {
        let mut sums = sum_leaves(4..10, &|index| Ok::<_, ()>(leaf(index))).expect("leaves");
        let before = sums.clone();
        assert_eq!(sums.insert(5, 0, leaf(5)), Err(SumsError::Overlap(5..6)));
        assert_eq!(sums.insert(0, 3, leaf(0)), Err(SumsError::Overlap(4..8)));
        assert_eq!(sums.insert(8, 3, leaf(8)), Err(SumsError::Overlap(8..10)));
        for (first, level) in [(1, 1), (6, 2), (0, 64), (usize::MAX, 0)] {
            let refused = sums.insert(first, level, leaf(0));
            assert!(matches!(refused, Err(SumsError::Node { .. })), "{first} {level}");
        }
        let others = sum_leaves(9..12, &|index| Ok::<_, ()>(leaf(index))).expect("leaves");
        assert_eq!(sums.merge(others), Err(SumsError::Overlap(9..10)));
        assert_eq!(sums, before);
        assert_eq!((sums.leaves(), sums.nodes().len()), (6, 2));
        assert_eq!(sums.clone().total(10), Err(SumsError::Missing(0..4)));
        sums.merge(sum_leaves(0..4, &|index| Ok::<_, ()>(leaf(index))).expect("leaves"))
            .expect("apart");
        assert_eq!(sums.clone().total(12), Err(SumsError::Missing(10..12)));
        assert!(matches!(sums.clone().total(9), Err(SumsError::Node { leaves: 9, .. })));
        assert!(sums.total(10).is_ok());
        assert_eq!(Sums::<Term>::new().total(0), Ok(None));
        assert!(SumsError::Missing(3..4).to_string().starts_with("leaves 3 are"));
        assert!(SumsError::Missing(3..7).to_string().starts_with("leaves 3 to 6 are"));
    }
}
