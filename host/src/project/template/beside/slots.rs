//! A copy in RAM of the slots in flash, which the processor does not see as memory.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

use fishweir_device::update::Mirror;

use crate::flash::{self, LENGTH, Own};

/// The slots.
pub type Slots = Mirror<'static, Own>;

struct Memory(UnsafeCell<[u64; LENGTH / 8]>);

// SAFETY: it is handed out once.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory(UnsafeCell::new([0; LENGTH / 8]));
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the slots; `None` if they are taken, or the flash cannot be read.
pub fn open() -> Option<Slots> {
    // Load and store, as not every core has more: nothing here runs in an interrupt.
    if IS_TAKEN.load(Ordering::Relaxed) {
        return None;
    }
    IS_TAKEN.store(true, Ordering::Relaxed);
    // SAFETY: this is reached once.
    let memory = unsafe { &mut *MEMORY.0.get() };
    Mirror::new(flash::open()?, memory).ok()
}
