//! `fishweir new`: what is said of a board before anything is built, and what is refused.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fishweir::project::{CoreSource, PROJECT_BOARDS, RecordProject};

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
use crate::{answers, fishweir, json, notes, printed, refuses};

/// A model that no first micro:bit holds in `f32`: past samples of 1 050, in two channels.
#[test]
fn a_board_that_is_too_small_or_too_slow_is_told_beforehand() {
    let folder = Folder::new();
    let (mut text, mut noise) = ("series,label,t,x,y\n".to_owned(), Noise(7));
    for series in 0..4 {
        for t in 0..1200 {
            let label = if series % 2 == 0 { "low" } else { "high" };
            let mut number = || noise.next().unwrap_or(0.0) + 2.0 * f64::from(series % 2);
            let _ = writeln!(text, "{series},{label},{t},{:.3},{:.3}", number(), number());
        }
    }
    let (data, model) = (folder.put("long.csv", text), folder.at("long.json"));
    printed(&format!(
        "fit {data} -o {model} --classifier bayes --lags 1050 --codebooks 0 {QUICK} --effort quick"
    ));
    let at = folder.at("small");
    let line = format!("new {at} --board microbit --model {model}");
    refuses(&line, "no-room f32 microbit RAM --number q15 --max-ram lm3s6965evb");
    assert!(!Path::new(&at).exists(), "refused before anything is written");
    // What it advises is right: fixed point is written.
    let told = json(&format!("{line} --data {data} --number q15 --json"));
    assert!(told["ram"][1].as_u64() < told["ram_there"].as_u64(), "{told}");

    let slow = fixtures().at("three.json");
    let line = format!("new {at} --force --board microbit --model {slow} --rate");
    let told = |rate: &str| {
        let told = notes(&format!("{line} {rate}"));
        told.into_iter().find(|note| note.kind == "slow-board")
    };
    let slow = told("50000").expect("a note");
    assert!(slow.is("slow-board microbit 16.0 --rate"), "{slow}");
    // What it says can be kept up with is not told of.
    let rate = slow.message.split("--rate ").nth(1).and_then(|rest| rest.split(' ').next());
    assert!(told(rate.expect("a rate")).is_none());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    let model = fixtures().at("three.json");
    let full = folder.at("full");
    fs::create_dir(&full).expect("makes a folder");
    folder.put("full/mine.rs", "");
    let line = format!("new {full} --board mps2-an386 --model {model}");
    refuses(&line, "folder-in-use");
    let tasks = format!("new {} --board microbit --model {model} --async", folder.at("tasks"));
    refuses(&tasks, "no-clock");
    let board = format!("new {} --board abacus --model {model}", folder.at("abacus"));
    refuses(&board, "invalid-value nrf52840-dk --board");
    let name = format!("new {} --board microbit --model {model} --name 3d", folder.at("name"));
    refuses(&name, "bad-name");
    refuses(&name.replace("--name 3d", "--name deps"), "bad-name");
    let rate = format!("new {} --board microbit --model {model} --rate 1e9", folder.at("rate"));
    refuses(&rate, "invalid-value 1000000000 0.0000116 --rate");
    let idle = format!("new {} --board microbit --model {model} --format csv", folder.at("idle"));
    answers(&idle, "idle-option --data");
    assert!(!Path::new(&folder.at("tasks")).exists());
}

#[test]
fn it_says_what_to_do_next() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let at = folder.at("pico");
    let said = printed(&format!("new {at} --board rp2040-pico --model {model} --rate 104"));
    assert!(said.contains("of noise, as there are no recordings"), "{said}");
    assert!(said.contains("rustup target add thumbv6m-none-eabi"), "{said}");
    let board = fs::read_to_string(folder.path().join("pico/src/board.rs")).expect("reads");
    assert!(board.contains("Duration::from_micros(9615)"), "{board}");
    let slow = folder.at("slow");
    for (style, fed) in [
        ("", "while Instant::now() < self.due {\n            block_on(Timer::at("),
        (
            "--async",
            "with_timeout(PIECE, self.ticker.next()).await.is_err() {\n            self.feed();",
        ),
    ] {
        printed(&format!("new {slow} --board esp32c3 --model {model} --rate 0.1 --force {style}"));
        let board = fs::read_to_string(folder.path().join("slow/src/board.rs")).expect("reads");
        assert!(
            board.contains("Duration::from_micros(10000000)") && board.contains(fed),
            "{board}"
        );
    }
    // No name of a template is left anywhere.
    let project = folder.path().join("pico");
    for file in [
        "Cargo.toml",
        "README.md",
        "build.rs",
        "memory.x",
        "src/main.rs",
        "src/board.rs",
        "src/fault.rs",
    ] {
        let text = fs::read_to_string(project.join(file)).expect("reads");
        assert!(!text.contains("{{") && !text.contains("}}"), "{file}");
    }
    fishweir("new").assert().failure();
}

#[test]
fn what_has_no_fixed_point_is_refused() {
    let folder = Folder::new();
    // What has no fixed point is refused before anything is read or written.
    let none = folder.at("none");
    let artefact = fixtures().at("three.fishweir");
    let line = format!("new {none} --board microbit --model {artefact} --number q15");
    refuses(&line, "needs-classifier three.fishweir");
    let model = fixtures().at("three.json");
    assert!(!Path::new(&none).exists());
    answers(
        format!("new {none} --board microbit --model {model} --equal 0.9"),
        "idle-option --equal --number q15",
    );
}

#[test]
fn a_project_that_records_needs_channels_and_no_model() {
    let folder = Folder::new();
    let at = folder.at("log");
    let line = format!("new {at} --board nrf52840-dk --application record");
    refuses(&line, "missing-required-argument --model");
    refuses(
        &format!("new {at} --board nrf52840-dk --channels x"),
        "missing-option --model --application",
    );
    let symbols = fixtures().at("strings.json");
    refuses(&format!("{line} --model {symbols}"), "wrong-observations --channels");
    refuses(&format!("{line} --channels x,label --rate 50"), "bad-channel-name label");
    refuses(&format!("{line} --channels x,x --rate 50"), "bad-channel-name x");
    refuses(&format!("{line} --channels x,y,z --rate 1000"), "bad-rate 1000 487");
    let emulated = line.replace("nrf52840-dk", "microbit");
    refuses(&format!("{emulated} --channels x --rate 50 --async"), "no-clock microbit");
    assert!(!Path::new(&at).exists(), "nothing is written");
    let told = notes(&*format!("{line} --channels x --endless"));
    for wanted in ["assumed-rate --rate", "idle-option --endless"] {
        assert!(told.iter().any(|note| note.is(wanted)), "{told:?}");
    }
    // What answers a host waits for it beside its watchdog.
    let stream = format!("new {} --board nrf52840-dk --application stream", folder.at("host"));
    let model = fixtures().at("three.json");
    refuses(&format!("{stream} --model {model}"), "needs-tasks nrf52840-dk --async");
    refuses(&format!("{stream} --channels x"), "missing-option --model");
    // Names and rate of a model, which the next recordings are for.
    let told = json(&format!("{line} --model {model} --rate 104 --force --json"));
    let header = fs::read_to_string(fixtures().at("three.csv")).expect("reads");
    let names = header.lines().next().expect("a header").rsplit(',').take(2).collect::<Vec<_>>();
    assert_eq!(told["channels"], serde_json::json!([names[1], names[0]]));
    assert_eq!(told["rate"], 104.0);

    let host = folder.at("host");
    printed(&format!("new {host} --board microbit --model {model} --application stream"));
    for part in ["", "src", ".cargo"] {
        for entry in fs::read_dir(Path::new(&host).join(part)).expect("reads") {
            let path = entry.expect("reads").path();
            if path.is_file() {
                no_name_is_left(&path, &fs::read_to_string(&path).expect("reads"));
            }
        }
    }
    let channels = ["x".to_owned()];
    for board in PROJECT_BOARDS.iter() {
        let (name, rate, core) = ("log", 50.0, CoreSource::Vendored);
        for tasks in [false, !board.is_emulated()] {
            let sensor = None;
            let project =
                RecordProject { name, board, tasks, channels: &channels, rate, core, sensor };
            for (path, text) in project.files().expect("sound") {
                no_name_is_left(Path::new(path), &text);
            }
        }
    }
}

/// No name of a template is left in a file of a project. Formats have braces, too.
#[track_caller]
fn no_name_is_left(path: &Path, text: &str) {
    let left = text.split("{{").skip(1).find(|rest| rest.starts_with(char::is_alphabetic));
    assert!(left.is_none(), "{path:?}: {left:?}");
}

/// A model is brought into a project; what a person wrote there stays, and is told of where the program would now write another.
#[test]
fn a_new_model_leaves_what_a_person_wrote() {
    let folder = Folder::new();
    let [two, three] = ["two", "three"].map(|model| fixtures().at(format!("{model}.json")));
    let data = fixtures().at("three.csv");
    let at = folder.at("mine");
    printed(&format!("new {at} --board nrf52840-dk --async --model {two} --name mine"));
    let text = |file: &str| folder.text(&format!("mine/{file}"));
    let sensor = format!("// My driver.\n{}", text("src/sensor.rs"));
    folder.put("mine/src/sensor.rs", &sensor);
    folder.put("mine/src/notes.txt", "mine");
    let page = format!("{}\nMy page.\n", text("README.md"));
    folder.put("mine/README.md", &page);
    folder.put("mine/src/model.rs", "// by mistake\n");
    fs::remove_file(folder.path().join("mine/.gitignore")).expect("removes");
    let board = text("src/board.rs");

    let line = format!("new {at} --update --model {three} --data {data}");
    let told = notes(&line);
    let kept: Vec<_> = told.iter().filter(|note| note.is("kept-files README.md")).collect();
    assert_eq!(kept.len(), 1, "{told:?}");
    assert!(!kept[0].message.contains("sensor"), "it would be as before: {kept:?}");
    assert_eq!((text("src/sensor.rs"), text("README.md")), (sensor, page));
    assert_eq!((text("src/notes.txt"), text("src/board.rs")), ("mine".to_owned(), board));
    assert!(!folder.path().join("mine/.gitignore").exists(), "taken away by a person");
    assert!(
        text("src/model.rs").contains("turning") && text("src/self_test.rs").contains("SAMPLES_2")
    );
    // As of a project that was written so.
    let other = folder.at("other");
    printed(&format!(
        "new {other} --board nrf52840-dk --async --model {three} --data {data} --name mine"
    ));
    for file in ["src/model.rs", "src/self_test.rs", "src/stream.rs", "src/main.rs", "Cargo.toml"] {
        assert_eq!(text(file), folder.text(&format!("other/{file}")), "{file}");
    }
    assert!(notes(&line).iter().all(|note| note.kind != "kept-files"), "nothing new is asked for");

    refuses(&format!("new {} --update --model {two}", folder.at("none")), "no-project --update");
    refuses(&format!("{line} --board microbit"), "argument-conflict --update --board");
    refuses(&format!("new {at} --model {two}"), "missing-required-argument --board");
}

/// A chip of a known family has a board without a folder, and a project finds it again.
#[test]
fn a_chip_of_a_family_is_a_board() {
    let folder = Folder::new();
    let (model, at) = (fixtures().at("three.json"), folder.at("chip"));
    let line = format!("new {at} --chip stm32l476rgtx --model {model}");
    refuses(&line, "missing-required-argument --memories");
    refuses(&format!("{line} --memories 1M"), "bad-memories 1M");
    refuses(
        &line.replace("l476rgtx --", "l476xx --memories 1M,96K --"),
        "unknown-chip STM32L476JE --board",
    );
    let line = format!("{line} --memories 1M,96K");
    refuses(&format!("{line} --pin lid=PA3"), "bad-pin lid led uart");
    refuses(&format!("{line} --pin led"), "invalid-value --pin NAME=PIN");
    refuses(&format!("{line} --board microbit"), "argument-conflict --chip --board");
    let emulated = format!("new {at} --board microbit --model {model} --pin port=PA3");
    refuses(&emulated, "bad-pin microbit");
    assert!(!Path::new(&at).exists(), "nothing is written");

    let told = json(&format!("{line} --pin led=PB3 --json"));
    let there = [&told["flash_there"], &told["ram_there"]].map(|bytes| bytes.as_u64());
    assert_eq!(there, [Some(1 << 20), Some(96 << 10)], "{told}");
    let text = |file: &str| folder.text(&format!("chip/{file}"));
    assert!(text("memory.x").contains("FLASH : ORIGIN = 0x08000000, LENGTH = 1024K"));
    assert!(text("Cargo.toml").contains("\"stm32l476rg\""));
    assert!(text("src/board.rs").contains("parts.PB3"));
    assert!(text(".cargo/config.toml").contains("stm32l476rgtx"));
    let before = text("src/board.rs");
    printed(&format!("new {at} --update --model {model}"));
    assert_eq!(text("src/board.rs"), before, "its chip and pins are kept");
}

/// What sets a pin, what takes models, and what a sensor measures is refused where it cannot be.
#[test]
fn alarms_updates_and_sensors_are_what_the_board_and_the_model_have() {
    let folder = Folder::new();
    let (model, at, key) = (fixtures().at("three.json"), folder.at("x"), folder.at("update.key"));
    let on = |board: &str| format!("new {at} --board {board} --model {model}");
    refuses(&format!("{} --alarm jumping", on("microbit")), "unknown-alarm jumping turning");
    refuses(&format!("{} --alarm any", on("microbit")), "unknown-alarm any turning");
    let field = |board: &str| format!("{} --application field", on(board));
    refuses(&field("nrf52840-dk"), "missing-option --update-key keygen");
    printed(&format!("keygen {key}"));
    let public = folder.at("update.pub");
    let with = |board: &str| format!("{} --update-key {public}", field(board));
    let private = with("nrf52840-dk").replace(&public, &key);
    refuses(&private, "bad-key update.key .pub");
    refuses(&with("microbit"), "no-slots microbit");
    refuses(&with("nucleo-g071rb"), "no-slots nucleo-g071rb");
    let data = fixtures().at("three.csv");
    let fixed = format!("{} --data {data} --number q15 --equal 0.9", with("nrf52840-dk"));
    refuses(&fixed, "no-update q15");
    let two = format!("{} --sensor lis2dh12", on("nrf52840-dk"));
    refuses(&two, "bad-sensor LIS2DH12 3");
    let record = "--application record --channels ax,ay,az --rate 51";
    let log = |board: &str, more: &str| format!("new {at} --board {board} {record} {more}");
    refuses(&log("microbit", "--sensor lis2dh12 --units g"), "bad-sensor microbit i2c");
    refuses(&log("esp32c6", "--sensor lis2dh12"), "bad-sensor ax --units");
    assert!(!Path::new(&at).exists(), "nothing is written");

    let told = json(&format!("{} --alarm turning --alarm still --json", with("nrf52840-dk")));
    assert_eq!(told["flash_there"], 960 << 10, "{told}");
    let text = |file: &str| folder.text(&format!("x/{file}"));
    let memory = text("memory.x");
    assert!(memory.contains("LENGTH = 983040") && memory.contains("LENGTH = 256K"), "{memory}");
    assert!(text("src/flash.rs").contains("START: u32 = 0x000f0000"), "{}", text("src/flash.rs"));
    assert!(text("src/main.rs").contains("sleep::block_on(run(board))"));
    assert!(text("src/main.rs").contains("const ALARMS: &[usize] = &[1, 2];"));
    let main = text("src/main.rs");
    printed(&format!("new {at} --update --model {model}"));
    assert_eq!(text("src/main.rs"), main, "key and alarms are kept");

    let told = json(&format!("{} --force --json", log("esp32c6", "--sensor lis2dh12 --units mg")));
    assert_eq!(told["sensor_rate"], 100.0, "{told}");
    let driver = text("src/driver.rs");
    assert!(driver.contains("OutputDataRate::Hz100") && driver.contains("ax * 1000.0"), "{driver}");
    for file in ["src/driver.rs", "src/bus.rs", "src/sensor.rs", "src/board.rs", "README.md"] {
        no_name_is_left(Path::new(file), &text(file));
    }
    answers(format!("{} --force --alarm x", log("esp32c6", "")), "idle-option --alarm");
}

/// A program that is taught classes is written around a model that has what they are taught by, on boards that keep them.
#[test]
fn lessons_are_for_models_and_boards_that_keep_them() {
    let folder = Folder::new();
    let (data, plain, at) =
        (fixtures().at("three.csv"), fixtures().at("three.json"), folder.at("x"));
    let model = folder.at("teachable.json");
    printed(&format!(
        "fit {data} -o {model} --window 20 --hop 10 --teachable {QUICK} --effort quick"
    ));
    let on = |board: &str, model: &str| {
        format!("new {at} --board {board} --model {model} --application teach --rate 50")
    };
    refuses(&on("nrf52840-dk", &plain), "no-basis f32 --teachable");
    let fixed = format!("{} --number q15 --data {data} --equal 0.5", on("nrf52840-dk", &model));
    refuses(&fixed, "no-basis q15");
    refuses(&on("microbit", &model), "no-slots microbit");
    refuses(&format!("{} --alarm jumping", on("esp32c3", &model)), "unknown-alarm jumping taught");
    assert!(!Path::new(&at).exists(), "nothing is written");

    // Its flash takes no second write, which only updates need.
    let told = json(&format!("{} --alarm taught --json", on("nucleo-g071rb", &model)));
    assert_eq!(told["flash_there"], 120 << 10, "{told}");
    let text = |file: &str| folder.text(&format!("x/{file}"));
    let main = text("src/main.rs");
    assert!(main.contains("const ALARMS: &[usize] = &[3];") && main.contains("NAMES"), "{main}");
    assert!(text("src/board.rs").contains("Input::new(parts.PC13, Pull::Up)"));
    printed(&format!("new {at} --update --model {model}"));
    assert_eq!(text("src/main.rs"), main);
    printed(&format!("{} --force --pin button=PB3", on("nucleo-g071rb", &model)));
    assert!(text("src/board.rs").contains("Input::new(parts.PB3, Pull::Up)"));
    // An emulated board has no button.
    printed(&format!("{} --force", on("mps2-an386", &model)));
    assert!(!text("src/main.rs").contains("NAMES"));
    for file in ["src/main.rs", "src/board.rs", "src/report.rs", "src/start.rs", "README.md"] {
        no_name_is_left(Path::new(file), &text(file));
    }
}

/// Voltages and sound are measured where the board has the driver, and channels and rate are right for it.
#[test]
fn analogue_inputs_and_microphones_are_those_of_the_board() {
    let folder = Folder::new();
    let at = folder.at("x");
    let log = |board: &str, sensor: &str, channels: &str| {
        format!(
            "new {at} --board {board} --application record --rate 50 --sensor {sensor} --channels {channels}"
        )
    };
    refuses(&log("nrf52840-dk", "adc", "a,b,c,d,e --units V"), "bad-sensor ADC 5 4");
    refuses(&log("nrf52840-dk", "adc", "a[g]"), "bad-sensor voltage");
    refuses(&log("nrf52840-dk", "adc", "a"), "bad-sensor --units V");
    refuses(&log("mps2-an386", "adc", "a[V]"), "bad-sensor adc nrf52840-dk");
    refuses(&log("rp2040-pico", "microphone", "a"), "bad-sensor microphone esp32c3");
    refuses(&log("nrf52840-dk", "microphone", "a"), "bad-sensor 50 16000");
    refuses(&log("esp32c3", "microphone", "a,b"), "bad-sensor 1");
    assert!(!Path::new(&at).exists(), "nothing is written");
    let text = |file: &str| folder.text(&format!("x/{file}"));
    for board in ["nrf52840-dk", "nucleo-f446re", "rp2040-pico", "esp32c6"] {
        for (channels, last) in [("a[V]", 1), ("a[V],b[mV],c[V],d[V]", 4)] {
            printed(&format!("{} --force", log(board, "adc", channels)));
            let driver = text("src/driver.rs");
            no_name_is_left(Path::new("src/driver.rs"), &driver);
            let wanted = format!("measure(&mut self) -> Option<[f32; {last}]>");
            assert!(driver.contains(&wanted), "{board}: {driver}");
            assert_eq!(driver.contains("b * 1000.0"), last > 1, "{board}");
            assert!(!text("src/main.rs").contains("mod bus;"));
        }
    }
}

/// A project names its board by the way to its folder, or by its name where the folder is a copy of a known one.
#[test]
fn a_project_says_where_its_board_is_from_where_it_lies() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let known =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/boards/nucleo-g071rb"));
    let copy = folder.path().join("boards/nucleo-g071rb");
    fs::create_dir_all(&copy).expect("makes a folder");
    for file in ["board.toml", "memory.x"] {
        fs::copy(known.join(file), copy.join(file)).expect("copies");
    }
    let at = folder.at("own");
    let board = copy.display();
    let place = || {
        let text = folder.text("own/.fishweir.json");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["board"].clone()
    };
    printed(&format!("new {at} --board {board} --model {model}"));
    assert_eq!(place(), "nucleo-g071rb");
    folder.put(
        "boards/nucleo-g071rb/board.toml",
        folder.text("boards/nucleo-g071rb/board.toml") + "# Mine.\n",
    );
    printed(&format!("new {at} --board {board} --model {model} --force"));
    assert_eq!(place(), "../boards/nucleo-g071rb");
    printed(&format!("new {at} --update --model {model}"));
    assert_eq!(place(), "../boards/nucleo-g071rb");
}

/// Kinds of models that report what they find, and what none of them has.
#[test]
fn watchers_have_projects_in_floats() {
    let folder = Folder::new();
    let train = folder.put("train.csv", crate::shared::data::marked(1));
    let spotter = folder.at("spotter.json");
    printed(&format!("spot {train} --marks mark --states 2 -o {spotter}"));
    let at = folder.at("events");
    let line = format!("new {at} --board nucleo-f446re --model {spotter} --rate 50");
    refuses(&format!("{line} --number q15"), "unsupported --number");
    refuses(&format!("{line} --application stream"), "needs-tasks nucleo-f446re");
    refuses(&format!("{line} --application teach"), "unsupported --application");
    let told = json(&format!("{line} --data {train} --json"));
    assert_eq!(told["finds"], "events of high, low", "{told}");
    assert!(told["findings"].as_u64() > Some(6), "{told}");
    answers(format!("{line} --force --endless"), "idle-option --endless");
    // A board that is too small names one that is not.
    let small = json(&format!("{} --force --json", line.replace("nucleo-f446re", "lm3s6965evb")));
    assert!(small["ram"][1].as_u64() < small["ram_there"].as_u64(), "{small}");
    for path in ["src/main.rs", "src/report.rs", "src/self_test.rs", "src/stream.rs", "README.md"] {
        no_name_is_left(Path::new(path), &folder.text(&format!("events/{path}")));
    }
    let garden = crate::shared::data::garden();
    let network = garden.at("garden.bif");
    let line = format!("new {at} --force --board microbit --model {network}");
    refuses(&line, "wrong-model --mean-time");
    json(&format!("{line} --mean-time 200 --memory 30 --rate 1 --json"));
    refuses(&format!("run {train} --model {spotter}"), "unsupported --port");
    refuses(&format!("run {train} --model {network} --port none"), "wrong-model network run");
}
