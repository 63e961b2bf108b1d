//! Command lines that say nothing useful.

use crate::fixtures::fixtures;
use crate::{fishweir, printed, refused, refuses};

#[test]
fn wrong_usage_is_explained() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    for (line, expected) in [
        ("swim".to_owned(), "invalid-subcommand"),
        ("fit".to_owned(), "missing-required-argument DATA"),
        (format!("fit {data} --hop 10"), "missing-required-argument --window"),
        (format!("fit {data} --window 0"), "invalid-value 0 --window"),
        (format!("fit {data} --window ten"), "invalid-value ten --window"),
        (format!("fit {data} --c 1,-1"), "invalid-value --c"),
        (format!("fit {data} --c ,"), "invalid-value --c"),
        (format!("fit {data} --gain -1"), "invalid-value --gain"),
        (format!("fit {data} --classifier forest"), "invalid-value --classifier"),
        (format!("fit {data} --normalisation twice"), "invalid-value per-sample --normalisation"),
        (format!("fit {data} --format parquet"), "invalid-value fasta strings series --format"),
        (format!("fit {data} --alphabet AA"), "invalid-value --alphabet"),
        (format!("fit {data} --fasta-label 0"), "invalid-value 1 --fasta-label"),
        (format!("evaluate {data} --hop 5"), "missing-required-argument --window"),
        ("info".to_owned(), "missing-required-argument --model"),
        (format!("info {model} --model {model}"), "argument-conflict --model"),
        (format!("run {data}"), "missing-required-argument --model"),
        (
            format!("fit {data} --family gaussian --kernel-model k.toml"),
            "argument-conflict --family",
        ),
        (format!("watch {data}"), "invalid-subcommand watch"),
        (format!("predict {data}"), "missing-required-argument --model"),
        (format!("predict --model {model}"), "missing-required-argument DATA"),
        (format!("predict {data} --stream --model {model}"), "argument-conflict --stream"),
        (format!("predict {data} --every 2 --model {model}"), "argument-conflict --every"),
        (
            format!("predict {data} --reset-every 2 --model {model}"),
            "argument-conflict --reset-every",
        ),
        (format!("predict --stream --every 0 --model {model}"), "invalid-value --every"),
        (
            format!("run {data} --model {model} --board abacus"),
            "invalid-value microbit lm3s6965evb mps2-an386 mps2-an505 riscv-virt --board",
        ),
        (format!("run {data} --model {model} --limit 0"), "invalid-value 0 --limit"),
        (format!("demo -o {data}"), "unwritable-folder"),
    ] {
        refuses(&line, expected);
    }
}

/// Every option that takes a number with a point: it is named, and so is what it may be.
#[test]
fn numbers_out_of_range_are_refused_by_the_name_of_their_option() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    let gram = format!("gram {data} --model {model}");
    let export = format!("export {model} --rust - --number q15 --data {data}");
    for (line, option, also) in [
        (format!("fit {data}"), "--std-floor", ["0", "-1"]),
        (format!("fit {data}"), "--c", ["0", "-1"]),
        (format!("fit {data} --classifier gaussian"), "--sigma", ["0", "-1"]),
        (format!("fit {data}"), "--tolerance", ["-1", "-1e-9"]),
        (format!("fit {data}"), "--rotation", ["-1", "ten"]),
        (format!("fit {data}"), "--gain", ["-1", "ten"]),
        (format!("{gram} --kernel gaussian"), "--sigma", ["0", "-1"]),
        (format!("{gram} --kernel invariant"), "--ridge", ["-1", "one"]),
        (format!("gram {data} --family markov"), "--pseudo-count", ["-1", ""]),
        (export, "--equal", ["2", "-0.5"]),
    ] {
        for value in ["nan", "NaN", "inf", "-inf", "1e999"].into_iter().chain(also) {
            let message = refused(fishweir(&line).arg(format!("{option}={value}")));
            let named = message.is(&format!("invalid-value {option}"));
            assert!(named, "{line} {option} {value}: {message}");
        }
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let text = printed("--help");
    for part in
        ["fit", "evaluate", "predict", "export", "gram", "info", "run", "demo", "Exit codes"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    for command in ["fit", "evaluate", "predict", "export", "gram", "info", "run", "demo"] {
        let text = printed(&format!("{command} --help"));
        assert!(text.contains("--json"), "{command}:\n{text}");
    }
}
