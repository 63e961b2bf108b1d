//! A pin that writes its changes to the log: an emulator has none to be looked at.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use fishweir_device::alarm::Alarm;

/// The pin; before the first change it is low.
#[derive(Debug, Default)]
pub struct LoggedPin {
    is_high: bool,
}

impl LoggedPin {
    /// An alarm on such a pin.
    #[must_use]
    pub fn alarm() -> Alarm<Self> {
        let Ok(alarm) = Alarm::new(Self::default());
        alarm
    }

    fn put(&mut self, is_high: bool) -> Result<(), Infallible> {
        if is_high != self.is_high {
            self.is_high = is_high;
            defmt::info!("alarm pin {=str}", if is_high { "high" } else { "low" });
        }
        Ok(())
    }
}

impl ErrorType for LoggedPin {
    type Error = Infallible;
}

impl OutputPin for LoggedPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.put(false)
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.put(true)
    }
}
