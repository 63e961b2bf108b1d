use crate::kernel::error::{KernelError, WORDS_AT_MOST};

/// The largest order of an empirical map of symbols: words of eight symbols have 256 sets of places.
pub const LARGEST_ORDER: usize = 7;

/// Frequencies of the words' symbols in some of their places, `[set of places][key]`, sorted by key.
///
/// ```text
/// m^mismatches(u, v) = sum_S (1 - m)^|S| m^(n - |S|) [u and v agree in the places S]
/// ```
///
/// so the mean over all pairs of words is a sum over sets of places, of inner products of frequencies:
/// positive terms, exact at both ends of `m`.
pub(super) struct Frequencies(Vec<Vec<(u128, f64)>>);

impl Frequencies {
    /// Mean of all words of a sequence, `order + 1` symbols each.
    ///
    /// A word with a missing symbol has a place in the mean and counts nothing.
    pub(super) fn of(symbols: &[Option<u16>], order: usize) -> Self {
        let length = order + 1;
        let words: Vec<u128> = symbols.windows(length).filter_map(word).collect();
        let mean = 1.0 / (symbols.len().saturating_sub(order)).max(1) as f64;
        let sets = 0..1_usize << length;
        Self(sets.map(|set| frequencies(&words, places(set, length), mean)).collect())
    }

    /// The mean of `m^mismatches` over all pairs of words.
    pub(super) fn inner_product(&self, other: &Self, mismatch: f64) -> f64 {
        let length = self.0.len().trailing_zeros();
        let of_set = |(set, (own, other)): (usize, (&Vec<_>, &Vec<_>))| {
            let agree = set.count_ones();
            // At most eight.
            let weight =
                (1.0 - mismatch).powi(agree as i32) * mismatch.powi((length - agree) as i32);
            if weight > 0.0 { weight * merge(own, other) } else { 0.0 }
        };
        self.0.iter().zip(&other.0).enumerate().map(of_set).sum()
    }
}

/// A word as a number: sixteen bits per symbol, the first highest.
fn word(symbols: &[Option<u16>]) -> Option<u128> {
    symbols.iter().try_fold(0, |word, symbol| Some(word << 16 | u128::from((*symbol)?)))
}

/// The bits of a word that are its symbols in a set of places.
fn places(set: usize, length: usize) -> u128 {
    let bits = |place: usize| u128::from(u16::MAX) << (16 * place);
    (0..length).filter(|place| set >> place & 1 == 1).map(bits).sum()
}

fn frequencies(words: &[u128], places: u128, mean: f64) -> Vec<(u128, f64)> {
    let mut keys: Vec<u128> = words.iter().map(|word| word & places).collect();
    keys.sort_unstable();
    let alike = keys.chunk_by(|one, next| one == next);
    alike.map(|keys| (keys[0], keys.len() as f64 * mean)).collect()
}

/// The inner product of two sorted lists.
fn merge(one: &[(u128, f64)], other: &[(u128, f64)]) -> f64 {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let mut sum = 0.0;
    while let (Some((a, x)), Some((b, y))) = (one.peek(), other.peek()) {
        if a == b {
            sum += x * y;
        }
        let (first, second) = (a <= b, b <= a);
        if first {
            one.next();
        }
        if second {
            other.next();
        }
    }
    sum
}

/// Number of words of `order + 1` symbols over `size` symbols; `None` if a table has no room for them.
pub(crate) fn words_of(size: usize, order: usize) -> Option<usize> {
    let length = u32::try_from(order).ok()?.checked_add(1)?;
    size.checked_pow(length).filter(|words| *words <= WORDS_AT_MOST)
}

/// Counts all words over `size` symbols, `[first symbol][second symbol]...`, row after row.
///
/// # Errors
/// [`KernelError::TooManyWords`].
pub(crate) fn counts(
    symbols: &[Option<u16>],
    order: usize,
    size: usize,
) -> Result<Vec<f64>, KernelError> {
    let Some(words) = words_of(size, order) else {
        return Err(KernelError::TooManyWords { symbols: size, length: order.saturating_add(1) });
    };
    let mut table = vec![0.0; words];
    for word in symbols.windows(order + 1) {
        let known = |symbol: &Option<u16>| symbol.map(usize::from).filter(|symbol| *symbol < size);
        let place = word.iter().try_fold(0, |place, symbol| Some(place * size + known(symbol)?));
        if let Some(count) = place.and_then(|place| table.get_mut(place)) {
            *count += 1.0;
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::words_of;
    use crate::classifier::contexts_of;

    #[test]
    fn no_order_is_too_large_to_be_refused() {
        assert_eq!(
            (words_of(4, 2), words_of(4, 9), words_of(4, 10)),
            (Some(64), Some(1 << 20), None)
        );
        for order in [u32::MAX as usize - 1, u32::MAX as usize, usize::MAX] {
            assert_eq!((words_of(2, order), contexts_of(1, order)), (None, None));
        }
        // One symbol has one word of any length, and a device counts to 65535.
        assert_eq!((contexts_of(1, 65_535), contexts_of(1, 65_536)), (Some(1), None));
        assert_eq!((contexts_of(0, 3), contexts_of(4, 2)), (None, Some(16)));
    }
}
