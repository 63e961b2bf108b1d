//! A stream that nobody trained on, through every door: `predict` of a file, `predict --stream`, a project of `new` and a
//! library for C under QEMU, and a crate of one's own. All decide on the same windows, in the same bits, and as often right as `evaluate` says.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::process::Stdio;

use flate2::read::GzDecoder;

use crate::fixtures::Folder;
use crate::new::{cargo, runs, share_core};
use crate::{fishweir, json, printed};

/// Windows of four seconds, a new one every two.
const WINDOWS: [usize; 2] = [200, 100];

/// Samples that are missing in the stream: a few, and more in a row than a window bears.
const MISSING: [Range<usize>; 2] = [500..503, 2000..2250];

/// What was decided on a window: its first sample, the sample after its last, the class, and the bits of the margin.
type Decided = (usize, usize, String, u32);

/// The recordings of a subject who was not trained on, and the model.
struct Replay {
    folder: Folder,
    /// Label, and rows of text.
    exercises: Vec<(String, Vec<String>)>,
}

impl Replay {
    /// The bundled recordings of one arm: a model of four subjects, and the exercises of another one after another.
    fn new() -> Self {
        let folder = Folder::new();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/ts-watch-exercises/all.csv.gz");
        let file = fs::File::open(path).expect("bundled");
        let text = std::io::read_to_string(GzDecoder::new(file)).expect("text");
        let mut lines = text.lines();
        let header = lines.next().expect("a header");
        assert_eq!(header, "series,subject,side,label,t,ax,ay,az,wx,wy,wz");
        let (mut trained, mut kept) = (format!("{header}\n"), format!("{header}\n"));
        let mut exercises: Vec<(String, Vec<String>)> = Vec::new();
        let mut last = None;
        for line in lines {
            let fields: Vec<&str> = line.splitn(6, ',').collect();
            let [series, subject, side, label, _, row] = fields[..] else { panic!("{line}") };
            match (subject, side) {
                ("9", "1") => {
                    if last != Some(series) {
                        exercises.push((label.to_owned(), Vec::new()));
                        last = Some(series);
                    }
                    exercises.last_mut().expect("begun").1.push(row.to_owned());
                    kept += &format!("{line}\n");
                }
                ("1" | "2" | "3" | "4" | "5" | "6" | "7" | "8", "1") => {
                    trained += &format!("{line}\n");
                }
                _ => {}
            }
        }
        folder.put("trained.csv", trained);
        folder.put("kept.csv", kept);
        let [length, hop] = WINDOWS;
        printed(&format!(
            "fit {} -o {} --window {length} --hop {hop} --iterations 8",
            folder.at("trained.csv"),
            folder.at("gait.json")
        ));
        let replay = Self { folder, exercises };
        let text = |row: Option<&str>| row.unwrap_or("NA,NA,NA,NA,NA,NA").to_owned();
        let stream: String = replay.rows().map(|row| text(row) + "\n").collect();
        replay.folder.put("stream.csv", format!("ax,ay,az,wx,wy,wz\n{stream}"));
        let rows = replay.rows().enumerate();
        let rows: String = rows.map(|(t, row)| format!("0,{t},{}\n", text(row))).collect();
        replay.folder.put("one.csv", format!("series,t,ax,ay,az,wx,wy,wz\n{rows}"));
        replay
    }

    /// The stream: all exercises one after another, without some samples.
    fn rows(&self) -> impl Iterator<Item = Option<&str>> {
        let rows = self.exercises.iter().flat_map(|(_, rows)| rows).enumerate();
        rows.map(|(t, row)| {
            let missing = MISSING.iter().any(|range| range.contains(&t));
            (!missing).then_some(row.as_str())
        })
    }

    /// The class of a window that lies within one exercise.
    fn truth(&self, start: usize, end: usize) -> Option<&str> {
        let mut begins = 0;
        self.exercises.iter().find_map(|(label, rows)| {
            let within = begins <= start && end <= begins + rows.len();
            begins += rows.len();
            within.then_some(label.as_str())
        })
    }

    /// The share of windows within one exercise that are decided right.
    fn accuracy(&self, decided: &[Decided]) -> f64 {
        let judged = decided.iter().filter_map(|(start, end, class, _)| {
            self.truth(*start, *end).map(|truth| f64::from(u8::from(truth == class)))
        });
        let judged: Vec<f64> = judged.collect();
        judged.iter().sum::<f64>() / judged.len() as f64
    }
}

/// The decisions in a table of `predict`.
fn decisions(table: &str, first: usize) -> Vec<Decided> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').skip(first).collect();
        let number = |index: usize| fields[index].parse::<usize>().expect("a number");
        let margin: f32 = fields[3].parse().expect("a margin");
        (number(0), number(1), fields[2].to_owned(), margin.to_bits())
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn every_door_decides_on_the_same_windows_in_the_same_bits() {
    let replay = Replay::new();
    let (folder, [length, hop]) = (&replay.folder, WINDOWS);
    let model = folder.at("gait.json");
    let samples: usize = replay.exercises.iter().map(|(_, rows)| rows.len()).sum();

    let of_file =
        decisions(&printed(&format!("predict {} --model {model}", folder.at("one.csv"))), 1);
    // The long gap ends a run of windows one sample after it is too long, and the next sample begins another.
    let [_, gap] = MISSING;
    let runs = [0..gap.start + length + 1, gap.end..samples];
    let starts: Vec<usize> =
        runs.into_iter().flat_map(|run| (run.start..=run.end - length).step_by(hop)).collect();
    assert_eq!(of_file.iter().map(|one| one.0).collect::<Vec<_>>(), starts);
    assert!(of_file.iter().all(|(start, end, ..)| end - start == length));

    // As often right as on the same exercises apart, whose windows begin elsewhere.
    let report = json(&format!("evaluate {} --model {model} --json", folder.at("kept.csv")));
    let wanted = report["accuracy"].as_f64().expect("a share");
    let found = replay.accuracy(&of_file);
    assert!((found - wanted).abs() <= 0.03, "{found} of the stream, {wanted} of windows apart");
    assert!(found > 0.5, "{found}");

    let mut program = std::process::Command::new(crate::PROGRAM)
        .args(["predict", "--stream", "--model", &model])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let stream = fs::read(folder.at("stream.csv")).expect("reads");
    program.stdin.take().expect("piped").write_all(&stream).expect("hears");
    let output = program.wait_with_output().expect("ends");
    assert!(output.status.success());
    let of_stream = decisions(&String::from_utf8(output.stdout).expect("UTF-8"), 0);
    assert_eq!(of_stream, of_file);

    // An artefact says the same windows.
    let artefact = folder.at("gait.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    let of_artefact =
        decisions(&printed(&format!("predict {} --model {artefact}", folder.at("one.csv"))), 1);
    assert_eq!(of_artefact, of_file);

    assert_eq!(
        of_ten_lines(&replay),
        of_file.iter().map(|one| (one.2.clone(), one.3)).collect::<Vec<_>>()
    );
    assert_eq!(of_project(&replay), of_file);
    assert_eq!(of_c(&replay), of_file);
}

/// A stream that never ends is a word that the user says.
#[test]
fn a_stream_forgets_by_itself_and_never_where_it_is_told_so() {
    let folder = Folder::new();
    let row = |t: i32| format!("{}\n", f64::from(t % 5) * if t < 60 { 0.1 } else { 1.0 });
    let series = |n: i32| {
        let label = ["calm", "wild"][n as usize % 2];
        let scale = [0.1, 1.0][n as usize % 2];
        (0..40).map(move |t| format!("{n},{label},{t},{}\n", f64::from((t + n) % 5) * scale))
    };
    let table: String = (0..12).flat_map(series).collect();
    let data = folder.put("data.csv", format!("series,label,t,x\n{table}"));
    let model = folder.at("m.json");
    printed(&format!(
        "fit {data} -o {model} --classifier bayes --states 2 --window 20 --hop 20 --effort quick"
    ));
    let stream: String = (0..120).map(row).collect();
    let decide = |options: &str| -> Vec<Decided> {
        let mut command = fishweir(&format!("predict --stream --model {model} {options}"));
        decisions(&printed(command.write_stdin(stream.clone())), 0)
    };
    let classes =
        |decided: &[Decided]| -> Vec<String> { decided.iter().map(|one| one.2.clone()).collect() };
    let windows = decide("");
    assert_eq!(classes(&windows), ["calm", "calm", "calm", "wild", "wild", "wild"]);
    assert_eq!(decide("--endless").len(), 120);
    assert_eq!(decide("--endless --every 20 --reset-every 20"), windows);
    assert_eq!(decide("--window 40 --hop 40").len(), 3);
}

/// The classes and margins of a crate of one's own, on this machine.
fn of_ten_lines(replay: &Replay) -> Vec<(String, u32)> {
    let folder = replay.folder.path();
    let rows: String = replay.rows().map(|row| format!("{}\n", row.unwrap_or("NA"))).collect();
    let decided = crate::ten_lines::decided(folder, &folder.join("gait.fishweir"), &rows);
    let decision = |line: &String| {
        let (class, margin) = line.split_once(',').expect("a class and a margin");
        (class.to_owned(), margin.parse::<f32>().expect("a margin").to_bits())
    };
    decided.iter().map(decision).collect()
}

/// The numbers of a row in single precision, each with an ending.
fn numbers(row: &str, ending: &str) -> String {
    let number = |x: &str| format!("{:?}{ending}", x.parse::<f32>().expect("a number"));
    row.split(',').map(number).collect::<Vec<_>>().join(", ")
}

/// The decisions of a project of `new`, whose sensor plays the stream, under QEMU.
fn of_project(replay: &Replay) -> Vec<Decided> {
    let folder = &replay.folder;
    let at = folder.at("project");
    printed(&format!(
        "new {at} --board mps2-an386 --model {} --data {}",
        folder.at("gait.json"),
        folder.at("kept.csv")
    ));
    let project = std::path::Path::new(&at);
    share_core(project);
    let said = runs(project);
    // Recordings are whole windows, and their classes are beside the decisions.
    let right = said.lines().last().expect("a line");
    assert!(right.ends_with("decisions on recordings are right"), "{said}");
    assert_eq!(said.matches("  recorded as ").count(), 8, "{said}");
    assert_eq!(said.matches("\n200 samples: ").count(), 7, "{said}");
    assert_eq!(said.matches("\n300 samples: ").count(), 1, "{said}");

    let mut rows = String::new();
    for row in replay.rows() {
        let _ = match row {
            Some(row) => writeln!(rows, "    Some([{}]),", numbers(row, "")),
            None => writeln!(rows, "    None,"),
        };
    }
    let count = rows.lines().count();
    let sensor = format!(
        "//! Plays a stream.\n\nuse crate::self_test::Sample;\n\n#[allow(dead_code)]\npub enum Next {{\n    \
         Stream {{ label: Option<usize> }},\n    Sample(Sample),\n    Missing,\n    End,\n}}\n\n\
         pub struct Sensor(usize);\n\nimpl Sensor {{\n    pub fn new() -> Self {{\n        Self(0)\n    }}\n\n    \
         pub fn next(&mut self) -> Option<Next> {{\n        let row = ROWS.get(self.0)?;\n        self.0 += 1;\n        \
         Some(row.map_or(Next::Missing, Next::Sample))\n    }}\n}}\n\nstatic ROWS: [Option<Sample>; {count}] = [\n{rows}];\n"
    );
    fs::write(project.join("src/sensor.rs"), sensor).expect("writes");
    let output = cargo(project, "run --release");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let decided = said.lines().filter_map(|line| {
        let (samples, rest) = line.split_once(" samples: ")?;
        let (class, rest) = rest.split_once(" leads by ")?;
        let (_, bits) = rest.split_once("(0x")?;
        let end: usize = samples.parse().ok()?;
        let bits = u32::from_str_radix(bits.trim_end_matches(')'), 16).expect("bits");
        Some((end - WINDOWS[0], end, class.to_owned(), bits))
    });
    decided.collect()
}

/// The decisions of a library for C, under QEMU.
fn of_c(replay: &Replay) -> Vec<Decided> {
    let folder = &replay.folder;
    let library = folder.path().join("library");
    printed(&format!(
        "export {} --c {} --core cortex-m4",
        folder.at("gait.json"),
        library.display()
    ));
    // A row that begins with what is no number is missing.
    let missing = "__builtin_nanf(\"\")";
    let row = |row: Option<&str>| match row {
        Some(row) => format!("    {{{}}},\n", numbers(row, "f")),
        None => format!("    {{{missing}}},\n"),
    };
    let rows: String = replay.rows().map(row).collect();
    fs::write(
        library.join("example/main.c"),
        format!(
            "#include <stddef.h>\n#include \"board.h\"\n#include \"fishweir.h\"\n\
             static const float rows[][FISHWEIR_CHANNELS] = {{\n{rows}}};\n\
             static fishweir_stream stream;\n\
             int main(void)\n{{\n    union {{ float value; uint32_t bits; }} margin;\n    fishweir_decision read;\n\
             board_start();\n    if (fishweir_init(&stream, sizeof stream)) return 1;\n\
             for (size_t t = 0; t < sizeof rows / sizeof *rows; t++) {{\n\
             const float *row = rows[t][0] == rows[t][0] ? rows[t] : NULL;\n\
             if (fishweir_push(&stream, row, row ? FISHWEIR_CHANNELS : 0)) return 1;\n\
             if (fishweir_decide(&stream, &read) != FISHWEIR_STATUS_OK) continue;\n    margin.value = read.margin;\n\
             board_write_hex((uint32_t)(t + 1));\n    board_write_hex(read.class_index);\n    \
             board_write_hex(margin.bits);\n    board_write(\"\\n\");\n    }}\n    return 0;\n}}\n"
        ),
    )
    .expect("writes");
    let [told] = &crate::c::by_page(&library)[..] else { panic!("one core") };
    let classes = json(&format!("info {} --json", folder.at("gait.json")));
    let word = |line: &str, at: usize| {
        u32::from_str_radix(&line[8 * at..8 * (at + 1)], 16).expect("a word")
    };
    let decided = told.lines().map(|line| {
        let (end, class) = (word(line, 0) as usize, word(line, 1) as usize);
        let class = classes["classes"][class].as_str().expect("a class").to_owned();
        (end - WINDOWS[0], end, class, word(line, 2))
    });
    decided.collect()
}
