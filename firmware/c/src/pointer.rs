//! C's pointers become references here, and nowhere else. Null and misaligned ones are refused.

use core::slice;

use crate::answer::Found;
use crate::shape::Started;
use crate::{Status, Stream};

/// The pointer, unless it is null or misaligned.
pub(crate) fn checked<T>(pointer: *const T) -> Result<*const T, Status> {
    if pointer.is_null() {
        Err(Status::NullPointer)
    } else if pointer.is_aligned() {
        Ok(pointer)
    } else {
        Err(Status::Misaligned)
    }
}

/// A stream that was started, by its mark.
///
/// # Safety
/// `stream` is null or points to a stream's memory.
unsafe fn marked(stream: *const Stream) -> Result<*const Started, Status> {
    const { assert!(size_of::<Started>() <= size_of::<Stream>()) };
    // `Stream` is aligned as its words are, and `Started` no stricter: see the library's root.
    let started = checked(stream)?.cast::<Started>();
    // SAFETY: not null, aligned, and of a stream's size by the caller's promise. The mark alone is
    // read: memory that was not started holds any bits, and every `u32` is one.
    let mark = unsafe { (&raw const (*started).mark).read() };
    if mark == Started::MARK { Ok(started) } else { Err(Status::NotStarted) }
}

/// Reads the content of a stream.
///
/// # Safety
/// `stream` is null or points to a stream that nothing changes during `'a`.
pub(crate) unsafe fn started<'a>(stream: *const Stream) -> Result<&'a Started, Status> {
    // SAFETY: the caller's promise; what bears the mark was written by `put`.
    unsafe { marked(stream).map(|started| &*started) }
}

/// Borrows the content of a stream to change it.
///
/// # Safety
/// `stream` is null or points to a stream that nothing else uses during `'a`.
pub(crate) unsafe fn started_mut<'a>(stream: *mut Stream) -> Result<&'a mut Started, Status> {
    // SAFETY: the caller's promise; what bears the mark was written by `put`.
    unsafe { marked(stream).map(|started| &mut *started.cast_mut()) }
}

/// Writes a value over any content.
///
/// # Safety
/// `to` is null or points to memory of a `T` that nothing else uses meanwhile.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Status> {
    checked(to)?;
    // SAFETY: not null, aligned, and ours to write by the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}

/// `wanted` numbers to read; another `count` is refused.
///
/// # Safety
/// `values` is null or points to `count` numbers that nothing changes during `'a`.
pub(crate) unsafe fn numbers<'a, T: Number>(
    values: *const T,
    count: usize,
    wanted: usize,
) -> Result<&'a [T], Status> {
    let values = checked(values)?;
    if count != wanted {
        return Err(Status::WrongSize);
    }
    // SAFETY: not null, aligned, and `count` numbers by the caller's promise.
    Ok(unsafe { slice::from_raw_parts(values, count) })
}

/// `wanted` numbers to write; another `count` is refused.
///
/// # Safety
/// `values` is null or points to `count` numbers that nothing else uses during `'a`.
pub(crate) unsafe fn numbers_mut<'a, T: Number>(
    values: *mut T,
    count: usize,
    wanted: usize,
) -> Result<&'a mut [T], Status> {
    checked(values)?;
    if count != wanted {
        return Err(Status::WrongSize);
    }
    // SAFETY: not null, aligned, and `count` numbers by the caller's promise.
    Ok(unsafe { slice::from_raw_parts_mut(values, count) })
}

/// Plain numbers of C: every bit pattern is valid.
pub(crate) trait Number {}

impl Number for f32 {}
impl Number for i16 {}
impl Number for Found {}
