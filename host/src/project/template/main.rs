//! Decides on a stream, sample by sample, between {{classes}}.
//!
//! `model.rs` is what `fishweir export` wrote, `sensor.rs` stands for your sensor, `board.rs` is your board's own.
#![no_std]
#![no_main]

{{modules}}
use board::{Board, entry};
use sensor::{Next, Sensor};
{{alarm?}}
{{alarm?}}/// Classes that raise the alarm, by index: {{alarm_names}}.
{{alarm?}}const ALARMS: &[usize] = &[{{alarms}}];

#[entry]
{{main}} {
    let board = start::begin();
    {{run}}
}

/// Decides for ever.
{{async}}fn run(mut board: Board) -> ! {
    let mut stream = stream::new();
    let (mut right, mut judged) = (0, 0);
    loop {
        let mut sensor = Sensor::new();
        let (mut samples, mut truth) = (0, None);
        loop {
            {{pause}};
            let Some(next) = sensor.next() else { break };
            let decision = match next {
                Next::Stream { label } => {
                    stream.reset();
                    (samples, truth) = (0, label);
                    continue;
                }
                Next::End => stream::at_end(&stream, samples),
                Next::Sample(sample) => {
                    // A refused sample is missing: time passes.
                    let _ = stream.push(&sample);
                    samples += 1;
                    stream::due(&stream, samples)
                }
                Next::Missing => {
                    let _ = stream.push(None);
                    samples += 1;
                    stream::due(&stream, samples)
                }
            };
            if let Some(decision) = decision {
                let name = |class: usize| model::CLASSES.get(class).copied().unwrap_or("?");
                report::decision(samples, name({{decision}}.class), &{{decision}}, truth.map(name));{{belief}}
                if let Some(truth) = truth {
                    judged += 1;
                    right += usize::from(truth == {{decision}}.class);
                }
                board.show({{decision}}.class);
{{alarm?}}                let Ok(()) = board.alarm.set({{is_sure}}ALARMS.contains(&{{decision}}.class));
                fault::survived();
            }
        }
        report::right(right, judged);
        (right, judged) = (0, 0);
        board.end_of_recordings();
    }
}
