//! Errors of the library name the options of the program that remedy them.

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::{printed, refuses};

#[test]
fn what_training_refuses_names_its_options() {
    let series = fixtures().at("three.csv");
    let folder = Folder::new();
    let unlabelled = folder.put("unlabelled.fasta", ">a\nACGT\n>b\nCCGT\n");
    for (data, options, expected) in [
        (&series, "--copies 100000000", "too-many-features --copies --states"),
        (&series, "--lags 500", "long-lags --lags"),
        (&series, "--lags 40 --window 20", "long-lags --lags --window"),
        (&series, "--emission categorical", "wrong-emissions --emission"),
        (&series, "--max-operations 1", "over-limit --max-operations --states --levels"),
        (&unlabelled, "", "unlabelled --fasta-label"),
    ] {
        let line = format!("fit {data} -o {} {options} {QUICK}", folder.at("m.json"));
        refuses(&line, expected);
    }
}

#[test]
fn what_is_exported_names_its_options_and_its_file() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("three.csv"), folder.at("m.json"));
    let front = "--front decimate=2 --lags none --codebooks 0";
    printed(&format!("fit {data} -o {model} {front} {QUICK} --effort quick"));
    let line = format!("export {model} --number q15 --rust - --data {data}");
    refuses(&line, format!("fixed-point-front {model} --front"));
}
