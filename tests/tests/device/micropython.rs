//! Native modules of MicroPython: MicroPython on this machine, and a loader for other architectures under QEMU, decide as the
//! host does, bit for bit. `tests/run` installs MicroPython beside the Python of its builds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fishweir::classifier::{Confidence, Rejection};
use fishweir::data::ShortSeries;
use fishweir::deploy::Deployed;
use fishweir::device::{
    DeviceError, Firmware, MODULE_ARCHITECTURES, ModelFile, ModuleArchitecture, Qemu,
};
use fishweir::learn::ClassifierKind;
use fishweir_tests::quick::{
    channels, recordings, strings, three_channels, trained, trained_behind, trained_on_levels,
    with_holes,
};

use crate::applications::spotting::spotters;
use crate::c_interface::{c_folder, open};
use crate::c_source::{
    M0, M3, M4, ON_VIRT, RISCV, VIRT, detector_on, emulated, in_integers, quantised, windows,
};
use crate::steps::{Step, assert_same, detected, expected, recording, spotted, steps};

fn architecture(name: &str) -> &'static ModuleArchitecture {
    let mut all = MODULE_ARCHITECTURES.iter();
    all.find(|one| one.name == name).expect("an architecture")
}

/// A folder with a module around the model of a Rust source.
struct Module {
    folder: tempfile::TempDir,
    architecture: &'static ModuleArchitecture,
}

impl Module {
    fn new(source: &str, architecture: &'static ModuleArchitecture) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (model, made) = (folder.path().join("model.rs"), folder.path().join("made"));
        fs::write(&model, source).expect("writes");
        let firmware = Firmware::in_repository().expect("a firmware");
        let bytes = firmware
            .micropython(ModelFile::Source(&model), "gait", &[architecture], &made)
            .expect("a module");
        let module = Self { folder, architecture };
        assert_eq!(fs::read(module.file()).expect("a module").len(), bytes);
        module
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(format!("made/{}_6.3/gait.mpy", self.architecture.name))
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("writes");
    }

    /// What MicroPython prints that pushes the steps.
    #[track_caller]
    fn by_micropython(&self, steps: &[Step]) -> String {
        self.put("recording.txt", &lines(steps));
        self.put("stream.py", include_str!("micropython/stream.py"));
        fs::copy(self.file(), self.folder.path().join("gait.mpy")).expect("copies");
        let mut micropython = Command::new(python());
        let start =
            "import micropython_unix; micropython_unix.run_main(['micropython', 'stream.py'])";
        let output = micropython.current_dir(self.folder.path()).args(["-c", start]).output();
        let output = output.expect("Python starts: tests/run installs it");
        let told = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(output.status.success() && !printed.contains("Traceback"), "{told}{printed}");
        printed
    }

    /// Builds a loader with the module and the steps in it, by a command of gcc.
    #[track_caller]
    fn with_loader(&self, gcc: &str, board: &[PathBuf], steps: &[Step]) -> PathBuf {
        let bytes = fs::read(self.file()).expect("a module");
        let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
        self.put(
            "module.h",
            &format!("static const uint8_t module[] = {{{}}};\n", listed.join(",")),
        );
        self.put("recording.h", &recording(steps));
        self.put("loader.c", include_str!("micropython/loader.c"));
        let output = Command::new(gcc.split(' ').next().expect("a compiler"))
            .current_dir(self.folder.path())
            .args(gcc.split(' ').skip(1))
            .args(["-I.", &format!("-I{}", c_folder().join("example").display())])
            .args([&format!("-DARCHITECTURE={}", bytes[2] >> 2), "-DCHANNELS=3", "loader.c"])
            .args(board)
            .args(["-lgcc", "-o", "program.elf"])
            .output()
            .expect("a compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.folder.path().join("program.elf")
    }

    /// What a loader prints that runs on a core under QEMU.
    #[track_caller]
    fn on_core(&self, core: &str, steps: &[Step]) -> String {
        let example = c_folder().join("example");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device/c_source");
        let board = ["board.c", "startup.c"].map(|name| example.join(name));
        let board = [&board[..], &[source.join("memory.c")]].concat();
        let script = example.join("mps2_an386.ld");
        let gcc =
            format!("arm-none-eabi-gcc {core} -std=gnu11 -O1 -Wall -Wextra -Werror -ffreestanding");
        let gcc = format!("{gcc} -nostdlib -z noexecstack -T {}", script.display());
        let elf = self.with_loader(&gcc, &board, steps);
        let sent = Qemu::start(&open(&elf)).expect("QEMU starts");
        let sent = sent.listen(Duration::from_secs(300)).expect("the firmware ends well");
        String::from_utf8(sent).expect("UTF-8")
    }
}

/// The interpreter of `target/python`.
fn python() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.ancestors().nth(3).expect("builds").join("python/bin/python")
}

/// The steps as the script reads them.
fn lines(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        // Writing to a string does not fail.
        let _ = match step {
            Step::Row(row) => {
                let row: Vec<String> = row.iter().map(|x| format!("{:08x}", x.to_bits())).collect();
                writeln!(text, "row {}", row.join(" "))
            }
            Step::Symbol(symbol) => writeln!(text, "symbol {symbol}"),
            Step::Missing => writeln!(text, "missing"),
            Step::Reset => writeln!(text, "reset"),
        };
    }
    text
}

/// MicroPython decides as the host.
#[track_caller]
fn assert_decides(deployed: &Deployed, steps: &[Step]) {
    let wanted = expected(deployed, deployed.window_stream(), steps);
    assert!(wanted.lines().any(|line| line.len() > 30), "nothing is decided");
    let module = Module::new(&deployed.to_source(), architecture("x64"));
    assert_same(&module.by_micropython(steps), &wanted);
}

/// Channels that may be missing, three classes, overlapping windows, probabilities and reasons for rejection.
#[test]
fn a_classifier_decides_in_micropython_as_on_the_host() {
    let data = with_holes(&recordings());
    let mut classifier = trained(&data, ClassifierKind::Fisher);
    let count = classifier.classes.len();
    assert!(count > 2);
    let rejection =
        Rejection { rate: 0.1, least_margin: 0.5, likelihoods: vec![[-9.5, -3.5]; count] };
    classifier.confidence = Some(Confidence { scale: 0.7, rejection: Some(rejection), windows: 9 });
    let deployed = classifier.deploy().expect("fits in f32");
    let deployed = deployed.on_windows(windows(30, 15, ShortSeries::Keep));
    assert_decides(&deployed, &steps(&data, 100));
}

/// Two classes beside a background: events that a sample decides, and those that the end of a stream leaves.
#[test]
fn a_spotter_spots_in_micropython_what_the_host_spots() {
    let (model, steps) = spotters().remove(0);
    let spotter = model.deploy().expect("sound");
    let wanted = spotted(&spotter, false, &steps);
    assert!(wanted.lines().filter(|line| line.len() > 30).count() > 2, "{wanted}");
    let module = Module::new(&spotter.to_source(), architecture("x64"));
    assert_same(&module.by_micropython(&steps), &wanted);
}

/// The other kinds of models: for `tests/boards`, for each is built and linked.
#[test]
#[ignore = "by tests/boards"]
fn other_models_decide_in_micropython_as_on_the_host() {
    let symbols = strings(90);
    let classifier = trained(&symbols, ClassifierKind::Fisher);
    assert_decides(&classifier.deploy().expect("fits in f32"), &steps(&symbols, usize::MAX));
    let data = recordings();
    let behind = trained_behind(&data, "decimate=2");
    assert_decides(&behind.deploy().expect("fits in f32"), &steps(&data, 60));

    let data = channels();
    let fixed = quantised(&trained_on_levels(&data, &[1, 2], 1, 2));
    let steps_of_fixed = in_integers(steps(&data, 60), &fixed);
    let over_integers = fixed.over_integers();
    let wanted = expected(&over_integers, over_integers.window_stream(), &steps_of_fixed);
    let module = Module::new(&fixed.to_source(), architecture("x64"));
    assert_same(&module.by_micropython(&steps_of_fixed), &wanted);

    for data in [with_holes(&recordings()), strings(90)] {
        let (detector, steps) = (detector_on(&data), steps(&data, 100));
        let wanted = detected(&detector, &steps);
        assert!(wanted.lines().any(|line| line.contains(" 00000000 ")), "no alarm");
        let module = Module::new(&detector.to_source(), architecture("x64"));
        assert_same(&module.by_micropython(&steps), &wanted);
    }
}

/// Modules of the other architectures, loaded elsewhere than they were linked, by cores without and with hardware floats.
#[test]
#[ignore = "by tests/boards"]
fn modules_of_every_architecture_decide_as_the_host() {
    let data = channels();
    for (classifier, most) in
        [(three_channels(), 60), (trained_on_levels(&data, &[1, 2], 1, 2), 40)]
    {
        let deployed = classifier.deploy().expect("fits in f32");
        let deployed = deployed.on_windows(windows(7, 2, ShortSeries::Keep));
        let steps = steps(&data, most);
        let wanted = expected(&deployed, deployed.window_stream(), &steps);
        assert!(wanted.lines().any(|line| line.len() > 30), "nothing is decided");
        let source = deployed.to_source();
        for (name, core) in [("armv6m", M0), ("armv7m", M3), ("armv7emsp", M4)] {
            let module = Module::new(&source, architecture(name));
            assert_same(&module.on_core(core, &steps), &wanted);
        }
        // Floats that pass in other registers.
        let module = Module::new(&source, architecture("armv6m"));
        let told = module.on_core(M4, &steps);
        assert!(told.contains("another architecture"), "{told}");
        let module = Module::new(&source, architecture("rv32imc"));
        let board = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device/c_source/hosted.c");
        let elf = module.with_loader(&format!("{RISCV} {ON_VIRT}"), &[board], &steps);
        assert_same(&emulated(VIRT, &elf), &wanted);
    }
}

/// A name that is none, and a folder with something else in it.
#[test]
fn modules_go_to_a_folder_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("notes.txt"), "mine").expect("writes");
    let firmware = Firmware::in_repository().expect("a firmware");
    let made = |name: &str| {
        let one = [architecture("x64")];
        firmware.micropython(ModelFile::Bundled, name, &one, folder.path()).expect_err("refused")
    };
    assert!(matches!(made("Gait"), DeviceError::Prefix { .. }));
    assert!(matches!(made("gait"), DeviceError::File { .. }));
}
