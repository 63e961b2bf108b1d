use std::fmt;

use serde::Serialize;

use super::{DataSummary, counted, grouped};
use crate::kernel::{Information, Spectrum};

/// Result of `gram`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GramReport {
    /// Data of the matrix.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Rows and columns of the matrix.
    pub items: usize,
    /// The kernel, in words.
    pub kernel: String,
    /// Features of an item, where the kernel is one of features.
    pub features: Option<usize>,
    /// Information matrices, one per model; empty if the kernel uses none.
    pub information: Vec<InformationSummary>,
    /// `true` if the kernel was divided by the items' lengths.
    pub normalised: bool,
    /// Extreme eigenvalues, if requested.
    #[serde(flatten)]
    pub spectrum: Option<SpectrumSummary>,
    /// The matrix' file.
    pub output: String,
    /// Format of the file.
    pub format: String,
}

/// Result of `features`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FeaturesReport {
    /// Data of the features.
    #[serde(flatten)]
    pub data: DataSummary,
    /// Rows.
    pub items: usize,
    /// The kernel, in words.
    pub kernel: String,
    /// Information matrices, one per model; empty if the features need none.
    pub information: Vec<InformationSummary>,
    /// `true` if each row has length one.
    pub normalised: bool,
    /// Name of each feature, in the order of the columns.
    pub names: Vec<String>,
    /// The file.
    pub output: String,
    /// Format of the file.
    pub format: String,
}

impl fmt::Display for FeaturesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cosine = if self.normalised { ", of length one" } else { "" };
        writeln!(f, "{} ({} in all)", self.data, counted(self.items, "item"))?;
        writeln!(f, "kernel: {}{cosine}", self.kernel)?;
        for information in &self.information {
            writeln!(f, "{information}")?;
        }
        let (first, last) = (self.names.first(), self.names.last());
        if let (Some(first), Some(last)) = (first, last) {
            let columns = counted(self.names.len(), "feature");
            writeln!(f, "{columns} per item: {first} to {last}")?;
        }
        let (output, format) = (&self.output, &self.format);
        writeln!(f, "{} written to {output} as {format}", counted(self.items, "row"))
    }
}

/// The extreme eigenvalues of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpectrumSummary {
    /// The smallest eigenvalue.
    pub smallest_eigenvalue: f64,
    /// The largest.
    pub largest_eigenvalue: f64,
    /// Size that rounding may give to an eigenvalue of zero.
    pub rounding: f64,
    /// `true` if no eigenvalue is negative, rounding aside.
    pub positive_semidefinite: bool,
}

impl From<Spectrum> for SpectrumSummary {
    fn from(spectrum: Spectrum) -> Self {
        Self {
            smallest_eigenvalue: spectrum.smallest,
            largest_eigenvalue: spectrum.largest,
            rounding: spectrum.rounding,
            positive_semidefinite: spectrum.is_positive_semidefinite(),
        }
    }
}

/// Origin of an information matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InformationSummary {
    /// Number of rows and columns.
    pub parameters: usize,
    /// Number of sequences that it is an expectation over; 0 for a closed form.
    pub sequences: usize,
    /// Frobenius norm of the matrix.
    pub norm: f64,
    /// Standard error in that norm, where it was sampled.
    pub standard_error: Option<f64>,
}

impl InformationSummary {
    /// Summary of an information matrix.
    pub fn of(information: &Information) -> Self {
        let squares = information.matrix().rows().flatten().map(|entry| entry * entry);
        Self {
            parameters: information.parameters(),
            sequences: information.sequences,
            norm: squares.sum::<f64>().sqrt(),
            standard_error: information.standard_error,
        }
    }
}

impl fmt::Display for InformationSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameters, sequences, norm, standard_error } = self;
        write!(f, "information: {parameters} x {parameters}, ")?;
        match sequences {
            0 => write!(f, "in closed form")?,
            _ => write!(f, "over {}", counted(*sequences, "sequence"))?,
        }
        write!(f, ", norm {norm:.4e}")?;
        match standard_error {
            Some(error) => write!(f, " with a standard error of {error:.1e}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for GramReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({} in all)", self.data, counted(self.items, "item"))?;
        let features = match self.features {
            Some(count) => format!(", {}", counted(count, "feature")),
            None => String::new(),
        };
        let cosine = if self.normalised { ", normalised to a diagonal of one" } else { "" };
        writeln!(f, "kernel: {}{features}{cosine}", self.kernel)?;
        for information in &self.information {
            writeln!(f, "{information}")?;
        }
        match self.spectrum {
            Some(spectrum) => {
                let verdict = if spectrum.positive_semidefinite {
                    "positive semidefinite to rounding"
                } else {
                    "NOT positive semidefinite: a support vector machine on it has no unique optimum"
                };
                let SpectrumSummary {
                    smallest_eigenvalue: least, largest_eigenvalue: most, ..
                } = spectrum;
                let zero = spectrum.rounding;
                writeln!(
                    f,
                    "eigenvalues: {least:.6e} to {most:.6e}, {verdict} (zero is anything within {zero:.1e})"
                )?;
            }
            None => writeln!(f, "eigenvalues: not computed for this many items")?,
        }
        let (items, output, format) = (grouped(self.items), &self.output, &self.format);
        writeln!(f, "{items} x {items} matrix written to {output} as {format}")
    }
}
