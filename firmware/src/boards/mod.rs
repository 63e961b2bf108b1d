//! Boards. A board is a byte stream, a delay, a meter, flash and a pin for alarms; all else is the application's.
//!
//! An image is built for one of them: [`Selected`]. A board is a folder of `firmware/boards`, with its registers in `board.rs`, its
//! memory in `memory.x` and what programs ask of it in `board.toml`. The variable `FISHWEIR_BOARD` names the folder when an image is
//! built; without it the target chooses.
//!
//! Peripherals that several boards share live in [`drivers`](crate::drivers).

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::OutputPin;
use embedded_io::{Read, Write};
use embedded_storage::nor_flash::MultiwriteNorFlash;
use fishweir_device::alarm::Alarm;
use fishweir_device::meter::Meter;
use fishweir_device::update::MappedFlash;

/// The flash of a board whose own is not driven: a file of the emulator's or debugger's machine, as memory a copy of it.
#[cfg(all(target_os = "none", feature = "image"))]
#[allow(unused_macros, reason = "not every board lacks flash")]
macro_rules! file_flash {
    () => {
        type Flash = crate::drivers::file_flash::FileFlash;
        type MappedFlash<'m> = fishweir_device::update::Mirror<'m, Self::Flash>;
        type FlashError = crate::drivers::file_flash::FileFlashError;
        const MAPPED_WORDS: usize = crate::drivers::file_flash::LENGTH / 8;

        fn flash() -> Result<Self::Flash, Self::FlashError> {
            Self::Flash::open()
        }

        fn mapped_flash(memory: &mut [u64]) -> Result<Self::MappedFlash<'_>, Self::FlashError> {
            fishweir_device::update::Mirror::new(Self::flash()?, memory)
        }
    };
}

#[cfg(all(target_os = "none", feature = "image"))]
#[allow(unused_macros, reason = "not every board is of this kind")]
#[macro_use]
mod mps2;

// What build.rs wrote: the module of the board's folder.
#[cfg(all(target_os = "none", feature = "image"))]
include!(concat!(env!("OUT_DIR"), "/selected.rs"));
/// The board that this image is built for.
#[cfg(all(target_os = "none", feature = "image"))]
pub use selected::ThisBoard as Selected;

/// Name of the board that this image is built for: that of its folder.
#[cfg(all(target_os = "none", feature = "image"))]
pub const SELECTED_NAME: &str = env!("FISHWEIR_BOARD_NAME");

/// Board, as an application needs it.
pub trait Board {
    /// The byte stream that samples come from and decisions go to.
    type Serial: Read + Write;
    /// Timer for delays.
    type Delay: DelayNs;
    /// Meter of time and stack.
    type Meter: Meter;
    /// Pin that is high while an alarm is raised.
    type AlarmPin: OutputPin;

    /// Takes the peripherals and starts them; `None` if they have been taken before.
    fn take() -> Option<Parts<Self>>;

    /// Flash for what is saved.
    type Flash: MultiwriteNorFlash;
    /// Flash as memory.
    type MappedFlash<'m>: MappedFlash;
    /// Reason why there is no flash.
    type FlashError;
    /// Words of memory that [`mapped_flash`](Self::mapped_flash) needs: 0 if flash is memory itself.
    const MAPPED_WORDS: usize;

    /// Takes the flash.
    ///
    /// # Errors
    /// If it has been taken before, or cannot be had.
    fn flash() -> Result<Self::Flash, Self::FlashError>;

    /// Takes the flash as memory, with a copy of it in `memory` if the processor does not see it.
    ///
    /// # Errors
    /// As [`flash`](Self::flash).
    fn mapped_flash(memory: &mut [u64]) -> Result<Self::MappedFlash<'_>, Self::FlashError>;
}

/// The parts of a board.
#[derive(Debug)]
pub struct Parts<B: Board + ?Sized> {
    /// The byte stream that samples come from and decisions go to.
    pub serial: B::Serial,
    /// Timer for delays.
    pub delay: B::Delay,
    /// Meter of time and stack.
    pub meter: B::Meter,
    /// The alarm of applications that find something.
    pub alarm: Alarm<B::AlarmPin>,
}
