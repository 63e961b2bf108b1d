/// The state counts for which recursions are compiled.
pub const STATE_SIZES: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64];

/// The size that a model with so many states runs at; `None` for none or more than the largest.
#[must_use]
pub fn padded_states(states: usize) -> Option<usize> {
    STATE_SIZES.into_iter().find(|&size| size >= states).filter(|_| states > 0)
}

/// Runs `$body` with `$N` the const state count that a run-time one is padded to.
///
/// The count must be one that [`padded_states`] accepts: models check theirs when they are made.
macro_rules! with_states {
    ($states:expr, $N:ident => $body:expr) => {{
        macro_rules! at {
            ($size:literal) => {{
                const $N: usize = $size;
                $body
            }};
        }
        match $crate::runtime::padded_states($states) {
            Some(1) => at!(1),
            Some(2) => at!(2),
            Some(3) => at!(3),
            Some(4) => at!(4),
            Some(6) => at!(6),
            Some(8) => at!(8),
            Some(12) => at!(12),
            Some(16) => at!(16),
            Some(32) => at!(32),
            _ => at!(64),
        }
    }};
}
pub(crate) use with_states;

/// [`with_states`] at fewer sizes: for what is compiled for many numbers, or runs but once, so that
/// building it costs more than padding does.
macro_rules! with_few_states {
    ($states:expr, $N:ident => $body:expr) => {{
        macro_rules! at {
            ($size:literal) => {{
                const $N: usize = $size;
                $body
            }};
        }
        match $crate::runtime::padded_states($states) {
            Some(1 | 2) => at!(2),
            Some(3 | 4) => at!(4),
            Some(6 | 8) => at!(8),
            Some(12 | 16) => at!(16),
            Some(32) => at!(32),
            _ => at!(64),
        }
    }};
}
pub(crate) use with_few_states;

/// The alphabet size that recursions over symbols are compiled for: a padded symbol costs room, and no
/// work.
pub const LARGEST_ALPHABET: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_compiled() {
        for states in 1..=64 {
            let size = with_states!(states, N => N);
            assert_eq!(Some(size), padded_states(states));
            let few = with_few_states!(states, N => N);
            assert!(few >= size && STATE_SIZES.contains(&few), "{states} states at {few}");
        }
        assert_eq!(padded_states(0), None);
        assert_eq!(padded_states(65), None);
    }
}
