//! `fishweir profile`.

use std::fs;

use serde_json::Value;

use crate::fixtures::Folder;
use crate::{json, printed, refused, refuses};

const ALIGNMENT: &str = "\
>one
MKVLASGHW-ECDE
>two
MKVLGSGHWYECDE
>three
MRILASG-WYQC-E
";

/// A folder with an alignment and two sequences, one of the family.
fn family() -> Folder {
    let family = Folder::new();
    family.put("family.fa", ALIGNMENT);
    family.put("some.fa", ">its\nPPAQMRILASGWYYQCDERSP\n>other\nPPPPGGGGPPPPGGGG\n");
    family
}

/// The profile of the alignment.
fn fit(family: &Folder) -> String {
    let profile = family.at("family.hmm");
    let line = format!("profile fit {} -o {profile}", family.at("family.fa"));
    assert!(printed(&line).contains("14 positions from 3 sequences"));
    profile
}

#[test]
fn a_profile_finds_its_family() {
    let family = family();
    let (profile, sequences, found) = (fit(&family), family.at("some.fa"), family.at("found.sto"));
    let line =
        format!("profile score --model {profile} {sequences} --least -99 --alignment {found}");
    let table = printed(&line);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split('\t').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 13), "{table}");
    assert_eq!(
        (rows[0][1], rows[1][1], rows.last().expect("a row")[1]),
        ("target", "its", "other")
    );
    let scores: Vec<f64> = rows[1..].iter().map(|row| row[3].parse().expect("bits")).collect();
    assert!(scores[0] > 5.0 && scores[scores.len() - 1] < 0.0, "{table}");
    assert!(fs::read_to_string(found).expect("written").contains("MRILASG"));
    let alone = printed(&format!("profile score --model {profile} {sequences} --glocal"));
    assert_eq!(alone.lines().count(), 2, "{alone}");
}

#[test]
fn bad_input_is_named() {
    let family = family();
    let profile = fit(&family);
    for (file, text, expected) in [
        ("odd.fa", ">s\nAC1\n", "unknown-residue s 3 1"),
        ("empty.fa", ">s\n>t\n", "impossible"),
        ("gap.fa", ">s\nAC-\n", "unknown-residue s 3 -"),
        ("none.fa", "", "empty-file"),
    ] {
        family.put(file, text);
        let line = format!("profile score --model {profile} {}", family.at(file));
        let told = refused(&line);
        assert!(told.is(expected) && told.names(file), "{told}");
    }
    let line = format!("profile score --model {} {}", family.at("some.fa"), family.at("some.fa"));
    assert!(refused(&line).is("bad-profile-text HMMER3/f"));
}

/// From sequences that are not aligned to an alignment, and to a classifier that is priced and exported.
#[test]
fn what_is_not_aligned_is_aligned_and_learnt_from() {
    let family = family();
    let (loose, profile) = (family.at("loose.fa"), family.at("loose.hmm"));
    family.put("loose.fa", ALIGNMENT.replace('-', ""));
    let fit = format!("profile fit --unaligned --passes 1 {loose} -o {profile}");
    assert!(printed(&fit).contains("from 3 sequences"));
    let aligned = printed(&format!("profile align --glocal --model {profile} {loose}"));
    assert!(aligned.starts_with("# STOCKHOLM 1.0") && aligned.ends_with("//\n"), "{aligned}");
    for name in ["one", "two", "three"] {
        assert!(aligned.lines().any(|line| line.starts_with(name)), "{aligned}");
    }

    family.put("others.fa", ">a\nPPPPGGGGPPPPGGGG\n>b\nDDDDTTTTPPPPSSSS\n>c\nFFFFQQQQNNNNLLLL\n");
    let (others, model) = (family.at("others.fa"), family.at("model.json"));
    let learn = format!("profile learn --model {profile} {loose} {others}");
    printed(&format!("{learn} -o {model}"));
    let info = printed(&format!("info {model}"));
    assert!(info.contains("profile"), "{info}");
    assert_eq!(json(&format!("info {model} --json"))["form"], "profile");
    // The model alone is on standard output.
    assert_eq!(printed(&format!("{learn} -o -")), family.text("model.json"));
    let chosen = printed(&format!("{learn} -o - --c 1,0.01,1"));
    let chosen: Value = serde_json::from_str(&chosen).expect("JSON");
    let machine = &chosen["classifier"]["provenance"]["selection"]["machine"];
    assert_eq!(machine["candidates"].as_array().map(Vec::len), Some(2), "{machine}");
    let source = family.at("model.rs");
    printed(&format!("export {model} --rust {source}"));
    let source = fs::read_to_string(source).expect("written");
    assert!(source.contains("ProfileHmm<Dual<f32, 1>,"), "{source}");

    // What is of amino acids together is, however its sequences look alone.
    family.put("mixed.fa", ">a\nACGTACGTACGTAACC\n>b\nMKVLITGGAGFIGSHLVDRL\n");
    let mixed =
        format!("profile fit --unaligned {} -o {}", family.at("mixed.fa"), family.at("mixed.hmm"));
    assert!(printed(&mixed).contains("from 2 sequences"));
    assert!(family.text("mixed.hmm").contains("ALPH  amino"));
    let unwritten = family.at("none.json");
    refuses(&format!("{learn} -o {unwritten} --c 0"), "invalid-value");
    refuses(
        &format!("profile score --model {profile} {loose} --least nan"),
        "invalid-value --least",
    );
    refuses(&format!("{fit} --match-fraction=-3"), "invalid-value 0 1 --match-fraction");
    refuses(&format!("{fit} --entropy 0"), "invalid-value");
    family.put("odd.fa", ">odd\nAC1\n");
    let odd = family.at("odd.fa");
    for line in [
        format!("profile learn --model {profile} {loose} {odd} -o {unwritten}"),
        format!("profile align --model {profile} {odd}"),
        format!("profile fit --unaligned {odd} -o {unwritten}"),
    ] {
        let told = refused(&line);
        assert!(
            told.is("unknown-residue odd 1") || told.is("bad-profile-text odd 1"),
            "{line}: {told}"
        );
    }
    assert!(!std::path::Path::new(&unwritten).exists());
}

/// A profile in HMMER3/f text is a classifier: what reads models reads it.
#[test]
fn a_profile_alone_is_a_classifier() {
    let family = family();
    let profile = fit(&family);
    family.put("labelled.fa", ">a family\nMRILASGWYYQCDE\n>b other\nPPPPGGGGPPPPGG\n");
    let (data, source) = (family.at("labelled.fa"), family.at("family.rs"));
    let info = printed(&format!("info {profile}"));
    assert!(info.contains("family") && info.contains("14 positions"), "{info}");
    assert!(!info.contains("trained on"), "{info}");
    let options = "--fasta-label 2";
    let figures = printed(&format!("evaluate {data} {options} --model {profile}"));
    assert!(figures.contains("family.hmm     1.000"), "{figures}");
    printed(&format!("predict {data} {options} --model {profile}"));
    printed(&format!("export {profile} --rust {source}"));
    let source = fs::read_to_string(source).expect("written");
    assert!(source.contains("ProfileHmm<f32, 14,"), "{source}");

    refuses(&format!("fit --family profile {data}"), "invalid-value --family");
    family.put("broken.hmm", "HMMER3/f\nNAME x\n");
    refuses(&format!("info {}", family.at("broken.hmm")), "bad-profile-file broken.hmm");
}

#[test]
fn the_fisher_kernel_of_a_profile_is_a_matrix() {
    let family = family();
    let (profile, sequences) = (fit(&family), family.at("some.fa"));
    let gram = |options: &str| {
        let table = printed(&format!("profile gram --model {profile} {sequences} {options}"));
        let rows = table.lines().skip(1).map(|line| {
            line.split(',').skip(2).map(|cell| cell.parse().expect("a number")).collect()
        });
        rows.collect::<Vec<Vec<f64>>>()
    };
    let matrix = gram("");
    assert_eq!((matrix.len(), matrix[0].len(), matrix[0][1] == matrix[1][0]), (2, 2, true));
    // Whitened, features have a mean square of one each.
    let mean = 0.5 * (matrix[0][0] + matrix[1][1]);
    assert!((mean - 14.0 * 9.0).abs() < 0.1, "{mean}");
    assert!(gram("--plain --by-residue")[0][0] > 0.0);
    assert_eq!(gram("--normalise")[1][1], 1.0);
    family.put("odd.fa", ">odd\nAC1\n");
    let told = refused(&format!("profile gram --model {profile} {}", family.at("odd.fa")));
    assert!(told.is("unknown-residue odd.fa 1"), "{told}");
}
