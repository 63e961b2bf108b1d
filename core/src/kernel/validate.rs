use super::KernelError;

/// A kernel whose parts lie in flash: they are written where nothing could be refused, and checked
/// where they lie.
pub trait Validate {
    /// Checks every number and every stored item.
    ///
    /// # Errors
    /// Names the first that is wrong.
    fn validate(&self) -> Result<(), KernelError>;

    /// Bytes of the kernel and of what it borrows: the model, and the stored items.
    fn size_bytes(&self) -> usize;
}

/// Bytes of stored sequences.
pub(super) fn bytes_of<S>(stored: &[&[S]]) -> usize {
    stored.iter().map(|sequence| size_of_val(*sequence)).sum()
}
