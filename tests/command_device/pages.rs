//! Pages whose commands build firmware: minutes each, so they are run by `tests/boards`.

use crate::shared::pages;

fn tutorial(index: usize) -> String {
    format!("host/docs/tutorials/{}.md", pages::WITH_FIRMWARE[index])
}

#[test]
#[ignore = "builds an image and a project: minutes"]
fn a_classifier_of_motions_reaches_a_board() {
    let output = pages::run(&tutorial(0));
    for words in ["model written to gait.json", "0 bits differ"] {
        assert!(output.contains(words), "no `{words}` in\n{output}");
    }
}

#[test]
#[ignore = "builds a library and runs it under QEMU: a minute"]
fn a_library_for_c_decides_under_qemu() {
    let output = pages::run(&tutorial(1));
    assert!(output.contains("C library written to gait-c"), "{output}");
    assert_eq!(output.lines().filter(|line| *line == "00000000").count(), 4, "{output}");
}
