//! Watches a stream, sample by sample, and reports {{finds}}.
//!
//! `model.rs` is what `{{export}}` wrote, `sensor.rs` stands for your sensor, `board.rs` is your board's own.
#![no_std]
#![no_main]

{{modules}}
use board::{Board, entry};
use sensor::{Next, Sensor};

/// Samples for which a finding is shown: a second of them.
const SHOWN: u32 = {{every}};
{{alarm?}}
{{alarm?}}/// What raises the alarm for as long.
{{alarm?}}const ALARMS: &[&str] = &[{{alarms}}];

#[entry]
{{main}} {
    let board = start::begin();
    {{run}}
}

/// Watches for ever.
{{async}}fn run(mut board: Board) -> ! {
    let mut stream = stream::new();
    let mut shown = 0_u32;
    loop {
        let mut sensor = Sensor::new();
        loop {
            {{pause}};
            let Some(next) = sensor.next() else { break };
            match next {
                Next::Stream { .. } => stream.reset(),
                Next::End => stream.at_end(|found| report::found(&found)),
                Next::Sample(sample) => stream.push(Some(&sample)),
                Next::Missing => stream.push(None),
            }
            if matches!(next, Next::Stream { .. } | Next::End) {
                continue;
            }
{{alarm?}}            let Ok(()) = board.alarm.pass();
            stream.found(|found| {
                report::found(&found);
{{alarm?}}                if ALARMS.contains(&found.name()) {
{{alarm?}}                    let Ok(()) = board.alarm.raise(SHOWN);
{{alarm?}}                }
                shown = SHOWN + 1;
            });
            shown = shown.saturating_sub(1);
            board.show(usize::from(shown > 0));
            fault::survived();
        }
        board.end_of_recordings();
    }
}
