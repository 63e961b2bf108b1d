//! `fishweir record`: samples of a board at a pseudo-terminal become a table, whatever the line loses.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fishweir::device::{Board, Image, Qemu};
use serde_json::Value;

use crate::fixtures::Folder;
use crate::new::{cargo, share_core};
use crate::terminal::{Line, Noise, RATE, ending, measured, record, terminal, with_emulated};
use crate::{PROGRAM, Run, fishweir, json, printed};

/// Rows of a series: label, time, and values where they are not missing.
type Rows = Vec<(String, f64, Option<[f32; 2]>)>;

/// The series of a table, whose columns are checked.
fn series(text: &str) -> Vec<(String, Rows)> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let header = ["series", "subject", "label", "t [s]", "n", "wave [g]"];
    assert_eq!(table.headers().expect("a line"), &header[..]);
    let mut all: Vec<(String, Rows)> = Vec::new();
    for line in table.records() {
        let line = line.expect("fields");
        let [name, subject, label, t, x, y] = [0, 1, 2, 3, 4, 5].map(|field| &line[field]);
        assert_eq!((subject, x.is_empty()), ("ann, 1", y.is_empty()), "{line:?}");
        if all.last().is_none_or(|last| last.0 != name) {
            all.push((name.to_owned(), Vec::new()));
        }
        let number = |text: &str| text.parse::<f32>().expect("a number");
        let values = (!x.is_empty()).then(|| [number(x), number(y)]);
        all.last_mut().expect("begun").1.push((label.into(), t.parse().expect("a time"), values));
    }
    all
}

/// The samples are those that were sent, in order, and evenly in time; how many are missing though they were observed.
fn lost(rows: &Rows) -> usize {
    let first = rows.iter().position(|row| row.2.is_some()).expect("samples");
    let number = rows[first].2.expect("checked")[0] as u32 - first as u32;
    let mut lost = 0;
    for (index, (_, t, values)) in rows.iter().enumerate() {
        let sent = measured(number + index as u32);
        match values {
            Some(values) => assert_eq!(Some(*values), sent, "sample {index}"),
            None => lost += usize::from(sent.is_some()),
        }
        assert!((t - index as f64 * rows[1].1).abs() < 1e-3 * (1.0 + t), "sample {index}: {t}");
    }
    lost
}

/// Runs a check beside a board that sends its samples to a terminal.
fn with_board<T>(every: u64, check: impl FnOnce(&str) -> T) -> T {
    let (board, port) = terminal();
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| record(&mut Line { terminal: board, noise: Noise::new(every) }, &ended));
        ending(&ended, || check(&port))
    })
}

fn start(line: &str) -> Child {
    let mut command = Command::new(PROGRAM);
    let piped = command.args(line.split('|')).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().expect("starts")
}

fn take(file: &str, port: &str, label: &str, more: &str) -> Value {
    let mut command =
        fishweir(&format!("record --port {port} -o {file} --label {label} {more} --json"));
    json(command.args(["--column", "subject=ann, 1"]))
}

#[test]
fn takes_over_a_line_that_damages_bytes_hold_no_sample_that_was_not_sent() {
    let folder = Folder::new();
    let file = folder.at("gait.csv");
    with_board(300, |port| {
        let more = "--seconds 0.6 --takes 2 --countdown 0.1";
        let told = take(&file, port, "walking", more);
        assert_eq!(told["takes"].as_array().map(Vec::len), Some(2), "{told}");
        assert!(told["corrupt"].as_u64() > Some(0), "{told}");
        assert_eq!(
            (&told["channels"][1], &told["stated_rate"]),
            (&"wave [g]".into(), &RATE.into())
        );
        let before = folder.text("gait.csv");
        let again = take(&file, port, "running", "--seconds 0.6 --countdown 0");
        assert_eq!(again["takes"][0]["series"], "take3");
        let text = folder.text("gait.csv");
        assert!(text.starts_with(&before), "what was there stays");
        let all = series(&text);
        let told = told["takes"].as_array().into_iter().chain(again["takes"].as_array()).flatten();
        let mut losses = 0;
        for (number, (told, (name, rows))) in told.zip(&all).enumerate() {
            let label = ["walking", "walking", "running"][number];
            assert!(rows.iter().all(|row| row.0 == label), "{name}");
            assert_eq!(
                (&told["series"], &told["samples"]),
                (&name.as_str().into(), &rows.len().into())
            );
            // Some were lost that had not been observed.
            let lost = lost(rows);
            assert!(told["lost"].as_u64() >= Some(lost as u64) && rows.len() > 100, "{told}");
            losses += lost;
        }
        assert!(all.len() == 3 && losses > 0, "{losses}");
    });
    // It is read without options, at the rate that was measured.
    let read = json(&format!("convert {file} --dry-run --json"));
    assert!(read.to_string().contains("walking"), "{read}");

    // Other columns are refused, and nothing is changed.
    let text = folder.text("gait.csv");
    with_board(0, |port| {
        let output = fishweir(&format!(
            "record --port {port} -o {file} --label x --seconds 1 --message-format json"
        ));
        let output = Run::run(&mut { output });
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("other-columns") && said.contains("series,label,t [s]"), "{said}");
    });
    assert_eq!(folder.text("gait.csv"), text);
}

#[test]
fn who_interrupts_or_unplugs_keeps_the_take() {
    let folder = Folder::new();
    for (name, interrupted) in [("interrupted.csv", true), ("unplugged.csv", false)] {
        let (board, port) = terminal();
        let ended = AtomicBool::new(false);
        let file = folder.at(name);
        let output = thread::scope(|scope| {
            let mut line = Line { terminal: board, noise: Noise::new(0) };
            let sender = scope.spawn(|| {
                record(&mut line, &ended);
                drop(line);
            });
            let child = start(&format!(
                "record|--port|{port}|-o|{file}|--label|a|--column|subject=ann, 1|--countdown|0|--message-format|json"
            ));
            thread::sleep(Duration::from_millis(1500));
            assert!(!Path::new(&file).exists(), "a take is written at its end");
            if interrupted {
                let id = child.id().to_string();
                assert!(
                    Command::new("kill")
                        .args(["-INT", &id])
                        .status()
                        .is_ok_and(|sent| sent.success())
                );
            } else {
                ended.store(true, Ordering::Relaxed);
            }
            let output = child.wait_with_output().expect("ends");
            ended.store(true, Ordering::Relaxed);
            sender.join().expect("sent");
            output
        });
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(if interrupted { 0 } else { 2 }), "{said}");
        assert_eq!(said.contains("device-stopped"), !interrupted, "{said}");
        let all = series(&folder.text(name));
        assert!(all.len() == 1 && all[0].1.len() > 100 && lost(&all[0].1) == 0, "{name}");
    }
}

/// A project that records, its triangle waves read back through a line that damages bytes.
#[test]
fn a_project_is_recorded_under_emulation() {
    let folder = Folder::new();
    let (at, board) = (folder.at("log"), Board::named(Board::default_name()).expect("a board"));
    printed(&format!(
        "new {at} --name triangles --board {} --application record --channels x,y --rate 100",
        board.name
    ));
    let project = Path::new(&at);
    share_core(project);
    let output = cargo(project, "build --release");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("warning"), "{errors}");
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/target");
    let elf = Path::new(built).join(board.target).join("release/triangles");
    let qemu = Qemu::start(&Image::open(board, &elf).expect("an image")).expect("QEMU starts");
    let file = folder.at("triangles.csv");
    let told = with_emulated(&qemu, 400, |port| {
        json(&format!("record --port {port} -o {file} --seconds 1.5 --countdown 0 --json"))
    });
    let text = folder.text("triangles.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("series,t [s],x,y"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').skip(2).collect()).collect();
    // Each row is the sample of its place, or empty.
    let wave = |sample: usize| {
        [sample % 100, (sample + 25) % 100].map(|at| (at.min(100 - at) as f32 / 50.0).to_string())
    };
    let begins = (0..100).find(|first| wave(*first) == rows[0][..]).expect("a place of the wave");
    let mut lost = 0;
    for (index, row) in rows.iter().enumerate() {
        assert!(row[..] == ["", ""] || row[..] == wave(begins + index), "sample {index}: {row:?}");
        lost += usize::from(row[..] == ["", ""]);
    }
    assert!(rows.len() > 50 && told["takes"][0]["lost"] == lost, "{told}");
    assert!(told["corrupt"].as_u64() > Some(0), "{told}");
}
