//! Smith-Waterman scores of all pairs, side by side in lanes of bytes.

use crate::parallel::each;

use multiversion::multiversion;

/// Sequences side by side: a register of the widest vector units, in bytes.
const LANES: usize = 64;

type Bytes = [u8; LANES];

/// The score of the best local alignment of two sequences, gaps affine.
///
/// ```text
/// H_ij = max(0, H_i-1,j-1 + s(x_i, y_j), E_ij, F_ij)
/// E_ij = max(H_i,j-1 - first, E_i,j-1 - next)      F_ij = max(H_i-1,j - first, F_i-1,j - next)
/// ```
///
/// A symbol outside the matrix has the matrix's least score with all. Scores stop at `255` less what makes
/// the matrix positive (`251` by BLOSUM62): in bytes, 64 sequences fill a register.
///
/// Sources: Smith and Waterman, "Identification of common molecular subsequences", 1981; Gotoh, "An improved
/// algorithm for matching biological sequences", 1982; lanes over sequences: Rognes, "Faster Smith-Waterman
/// database searches with inter-sequence SIMD parallelisation", 2011.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmithWaterman {
    /// `s(x, y)`, `[symbol][symbol]`.
    pub matrix: Vec<Vec<i8>>,
    /// Cost of the first symbol of a gap.
    pub first: u8,
    /// Cost of each further symbol.
    pub next: u8,
}

/// BLOSUM62, lower triangle, in the order of `ACDEFGHIKLMNPQRSTVWY`.
const BLOSUM62: [&[i8]; 20] = [
    &[4],
    &[0, 9],
    &[-2, -3, 6],
    &[-1, -4, 2, 5],
    &[-2, -2, -3, -3, 6],
    &[0, -3, -1, -2, -3, 6],
    &[-2, -3, -1, 0, -1, -2, 8],
    &[-1, -1, -3, -3, 0, -4, -3, 4],
    &[-1, -3, -1, 1, -3, -2, -1, -3, 5],
    &[-1, -1, -4, -3, 0, -4, -3, 2, -2, 4],
    &[-1, -1, -3, -2, 0, -3, -2, 1, -1, 2, 5],
    &[-2, -3, 1, 0, -3, 0, 1, -3, 0, -3, -2, 6],
    &[-1, -3, -1, -1, -4, -2, -2, -3, -1, -3, -2, -2, 7],
    &[-1, -3, 0, 2, -3, -2, 0, -3, 1, -2, 0, 0, -1, 5],
    &[-1, -3, -2, 0, -3, -2, 0, -3, 2, -2, -1, 0, -2, 1, 5],
    &[1, -1, 0, 0, -2, 0, -1, -2, 0, -2, -1, 1, -1, 0, -1, 4],
    &[0, -1, -1, -1, -2, -2, -2, -1, -1, -1, -1, 0, -1, -1, -1, 1, 5],
    &[0, -1, -3, -2, -1, -3, -3, 3, -2, 1, 1, -3, -2, -2, -3, -2, 0, 4],
    &[-3, -2, -4, -3, 1, -2, -2, -3, -3, -2, -1, -4, -4, -2, -3, -3, -2, -3, 11],
    &[-2, -2, -3, -2, 3, -3, 2, -1, -2, -1, -1, -2, -3, -1, -2, -2, -2, -1, 2, 7],
];

impl SmithWaterman {
    /// BLOSUM62 (Henikoff and Henikoff 1992) over the amino acids, gaps 11 and 1: BLAST's.
    pub fn blosum62() -> Self {
        let entry = |i: usize, j: usize| BLOSUM62[i.max(j)][i.min(j)];
        let matrix = (0..20).map(|i| (0..20).map(|j| entry(i, j)).collect()).collect();
        Self { matrix, first: 12, next: 1 }
    }

    /// The scores of some sequences (rows) with others, `[query][target]`.
    ///
    /// Work a pair of residues: some ten operations on bytes, 64 targets at once. RAM: a byte per pair, and 64 bytes
    /// for each symbol of the matrix and residue of the longest target, a thread.
    pub fn scores<Q, S>(&self, queries: &[Q], targets: &[S]) -> Vec<Vec<u8>>
    where
        Q: AsRef<[usize]> + Sync,
        S: AsRef<[usize]> + Sync,
    {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by_key(|&target| targets[target].as_ref().len());
        let members: Vec<&[usize]> = order.chunks(LANES).collect();
        let of_group = |group: usize| -> Vec<Bytes> {
            let profile =
                self.profile(members[group].iter().map(|&target| targets[target].as_ref()));
            let mut column = Vec::new();
            let one = |query: &Q| {
                let rows: Vec<usize> =
                    query.as_ref().iter().map(|&x| x.min(self.matrix.len())).collect();
                sweep(self.bytes(), &rows, &profile, self.matrix.len() + 1, &mut column)
            };
            queries.iter().map(one).collect()
        };
        let groups = each(members.len(), &of_group);
        let mut scores = vec![vec![0; targets.len()]; queries.len()];
        for (query, row) in scores.iter_mut().enumerate() {
            for (members, best) in members.iter().zip(&groups) {
                for (&target, score) in members.iter().zip(best[query]) {
                    row[target] = score;
                }
            }
        }
        scores
    }

    /// Offset that makes the matrix positive, and the costs of gaps.
    fn bytes(&self) -> [u8; 3] {
        [self.least().unsigned_abs(), self.first, self.next]
    }

    fn least(&self) -> i8 {
        self.matrix.iter().flatten().copied().min().unwrap_or(0).min(0)
    }

    /// `s(x, y_j)` plus the bias, `[j][x][lane]`; zero past a target's end.
    fn profile<'s>(&self, targets: impl Iterator<Item = &'s [usize]> + Clone) -> Vec<Bytes> {
        let rows = self.matrix.len() + 1;
        let longest = targets.clone().map(<[usize]>::len).max().unwrap_or(0);
        let least = i16::from(self.least());
        let mut profile = vec![[0; LANES]; rows * longest];
        for (lane, target) in targets.enumerate() {
            for (column, &y) in profile.chunks_exact_mut(rows).zip(target) {
                for (bytes, row) in column.iter_mut().zip(&self.matrix) {
                    bytes[lane] = row.get(y).map_or(0, |&s| (i16::from(s) - least) as u8);
                }
            }
        }
        profile
    }
}

/// The best score of a query in every lane. `column` is scratch: `H` and `E`, `[i]`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn sweep(
    [bias, first, next]: [u8; 3],
    query: &[usize],
    profile: &[Bytes],
    rows: usize,
    column: &mut Vec<[Bytes; 2]>,
) -> Bytes {
    column.clear();
    column.resize(query.len(), [[0; LANES]; 2]);
    let mut best = [0; LANES];
    for scores in profile.chunks_exact(rows) {
        let (mut diagonal, mut down) = ([0_u8; LANES], [0_u8; LANES]);
        for ([h, e], &x) in column.iter_mut().zip(query) {
            let score = &scores[x];
            for l in 0..LANES {
                let matched = diagonal[l].saturating_add(score[l]).saturating_sub(bias);
                let here = matched.max(e[l]).max(down[l]);
                diagonal[l] = h[l];
                h[l] = here;
                best[l] = best[l].max(here);
                let opened = here.saturating_sub(first);
                e[l] = e[l].saturating_sub(next).max(opened);
                down[l] = down[l].saturating_sub(next).max(opened);
            }
        }
    }
    best
}
