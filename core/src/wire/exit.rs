/// End of the program on the device, as its exit code. An emulator that fails by itself returns 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Exit {
    /// The host asked it to stop, or the stream ended.
    Done = 0,
    /// The model was refused, or the transport failed. The log says why.
    Failed = 3,
    /// The processor took a hard fault.
    HardFault = 4,
    /// The program panicked.
    Panic = 101,
}

impl Exit {
    /// The meaning of an exit code; `None` if the code is unknown.
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::Done),
            3 => Some(Self::Failed),
            4 => Some(Self::HardFault),
            101 => Some(Self::Panic),
            _ => None,
        }
    }

    /// The exit code.
    #[must_use]
    pub const fn code(self) -> i32 {
        self as i32
    }
}
