//! Command lines that say nothing useful.

use crate::fixtures::fixtures;
use crate::{fishweir, printed, refused, refuses};

#[test]
fn wrong_usage_is_explained() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    for (line, expected) in [
        ("swim".to_owned(), "unrecognized subcommand"),
        ("fit".to_owned(), "<DATA>"),
        (format!("fit {data} --hop 10"), "--window"),
        (format!("fit {data} --window 0"), "--window"),
        (format!("fit {data} --window ten"), "--window"),
        (format!("fit {data} --c 1,-1"), "'--c <LIST>': must be a number, finite and positive"),
        (format!("fit {data} --c ,"), "'--c <LIST>': must be a number, finite and positive"),
        (format!("fit {data} --gain -1"), "not negative"),
        (format!("fit {data} --classifier forest"), "possible values"),
        (format!("fit {data} --normalisation twice"), "per-sample"),
        (format!("fit {data} --format parquet"), "fasta, strings, series"),
        (format!("fit {data} --alphabet AA"), "occurs twice"),
        (format!("fit {data} --fasta-label 0"), "count from 1"),
        (format!("evaluate {data} --hop 5"), "--window"),
        (format!("score {data}"), "--model"),
        (format!("score --model {model}"), "<DATA>"),
        (format!("score {data} --stream --model {model}"), "cannot be used with"),
        (format!("score {data} --every 2 --model {model}"), "cannot be used with"),
        (format!("score {data} --reset-every 2 --model {model}"), "cannot be used with"),
        (format!("score --stream --every 0 --model {model}"), "--every"),
        (
            format!("run {model} {data} --board abacus"),
            "microbit, lm3s6965evb, mps2-an386, mps2-an505, riscv-virt",
        ),
        (format!("run {model} {data} --limit 0"), "'0' for '--limit"),
        (format!("demo -o {data}"), "cannot be made"),
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
    let (positive, not_negative) = ("finite and positive", "finite and not negative");
    for (line, option, range, also) in [
        (format!("fit {data}"), "--std-floor", positive, ["0", "-1"]),
        (format!("fit {data}"), "--c", positive, ["0", "-1"]),
        (format!("fit {data} --classifier gaussian"), "--sigma", positive, ["0", "-1"]),
        (format!("fit {data}"), "--tolerance", not_negative, ["-1", "-1e-9"]),
        (format!("fit {data}"), "--rotation", not_negative, ["-1", "ten"]),
        (format!("fit {data}"), "--gain", not_negative, ["-1", "ten"]),
        (format!("{gram} --kernel gaussian"), "--sigma", positive, ["0", "-1"]),
        (format!("{gram} --kernel invariant"), "--ridge", not_negative, ["-1", "one"]),
        (format!("gram {data} --family markov"), "--pseudo-count", not_negative, ["-1", ""]),
        (export, "--equal", "from 0 to 1", ["2", "-0.5"]),
    ] {
        for value in ["nan", "NaN", "inf", "-inf", "1e999"].into_iter().chain(also) {
            let message = refused(fishweir(&line).arg(format!("{option}={value}")));
            let named = message.contains(&format!("for '{option} <")) && message.contains(range);
            assert!(named, "{line} {option} {value}: {message}");
        }
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let text = printed("--help");
    for part in ["fit", "evaluate", "score", "export", "gram", "info", "run", "demo", "Exit codes"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    for command in ["fit", "evaluate", "score", "export", "gram", "info", "run", "demo"] {
        let text = printed(&format!("{command} --help"));
        assert!(text.contains("--json"), "{command}:\n{text}");
    }
}
