//! Lists to choose from.

/// The first of several, and the others that differ from it and from each other.
pub(crate) fn all_of<'t, T>(first: &T, others: impl IntoIterator<Item = &'t T>) -> Vec<T>
where
    T: Clone + PartialEq + 't,
{
    let mut all = vec![first.clone()];
    others.into_iter().for_each(|one| {
        if !all.contains(one) {
            all.push(one.clone());
        }
    });
    all
}
