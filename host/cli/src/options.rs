//! Options without effect are noted, and lists have each entry once.

use super::{Failure, Topic, note_once};

/// The options that are given, of some.
pub(super) fn named<const N: usize>(options: [(&'static str, bool); N]) -> Vec<&'static str> {
    options.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
}

/// Options that promise something of the result, or say what models see: to go on without them would decide otherwise than
/// was asked.
const PROMISES: [&str; 9] = [
    "--front",
    "--lags",
    "--max-flash",
    "--max-ram",
    "--max-operations",
    "--reject",
    "--model",
    "--kernel-model",
    "--background",
];

/// Notes options that have no effect in this combination.
///
/// # Errors
/// Where one of them promises something of the result.
pub(super) fn note_idle(options: &[&str], why: impl std::fmt::Display) -> Result<(), Failure> {
    if options.iter().any(|option| PROMISES.contains(option)) {
        return refuse_idle(options, why);
    }
    if !options.is_empty() {
        let have = if options.len() == 1 { "has" } else { "have" };
        let options = options.join(", ");
        note_once(Topic::IdleOption, format_args!("{options} {have} no effect: {why}"));
    }
    Ok(())
}

/// Refuses options that have no effect in this combination.
pub(super) fn refuse_idle(options: &[&str], why: impl std::fmt::Display) -> Result<(), Failure> {
    let them = match options {
        [] => return Ok(()),
        [_] => "it",
        _ => "them",
    };
    let options = options.join(", ");
    Err(Failure::input(
        Topic::IdleOption,
        format!("{options} would have no effect: {why}; omit {them}"),
    ))
}

/// Removes repetitions.
pub(super) fn each_once<T: Clone + PartialEq>(named: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for one in named {
        if !once.contains(one) {
            once.push(one.clone());
        }
    }
    once
}
