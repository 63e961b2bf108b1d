//! `fishweir export --c`: what its page says is done by gcc alone, and run under QEMU. Both must be there.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, ReadOptions, Sample};
use fishweir::device::C_CORES;
use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::shared::data::marked;
use crate::{Run as _, fishweir, printed};

/// Runs a shell in a folder; what it prints.
#[track_caller]
fn shell(folder: &Path, script: &str) -> String {
    let output = Command::new("sh")
        .current_dir(folder)
        .args(["-ec", script])
        .output()
        .expect("a shell starts");
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Does what a library's page says, as it says it; what the example prints for each core.
#[track_caller]
pub(crate) fn by_page(library: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(library.join("README.md")).expect("a page");
    let commands = page.split("```").find_map(|part| part.strip_prefix("sh\n")).expect("commands");
    let commands: Vec<&str> = commands.split_inclusive(" example.elf\n").collect();
    let mut printed = Vec::new();
    for (n, build) in commands.iter().enumerate().filter(|(_, line)| line.contains("-gcc ")) {
        shell(library, &build.replacen("-gcc ", "-gcc -Wall -Wextra -Werror ", 1));
        if let Some(run) = commands.get(n + 1).filter(|line| line.starts_with("qemu-system-")) {
            printed.push(shell(library, run));
        }
    }
    printed
}

/// The sketch, as Arduino compiles it: in C++, with a header before it. With and without windows and a period, whichever
/// the model has.
#[track_caller]
fn sketch_compiles(library: &Path) {
    let header = "#include <stddef.h>\n#include <stdint.h>\n#define A0 0\nint analogRead(int);\n\
                  unsigned long micros();\nunsigned long millis();\n\
                  struct Port { void begin(long); void print(const char *); void println(const char *); \
                  void println(float); };\nextern Port Serial;\n";
    std::fs::write(library.join("Arduino.h"), header).expect("writes");
    let compile = "arm-none-eabi-g++ -mcpu=cortex-m4 -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I. -Isrc \
                   -include Arduino.h -x c++ examples/Sensor/Sensor.ino";
    shell(library, compile);
    for (length, period) in [(0, "0ULL"), (200, "20000000ULL"), (1, "86400000000000ULL")] {
        let settings = format!(
            "s/^\\(#.*_WINDOW_LENGTH\\) .*/\\1 {length}/; s/^\\(#.*_PERIOD_NS\\) .*/\\1 {period}/"
        );
        shell(
            library,
            &format!(
                "rm -rf other; cp -r src other; sed -i '{settings}' other/*.h\n{}",
                compile.replace("-Isrc", "-Iother")
            ),
        );
    }
}

/// Samples in fixed point are integers: the header says by which powers, and the sketch multiplies.
#[test]
fn fixed_point_in_c_is_told_its_places() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let library = folder.path().join("fixed");
    let line = format!("export {model} --number q15 --data {data} --c {}", library.display());
    let said = printed(&format!("{line} --core cortex-m4"));
    let header = std::fs::read_to_string(library.join("src/fishweir_model.h")).expect("a header");
    let places = header.split("#define FISHWEIR_CHANNEL_PLACES {").nth(1).expect("places");
    let places = places.split('}').next().expect("an end");
    let told = said.split(" x 2^").skip(1).filter_map(|rest| rest.split(')').next());
    assert_eq!(places, told.collect::<Vec<_>>().join(", "));
    sketch_compiles(&library);
}

/// A folder of portable source, of channels in floats and in integers, of symbols, and of a spotter: with its sketch, and
/// alone.
#[test]
fn a_folder_of_source_compiles_with_its_sketch() {
    let folder = Folder::new();
    let (at, data) = (|name: &str| fixtures().at(name), fixtures().at("three.csv"));
    let (train, spotter) = (folder.put("train.csv", marked(1)), folder.at("spotter.json"));
    printed(&format!("spot {train} --marks mark --states 1 -o {spotter}"));
    for (name, model, options, push) in [
        ("floats", at("three.json"), String::new(), "_push(&stream, channels"),
        ("integers", at("three.json"), format!("--number q15 --data {data}"), "_push_integers("),
        ("symbols", at("strings.json"), String::new(), "_push_symbol("),
        ("events", spotter, String::new(), "_events("),
    ] {
        let library = folder.path().join(name);
        printed(&format!("export {model} --c-source {} {options}", library.display()));
        let page = std::fs::read_to_string(library.join("README.md")).expect("a page");
        assert!(page.contains(&format!("fishweir{push}")), "{page}");
        let compile = "arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -std=c99 -Wall -Wextra -Wconversion -Werror \
                       -c src/fishweir.c -o fishweir.o";
        shell(&library, compile);
        sketch_compiles(&library);
    }
}

/// A library around a model of `three.csv`, asked in C after each sample of its first series: what is missing is null,
/// or has a channel that is none: to the host that channel is missing, and with it the sample of a model of whole ones; the
/// device refuses it, and goes on alike. It decides in the host's bits.
#[track_caller]
pub(crate) fn decides_as_the_host(folder: &Folder, model: &str) {
    printed(&format!("export {model} --c {} --core cortex-m4", folder.at("asked")));
    let data = Dataset::read(fixtures().path().join("three.csv"), &ReadOptions::default());
    let data = data.expect("a data set");
    let bytes = std::fs::read(model).expect("a model");
    let classifier = Classifier::parse("m", &bytes).expect("a model");
    let mut stream = classifier.deploy().expect("fits in f32").window_stream();
    let (mut rows, mut expected) = (String::new(), String::new());
    let view = data.series()[0].samples.view();
    for (t, row) in view.rows().expect("channels").iter().enumerate() {
        let mut row = row.expect("observed").to_vec();
        let told = match t % 9 {
            4 => stream.push(Sample::Missing),
            7 => {
                row[1] = f64::NAN;
                stream.push(Sample::Row(&row))
            }
            _ => stream.push(Sample::Row(&row)),
        };
        told.expect("a sample or a missing one");
        let status = if t % 9 == 7 { 2 } else { 0 };
        let read = stream.so_far().expect("begun").stream.decision().expect("in range");
        let _ = writeln!(expected, "{status:08x}{:08x}{:08x}", read.class, read.margin.to_bits());
        let channel = |x: &f64| match x.is_nan() {
            true => "__builtin_nanf(\"\")".to_owned(),
            false => format!("{:?}f", *x as f32),
        };
        let row: Vec<String> = row.iter().map(channel).collect();
        let _ = writeln!(rows, "    {{{}}},", row.join(", "));
    }
    folder.put(
        "asked/example/main.c",
        format!(
            "#include <stddef.h>\n#include \"board.h\"\n#include \"fishweir.h\"\n\
             static const float rows[][FISHWEIR_CHANNELS] = {{\n{rows}}};\n\
             static fishweir_stream stream;\n\
             int main(void)\n{{\n    union {{ float value; uint32_t bits; }} margin;\n    fishweir_decision read;\n\
             board_start();\n    if (fishweir_init(&stream, sizeof stream)) return 1;\n\
             for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {{\n\
             const float *row = t % 9 == 4 ? NULL : rows[t];\n\
             board_write_hex((uint32_t)fishweir_push(&stream, row, row ? FISHWEIR_CHANNELS : 0));\n\
             if (fishweir_decide_so_far(&stream, &read)) return 1;\n    margin.value = read.margin;\n\
             board_write_hex(read.class_index);\n    board_write_hex(margin.bits);\n    board_write(\"\\n\");\n\
             }}\n    return 0;\n}}\n"
        ),
    );
    let [told] = &by_page(&folder.path().join("asked"))[..] else { panic!("one core") };
    assert_eq!(*told, expected);
}

#[test]
fn missing_and_refused_samples_are_the_hosts_in_c() {
    decides_as_the_host(&Folder::new(), &fixtures().at("three.json"));
}

#[test]
fn the_page_of_a_library_is_done_by_gcc_alone_for_each_core() {
    let folder = Folder::new();
    let model = fixtures().at("three.json");
    let said = printed(&format!("export {model} --endless --c {}", folder.at("gait")));
    assert!(said.starts_with("C library written to "), "{said}");
    let library = folder.path().join("gait");
    let decided = by_page(&library);
    // A Cortex-M0+ without hardware floats, and a Cortex-M4 with them: four samples, the same bits.
    assert_eq!(decided.len(), 2);
    assert_eq!(decided[0], decided[1]);
    assert_eq!(decided[0].lines().count(), 4, "{decided:?}");
    assert!(decided[0].lines().all(|line| line.starts_with("00000000 ") && line.len() > 40));

    sketch_compiles(&library);
    for (file, words) in [
        ("library.properties", "precompiled=full"),
        ("zephyr/module.yml", "cmake: zephyr"),
        ("zephyr/CMakeLists.txt", "elseif(CONFIG_CPU_CORTEX_M4 AND CONFIG_FP_HARDABI)"),
    ] {
        let text = folder.text(&format!("gait/{file}"));
        assert!(text.contains(words) && !text.contains("{{"), "{file}: {text}");
    }
}

/// By gcc for Arm and RISC-V; QEMU's machines with a Cortex-M33 and M55 need another example, so these two are linked alone.
#[test]
#[ignore = "by tests/boards"]
fn a_library_for_every_core_decides_alike_by_its_page() {
    let folder = Folder::new();
    let names: Vec<&str> = C_CORES.iter().map(|core| core.name).collect();
    let cores: Vec<String> = names.iter().map(|name| format!("--core {name}")).collect();
    let model = fixtures().at("three.json");
    printed(&format!("export {model} --endless --c {} {}", folder.at("gait"), cores.join(" ")));
    let decided = by_page(&folder.path().join("gait"));
    assert_eq!(decided.len(), names.len() - 2);
    assert!(decided.iter().all(|one| *one == decided[0]), "{decided:?}");
    assert_eq!(decided[0].lines().count(), 4, "{decided:?}");
    let properties = folder.text("gait/library.properties");
    assert!(properties.contains("architectures=esp32,mbed_nano,mbed_rp2040,"), "{properties}");
    let one = folder.at("one");
    printed(&format!("export {model} --endless --c {one} --core cortex-m55"));
    assert!(!Path::new(&one).join("library.properties").exists());
}

#[test]
#[ignore = "by tests/boards"]
fn a_detector_is_a_library_by_its_page() {
    let folder = Folder::new();
    let normal = fixtures().at("strings.tsv");
    let detect = format!("detect {normal} --mean-time 4 --memory 2 --states 2");
    let said = printed(&format!(
        "{detect} --verbose --c {} --core cortex-m4 --prefix door",
        folder.at("door")
    ));
    assert!(said.ends_with(&format!("\nC library written to {}\n", folder.at("door"))), "{said}");
    let library = folder.path().join("door");
    // Eight samples, one of them refused; a statistic of ones is no alarm.
    let [answers] = &by_page(&library)[..] else { panic!("one core") };
    let answers: Vec<Vec<&str>> = answers.lines().map(|line| line.split(' ').collect()).collect();
    assert!(answers.iter().all(|answer| answer.len() == 5), "{answers:?}");
    assert!(answers[0][0] == "00000000" && answers[0][1] == "ffffffff", "{answers:?}");
    sketch_compiles(&library);
}

#[test]
#[ignore = "by tests/boards"]
fn a_spotter_is_a_library_by_its_page() {
    let folder = Folder::new();
    let (train, spotter) = (folder.put("train.csv", marked(1)), folder.at("spotter.json"));
    printed(&format!("spot {train} --marks mark --states 1 -o {spotter}"));
    let options = "--core cortex-m0plus --prefix events";
    let said = printed(&format!("export {spotter} --c {} {options}", folder.at("events")));
    assert!(said.starts_with("C library written to "), "{said}");
    let library = folder.path().join("events");
    let header = folder.text("events/src/events_model.h");
    assert!(header.contains("#define EVENTS_CLASS_NAMES {\"high\", \"low\"}\n"), "{header}");
    // Zeros, and one that is missing, are background: no event, in two streams.
    let answered = by_page(&library);
    assert_eq!(answered, ["00000000\n00000000\n00000000\nend\n00000000\nend\n"]);
    sketch_compiles(&library);
}

/// Two models in one image, in C and in C++, without and with hardware floats: each says what it says alone.
#[test]
fn libraries_of_two_prefixes_stand_in_one_image() {
    let folder = Folder::new();
    for (name, model) in [("gait", "three.json"), ("door", "two.json")] {
        let model = fixtures().at(model);
        printed(&format!("export {model} --c {} --prefix {name}", folder.at(name)));
        let mut text = folder.text(&format!("{name}/example/main.c"));
        text = text.replace("int main(", &format!("int {name}_main("));
        folder.put(format!("{name}/example/part.c"), &text);
        let header = folder.text(&format!("{name}/src/{name}.h"));
        assert!(!header.contains("fishweir_") && !header.contains("FISHWEIR_"), "{header}");
        let symbol = format!("config FISHWEIR_{}\n", name.to_ascii_uppercase());
        assert!(folder.text(&format!("{name}/zephyr/Kconfig")).starts_with(&symbol));
    }
    let run = "qemu-system-arm -machine mps2-an386 -display none -monitor none -serial stdio \
               -semihosting-config enable=on,target=native -kernel";
    for (core, flags) in [
        ("cortex-m0plus", "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft"),
        (
            "cortex-m4/fpv4-sp-d16-hard",
            "-mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
        ),
    ] {
        let link = format!(
            "arm-none-eabi-gcc {flags} -O2 -nostdlib -Wl,--fatal-warnings -z noexecstack -T gait/example/mps2_an386.ld"
        );
        let board = "gait/example/board.c gait/example/startup.c";
        let alone = |name: &str| {
            let library = format!("{name}/src/{core}/lib{name}.a");
            let build = format!(
                "{link} {name}/example/main.c {board} -I{name}/src -I{name}/example {library} -o {name}.elf"
            );
            shell(folder.path(), &format!("{build}\n{run} {name}.elf"))
        };
        let apart = alone("gait") + &alone("door");
        assert!(apart.lines().count() > 4, "{apart}");
        folder.put(
            "both.c",
            "int gait_main(void);\nint door_main(void);\nint main(void);\n\
             int main(void) { int status = gait_main(); return status ? status : door_main(); }\n",
        );
        let part = |name: &str| {
            format!(
                "arm-none-eabi-gcc {flags} -O2 -Wall -Wextra -Werror -I{name}/src -I{name}/example \
                 -c {name}/example/part.c -o {name}.o"
            )
        };
        let libraries = format!("gait/src/{core}/libgait.a door/src/{core}/libdoor.a");
        let together = shell(
            folder.path(),
            &format!(
                "{}\n{}\n{link} both.c gait.o door.o {board} {libraries} \
                 -o both.elf\n{run} both.elf",
                part("gait"),
                part("door"),
            ),
        );
        assert_eq!(together, apart);
        // Both headers in one file of C++.
        folder.put(
            "both.cpp",
            "#include <gait.h>\n#include <door.h>\n\
             static gait_stream gait; static door_stream door;\n\
             extern \"C\" int main() { return gait_init(&gait, sizeof gait) + door_init(&door, sizeof door); }\n",
        );
        shell(
            folder.path(),
            &format!(
                "arm-none-eabi-g++ {flags} -O2 -Wall -Wextra -Werror -fno-exceptions -Igait/src -Idoor/src -c both.cpp \
                 -o both.o\n{link} both.o {board} {libraries} -o cpp.elf\n{run} cpp.elf"
            ),
        );
    }
}

/// What stopped the first is nothing that stops the next.
#[test]
fn a_library_is_written_where_a_build_failed_and_where_one_is() {
    let folder = Folder::new();
    let line =
        format!("export {} --c {} --core cortex-m4", fixtures().at("two.json"), folder.at("door"));
    let failed = fishweir(&format!("{line} --message-format json")).env("CARGO", "false").run();
    assert_eq!(failed.status.code(), Some(2));
    let told: Value = serde_json::from_slice(&failed.stderr).expect("an error as JSON");
    assert_eq!(told["error"]["kind"], "build-failed", "{told}");
    printed(&line);
    printed(&line.replace("cortex-m4", "cortex-m3"));
    let library = |core| folder.path().join("door/src").join(core).join("libfishweir.a").is_file();
    assert!(library("cortex-m3") && !library("cortex-m4/fpv4-sp-d16-hard"));
}

/// What samples go through before the model is part of the library.
#[test]
fn a_front_end_in_c_decides_as_on_the_host() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    printed(&format!(
        "fit {data} -o {model} --front decimate=2 --lags none {QUICK} --std-floor 0.3 --effort quick"
    ));
    decides_as_the_host(&folder, &model);
}

#[test]
fn codebooks_in_c_decide_as_on_the_host() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    printed(&format!(
        "fit {data} -o {model} --lags 1,4 --score-model each-lag --learner ridge --codebooks 1 {QUICK} --effort quick"
    ));
    decides_as_the_host(&folder, &model);
}
