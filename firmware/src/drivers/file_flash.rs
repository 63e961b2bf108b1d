//! Flash in a file, as projects of emulated boards have it, whose power can be lost.
//!
//! Where there is a file `fishweir-power.bin`, its first four bytes say after how many steps, little-endian. A step is a word written,
//! or 64 bytes erased; the last one stays half done, and the program ends.

use fishweir_core::wire::Exit;
use semihosting::fs::File;
use semihosting::io::Read;

#[path = "../../boards/families/emulated/flash.rs"]
pub mod of_projects;

use of_projects::Power;
pub use of_projects::{FileFlashError, LENGTH};

/// 32 pages of 1 kB in `fishweir-flash.bin`.
pub type FileFlash = of_projects::FileFlash<CountedPower>;

const POWER: &core::ffi::CStr = c"fishweir-power.bin";

/// Power that lasts for a number of steps.
#[derive(Debug)]
pub struct CountedPower {
    /// Steps until the power is lost; `None` where it is not.
    steps_left: Option<u32>,
}

impl Power for CountedPower {
    fn begin() -> Result<Self, FileFlashError> {
        let Ok(mut file) = File::open(POWER) else { return Ok(Self { steps_left: None }) };
        let mut steps = [0; 4];
        file.read_exact(&mut steps)?;
        Ok(Self { steps_left: Some(u32::from_le_bytes(steps)) })
    }

    fn lasts(&mut self) -> bool {
        match &mut self.steps_left {
            None => true,
            Some(left) => match left.checked_sub(1) {
                Some(fewer) => {
                    *left = fewer;
                    true
                }
                None => false,
            },
        }
    }

    fn end() -> ! {
        crate::image::end(Exit::Failed)
    }
}

impl defmt::Format for FileFlashError {
    fn format(&self, to: defmt::Formatter<'_>) {
        match self {
            Self::File => defmt::write!(to, "File"),
            Self::Refused(kind) => defmt::write!(to, "Refused({})", defmt::Debug2Format(kind)),
        }
    }
}
