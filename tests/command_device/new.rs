//! `fishweir new`: the project builds alone, decides under QEMU as the host does, and says what went wrong. QEMU and
//! the targets must be there; boards that QEMU does not have are built, for tests/boards.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use fishweir::device::{Board, Image, Qemu};
use fishweir::project::{PROJECT_BOARDS, Start};
use serde_json::Value;

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
#[cfg(unix)]
use crate::terminal::with_emulated;
use crate::{fishweir, json, printed};

/// Runs cargo in a project; what it builds on is kept with the firmware's builds.
pub(crate) fn cargo(project: &Path, line: &str) -> Output {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let firmware = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware"));
    // What the firmware locks is built already.
    let lock = project.join("Cargo.lock");
    if !lock.exists() {
        fs::copy(firmware.join("Cargo.lock"), lock).expect("copies");
    }
    let mut cargo = Command::new(env!("CARGO"));
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS"] {
        cargo.env_remove(variable);
    }
    cargo
        .current_dir(project)
        .env("CARGO_TARGET_DIR", firmware.join("target"))
        .args(line.split_whitespace())
        .output()
        .expect("cargo starts")
}

/// Builds and runs a project without a warning; what the device says.
#[track_caller]
pub(crate) fn runs(project: &Path) -> String {
    let output = cargo(project, "run --release");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(!errors.contains("warning"), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Has a project stand on the checkout's core, of which its own is a copy: it is built once for all of them. That a
/// project builds alone has a test of its own.
pub(crate) fn share_core(project: &Path) {
    let root = concat!("path = \"", env!("CARGO_MANIFEST_DIR"), "/../../");
    let path = project.join("Cargo.toml");
    let text = fs::read_to_string(&path).expect("reads");
    assert!(text.contains("path = \"vendor/"), "{text}");
    fs::write(path, text.replace("path = \"vendor/", root)).expect("writes");
}

/// Changes one piece of a file of a project.
fn change(project: &Path, file: &str, from: &str, to: &str) {
    let path = project.join(file);
    let text = fs::read_to_string(&path).expect("reads");
    assert_eq!(text.matches(from).count(), 1, "{file} has `{from}` once");
    fs::write(&path, text.replace(from, to)).expect("writes");
}

/// Has a program say the deepest of its stack at the end.
fn paint(project: &Path) {
    change(
        project,
        "src/main.rs",
        "    let board = start::begin();",
        "    paint();\n    let board = start::begin();",
    );
    let end = "        board.end_of_recordings();";
    change(project, "src/main.rs", end, &format!("        painted();\n{end}"));
    let path = project.join("src/main.rs");
    let text = fs::read_to_string(&path).expect("reads");
    fs::write(&path, format!("{text}{PAINT}")).expect("writes");
}

const PAINT: &str = r#"
unsafe extern "C" {
    static mut __sheap: u32;
    static _stack_start: u32;
}

#[inline(never)]
fn paint() {
    let here = 0_u32;
    let here = core::hint::black_box(&raw const here) as usize - 128;
    let mut at = &raw mut __sheap;
    while (at as usize) < here {
        unsafe {
            at.write_volatile(0xfeed_beef);
            at = at.add(1);
        }
    }
}

#[inline(never)]
fn painted() {
    let mut at = &raw const __sheap;
    unsafe {
        while at.read_volatile() == 0xfeed_beef {
            at = at.add(1);
        }
    }
    let depth = (&raw const _stack_start) as usize - at as usize;
    semihosting::println!("stack: {depth}");
}
"#;

/// What `new` says of an image's memories holds the image that is built and the deepest stack of its run.
#[track_caller]
fn holds_what_is_taken(project: &Path, told: &Value, said: &str) {
    let pair = |key: &str| [0, 1].map(|end| told[key][end].as_u64().expect("a number"));
    let board = told["board"].as_str().expect("a name");
    let emulated = Board::named(board).expect("a board");
    let firmware = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware"));
    let manifest = fs::read_to_string(project.join("Cargo.toml")).expect("reads");
    let name = manifest.split("name = \"").nth(1).and_then(|rest| rest.split('"').next());
    let elf = format!("target/{}/release/{}", emulated.target, name.expect("a name"));
    let sections = Image::open(emulated, &firmware.join(elf)).expect("an image").sections;
    let stack = said.split("stack: ").nth(1).and_then(|rest| rest.lines().next());
    let stack: u64 = stack.and_then(|stack| stack.parse().ok()).expect("a depth");
    for (key, taken) in [("ram", sections.ram() + stack), ("flash", sections.flash())] {
        let [least, most] = pair(key);
        assert!((least..=most).contains(&taken), "{board}, {key}: {taken} in {told}");
    }
}

#[test]
fn a_project_builds_alone_decides_as_the_host_and_tells_its_faults() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let at = folder.at("gestures");
    let said = printed(&format!("new {at} --board mps2-an386 --model {model} --data {data}"));
    assert!(said.contains("self-test: 90 samples of the recordings"), "{said}");
    assert!(said.contains("plays 8 recordings for a sensor: 170 samples at 50 Hz"), "{said}");
    assert!(said.contains("windows of 20 samples, one every 10"), "{said}");
    let project = Path::new(&at);
    let said = runs(project);
    assert!(said.starts_with("self-test: 90 samples, every bit as on the host\n"), "{said}");

    // The stand-in plays whole windows: its decisions are those of `predict`, to the bit, and beside each is the class.
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(lines.len(), 2 * 9 + 1, "{said}");
    let self_test = fs::read_to_string(project.join("src/self_test.rs")).expect("reads");
    let mut right = 0;
    for (number, two) in lines.chunks_exact(2).enumerate() {
        let bits = two[0].rsplit_once('(').expect("bits").1.trim_end_matches(')');
        // Of the first recording two windows.
        let samples = if number == 1 { "30 samples: " } else { "20 samples: " };
        assert!(two[0].starts_with(samples), "{two:?}");
        // The first four recordings are those of the self-test.
        assert!(number > 4 || self_test.contains(bits), "{two:?}");
        assert!(two[1].starts_with("  recorded as "), "{two:?}");
        right += usize::from(two[1].ends_with(": right"));
    }
    assert_eq!(lines[18], format!("{right} of 9 decisions on recordings are right"));
    assert!(right >= 8, "{said}");

    // Three faults in a row end it; each is told at the next start.
    change(
        project,
        "src/sensor.rs",
        "    pub fn next(&mut self) -> Option<Next> {\n",
        "    pub fn next(&mut self) -> Option<Next> {\n        assert!(self.done != Some(3));\n",
    );
    let output = cargo(project, "run --release");
    let said = String::from_utf8_lossy(&output.stdout);
    for count in 1..=3 {
        let told = format!("the run before panicked at src/sensor.rs:37 ({count} in a row)");
        assert!(said.contains(&told), "{said}");
    }
    assert_eq!(output.status.code(), Some(1), "{said}");

    // A bit that is not the host's is told, and nothing is decided.
    let (before, step) = self_test.rsplit_once("0x").expect("bits");
    let changed = format!(
        "{before}0x{}",
        step.replacen(&step[7..8], if &step[7..8] == "0" { "1" } else { "0" }, 1)
    );
    fs::write(project.join("src/self_test.rs"), changed).expect("writes");
    let output = cargo(project, "run --release");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("self-test: FAILED at sample 19 of stream 3: margin 0x"), "{said}");
    assert_eq!(output.status.code(), Some(1), "{said}");
}

/// One project after another takes the place of the one before.
#[test]
fn models_of_every_kind_are_observed_in_their_own_way() {
    let folder = Folder::new();
    let at = folder.at("kinds");
    let machine = folder.at("machine.json");
    printed(&format!(
        "fit {} -o {machine} --classifier gaussian --window 20 {QUICK} --effort quick --sigma 1",
        fixtures().at("three.csv")
    ));
    let counts = folder.at("counts.json");
    let table = fixtures().at("counts.csv");
    printed(&format!(
        "fit {table} -o {counts} --classifier bayes --emission poisson {QUICK} --effort quick"
    ));
    // It says how far it is to be believed, and its artefact does.
    let (trusted, artefact) = (folder.at("trusted.json"), folder.at("trusted.fishweir"));
    let table = fixtures().at("strings.tsv");
    printed(&format!("fit {table} -o {trusted} --reject 0.2 {QUICK} --effort quick"));
    printed(&format!("export {trusted} --artefact {artefact}"));
    for (model, data) in [
        (artefact, format!("--data {}", fixtures().at("strings.fasta"))),
        (machine, String::new()),
        (counts, String::new()),
    ] {
        let line = format!(
            "new {at} --name kinds --board mps2-an386 --model {model} {data} --force --json"
        );
        let told = json(&line);
        share_core(Path::new(&at));
        paint(Path::new(&at));
        let said = runs(Path::new(&at));
        holds_what_is_taken(Path::new(&at), &told, &said);
        assert!(said.contains("every bit as on the host\n"), "{line}: {said}");
        let believed = fs::read_to_string(Path::new(&at).join("src/report.rs")).expect("reads");
        assert_eq!(believed.contains("probability"), line.contains("trusted"), "{line}");
    }
}

/// A part without a unit for floats decides in integers, on those that the sensor gives, to the host's bits.
#[test]
fn a_project_in_fixed_point_decides_as_the_host() {
    let folder = Folder::new();
    let at = folder.at("integers");
    let (channels, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let (symbols, strings) = (fixtures().at("strings.json"), fixtures().at("strings.tsv"));
    for (model, data, sample) in
        [(channels, data, "pub type Sample = [i16; 2];"), (symbols, strings, "Sample = usize;")]
    {
        let told = json(&format!(
            "new {at} --name integers --board microbit --model {model} --data {data} --number q15 --equal 0.9 \
             --force --json"
        ));
        assert!(told["number"] == "q15" && told["equal_decisions"].as_f64() >= Some(0.9), "{told}");
        let project = Path::new(&at);
        share_core(project);
        paint(project);
        let said = runs(project);
        assert!(said.contains("every bit as on the host\n"), "{said}");
        holds_what_is_taken(project, &told, &said);
        let text = |file: &str| fs::read_to_string(project.join(file)).expect("reads");
        assert!(text("src/self_test.rs").contains(sample), "{model}");
        assert!(text("src/model.rs").contains("Q15"), "{model}");
        let page = text("README.md");
        assert_eq!(
            page.contains("Channels are integers of 16 bits"),
            sample.contains("i16"),
            "{page}"
        );
    }
}

#[test]
#[ignore = "the other boards that QEMU has, for tests/boards"]
fn every_emulated_board_decides_as_the_host() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    for board in PROJECT_BOARDS.iter().filter(|board| board.start == Start::Emulated) {
        let (name, at) = (board.name, folder.at(board.name));
        printed(&format!("new {at} --board {name} --model {model} --data {data}"));
        let said = runs(Path::new(&at));
        assert!(
            said.starts_with("self-test: 90 samples, every bit as on the host\n"),
            "{name}: {said}"
        );
        change(
            Path::new(&at),
            "src/sensor.rs",
            "    pub fn next(&mut self) -> Option<Next> {\n",
            "    pub fn next(&mut self) -> Option<Next> {\n        assert!(self.done != Some(3));\n",
        );
        let output = cargo(Path::new(&at), "run --release");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("panicked at src/sensor.rs:37 (3 in a row)"), "{name}: {said}");
    }
}

/// Short recordings at 16 kHz of a tone and of noise.
fn sound() -> String {
    let (mut text, mut noise) = ("series,label,t,sound\n".to_owned(), Noise(3));
    for series in 0..4 {
        for t in 0..1600 {
            let tone = (0.4 * f64::from(t)).sin();
            let hiss = noise.next().unwrap_or(0.0);
            let (label, x) =
                if series % 2 == 0 { ("tone", tone + 0.1 * hiss) } else { ("hiss", hiss) };
            let _ = writeln!(text, "{series},{label},{},{x:.4}", f64::from(t) / 16_000.0);
        }
    }
    text
}

#[test]
#[ignore = "packages of seven boards and a chip, for tests/boards"]
fn every_real_board_has_its_image_in_both_styles() {
    let folder = Folder::new();
    let (model, key) = (fixtures().at("three.json"), folder.at("update.key"));
    let (table, teachable) = (fixtures().at("three.csv"), folder.at("teachable.json"));
    printed(&format!("keygen {key}"));
    printed(&format!(
        "fit {table} -o {teachable} --window 20 --hop 10 --teachable --reject 0.1 {QUICK} --effort quick"
    ));
    let (sound, heard) = (folder.put("sound.csv", sound()), folder.at("heard.json"));
    printed(&format!(
        "fit {sound} -o {heard} --classifier bayes --window 400 --hop 400 {QUICK} --effort quick"
    ));
    let hears = format!("--model {heard} --sensor microphone");
    let lessons = format!("--model {teachable} --rate 50 --application teach --alarm taught");
    // Slower than the watchdog is patient: it is fed meanwhile.
    let decides = format!("--model {model} --rate 0.1");
    let field = format!("{decides} --application field --update-key {}", folder.at("update.pub"));
    let measures = "--application record --rate 50 --channels ax[g],ay[g],az[g]";
    let turns = format!("{measures},gx[dps],gy[dps],gz[dps]");
    let styles = [
        ("", format!("{decides} --alarm turning")),
        ("--async", decides.clone()),
        ("--async", "--application record --channels x,y,z --rate 0.1".to_owned()),
        ("--async", format!("{decides} --application stream")),
        ("", format!("{field} --alarm turning")),
        ("--async", field),
        ("", lessons.clone()),
        ("--async", lessons),
        ("", format!("{measures} --sensor lis2dh12")),
        ("--async", format!("{measures} --sensor lsm6dso")),
        ("", format!("{turns} --sensor lsm6dso")),
        ("--async", format!("{turns} --sensor bmi270")),
        ("", format!("{turns} --sensor mpu6050")),
        ("", format!("{} --sensor adc", measures.replace("[g]", "[V]"))),
        ("--async", "--application record --rate 50 --channels a[V] --sensor adc".to_owned()),
        ("", hears.clone()),
        ("--async", format!("{hears} --alarm tone")),
        ("", format!("{hears} --application field --update-key {}", folder.at("update.pub"))),
    ];
    let boards = PROJECT_BOARDS.iter().filter(|board| board.start != Start::Emulated);
    let boards = boards.map(|board| (board.name, format!("--board {}", board.name), board.target));
    let chip = "--chip STM32L476RGTx --memories 1M,96K --pin led=PB3".to_owned();
    for (name, board, target) in boards.chain([("stm32l476rg", chip, "thumbv7em-none-eabihf")]) {
        let added = Command::new("rustup").args(["target", "add", target]).status();
        assert!(added.is_ok_and(|added| added.success()), "{target}");
        for (index, (style, task)) in styles.iter().enumerate() {
            let at = folder.at(format!("{name}-{index}"));
            let line = format!("new {at} --name image-{index} {board} {task} {style}");
            // Its flash takes no second write; its converter has no clock; only three have a driver of a microphone.
            let once = ["nucleo-g071rb", "stm32l476rg"].contains(&name);
            let hears = ["nrf52840-dk", "esp32c3", "esp32c6"].contains(&name);
            let kind = match task {
                task if task.contains("microphone") && !hears => "bad-sensor",
                task if task.contains("adc") && name == "stm32l476rg" => "bad-sensor",
                task if task.contains("field") && once => "no-slots",
                _ => "",
            };
            if !kind.is_empty() {
                let refused = fishweir(&format!("{line} --json")).output().expect("runs");
                let said = String::from_utf8_lossy(&refused.stderr);
                let kind = format!("\"kind\":\"{kind}\"");
                assert!(refused.status.code() == Some(2) && said.contains(&kind), "{said}");
                continue;
            }
            printed(&line);
            share_core(Path::new(&at));
            let output = cargo(Path::new(&at), "build --release");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !errors.contains("warning"), "{line}: {errors}");
        }
    }
}

/// Programs that answer a host over the port of an emulated board decide as it does, and those that record are recorded.
#[cfg(unix)]
#[test]
#[ignore = "the other boards that QEMU has, for tests/boards"]
fn every_emulated_board_has_its_serial_port() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let built = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/target"));
    for board in PROJECT_BOARDS.iter().filter(|board| board.start == Start::Emulated) {
        let name = board.name;
        let starts = |task: &str, line: &str| {
            let at = folder.at(format!("{name}-{task}"));
            printed(&format!("new {at} --name {task} --board {name} --application {task} {line}"));
            let output = cargo(Path::new(&at), "build --release");
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !errors.contains("warning"), "{name}: {errors}");
            let elf = built.join(board.target).join("release").join(task);
            let image = Image::open(Board::named(name).expect("a board"), &elf).expect("an image");
            Qemu::start(&image).expect("QEMU starts")
        };
        let qemu = starts("stream", &format!("--model {model} --data {data}"));
        let report = with_emulated(&qemu, 0, |port| {
            json(&format!("run {data} --model {model} --limit 100 --port {port} --json"))
        });
        assert_eq!(
            (&report["differing_bits"], &report["numbers"]),
            (&0.into(), &500.into()),
            "{name}"
        );
        let qemu = starts("record", "--channels x,y --rate 50");
        let table = folder.at(format!("{name}.csv"));
        let told = with_emulated(&qemu, 0, |port| {
            json(&format!("record --port {port} -o {table} --seconds 1 --countdown 0 --json"))
        });
        assert!(told["takes"][0]["samples"].as_u64() > Some(20), "{name}: {told}");
        assert_eq!(told["takes"][0]["lost"], 0, "{name}: {told}");
    }
}
