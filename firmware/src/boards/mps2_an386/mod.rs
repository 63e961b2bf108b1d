//! Arm MPS2+ with the AN386 FPGA image: Cortex-M4F at 25 MHz (Arm DAI 0386). QEMU's `mps2-an386`.
#![allow(unsafe_code, reason = "the address of the UART's registers")]

use core::ptr::NonNull;

use safe_mmio::UniqueMmioPointer;

use super::Board;
use crate::drivers::cmsdk_uart::{BaudDivisor, CmsdkUart, Registers};
use crate::drivers::cortex_m::SysTickMeter;

/// Core and peripheral clock (`SYSCLK`).
const CLOCK_HERTZ: u32 = 25_000_000;

/// UART 0, on the board's serial connector; QEMU's first `-serial`.
const UART0: NonNull<Registers> =
    NonNull::without_provenance(core::num::NonZero::new(0x4000_4000).expect("not zero"));

const BAUD: BaudDivisor = BaudDivisor::new(CLOCK_HERTZ, 115_200);

/// The board.
#[derive(Debug)]
pub struct Mps2An386 {
    serial: CmsdkUart<'static>,
    meter: SysTickMeter<CLOCK_HERTZ>,
}

impl Board for Mps2An386 {
    const NAME: &'static str = "mps2-an386";
    type Serial = CmsdkUart<'static>;
    type Meter = SysTickMeter<CLOCK_HERTZ>;

    fn take() -> Option<Self> {
        let core = cortex_m::Peripherals::take()?;
        // SAFETY: the address is that of UART 0's register block on this board, device memory that is
        // always there. `Peripherals::take` succeeds once, so that no second pointer to it is made.
        let registers = unsafe { UniqueMmioPointer::new(UART0) };
        Some(Self { serial: CmsdkUart::new(registers, BAUD), meter: SysTickMeter::new(core.SYST) })
    }

    fn split(self) -> (Self::Serial, Self::Meter) {
        (self.serial, self.meter)
    }
}
