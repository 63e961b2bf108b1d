//! Published power consumption of parts.

use serde::Serialize;

use crate::deploy::Currents;
use crate::device::Clock;

/// Current of a part at a clock, from its maker's document.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// The part.
    pub part: &'static str,
    /// Clocks per second.
    pub hertz: u32,
    /// Milliamperes, from the least to the most of the conditions that are published.
    pub currents: Currents,
    /// Conditions of the measurement.
    pub conditions: &'static str,
    /// Sleep mode: RAM is kept, and a timer ends it.
    pub asleep: &'static str,
    /// Title and tables of the document.
    pub source: &'static str,
}

/// Parts whose makers' figures have been found, at the clock that projects leave them at. A least figure is a typical one:
/// no document has a minimum. Where no copy of a document was found, its figures are those that two authors or more quote
/// alike, apart from each other; its source says so.
static POWERS: [Power; 6] = [
    Power {
        part: "nRF51822",
        hertz: 16_000_000,
        currents: Currents { run: [4.4, 4.4], sleep: [0.0026, 0.0026] },
        conditions: "typical, from flash; 0.75 more if the 16 MHz RC oscillator is not within",
        asleep: "System ON, 16 kB of RAM, without the RTC and the oscillator that end it",
        source: "Nordic, nRF51822 Product Specification, chapter 8, tables of power and of the CPU; quoted by others alike, not read",
    },
    Power {
        part: "STM32F103",
        hertz: 72_000_000,
        currents: Currents { run: [27.0, 50.3], sleep: [0.014, 0.370] },
        conditions: "3.3 V at 25 °C, peripherals off, to the maximum at 105 °C, peripherals on",
        asleep: "Stop, from typical to the maximum at 105 °C, without the oscillator that ends it",
        source: "ST, STM32F103x8 STM32F103xB datasheet (DS5319), tables 13, 14, 16, 17",
    },
    Power {
        part: "nRF52840",
        hertz: 64_000_000,
        currents: Currents { run: [3.3, 6.3], sleep: [0.00316, 0.00316] },
        conditions: "3 V at 25 °C, typical, CoreMark from flash, crystal, DC/DC regulator to LDO, which projects run on",
        asleep: "System ON, all 256 kB of RAM, the RTC ends it",
        source: "Nordic, nRF52840 Product Specification, tables \"CPU running\" (ICPU0, ICPU1) and \"Sleep\" (ION_RAMON_RTC); quoted by others alike, not read",
    },
    Power {
        part: "nRF5340",
        hertz: 128_000_000,
        currents: Currents { run: [7.8, 7.8], sleep: [0.785, 0.785] },
        conditions: "3 V at 25 °C, typical, CoreMark from flash on the application core, DC/DC regulator",
        asleep: "System ON, RAM as in the common conditions, 8 kB, the clock left at 128 MHz; 0.0013 once it is lowered to 64",
        source: "Nordic, nRF5340 Product Specification, tables of current consumption (IAPPCPU4, ION_IDLE3); quoted by others alike, not read",
    },
    Power {
        part: "RP2350",
        hertz: 150_000_000,
        currents: Currents { run: [11.8, 16.0], sleep: [0.158, 0.166] },
        conditions: "3.3 V, typical, sum over the rails, CoreMark on one core to hello_usb, at an unstated clock",
        asleep: "P1.4 and P1.0, which keep SRAM; the core begins anew",
        source: "Raspberry Pi, RP2350 Datasheet, tables 1445, 1446",
    },
    Power {
        part: "ESP32-C3",
        hertz: 80_000_000,
        currents: Currents { run: [17.0, 22.0], sleep: [0.130, 0.130] },
        conditions: "3.3 V, typical, radio off, peripheral clocks off to on; up to 10 mA more while flash is read",
        asleep: "Light-sleep",
        source: "Espressif, ESP32-C3 Series Datasheet v2.4, tables 5-8, 5-9",
    },
];

impl Power {
    /// Published current of a part at a clock; `None` if nothing was found.
    #[must_use]
    pub fn of(clock: Clock) -> Option<&'static Self> {
        POWERS.iter().find(|power| power.part == clock.part && power.hertz == clock.hertz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::PROJECT_BOARDS;

    #[test]
    fn what_is_published_is_of_a_board_and_in_order() {
        for Power { part, hertz, currents: Currents { run, sleep }, .. } in &POWERS {
            let mut boards = PROJECT_BOARDS.iter();
            let has = boards.any(|board| board.clock.part == *part && board.clock.hertz == *hertz);
            assert!(has, "{part}: no board runs so");
            assert!(0.0 < sleep[0] && sleep[0] <= sleep[1] && sleep[1] < run[0], "{part}");
            assert!(run[0] <= run[1], "{part}");
        }
        let faster = Clock { hertz: 160_000_000, part: "ESP32-C3" };
        assert_eq!(Power::of(faster), None, "a figure is of one clock");
    }
}
