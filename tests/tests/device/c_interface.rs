//! The C interface: firmware in C, built by gcc around the static library and run under QEMU, decides
//! as the host does, bit for bit. These tests fail where gcc for Arm, make or QEMU is missing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::time::Duration;

use fishweir::data::{Dataset, Samples, SamplesView};
use fishweir::deploy::{Deployed, Stream};
use fishweir::device::{Answer, Board, DeviceError, Image, Input, Qemu};
use fishweir::kernel::ScoreKernelKind;
use fishweir::learn::ClassifierKind;
use fishweir::parity::{Parity, Recording, compare_stream};
use fishweir_core::contract::{Contract, Windows};
use fishweir_core::filter::Stream as DeviceStream;
use fishweir_core::wire::Status;
use fishweir_tests::on_board::as_integers;
use fishweir_tests::quick::{
    assert_identical, channels, recordings, strings, trained, trained_on_codebooks, unseen, whole,
    with_holes,
};

use crate::fixed::quantised;

const SAMPLES: usize = 2_500;

/// Builds share a folder, so that the dependencies are compiled once: one at a time.
static BUILDS: Mutex<()> = Mutex::new(());

pub(crate) fn c_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("firmware").join("c")
}

/// Runs make in the example's folder; the build goes to `folder`.
fn make(folder: &Path, settings: &[(&str, &Path)], features: &str) -> Output {
    let _one_at_a_time = BUILDS.lock();
    let cargo_build = c_folder().with_file_name("target");
    let mut make = Command::new("make");
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        make.env_remove(variable);
    }
    for variable in ["FISHWEIR_MODEL", "FISHWEIR_ARTEFACT", "MAKEFLAGS"] {
        make.env_remove(variable);
    }
    make.current_dir(c_folder().join("example"))
        .arg(format!("BUILD={}", folder.display()))
        .arg(format!("CARGO_BUILD={}", cargo_build.display()))
        .arg(format!("FEATURES={features}"))
        .args(settings.iter().map(|(name, path)| format!("{name}={}", path.display())))
        .output()
        .expect("make starts")
}

pub(crate) fn open(elf: &Path) -> Image {
    Image::open(Board::named("mps2-an386").expect("a board"), elf).expect("an image")
}

/// Builds the example and runs it; what it wrote to its serial port.
fn run(folder: &Path, settings: &[(&str, &Path)]) -> String {
    let output = make(folder, settings, "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let image = open(&folder.join("example.elf"));
    let sent = Qemu::start(&image).expect("QEMU starts").listen(Duration::from_secs(120));
    String::from_utf8(sent.expect("the firmware ends well")).expect("UTF-8")
}

/// The lines of the example as answers.
fn answers(lines: &str) -> Vec<Option<Answer>> {
    lines
        .lines()
        .map(|line| {
            let numbers: Vec<u32> = line
                .split(' ')
                .map(|number| u32::from_str_radix(number, 16).expect("a hexadecimal number"))
                .collect();
            let [status, class, margin_bits, logs @ ..] = &*numbers else {
                panic!("a line of {} numbers", numbers.len())
            };
            let status = u8::try_from(*status).ok().and_then(Status::from_byte);
            Some(Answer {
                lost: 0,
                status: status.expect("a sample's status"),
                decided: true,
                class: *class as usize,
                margin_bits: *margin_bits,
                log_likelihood_bits: logs.into(),
            })
        })
        .collect()
}

/// `recording.h`: the steps of a recording. Rust prints the shortest digits that read back the same.
fn header(recording: &Recording<'_>, integers: bool) -> String {
    let mut text = String::from("static const struct step recording[] = {\n");
    for input in recording.inputs() {
        let line = match input {
            Input::Vector(values) => {
                let number = |value: &f32| match integers {
                    // The least integer is a missing channel.
                    true if value.is_nan() => "INT16_MIN".to_owned(),
                    true => format!("{value}"),
                    false => format!("{value:?}f"),
                };
                let values: Vec<_> = values.iter().map(number).collect();
                format!("{{SAMPLE, {{{}}}}}", values.join(", "))
            }
            Input::Symbol(symbol) => format!("{{SAMPLE, {symbol}}}"),
            Input::Missing => String::from("{.kind = MISSING}"),
            Input::Reset => String::from("{.kind = RESET}"),
            Input::Save | Input::Teach(..) => unreachable!("a recording saves nothing"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "    {line},");
    }
    text + "};\n"
}

fn compiled(data: &Dataset, kind: ClassifierKind) -> Deployed {
    trained(data, kind).deploy().expect("fits in f32")
}

/// A model's file, by the name of the variable that names it.
pub(crate) enum Form {
    Source(String),
    Artefact(Vec<u8>),
}

/// What C firmware for a core says of a recording, of integers or of floats.
pub(crate) fn said(form: Form, recording: &Recording<'_>, core: &str, integers: bool) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let (variable, model, bytes) = match form {
        Form::Source(source) => ("FISHWEIR_MODEL", at("model.rs"), source.into_bytes()),
        Form::Artefact(artefact) => ("FISHWEIR_ARTEFACT", at("model.fishweir"), artefact),
    };
    fs::write(&model, bytes).expect("writes");
    fs::write(at("recording.h"), header(recording, integers)).expect("writes");
    let settings = [(variable, &*model), ("RECORDING", folder.path()), ("CORE", Path::new(core))];
    run(folder.path(), &settings)
}

/// Streams a recording through C firmware for a core, beside the host's stream.
fn beside(form: Form, stream: Stream, recording: &Recording<'_>, core: &str) -> Parity {
    // Only models in fixed point are built for the core without floats here.
    let answers = answers(&said(form, recording, core, core == "m0"));
    assert_eq!(answers.len(), recording.samples());
    compare_stream(stream, recording, &answers).expect("comparable")
}

/// Bits that differ between C firmware and host are none; returns the number of missing samples.
fn assert_same_bits(deployed: &Deployed, recording: &Recording<'_>, form: Form) -> usize {
    let parity = beside(form, deployed.stream(), recording, "m4f");
    assert_identical(&parity, 2 + deployed.models());
    parity.missing
}

#[test]
fn real_channels_give_the_same_bits_in_c() {
    let data = recordings();
    let recording = unseen(&data, SAMPLES);
    let deployed = compiled(&data, ClassifierKind::Fisher);
    assert_same_bits(&deployed, &recording, Form::Source(deployed.to_source()));
}

#[test]
fn symbols_with_missing_ones_give_the_same_bits_in_c_from_an_artefact() {
    let data = strings(90);
    let recording = whole(&data);
    let deployed = compiled(&data, ClassifierKind::Fisher);
    let artefact = deployed.to_artefact().expect("small enough");
    let missing = assert_same_bits(&deployed, &recording, Form::Artefact(artefact));
    assert!(missing > 0);
}

/// Compiled by gcc for a core without hardware floats, as its library is.
#[test]
fn channels_in_fixed_point_give_the_same_bits_in_c_without_an_fpu() {
    let data = recordings();
    let with_codebooks = trained_on_codebooks(&data, &[1, 2], 1);
    let with_codebooks = with_codebooks.quantise().expect("fits fixed point");
    for fixed in [quantised(&data), with_codebooks] {
        let integers = as_integers(&data, fixed.places());
        let recording = Recording::new(integers.iter().map(Samples::view), Some(300));
        let fixed = fixed.over_integers();
        let source = Form::Source(fixed.to_source());
        let models = fixed.models();
        assert_identical(&beside(source, fixed.stream(), &recording, "m0"), 2 + models);
    }
    let fixed = quantised(&with_holes(&data));
    let integers = as_integers(&with_holes(&data), fixed.places());
    let recording = Recording::new(integers.iter().map(Samples::view), Some(150)).in_part(true);
    let fixed = fixed.over_integers();
    let source = Form::Source(fixed.to_source());
    assert_identical(&beside(source, fixed.stream(), &recording, "m0"), 2 + fixed.models());
}

#[test]
fn a_kernel_machine_gives_the_same_bits_in_c() {
    let data = channels();
    let machine = compiled(&data, ClassifierKind::OnScores(ScoreKernelKind::Gaussian));
    assert!(machine.kernel_name().is_some());
    let recording = whole(&data);
    let source = Form::Source(machine.to_source());
    let parity = beside(source, machine.stream(), &recording, "m4f");
    assert_identical(&parity, 2 + machine.outputs());
}

/// The bundled model, as its source has it.
#[allow(dead_code, unreachable_pub, reason = "a source for firmware, of which the model is used")]
mod coins {
    include!("../../../firmware/models/default.rs");
}

/// What the example says after a sample of the coins: the status, and the decision of a new stream over the window that
/// the sample filled.
fn line(sample: Option<u16>, window: Option<&[Option<u16>]>) -> String {
    let status = if sample.is_some_and(|symbol| symbol > 1) { 2 } else { 0 };
    let mut line = format!("{status:08x}");
    let Some(window) = window else { return line };
    let mut stream = DeviceStream::new(&coins::MODEL);
    for sample in window {
        match *sample {
            // What is refused is missing.
            Some(symbol) => _ = stream.push(&usize::from(symbol)),
            None => _ = stream.push(None),
        }
    }
    let (read, logs) = (stream.read(), coins::MODEL.log_likelihoods(stream.state()));
    let bits = [read.margin, logs[0], logs[1]].map(f32::to_bits);
    for number in [read.class as u32].into_iter().chain(bits) {
        // Writing to a string does not fail.
        let _ = write!(line, " {number:08x}");
    }
    line
}

/// Windows that follow one another, that overlap, and none: what C decides at the end of each is what a new stream over
/// its samples decides, bit for bit.
#[test]
fn a_decision_is_due_at_the_end_of_each_window_in_c() {
    let toss = |t: usize| match t {
        _ if t % 7 == 3 => None,
        // No symbol of the coins.
        _ if t % 11 == 5 => Some(2),
        _ => Some((t * t / 3 % 2) as u16),
    };
    // The second stream begins in a window of the first.
    let streams = [0..45, 100..131].map(|range| range.map(toss).collect::<Vec<_>>());
    let recording = Recording::new(streams.iter().map(|tosses| SamplesView::Symbols(tosses)), None);
    for windows in [Some(Windows::of(4, 4)), Some(Windows::of(6, 2)), None] {
        let contract = Contract { windows, ..Contract::NONE };
        let coins = include_str!("../../../firmware/models/default.rs");
        let (model, _) = coins.split_once("pub const CONTRACT").expect("a contract");
        let source = format!(
            "{model}pub const CONTRACT: fishweir_core::contract::Contract<'static> = {};\n",
            contract.rust()
        );
        let expected: Vec<String> = streams
            .iter()
            .flat_map(|tosses| (1..=tosses.len()).map(move |samples| &tosses[..samples]))
            .map(|so_far| {
                let window = match windows.map(|windows| (windows.length, windows.hop)) {
                    None => Some(so_far),
                    Some((length, hop)) => so_far
                        .len()
                        .checked_sub(length as usize)
                        .filter(|begin| begin % hop as usize == 0)
                        .map(|begin| &so_far[begin..]),
                };
                line(so_far.last().copied().flatten(), window)
            })
            .collect();
        let said = said(Form::Source(source), &recording, "m4f", false);
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{windows:?}");
    }
}

#[test]
fn the_bundled_example_runs_and_a_planted_panic_does_not_link() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let answers: Vec<Answer> = answers(&run(folder.path(), &[])).into_iter().flatten().collect();
    // Heads, tails: the alternating coin leads by log 5/4. The symbol that is none is refused, and nothing is learnt.
    assert_eq!(answers.len(), 9);
    assert_eq!(answers[1].class, 1);
    assert!((answers[1].margin() - 1.25_f32.ln()).abs() < 1e-6);
    assert_eq!(answers[5].status, Status::Invalid);
    assert_eq!(answers[5].margin_bits, answers[4].margin_bits);

    let planted = make(folder.path(), &[], "plant-panic");
    let message = String::from_utf8_lossy(&planted.stderr);
    assert!(!planted.status.success(), "an image with a panic in it links");
    assert!(
        message.contains("undefined reference to `fishweir_a_panic_can_be_reached'"),
        "{message}"
    );
}

#[test]
fn an_artefact_that_was_damaged_after_the_build_is_refused() {
    // Built from a sound artefact, then one bit of it is flipped in the image: as flash may do.
    let data = recordings();
    let deployed = compiled(&data, ClassifierKind::Bayes);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let recording = Recording::new([data.series()[0].samples.view()], Some(10));
    let artefact = deployed.to_artefact().expect("small enough");
    fs::write(at("model.fishweir"), &artefact).expect("writes");
    fs::write(at("recording.h"), header(&recording, false)).expect("writes");
    let settings = [("FISHWEIR_ARTEFACT", &*at("model.fishweir")), ("RECORDING", folder.path())];
    assert_eq!(answers(&run(folder.path(), &settings)).len(), 10);

    let elf = at("example.elf");
    let mut image = fs::read(&elf).expect("reads");
    let place = image.windows(artefact.len()).position(|window| window == artefact);
    image[place.expect("the artefact lies in the image as it is") + artefact.len() / 2] ^= 1;
    fs::write(&elf, image).expect("writes");
    let refused = Qemu::start(&open(&elf))
        .expect("QEMU starts")
        .listen(Duration::from_secs(120))
        .expect_err("a damaged model");
    // FISHWEIR_STATUS_BAD_MODEL is what main returns.
    assert!(matches!(refused, DeviceError::Emulator { code: Some(8), .. }), "{refused}");
}

/// Whatever names its model has, and the example builds for channels without a recording of them.
#[test]
fn the_header_is_c99_c11_and_cpp() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut classifier = trained(&recordings(), ClassifierKind::Bayes);
    let names = ["a\nb", "\"c\" \\", "d??/", "*/ e", "\u{200f}\u{e9}9"];
    for (class, name) in classifier.classes.iter_mut().zip(names) {
        *class = name.to_owned();
    }
    let model = folder.path().join("model.rs");
    fs::write(&model, classifier.deploy().expect("fits in f32").to_source()).expect("writes");
    let output = make(folder.path(), &[("FISHWEIR_MODEL", &*model)], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let check = folder.path().join("check.c");
    let text = "extern const char *const classes[FISHWEIR_CLASSES];\n\
                extern const char *const channels[FISHWEIR_CHANNELS];\n\
                const char *const classes[] = FISHWEIR_CLASS_NAMES;\n\
                const char *const channels[] = FISHWEIR_CHANNEL_NAMES;\n";
    fs::write(&check, text).expect("writes");
    let built = folder.path().join("check.o");
    for (compiler, language, standard) in [
        ("arm-none-eabi-gcc", "c", "c99"),
        ("arm-none-eabi-gcc", "c", "c11"),
        ("arm-none-eabi-gcc", "c", "c2x"),
        ("arm-none-eabi-g++", "c++", "c++11"),
        ("arm-none-eabi-g++", "c++", "c++20"),
    ] {
        let output = Command::new(compiler)
            .args(["-ffreestanding", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "-o"])
            .arg(&built)
            .arg(format!("-I{}", folder.path().join("include").display()))
            .arg(format!("-std={standard}"))
            .args(["-include", "fishweir.h", "-x", language])
            .arg(&check)
            .output()
            .expect("the compiler starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let object = fs::read(&built).expect("an object file");
        for name in &classifier.classes {
            let bytes = [name.as_bytes(), b"\0"].concat();
            assert!(object.windows(bytes.len()).any(|part| part == bytes), "{name:?}");
        }
    }
}
