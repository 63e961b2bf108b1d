//! Common parts of every image: takes the board, logs, exits, reports panics.
//!
//! Semihosting carries the log and the exit code, never samples: those go through the board's serial
//! port. Nothing here prints text, which would corrupt the log's binary stream.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
use defmt_semihosting as _;
use fishweir_core::wire::Exit;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

use crate::boards::{Board, Parts, SELECTED_NAME, Selected};
use crate::drivers::stack;

/// Takes the board that the image is built for, and paints the stack. Call it once, from the entry
/// point.
pub fn start(application: &str) -> Parts<Selected> {
    stack::paint();
    let Some(parts) = Selected::take() else {
        defmt::error!("the board's peripherals are taken");
        end(Exit::Failed)
    };
    defmt::info!("{=str} on {=str}", application, SELECTED_NAME);
    parts
}

/// Returns the value, or ends the program: the log names the failure and its reason.
pub fn expect<T, E: defmt::Format>(result: Result<T, E>, what: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => {
            defmt::error!("{=str}: {}", what, error);
            end(Exit::Failed)
        }
    }
}

/// Ends the program with the result's exit code.
pub fn finish<T, E: defmt::Format>(result: Result<T, E>, what: &str) -> ! {
    expect(result, what);
    end(Exit::Done)
}

/// Ends the program, and with it the emulator or the debugger's session.
pub fn end(exit: Exit) -> ! {
    semihosting::process::exit(exit.code())
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    // A panic inside the logger must not log again. (Load and store: a Cortex-M0 has no swap.)
    let again = PANICKED.load(Ordering::Relaxed);
    PANICKED.store(true, Ordering::Relaxed);
    // The place is enough to find it; formatting the message would cost more flash than the program.
    if let (false, Some(place)) = (again, info.location()) {
        defmt::error!("panicked at {=str}:{=u32}", place.file(), place.line());
    }
    end(Exit::Panic)
}
