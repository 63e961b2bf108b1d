use core::fmt;
use core::ops::Range;

use super::MISSING;
use crate::error::ObservationError;

/// Tables over a few columns of an event each, one after the other in one slice: how many states each
/// column has, and which columns each table is over.
///
/// A table's entry is a mixed-radix number over its columns as they are listed, the last varying fastest;
/// a *cell* is an entry's place among those of all tables. Nothing else is stored: the tables' places
/// follow from the numbers of states.
///
/// Flash: 2 B per column, a table, and a column of a table.
///
/// ```
/// use fishweir_core::network::{MISSING, FactorLayout};
///
/// // A door (2 states); a lamp (3) whose table is over door and lamp.
/// const TERMS: FactorLayout<'static> = match FactorLayout::new(&[2, 3], &[1, 2], &[0, 0, 1]) {
///     Ok(terms) => terms,
///     Err(_) => panic!("no terms"), // at compile time
/// };
/// let cells: Vec<_> = TERMS.locate(&[1, 2]).flatten().collect();
/// assert_eq!((TERMS.cells(), cells), (8, vec![1, 2 + 5]));
/// assert!(TERMS.locate(&[MISSING, 2]).all(|cell| cell.is_none()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FactorLayout<'t> {
    cards: &'t [u16],
    lengths: &'t [u16],
    columns: &'t [u16],
    cells: usize,
}

/// Reason why lists of columns are no valid terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum TermsError {
    /// A column with no state, or with 65 535.
    States {
        /// The column.
        column: usize,
    },
    /// A table over no column, over an unknown column, or over one column twice.
    Column {
        /// The table.
        term: usize,
    },
    /// The lengths of the lists do not add up to the columns listed.
    Length {
        /// Sum of the lengths.
        wanted: usize,
        /// Columns listed.
        found: usize,
    },
    /// More entries than 32 bits number.
    TooLarge {
        /// The table with which there are too many.
        term: usize,
    },
    /// Another number of entries, tables or nodes than the constant sizes or other tables have.
    Sizes {
        /// Number that the terms have.
        wanted: usize,
        /// Number that was given.
        found: usize,
    },
    /// A table that is not over a node and its parents, the node last.
    NoFamily {
        /// The table.
        term: usize,
    },
}

impl fmt::Display for TermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States { column } => write!(f, "column {column} must have 1 to 65534 states"),
            Self::Column { term } => {
                write!(f, "table {term} must be over different columns, one at least")
            }
            Self::Length { wanted, found } => {
                write!(f, "the lists' lengths add up to {wanted} columns, {found} are listed")
            }
            Self::TooLarge { term } => {
                write!(f, "with table {term} there are more entries than 32 bits number")
            }
            Self::Sizes { wanted, found } => {
                write!(f, "{wanted} numbers belong where {found} were given")
            }
            Self::NoFamily { term } => {
                write!(f, "table {term} must be over the parents of column {term}, and it")
            }
        }
    }
}

impl core::error::Error for TermsError {}

impl<'t> FactorLayout<'t> {
    /// Tables over columns: states of each column, how many columns each table is over, and which, table
    /// by table.
    ///
    /// # Errors
    /// [`TermsError`] naming the column or table that is wrong.
    pub const fn new(
        cards: &'t [u16],
        lengths: &'t [u16],
        columns: &'t [u16],
    ) -> Result<Self, TermsError> {
        let mut column = 0;
        while column < cards.len() {
            if cards[column] == 0 || cards[column] == MISSING {
                return Err(TermsError::States { column });
            }
            column += 1;
        }
        let (mut term, mut wanted) = (0, 0);
        while term < lengths.len() {
            wanted += lengths[term] as usize;
            term += 1;
        }
        let wrong_length = TermsError::Length { wanted, found: columns.len() };
        if wanted != columns.len() {
            return Err(wrong_length);
        }
        let (mut term, mut rest, mut cells) = (0, columns, 0_u64);
        while term < lengths.len() {
            // Split, not indexed: that this is in range shows on a device too.
            let Some((own, after)) = rest.split_at_checked(lengths[term] as usize) else {
                return Err(wrong_length);
            };
            rest = after;
            if own.is_empty() {
                return Err(TermsError::Column { term });
            }
            let (mut at, mut size) = (0, 1_u64);
            while at < own.len() {
                let mut before = 0;
                while before < at {
                    if own[before] == own[at] {
                        return Err(TermsError::Column { term });
                    }
                    before += 1;
                }
                let column = own[at] as usize;
                if column >= cards.len() {
                    return Err(TermsError::Column { term });
                }
                size *= cards[column] as u64;
                if size > u32::MAX as u64 {
                    return Err(TermsError::TooLarge { term });
                }
                at += 1;
            }
            cells += size;
            if cells > u32::MAX as u64 {
                return Err(TermsError::TooLarge { term });
            }
            term += 1;
        }
        Ok(Self { cards, lengths, columns, cells: cells as usize })
    }

    /// Checks that table `i` is over the parents of column `i` and, last, that column, for every column.
    ///
    /// # Errors
    /// [`TermsError`] naming the table.
    pub const fn check_families(&self) -> Result<(), TermsError> {
        let (wanted, found) = (self.cards.len(), self.lengths.len());
        if wanted != found {
            return Err(TermsError::Sizes { wanted, found });
        }
        let (mut term, mut rest) = (0, self.columns);
        while term < self.lengths.len() {
            let Some((own, after)) = rest.split_at_checked(self.lengths[term] as usize) else {
                return Err(TermsError::NoFamily { term });
            };
            rest = after;
            match own.last() {
                Some(&last) if last as usize == term => term += 1,
                _ => return Err(TermsError::NoFamily { term }),
            }
        }
        Ok(())
    }

    /// Number of states of each column.
    pub const fn cards(&self) -> &'t [u16] {
        self.cards
    }

    /// Number of entries of all tables.
    pub const fn cells(&self) -> usize {
        self.cells
    }

    /// Number of tables.
    pub const fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns whether there is no table.
    pub const fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Bytes of the lists.
    pub const fn bytes(&self) -> usize {
        2 * (self.cards.len() + self.lengths.len() + self.columns.len())
    }

    /// Checks an event: a state per column, or [`MISSING`].
    ///
    /// # Errors
    /// [`ObservationError::UnknownSymbol`]: of another length, or with a state that a column does not
    /// have.
    pub fn check(&self, event: &[u16]) -> Result<(), ObservationError> {
        let known = |(&state, &card): (&u16, &u16)| state < card || state == MISSING;
        if event.len() == self.cards.len() && event.iter().zip(self.cards).all(known) {
            Ok(())
        } else {
            Err(ObservationError::UnknownSymbol)
        }
    }

    /// The cells of each table, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<'t> {
        let mut first = 0;
        self.tables().map(move |(cards, columns)| {
            let size: usize = columns.iter().map(|&column| card(cards, column.into())).product();
            let own = first..first + size;
            first = own.end;
            own
        })
    }

    /// The cell of an event that has been [checked](Self::check) in each table, in order; `None` where one
    /// of the table's columns is missing. One pass over the columns listed, without a division.
    #[inline]
    pub fn locate<'e>(
        &self,
        event: &'e [u16],
    ) -> impl Iterator<Item = Option<usize>> + use<'t, 'e> {
        let mut first = 0_usize;
        self.tables().map(move |(cards, columns)| {
            let (mut size, mut entry, mut whole) = (1, 0_usize, true);
            for &column in columns {
                let column = usize::from(column);
                let state = event.get(column).copied().unwrap_or(MISSING);
                whole &= state != MISSING;
                let states = card(cards, column);
                // Of a missing state comes no entry of the table; it is not read.
                entry = entry.wrapping_mul(states).wrapping_add(state.into());
                size *= states;
            }
            let cell = first.wrapping_add(entry);
            first += size;
            whole.then_some(cell)
        })
    }

    /// The states of all columns, and the columns of each table.
    #[inline]
    fn tables(&self) -> impl Iterator<Item = (&'t [u16], &'t [u16])> + use<'t> {
        let (cards, mut rest) = (self.cards, self.columns);
        self.lengths.iter().map(move |&length| {
            let (columns, after) = rest.split_at_checked(length.into()).unwrap_or((rest, &[]));
            rest = after;
            (cards, columns)
        })
    }
}

#[inline]
fn card(cards: &[u16], column: usize) -> usize {
    cards.get(column).map_or(1, |&card| card.into())
}
