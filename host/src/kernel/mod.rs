//! Kernels between sequences, and the matrices of their values.
//!
//! | what | file |
//! |---|---|
//! | [`Gram`], [`CrossGram`]: kernel values of all pairs, computed in parallel | `gram.rs` |
//! | [`LogGram`], [`LogCrossGram`]: the logarithms of kernel values far below the least number | `log_gram.rs` |
//! | [`Symmetric`]: what matrices of all pairs are read by | `symmetric.rs` |
//! | [`write_gram`]: CSV, NumPy's `.npy`, LIBSVM's precomputed kernel | `format.rs` |
//! | [`read_gram`]: the first two of these, and matrices made elsewhere | `read_gram.rs` |
//! | [`KernelPca`]: principal components in a kernel's feature space | `pca.rs` |
//! | [`feature_bytes`]: features of items as CSV, `.npy` or Parquet | `feature_file.rs` |
//! | [`Information`]: exact, sampled, empirical | `information.rs` |
//! | [`Whitening`]: from scores to features, by an information | `whitening.rs` |
//! | [`FisherKernel`]: practical and invariant | `fisher.rs` |
//! | [`ScoreKernel`]: Gaussian, polynomial and cosine kernels on features | `score_kernel.rs` |
//! | [`TopKernel`]: tangents of posterior log-odds | `top.rs` |
//! | [`LabelMixture`]: the Fisher kernel of the classes' mixture, the label hidden | `label_latent.rs` |
//! | [`CountKernel`]: marginalised counts, single and of pairs | `count.rs` |
//! | [`SpectrumKernel`]: words of strings, as they are or but for one symbol | `spectrum.rs` |
//! | [`SmithWaterman`]: scores of local alignments of all pairs | `smith_waterman.rs` |
//! | [`mean_map`]: means of windows, and of samples with their hidden states | `mean_map/` |
//! | [`between`]: kernels between fitted models | `between/` |
//! | [`marginal`]: kernels that sum over hidden models, against stored sequences | `marginal/` |
//! | [`parameter`]: parameters of kernels by name | `parameter.rs` |
//! | [`registry`]: all kernels by name, for what is asked by name | `registry.rs` |
//!
//! A new kernel is a file, and an entry of the registry.

pub mod between;
mod count;
mod error;
mod feature_file;
mod fisher;
mod format;
pub(crate) mod gram;
mod information;
mod label_latent;
mod log_gram;
pub mod marginal;
pub mod mean_map;
mod metric;
pub mod parameter;
mod pca;
mod read_gram;
pub mod registry;
mod score_kernel;
mod smith_waterman;
mod spectrum;
mod symmetric;
mod top;
mod whitening;

pub use count::{CountKernel, Counted};
pub use error::KernelError;
pub use feature_file::{FeatureFormat, feature_bytes};
pub use fisher::FisherKernel;
pub use format::{FormatError, GramFormat, Items, gram_bytes, write_gram};
pub(crate) use gram::inner_product;
pub use gram::{CrossGram, Gram, GramError, Spectrum};
pub use information::{
    Axes, ENUMERATED_AT_MOST, Information, InformationError, PARAMETERS_AT_MOST, RELATIVE_CUT,
};
pub use label_latent::LabelMixture;
pub use log_gram::{LogCrossGram, LogGram};
pub use metric::{Expected, Metric};
pub use pca::KernelPca;
pub use read_gram::{ReadGram, ReadGramError, parse_gram, read_gram};
pub(crate) use score_kernel::for_each_score_kernel;
pub use score_kernel::{ScoreKernel, ScoreKernelKind, gram_of_features};
pub use smith_waterman::SmithWaterman;
pub use spectrum::{SpectrumKernel, WordIndex};
pub use symmetric::Symmetric;
pub use top::TopKernel;
pub use whitening::Whitening;

use crate::data::SamplesView;

/// A kernel between sequences.
pub trait Kernel {
    /// The kernel of all pairs.
    ///
    /// # Errors
    /// [`KernelError`], naming the sequence where it is one sequence's.
    fn gram(&self, sequences: &[SamplesView<'_>]) -> Result<Gram, KernelError>;
}
