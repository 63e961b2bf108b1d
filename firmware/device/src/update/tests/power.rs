//! Power lost at every single step of an update.

use super::*;

/// Torn steps: some bits done, all but none, half a word.
const TORN: [u32; 6] = [0, u32::MAX, 0x0000_FFFF, 0x9E37_79B9, 0x0102_0408, 1];

/// Boots, sends the update, begins with it, confirms: all that writes. It ends where the power does.
fn session(flash: &mut Flash, update: &[u8]) {
    let Ok(mut device) = Updates::<_, _, Model, 2>::start(&mut *flash, NoSignature, 0, None) else {
        assert!(flash.is_dead());
        return;
    };
    let status = send(&mut device, update);
    if status != UpdateStatus::Flash && device.begin_stream().is_ok() {
        let _ = device.confirm();
    }
}

/// Every state that a cut somewhere in a session leaves, and how many steps a whole one has.
fn cut_everywhere(before: &Flash, update: &[u8], mut then: impl FnMut(usize, Flash)) -> usize {
    for steps in 0.. {
        for torn in TORN {
            let mut flash = before.clone().losing_power(steps, torn);
            session(&mut flash, update);
            if !flash.is_dead() {
                return steps;
            }
            then(steps, flash.after_reset());
        }
    }
    0
}

#[test]
fn after_a_cut_at_any_step_the_old_or_the_new_model_runs_and_the_transfer_is_completed() {
    // Nothing but the built-in model; one slot used; both, with the older one to be erased; a refused one.
    let mut both = running(1);
    session(&mut both, &update(2));
    let mut refused = both.clone();
    assert_eq!(send(&mut start(&mut refused), &update(3)), UpdateStatus::Received);
    for _ in 0..3 {
        start(&mut refused);
    }
    for (before, old) in [(Flash::of(PAGES), 0), (running(1), 1), (both, 2), (refused, 2)] {
        assert_eq!(runs(&start(&mut before.clone())), old);
        let new = update(7);
        let mut seen = [0; 2];
        let steps = cut_everywhere(&before, &new, |steps, mut flash| {
            // On a copy: it counts as a reset.
            let version = runs(&start(&mut flash.clone()));
            assert!(version == old || version == 7, "{version} after {steps} steps");
            seen[usize::from(version == 7)] += 1;
            session(&mut flash, &new);
            let device = start(&mut flash);
            assert_eq!((runs(&device), device.is_on_trial()), (7, false), "after {steps} steps");
        });
        // Erased pages, the update's words, the marks and the header.
        assert!(steps > 8 + new.len() / 4 + 8 + 8, "{steps}");
        assert!(seen[0] > 100 && seen[1] > 1, "{seen:?}");
    }
}

#[test]
fn cuts_in_the_session_after_a_cut_do_no_harm_either() {
    let before = running(1);
    let new = update(2);
    let mut completed = 0;
    cut_everywhere(&before, &new, |steps, flash| {
        for more in [0, 1, 2, 7, 9, 17, 40, 90] {
            let mut flash = flash.clone().losing_power(more, TORN[(steps + more) % TORN.len()]);
            session(&mut flash, &new);
            let mut flash = flash.after_reset();
            let version = runs(&start(&mut flash));
            assert!([1, 2].contains(&version));
            session(&mut flash, &new);
            // It may have been given up after a number of resets; a newer one is accepted even then.
            let version = runs(&start(&mut flash));
            completed += usize::from(version == 2);
            session(&mut flash, &update(3));
            assert_eq!(runs(&start(&mut flash)), 3);
        }
    });
    assert!(completed > 1000, "{completed}");
}

#[test]
fn a_transfer_goes_on_after_a_reset_where_it_broke_off() {
    let mut flash = running(1);
    let new = update(2);
    let mut device = start(&mut flash);
    assert_eq!(device.offer(&header(&new)), UpdateStatus::Receiving);
    for offset in [64, 128, 192] {
        device.chunk(transfer(&new), offset, &piece(&new, offset as usize));
    }
    let mut device = start(&mut flash);
    assert_eq!(device.chunk(transfer(&new), 256, &piece(&new, 256)), UpdateStatus::Idle);
    assert_eq!(device.offer(&header(&new)), UpdateStatus::Receiving);
    let wanted = device.progress(Default::default(), UpdateStatus::Receiving).wanted.get();
    assert!([192, 256].contains(&wanted), "{wanted}: the last piece may be half done");
    assert_eq!(send(&mut device, &new), UpdateStatus::Received);
}

#[test]
fn flash_that_does_not_keep_an_update_is_noticed() {
    let before = running(1);
    let new = update(2);
    // Somewhere in the update: the other slot, its room, then what is written there.
    for at in [100, 150, 201] {
        let mut flash = before.clone().with_stuck_byte(512 + 192 + at);
        let written = new[at] & 1 == 0;
        let status = send(&mut start(&mut flash), &new);
        assert_eq!(status == UpdateStatus::Flash, written, "{at}: {status:?}");
        if written {
            assert_eq!(runs(&start(&mut flash)), 1);
        }
    }
}
