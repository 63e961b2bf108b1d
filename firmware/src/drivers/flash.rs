//! The flash that a board saves to: [`take`].

#[cfg(feature = "microbit")]
pub use crate::boards::microbit::take_flash as take;

/// A file of the emulator's or debugger's machine, for boards whose flash is not driven.
///
/// # Errors
/// When the file can neither be opened nor made.
#[cfg(not(feature = "microbit"))]
pub fn take() -> Result<super::file_flash::FileFlash, super::file_flash::FileFlashError> {
    super::file_flash::FileFlash::open()
}

/// The same flash as [`take`], seen as memory: the board's own.
///
/// # Errors
/// If it has been taken before.
#[cfg(feature = "microbit")]
pub use crate::boards::microbit::take_flash as take_mapped;

/// The same flash as [`take`], seen as memory: a copy of the file in RAM.
///
/// # Errors
/// When the file can neither be opened nor made.
#[cfg(not(feature = "microbit"))]
pub fn take_mapped() -> Result<
    super::mirror::Mirror<super::file_flash::FileFlash, { super::file_flash::BYTES }>,
    super::file_flash::FileFlashError,
> {
    super::mirror::Mirror::new(take()?)
}
