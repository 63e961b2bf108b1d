//! BBC micro:bit, first edition: Nordic nRF51822, Cortex-M0 at 16 MHz, 16 kB of RAM. QEMU's `microbit`.
#![allow(unsafe_code, reason = "the addresses of registers")]

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};

use safe_mmio::UniqueMmioPointer;

use super::{Board, Parts};
use crate::drivers::counter::{CounterDelay, CounterMeter};
use crate::drivers::logged_pin::LoggedPin;
use crate::drivers::nrf51::flash::{self, Flash};
use crate::drivers::nrf51::pins::{Pin, Pins};
use crate::drivers::nrf51::timer::Timer;
use crate::drivers::nrf51::uart::{BaudRate, Uart};
use crate::drivers::nrf51::{clock, pins, timer, uart};
use crate::drivers::registers_at;

/// The lines to the interface chip, which is a serial port on USB.
const TRANSMIT: Pin = Pin::new(24);
const RECEIVE: Pin = Pin::new(25);

/// The board.
#[derive(Debug)]
pub struct ThisBoard;

impl Board for ThisBoard {
    type Serial = Uart<'static>;
    type Delay = CounterDelay<Timer<'static>>;
    type Meter = CounterMeter<Timer<'static>>;
    type AlarmPin = LoggedPin;

    fn take() -> Option<Parts<Self>> {
        cortex_m::Peripherals::take()?;
        // SAFETY: the addresses are those of the part's register blocks (nRF51 reference manual),
        // device memory that is always there. `Peripherals::take` succeeds once, so that no second
        // pointers to them are made.
        let (clock, uart, timer, pins) = unsafe {
            (
                UniqueMmioPointer::new(registers_at::<clock::Registers>(0x4000_0000)),
                UniqueMmioPointer::new(registers_at::<uart::Registers>(0x4000_2000)),
                UniqueMmioPointer::new(registers_at::<timer::Registers>(0x4000_8000)),
                UniqueMmioPointer::new(registers_at::<pins::Registers>(0x5000_0000)),
            )
        };
        clock::use_crystal(clock);
        let mut pins = Pins::new(pins);
        pins.output_high(TRANSMIT);
        pins.input(RECEIVE);
        let counter = Timer::new(timer);
        Some(Parts {
            serial: Uart::new(uart, TRANSMIT, RECEIVE, BaudRate::Baud115200),
            delay: CounterDelay::new(counter),
            meter: CounterMeter::new(counter),
            alarm: LoggedPin::alarm(),
        })
    }

    type Flash = Flash<'static>;
    type MappedFlash<'m> = Flash<'static>;
    type FlashError = FlashTaken;
    /// The flash is memory itself.
    const MAPPED_WORDS: usize = 0;

    fn flash() -> Result<Self::Flash, FlashTaken> {
        take_flash()
    }

    fn mapped_flash(_: &mut [u64]) -> Result<Self::Flash, FlashTaken> {
        take_flash()
    }
}

/// Address of the pages for saved values, which `memory.x` leaves free.
const SAVED_AT: usize = 248 * 1024;
const SAVED_WORDS: usize = 8 * flash::PAGE / flash::WORD;

/// The flash has been taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FlashTaken;

/// The last eight pages of the part's flash, for saved values.
///
/// # Errors
/// If they have been taken before.
fn take_flash() -> Result<Flash<'static>, FlashTaken> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    // Load and store, no swap, which a Cortex-M0 does not have: nothing here runs in an interrupt.
    if TAKEN.load(Ordering::Relaxed) {
        return Err(FlashTaken);
    }
    TAKEN.store(true, Ordering::Relaxed);
    let words = NonNull::slice_from_raw_parts(registers_at(SAVED_AT), SAVED_WORDS);
    // SAFETY: the address of the controller's register block, and that of flash which the linker leaves
    // free; both are always there. This is reached once, so that no second pointers to them are made.
    let (registers, words) = unsafe {
        (
            UniqueMmioPointer::new(registers_at::<flash::Registers>(0x4001_E000)),
            UniqueMmioPointer::new(words),
        )
    };
    Ok(Flash::new(registers, words))
}
