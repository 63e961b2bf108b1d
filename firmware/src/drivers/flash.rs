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

/// Words of memory that [`take_mapped`] needs: 0 if flash is memory itself.
#[cfg(feature = "microbit")]
pub const MAPPED_WORDS: usize = 0;
/// Words of memory that [`take_mapped`] needs: as many as the file has.
#[cfg(not(feature = "microbit"))]
pub const MAPPED_WORDS: usize = super::file_flash::BYTES / 8;

/// Takes the flash of [`take`] as memory: itself.
///
/// # Errors
/// If it has been taken before.
#[cfg(feature = "microbit")]
pub fn take_mapped(
    _: &mut [u64; MAPPED_WORDS],
) -> Result<super::nrf51::flash::Flash<'static>, crate::boards::microbit::FlashTaken> {
    take()
}

/// Takes the flash of [`take`] as memory: a copy of the file.
///
/// # Errors
/// When the file can neither be opened nor made.
#[cfg(not(feature = "microbit"))]
pub fn take_mapped(
    memory: &mut [u64; MAPPED_WORDS],
) -> Result<
    fishweir_device::update::Mirror<'_, super::file_flash::FileFlash>,
    super::file_flash::FileFlashError,
> {
    fishweir_device::update::Mirror::new(take()?, memory)
}
