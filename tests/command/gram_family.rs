//! `fishweir gram` with models without hidden states.

use std::fs;
use std::path::Path;

use crate::fixtures::{Folder, Noise, fixtures};
use crate::gram::{assert_answers, csv_matrix};
use crate::{json, printed, refused, refuses};

/// Eight strings of two classes, of eight letters each.
const EVEN: [&str; 8] = [
    "ACGTACGT", "ACGTTTTT", "CCCCACGT", "AACCGGTT", "ACACACAC", "GTGTGTGT", "TTTTTTTT", "ACGGACGG",
];

fn even(folder: &Folder) -> String {
    let line = |(n, text): (usize, &&str)| format!("{}\ts{n}\t{text}\n", ["odd", "even"][n % 2]);
    let lines: String = EVEN.iter().enumerate().map(line).collect();
    folder.put("even.tsv", format!("label\tid\tsequence\n{lines}"))
}

#[test]
fn every_family_says_what_it_is_how_large_and_its_eigenvalues() {
    let folder = Folder::new();
    let (output, even) = (folder.at("k.csv"), even(&folder));
    let (strings, two) = (fixtures().at("strings.tsv"), fixtures().at("two.csv"));
    let exact = "--kernel invariant --information exact";
    // Options, words of the report, features, and whether there is a closed form or a standard error.
    let cases: [(String, &str, usize, Option<bool>); 14] = [
        (format!("{strings} --family markov"), "of 2 models (Markov strings)", 2 * 16, None),
        (format!("{strings} --family markov --one-model --order 2"), "(Markov strings)", 64, None),
        (format!("{strings} --family markov --padded --end --score-model runs"), "ngs)", 25, None),
        (
            format!("{strings} --family markov {exact}"),
            "exact information at length",
            24,
            Some(true),
        ),
        (
            format!(
                "{strings} --family markov --end --padded --order 2 --uniform --one-model {exact}"
            ),
            "the exact information",
            84,
            Some(true),
        ),
        (
            format!("{strings} --family markov --kernel invariant --draws 50"),
            "sampled",
            24,
            Some(false),
        ),
        (
            format!("{strings} --family markov --order 0 --kernel top"),
            "TOP, softmax scores of 2 models",
            9,
            None,
        ),
        (format!("{strings} --family markov --kernel gaussian --sigma 9"), "width 9 on", 32, None),
        (
            format!("{strings} --family markov --kernel polynomial --information diagonal"),
            "degree 2",
            32,
            None,
        ),
        (format!("{even} --family positions"), "of 2 models (independent positions)", 64, None),
        (
            format!("{strings} --family positions --window 5 --one-model --pseudo-count 0"),
            "(independent positions)",
            20,
            None,
        ),
        (
            format!("{two} --family gaussian {exact}"),
            "(a Gaussian), whitened by the exact",
            8,
            Some(true),
        ),
        (
            format!("{two} --family mixture --one-model --window 10 --parametrisation ratio"),
            "ratio scores (a mixture of 2 Gaussians)",
            10,
            None,
        ),
        (
            format!("{two} --family mixture --components 3 --seed 2 --kernel top"),
            "TOP, softmax scores of 2 models (a mixture of 3 Gaussians)",
            31,
            None,
        ),
    ];
    for (options, words, features, information) in cases {
        let line = format!("gram {options} -o {output} --json");
        let report = json(&line);
        let kernel = report["kernel"].as_str().expect("words");
        assert!(kernel.contains(words), "{options}: {kernel}");
        assert_eq!(report["features"], features, "{options}");
        assert_eq!(report["positive_semidefinite"], true, "{options}");
        let found = &report["information"][0];
        if let Some(closed) = information {
            assert_eq!(found["sequences"] == 0, closed, "{options}: {report}");
            assert_eq!(found["standard_error"].is_number(), !closed, "{options}");
        }
        let (_, _, rows) = csv_matrix(&output);
        assert_eq!(rows.len() as u64, report["items"].as_u64().expect("a number"), "{options}");
    }
    let line = format!("gram {two} --family gaussian {exact} -o {output}");
    let text = printed(&line);
    assert!(text.contains("information: 4 x 4, in closed form, norm"), "{text}");
}

/// By hand: four times the matches, less the length.
#[test]
fn uniform_positions_count_matches() {
    let folder = Folder::new();
    let (output, even) = (folder.at("k.csv"), even(&folder));
    for coordinates in ["ratio", "softmax"] {
        let line = format!(
            "gram {even} --family positions --uniform --one-model --kernel invariant --information \
             exact --parametrisation {coordinates} -o {output}"
        );
        printed(&line);
        let (_, _, rows) = csv_matrix(&output);
        for (s, row) in EVEN.iter().zip(&rows) {
            for (t, k) in EVEN.iter().zip(row) {
                let matches = s.chars().zip(t.chars()).filter(|(a, b)| a == b).count();
                assert!((k - (4.0 * matches as f64 - 8.0)).abs() < 1e-9, "{s} {t}: {k}");
            }
        }
    }
}

/// By hand: counts of pairs, times sixteen, less four times those of letters that something follows.
#[test]
fn uniform_strings_are_the_spectrum_kernel_less_its_mean() {
    let folder = Folder::new();
    let (output, even) = (folder.at("k.csv"), even(&folder));
    let line = format!(
        "gram {even} --family markov --uniform --one-model --parametrisation ratio -o {output}"
    );
    printed(&line);
    let same = |s: &str, t: &str, length: usize| {
        let pieces = |text: &str| -> Vec<String> {
            let ends = if length == 1 { text.len() - 1 } else { text.len() };
            (0..=ends - length).map(|from| text[from..from + length].to_owned()).collect()
        };
        let (of, with) = (pieces(s), pieces(t));
        of.iter().map(|u| with.iter().filter(|v| *v == u).count()).sum::<usize>() as f64
    };
    for (s, row) in EVEN.iter().zip(csv_matrix(&output).2) {
        for (t, k) in EVEN.iter().zip(row) {
            assert_eq!(k, 16.0 * same(s, t, 2) - 4.0 * same(s, t, 1), "{s} {t}");
        }
    }
}

#[test]
fn contexts_are_listed_in_a_file_or_chosen_by_their_count() {
    let folder = Folder::new();
    let (output, even) = (folder.at("k.csv"), even(&folder));
    let features = |options: &str| {
        let line = format!("gram {even} --family markov --one-model {options} --json -o ");
        let report = json(&(line + &output));
        report["features"].as_u64().expect("a number")
    };
    let listed = folder.put("contexts.txt", "A\nCA\nT\n");
    assert_eq!(features(&format!("--contexts {listed}")), 4 * 4);
    assert_eq!(features(&format!("--contexts {listed} --end")), 4 * 5);
    // Of so many, only the empty one; of one, every letter.
    assert_eq!(features("--order 1 --min-count 1000"), 4);
    assert_eq!(features("--order 1 --min-count 1"), 5 * 4);
    let some = features("--order 3 --min-count 4");
    assert!(some > 5 * 4 && some < 85 * 4, "{some}");

    fs::write(&listed, "A\nC?\n").expect("a file");
    let line = format!("gram {even} --family markov --contexts {listed}");
    refuses(&line, "bad-contexts contexts.txt 2 ?");
    refuses(&format!("{line}.missing"), "unreadable-file contexts.txt.missing");
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let (strings, two) = (fixtures().at("strings.tsv"), fixtures().at("two.csv"));
    let cases: [(String, &str); 23] = [
        (format!("{strings} --padded"), "idle-option --family hmm --padded markov"),
        (format!("{strings} --order 2"), "idle-option --family hmm --order"),
        (format!("{strings} --uniform"), "idle-option --family markov positions"),
        (format!("{strings} --kernel count --order 3"), "bad-setting 3 1 2"),
        (format!("{strings} --family positions --end"), "idle-option --family positions --end"),
        (format!("{strings} --family markov --components 2"), "idle-option --components"),
        (format!("{strings} --family markov --states 2"), "idle-option --states --family hmm"),
        (format!("{strings} --family markov --restarts 2"), "idle-option --family hmm mixture"),
        (
            format!("{strings} --family markov --std-floor 1"),
            "idle-option hmm gaussian mixture --family",
        ),
        (format!("{two} --family gaussian --seed 3"), "idle-option --family gaussian --seed"),
        (format!("{two} --family mixture --pseudo-count 1"), "idle-option --pseudo-count"),
        (format!("{strings} --family markov --kernel count"), "unsupported"),
        (format!("{strings} --family markov --kernel pair-hmm"), "needs-kernel-model pair-hmm"),
        (format!("{strings} --family markov --end --length 4"), "idle-option --length"),
        (format!("{strings} --family markov --min-count 4"), "missing-required-argument --order"),
        (
            format!("{strings} --family markov --uniform --pseudo-count 1"),
            "argument-conflict --uniform",
        ),
        (format!("{strings} --family markov --pseudo-count -1"), "invalid-value --pseudo-count"),
        (format!("{strings} --family markov --order 9"), "too-many-contexts 65534"),
        (format!("{strings} --family mixture"), "wrong-observations"),
        (format!("{two} --family markov"), "wrong-observations"),
        (format!("{two} --family positions --uniform"), "wrong-observations positions"),
        (format!("{two} --family mixture --components 65"), "out-of-range 1 64"),
        (format!("{two} --family mixture --kernel invariant --information exact"), "not-symbols"),
    ];
    assert_answers(&cases);
    let line = format!("gram {strings} --family markov -m {}", fixtures().at("strings.json"));
    refuses(&line, "idle-option --model");
}

#[test]
fn an_item_of_another_length_is_named_by_line_and_name() {
    let folder = Folder::new();
    let mut noise = Noise(4);
    let mut text = "label\tid\tsequence\n".to_owned();
    for n in 0..6 {
        let length = if n == 4 { 6 } else { 5 };
        let letter = |x: f64| ["A", "C", "G", "T"][((x + 1.0) * 1.999) as usize];
        let letters: String = noise.by_ref().take(length).map(letter).collect();
        text += &format!("{}\ts{n}\t{letters}\n", ["p", "q"][n % 2]);
    }
    let path = folder.put("uneven.tsv", text);
    let (data, output) = (path, folder.at("k.csv"));
    let line = format!("gram {data} --family positions -o {output}");
    let message = refused(&line);
    assert!(message.is(&format!("wrong-length {data} 6 s4 6 5")), "{message}");
    assert!(!Path::new(&output).exists());
}

/// What is too short for its kernel, or for a model of its own, is named by its line.
#[test]
fn an_item_that_is_too_short_is_named_by_line_and_name() {
    let folder = Folder::new();
    let strings = folder.put("short.tsv", "label\tid\tsequence\np\tone\tACGTAC\nq\ttwo\tAC\n");
    let series = folder.put("short.csv", "series,label,t,x\n0,p,0,1\n0,p,1,2\n0,p,2,4\n1,q,0,1\n");
    let alone = format!("few-points {series} 5 1");
    let of_series = |model: &str| format!("{series} --kernel mean-map --family {model}");
    assert_answers(&[
        (
            format!("{strings} --kernel empirical-mean-map --order 2"),
            &format!("too-short {strings} 3 2"),
        ),
        (of_series("kde"), &alone),
        (of_series("gaussian"), &alone),
        (of_series("mixture"), &alone),
        (of_series("lds --states 1"), &alone),
        (of_series("switching --states 1"), &alone),
    ]);
}
