//! Decisions on a live stream, as its samples arrive.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use fishweir::classifier::Contract;
use fishweir::data::{Kind, LiveReader, Sample, Windowing};
use fishweir::deploy::OpenWindow;
use fishweir::report::{counted, grouped};
use fishweir::teach::Taught;

use super::drawn::Drawn;
use super::scales::Scales;
use super::times::Times;
use super::{Arguments, Decided, FIRST_UNTOLD, MOST_TOLD, heads};
use crate::model::Model;
use crate::output::Outputs;
use crate::{Failure, Message, Topic, absent, note, output, tell, usual};

/// Samples after which a channel that has had no number is noted; fewer where the stream ends before.
const AWAITED: u64 = 500;

/// Samples at the end of a stream without a number of some channel that are noted as such.
const LAST: u64 = 20;

/// The windows that a stream is decided on; `None` after every sample.
fn windows_of(arguments: &Arguments, model: &Model) -> Result<Option<Windowing>, Failure> {
    if arguments.endless {
        return Ok(None);
    }
    let windowing = model.windowing(arguments.cutting.windowing());
    let by_number = arguments.every.or(arguments.reset_every);
    match windowing {
        Some(by) if by_number.is_some() => Err(Failure::input(
            Topic::WindowsOrNumbers,
            format!(
                "--every and --reset-every need --endless: the model decides on windows of {} samples, one every {}",
                grouped(by.length.get()),
                grouped(by.hop.get())
            ),
        )),
        windowing => Ok(windowing),
    }
}

/// Decides as samples arrive; says how many were refused, if any. Every line is flushed: whoever reads it
/// is waiting.
pub(super) fn predict_stream(
    arguments: &Arguments,
    model: &Model,
    taught: Option<&Taught>,
) -> Result<Option<String>, Failure> {
    let windowing = windows_of(arguments, model)?;
    let deployed = model.deployed.clone().on_windows(windowing);
    deployed.check_windows().map_err(|error| Failure::input(error.kind(), error.to_string()))?;
    let contract = &model.contract().unwrap_or_default();
    let figure: Vec<&Path> = arguments.draw.iter().map(PathBuf::as_path).collect();
    if figure.iter().any(|path| output::is_standard(path)) {
        let what = "--draw -: standard output carries the decisions of the stream; name a file";
        return Err(Failure::input(Topic::SameOutput, what));
    }
    Outputs::check(&figure, &[&arguments.model])?;
    let source = usual::of_stream(model.recipe(), &arguments.reading);
    let mut reader = LiveReader::new(io::stdin().lock(), "standard input", model.kind()?)
        .of_values(deployed.values())
        .with_marks(source.missing)
        .with_time(source.time);
    let mut stream = deployed.window_stream();
    let write = |one: &Decided<'_>| -> Result<(), Failure> {
        let mut line = match arguments.json {
            true => one.json(&deployed)?,
            false => csv_line(&one.record(&deployed))?,
        };
        line.push('\n');
        output::print(line.as_bytes())
    };
    let period = model.deployed.contract().and_then(|contract| contract.period);
    let kind = model.kind()?;
    let mut drawn = arguments
        .draw
        .is_some()
        .then(|| Drawn::new(deployed.classes(), &kind, period.map(|period| period.rate())));
    let tell_window = |window: OpenWindow<'_>,
                       before,
                       observed,
                       blind: &mut usize,
                       drawn: &mut Option<Drawn<'_>>| {
        let (start, end) = (before + window.start, before + window.end);
        *blind += usize::from(windowing.is_some() && observed <= start);
        if let Some(drawn) = drawn {
            drawn.decide(window.stream, start, end);
        }
        write(&Decided::read((&deployed, taught), window.stream, start, end)?)
    };
    let mut scales = Scales::new(model.contract(), model.kind()?);
    let mut times = Times::new(period, windowing);
    let in_part = contract.lacks_some();
    let (mut refused, mut blind) = (0, 0);
    // Samples before this series, and up to the last that was observed.
    let (mut before, mut observed) = (0_u64, 0_u64);
    // The line of the last sample that was there, and the missing ones since, not counting those refused.
    let (mut there, mut missing) = (0, 0);
    // Whether a channel without numbers was noted.
    let mut lacking = false;
    if !arguments.json {
        output::print((csv_line(&heads(&deployed, false))? + "\n").as_bytes())?;
    }
    loop {
        let (ended, read) = match reader.advance() {
            Ok(more) => (!more, Ok(())),
            Err(error) if error.ends_stream() => return Err(error.into()),
            Err(error) => (false, Err(Message::new(error.kind(), error))),
        };
        let end = before + stream.samples();
        let reset_due = arguments.reset_every.is_some_and(|every| end % every == 0);
        if ended || reset_due || reader.begins_series() {
            if let Some(window) = stream.short() {
                tell_window(window, before, observed, &mut blind, &mut drawn)?;
            }
            blind += usize::from(windowing.is_none() && end > before && observed <= before);
            stream.reset();
            before = end;
            times.end_series(&reader)?;
            scales.begin_series();
        }
        if ended {
            break;
        }
        let line = reader.line();
        let sample = if read.is_ok() { reader.sample() } else { Sample::Missing };
        let sample = if in_part { sample } else { sample.if_whole() };
        if sample != Sample::Missing {
            (there, missing) = (line, 0);
        } else if read.is_ok() {
            missing += 1;
            if missing == AWAITED && !std::mem::replace(&mut lacking, true) {
                note_unobserved(&reader, there);
            }
        }
        if end == 0 {
            tell::units("standard input", reader.unit_matches());
        }
        scales.take(sample, line, reader.unit_matches());
        times.take(&reader, read.is_err())?;
        // A leap before missing samples parts where the next is observed, as in a file.
        if sample != Sample::Missing && times.parts(line) {
            stream.restart();
        }
        if let Some(drawn) = &mut drawn {
            drawn.take(sample, reader.label());
        }
        let pushed = stream.push(sample);
        let pushed = read.and_then(|()| {
            pushed.map_err(|error| {
                Message::new(error.kind(), format!("standard input, line {line}: {error}"))
            })
        });
        let end = before + stream.samples();
        if pushed.is_ok() && sample != Sample::Missing {
            observed = end;
        }
        if let Err(what) = pushed {
            if arguments.strict {
                return Err(Failure::Input(what));
            }
            refused += 1;
            match refused {
                ..=MOST_TOLD => note(
                    what.kind,
                    format_args!("{}; the sample is refused and counts as missing", what.text),
                ),
                FIRST_UNTOLD => {
                    note(Topic::FurtherRefusals, "further refused samples are only counted")
                }
                _ => {}
            }
        }
        // Times without a unit are known by their first step.
        let untimed = match reader.time_column() {
            None => end == 1,
            Some(_) => end == 2 && !reader.has_times(),
        };
        if untimed {
            times.note_none();
        }
        // Those that are missing now are noted once there are as many.
        if end.is_multiple_of(AWAITED) && missing < LAST && !lacking {
            lacking = note_absent(&reader, end, contract);
        }
        let due = arguments.every.is_none_or(|every| end % every == 0);
        if let Some(window) = stream.decided().filter(|_| due) {
            tell_window(window, before, observed, &mut blind, &mut drawn)?;
        }
    }
    if let (Some(path), Some(drawn)) = (&arguments.draw, &drawn) {
        drawn.draw(path, &arguments.model)?;
    }
    if before == 0 {
        note(Topic::NoSamples, "standard input: there is no sample to decide on");
    }
    scales.judge(reader.line(), reader.unit_matches(), true);
    if !lacking && missing > 0 && (there == 0 || missing >= LAST) {
        note_unobserved(&reader, there);
    } else if !lacking {
        note_absent(&reader, before, contract);
    }
    if blind > 0 {
        let what = if windowing.is_some() { "window" } else { "series" };
        let blind = counted(blind, what);
        note(
            Topic::Unobserved,
            format_args!("{blind} without an observed sample, {}", tell::DECIDED_BLINDLY),
        );
    }
    Ok(match refused {
        0 => None,
        1 => Some("1 sample was refused".to_owned()),
        many => Some(format!("{many} samples were refused")),
    })
}

/// A CSV record without its line end.
fn csv_line(fields: &[String]) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields)?;
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Notes in how many of the samples so far each channel has no number; whether there are such.
fn note_absent<R: BufRead>(reader: &LiveReader<R>, samples: u64, contract: &Contract) -> bool {
    let Kind::Channels(names) = reader.kind() else { return false };
    let samples = usize::try_from(samples).unwrap_or(usize::MAX);
    let words = absent::in_words(names, reader.absent(), samples, Some(contract));
    if let Some(words) = &words {
        note(Topic::UnobservedChannel, format_args!("standard input: {words}"));
    }
    words.is_some()
}

/// Tells of channels without a number since a line, or since the beginning: where one is missing, so is the whole sample.
fn note_unobserved<R: BufRead>(reader: &LiveReader<R>, since: u64) {
    let channels = reader.unobserved_channels(since);
    let Kind::Channels(_) = reader.kind() else { return };
    let channels: Vec<String> = channels.iter().map(|name| format!("`{name}`")).collect();
    let never = match channels.as_slice() {
        [] => "not all channels have a number".to_owned(),
        [one] => format!("channel {one} has no number"),
        many => format!("channels {} have no number", many.join(", ")),
    };
    let since = match since {
        0 => "in any sample so far".to_owned(),
        line => format!("after line {line}"),
    };
    note(
        Topic::UnobservedChannel,
        format_args!(
            "standard input: {never} {since}, and such samples count as missing; send all channels, or fit a model \
             without these"
        ),
    );
}
