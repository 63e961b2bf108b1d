//! Kernels between models that files give: `compare`.

use serde_json::Value;

use crate::fixtures::{Folder, QUICK, fixtures};
use crate::gram::csv_matrix;
use crate::{answers, json, printed, refuses};

/// The matrix of a report.
fn matrix(report: &Value) -> Vec<Vec<f64>> {
    let row = |row: &Value| {
        row.as_array().expect("a row").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    report["matrix"].as_array().expect("rows").iter().map(row).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + b.abs())
}

const MACHINES: &str = "\
[calm]
initial = [1.0, 0.0]
transition = [[0.75, 0.25], [0.5, 0.5]]
emission.categorical.probability = [[0.5, 0.5], [0.25, 0.75]]

[wild.hidden_markov]
initial = [0.5, 0.5]
transition = [[0.25, 0.75], [1.0, 0.0]]
emission.categorical.probability = [[1.0, 0.0], [0.125, 0.875]]
";

/// Sum over all strings of two symbols of the product of their probabilities.
#[test]
fn models_by_hand_are_compared_as_they_are_written() {
    let folder = Folder::new();
    let machines = folder.put("machines.toml", MACHINES);
    let report = json(&format!("compare {machines} --steps 1 --logs --json"));
    let p = |s: [usize; 2]| {
        let e = [[0.5, 0.5], [0.25, 0.75]];
        e[0][s[0]] * (0.75 * e[0][s[1]] + 0.25 * e[1][s[1]])
    };
    let q = |s: [usize; 2]| {
        let (e, a) = ([[1.0, 0.0], [0.125, 0.875]], [[0.25, 0.75], [1.0, 0.0]]);
        let at = |i: usize| a[i][0] * e[0][s[1]] + a[i][1] * e[1][s[1]];
        0.5 * (e[0][s[0]] * at(0) + e[1][s[0]] * at(1))
    };
    let strings = [[0, 0], [0, 1], [1, 0], [1, 1]];
    let expected: f64 = strings.iter().map(|&s| p(s) * q(s)).sum();
    let found = matrix(&report);
    assert!(close(found[0][1], expected.ln()), "{found:?}");
    assert_eq!(report["models"], serde_json::json!(["calm", "wild"]));

    // Of one kind each: the closed forms of their kernels.
    for (models, expected) in [
        ("[a.gamma]\nshape = 2\nscale = 1.5\n[b.exponential]\nmean = 3", 8.0 / 9.0),
        ("[a.exponential]\nmean = 1\n[b.exponential]\nmean = 3", f64::sqrt(3.0) / 2.0),
        (
            "[a.linear_network]\nbias = [0.0]\nweights = [[0]]\nvariance = [1.0]\nobserved = [0]\n\
             [b.linear_network]\nbias = [2.0]\nweights = [[0]]\nvariance = [1.0]\nobserved = [0]",
            f64::exp(-1.0),
        ),
    ] {
        let file = folder.put("models.toml", models);
        let found = matrix(&json(&format!("compare {file} --json")));
        assert!(close(found[0][1], expected) && close(found[1][1], 1.0), "{models}: {found:?}");
    }
    let draws = folder.put(
        "draws.json",
        r#"{"a": {"multinomial": {"probability": [0.5, 0.5]}}, "b": {"multinomial": {"probability": [0.25, 0.75]}}}"#,
    );
    let line = format!("compare {draws} --kernel bhattacharyya --steps 3 --logs --json");
    let each = f64::sqrt(0.125) + f64::sqrt(0.375);
    assert!(close(matrix(&json(&line))[0][1], 3.0 * each.ln()));
}

#[test]
fn factorial_models_are_compared_exactly_and_bounded() {
    let folder = Folder::new();
    let model = |p: f64| {
        format!(
            "initial = [[0.5, 0.5], [0.25, 0.75]]\n\
             transition = [[[{p}, {}], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]]]\n\
             mean = [[[0.0], [1.0]], [[0.0], [2.0]]]\ncovariance = [[0.5]]\n",
            1.0 - p
        )
    };
    let models = format!("[a.factorial]\n{}[b.factorial]\n{}", model(0.75), model(0.25));
    let file = folder.put("factorial.toml", models);
    let exact = matrix(&json(&format!("compare {file} --logs --json")));
    let bound = matrix(&json(&format!("compare {file} --logs --mean-field --json")));
    // A quotient of bounds is no cosine.
    assert_eq!(json(&format!("compare {file} --mean-field --json"))["logarithms"], true);
    refuses(&format!("compare {file} --mean-field --kernel mean-map"), "unsupported");
    for (exact, bound) in exact.iter().flatten().zip(bound.iter().flatten()) {
        assert!(bound <= exact, "{bound} above {exact}");
    }
}

#[test]
fn fitted_models_and_networks_are_compared() {
    let folder = Folder::new();
    let (model, output) = (folder.at("m.json"), folder.at("k.csv"));
    let data = fixtures().at("three.csv");
    printed(&format!("fit {data} --window 20 {QUICK} --classifier bayes -o {model}"));
    let report =
        json(&format!("compare {model} --kernel mean-map --lambda 0.5 -o {output} --json"));
    let (names, _, written) = csv_matrix(&output);
    assert_eq!(serde_json::json!(names), report["models"]);
    for (a, b) in written.iter().flatten().zip(matrix(&report).iter().flatten()) {
        assert!(close(*a, *b));
    }
    // One model per lag, of all classes.
    printed(&format!("fit {data} --window 20 {QUICK} --codebooks 0 -o {model}"));
    let report = json(&format!("compare {model} --logs --json"));
    let names: Vec<&str> =
        report["models"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    assert!(names.iter().all(|name| name.starts_with("lag ")), "{names:?}");
    let broken = folder.put("broken.bif", "network n {\n}\nvariable x {\n");
    refuses(&format!("compare {broken}"), "bad-bif");
    // Nodes that both have are shared; the others are summed out.
    let one = folder.put("one.bif", network(0.25, true));
    let other = folder.put("other.bif", network(0.75, false));
    let found = matrix(&json(&format!("compare {one} {other} --logs --json")));
    let (p, q): (f64, f64) = (0.25 * 0.5 + 0.75 * 0.25, 0.75);
    assert!(close(found[0][1], (p * q + (1.0 - p) * (1.0 - q)).ln()), "{found:?}");
    refuses(&format!("compare {one} {other} --observed door,none"), "unknown-column none");
    refuses(&format!("compare {one} {other} --kernel mean-map"), "unsupported");
    refuses(&format!("compare {one} {model}"), "other-kernel");
}

/// A network of a door, with a wind that opens it or alone.
fn network(p: f64, with_wind: bool) -> String {
    let variable =
        |name: &str| format!("variable {name} {{ type discrete [ 2 ] {{ yes, no }}; }}\n");
    let mut text = "network n {\n}\n".to_owned() + &variable("door");
    if with_wind {
        text += &variable("wind");
        text += &format!("probability ( wind ) {{ table {p}, {}; }}\n", 1.0 - p);
        text += "probability ( door | wind ) { (yes) 0.5, 0.5; (no) 0.25, 0.75; }\n";
    } else {
        text += &format!("probability ( door ) {{ table {p}, {}; }}\n", 1.0 - p);
    }
    text
}

#[test]
fn models_that_are_wrong_are_named() {
    let folder = Folder::new();
    let machines = folder.put("machines.toml", MACHINES);
    answers(format!("compare {machines} --lambda 2"), "idle-option --lambda");
    answers(format!("compare {machines} --observed door"), "idle-option --observed");
    refuses(&format!("compare {machines} {machines}"), "repeated-series machines.toml");
    refuses(&format!("compare {machines} --rho 0"), "bad-setting rho");
    for (text, expected) in [
        ("[a]\ninitial = [0.5, 0.5]\ntransition = [[1.0]]\n", "bad-syntax a"),
        ("[a\n", "bad-syntax"),
        ("[{\"initial\": [1.0]}]", "bad-syntax list"),
        ("[a.gamma]\nshape = -1\nscale = 2\n", "bad-models shape"),
        ("a = 3\n[b]\n", "bad-syntax a"),
        ("[a.gama]\nshape = 1\n", "bad-syntax gama linear_system multinomial"),
        ("[a]\ninitial = [nan]\ntransition = [[1.0]]\n", "not-finite a"),
        ("[a.exponential]\nmean = -1\n", "out-of-range mean"),
        (
            "[a.gamma]\nshape = 1e300\nscale = 1\n[b.gamma]\nshape = 1\nscale = 1e300\n",
            "kernel-out-of-range a b",
        ),
        (
            "[a]\ninitial = [0.5, 0.25]\ntransition = [[1.0, 0.0], [0.0, 1.0]]\nemission.categorical.probability = [[1.0], [1.0]]\n",
            "not-a-distribution initial",
        ),
    ] {
        let file = folder.put("wrong.toml", text);
        refuses(&format!("compare {file}"), expected);
    }
}
