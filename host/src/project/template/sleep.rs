//! Futures without an executor: the core sleeps until something happens.

use core::pin::pin;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// Something that a future waits for has happened.
static IS_WOKEN: AtomicBool = AtomicBool::new(false);

static WAKER: RawWakerVTable = RawWakerVTable::new(|_| waker(), |_| wake(), |_| wake(), |_| ());

fn waker() -> RawWaker {
    RawWaker::new(ptr::null(), &WAKER)
}

fn wake() {
    IS_WOKEN.store(true, Ordering::Release);
}

/// Runs a future to its end.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    // SAFETY: the functions of the table use no data.
    let waker = unsafe { Waker::from_raw(waker()) };
    let mut context = Context::from_waker(&waker);
    loop {
        IS_WOKEN.store(false, Ordering::Relaxed);
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !IS_WOKEN.load(Ordering::Acquire) {
            // An interrupt that comes between the question and the sleep is held back, and ends the sleep.
            critical_section::with(|_| {
                if !IS_WOKEN.load(Ordering::Acquire) {
                    {{idle}};
                }
            });
        }
    }
}
