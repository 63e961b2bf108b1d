//! Depth of the stack: unused memory is painted, and overwritten paint shows the use.
#![allow(unsafe_code, reason = "the stack pointer, linker symbols, unused memory")]

/// Pattern of unused stack.
const PAINT: u32 = 0xA5C3_5A3C;

/// Paints all of the stack that is not in use.
pub fn paint() {
    // SAFETY: from the end of the stack's memory.
    unsafe { fill(end()) };
}

/// The deepest that the stack has been since [`paint`], in bytes.
#[must_use]
pub fn deepest() -> u32 {
    // SAFETY: the words lie between the two ends of the stack's memory.
    start() - unsafe { first_used(end(), start()) }
}

/// Does `work` and returns how far below its caller the stack went, in bytes: at most `depth`, a multiple
/// of four, or as much as there is.
///
/// What `work` borrows lies above and is not counted. Paints: [`deepest`] says less afterwards.
/// Interrupts that use this stack must be off.
#[inline(never)]
pub fn used_by(depth: u32, work: impl FnOnce()) -> u32 {
    let bottom = pointer().saturating_sub(depth).max(end());
    // SAFETY: from somewhere in the stack's memory.
    let top = unsafe { fill(bottom) };
    call(work);
    // SAFETY: both lie in the stack's memory.
    top - unsafe { first_used(bottom, top) }
}

/// Gives the work a stack frame of its own.
#[inline(never)]
fn call(work: impl FnOnce()) {
    work();
}

/// Paints the words from `bottom` up to the stack pointer, which it returns.
///
/// # Safety
/// `bottom` is aligned to words, and lies in the stack's memory.
#[inline(always)]
unsafe fn fill(bottom: u32) -> u32 {
    let top;
    // One block of assembly, because a compiler may use the stack between any two statements.
    // SAFETY: writes aligned words of the stack's memory below the stack pointer, which nothing uses.
    #[cfg(target_arch = "arm")]
    unsafe {
        core::arch::asm!(
            "mov {top}, sp",
            "b 3f",
            "2: str {paint}, [{word}]",
            "adds {word}, #4",
            "3: cmp {word}, {top}",
            "blo 2b",
            word = inout(reg) bottom => _, top = out(reg) top, paint = in(reg) PAINT,
            options(nostack),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "riscv32")]
    unsafe {
        core::arch::asm!(
            "mv {top}, sp",
            "j 3f",
            "2: sw {paint}, 0({word})",
            "addi {word}, {word}, 4",
            "3: bltu {word}, {top}, 2b",
            word = inout(reg) bottom => _, top = out(reg) top, paint = in(reg) PAINT,
            options(nostack),
        );
    }
    top
}

/// The lowest word of `bottom..top` without paint, or `top`.
///
/// # Safety
/// Both are aligned to words, and the RAM between them is the stack's.
#[inline(always)]
unsafe fn first_used(bottom: u32, top: u32) -> u32 {
    let unpainted = |&word: &u32| {
        let word = core::ptr::with_exposed_provenance::<u32>(word as usize);
        // SAFETY: aligned RAM of the stack, as the caller promises; a volatile read of a word that is
        // in use yields some value.
        unsafe { word.read_volatile() != PAINT }
    };
    (bottom..top).step_by(4).find(unpainted).unwrap_or(top)
}

/// Lowest address of the stack's memory.
fn end() -> u32 {
    unsafe extern "C" {
        static mut _stack_end: u32;
    }
    (&raw const _stack_end).addr() as u32
}

/// One past the highest address of the stack's memory.
fn start() -> u32 {
    unsafe extern "C" {
        static mut _stack_start: u32;
    }
    (&raw const _stack_start).addr() as u32
}

/// The stack pointer, about here.
#[inline(always)]
fn pointer() -> u32 {
    let pointer: u32;
    // SAFETY: copies a register. Both architectures call it `sp`.
    unsafe {
        #[cfg(target_arch = "arm")]
        core::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "riscv32")]
        core::arch::asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}
