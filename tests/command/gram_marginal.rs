//! `fishweir gram` with kernels by marginalisation.

use std::fs;

use fishweir::kernel::marginal::MarginalModel;

use crate::fixtures::Folder;
use crate::{fishweir, json, refuses};

fn documented(name: &str) -> String {
    format!("{}/../docs/kernels/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

const DNA: &str = "label\tid\tsequence\nA\ta\tACGTACGTAC\nA\tb\tACGTACGTAA\nB\tc\tTTTTGGNTGG\n";
const PROFILES: &str = "label\tid\tsequence\nA\ta\t11010\nA\tb\t110-0\nB\tc\t00101\n";
const CHANNELS: &str =
    "series,label,t,x,y\n0,a,0,0.5,0.25\n0,a,1,NA,NA\n1,b,0,1.5,-1\n1,b,1,1,-1\n";

#[test]
fn every_kernel_by_its_documented_model() {
    let folder = Folder::new();
    for name in MarginalModel::NAMES {
        let (ending, text, items) = match name {
            "fixed-length" => ("csv", CHANNELS, 2),
            "hidden-tree" | "pruned-tree" => ("tsv", PROFILES, 3),
            _ => ("tsv", DNA, 3),
        };
        let data = folder.put(format!("{name}.{ending}"), text);
        let out = folder.at(format!("{name}.gram.csv"));
        let report = json(&format!(
            "gram {data} --kernel {name} --kernel-model {} --normalise --json -o {out}",
            documented(name)
        ));
        assert_eq!(report["items"], items, "{report}");
        assert_eq!(report["positive_semidefinite"], true, "{report}");
        let matrix = fs::read_to_string(&out).expect("a matrix");
        assert_eq!(matrix.lines().count(), items + 1, "{matrix}");
        // Two that are alike, and one that is not.
        if items == 3 {
            let row: Vec<f64> = matrix
                .lines()
                .nth(1)
                .expect("a row")
                .split(',')
                .skip(2)
                .map(|k| k.parse().expect("a number"))
                .collect();
            assert!(row[0] == 1.0 && row.iter().all(|k| *k > 0.0 && *k <= 1.0), "{name}: {row:?}");
            // To a set of models strings are alike that the same models explain, whatever they are.
            assert!(row[1] > row[2] || name == "marginalisation", "{name}: {row:?}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let folder = Folder::new();
    let data = folder.put("dna.tsv", "label\tid\tsequence\nA\ta\tACGT\nB\tc\tACG\n");
    let gram = |options: &str| format!("gram {data} {options}");
    let pair = documented("pair-hmm");
    let binomial = documented("hidden-binomial");
    for (options, says) in [
        ("--kernel pair-hmm".to_owned(), "needs-kernel-model pair-hmm --kernel-model"),
        (format!("--kernel practical --kernel-model {pair}"), "idle-option --kernel-model"),
        (format!("--kernel fixed-length --kernel-model {pair}"), "other-kernel pair-hmm"),
        (format!("--kernel hidden-binomial --kernel-model {binomial}"), "wrong-length 3"),
    ] {
        refuses(&gram(&options), says);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left behind");
    let long = "ACGT".repeat(400);
    fs::write(&data, format!("label\tid\tsequence\nA\ta\t{long}\nB\tc\t{long}\n")).expect("a file");
    let binomial = format!("--kernel hidden-binomial --kernel-model {binomial}");
    refuses(fishweir(&gram(&binomial)).current_dir(&folder), "kernel-out-of-range --normalise");
}
