//! Arm MPS2+ with the AN386 FPGA image: Cortex-M4F at 25 MHz (Arm DAI 0386). QEMU's `mps2-an386`.
#![allow(unsafe_code, reason = "the address of the UART's registers")]

use core::ptr::NonNull;

use safe_mmio::UniqueMmioPointer;

use super::{Board, Parts};
use crate::drivers::cmsdk_uart::{BaudDivisor, CmsdkUart, Registers};
use crate::drivers::cortex_m::SysTick;
use crate::drivers::counter::{CounterDelay, CounterMeter};
use crate::drivers::registers_at;

/// Core and peripheral clock (`SYSCLK`).
const CLOCK_HERTZ: u32 = 25_000_000;

/// UART 0, on the board's serial connector; QEMU's first `-serial`.
const UART0: NonNull<Registers> = registers_at(0x4000_4000);

const BAUD: BaudDivisor = BaudDivisor::new(CLOCK_HERTZ, 115_200);

/// The board.
#[derive(Debug)]
pub struct Mps2An386;

impl Board for Mps2An386 {
    const NAME: &'static str = "mps2-an386";
    type Serial = CmsdkUart<'static>;
    type Delay = CounterDelay<SysTick<CLOCK_HERTZ>>;
    type Meter = CounterMeter<SysTick<CLOCK_HERTZ>>;

    fn take() -> Option<Parts<Self>> {
        let core = cortex_m::Peripherals::take()?;
        // SAFETY: the address is that of UART 0's register block on this board, device memory that is
        // always there. `Peripherals::take` succeeds once, so that no second pointer to it is made.
        let uart = unsafe { UniqueMmioPointer::new(UART0) };
        let counter = SysTick::new(core.SYST);
        Some(Parts {
            serial: CmsdkUart::new(uart, BAUD),
            delay: CounterDelay::new(counter),
            meter: CounterMeter::new(counter),
        })
    }
}
