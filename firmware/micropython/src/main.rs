//! A native module of MicroPython around the model that was compiled in.
//!
//! ```text
//! mpy_init -> Stream (a type), CLASSES, CHANNELS, ... in the module's globals
//! Stream() -> state of a stream in MicroPython's heap; its methods push samples and return answers
//! ```
//!
//! MicroPython hands over one table of functions, by version 6.3 of its native interface: `runtime.rs` has what a module
//! takes of it, and all that is unsafe but for the entries that MicroPython calls. Types and functions are made in its heap at
//! the import: a module has no variables.
//!
//! Nothing panics: a module in which a panic can be reached does not link. An exception of MicroPython leaves a function of
//! this module at once, by a jump: whatever may raise one is called before the state changes, or after.
#![no_std]
#![no_main]
#![deny(unsafe_op_in_unsafe_fn)]
#![allow(unsafe_code, reason = "entries that MicroPython calls")]

#[path = "../../c/src/answer.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the C interface")]
mod answer;
mod answers;
mod constants;
#[cfg(target_arch = "x86_64")]
mod memory;
#[path = "../../c/src/panic.rs"]
mod panic;
mod runtime;
#[path = "../../c/src/sample.rs"]
#[allow(dead_code, reason = "shared with the C interface")]
mod sample;
mod samples;
#[path = "../../c/src/shape.rs"]
#[allow(dead_code, reason = "shared with the C interface")]
mod shape;
#[path = "../../c/src/status.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the C interface")]
mod status;
mod stream;

use runtime::{Function, Object, Runtime};
use status::Status;

/// The entry: MicroPython calls it at the import, with the function that the module's code is.
///
/// # Safety
/// `function` is what MicroPython calls the module by.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".text.mpy_init")]
unsafe extern "C" fn mpy_init(function: *const Function) -> Object {
    // SAFETY: the caller's promise.
    let (runtime, context) = unsafe { Runtime::of(function) };
    context.within(runtime, || {
        runtime.check_floats(context);
        runtime.store(context, runtime::name::STREAM, stream::make_type(runtime, context));
        constants::store(runtime, context);
    });
    runtime.none()
}
