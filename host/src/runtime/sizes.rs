/// The state counts for which recursions are compiled.
pub const STATE_SIZES: [usize; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 32, 64];

/// The size that a model with so many states runs at; `None` for none or more than the largest.
pub fn padded_states(states: usize) -> Option<usize> {
    STATE_SIZES.into_iter().find(|&size| size >= states).filter(|_| states > 0)
}

/// Runs `$body` with `$N` the size that what a state count is padded to is compiled at.
macro_rules! at_sizes {
    ($states:expr, $N:ident => $body:expr; $($padded:pat => $size:literal),+) => {
        match $crate::runtime::padded_states($states) {
            $($padded => {
                const $N: usize = $size;
                $body
            })+
        }
    };
}
pub(crate) use at_sizes;

/// Runs `$body` with `$N` the const state count that a run-time one is padded to.
///
/// The count must be one that [`padded_states`] accepts: models check theirs when they are made.
macro_rules! with_states {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($states, $N => $body;
            Some(1) => 1, Some(2) => 2, Some(3) => 3, Some(4) => 4, Some(6) => 6,
            Some(8) => 8, Some(12) => 12, Some(16) => 16, Some(32) => 32, _ => 64)
    };
}
pub(crate) use with_states;

/// [`with_states`] at fewer sizes: for what is compiled for many numbers, or runs but once, so that
/// building it costs more than padding does.
macro_rules! with_few_states {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($states, $N => $body;
            Some(1 | 2) => 2, Some(3 | 4) => 4, Some(6 | 8) => 8, Some(12 | 16) => 16,
            Some(32) => 32, _ => 64)
    };
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
