//! A pin that says that an alarm is raised: a lamp, a buzzer, the input of another controller.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};

/// Samples for which [applications](crate::applications) raise the alarm after an event or a change.
pub const SHOWN: u32 = 50;

/// A pin that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoPin;

impl ErrorType for NoPin {
    type Error = Infallible;
}

impl OutputPin for NoPin {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl Alarm<NoPin> {
    /// An alarm without a pin.
    #[must_use]
    pub const fn none() -> Self {
        Self { pin: NoPin, is_raised: false, left: None }
    }
}

/// An alarm on a pin, which is high while it is raised.
///
/// A classifier's alarm follows its decisions: [`set`](Self::set). That of a detector or a spotter is raised for a number of
/// samples: [`raise`](Self::raise), and [`pass`](Self::pass) after each sample.
///
/// ```
/// # use core::convert::Infallible;
/// # use embedded_hal::digital::{ErrorType, OutputPin};
/// # struct Pin;
/// # impl ErrorType for Pin { type Error = Infallible; }
/// # impl OutputPin for Pin {
/// #     fn set_low(&mut self) -> Result<(), Infallible> { Ok(()) }
/// #     fn set_high(&mut self) -> Result<(), Infallible> { Ok(()) }
/// # }
/// use fishweir_device::alarm::Alarm;
///
/// # fn main() -> Result<(), Infallible> {
/// let mut alarm = Alarm::new(Pin)?;
/// alarm.raise(50)?;
/// for _sample in 0..50 {
///     alarm.pass()?;
/// }
/// assert!(!alarm.is_raised());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Alarm<P> {
    pin: P,
    is_raised: bool,
    /// Samples for which it stays raised; `None` until it is lowered.
    left: Option<u32>,
}

impl<P: OutputPin> Alarm<P> {
    /// An alarm that is not raised: the pin is set low.
    ///
    /// # Errors
    /// When the pin cannot be set.
    pub fn new(mut pin: P) -> Result<Self, P::Error> {
        pin.set_low()?;
        Ok(Self { pin, is_raised: false, left: None })
    }

    /// Raises the alarm or lowers it, until the next word.
    ///
    /// # Errors
    /// When the pin cannot be set; the alarm stays as it was.
    pub fn set(&mut self, is_raised: bool) -> Result<(), P::Error> {
        self.put(is_raised)?;
        self.left = None;
        Ok(())
    }

    /// Raises the alarm for a number of samples. One that is raised for longer stays so.
    ///
    /// # Errors
    /// When the pin cannot be set; the alarm stays as it was.
    pub fn raise(&mut self, samples: u32) -> Result<(), P::Error> {
        let endless = self.is_raised && self.left.is_none();
        if samples == 0 || endless {
            return Ok(());
        }
        self.put(true)?;
        self.left = Some(samples.max(self.left.unwrap_or(0)));
        Ok(())
    }

    /// Counts a sample of the time for which the alarm is raised.
    ///
    /// # Errors
    /// When the pin cannot be set: it is tried again after the next sample.
    pub fn pass(&mut self) -> Result<(), P::Error> {
        let Some(left) = self.left.map(|left| left.saturating_sub(1)) else { return Ok(()) };
        self.left = Some(left);
        if left > 0 {
            return Ok(());
        }
        self.put(false)?;
        self.left = None;
        Ok(())
    }

    /// Counts samples of the time for which an application has it raised, as many as can matter. A pin that fails is tried again.
    pub(crate) fn pass_all(&mut self, samples: u32) {
        for _ in 0..samples.min(SHOWN) {
            let _ = self.pass();
        }
    }

    /// Returns whether the alarm is raised.
    pub fn is_raised(&self) -> bool {
        self.is_raised
    }

    /// Sets the pin, if it is not set so.
    fn put(&mut self, is_raised: bool) -> Result<(), P::Error> {
        if is_raised != self.is_raised {
            self.pin.set_state(is_raised.into())?;
            self.is_raised = is_raised;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use embedded_hal::digital::{ErrorKind, ErrorType};

    use super::*;

    /// A pin that keeps what it was set to, and may be stuck.
    #[derive(Default)]
    struct Pin {
        levels: Vec<bool>,
        is_stuck: bool,
    }

    impl ErrorType for Pin {
        type Error = ErrorKind;
    }

    impl Pin {
        fn put(&mut self, level: bool) -> Result<(), ErrorKind> {
            if self.is_stuck {
                return Err(ErrorKind::Other);
            }
            self.levels.push(level);
            Ok(())
        }
    }

    impl OutputPin for Pin {
        fn set_low(&mut self) -> Result<(), ErrorKind> {
            self.put(false)
        }

        fn set_high(&mut self) -> Result<(), ErrorKind> {
            self.put(true)
        }
    }

    #[test]
    fn the_pin_follows_decisions() {
        let mut alarm = Alarm::new(Pin::default()).expect("a pin");
        for (raised, _) in [(false, 0), (true, 1), (true, 2), (false, 3), (true, 4)] {
            alarm.set(raised).expect("a pin");
            alarm.pass().expect("no sample lowers it");
            assert_eq!(alarm.is_raised(), raised);
        }
        assert_eq!(alarm.pin.levels, [false, true, false, true], "set where it changes");
    }

    #[test]
    fn a_finding_is_shown_for_its_samples_and_another_makes_it_longer() {
        let mut alarm = Alarm::new(Pin::default()).expect("a pin");
        alarm.raise(0).expect("a pin");
        assert!(!alarm.is_raised());
        let mut high = 0;
        for sample in 0..20 {
            if [3, 5].contains(&sample) {
                alarm.raise(4).expect("a pin");
                alarm.raise(1).expect("a shorter one changes nothing");
            }
            high += u32::from(alarm.is_raised());
            alarm.pass().expect("a pin");
        }
        assert_eq!((high, &*alarm.pin.levels), (6, &[false, true, false][..]));
        // What stays until the next word is not made to end.
        alarm.set(true).expect("a pin");
        alarm.raise(1).expect("a pin");
        alarm.pass().expect("a pin");
        assert!(alarm.is_raised());
    }

    #[test]
    fn a_pin_that_fails_is_tried_again() {
        let mut alarm = Alarm::new(Pin::default()).expect("a pin");
        alarm.raise(1).expect("a pin");
        alarm.pin.is_stuck = true;
        assert!(alarm.pass().is_err() && alarm.is_raised());
        assert!(alarm.pass().is_err());
        alarm.pin.is_stuck = false;
        alarm.pass().expect("a pin");
        assert!(!alarm.is_raised());
        assert!(Alarm::new(Pin { is_stuck: true, ..Pin::default() }).is_err());
    }
}
