//! Where what commands make goes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{fishweir, printed, refuses};

#[test]
fn no_input_and_no_other_output_is_written_over() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    fs::copy(&data, at("data.csv")).expect("copied");
    fs::copy(&model, at("model.json")).expect("copied");
    fs::hard_link(at("model.json"), at("link.json")).expect("made");
    fs::write(at("kernel.toml"), "").expect("written");
    let before = fs::read(&model).expect("there");
    let (own, link, kernel) = (at("model.json"), at("link.json"), at("kernel.toml"));
    for (line, expected) in [
        (format!("gram {data} --model {own} -o {own}"), "output-is-input"),
        (
            format!("gram {data} --kernel pair-hmm --kernel-model {kernel} -o {kernel}"),
            "output-is-input",
        ),
        (format!("evaluate {data} --model {own} --roc {own}"), "output-is-input"),
        (format!("evaluate {data} --model {own} --roc {link}"), "output-is-input"),
        (format!("evaluate {data} --kernel-model {kernel} --roc {kernel}"), "output-is-input"),
        (format!("fit {data} --kernel-model {kernel} -o {kernel}"), "output-is-input"),
        (format!("fit {0} -o {0}", at("data.csv")), "output-is-input"),
        (format!("export {own} --rust {link}"), "output-is-input"),
        (format!("export {own} --rust {data} --data {data}"), "output-is-input"),
        (format!("export {own} --rust {0} --artefact {0}", at("new")), "same-output"),
        (format!("export {own} --rust - --artefact -"), "same-output"),
        (format!("export {own} --rust {}", at("none/new")), "unwritable-file"),
    ] {
        refuses(&line, expected);
    }
    assert_eq!(fs::read(own).expect("there"), before);
    assert_eq!(fs::read(kernel).expect("there"), b"");
    assert!(!Path::new(&folder.at("new")).exists());
}

#[test]
fn a_dash_is_standard_output_and_the_report_gives_way() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    for (line, option, file) in [
        (format!("fit {data} --classifier bayes {QUICK} --effort quick"), "-o", "m.json"),
        (format!("gram {data} --model {model}"), "-o", "g.csv"),
        (format!("export {model}"), "--rust", "m.rs"),
        (format!("evaluate {data} --model {model}"), "--roc", "r.svg"),
    ] {
        let named = printed(&format!("{line} {option} {}", at(file)));
        let output = fishweir(&format!("{line} {option} -")).unwrap();
        assert_eq!(fs::read(at(file)).expect("written"), output.stdout, "{line}");
        let told = String::from_utf8(output.stderr).expect("UTF-8");
        let first = named.lines().next().expect("a report").replace(&at(file), "-");
        assert!(told.contains(&first), "{line}: {first}\n{told}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_stays_one() {
    let folder = Folder::new();
    let pipe = folder.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("started").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).expect("read")
    });
    let line = format!("export {} --artefact {pipe}", fixtures().at("two.json"));
    printed(&line);
    assert_eq!(reader.join().expect("ended"), fs::read(fixtures().at("two.fishweir")).expect(""));
    assert!(!fs::metadata(&pipe).expect("there").is_file());
}
