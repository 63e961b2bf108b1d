//! Senders that flip, cut, repeat, reorder and forge.

use super::*;

/// A generator of numbers that need not be good (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }
}

/// Mutates an update before it is sent.
fn mutated(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = update([2, 2, 2, 0xFFFF_FFFF, 1][dice.below(5)]);
    match dice.below(6) {
        0 => {}
        1 | 2 => {
            for _ in 0..1 + dice.below(3) {
                let bit = dice.below(8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        3 => bytes.truncate(HEADER_LENGTH + dice.below(bytes.len() - HEADER_LENGTH)),
        4 => {
            // A length, a version, a shape or a profile.
            let at = [8, 12, 24, 28, 34, 52, 56][dice.below(7)];
            let value = [0, 1, 0x7FFF_FFFF, u32::MAX, dice.below(600) as u32][dice.below(5)];
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        _ => bytes.extend((0..1 + dice.below(200)).map(|at| at as u8)),
    }
    bytes
}

/// Sends a mutated update over a bad line, and returns the outcome.
fn send_badly(device: &mut Device<'_>, bytes: &[u8], dice: &mut Dice) -> UpdateStatus {
    let mut status = device.offer(&header(bytes));
    let careless = dice.below(3) > 0;
    for _ in 0..40 {
        if status != UpdateStatus::Receiving {
            break;
        }
        let wanted = device.progress(Default::default(), status).wanted.get();
        let (mut transfer, mut offset) = (transfer(bytes), wanted);
        let mut data = piece(bytes, wanted as usize);
        if careless {
            match dice.below(12) {
                0 => offset = wanted.wrapping_sub(64),
                1 => offset = wanted + 64,
                2 => offset = [u32::MAX, 0, 1, wanted + 1, 0x8000_0000][dice.below(5)],
                3 => transfer ^= 1 << dice.below(32),
                4 => data[dice.below(64)] ^= 1 << dice.below(8),
                5 if dice.below(4) == 0 => break,
                // Offered again, or another one in between.
                6 => drop(device.offer(&header(bytes))),
                7 if dice.below(4) == 0 => drop(device.offer(&header(&update(3)))),
                _ => {}
            }
        }
        status = match device.chunk(transfer, offset, &data) {
            UpdateStatus::Idle => device.offer(&header(bytes)),
            status => status,
        };
    }
    status
}

/// Attacks devices that run the built-in model, or one of version 1, with `transfers` transfers.
fn attack(transfers: usize) {
    let dice = &mut Dice(0x5EED);
    let devices = [(Flash::of(PAGES), 0), (running(1), 1)];
    let (mut accepted, mut refused) = (0, [0; 32]);
    for round in 0..transfers {
        let (flash, old) = &devices[round % 2];
        let mut flash = flash.clone();
        let bytes = mutated(dice);
        let mut device = start(&mut flash);
        let status = send_badly(&mut device, &bytes, dice);
        refused[status as usize] += 1;
        let begun = device.begin_stream().expect("writes");
        assert_eq!(begun, status == UpdateStatus::Received, "{status:?}");
        // The very model of its version, whatever was sent.
        let version = runs(&device);
        if begun {
            accepted += 1;
            assert!(version > *old, "{version}");
            // Bit for bit; a sender may by chance undo what it did.
            let genuine = update(version);
            let held = [192, 512 + 192].map(|at| &flash.bytes()[at..][..genuine.len()]);
            assert!(held.contains(&&genuine[..]), "{version}");
        } else {
            assert_eq!(version, *old);
        }
        // The next honest update finds its way, but for that after the last version there is.
        if round % 16 == 0 && !begun {
            let mut device = start(&mut flash);
            assert_eq!(runs(&device), *old);
            assert_eq!(send(&mut device, &update(4)), UpdateStatus::Received, "{status:?}");
        }
    }
    assert!(accepted > transfers / 20, "{accepted}");
    for status in [
        UpdateStatus::NotAnUpdate,
        UpdateStatus::OtherShape,
        UpdateStatus::OtherProfile,
        UpdateStatus::NotNewer,
        UpdateStatus::TooLong,
        UpdateStatus::Damaged,
    ] {
        assert!(refused[status as usize] > transfers / 1000, "{status:?}: {refused:?}");
    }
}

#[test]
fn no_mutated_transfer_is_accepted_and_none_is_the_last() {
    attack(10_000);
}

#[test]
#[ignore = "a minute: tests/boards runs it"]
fn no_mutated_transfer_is_accepted_in_a_hundred_thousand() {
    attack(100_000);
}
