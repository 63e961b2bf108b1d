//! What every image does besides its application: logs, exit code, panics.
//!
//! Semihosting carries the log and the exit code, never samples: those go through the board's serial
//! port. Nothing here prints text, which would corrupt the log's binary stream.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use defmt_semihosting as _;
use embedded_io::ErrorType;
use fishweir_core::filter::Running;

use crate::applications::classify_stream::classify_stream;
use crate::boards::Board;
use crate::model;
use crate::protocol::Exit;

/// Runs `classify_stream` on a board and ends the program. Call it once, from the entry point.
pub fn run<B>() -> !
where
    B: Board<Serial: ErrorType<Error: defmt::Format>>,
{
    let Some(board) = B::take() else {
        defmt::error!("the board's peripherals are taken");
        end(Exit::Failed)
    };
    defmt::info!("classify_stream on {=str}", B::NAME);
    let model = match model::load() {
        Ok(model) => model,
        Err(error) => {
            defmt::error!("the model was refused: {}", error);
            end(Exit::Failed)
        }
    };
    let (mut serial, meter) = board.split();
    let mut classifier = Running::new(model);
    match classify_stream(&mut serial, &mut classifier, &meter) {
        Ok(_) => end(Exit::Done),
        Err(error) => {
            defmt::error!("the stream broke off: {}", error);
            end(Exit::Failed)
        }
    }
}

/// Ends the program, and with it the emulator or the debugger's session.
pub(crate) fn end(exit: Exit) -> ! {
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
