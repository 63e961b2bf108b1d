//! Tables of which some rows are there at a time.

use super::Table;
use crate::dialect::Dialect;
use crate::error::DataError;
use crate::records::Records;

impl<'a> Table<'a> {
    /// The offset and the line of the first row, before any is read; `None` without a row.
    pub(crate) fn first_row(&mut self) -> Result<Option<(usize, u64)>, DataError> {
        let there = self.pending || self.advance()?;
        Ok(there.then(|| (self.records.begin(), self.records.line())))
    }

    /// Further rows of this table, in a text that begins at a line.
    pub(crate) fn with_rows<'b>(&self, bytes: &'b [u8], line: u64) -> Table<'b>
    where
        'a: 'b,
    {
        let Dialect { separator, comments, .. } = self.dialect;
        Table {
            name: self.name,
            bytes,
            records: Records::from_line(bytes, separator, comments, line),
            dialect: self.dialect.clone(),
            header: self.header.clone(),
            header_line: self.header_line,
            skipped: self.skipped,
            behind: self.behind,
            pending: false,
        }
    }

    /// The offset and the line of the last row whose name in a column is not that of the row before, in a text that may end
    /// within a row; `None` if there is none but the first.
    pub(crate) fn last_change(mut self, column: usize) -> Result<Option<(usize, u64)>, DataError> {
        let failed = |source| DataError::Io { file: self.name.to_owned(), source };
        let (mut name, mut found, mut begun) = (Vec::new(), None, None);
        while self.records.advance().map_err(failed)? {
            // The last row may be a part of one.
            found = begun.or(found);
            begun = None;
            let own = self.records.bytes(column + self.skipped).trim_ascii();
            if !own.is_empty() && own != name {
                if !name.is_empty() {
                    begun = Some((self.records.begin(), self.records.line()));
                }
                name.clear();
                name.extend_from_slice(own);
            }
        }
        Ok(found)
    }
}
