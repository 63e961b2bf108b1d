//! Portable C source: built by gcc as C99 and as C++11, and for Cortex-M0 and M4 under QEMU, it decides as the host does, bit
//! for bit. These tests fail where gcc, gcc for Arm or QEMU is missing.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fishweir::classifier::{Classifier, Confidence, Direction, Observations, Rejection};
use fishweir::data::{Dataset, SamplesView, ShortSeries, Windowing};
use fishweir::deploy::{
    CNames, CSource, CSourceError, Calibration, Deployed, Detector, FixedPoint,
};
use fishweir::device::Qemu;
use fishweir::fit::BaumWelch;
use fishweir::kernel::ScoreKernelKind;
use fishweir::learn::{ClassifierKind, ScoreModels};
use fishweir_tests::quick::{
    channels, recordings, strings, three_channels, trained, trained_behind, trained_by_position,
    trained_on_differences, trained_on_each_lag, trained_on_levels, trained_on_words, with_holes,
};

use crate::applications::spotting::spotters;
use crate::c_interface::{c_folder, open};
use crate::steps::{Step, assert_same, detected, expected, recording, spotted, steps};

/// A folder with the source of a classifier and a program that pushes a recording.
struct Built {
    folder: tempfile::TempDir,
}

/// Whatever is written is clean by these.
const STRICT: &str = "-O2 -Wall -Wextra -Wconversion -Wsign-conversion -pedantic -Werror";
pub(crate) const M0: &str = "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft";
pub(crate) const M3: &str = "-mcpu=cortex-m3 -mthumb -mfloat-abi=soft";
pub(crate) const M4: &str = "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard";

/// gcc for a RISC-V core, a program for QEMU's `virt` by the C library picolibc and semihosting, and what runs it.
pub(crate) const RISCV: &str =
    "riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -mcmodel=medany --specs=picolibc.specs";
pub(crate) const ON_VIRT: &str = "--oslib=semihost --crt0=hosted -std=c11 -O2 -Wl,--defsym=__flash=0x80000000 \
    -Wl,--defsym=__flash_size=0x200000 -Wl,--defsym=__ram=0x80200000 -Wl,--defsym=__ram_size=0x200000";
pub(crate) const VIRT: &str = "qemu-system-riscv32 -machine virt -bios none -display none -monitor none -serial none \
    -chardev stdio,id=console -semihosting-config enable=on,target=native,chardev=console -kernel";

/// What an emulator prints that runs a program.
#[track_caller]
pub(crate) fn emulated(command: &str, elf: &Path) -> String {
    let mut words = command.split(' ');
    let output = Command::new(words.next().expect("an emulator"))
        .args(words)
        .arg(elf)
        .output()
        .expect("the emulator starts");
    assert!(output.status.success(), "{command}");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).replace('\r', "")
}

impl Built {
    fn new(made: &CSource, steps: &[Step]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text);
        for (name, text) in [
            ("fishweir.c", made.source.as_str()),
            ("fishweir.h", &made.header),
            ("recording.h", &recording(steps)),
            ("main.c", include_str!("c_source/main.c")),
            ("hosted.c", include_str!("c_source/hosted.c")),
            ("memory.c", include_str!("c_source/memory.c")),
            ("avr.c", include_str!("c_source/avr.c")),
        ] {
            put(name, text).expect("writes");
        }
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command; what it printed.
    #[track_caller]
    fn run(&self, command: &str) -> String {
        let mut words = command.split(' ');
        let program = words.next().expect("a program");
        let output = Command::new(program)
            .current_dir(self.folder.path())
            .arg("-I.")
            .args(words)
            .arg(format!("-I{}", c_folder().join("example").display()))
            .output()
            .expect("a compiler");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{told}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// What this machine prints, compiled as a language.
    #[track_caller]
    fn here(&self, compile: &str) -> String {
        self.run(&format!("{compile} {STRICT} -ffp-contract=off -c fishweir.c -o fishweir.o"));
        self.run("gcc -std=c11 -O2 main.c hosted.c -x none fishweir.o -o program");
        let output = Command::new(self.at("program")).output().expect("starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// What an ATmega2560 under simavr prints: an `int` of 16 bits, 8 kB of RAM.
    #[track_caller]
    fn on_avr(&self) -> String {
        let gcc = "avr-gcc -mmcu=atmega2560 -Os -std=c99";
        self.run(&format!("{gcc} -Wall -Wextra -Wconversion -Werror -c fishweir.c -o fishweir.o"));
        self.run(&format!("{gcc} main.c avr.c -x none fishweir.o -o program.elf"));
        let told = emulated("simavr -m atmega2560 -f 16000000", &self.at("program.elf"));
        // A line of the serial port is in colours, and a point stands for its end.
        let lines = told.lines().filter_map(|line| line.split_once("\u{1b}[32m"));
        lines
            .map(|(_, line)| line.split('.').next().unwrap_or_default().to_owned() + "\n")
            .collect()
    }

    /// What a RISC-V core under QEMU prints, by the C library picolibc and semihosting.
    #[track_caller]
    fn on_riscv(&self) -> String {
        self.run(&format!("{RISCV} -std=c99 {STRICT} -c fishweir.c -o fishweir.o"));
        self.run(&format!("{RISCV} {ON_VIRT} main.c hosted.c -x none fishweir.o -o program.elf"));
        emulated(VIRT, &self.at("program.elf"))
    }

    /// What a core under QEMU prints.
    #[track_caller]
    fn on_board(&self, core: &str) -> String {
        let gcc = "arm-none-eabi-gcc";
        self.run(&format!("{gcc} {core} -std=c99 {STRICT} -c fishweir.c -o fishweir.o"));
        let example = c_folder().join("example");
        let of = |name: &str| example.join(name).display().to_string();
        self.run(&format!(
            "{gcc} {core} -std=c11 -O2 -ffreestanding -nostdlib -z noexecstack -T {} main.c memory.c {} {} \
             -x none fishweir.o -lgcc -o program.elf",
            of("mps2_an386.ld"),
            of("board.c"),
            of("startup.c"),
        ));
        let sent = Qemu::start(&open(&self.at("program.elf"))).expect("QEMU starts");
        let sent = sent.listen(Duration::from_secs(300)).expect("the firmware ends well");
        String::from_utf8(sent).expect("UTF-8")
    }
}

/// C99 and C++11 on this machine have the host's bits.
#[track_caller]
fn assert_decides_as_the_host(deployed: &Deployed, data: &Dataset, most: usize) {
    let steps = steps(data, most);
    let wanted = expected(deployed, deployed.window_stream(), &steps);
    assert!(wanted.lines().any(|line| line.len() > 30), "nothing is decided");
    assert_prints(&deployed.to_c_source(NAMES).expect("written in C"), &steps, &wanted);
}

pub(crate) fn quantised(classifier: &Classifier) -> FixedPoint {
    classifier.quantise().expect("fits fixed point")
}

/// The steps with channels in a model's integers, which are given as floats; some are no integers, or too large.
pub(crate) fn in_integers(mut steps: Vec<Step>, fixed: &FixedPoint) -> Vec<Step> {
    let places = fixed.places();
    for (t, step) in steps.iter_mut().enumerate() {
        if let Step::Row(row) = step {
            for (x, &places) in row.iter_mut().zip(places) {
                let scaled = *x * f32::from(places).exp2();
                *x = if t % 5 == 0 { scaled } else { scaled.round() };
            }
        }
    }
    steps
}

/// The same of a model in fixed point, over its integers.
#[track_caller]
fn assert_fixed_decides_as_the_host(fixed: &FixedPoint, data: &Dataset, most: usize) {
    let steps = in_integers(steps(data, most), fixed);
    let fixed = fixed.over_integers();
    let wanted = expected(&fixed, fixed.window_stream(), &steps);
    assert!(wanted.lines().any(|line| line.len() > 30), "nothing is decided");
    assert_prints(&fixed.to_c_source(NAMES).expect("written in C"), &steps, &wanted);
}

#[track_caller]
fn assert_prints(made: &CSource, steps: &[Step], wanted: &str) {
    let built = Built::new(made, steps);
    assert_same(&built.here("gcc -std=c99"), wanted);
    assert_same(&built.here("g++ -std=c++11 -x c++"), wanted);
}

const NAMES: CNames<'_> = CNames { prefix: "fishweir", header: "fishweir.h" };

fn deployed(classifier: &Classifier) -> Deployed {
    classifier.deploy().expect("fits in f32")
}

pub(crate) fn windows(length: usize, hop: usize, short: ShortSeries) -> Option<Windowing> {
    let samples = |n| NonZeroUsize::new(n).expect("positive");
    Some(Windowing { length: samples(length), hop: samples(hop), short })
}

#[test]
fn hidden_states_over_channels_decide_as_on_the_host_in_c_source() {
    let data = recordings();
    for kind in [ClassifierKind::Fisher, ClassifierKind::Bayes] {
        assert_decides_as_the_host(&deployed(&trained(&data, kind)), &data, 150);
    }
    assert_decides_as_the_host(&deployed(&three_channels()), &channels(), 40);
}

#[test]
fn symbols_decide_as_on_the_host_in_c_source() {
    let data = strings(90);
    let by_position = |kind| trained_by_position(&data, kind, 12);
    for classifier in [
        trained(&data, ClassifierKind::Fisher),
        trained(&data, ClassifierKind::Bayes),
        by_position(ClassifierKind::Fisher),
        by_position(ClassifierKind::Bayes),
        trained_on_words(&data, 0),
        trained_on_words(&data, 2),
    ] {
        assert_decides_as_the_host(&deployed(&classifier), &data, usize::MAX);
    }
}

#[test]
fn lags_and_codebooks_decide_as_on_the_host_in_c_source() {
    let data = recordings();
    for classifier in [
        trained_on_differences(&data, &[1, 4], ScoreModels::Universal),
        trained_on_each_lag(&data, &[1, 2, 8]),
        trained_on_levels(&data, &[1, 2], 1, 0),
        trained_on_levels(&data, &[1, 2], 2, 3),
        trained_by_position(&data, ClassifierKind::Fisher, 5),
    ] {
        assert_decides_as_the_host(&deployed(&classifier), &data, 60);
    }
}

#[test]
fn missing_channels_decide_as_on_the_host_in_c_source() {
    let data = with_holes(&recordings());
    for classifier in [
        trained(&data, ClassifierKind::Fisher),
        trained_on_differences(&data, &[1, 4], ScoreModels::Universal),
    ] {
        let deployed = deployed(&classifier);
        assert!(deployed.contract().is_some_and(fishweir::classifier::Contract::lacks_some));
        assert_decides_as_the_host(&deployed, &data, 60);
    }
}

/// In fixed point: hidden states over symbols and channels, known ones, lags, codebooks, missing channels, windows.
#[test]
fn fixed_point_decides_as_on_the_host_in_c_source() {
    let symbols = strings(90);
    let by_position = |kind| trained_by_position(&symbols, kind, 12);
    for classifier in [
        trained(&symbols, ClassifierKind::Fisher),
        trained(&symbols, ClassifierKind::Bayes),
        by_position(ClassifierKind::Fisher),
        by_position(ClassifierKind::Bayes),
        trained_on_words(&symbols, 0),
        trained_on_words(&symbols, 2),
    ] {
        assert_fixed_decides_as_the_host(&quantised(&classifier), &symbols, usize::MAX);
    }
    let data = recordings();
    for classifier in [
        trained(&data, ClassifierKind::Fisher),
        trained(&data, ClassifierKind::Bayes),
        trained_on_differences(&data, &[1, 4], ScoreModels::Universal),
        trained_on_each_lag(&data, &[1, 2, 8]),
        trained_on_levels(&data, &[1, 2], 1, 0),
        trained_on_levels(&data, &[1, 2], 2, 3),
        trained_by_position(&data, ClassifierKind::Fisher, 5),
    ] {
        assert_fixed_decides_as_the_host(&quantised(&classifier), &data, 60);
    }
    let data = with_holes(&recordings());
    for classifier in [
        trained(&data, ClassifierKind::Fisher),
        trained_on_differences(&data, &[1, 4], ScoreModels::Universal),
    ] {
        let fixed = quantised(&classifier);
        assert!(fixed.contract().is_some_and(fishweir::classifier::Contract::lacks_some));
        assert_fixed_decides_as_the_host(&fixed, &data, 60);
    }
}

#[test]
fn windows_and_rejection_are_the_hosts_in_c_source_in_fixed_point() {
    let mut of_two = three_channels();
    let rejection = Rejection { rate: 0.1, least_margin: 0.5, likelihoods: vec![[-9.5, -8.5]; 2] };
    of_two.confidence = Some(Confidence { scale: 0.7, rejection: Some(rejection), windows: 9 });
    for (length, hop) in [(7, 2), (5, 5), (3, 8)] {
        let fixed = quantised(&of_two).on_windows(windows(length, hop, ShortSeries::Keep));
        assert_fixed_decides_as_the_host(&fixed, &channels(), 40);
    }
}

/// A core without an FPU, and one with; what fixed point is for is the first.
#[test]
fn cores_decide_as_the_host_in_c_source_in_fixed_point() {
    let data = recordings();
    let classifier = trained_on_levels(&data, &[1, 2], 1, 2);
    let fixed = quantised(&classifier).on_windows(windows(30, 15, ShortSeries::Keep));
    let steps = in_integers(steps(&data, 40), &fixed);
    let fixed = fixed.over_integers();
    let wanted = expected(&fixed, fixed.window_stream(), &steps);
    let built = Built::new(&fixed.to_c_source(NAMES).expect("written in C"), &steps);
    for core in [M0, M4] {
        assert_same(&built.on_board(core), &wanted);
    }
}

/// An `int` of 16 bits, and RISC-V: for `tests/boards`, which installs their compilers.
#[test]
#[ignore = "by tests/boards"]
fn avr_and_riscv_decide_as_the_host_in_c_source() {
    let (symbols, data) = (strings(20), channels());
    for (classifier, data) in [
        (trained(&symbols, ClassifierKind::Fisher), &symbols),
        (trained_by_position(&symbols, ClassifierKind::Fisher, 6), &symbols),
        (three_channels(), &data),
        (trained_on_levels(&data, &[1], 1, 1), &data),
    ] {
        // A recording that 8 kB of RAM hold.
        let few = |steps: Vec<Step>| steps.into_iter().take(120).collect::<Vec<_>>();
        let fixed = quantised(&classifier);
        let steps_of_fixed = few(in_integers(steps(data, 12), &fixed));
        let fixed = fixed.over_integers();
        let wanted = expected(&fixed, fixed.window_stream(), &steps_of_fixed);
        let built = Built::new(&fixed.to_c_source(NAMES).expect("written in C"), &steps_of_fixed);
        assert_same(&built.on_avr(), &wanted);
        assert_same(&built.on_riscv(), &wanted);
        let (deployed, steps) = (deployed(&classifier), steps(data, 12));
        let wanted = expected(&deployed, deployed.window_stream(), &steps);
        let built = Built::new(&deployed.to_c_source(NAMES).expect("written in C"), &steps);
        assert_same(&built.on_riscv(), &wanted);
    }
    for (model, steps) in spotters() {
        let lacks_some = model.provenance.channels.iter().any(|channel| channel.missing);
        let spotter = model.deploy().expect("sound");
        let built = Built::new(&spotter.to_c_source(NAMES).expect("written in C"), &steps);
        assert_same(&built.on_riscv(), &spotted(&spotter, lacks_some, &steps));
    }
}

/// Overlapping windows, windows apart and with gaps between them; with probabilities and reasons for rejection.
#[test]
fn windows_and_rejection_are_the_hosts_in_c_source() {
    let data = recordings();
    let mut of_two = three_channels();
    let rejection = Rejection { rate: 0.1, least_margin: 0.5, likelihoods: vec![[-9.5, -8.5]; 2] };
    of_two.confidence = Some(Confidence { scale: 0.7, rejection: Some(rejection), windows: 9 });
    let mut of_many = trained(&data, ClassifierKind::Fisher);
    of_many.confidence = Some(Confidence { scale: 1.5, rejection: None, windows: 9 });
    for (length, hop, short) in
        [(7, 2, ShortSeries::Keep), (5, 5, ShortSeries::Drop), (1, 1, ShortSeries::Keep)]
    {
        let windows = windows(length, hop, short);
        let of_two = deployed(&of_two).on_windows(windows);
        assert_decides_as_the_host(&of_two, &channels(), 40);
        assert_decides_as_the_host(&deployed(&of_many).on_windows(windows), &data, 60);
    }
    let apart = deployed(&of_two).on_windows(windows(3, 8, ShortSeries::Keep));
    assert_decides_as_the_host(&apart, &channels(), 40);
}

/// A detector of change in the channels or symbols of a data set.
pub(crate) fn detector_on(data: &Dataset) -> Detector {
    let views: Vec<SamplesView<'_>> =
        data.series().iter().map(|series| series.samples.view()).collect();
    let observations = Observations::from(data.kind());
    let fit = BaumWelch { states: 3, iterations: 3, ..BaumWelch::default() };
    let (size, floors) = (observations.size(), vec![0.5; observations.size()]);
    let fitted =
        |views: &[SamplesView<'_>]| fit.fit(views, size, &floors, &|| ()).expect("fits").model;
    let model = fitted(&views);
    let direction = match &observations {
        Observations::Channels(_) => Direction::offset(&model, 0).expect("a channel"),
        Observations::Symbols(_) => {
            Direction::towards(&model, &fitted(&views[4..])).expect("of one shape")
        }
    };
    let calibration = Calibration { memory: 8.0, mean_time: 40.0 };
    calibration.calibrate(&model, &direction, &observations, &views).expect("calibrates")
}

/// Of channels, some of which may be missing, and of symbols: statistics, and alarms after which it begins anew.
#[test]
fn a_detector_is_the_hosts_in_c_source() {
    for data in [recordings(), with_holes(&recordings()), strings(90)] {
        let detector = detector_on(&data);
        let steps = steps(&data, 100);
        let wanted = detected(&detector, &steps);
        assert!(wanted.lines().any(|line| line.contains(" 00000000 ")), "no alarm");
        assert_prints(&detector.to_c_source(NAMES).expect("written in C"), &steps, &wanted);
    }
}

/// Events that a sample decides and those that the end of a stream leaves, in whole samples, in samples that lack channels, and
/// in symbols; decided late, too.
#[test]
fn a_spotter_is_the_hosts_in_c_source() {
    for (model, steps) in spotters() {
        let lacks_some = model.provenance.channels.iter().any(|channel| channel.missing);
        let spotter = model.deploy().expect("sound");
        let wanted = spotted(&spotter, lacks_some, &steps);
        let events = wanted.lines().filter(|line| line.len() > 30).count();
        assert!(events > 2, "{wanted}");
        assert_prints(&spotter.to_c_source(NAMES).expect("written in C"), &steps, &wanted);
    }
    let (model, steps) = spotters().remove(0);
    let spotter = model.deploy().expect("sound");
    let wanted = spotted(&spotter, false, &steps);
    let built = Built::new(&spotter.to_c_source(NAMES).expect("written in C"), &steps);
    for core in [M0, M4] {
        assert_same(&built.on_board(core), &wanted);
    }
}

#[test]
fn cores_with_and_without_an_fpu_decide_as_the_host_in_c_source() {
    let data = recordings();
    for classifier in
        [trained(&data, ClassifierKind::Fisher), trained_on_levels(&data, &[1, 2], 1, 2)]
    {
        let deployed = deployed(&classifier).on_windows(windows(30, 15, ShortSeries::Keep));
        let steps = steps(&data, 40);
        let (wanted, built) = (
            expected(&deployed, deployed.window_stream(), &steps),
            Built::new(&deployed.to_c_source(NAMES).expect("written in C"), &steps),
        );
        for core in [M0, M4] {
            assert_same(&built.on_board(core), &wanted);
        }
    }
}

#[test]
fn what_is_not_written_in_c_source_is_refused_by_name() {
    let data = channels();
    let refused = |classifier: &Classifier| {
        let names = CNames { prefix: "gait", header: "gait.h" };
        deployed(classifier).to_c_source(names).expect_err("not written")
    };
    let machine = trained(&data, ClassifierKind::OnScores(ScoreKernelKind::Gaussian));
    for (classifier, what) in
        [(machine, "kernel machine"), (trained_behind(&data, "decimate=2"), "front end")]
    {
        let CSourceError::Without(told) = refused(&classifier) else { panic!("another error") };
        assert!(told.contains(what), "{told}");
    }
    for header in ["", "a\"b.h", "a/b.h"] {
        let names = CNames { prefix: "gait", header };
        let told = deployed(&three_channels()).to_c_source(names).expect_err("no name");
        assert!(matches!(told, CSourceError::HeaderName(_)), "{told}");
    }
}

/// Two models in one program: each name begins with its prefix.
#[test]
fn names_of_c_source_begin_with_their_prefix() {
    let source = deployed(&three_channels())
        .to_c_source(CNames { prefix: "gait", header: "gait.h" })
        .expect("written in C");
    let told = source.source.replace("exported by fishweir ", "");
    assert!(!told.to_lowercase().contains("fishweir"), "{told}");
    assert!(source.header.contains("gait_push(gait_stream *stream"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("gait.h"), source.header).expect("writes");
    fs::write(folder.path().join("gait.c"), source.source).expect("writes");
    let told = Command::new("gcc")
        .current_dir(folder.path())
        .args("-std=c99 -c gait.c -o gait.o".split(' '))
        .status()
        .expect("gcc starts");
    assert!(told.success() && Path::exists(&folder.path().join("gait.o")));
}
