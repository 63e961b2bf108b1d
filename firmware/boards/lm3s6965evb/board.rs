//! Stellaris LM3S6965 evaluation board: Cortex-M3 at 50 MHz. QEMU's `lm3s6965evb`.
#![allow(unsafe_code, reason = "the addresses of registers")]

use safe_mmio::UniqueMmioPointer;

use super::{Board, Parts};
use crate::drivers::cortex_m::SysTick;
use crate::drivers::counter::{CounterDelay, CounterMeter};
use crate::drivers::lm3s::{CLOCK_HERTZ, PortRegisters, System, SystemRegisters};
use crate::drivers::logged_pin::LoggedPin;
use crate::drivers::pl011_uart::{BaudDivisor, Pl011Uart, Registers};
use crate::drivers::registers_at;

const BAUD: BaudDivisor = BaudDivisor::new(CLOCK_HERTZ, 115_200);

/// The board.
#[derive(Debug)]
pub struct ThisBoard;

impl Board for ThisBoard {
    type Serial = Pl011Uart<'static>;
    type Delay = CounterDelay<SysTick<CLOCK_HERTZ>>;
    type Meter = CounterMeter<SysTick<CLOCK_HERTZ>>;
    type AlarmPin = LoggedPin;

    fn take() -> Option<Parts<Self>> {
        let core = cortex_m::Peripherals::take()?;
        // SAFETY: the addresses are those of the part's register blocks (its data sheet), device
        // memory that is always there. `Peripherals::take` succeeds once, so that no second pointers to
        // them are made.
        let (system, port_a, uart) = unsafe {
            (
                UniqueMmioPointer::new(registers_at::<SystemRegisters>(0x400F_E000)),
                UniqueMmioPointer::new(registers_at::<PortRegisters>(0x4000_4000)),
                UniqueMmioPointer::new(registers_at::<Registers>(0x4000_C000)),
            )
        };
        System::at_50_megahertz(system).connect_uart_0(port_a);
        let counter = SysTick::new(core.SYST);
        Some(Parts {
            serial: Pl011Uart::new(uart, BAUD),
            delay: CounterDelay::new(counter),
            meter: CounterMeter::new(counter),
            alarm: LoggedPin::alarm(),
        })
    }

    file_flash!();
}
