//! A flash that loses power at every step of a save, and leaves the step half done.

extern crate std;

use std::vec;
use std::vec::Vec;

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
    check_erase, check_read, check_write,
};

use super::*;
use crate::update::MappedFlash;

const PAGE: usize = 64;
const PAGES: usize = 6;
const WORD: usize = 4;

std::thread_local! {
    /// A clock that the flash's steps advance, by a thousand ticks each.
    pub(crate) static CLOCK: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// NOR flash of a few pages, which wears, and loses power after a number of steps: words written or pages erased.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flash {
    bytes: Vec<u8>,
    steps_left: usize,
    /// Result of the step at which the power fails: a mask of the bits that were written.
    torn: u32,
    /// Bits that cannot be cleared any more.
    stuck: Option<usize>,
    /// `true` once the power has failed: then nothing happens any more.
    dead: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    PowerLost,
    Refused(NorFlashErrorKind),
}

impl NorFlashError for Failure {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

impl From<NorFlashErrorKind> for Failure {
    fn from(kind: NorFlashErrorKind) -> Self {
        Self::Refused(kind)
    }
}

impl Flash {
    pub(crate) fn new() -> Self {
        Self::of(PAGES)
    }

    pub(crate) fn of(pages: usize) -> Self {
        let bytes = vec![ERASED; PAGE * pages];
        Self { bytes, steps_left: usize::MAX, torn: 0, stuck: None, dead: false }
    }

    /// Limits the power to `steps` steps; `torn` is the result of the one after.
    pub(crate) fn losing_power(self, steps: usize, torn: u32) -> Self {
        Self { steps_left: steps, torn, ..self }
    }

    /// Adds a bit that cannot be cleared: the lowest of this byte.
    pub(crate) fn with_stuck_byte(self, at: usize) -> Self {
        Self { stuck: Some(at), ..self }
    }

    /// Returns whether the power has failed.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead
    }

    /// Returns whether this step completes; otherwise the power fails during it.
    fn step(&mut self) -> bool {
        CLOCK.set(CLOCK.get().wrapping_add(1000));
        let done = self.steps_left > 0;
        self.steps_left = self.steps_left.saturating_sub(1);
        self.dead = !done;
        done
    }

    pub(crate) fn after_reset(mut self) -> Self {
        self.steps_left = usize::MAX;
        self.dead = false;
        self
    }
}

impl ErrorType for Flash {
    type Error = Failure;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Failure> {
        check_read(self, offset, bytes.len())?;
        bytes.copy_from_slice(&self.bytes[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = PAGE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        check_erase(self, from, to)?;
        if self.dead {
            return Err(Failure::PowerLost);
        }
        for page in (from as usize..to as usize).step_by(PAGE) {
            let done = self.step();
            let torn = self.torn.to_le_bytes();
            let page = &mut self.bytes[page..page + PAGE];
            if done {
                page.fill(ERASED);
            } else {
                // Any bits may have come up, or a part of the page.
                let some = self.torn as usize % (PAGE + 1);
                page[..some].iter_mut().zip(torn.iter().cycle()).for_each(|(b, t)| *b |= t);
                return Err(Failure::PowerLost);
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Failure> {
        check_write(self, offset, bytes.len())?;
        if self.dead {
            return Err(Failure::PowerLost);
        }
        for (index, word) in bytes.chunks(WORD).enumerate() {
            let done = self.step();
            let torn = self.torn.to_le_bytes();
            let at = offset as usize + index * WORD;
            let stuck = self.stuck;
            for (i, (to, from)) in self.bytes[at..at + WORD].iter_mut().zip(word).enumerate() {
                let held = if stuck == Some(at + i) { 1 } else { 0 };
                // Writing clears bits and never sets one.
                *to &= if done { from | held } else { from | torn[i] };
            }
            if !done {
                return Err(Failure::PowerLost);
            }
        }
        Ok(())
    }
}

impl MultiwriteNorFlash for Flash {}

impl MappedFlash for Flash {
    fn bytes(&self) -> &[u8] {
        assert!(self.bytes.as_ptr().addr().is_multiple_of(8), "a page is aligned");
        &self.bytes
    }
}

const LONGEST: usize = PAGE * PAGES / 2 - HEADER_ROOM;

fn load(flash: &Flash) -> Option<(u32, Vec<u8>)> {
    let mut buffer = [0; LONGEST];
    let mut slots = Slots::new(flash.clone());
    slots.load(&mut buffer).expect("reads").map(|kept| (kept.number, kept.value.to_vec()))
}

#[test]
fn new_flash_holds_nothing_and_then_what_was_saved_last() {
    let mut slots = Slots::new(Flash::new());
    assert_eq!(slots.load(&mut []), Ok(None));
    assert_eq!(slots.longest(), LONGEST);
    for number in 1..10 {
        let value = vec![number as u8; 17 * number % (LONGEST + 1)];
        assert_eq!(slots.save(&value), Ok(number as u32));
        assert_eq!(load(&slots.flash), Some((number as u32, value)));
    }
    assert_eq!(slots.save(&[7; LONGEST]), Ok(10));
    assert_eq!(slots.save(&[7; LONGEST + 1]), Err(StorageError::TooLong));
    assert_eq!(slots.load(&mut [0; 10]), Err(StorageError::TooLong));
}

#[test]
fn numbers_wrap_around() {
    let mut slots = Slots::new(Flash::new());
    slots.save(b"first").expect("saves");
    // The slot's header with the last number there is.
    let (number, value) = (u32::MAX, b"first");
    let mut digest = digest(number, 5);
    digest.update(value);
    slots.flash.bytes[4..8].copy_from_slice(&number.to_le_bytes());
    slots.flash.bytes[12..16].copy_from_slice(&digest.finalize().to_le_bytes());
    assert_eq!(load(&slots.flash), Some((number, value.to_vec())));
    assert_eq!(slots.save(b"next"), Ok(0));
    assert_eq!(load(&slots.flash), Some((0, b"next".to_vec())));
}

#[test]
fn flash_that_does_not_keep_a_value_is_noticed_and_the_value_before_stays() {
    let mut slots = Slots::new(Flash::new());
    slots.save(b"before").expect("saves");
    slots.flash.stuck = Some(LONGEST + HEADER_ROOM + HEADER_ROOM + 2);
    assert_eq!(slots.save(&[0; 40]), Err(StorageError::NotKept));
    assert_eq!(load(&slots.flash), Some((1, b"before".to_vec())));
}

/// Saves with a power failure at each step in turn; returns the content after each reset.
fn after_each_power_loss(flash: &Flash, value: &[u8], torn: &[u32]) -> Vec<Option<(u32, Vec<u8>)>> {
    let mut found = Vec::new();
    for steps in 0.. {
        for &torn in torn {
            let mut slots = Slots::new(Flash { steps_left: steps, torn, ..flash.clone() });
            let outcome = slots.save(value);
            let reset = slots.flash.after_reset();
            found.push(load(&reset));
            // The next save succeeds, whatever the last one left.
            let mut slots = Slots::new(reset);
            slots.save(b"again").expect("saves");
            assert_eq!(load(&slots.flash).expect("there").1, b"again");
            if outcome.is_ok() {
                return found;
            }
            assert_eq!(outcome, Err(StorageError::Flash(Failure::PowerLost)));
        }
    }
    found
}

#[test]
fn power_lost_at_any_step_leaves_the_old_value_or_the_new_one() {
    // Few lengths and patterns, but every step of every save between them, done in part in every way.
    let value = |length: usize, salt: u8| -> Vec<u8> {
        (0..length).map(|index| (index as u8).wrapping_mul(167).wrapping_add(salt)).collect()
    };
    let mixed = (1..=6_u32).map(|draw| draw.wrapping_mul(0x9e37_79b9).rotate_left(draw * 5));
    let torn: Vec<u32> = mixed.chain([0, u32::MAX, 0x0000_ffff, 1]).collect();
    for earlier in 1..=3 {
        for (before, last) in
            [(0, LONGEST), (LONGEST, 0), (1, 1), (5, LONGEST - 3), (LONGEST, LONGEST)]
        {
            let mut slots = Slots::new(Flash::new());
            for number in 0..earlier {
                slots.save(&value(before, number)).expect("saves");
            }
            let old = load(&slots.flash).expect("saved");
            assert_eq!(old, (u32::from(earlier), value(before, earlier - 1)));
            let last = value(last, 0x80);
            let after = after_each_power_loss(&slots.flash, &last, &torn);
            // Three pages to erase, the words of the value and of the header: all were tried.
            let steps = PAGES / 2 + last.len().div_ceil(WORD) + HEADER_ROOM / WORD;
            assert!(after.len() > steps * torn.len());
            for found in after {
                let found = found.expect("one of the two is there");
                let new = (u32::from(earlier) + 1, last.clone());
                assert!(found == old || found == new, "{found:?}");
            }
        }
    }
}

#[test]
fn one_slot_alone_would_lose_both_values() {
    // What the two slots are for: the same steps over the slot that holds the newest value.
    let mut slots = Slots::new(Flash::new());
    slots.save(b"first").expect("saves");
    slots.save(b"second").expect("saves");
    let both = slots.flash.clone();
    let half = both.bytes.len() / 2;
    let mut lost = 0;
    for steps in 0..8 {
        let mut flash = Flash { steps_left: steps, ..both.clone() };
        // Without the other slot to fall back on.
        flash.bytes[half..].fill(ERASED);
        let mut slots = Slots::new(flash);
        let erased = slots.flash.erase(0, half as u32);
        assert!(erased.is_ok() == (steps >= PAGES / 2));
        lost += usize::from(load(&slots.flash.after_reset()).is_none());
    }
    assert!(lost > 0);
}
