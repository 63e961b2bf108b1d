/// The state counts for which recursions are compiled. A padded state is out of reach and changes no bit.
#[cfg(not(test))]
pub const STATE_SIZES: [usize; 6] = SIZES;
/// Sizes in a release.
pub(crate) const SIZES: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// Unit tests have half of them: the others would be half of their build.
#[cfg(test)]
pub const STATE_SIZES: [usize; 3] = [4, 8, 64];

/// Size at which a model with `states` states runs; `None` for zero or more than the largest.
pub fn padded_states(states: usize) -> Option<usize> {
    padded_to(&STATE_SIZES, states)
}

/// Smallest of some sizes that holds `states` states.
pub(crate) fn padded_to(sizes: &[usize], states: usize) -> Option<usize> {
    sizes.iter().copied().find(|&size| size >= states).filter(|_| states > 0)
}

/// A row at a compiled size, with zeros past its end.
pub(crate) fn padded<T: Copy + Default, const N: usize>(row: &[T]) -> [T; N] {
    let mut all = [T::default(); N];
    let known = row.len().min(N);
    all[..known].copy_from_slice(&row[..known]);
    all
}

/// A matrix at a compiled size, with zeros around it.
pub(crate) fn padded_rows<T: Copy + Default, const N: usize, const K: usize>(
    rows: &[Vec<T>],
) -> [[T; K]; N] {
    let mut all = [[T::default(); K]; N];
    for i in 0..N.min(rows.len()) {
        all[i] = padded(&rows[i]);
    }
    all
}

/// Runs `$body` with `$N` the size that a padded state count is compiled at.
macro_rules! at_sizes {
    ($of:expr, $N:ident => $body:expr; $($padded:pat => $size:literal),+) => {
        match $of {
            $($padded => {
                const $N: usize = $size;
                $body
            })+
        }
    };
}
pub(crate) use at_sizes;

/// [`with_states`] of a release.
macro_rules! with_all_sizes {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($crate::runtime::padded_to(&$crate::runtime::SIZES, $states), $N => $body;
            Some(2) => 2, Some(4) => 4, Some(8) => 8, Some(16) => 16, Some(32) => 32, _ => 64)
    };
}
pub(crate) use with_all_sizes;

/// Runs `$body` with `$N` the const state count that a run-time one is padded to.
///
/// The count must be one that [`padded_states`] accepts: models check theirs when they are made.
#[cfg(not(test))]
macro_rules! with_states {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::with_all_sizes!($states, $N => $body)
    };
}
#[cfg(test)]
macro_rules! with_states {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($crate::runtime::padded_states($states), $N => $body;
            Some(4) => 4, Some(8) => 8, _ => 64)
    };
}
pub(crate) use with_states;

/// [`with_states`] at two sizes: for what runs once a command, so that building it costs more than padding does.
macro_rules! with_two_sizes {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($crate::runtime::padded_states($states), $N => $body;
            Some(2 | 4 | 8) => 8, _ => 64)
    };
}
pub(crate) use with_two_sizes;

/// [`with_states`] at three sizes: for matrices whose recursions are many and rarely over many states.
macro_rules! with_three_sizes {
    ($states:expr, $N:ident => $body:expr) => {
        $crate::runtime::at_sizes!($crate::runtime::padded_states($states), $N => $body;
            Some(2 | 4) => 4, Some(8 | 16) => 16, _ => 64)
    };
}
pub(crate) use with_three_sizes;

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
            let released = crate::runtime::with_all_sizes!(states, N => N);
            assert_eq!(Some(released), padded_to(&SIZES, states));
            let of_two = with_two_sizes!(states, N => N);
            assert!(of_two >= size && STATE_SIZES.contains(&of_two), "{states} states at {of_two}");
        }
        assert_eq!(padded_states(0), None);
        assert_eq!(padded_states(65), None);
    }
}
