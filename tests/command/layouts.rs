//! The same series in every layout that can hold them: the same figures.

use std::fmt::Write as _;

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, table};
use crate::{Messages, as_json, json, printed, refused};

/// A class and the samples of a series, as they are written.
type Line<'a> = (&'a str, Vec<&'a str>);

/// The channel `x` of a table of series, a series per line.
fn lines(table: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut before = "";
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        if fields[0] != before {
            lines.push((fields[2], Vec::new()));
            before = fields[0];
        }
        lines.last_mut().expect("begun").1.push(fields[4]);
    }
    lines
}

/// The files, by name: one sample a line with times and without, wide, the UCR archive's, `.ts`.
fn written(lines: &[Line<'_>]) -> Vec<(&'static str, String)> {
    let mut timed = "series,label,t,x\n".to_owned();
    let mut untimed = "series,x,label\n".to_owned();
    let numbers: Vec<String> = (0..lines[0].1.len()).map(|t| t.to_string()).collect();
    let mut wide = format!("{},class\n", numbers.join(","));
    let mut ucr = String::new();
    let mut ts = "# Still or moving.\n@problemName Motions\n@timeStamps false\n@univariate true\n\
                  @classLabel true 1 2\n@data\n"
        .to_owned();
    for (series, (class, samples)) in lines.iter().enumerate() {
        for (t, x) in samples.iter().enumerate() {
            let _ = writeln!(timed, "{series},{class},{t},{x}");
            let _ = writeln!(untimed, "{series},{x},{class}");
        }
        let _ = writeln!(wide, "{},{class}", samples.join(","));
        let _ = writeln!(ucr, "{class}\t{}", samples.join("\t"));
        let _ = writeln!(ts, "{}:{class}", samples.join(","));
    }
    vec![
        ("timed.csv", timed),
        ("untimed.csv", untimed),
        ("wide.csv", wide),
        ("ucr.tsv", ucr),
        ("motions.ts", ts),
    ]
}

#[test]
fn the_same_series_have_the_same_figures_in_every_layout() {
    let folder = Folder::new();
    let table = table(&["1", "2"]);
    let lines = lines(&table);
    let files: Vec<String> =
        written(&lines).into_iter().map(|(name, text)| folder.put(name, text)).collect();
    let figures = |file: &String| -> Value {
        let options = format!("--classifier bayes --folds 2 {QUICK} --effort quick --json");
        json(&format!("evaluate {file} {options}"))["classifiers"].take()
    };
    let wanted = figures(&files[0]);
    assert!(wanted["bayes"]["accuracy"].as_f64().expect("a share") > 0.6, "{wanted}");
    for file in &files[1..] {
        assert_eq!(figures(file), wanted, "{file}");
    }
    // Fitted to one, judged on another: the only channel has one name.
    let model = folder.at("wide.json");
    printed(&format!("fit {} --classifier bayes -o {model} {QUICK} --effort quick", files[2]));
    let judged = |file: &String| json(&format!("evaluate {file} --model {model} --json"));
    let wanted = judged(&files[0])["confusion"].take();
    for file in &files[1..] {
        assert_eq!(judged(file)["confusion"], wanted, "{file}");
    }
    // A layout may be named, and is then insisted on.
    let options = format!("--model {model} --json");
    let named = json(&format!("evaluate {} --format ts {options}", files[4]));
    assert_eq!(named["confusion"], wanted);
    let told = refused(&format!("evaluate {} --format ts {options}", files[2]));
    assert!(told.is("bad-layout wide.csv 1 @data"), "{told}");
}

#[test]
fn what_may_be_a_group_and_is_read_as_a_channel_is_told() {
    let folder = Folder::new();
    let text = "series,subject,label,x\n0,7,up,1\n0,7,up,2\n1,8,down,-1\n1,8,down,-2\n";
    let file = folder.put("rows.csv", text);
    let told =
        Messages::of(&as_json(&format!("evaluate {file} --folds 2 {QUICK} --effort quick")).stderr)
            .notes;
    assert!(told.iter().any(|note| note.is("maybe-group subject t")), "{told:?}");
    let timed = folder.put(
        "timed.csv",
        text.replace("subject", "time")
            .replace("7,", "0,")
            .replacen("0,0,up,2", "0,1,up,2", 1)
            .replace("1,8,down,-2", "1,9,down,-2"),
    );
    let told = Messages::of(
        &as_json(&format!("evaluate {timed} --folds 2 {QUICK} --effort quick")).stderr,
    )
    .notes;
    assert!(told.iter().any(|note| note.is("source-found time --time")), "{told:?}");
}
