//! Records as columns in the order of their names, for learning structures.

use super::super::NetworkError;
use super::super::shape::check_variables;
use crate::records::{MISSING, Records, Variable};
use fishweir::internals::Elementary;

/// Largest number of cells of the counts of a pair of columns.
const CELLS_AT_MOST: f64 = (1 << 26) as f64;

/// Whole records, column by column; columns in the order of their names.
pub(super) struct Columns {
    /// Index of each column in the records.
    from: Vec<usize>,
    pub(super) cards: Vec<usize>,
    /// `[column][record]`.
    pub(super) values: Vec<Vec<u16>>,
    pub(super) records: usize,
}

impl Columns {
    /// Columns of records of these variables.
    ///
    /// # Errors
    /// Invalid variables, no record, a missing or unknown state.
    pub(super) fn of(variables: &[Variable], records: &Records) -> Result<Self, NetworkError> {
        check_variables(variables)?;
        if records.is_empty() {
            return Err(NetworkError::NoRecords("learning a structure needs records"));
        }
        if records.columns() != variables.len() {
            let (found, nodes) = (records.columns(), variables.len());
            return Err(NetworkError::Length { record: 0, found, nodes });
        }
        for (record, row) in records.rows().enumerate() {
            for (&value, variable) in row.iter().zip(variables) {
                let node = || variable.name.clone();
                if value == MISSING {
                    return Err(NetworkError::Missing { record, node: node() });
                }
                if usize::from(value) >= variable.card() {
                    let last = variable.card() - 1;
                    return Err(NetworkError::UnknownState { record, node: node(), value, last });
                }
            }
        }
        let mut from: Vec<usize> = (0..variables.len()).collect();
        from.sort_by(|&a, &b| variables[a].name.cmp(&variables[b].name));
        let column = |&column: &usize| records.rows().map(|row| row[column]).collect();
        Ok(Self {
            cards: from.iter().map(|&column| variables[column].card()).collect(),
            values: from.iter().map(column).collect(),
            from,
            records: records.len(),
        })
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.from.len()
    }

    /// Name of a column.
    pub(super) fn name<'v>(&self, variables: &'v [Variable], column: usize) -> &'v str {
        &variables[self.from[column]].name
    }

    /// The place here of a column of the records.
    pub(super) fn place(&self, column: usize) -> Option<usize> {
        self.from.iter().position(|&from| from == column)
    }

    /// Parents of columns here as those of the columns of the records, in the order of names.
    pub(super) fn restore(&self, parents: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let mut restored = vec![Vec::new(); self.len()];
        for (of_column, &column) in parents.into_iter().zip(&self.from) {
            restored[column] = of_column.into_iter().map(|parent| self.from[parent]).collect();
        }
        restored
    }

    /// The configuration of some columns in each record, the last varying fastest.
    pub(super) fn rows(&self, columns: &[usize]) -> Vec<u32> {
        let mut rows = vec![0; self.records];
        for &column in columns {
            let card = self.cards[column] as u32;
            for (row, &value) in rows.iter_mut().zip(&self.values[column]) {
                *row = *row * card + u32::from(value);
            }
        }
        rows
    }

    /// Number of configurations of some columns.
    pub(super) fn configurations(&self, columns: &[usize]) -> f64 {
        columns.iter().map(|&column| self.cards[column] as f64).product()
    }

    /// Mutual information of each pair of columns within the rows of a configuration, `[i][j]`, in nats.
    ///
    /// # Errors
    /// A pair with too many states to be counted, by name.
    pub(super) fn information(
        &self,
        variables: &[Variable],
        given: &[usize],
    ) -> Result<Vec<Vec<f64>>, NetworkError> {
        let mut widest: Vec<usize> = (0..self.len()).collect();
        widest.sort_by_key(|&column| std::cmp::Reverse(self.cards[column]));
        if let [first, second, ..] = widest[..] {
            let cells = self.configurations(given) * self.configurations(&[first, second]);
            if cells > CELLS_AT_MOST {
                return Err(NetworkError::Other(format!(
                    "the columns `{}` and `{}` have {cells:.3e} pairs of states to be counted, beyond the \
                     limit of {CELLS_AT_MOST}; take fewer bins, or leave one out",
                    self.name(variables, first),
                    self.name(variables, second)
                )));
            }
        }
        let rows = self.rows(given);
        let groups = self.configurations(given) as usize;
        let of_row = |i: usize| -> Vec<f64> {
            (0..i).map(|j| self.pair_information(i, j, &rows, groups)).collect()
        };
        let lower = fishweir::internals::each(self.len(), &of_row);
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => lower[i][j],
            std::cmp::Ordering::Less => lower[j][i],
        };
        Ok((0..self.len()).map(|i| (0..self.len()).map(|j| entry(i, j)).collect()).collect())
    }

    /// `sum p(a, b, g) log ( p(a, b | g) / p(a | g) p(b | g) )`.
    fn pair_information(&self, i: usize, j: usize, groups: &[u32], count: usize) -> f64 {
        let (first, second) = (self.cards[i], self.cards[j]);
        let mut joint = vec![0_u32; count * first * second];
        let values = self.values[i].iter().zip(&self.values[j]).zip(groups);
        for ((&a, &b), &group) in values {
            joint[(group as usize * first + usize::from(a)) * second + usize::from(b)] += 1;
        }
        let mut sum = 0.0;
        for group in joint.chunks(first * second) {
            let total: u32 = group.iter().sum();
            let of_a: Vec<u32> = group.chunks(second).map(|row| row.iter().sum()).collect();
            let of_b: Vec<u32> =
                (0..second).map(|b| group.iter().skip(b).step_by(second).sum()).collect();
            for (row, &a) in group.chunks(second).zip(&of_a) {
                for (&n, &b) in row.iter().zip(&of_b).filter(|&(&n, _)| n > 0) {
                    let n = f64::from(n);
                    sum += n * (n * f64::from(total) / (f64::from(a) * f64::from(b))).portable_ln();
                }
            }
        }
        sum / self.records as f64
    }
}
