//! Record of how the previous run ended, in RAM that start-up code leaves alone, so that it outlives a reset.
//!
//! A loss of power clears it; a checksum distinguishes a record from random contents of RAM.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;

/// Cause of the end of a run.
pub enum Cause {
    /// A panic, in this line of a file.
    Panic { file: [u8; FILE], length: usize, line: u32 },
    /// The core refused an instruction: its address.
    #[allow(dead_code, reason = "not every board's start-up code tells")]
    Exception { address: u32 },
}

/// A run that ended by itself.
pub struct Fault {
    /// Cause of the end.
    pub cause: Cause,
    /// Number of runs in a row that ended so, without a report between them.
    pub in_a_row: u32,
}

impl Cause {
    /// The file of a panic, or the end of its name; nothing of an exception.
    pub fn file(&self) -> &str {
        match self {
            Self::Panic { file, length, .. } => {
                file.get(..*length).and_then(|name| core::str::from_utf8(name).ok()).unwrap_or("?")
            }
            Self::Exception { .. } => "",
        }
    }
}

/// Bytes kept of a file's name.
const FILE: usize = 48;
const PANIC: u32 = 1;
const EXCEPTION: u32 = 2;

#[derive(Clone, Copy)]
#[repr(C)]
struct Record {
    /// Kind of the cause; 0 once it has been reported.
    kind: u32,
    /// The line, or the address.
    place: u32,
    length: u32,
    in_a_row: u32,
    file: [u8; FILE],
    checksum: u32,
}

struct Kept(UnsafeCell<MaybeUninit<Record>>);

// SAFETY: it is touched at the start of the program, between samples, and by what ends the program, which nothing
// comes back from; there is one core.
unsafe impl Sync for Kept {}

{{uninit}}
static KEPT: Kept = Kept(UnsafeCell::new(MaybeUninit::uninit()));

impl Record {
    const NONE: Self =
        Self { kind: 0, place: 0, length: 0, in_a_row: 0, file: [0; FILE], checksum: 0 };

    /// FNV-1a of all that comes before it.
    fn sum(&self) -> u32 {
        let words = [self.kind, self.place, self.length, self.in_a_row];
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        words
            .chain(self.file)
            .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Reads the record in RAM, if it is valid.
    fn read() -> Option<Self> {
        // SAFETY: any bytes are a record; volatile, for the compiler knows of no value there.
        let record = unsafe { KEPT.0.get().cast::<Self>().read_volatile() };
        (record.checksum == record.sum()).then_some(record)
    }

    fn write(mut self) {
        self.checksum = self.sum();
        // SAFETY: as in `Kept`.
        unsafe { KEPT.0.get().cast::<Self>().write_volatile(self) };
    }
}

/// Returns the fault of the previous run, if it ended by itself, and clears it.
pub fn last() -> Option<Fault> {
    let record = Record::read().unwrap_or(Record::NONE);
    Record { kind: 0, ..record }.write();
    let cause = match record.kind {
        PANIC => Cause::Panic {
            file: record.file,
            length: record.length as usize,
            line: record.place,
        },
        EXCEPTION => Cause::Exception { address: record.place },
        _ => return None,
    };
    Some(Fault { cause, in_a_row: record.in_a_row })
}

/// Marks that the program works: a later fault is not in a row with earlier ones.
pub fn survived() {
    Record::NONE.write();
}

fn end(kind: u32, place: u32, name: &str) -> ! {
    let mut record = Record { kind, place, ..Record::NONE };
    record.in_a_row = Record::read().map_or(0, |before| before.in_a_row).saturating_add(1);
    // The end of a path says more than its beginning.
    let bytes = name.as_bytes();
    let bytes = bytes.get(bytes.len().saturating_sub(FILE)..).unwrap_or(bytes);
    record.length = bytes.len() as u32;
    record.file.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    record.write();
    crate::board::reset()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let (file, line) = info.location().map_or(("?", 0), |place| (place.file(), place.line()));
    end(PANIC, line, file)
}
{{exception}}
