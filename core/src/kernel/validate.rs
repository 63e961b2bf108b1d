use super::KernelError;

/// A kernel whose parts lie in flash: constants cannot refuse them, so they are checked
/// in place.
pub trait Validate {
    /// Checks every number and every stored item.
    ///
    /// # Errors
    /// Names the first that is wrong.
    fn validate(&self) -> Result<(), KernelError>;

    /// Bytes of the kernel and of its borrowed parts: the model, and the stored items.
    fn size_bytes(&self) -> usize;

    /// Bytes among these that kernels of the same model share, so that several take them once.
    fn shared_bytes(&self) -> usize {
        0
    }
}

/// Bytes of stored sequences.
pub(super) fn bytes_of<S>(stored: &[&[S]]) -> usize {
    stored.iter().map(|sequence| size_of_val(*sequence)).sum()
}
