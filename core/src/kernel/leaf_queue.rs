use super::Cells;

/// Symbols of a string on their way to a tree, whose leaves are in another order: those that are ahead of their turn wait.
///
/// `places[position]` is the leaf, from left to right, of each position of a string. State: 2 B per leaf and two words.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LeafQueue<X> {
    /// `[leaf]`.
    symbols: X,
    come: usize,
    next: usize,
}

/// A leaf whose symbol has not come.
const ABSENT: u16 = u16::MAX;
/// A symbol that is missing.
const MISSING: u16 = u16::MAX - 1;

impl<X: Cells<u16>> LeafQueue<X> {
    /// State before the first symbol of strings of `leaves` symbols.
    pub fn new(leaves: usize) -> Self {
        Self { symbols: X::filled(ABSENT, leaves), come: 0, next: 0 }
    }

    /// Takes in the string's next symbol, `None` for a missing one; `false` past its end, and nothing changes.
    pub fn push(&mut self, places: &[u16], symbol: Option<usize>) -> bool {
        let Some(&place) = places.get(self.come) else { return false };
        let Some(leaf) = self.symbols.as_mut().get_mut(usize::from(place)) else { return false };
        *leaf = symbol.and_then(|symbol| u16::try_from(symbol).ok()).unwrap_or(MISSING);
        self.come += 1;
        true
    }

    /// The next leaf's symbol, if it has come.
    pub fn pop(&mut self) -> Option<Option<usize>> {
        let &symbol = self.symbols.as_mut().get(self.next).filter(|&&symbol| symbol != ABSENT)?;
        self.next += 1;
        Some((symbol != MISSING).then_some(usize::from(symbol)))
    }
}
