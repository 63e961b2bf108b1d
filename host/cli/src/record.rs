//! `fishweir record`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fishweir::data::PERIOD_TOLERANCE;
use fishweir::device::{
    DeviceError, MeasuredPeriod, Options, Port, RecordingFile, SampleListener, Take,
};
use fishweir::report::{counted, grouped};
use serde::Serialize;
#[cfg(not(target_family = "wasm"))]
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use super::{Failure, Topic, note, output, progress, values};

pub(super) const LONG_ABOUT: &str = "\
Record labelled samples from a board at a serial port, in a table that `fit` reads.

The board must run the application `record`: a project of `fishweir new --application record`, or another program that sends the \
records `D` and `H` of the wire format. It names the channels and numbers the samples.

Each take is a series of FILE. If the file exists and has the same columns, takes are added to it. Samples that the line lost or \
damaged have empty fields. The time of a sample is its number times the sample period, which fishweir measures by the clock of \
this machine.

Ctrl-C ends the take and the command, and keeps the samples so far. So does a board that is unplugged or restarts.

Exit codes: 0 recorded; 2 the board, the port or the file failed, and the error says why.";

const EXAMPLES: &str = "\
Examples:
  fishweir record --port /dev/ttyACM0 -o gait.csv --label walking
  fishweir record --port /dev/ttyACM0 -o gait.csv --label running --seconds 30 --takes 5 --column subject=ann";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Serial port of the board, such as /dev/ttyACM0, or a bridge to it, HOST:PORT
    #[arg(long)]
    port: String,
    /// Bits per second of a serial port, with eight bits, no parity and one stop bit
    #[arg(long, value_name = "BAUD", default_value_t = Port::BAUD)]
    baud: u32,
    /// Table to write; takes are added to an existing one
    #[arg(short, long, value_name = "FILE.csv")]
    output: PathBuf,
    /// Label of the takes [default: a table without labels]
    #[arg(long)]
    label: Option<String>,
    /// Column for whole series and its value, such as subject=ann
    #[arg(long, value_name = "NAME=VALUE", value_parser = column)]
    column: Vec<(String, String)>,
    /// Length of a take in seconds [default: until Ctrl-C]
    #[arg(long, value_name = "SECONDS", value_parser = values::positive, allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Number of takes, one after another
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    takes: u32,
    /// Seconds before each take
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = values::not_negative, allow_negative_numbers = true)]
    countdown: f64,
    /// Seconds without a sample after which the command gives up
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..))]
    patience: u64,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

/// Parser of the value of a column.
fn column(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("must be NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// What was recorded.
#[derive(Debug, Serialize)]
struct Recorded {
    file: String,
    label: Option<String>,
    channels: Vec<String>,
    /// Samples per second that the board states; null if it states none.
    stated_rate: Option<f64>,
    takes: Vec<RecordedTake>,
    /// Frames that arrived damaged.
    corrupt: u64,
}

#[derive(Debug, Serialize)]
struct RecordedTake {
    /// The series in the file.
    series: String,
    /// Samples, lost ones included.
    samples: usize,
    /// Samples that the line lost: empty fields.
    lost: usize,
    /// Samples that came twice.
    repeated: u64,
    /// Samples per second in the file.
    rate: f64,
    /// Whether the rate was measured, or is the stated one, of a take too short to measure it.
    measured: bool,
}

impl fmt::Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let takes = counted(self.takes.len(), "take");
        let label = self.label.as_ref().map_or(String::new(), |label| format!(" of {label}"));
        writeln!(f, "{}: {takes}{label}, {}", self.file, self.channels.join(", "))?;
        for RecordedTake { series, samples, lost, rate, measured, .. } in &self.takes {
            let (samples, lost) = (grouped(*samples), grouped(*lost));
            let how = if *measured { "measured" } else { "as stated" };
            writeln!(f, "  {series}: {samples} samples, {lost} of them lost, {rate:.2} Hz {how}")?;
        }
        match self.corrupt {
            0 => Ok(()),
            frames => writeln!(f, "  {} arrived damaged", counted(frames as usize, "frame")),
        }
    }
}

/// Waits that end at once when somebody interrupts.
const GLANCE: Duration = Duration::from_millis(50);

/// Relative error of a measured rate up to which it is taken for the stated one.
const GOOD_RATE: f64 = 0.005;

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { port, output: path, .. } = arguments;
    if arguments.takes > 1 && arguments.seconds.is_none() {
        return Err(Failure::input(
            Topic::MissingOption,
            "--takes needs the length of a take: add --seconds",
        ));
    }
    if output::is_standard(path) {
        return Err(Failure::input(Topic::Unsupported, "--output -: takes need a file; name one"));
    }
    let mut options = Options::of_board();
    (options.patience, options.retry) = (Duration::from_secs(arguments.patience), GLANCE);
    let link = Port::open(port, arguments.baud, &options)?;
    let of_port = |error: DeviceError| Failure::input(error.kind(), format!("{port}: {error}"));
    let mut listener = SampleListener::new(&link, &options).map_err(of_port)?;
    let channels = listener.channels().to_vec();
    let file = RecordingFile::new(path, &arguments.column, arguments.label.as_deref(), &channels)?;
    let interrupted = interrupts()?;
    let mut recorded = Recorded {
        file: path.display().to_string(),
        label: arguments.label.clone(),
        channels,
        stated_rate: listener.period().map(|period| 1.0 / period),
        takes: Vec::new(),
        corrupt: 0,
    };
    let mut ended = Ok(());
    let is_over = || interrupted.load(Ordering::Relaxed);
    for number in 1..=arguments.takes {
        let of = format!("take {number} of {}", arguments.takes);
        let bar = progress::live(&of);
        let wait = Instant::now() + Duration::from_secs_f64(arguments.countdown);
        let (_, heard) = listener.record(&mut |_| {
            let left = wait.saturating_duration_since(Instant::now());
            bar.set_message(format!("{of} begins in {:.0} s", left.as_secs_f64().ceil()));
            !left.is_zero() && !is_over()
        });
        if heard.is_err() || is_over() {
            ended = heard;
            break;
        }
        let (take, heard) = listener.record(&mut |take| {
            let seconds = take.seconds();
            bar.set_message(format!(
                "{of}: {}, {} lost, {seconds:.0} s; Ctrl-C ends it",
                counted(take.samples(), "sample"),
                grouped(take.lost())
            ));
            !is_over() && arguments.seconds.is_none_or(|most| seconds < most)
        });
        bar.finish_and_clear();
        ended = heard;
        if take.samples() > 0 {
            recorded.takes.push(keep(&file, &take, listener.period())?);
        }
        if ended.is_err() || is_over() {
            break;
        }
    }
    recorded.corrupt = listener.corrupt();
    if recorded.takes.is_empty() && ended.is_ok() {
        note(Topic::NoSamples, "no take began, so nothing was written");
    }
    output::print_report(&recorded, arguments.json)?;
    ended.map_err(of_port)
}

/// Becomes `true` when somebody interrupts. The second time ends the program.
fn interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    #[cfg(not(target_family = "wasm"))]
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))?;
        flag::register(signal, Arc::clone(&interrupted))?;
    }
    Ok(interrupted)
}

/// Writes a take, with what is odd about it.
fn keep(file: &RecordingFile, take: &Take, stated: Option<f64>) -> Result<RecordedTake, Failure> {
    let good = |measured: &MeasuredPeriod| measured.relative_error <= GOOD_RATE;
    let measured = take.measured().filter(|measured| stated.is_none() || good(measured));
    let Some(period) = measured.map(|measured| measured.seconds).or(stated) else {
        return Err(Failure::input(
            Topic::NoTime,
            "the take is too short to measure its rate, and the board states none: make it longer",
        ));
    };
    let rate = 1.0 / period;
    if let (Some(stated), true) = (stated, measured.is_some())
        && (period / stated - 1.0).abs() > PERIOD_TOLERANCE
    {
        note(
            Topic::OtherRate,
            format_args!(
                "the board states {:.2} samples per second and sends {rate:.2}: the file has the times of the latter",
                1.0 / stated
            ),
        );
    }
    let written = file.append(take, period)?;
    if let Some(before) = written.period_before
        && (period / before - 1.0).abs() > PERIOD_TOLERANCE
    {
        note(
            Topic::OtherRate,
            format_args!(
                "{} comes at {rate:.2} samples per second, other series of the file at {:.2}: read it with --resample",
                written.series,
                1.0 / before
            ),
        );
    }
    Ok(RecordedTake {
        series: written.series,
        samples: take.samples(),
        lost: take.lost(),
        repeated: take.repeated(),
        rate,
        measured: measured.is_some(),
    })
}
