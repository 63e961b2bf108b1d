//! Files of models.

use std::path::Path;

use fishweir::data::SamplesView;
use fishweir::kernel::marginal::{MarginalError, MarginalModel};

use crate::marginal::all;

/// One of each kernel, under the host's documents.
fn documented(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../host/docs/kernels/{name}.toml"))
}

#[test]
fn the_documented_files_are_models_and_read_back() {
    for name in MarginalModel::NAMES {
        let model = MarginalModel::read(&documented(name)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(model.name(), name);
        assert!(model.kind().is_ok());
        let text = model.to_toml().expect("a file");
        assert_eq!(MarginalModel::parse(name, &text).expect("a model"), model, "{text}");
    }
}

#[test]
fn any_model_reads_back_to_the_bit() {
    for seed in 0..5 {
        for model in all(seed) {
            let text = model.to_toml().expect("a file");
            assert_eq!(MarginalModel::parse("model.toml", &text).expect("a model"), model);
        }
    }
}

/// The names of a string's symbols are those of `leaves`: another order of both is the same kernel.
#[test]
fn leaves_may_come_in_any_order() {
    let text = std::fs::read_to_string(documented("hidden-tree")).expect("a file");
    let named = MarginalModel::parse("a", &text).expect("a model");
    let plain: String = text
        .lines()
        .filter(|line| !line.starts_with("leaves"))
        .fold(String::new(), |text, line| text + line + "\n");
    let plain = MarginalModel::parse("b", &plain).expect("a model");
    let log = |model: &MarginalModel, s: &[u16], t: &[u16]| {
        let [s, t] = [s, t].map(|s| s.iter().map(|&x| Some(x)).collect::<Vec<_>>());
        model.log_kernel(SamplesView::Symbols(&s), SamplesView::Symbols(&t)).expect("a kernel")
    };
    // chimp, fly, human, mouse, worm: and human, chimp, mouse, fly, worm.
    let of_named = log(&named, &[1, 0, 1, 1, 0], &[1, 1, 0, 0, 0]);
    assert_eq!(of_named, log(&plain, &[1, 1, 1, 0, 0], &[0, 1, 0, 1, 0]));
    // The second symbol is the fly's, and the chimp's.
    let second = [0, 1, 0, 0, 0];
    assert_ne!(log(&named, &second, &second), log(&plain, &second, &second));
}

/// By hand: two leaves under a root, one branch long and one of no length at all.
#[test]
fn branch_lengths_make_transitions() {
    let text = r#"
        [hidden-tree]
        alphabet = "binary"
        newick = "(a:1e9,b:0);"
        root = [0.5, 0.5]
        substitution.gain-loss = { gain = 1.0, loss = 3.0 }
    "#;
    let model = MarginalModel::parse("model.toml", text).expect("a model");
    let log = |s: [u16; 2], t: [u16; 2]| {
        let [s, t] = [s, t].map(|s| s.map(Some));
        model.log_kernel(SamplesView::Symbols(&s), SamplesView::Symbols(&t)).expect("a kernel")
    };
    // The long branch has forgotten: 1/4 present. The short one shows the root.
    assert!((log([1, 0], [1, 0]).exp() - 0.5 * 0.25 * 0.25).abs() < 1e-15);
    assert!((log([0, 1], [1, 1]).exp() - 0.5 * 0.75 * 0.25).abs() < 1e-15);
    assert_eq!(log([0, 1], [0, 0]), f64::NEG_INFINITY);
}

#[test]
fn what_is_wrong_is_named() {
    let tree = |more: &str| {
        format!("[hidden-tree]\nalphabet = \"binary\"\nnewick = \"(a:1,b);\"\n{more}\n")
    };
    let pair = |initial: &str, more: &str| {
        format!(
            "[pair-hmm]\nalphabet = \"ab\"\ninitial = {initial}\ntransition = [[1.0]]\n\
             emission = [[0.25, 0.25]]\nempty = [0.5]\n{more}\n"
        )
    };
    let hmm = |emission: &str| {
        format!(
            "[fixed-length]\nalphabet = \"ab\"\nhmm.initial = [1.0]\nhmm.transition = [[1.0]]\n\
             hmm.emission.{emission}\n"
        )
    };
    for (text, says) in [
        (String::new(), "model.toml, line 1, column 1: no kernel"),
        ("[pair-hmm".into(), "model.toml, line 1, column 10"),
        ("[pair]\nx = 1".into(), "line 1, column 2: unknown field `pair`"),
        (
            "[pair-hmm]\nalphabet = \"ab\"\nstart = 1".into(),
            "line 3, column 1: unknown field `start`",
        ),
        ("[hidden-tree]\nalphabet = \"aa\"".into(), "line 2, column 12: alphabet `aa`"),
        (tree("newick_file = 1"), "line 4"),
        (
            tree("").replace("(a:1,b)", "(a:1,a)"),
            "line 3, column 10: tree, line 1, column 6: the leaf `a`",
        ),
        (tree(""), "hidden-tree.transition: give one of"),
        (tree("transition = [[1.0, 0.0], [0.5, 0.5]]"), "hidden-tree.root: is missing"),
        (tree("transition = [[1.0, 0.0]]\nroot = [0.5, 0.5]"), "transition: 1 entries, and 2"),
        (tree("transition = [[1.0, 0.0], [0.5, 0.25]]"), "transition[1]: sums to 0.75"),
        (
            tree("transition = [[1.0, 0.0], [1.5, -0.5]]"),
            "transition[1][0]: 1.5 is not a probability",
        ),
        (tree("substitution.gain-loss = { gain = 1.0, loss = 2.0 }"), "node `b` has no length"),
        (
            tree("substitution.gain-loss = { gain = 1.0, loss = -2.0 }"),
            "gain-loss.loss: -2 is not a rate",
        ),
        (tree("substitution.equal-rates = { rate = 0.0 }"), "equal-rates.rate: 0 is not a rate"),
        (
            tree("transition_of_child = [[[1.0, 0.0], [0.0, 1.0]]]\nroot = [0.5, 0.5]"),
            "transition_of_child: has 1 matrices, and inner node 0 has 2 children",
        ),
        (
            tree(
                "transition = [[1.0, 0.0], [0.0, 1.0]]\nroot = [0.5, 0.5]\nleaves = [\"a\", \"c\"]",
            ),
            "leaves: the tree's leaf `b` is not named",
        ),
        (
            tree(
                "transition = [[1.0, 0.0], [0.0, 1.0]]\nroot = [0.5, 0.5]\nleaves = [\"a\", \"b\", \"c\"]",
            ),
            "leaves: the tree has no leaf `c`",
        ),
        (
            tree(
                "transition = [[1.0, 0.0], [0.0, 1.0]]\nroot = [0.5, 0.5]\nleaves = [\"a\", \"a\"]",
            ),
            "leaves[1]: `a` is named twice",
        ),
        (pair("[1.0]", "end = \"nowhere\""), "line 7"),
        (pair("[1.0]", "end.emitting = 1"), "pair-hmm.end.emitting: there is no state 1"),
        (pair("[0.5]", "end = \"anywhere\""), "pair-hmm.initial: sums to 0.5"),
        (
            pair("[1.0]", "end.silent = { initial = 0.0, state = [0.5] }"),
            "pair-hmm.transition[0]: sums to 1.5 with what belongs to it",
        ),
        (pair("[]", "end = \"anywhere\""), "pair-hmm.initial: 0 states"),
        (
            pair("[1.0]", "end = \"anywhere\"")
                .replace("[[0.25, 0.25]]", "[[0.0, 0.0]]")
                .replace("empty = [0.5]", "empty = [1.0]"),
            "pair-hmm.empty: ",
        ),
        (hmm("categorical.probability = [[1.0]]"), "hmm.emission: has 1 symbols"),
        (hmm("gaussian = { mean = [[0.0]], std = [[1.0]] }"), "hmm.emission: must be categorical"),
        (hmm("categorical.probability = [[0.5, 0.25]]"), "fixed-length.hmm: probability[0]"),
        (
            hmm("categorical.probability = [[0.5, 0.5]]")
                .replace("alphabet = \"ab\"", "alphabet = \"ab\"\nchannels = [\"x\"]"),
            "fixed-length.channels: it cannot be combined with `alphabet`",
        ),
        (
            hmm("categorical.probability = [[0.5, 0.5]]").replace("alphabet = \"ab\"\n", ""),
            "fixed-length.alphabet: is missing",
        ),
        (
            "[hidden-binomial]\nalphabet = \"ab\"".into(),
            "hidden-binomial.shared: either one state for all positions",
        ),
        (
            "[marginalisation]\nalphabet = \"ab\"\nprior = [1.0]\nmodel = []".into(),
            "marginalisation.prior: 1 entries, and 0 are needed",
        ),
    ] {
        let error = MarginalModel::parse("model.toml", &text).expect_err(&text).to_string();
        assert!(error.contains("model.toml"), "{error}");
        assert!(error.contains(says), "{text}\n{error}\nwhere this was to be said: {says}");
    }
    let two = tree("") + &pair("[1.0]", "end = \"anywhere\"");
    let error = MarginalModel::parse("model.toml", &two).expect_err("two");
    assert!(error.to_string().contains("several kernels"), "{error}");
}

#[test]
fn files_that_are_not_there_or_no_text_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.toml");
    assert!(matches!(MarginalModel::read(&path), Err(MarginalError::File(_))));
    std::fs::write(&path, b"[pair-hmm]\nalphabet = \"\xff\"").expect("written");
    let error = MarginalModel::read(&path).expect_err("no text").to_string();
    assert!(error.contains("line 2, column 13: is not UTF-8"), "{error}");
    let model = "[hidden-tree]\nalphabet = \"binary\"\nnewick_file = \"tree.nwk\"\n\
                 substitution.equal-rates = { rate = 1.0 }";
    std::fs::write(&path, model).expect("written");
    let error = MarginalModel::read(&path).expect_err("no tree").to_string();
    assert!(error.contains("tree.nwk"), "{error}");
    std::fs::write(folder.path().join("tree.nwk"), "(a:1,\nb:1").expect("written");
    let error = MarginalModel::read(&path).expect_err("no tree").to_string();
    assert!(error.contains("tree.nwk: tree, line 2, column 4"), "{error}");
    std::fs::write(folder.path().join("tree.nwk"), "(a:1,\nb:1);").expect("written");
    assert!(MarginalModel::read(&path).is_ok());
}
