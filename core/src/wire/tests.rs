extern crate std;

use std::vec::Vec;

use zerocopy::IntoBytes;

use super::*;
use crate::contract::Windows;

const INDEX: SampleIndex = SampleIndex { stream: 2, time: 0x0304 };

#[test]
fn records_lie_on_the_wire_as_documented() {
    let answer = Answer::<2> {
        head: AnswerHead {
            head: INDEX.head(AnswerHead::TAG),
            status: Status::Impossible as u8,
            decided: 1,
            lost: 5.into(),
            class: 0x0102.into(),
            margin: 1.0.into(),
        },
        log_likelihoods: [(-2.0).into(), 0.0.into()],
    };
    assert_eq!(
        answer.as_bytes(),
        [b'A', 2, 4, 3, 1, 1, 5, 0, 2, 1, 0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0, 0, 0, 0, 0]
    );
    let info = Info {
        head: INDEX.head(Info::TAG),
        version: VERSION,
        sample_kind: SampleKind::Vector as u8,
        sample_length: 6.into(),
        models: 7.into(),
        classes: 8.into(),
        model_bytes: 9.into(),
        state_bytes: 10.into(),
        ticks_per_second: 25_000_000.into(),
        profile: core::array::from_fn(|at| at as u8),
    };
    let bytes =
        [b'I', 2, 4, 3, 4, b'f', 6, 0, 7, 0, 8, 0, 9, 0, 0, 0, 10, 0, 0, 0, 0x40, 0x78, 0x7D, 0x01];
    let (rest, profile) = info.as_bytes().split_at(24);
    assert_eq!(rest, bytes);
    assert!(profile.iter().copied().eq(0..20));
    let sample = SampleRequest { head: INDEX.head(b'S'), sample: [F32::new(1.0)] };
    assert_eq!(sample.as_bytes(), b"S\x02\x04\x03\0\0\x80\x3F");
    assert_eq!(Report::EMPTY.as_bytes().len(), 4 + 7 * 8 + 4);
    let fault = Fault::new(INDEX, FaultKind::UnknownRequest, b'?');
    assert_eq!(fault.as_bytes(), b"E\x02\x04\x03\x01?");
    assert_eq!(Head::split(fault.as_bytes()), Some((INDEX.head(b'E'), &b"\x01?"[..])));
}

#[test]
fn what_a_device_measures_lies_on_the_wire_as_documented() {
    let sample = MeasuredSample { head: INDEX.head(b'D'), values: [F32::new(1.0)] };
    assert_eq!(sample.as_bytes(), b"D\x02\x04\x03\0\0\x80\x3F");
    let mut name = [0; ChannelDescription::NAME_LONGEST];
    name[..2].copy_from_slice(b"ax");
    let channel = ChannelDescription {
        head: INDEX.head(ChannelDescription::TAG),
        version: VERSION,
        channel: 1.into(),
        channels: 3.into(),
        period_ns: 20_000_000.into(),
        name,
    };
    let (fixed, rest) = channel.as_bytes().split_at(19);
    assert_eq!(fixed, b"H\x02\x04\x03\x04\x01\0\x03\0\0\x2D\x31\x01\0\0\0\0ax");
    assert_eq!(rest, [0; 46]);
    for number in [0, 1, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000] {
        assert_eq!(SampleIndex::from_number(number).number(), number & 0xFF_FFFF);
    }
    assert_eq!(INDEX.number(), 0x02_0304);
}

#[test]
fn every_byte_reads_as_what_was_written_or_as_nothing() {
    for byte in 0..=u8::MAX {
        assert!(Request::from_tag(byte).is_none_or(|request| request.tag() == byte));
        assert!(SampleKind::from_byte(byte).is_none_or(|kind| kind as u8 == byte));
        assert!(FaultKind::from_byte(byte).is_none_or(|kind| kind as u8 == byte));
        assert_eq!(Status::from_byte(byte).map(|status| status as u8), (byte < 7).then_some(byte));
        let code = i32::from(byte);
        assert!(Exit::from_code(code).is_none_or(|exit| exit.code() == code));
    }
    let requests = (0..=u8::MAX).filter_map(Request::from_tag).count();
    assert_eq!(requests, b"SMIQKXUCVTRENW".len());
}

#[test]
fn a_frame_is_a_record_with_its_checksum_between_delimiters() {
    // CRC-32 of "123456789" is the check value of its catalogue: 0xCBF43926.
    let frame = Frame::new(b"123456789");
    assert_eq!(frame.as_bytes(), b"\0\x0E123456789\x26\x39\xF4\xCB\0");
    let mut short = [0; 15];
    assert_eq!(encode(b"123456789", &mut short), None);
}

#[test]
fn records_of_every_length_come_back_from_their_frames() {
    let (mut frame, mut buffer) = ([0; longest(600)], [0; 604]);
    let mut receiver = Receiver::new();
    for length in 1..=600_u16 {
        for fill in [|_| 0, |_| 0xFF, |at: u16| at as u8] {
            let record: Vec<u8> = (0..length).map(fill).collect();
            let sent = encode(&record, &mut frame).expect("long enough");
            assert!(frame[1..sent - 1].iter().all(|&byte| byte != DELIMITER));
            let mut received = frame[..sent].iter().map(|&byte| receiver.push(byte, &mut buffer));
            assert_eq!(received.by_ref().flatten().last(), Some(record.len()));
            assert_eq!(buffer[..record.len()], record);
        }
    }
    assert_eq!(receiver.corrupt(), 0);
}

#[test]
fn a_frame_too_long_for_the_buffer_is_dropped_and_the_next_is_taken() {
    let mut receiver = Receiver::new();
    let mut buffer = [0; 4 + CHECKSUM_LENGTH];
    let (long, fits) = (Frame::new(b"12345"), Frame::new(b"1234"));
    let bytes = [long.as_bytes(), fits.as_bytes()].concat();
    let lengths: Vec<_> =
        bytes.iter().filter_map(|&byte| receiver.push(byte, &mut buffer)).collect();
    assert_eq!(lengths, [4]);
    assert_eq!(receiver.corrupt(), 1);
}

#[test]
fn time_wraps_around_and_the_past_stays_the_past() {
    let mut next = SampleIndex { stream: 9, time: u16::MAX };
    assert_eq!(next.reach(next), Some(Gap { new_stream: false, lost: 0 }));
    next = next.next();
    assert_eq!(next, SampleIndex { stream: 9, time: 0 });
    assert_eq!(next.reach(SampleIndex { stream: 9, time: u16::MAX }), None);
    let far = SampleIndex { stream: 9, time: 3000 };
    let gap = next.reach(far).expect("ahead");
    assert_eq!(gap.filled(Some(&Windows::of(2000, 2000))), 2002);
    assert_eq!(gap.filled(Some(&Windows::of(4000, 4000))), 3000);
    assert_eq!((gap.lost, gap.filled(None)), (3000, LONGEST_GAP));
    assert_eq!(far.next_stream(), SampleIndex { stream: 10, time: 0 });
}
