//! Models with durations and final states, context trees, and kernels between chains, by the program.

use crate::fixtures::{Folder, fixtures};
use crate::gram::{assert_answers, csv_matrix};
use crate::{json, printed};

#[test]
fn durations_ends_and_trees_are_families() {
    let folder = Folder::new();
    let (matrix, models) = (folder.at("k.csv"), folder.at("models.json"));
    let strings = fixtures().at("strings.tsv");
    let short = "--states 2 --iterations 4 --restarts 1";
    for (options, words) in [
        (format!("--family hsmm {short}"), "(hidden semi-Markov models)"),
        (
            format!("--family hsmm {short} --longest-duration 5 --end"),
            "(hidden semi-Markov models)",
        ),
        (format!("--family hmm --end {short}"), "Fisher"),
        ("--family context-tree --order 3".to_owned(), "(a mixture of context trees)"),
        (format!("--kernel label-latent {short}"), "label-latent Fisher"),
        (
            format!("--kernel label-latent {short} --information empirical --ridge 0.1"),
            "label-latent",
        ),
        ("--kernel ppk --family markov --order 2 --steps 6 --normalise".to_owned(), "an item"),
        ("--kernel mean-map --family context-tree --order 2 --normalise".to_owned(), "an item"),
    ] {
        let report = printed(&format!("gram {strings} {options} -o {matrix}"));
        assert!(report.contains(words), "{options}: {report}");
        let (_, _, gram) = csv_matrix(&matrix);
        for (i, row) in gram.iter().enumerate() {
            assert!(row[i] > 0.0 && row.iter().all(|value| value.is_finite()), "{options}");
        }
    }
    // One model per class, in a file that reads back; chains are classifiers for devices.
    for family in ["hsmm --states 2", "hmm --states 2 --end"] {
        printed(&format!(
            "fit {strings} --family {family} --iterations 4 --restarts 1 -o {models}"
        ));
        assert!(std::fs::read_to_string(&models).expect("written").contains("semi_markov"));
    }
    printed(&format!("fit {strings} --family context-tree --order 3 -o {models}"));
    let info = json(&format!("info {models} --json"));
    assert!(info.to_string().contains("flash"), "{info}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let strings = fixtures().at("strings.tsv");
    let series = fixtures().at("two.csv");
    assert_answers(&[
        (format!("{strings} --family hsmm --kernel count"), "unsupported"),
        (format!("{strings} --family hmm --end --kernel count"), "unsupported"),
        (format!("{strings} --family hsmm --states 1"), "bad-setting states"),
        (format!("{strings} --family hsmm --longest-duration 0"), "bad-setting longest"),
        (format!("{strings} --longest-duration 4"), "idle-option --longest-duration --family hsmm"),
        (format!("{strings} --family hsmm --kernel ppk"), "unsupported --family hsmm"),
        (format!("{series} --family context-tree"), "wrong-observations"),
        (format!("{strings} --family context-tree --order 40"), "out-of-range"),
    ]);
}
