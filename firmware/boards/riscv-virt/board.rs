//! QEMU's RISC-V machine `virt`, as an RV32IMAC microcontroller. It has no clock of its own.
#![allow(unsafe_code, reason = "the addresses of registers")]

use core::sync::atomic::{AtomicBool, Ordering};

use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadPure;

use super::{Board, Parts};
use crate::drivers::counter::{CounterDelay, CounterMeter};
use crate::drivers::logged_pin::LoggedPin;
use crate::drivers::ns16550_uart::{BaudDivisor, Ns16550Uart, Registers};
use crate::drivers::registers_at;
use crate::drivers::riscv::{Cycles, MachineTime};

/// QEMU runs an instruction a nanosecond with `-icount shift=0`.
const INSTRUCTIONS_A_SECOND: u32 = 1_000_000_000;

/// `mtime`, as the machine's device tree says (`timebase-frequency`).
const TIMER_HERTZ: u32 = 10_000_000;

/// Divisor for the UART's clock, which the device tree gives.
const BAUD: BaudDivisor = BaudDivisor::new(3_686_400, 115_200);

/// The board.
#[derive(Debug)]
pub struct ThisBoard;

impl Board for ThisBoard {
    type Serial = Ns16550Uart<'static>;
    type Delay = CounterDelay<MachineTime<'static, TIMER_HERTZ>>;
    type Meter = CounterMeter<Cycles<INSTRUCTIONS_A_SECOND>>;
    type AlarmPin = LoggedPin;

    fn take() -> Option<Parts<Self>> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        // SAFETY: the addresses are those of the machine's register blocks (its device tree), device
        // memory that is always there. This is reached once, so that no second pointers to them are made.
        let (uart, time) = unsafe {
            (
                UniqueMmioPointer::new(registers_at::<Registers>(0x1000_0000)),
                UniqueMmioPointer::new(registers_at::<ReadPure<u32>>(0x0200_BFF8)),
            )
        };
        Some(Parts {
            serial: Ns16550Uart::new(uart, BAUD),
            delay: CounterDelay::new(MachineTime::new(time)),
            meter: CounterMeter::new(Cycles),
            alarm: LoggedPin::alarm(),
        })
    }

    file_flash!();
}
