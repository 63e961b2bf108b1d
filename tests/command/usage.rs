//! Command lines that say nothing useful.

use crate::fixtures::fixtures;
use crate::{fishweir, printed, refused};

#[test]
fn wrong_usage_is_explained() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    for (line, expected) in [
        ("swim".to_owned(), "unrecognized subcommand"),
        ("fit".to_owned(), "<DATA>"),
        (format!("fit {data} --hop 10"), "--window"),
        (format!("fit {data} --window 0"), "--window"),
        (format!("fit {data} --window ten"), "--window"),
        (format!("fit {data} --c 1,-1"), "C is a positive number"),
        (format!("fit {data} --c ,"), "C is a positive number"),
        (format!("fit {data} --gain -1"), "not negative"),
        (format!("fit {data} --classifier forest"), "possible values"),
        (format!("fit {data} --normalisation twice"), "per-sample"),
        (format!("fit {data} --format parquet"), "unknown format"),
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
        (format!("run {model} {data} --limit 0"), "--limit 0"),
        (format!("demo -o {data}"), "cannot be made"),
    ] {
        let message = refused(&mut fishweir(&line), 2);
        assert!(message.contains(expected), "{line}: {message}");
    }
}

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let text = printed(&mut fishweir("--help"));
    for part in ["fit", "evaluate", "score", "export", "gram", "info", "run", "demo", "Exit codes"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    for command in ["fit", "evaluate", "score", "export", "gram", "info", "run", "demo"] {
        let text = printed(&mut fishweir(&format!("{command} --help")));
        assert!(text.contains("--json"), "{command}:\n{text}");
    }
}
