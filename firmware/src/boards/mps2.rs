//! Arm MPS2+ boards: common parts of their FPGA images.

/// The board of an image: its core's clock, which is the peripherals' (`SYSCLK`) too, and where UART 0 is,
/// on the board's serial connector; QEMU's first `-serial`.
macro_rules! mps2 {
    ($clock_hertz:literal, $uart:literal) => {
        use core::ptr::NonNull;

        use safe_mmio::UniqueMmioPointer;

        use super::{Board, Parts};
        use crate::drivers::cmsdk_uart::{BaudDivisor, CmsdkUart, Registers};
        use crate::drivers::cortex_m::SysTick;
        use crate::drivers::counter::{CounterDelay, CounterMeter};
        use crate::drivers::logged_pin::LoggedPin;
        use crate::drivers::registers_at;

        const UART0: NonNull<Registers> = registers_at($uart);
        const BAUD: BaudDivisor = BaudDivisor::new($clock_hertz, 115_200);

        /// The board.
        #[derive(Debug)]
        pub struct ThisBoard;

        impl Board for ThisBoard {
            type Serial = CmsdkUart<'static>;
            type Delay = CounterDelay<SysTick<$clock_hertz>>;
            type Meter = CounterMeter<SysTick<$clock_hertz>>;
            type AlarmPin = LoggedPin;

            fn take() -> Option<Parts<Self>> {
                let core = cortex_m::Peripherals::take()?;
                // SAFETY: the address is that of UART 0's register block on this board, device memory
                // that is always there. `Peripherals::take` succeeds once, so that no second pointer
                // to it is made.
                let uart = unsafe { UniqueMmioPointer::new(UART0) };
                let counter = SysTick::new(core.SYST);
                Some(Parts {
                    serial: CmsdkUart::new(uart, BAUD),
                    delay: CounterDelay::new(counter),
                    meter: CounterMeter::new(counter),
                    alarm: LoggedPin::alarm(),
                })
            }

            file_flash!();
        }
    };
}
