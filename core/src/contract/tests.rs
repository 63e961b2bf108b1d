extern crate std;

use std::vec::Vec;

use super::*;

fn written(contract: &Contract<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..contract.sections() {
        assert!(contract.write_section(index, &mut |part| bytes.extend_from_slice(part)));
    }
    assert!(!contract.write_section(contract.sections(), &mut |_| panic!("one more")));
    bytes
}

#[test]
fn what_is_written_is_read() {
    let channels = [
        ChannelRange { unit: "g", centre: 0.1, spread: 0.7 },
        ChannelRange { unit: "", centre: -3.0, spread: 0.0 },
    ];
    let period = Period { nanoseconds: 20_000_000, tolerance: 0.05 };
    let windows = Windows { partial: Partial::Never, ..Windows::of(200, 25) };
    let all = Contract {
        windows: Some(windows),
        period: Some(period),
        channels: Channels::of(&channels),
        target: None,
    };
    let force =
        Target { name: "force", unit: "N", of: TargetValue::Last, half_width: 2.5, coverage: 0.9 };
    for contract in [
        Contract::NONE,
        Contract { windows: None, ..all },
        Contract { period: None, ..all },
        Contract { channels: Channels::NONE, ..all },
        all,
        Contract { channels: all.channels.with_missing(&[0, 1]), ..all },
        Contract { target: Some(force), ..all },
        Contract { target: Some(Target { unit: "", coverage: 0.0, ..force }), ..Contract::NONE },
    ] {
        assert_eq!(Contract::read(&written(&contract)), Ok(contract));
    }
}

#[test]
fn invalid_targets_are_refused() {
    let sound =
        Target { name: "force", unit: "N", of: TargetValue::Mean, half_width: 2.5, coverage: 0.9 };
    assert_eq!(sound.interval(1.0), Some([-1.5, 3.5]));
    assert_eq!(Target { coverage: 0.0, ..sound }.interval(1.0), None);
    let long = ["x"; Target::NAME_LONGEST + 1].concat();
    for target in [
        Target { name: "", ..sound },
        Target { name: &long, ..sound },
        Target { name: "a\nb", ..sound },
        Target { unit: &long[..UNIT_LONGEST + 1], ..sound },
        Target { half_width: f32::NAN, ..sound },
        Target { half_width: -1.0, ..sound },
        Target { coverage: 1.0, ..sound },
    ] {
        assert!(!target.is_valid(), "{target:?}");
        let bytes = written(&Contract { target: Some(target), ..Contract::NONE });
        let Err(ContractError::Invalid(tag)) = Contract::read(&bytes) else { panic!("{target:?}") };
        assert_eq!(tag, CRITICAL | 7);
        assert!(Contract::read(&bytes[..bytes.len() - 1]).is_err());
    }
    let bytes = written(&Contract { target: Some(sound), ..Contract::NONE });
    let other = [&bytes[..SECTION_HEAD + 8], &[2], &bytes[SECTION_HEAD + 9..]].concat();
    assert!(Contract::read(&other).is_err(), "of a part of a window that is unknown");
    assert!(Contract::read(&[bytes.as_slice(), &bytes].concat()).is_err(), "twice");
}

#[test]
fn channels_may_be_missing_by_name_alone() {
    let channels = [ChannelRange { unit: "g", centre: 0.1, spread: 0.7 }; 2];
    let whole = Contract { channels: Channels::of(&channels), ..Contract::NONE };
    let in_part = Contract { channels: whole.channels.with_missing(&[0, 1]), ..whole };
    let missing = |one: &Contract<'_>| [0, 1, 2].map(|d| one.channels.may_be_missing(d));
    assert_eq!(missing(&whole), [false; 3]);
    assert_eq!(missing(&in_part), [false, true, false]);
    assert_ne!(whole, in_part);
    // Flags with an invalid value, and with none set.
    let bytes = written(&in_part);
    for flags in [[0, 2], [0, 0]] {
        let end = bytes.len() - 2;
        let bad = [&bytes[..end], &flags].concat();
        let Err(ContractError::Invalid(tag)) = Contract::read(&bad) else { panic!("{flags:?}") };
        assert_eq!(tag & !CRITICAL, 5);
    }
}

#[test]
fn an_unknown_section_is_skipped_or_refused() {
    let windows = Contract { windows: Some(Windows::of(8, 4)), ..Contract::NONE };
    let bytes = written(&windows);
    let with = |tag: u16, content: &[u8]| {
        let section = Section { tag, content };
        [&bytes[..], &section.head(), content].concat()
    };
    let skipped = with(77, b"later");
    assert_eq!(Contract::read(&skipped), Ok(windows));
    let critical = with(CRITICAL | 77, b"later");
    assert_eq!(Contract::read(&critical), Err(ContractError::Unknown(CRITICAL | 77)));
    assert_eq!(
        Contract::read(&[&bytes[..], &bytes].concat()),
        Err(ContractError::Repeated(CRITICAL | 1))
    );
    for end in 1..bytes.len() {
        assert_eq!(Contract::read(&bytes[..end]), Err(ContractError::Truncated), "{end}");
    }
    // A length of zero, a rule that is unknown.
    for (at, value) in [(6, 0), (18, 1), (19, 2), (20, 1)] {
        let mut bad = bytes.clone();
        bad[at] = value;
        assert_eq!(Contract::read(&bad), Err(ContractError::Invalid(CRITICAL | 1)), "{at}");
    }
}

/// Windows cut one by one, as a list: the reference for the schedule.
fn cut(samples: &[bool], windows: &Windows) -> Vec<(usize, usize)> {
    let mut ends = Vec::new();
    let (mut first, mut missing) = (0, 0);
    let mut waits = false;
    for (t, &given) in samples.iter().enumerate() {
        if waits && given {
            (first, waits) = (t, false);
        }
        missing = if given { 0 } else { missing + 1 };
        if waits {
            continue;
        }
        let (length, hop) = (windows.length as usize, windows.hop as usize);
        let age = t + 1 - first;
        if age >= length && (age - length).is_multiple_of(hop) {
            ends.push((t + 1 - length, t + 1));
        }
        waits = missing > windows.longest_gap;
    }
    ends
}

#[test]
fn the_schedule_is_that_of_windows_cut_one_by_one() {
    let mut random = 1_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    for _ in 0..2000 {
        let windows = Windows { longest_gap: next(6), ..Windows::of(1 + next(9), 1 + next(9)) };
        let often = 1 + next(4);
        let samples: Vec<bool> = (0..80).map(|_| next(4) < often).collect();
        let (mut clock, mut found) = (WindowClock::NEW, Vec::new());
        let mut begun = std::vec![0; windows.states()];
        for (t, &given) in samples.iter().enumerate() {
            let push = |_: &mut usize| Ok::<_, ()>(());
            let step = clock.step(Some(&windows), given, &mut begun, |begun| *begun = t, push);
            assert_eq!(step, Ok(()));
            found.extend(clock.ended(&windows, begun.len()).map(|state| (begun[state], t + 1)));
        }
        assert_eq!(found, cut(&samples, &windows), "{windows:?} {samples:?}");
    }
}
