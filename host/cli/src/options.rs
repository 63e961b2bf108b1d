//! Options that have no effect beside others are refused, and lists have everything once.

use super::{Failure, Topic};

/// The options that are given, of some.
pub(super) fn named<const N: usize>(options: [(&'static str, bool); N]) -> Vec<&'static str> {
    options.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
}

/// Refuses options that can have no effect beside the others: whoever gives one expects another result.
pub(super) fn refuse_idle(options: &[&str], why: impl std::fmt::Display) -> Result<(), Failure> {
    let them = match options {
        [] => return Ok(()),
        [_] => "it",
        _ => "them",
    };
    let options = options.join(", ");
    Err(Failure::input(
        Topic::IdleOption,
        format!("{options} would have no effect: {why}; leave {them} out"),
    ))
}

/// Without those named before.
pub(super) fn each_once<T: Clone + PartialEq>(named: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for one in named {
        if !once.contains(one) {
            once.push(one.clone());
        }
    }
    once
}
