//! How deep a piece of work takes the stack.
#![allow(unsafe_code, reason = "paints and reads the unused stack")]

use cortex_m::register::msp;

/// What unused stack is painted with.
const PAINT: u32 = 0xA5C3_5A3C;

/// Does `work` and says how far below its caller the stack went, in bytes: at most `depth`, a multiple
/// of four that the board's memory must hold below the stack in use.
///
/// What `work` borrows lies above and is not counted. Interrupts that use the main stack must be off.
#[inline(never)]
pub fn stack_used(depth: u32, work: impl FnOnce()) -> u32 {
    let top = msp::read();
    let bottom = top - depth;
    for word in (bottom..top).step_by(4) {
        // SAFETY: aligned, and below the stack pointer of this function, which calls nothing until
        // the work: RAM that nothing uses, by this function's contract.
        unsafe {
            core::ptr::with_exposed_provenance_mut::<u32>(word as usize).write_volatile(PAINT)
        }
    }
    call(work);
    for word in (bottom..top).step_by(4) {
        // SAFETY: as above; volatile reads of what calls have left there.
        let content =
            unsafe { core::ptr::with_exposed_provenance::<u32>(word as usize).read_volatile() };
        if content != PAINT {
            return top - word;
        }
    }
    0
}

/// Gives the work a stack frame of its own.
#[inline(never)]
fn call(work: impl FnOnce()) {
    work();
}
