//! Trees in the Newick format.

use fishweir::kernel::marginal::{Newick, Substitution};
use fishweir_core::kernel::TreeShape;
use proptest::prelude::*;

fn parsed(text: &str) -> Newick {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_a_text_says() {
    let tree = parsed("\n ( 'Mus musculus':1e-1 , [c:1](b_c:2,'it''s')ab :3)root:4 ;\n");
    assert_eq!(tree.children(), [2, 0, 2, 0, 0]);
    assert_eq!(tree.leaves().collect::<Vec<_>>(), ["Mus musculus", "b_c", "it's"]);
    let lengths: Vec<_> = (0..5).map(|node| tree.length(node)).collect();
    assert_eq!(lengths, [Some(4.0), Some(0.1), Some(3.0), Some(2.0), None]);
    assert_eq!((tree.name(0), tree.name(2)), ("root", "ab"));
    assert_eq!(tree.to_string(), "('Mus musculus':0.1,(b_c:2,'it''s')ab:3)root:4;");
}

#[test]
fn what_is_no_tree_is_refused_where_it_is_wrong() {
    for (text, line, column, says) in [
        ("", 1, 1, "a leaf's name"),
        ("(a,b)", 1, 6, "`;` is missing"),
        ("(a,b;", 1, 6, "`;` before 1 missing `)`"),
        ("(a,b", 1, 5, "`,` or `)` is missing"),
        ("((a,b);", 1, 8, "`;` before 1 missing `)`"),
        ("(a,\n  ,b);", 2, 3, "a leaf's name"),
        ("(a,a);", 1, 4, "the leaf `a` occurs twice"),
        ("(a:-1,b);", 1, 4, "`-1` is not a branch length"),
        ("(a:x,b);", 1, 4, "`x` is not a branch length"),
        ("(a:inf,b);", 1, 4, "`inf` is not a branch length"),
        ("(a:,b);", 1, 4, "`` is not a branch length"),
        ("(a,b));", 1, 7, "`)` closes nothing"),
        ("a,b;", 1, 3, "a tree has one root"),
        ("a;", 1, 1, "a tree needs a root"),
        ("(a,b);(c);", 1, 7, "text after"),
        ("(a,[b);", 1, 4, "the comment is not closed"),
        ("('a,b);", 1, 2, "the quoted name is not closed"),
        ("(a b,c);", 1, 4, "`,` or `)` is missing"),
    ] {
        let error = text.parse::<Newick>().expect_err(text);
        assert!(error.what.contains(says), "{text}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
    }
    let many = format!("({});", (0..70_000).map(|i| i.to_string()).collect::<Vec<_>>().join(","));
    let error = many.parse::<Newick>().expect_err("too many");
    assert!(error.what.contains("65535"), "{error}");
}

/// As deep as the text is long: neither the parser nor the writer recurses.
#[test]
fn deep_trees() {
    const DEEP: usize = 200_000;
    let text = format!("{}a{};", "(".repeat(DEEP), ")".repeat(DEEP));
    let tree = parsed(&text);
    assert_eq!(tree.children().len(), DEEP + 1);
    assert_eq!(tree.to_string(), text);
}

/// The text of a tree that a list of choices describes.
fn grown(choices: &[(u8, Option<f64>)]) -> String {
    let mut rest = choices.iter();
    let mut leaf = 0;
    // `None` closes a node.
    fn grow(
        depth: usize,
        rest: &mut std::slice::Iter<'_, (u8, Option<f64>)>,
        leaf: &mut usize,
        text: &mut String,
    ) {
        let &(children, length) = rest.next().unwrap_or(&(0, None));
        let children = if depth == 0 { children.max(1) } else { children };
        if children == 0 {
            *leaf += 1;
            text.push_str(&format!("'l {leaf}'"));
        } else {
            text.push('(');
            for child in 0..children {
                if child > 0 {
                    text.push(',');
                }
                grow(depth + 1, rest, leaf, text);
            }
            text.push(')');
        }
        if let Some(length) = length {
            text.push_str(&format!(":{length}"));
        }
    }
    let mut text = String::new();
    grow(0, &mut rest, &mut leaf, &mut text);
    text + ";"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is written reads back to the bit, and is a code that the core takes.
    #[test]
    fn trees_round_trip(
        choices in prop::collection::vec((0..4_u8, prop::option::of(0.0..1e9_f64)), 1..60),
    ) {
        let text = grown(&choices);
        let tree = parsed(&text);
        prop_assert_eq!(tree.to_string(), text);
        prop_assert_eq!(&parsed(&tree.to_string()), &tree);
        let shape = TreeShape::new(tree.children()).expect("a code");
        prop_assert_eq!(shape.leaves(), tree.leaves().count());
    }

    /// Along two branches one after the other as along one of their length; and the stationary
    /// distribution stays.
    #[test]
    fn substitutions_are_chains_in_continuous_time(
        gain in 1e-3..5.0_f64, loss in 1e-3..5.0_f64, one in 0.0..4.0_f64, two in 0.0..4.0_f64,
        states in 2_usize..6,
    ) {
        for (substitution, states) in
            [(Substitution::GainLoss { gain, loss }, 2), (Substitution::EqualRates { rate: gain }, states)]
        {
            let [first, second, whole] =
                [one, two, one + two].map(|length| substitution.transition(length, states));
            let stationary = substitution.stationary(states);
            for a in 0..states {
                prop_assert!((whole[a].iter().sum::<f64>() - 1.0).abs() < 1e-14);
                for b in 0..states {
                    let by_way: f64 = (0..states).map(|c| first[a][c] * second[c][b]).sum();
                    prop_assert!((by_way - whole[a][b]).abs() < 1e-14);
                }
                let stays: f64 = (0..states).map(|from| stationary[from] * whole[from][a]).sum();
                prop_assert!((stays - stationary[a]).abs() < 1e-14);
            }
            // A short branch changes as its rates say.
            let short = substitution.transition(1e-9, states);
            let left = match substitution {
                Substitution::GainLoss { .. } => gain,
                Substitution::EqualRates { rate } => rate,
            };
            // By the other entries, for one less the first cancels.
            let leaves: f64 = short[0][1..].iter().sum();
            prop_assert!((leaves / 1e-9 / left - 1.0).abs() < 1e-6);
        }
    }
}
