//! The flash that a board saves to: [`take`].

#[cfg(feature = "microbit")]
mod chosen {
    use crate::drivers::nrf51::flash::{Flash, FlashTaken};

    /// The board's own flash, its last pages.
    ///
    /// # Errors
    /// When it has been taken before.
    pub fn take() -> Result<Flash<'static>, FlashTaken> {
        Flash::take()
    }
}

#[cfg(not(feature = "microbit"))]
mod chosen {
    use crate::drivers::file_flash::{FileFlash, FileFlashError};

    /// A file of the debugger's or emulator's machine, for boards whose flash is not driven yet.
    ///
    /// # Errors
    /// When the file cannot be opened or made.
    pub fn take() -> Result<FileFlash, FileFlashError> {
        FileFlash::open()
    }
}

pub use chosen::take;
