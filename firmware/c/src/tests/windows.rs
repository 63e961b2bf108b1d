//! Decisions are due where the model's contract has them: without windows, in windows that follow one
//! another, and in windows that overlap. `FISHWEIR_MODEL=c/src/tests/models/NAME.rs` takes the coins with other contracts.

use std::format;
use std::string::String;
use std::vec::Vec;

use fishweir_core::contract::{Partial, Windows};
use fishweir_core::filter::Stream as CoreStream;
use fishweir_model::CONTRACT;

use super::classifier::logs;
use super::*;

pub(super) type Decide = unsafe extern "C" fn(*const Stream, *mut Choice) -> Status;

/// The decision of a function; `None` if none is due.
pub(super) fn told(decide: Decide, stream: &Stream) -> Option<(u32, u32)> {
    let mut choice = Choice::default();
    // SAFETY: a stream and a decision, and no other use of them.
    match unsafe { decide(stream, &raw mut choice) } {
        Status::NoDecision => {
            assert_eq!(choice, Choice::default());
            None
        }
        status => {
            assert_eq!(status, Status::Ok);
            Some((choice.class_index, choice.margin.to_bits()))
        }
    }
}

/// The decision and the log-likelihoods of a new stream over some samples.
fn fresh(samples: &[Option<usize>]) -> ((u32, u32), Vec<u32>) {
    let mut stream = CoreStream::new(fishweir_model::load().expect("a sound model"));
    for sample in samples {
        match sample {
            // What is refused is missing.
            Some(symbol) => _ = stream.push(symbol),
            None => _ = stream.push(None),
        }
    }
    let (read, model) = (stream.read(), stream.recursion());
    let logs = model.log_likelihoods(stream.state()).map(f32::to_bits).to_vec();
    ((read.class as u32, read.margin.to_bits()), logs)
}

/// The window that the last of some samples filled, else the oldest open one, by its beginning: from the definition, with
/// no clock.
fn window(windows: Option<Windows>, samples: usize) -> (Option<usize>, Option<usize>) {
    let Some(windows) = windows else {
        let whole = (samples > 0).then_some(0);
        return (whole, whole);
    };
    let (length, hop) = (windows.length as usize, windows.hop as usize);
    let begins = |begin: &usize| *begin < samples && samples <= begin + length;
    let open: Vec<usize> = (0..samples).step_by(hop).filter(begins).collect();
    let filled = open.iter().copied().find(|begin| begin + length == samples);
    (filled, open.first().copied())
}

/// One in seven samples is missing, one in eleven refused, and now and then a gap is too long.
#[test]
fn decisions_are_those_of_a_new_stream_over_each_window() {
    let windows = CONTRACT.windows;
    let longest_gap = windows.map_or(usize::MAX, |windows| windows.longest_gap as usize);
    let partial = windows.is_none_or(|windows| windows.partial == Partial::OnRequest);
    let mut stream = new();
    assert_eq!(
        (told(fishweir_decide, &stream), told(fishweir_decide_so_far, &stream)),
        (None, None)
    );
    assert_eq!(logs(&stream), fresh(&[]).1);
    let (mut since, mut missing, mut decided, mut gaps) = (Vec::new(), 0, 0, 0);
    for t in 0..900_usize {
        let gap = t % 90 >= 90 - t / 90;
        let sample = match t {
            _ if gap || t % 7 == 3 => None,
            _ if t % 11 == 5 => Some(2),
            _ => Some(t * t / 3 % 2),
        };
        let status = match sample {
            Some(symbol) => push(&mut stream, symbol as u16),
            None => push_missing(&mut stream),
        };
        // A gap that is too long ends with the next sample that is not refused.
        let waits = missing > longest_gap && [None, Some(2)].contains(&sample);
        if missing > longest_gap && !waits {
            since.clear();
            gaps += 1;
        }
        since.push(sample);
        let (filled, oldest) = if waits { (None, None) } else { window(windows, since.len()) };
        // Between windows nobody refuses a sample.
        let refused = sample == Some(2) && (oldest.is_some() || waits);
        assert_eq!(status, if refused { Status::Invalid } else { Status::Ok }, "{t}");
        missing = match sample {
            Some(_) if !refused => 0,
            _ => usize::min(missing, longest_gap) + 1,
        };
        let expected = |begin: Option<usize>| begin.map(|begin| fresh(&since[begin..]).0);
        assert_eq!(told(fishweir_decide, &stream), expected(filled), "{t}");
        let so_far = if partial { oldest } else { filled };
        assert_eq!(told(fishweir_decide_so_far, &stream), expected(so_far), "{t}");
        let begin = filled.or(oldest).unwrap_or(since.len());
        assert_eq!(logs(&stream), fresh(&since[begin..]).1, "{t}");
        decided += usize::from(filled.is_some());
    }
    match windows {
        Some(_) => assert!(gaps > 0 && (20..600).contains(&decided), "{gaps} gaps, {decided}"),
        None => assert_eq!(decided, 900),
    }
}

#[test]
fn a_reset_stream_begins_a_window() {
    let windows = CONTRACT.windows.unwrap_or(Windows::of(1, 1));
    let mut stream = new();
    for samples in 1..=windows.length {
        push(&mut stream, 0);
        assert_eq!(
            told(fishweir_decide, &stream).is_some(),
            windows.length == samples || CONTRACT.windows.is_none()
        );
    }
    push(&mut stream, 1);
    // SAFETY: a stream, and no other use of it.
    assert_eq!(unsafe { fishweir_reset(&raw mut stream) }, Status::Ok);
    assert_eq!(logs(&stream), logs(&new()));
    for samples in 1..=windows.length {
        assert_eq!(
            told(fishweir_decide_so_far, &stream).is_some(),
            samples > 1 && windows.partial == Partial::OnRequest
        );
        push(&mut stream, 1);
    }
    let expected = fresh(&std::vec![Some(1); windows.length as usize]).0;
    assert_eq!(told(fishweir_decide, &stream), Some(expected));
}

/// The header states the contract.
#[test]
fn the_header_has_the_contract() {
    let number = |name: &str| defined(&format!("FISHWEIR_{name} "));
    let windows = CONTRACT.windows;
    let of_windows = |of: fn(Windows) -> u32| Some(windows.map_or(0, of) as usize);
    assert_eq!(number("WINDOW_LENGTH"), of_windows(|windows| windows.length));
    assert_eq!(number("WINDOW_HOP"), of_windows(|windows| windows.hop));
    assert_eq!(number("LONGEST_GAP"), of_windows(|windows| windows.longest_gap));
    assert_eq!(number("WINDOW_STATES"), Some(windows.map_or(1, |windows| windows.states())));
    let partial = windows.is_none_or(|windows| windows.partial == Partial::OnRequest);
    assert_eq!(number("PARTIAL_WINDOWS"), Some(partial.into()));
    let period = CONTRACT.period;
    assert_eq!(number("PERIOD_NS"), Some(period.map_or(0, |period| period.nanoseconds as usize)));
    let tolerance =
        text("FISHWEIR_PERIOD_TOLERANCE ").and_then(|text| text.strip_suffix('f')?.parse().ok());
    assert_eq!(tolerance, Some(period.map_or(0.0, |period| period.tolerance)));
    let list = |name: &str, of: fn(&fishweir_core::contract::ChannelRange<'_>) -> String| {
        let values: Vec<_> = CONTRACT.channels.iter().map(|channel| of(&channel)).collect();
        let expected = (!values.is_empty()).then(|| format!("{{{}}}", values.join(", ")));
        assert_eq!(text(&format!("FISHWEIR_CHANNEL_{name} ")), expected.as_deref());
    };
    list("UNITS", |channel| format!("{:?}", channel.unit));
    list("CENTRES", |channel| format!("{:?}f", channel.centre));
    list("SPREADS", |channel| format!("{:?}f", channel.spread));
}
