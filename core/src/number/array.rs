mod sealed {
    pub trait Sealed {}
    impl<T, const COLUMNS: usize, const ROWS: usize> Sealed for [[T; COLUMNS]; ROWS] {}
}

/// A two-dimensional array, `[[T; COLUMNS]; ROWS]`: a type that names its entries and both of its sizes.
///
/// A type that holds further arrays of the same sizes takes one such parameter, not three.
pub trait Array2: sealed::Sealed {
    /// Type of an entry.
    type Entry;
    /// Type of a row, `[Entry; COLUMNS]`.
    type Row;
    /// Array with an `X` for each row, `[X; ROWS]`.
    type PerRow<X>;
}

impl<T, const COLUMNS: usize, const ROWS: usize> Array2 for [[T; COLUMNS]; ROWS] {
    type Entry = T;
    type Row = [T; COLUMNS];
    type PerRow<X> = [X; ROWS];
}
