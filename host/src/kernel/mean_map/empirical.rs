use super::Rbf;
use super::mixing::Mixing;
use super::rbf::squared_distance;
use super::words::{Frequencies, LARGEST_ORDER, counts};
use crate::data::{RowsView, SamplesView};
use crate::kernel::{Gram, Kernel, KernelError};
use crate::parallel::each;

/// The empirical mean map kernel of order `k`: the mean, over all pairs of windows of `k + 1` samples of the
/// two sequences, of a radial basis function of their distance.
///
/// ```text
/// K(x, y) = 1 / (W W') sum_{s,t} rbf( |x_s..s+k - y_t..t+k|^2 ),   W = T - k
/// ```
///
/// Of symbols that is the mean of `m^mismatches` over all pairs of words, and at an infinite rate the
/// spectrum kernel of words of `k + 1` symbols on frequencies. A window with a missing sample counts nothing
/// and has its place in `W`; a sequence without any window has a kernel of zero with all.
///
/// Source: Mehta and Gray, "Generative and Latent Mean Map Kernels", 2010, section 4. Work a pair of sequences of symbols: an
/// addition for each of the `2^(k+1)` sets of places and each different content of them, at most `W + W'`
/// a set; of channels: `T T' (D + k)` multiply-adds and `W W'` exponentials. RAM: 32 bytes a content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmpiricalMap {
    /// Samples that a window has after its first.
    pub order: usize,
    /// Radial basis function of a distance.
    pub rbf: Rbf,
}

impl EmpiricalMap {
    /// Features of sequences of symbols whose inner products are the kernel: frequencies of words, `[first
    /// symbol][second symbol]...`, each of whose indices is mixed with `M^1/2` (see [`Mixing`]); for an
    /// alphabet of `size` symbols, and `k + 1` times two multiply-adds per word of it.
    ///
    /// # Errors
    /// [`KernelError`] for channels, and for more than [`WORDS_AT_MOST`](super::WORDS_AT_MOST) words.
    pub fn features(
        &self,
        sequences: &[SamplesView<'_>],
        size: usize,
    ) -> Result<Vec<Vec<f64>>, KernelError> {
        self.check_order()?;
        let features = |samples: &SamplesView<'_>| {
            let symbols = samples.symbols().ok_or(KernelError::NoFeatures)?;
            let mut table = counts(symbols, self.order, size)?;
            let mean = 1.0 / symbols.len().saturating_sub(self.order).max(1) as f64;
            table.iter_mut().for_each(|count| *count *= mean);
            mix_words(&mut table, size, self.rbf.mismatch());
            Ok(table)
        };
        let all = each(sequences.len(), &|index| features(&sequences[index]));
        all.into_iter().collect()
    }

    fn check_order(&self) -> Result<(), KernelError> {
        if self.order <= LARGEST_ORDER {
            return Ok(());
        }
        let (value, range) = (self.order as f64, "7 at most for symbols");
        Err(KernelError::Parameter { name: "order", value, range })
    }

    fn of_symbols(&self, sequences: &[&[Option<u16>]]) -> Result<Gram, KernelError> {
        self.check_order()?;
        let of = |index: usize| Frequencies::of(sequences[index], self.order);
        let (words, mismatch) = (each(sequences.len(), &of), self.rbf.mismatch());
        Ok(Gram::from_fn(words.len(), |i, j| words[i].inner_product(&words[j], mismatch)))
    }

    fn of_channels(&self, sequences: &[RowsView<'_>]) -> Result<Gram, KernelError> {
        let rbf = self.rbf.of_channels()?;
        let of =
            |i: usize, j: usize| mean_over_windows(rbf, self.order, sequences[i], sequences[j]);
        Ok(Gram::from_fn(sequences.len(), of))
    }
}

/// Mixes every index of a table of words, row after row, with the root of [`Mixing`]. It is its own transpose:
/// weights on what is mixed are weights, mixed, on what is not.
pub(crate) fn mix_words(table: &mut [f64], size: usize, mismatch: f64) {
    let mixing = Mixing::root(size, mismatch);
    let mut inner = 1;
    while size > 1 && inner < table.len() {
        mixing.apply(table, size, inner);
        inner *= size;
    }
}

/// Windows that start at the same distance in time share their samples' distances: a diagonal at a time.
fn mean_over_windows(rbf: Rbf, order: usize, x: RowsView<'_>, y: RowsView<'_>) -> f64 {
    let (windows, others) = (x.len().saturating_sub(order), y.len().saturating_sub(order));
    if windows == 0 || others == 0 {
        return 0.0;
    }
    let mut distance = Vec::with_capacity(x.len().min(y.len()));
    let mut diagonal = |s: usize, t: usize| -> f64 {
        distance.clear();
        for k in 0..(x.len() - s).min(y.len() - t) {
            distance.push(match (x.row(s + k), y.row(t + k)) {
                (Some(x), Some(y)) => squared_distance(x, y),
                _ => f64::INFINITY,
            });
        }
        let mut sum = 0.0;
        for from in 0..distance.len().saturating_sub(order) {
            let mut of_window = 0.0;
            for k in from..=from + order {
                of_window += distance[k];
            }
            sum += rbf.of_squared(of_window);
        }
        sum
    };
    let later: f64 = (0..windows).map(|s| diagonal(s, 0)).sum();
    let earlier: f64 = (1..others).map(|t| diagonal(0, t)).sum();
    (later + earlier) / (windows as f64 * others as f64)
}

impl Kernel for EmpiricalMap {
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError> {
        let symbols: Option<Vec<_>> = sequences.iter().map(SamplesView::symbols).collect();
        let rows: Option<Vec<_>> = sequences.iter().map(SamplesView::rows).collect();
        match (symbols, rows) {
            (Some(symbols), _) => self.of_symbols(&symbols),
            (None, Some(rows)) => self.of_channels(&rows),
            (None, None) => Err(KernelError::Mixed),
        }
    }
}
