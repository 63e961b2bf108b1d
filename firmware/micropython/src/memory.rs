//! Functions that compilers call: targets without an operating system bring them along, x86-64 does not.

use core::arch::asm;

/// Copies `count` bytes.
///
/// # Safety
/// As C's `memcpy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the direction flag is clear between functions.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// Copies `count` bytes that may overlap.
///
/// # Safety
/// As C's `memmove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to.addr()).wrapping_sub(from.addr()) >= count {
        // SAFETY: the caller's promise; what is read lies behind what is written.
        return unsafe { memcpy(to, from, count) };
    }
    // SAFETY: the caller's promise; from the last byte on, for `to` lies behind `from`.
    unsafe {
        let (last_to, last_from) =
            (to.wrapping_add(count).wrapping_sub(1), from.wrapping_add(count).wrapping_sub(1));
        asm!("std", "rep movsb", "cld", inout("rcx") count => _, inout("rdi") last_to => _,
            inout("rsi") last_from => _, options(nostack));
    }
    to
}

/// Fills `count` bytes.
///
/// # Safety
/// As C's `memset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller's promise; the direction flag is clear between functions.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    to
}

/// Compares `count` bytes.
///
/// # Safety
/// As C's `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    for n in 0..count {
        // SAFETY: the caller's promise.
        let (one, other) = unsafe { (one.add(n).read_volatile(), other.add(n).read_volatile()) };
        if one != other {
            return i32::from(one) - i32::from(other);
        }
    }
    0
}

/// Compares `count` bytes for equality.
///
/// # Safety
/// As `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { memcmp(one, other, count) }
}

/// Counts the bytes before a zero.
///
/// # Safety
/// As C's `strlen`.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut count = 0;
    // SAFETY: the caller's promise.
    while unsafe { text.add(count).read_volatile() } != 0 {
        count += 1;
    }
    count
}
