/// The kernel of two indices, one where they are equal and `m` where not, as a matrix of size `K`,
/// `M = (1 - m) I + m 1 1'`; and its root, which makes features of it:
///
/// ```text
/// M^1/2 = r I + (s - r) / K 1 1',   r = sqrt(1 - m),   s = sqrt(1 - m + m K)
/// ```
///
/// Both have the ones and what is orthogonal to them for eigenspaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixing {
    /// Weight of the entry itself.
    own: f64,
    /// Weight of the sum of all entries, itself included.
    shared: f64,
}

impl Mixing {
    /// `M^1/2` for `size` indices and a mismatch from 0 to 1.
    pub fn root(size: usize, mismatch: f64) -> Self {
        let size = size.max(1) as f64;
        let own = (1.0 - mismatch).max(0.0).sqrt();
        let whole = (1.0 - mismatch + mismatch * size).max(0.0).sqrt();
        Self { own, shared: (whole - own) / size }
    }

    /// Mixes one index of a table, row after row: the one of size `size` after which `inner` entries
    /// follow for each of its values. Two multiply-adds per entry.
    pub fn apply(self, table: &mut [f64], size: usize, inner: usize) {
        for block in table.chunks_exact_mut((size * inner).max(1)) {
            for offset in 0..inner {
                let sum: f64 = block[offset..].iter().step_by(inner).sum();
                for entry in block[offset..].iter_mut().step_by(inner) {
                    *entry = self.own * *entry + self.shared * sum;
                }
            }
        }
    }
}
