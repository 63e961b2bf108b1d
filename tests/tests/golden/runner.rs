//! The golden runner itself: that it can fail, and at what.

use std::collections::BTreeMap;

use fishweir_tests::golden::{Precision, check_directory, check_text};
use fishweir_tests::oracle::{Law, LogDomain, Model, Observation, Sequence};
use fishweir_tests::sample::{Sampler, Topology};
use serde_json::{Value, json};

const INFERENCE: &str = include_str!("../../golden/06_hmm_inference.json");

const FILES: [&str; 32] = [
    include_str!("../../golden/01_marginalisation_kernel.json"),
    include_str!("../../golden/02_hidden_binomial.json"),
    include_str!("../../golden/03_fixed_length_hmm_kernel.json"),
    include_str!("../../golden/04_pair_hmm_kernel.json"),
    include_str!("../../golden/05_hidden_tree_kernel.json"),
    INFERENCE,
    include_str!("../../golden/07_hmm_fisher_scores.json"),
    include_str!("../../golden/08_fisher_kernels.json"),
    include_str!("../../golden/09_hmm_directional_derivative.json"),
    include_str!("../../golden/10_gaussian_fisher.json"),
    include_str!("../../golden/11_markov_strings.json"),
    include_str!("../../golden/12_independent_positions.json"),
    include_str!("../../golden/13_generative_mmk.json"),
    include_str!("../../golden/14_empirical_latent_mmk.json"),
    include_str!("../../golden/15a_ppk_exponential_family.json"),
    include_str!("../../golden/15b_ppk_latent.json"),
    include_str!("../../golden/15c_ppk_linear_gaussian.json"),
    include_str!("../../golden/15d_ppk_bayes_net.json"),
    include_str!("../../golden/15e_ppk_factorial_switching.json"),
    include_str!("../../golden/16_marginalised_count_kernel.json"),
    include_str!("../../golden/17_bayes_net_fisher.json"),
    include_str!("../../golden/18_kernel_logistic_regression.json"),
    include_str!("../../golden/19_baum_welch.json"),
    include_str!("../../golden/20_online_statistics.json"),
    include_str!("../../golden/21_multinomial_geometry_symmetric_kl.json"),
    include_str!("../../golden/22_missing_channels.json"),
    include_str!("../../golden/23_final_state.json"),
    include_str!("../../golden/24_explicit_duration.json"),
    include_str!("../../golden/25_label_latent_fisher.json"),
    include_str!("../../golden/26_ppk_markov_chain.json"),
    include_str!("../../golden/27_context_tree_weighting.json"),
    include_str!("../../golden/28_windowed_decisions.json"),
];

/// One file of one case, changed.
fn failures_of(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut file: Value = serde_json::from_str(INFERENCE).expect("a golden file");
    let second = file["cases"][1].clone();
    file["cases"] = json!([second]);
    change(&mut file);
    check_text("changed", &file.to_string(), Precision::Double).failures
}

fn case(file: &mut Value) -> &mut Value {
    &mut file["cases"][0]
}

#[test]
fn unchanged_it_passes() {
    assert_eq!(failures_of(|_| ()), Vec::<String>::new());
}

/// Where the numbers, infinities and undefined values of a case's expectation are.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                leaves(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(key, _)| *key != "emission_type") {
                leaves(value, &format!("{at}/{key}"), found);
            }
        }
        _ => found.push(at.to_owned()),
    }
}

/// A value that differs from the one expected by a given step, or in kind.
fn moved(value: &Value, step: impl Fn(f64) -> f64) -> Value {
    match value.as_f64() {
        Some(number) if value.is_u64() => json!(number as u64 + 1),
        Some(number) => json!(number + step(number)),
        None if value.is_null() => json!(0.25),
        None => json!(-1e3),
    }
}

/// Values a case expects, at the most. Longer ones are left out unless a file has no shorter one.
const MOST: usize = 90;

/// Values changed of one field of a case: a field's numbers are compared by one loop.
const OF_A_FIELD: usize = 4;

/// Some values of every field, evenly spread, in groups with one of each field at the most. Fields that differ by an
/// index alone are one.
fn spread(found: Vec<String>) -> [Vec<String>; OF_A_FIELD] {
    let mut fields = BTreeMap::<String, Vec<String>>::new();
    for pointer in found {
        let named = |part: &&str| part.parse::<usize>().is_err();
        let field = pointer.split('/').filter(named).collect();
        fields.entry(field).or_default().push(pointer);
    }
    let mut groups = [const { Vec::new() }; OF_A_FIELD];
    for values in fields.into_values() {
        let stride = values.len().div_ceil(OF_A_FIELD);
        for (group, value) in groups.iter_mut().zip(values.into_iter().step_by(stride)) {
            group.push(value);
        }
    }
    groups
}

/// A pointer as failures write it: `emission[0].mean[1]`.
fn path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        match (part.parse::<usize>(), path.is_empty()) {
            (Ok(_), _) => path += &format!("[{part}]"),
            (Err(_), true) => path += part,
            (Err(_), false) => path += &format!(".{part}"),
        }
    }
    path
}

/// Changes values of every field that the short cases of a file expect, and says how many there were and which
/// changes went unnoticed. `step` moves a number, given it and the case's tolerances.
///
/// Fields are changed side by side; what no failure names then is changed once more, alone.
fn unnoticed(
    text: &str,
    precision: Precision,
    step: impl Fn(f64, f64, f64) -> f64,
) -> (usize, Vec<String>) {
    let file: Value = serde_json::from_str(text).expect("a golden file");
    let (mut changes, mut missed) = (0, Vec::new());
    let cases = file["cases"].as_array().expect("cases");
    let all = |case: &Value| {
        let mut found = Vec::new();
        leaves(&case["expected"], "", &mut found);
        found
    };
    let thin = cases.iter().all(|case| all(case).len() > MOST);
    for case in cases {
        let mut found = all(case);
        // What is computed over thousands of steps says nothing here that few do not.
        let long = case["name"].as_str().is_some_and(|name| name.contains("long"));
        if (found.len() > MOST && !thin) || case["inputs"].to_string().len() > 3000 || long {
            continue;
        }
        let tolerance = |name: &str| case[name].as_f64().expect("a number");
        let (rtol, atol) = (tolerance("rtol"), tolerance("atol"));
        let failures = |pointers: &[String]| {
            let mut case = case.clone();
            for pointer in pointers {
                // What the file asks of a condition number, whatever its case does.
                let rtol = if pointer.contains("condition_number") { 1e-2 } else { rtol };
                let value = case["expected"].pointer_mut(pointer).expect("a value");
                *value = moved(value, |number| step(number, rtol, atol));
            }
            let changed = json!({
                "system": file["system"], "source": "", "definition": "", "cases": [case],
            });
            check_text("changed", &changed.to_string(), precision).failures
        };
        // A trap that has moved is none, and what is for information is not compared.
        found.retain(|at| !at.starts_with("/wrong_") && !at.starts_with("/info_"));
        for group in spread(found) {
            changes += group.len();
            let noticed = failures(&group);
            let unnamed = group.into_iter().filter(|pointer| {
                let failure = format!(": {}: expected ", path(pointer));
                !noticed.iter().any(|noticed| noticed.contains(&failure))
            });
            let unseen =
                unnamed.filter(|pointer| failures(std::slice::from_ref(pointer)).is_empty());
            missed.extend(unseen.map(|pointer| format!("{} {pointer}", case["name"])));
        }
    }
    (changes, missed)
}

#[test]
fn every_field_moved_by_ten_tolerances_fails() {
    for text in FILES {
        let step =
            |number: f64, rtol: f64, atol: f64| 10.0 * (atol.max(1e-11) + rtol * number.abs());
        let (changes, missed) = unnoticed(text, Precision::Double, step);
        assert!(changes > 20, "{changes} values changed");
        assert_eq!(missed, Vec::<String>::new());
    }
}

/// The tolerance derived for `f32` is no blank cheque: an error of one in a hundred is noticed, but
/// where the bound goes with the condition of a full covariance matrix, with how far steps of a fit
/// lead apart, with counts of thousands (the logarithm of one is the small difference of far larger
/// numbers), or with rates of a transition that is next to impossible.
#[test]
fn single_precision_is_held_to_account() {
    for text in FILES {
        // The vectors may themselves ask for no more than one in a hundred.
        let step =
            |number: f64, rtol: f64, _: f64| 1e-2 * (1.0 + number.abs()) + rtol * number.abs();
        let (changes, mut missed) = unnoticed(text, Precision::Single, step);
        assert!(changes > 20, "{changes} values changed");
        let loose = [
            "_full",
            "full_nearly_singular",
            "after_five_steps",
            "log_likelihood_trace",
            "poisson_large_and_small_rates",
            "channel_never_observed",
        ];
        missed.retain(|at| !loose.iter().any(|name| at.contains(name)));
        assert_eq!(missed, Vec::<String>::new());
    }
}

fn hmm_of(model: &Model) -> Value {
    let mut hmm = json!({"initial": model.initial, "transition": model.transition});
    let mut put = |kind: &str, fields: [(&str, Vec<Value>); 3]| {
        hmm["emission_type"] = json!(kind);
        for (name, values) in fields.into_iter().filter(|(name, _)| !name.is_empty()) {
            hmm[name] = json!(values);
        }
    };
    let of = |pick: &dyn Fn(&Law) -> Value| model.emission.iter().map(pick).collect::<Vec<_>>();
    let none = || ("", vec![]);
    match &model.emission[0] {
        Law::Categorical(_) => {
            let rows = of(&|law| if let Law::Categorical(p) = law { json!(p) } else { json!(0) });
            put("categorical", [("emission", rows), none(), none()]);
        }
        Law::Gaussian { .. } => {
            put("gaussian_diag", [("means", of(&mean)), ("variances", of(&width)), none()])
        }
        Law::FullGaussian { .. } => {
            put("gaussian_full", [("means", of(&mean)), ("covariances", of(&width)), none()])
        }
        _ => {
            let weights = of(&|law| {
                if let Law::Mixture { weight, .. } = law { json!(weight) } else { json!(0) }
            });
            let parts = |pick: fn(&Law) -> Value| {
                of(&move |law| match law {
                    Law::Mixture { component, .. } => component.iter().map(pick).collect(),
                    _ => json!(0),
                })
            };
            put(
                "gmm_full",
                [("weights", weights), ("means", parts(mean)), ("covariances", parts(width))],
            );
        }
    }
    hmm
}

fn mean(law: &Law) -> Value {
    match law {
        Law::Gaussian { mean, .. } | Law::FullGaussian { mean, .. } => json!(mean),
        _ => Value::Null,
    }
}

fn width(law: &Law) -> Value {
    match law {
        Law::Gaussian { variance, .. } => json!(variance),
        Law::FullGaussian { covariance, .. } => json!(covariance),
        _ => Value::Null,
    }
}

fn sequence_of(sequence: &Sequence) -> Value {
    let value = |x: &Option<Observation>| match x {
        None => Value::Null,
        Some(Observation::Symbol(symbol)) => json!(symbol),
        Some(Observation::Channels(channels)) => json!(channels),
    };
    sequence.iter().map(value).collect()
}

/// Models of the largest sizes that are compiled, and of sizes in between, with the log-domain
/// oracle's answers, go through every kind of arithmetic that needs room.
#[test]
fn the_largest_sizes_are_compiled() {
    let mut s = Sampler::new(16);
    let models = [
        s.categorical(Topology::Ergodic, 16, 16),
        s.categorical(Topology::LeftToRight, 7, 9),
        s.model(Topology::Ergodic, 16, |s| s.gaussian_law(8, 2.0)),
        s.model(Topology::Sparse, 5, |s| s.full_gaussian_law(5)),
        s.model(Topology::Ergodic, 16, |s| s.full_gaussian_law(8)),
        s.model(Topology::Ergodic, 16, |s| s.mixture_law(4, |s| s.full_gaussian_law(8))),
    ];
    for model in &models {
        let sequence = s.sequence(model, 6, 0.2);
        let slow = LogDomain::of(model, &sequence);
        let (path, log) = slow.viterbi().expect("possible");
        let filter: Vec<_> = (0..sequence.len()).map(|t| slow.filtered(t)).collect();
        let posterior = slow.posterior().expect("possible");
        let occupancy: Vec<f64> =
            (0..model.states()).map(|i| posterior.iter().map(|row| row[i]).sum()).collect();
        let (hmm, sequence) = (hmm_of(model), sequence_of(&sequence));
        let inference = json!({
            "log_likelihood": slow.log_likelihood(),
            "prefix_log_likelihood": slow.prefix_log_likelihood(),
            "filter": filter, "gamma": posterior, "xi_sum": slow.pairs(), "gamma_sum": occupancy,
            "viterbi_path": path, "viterbi_log_prob": log,
        });
        let statistics = json!({
            "final": {"transition_counts": slow.pairs(), "occupancy": occupancy},
        });
        let scores = json!({"log_likelihood": slow.log_likelihood()});
        let plain = json!({"hmm": hmm, "sequence": sequence});
        let with_memory = json!({"hmm": hmm, "sequence": sequence, "lambda": 1.0});
        let kinds = [
            ("06_hmm_inference", &plain, inference),
            ("07_hmm_fisher_scores", &plain, scores),
            ("20_online_statistics", &with_memory, statistics),
        ];
        for (system, inputs, expected) in kinds {
            let case = json!({
                "name": "large", "inputs": inputs, "expected": expected,
                "rtol": 1e-9, "atol": 1e-11,
            });
            let file = json!({"system": system, "source": "", "definition": "", "cases": [case]});
            for precision in [Precision::Double, Precision::Single] {
                let report = check_text("large", &file.to_string(), precision);
                assert_eq!(report.failures, Vec::<String>::new(), "{system} {precision:?}");
            }
        }
    }
}

#[test]
fn what_it_does_not_know_fails() {
    let unknown = [
        failures_of(|file| file["system"] = json!("99_something_else")),
        failures_of(|file| file["extra"] = json!(1)),
        failures_of(|file| file["cases"] = json!([])),
        failures_of(|file| case(file)["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["hmm"]["extra"] = json!(1)),
        failures_of(|file| case(file)["inputs"]["hmm"]["emission_type"] = json!("cauchy")),
        failures_of(|file| case(file)["expected"]["extra"] = json!(1)),
        failures_of(|file| case(file)["expected"] = json!({})),
        failures_of(|file| case(file)["expected"] = json!({"info_only": 1})),
        failures_of(|file| case(file)["rtol"] = json!(-1.0)),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = json!("NaN")),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = Value::Null),
        failures_of(|file| case(file)["expected"]["log_likelihood"] = json!("-inf")),
        failures_of(|file| case(file)["expected"]["gamma"] = Value::Null),
        failures_of(|file| case(file)["expected"]["gamma"][0] = json!([0.5])),
        failures_of(|file| case(file)["expected"]["filter_at"] = json!([[0.5, 0.5]])),
    ];
    for (index, failures) in unknown.iter().enumerate() {
        assert_eq!(failures.len(), 1, "change {index}: {failures:?}");
    }
    let not_json = check_text("text", "not json", Precision::Double);
    assert_eq!(not_json.failures.len(), 1);
}

#[test]
fn a_model_past_the_compiled_sizes_is_named() {
    let failures = failures_of(|file| {
        let states = 17;
        let uniform = vec![1.0 / f64::from(states); states as usize];
        let rows = vec![uniform.clone(); states as usize];
        let hmm = &mut case(file)["inputs"]["hmm"];
        hmm["initial"] = json!(uniform);
        hmm["transition"] = json!(rows);
        hmm["emission"] = json!(vec![[0.5, 0.5]; states as usize]);
    });
    assert!(failures[0].contains("17 states"), "{failures:?}");
}

#[test]
fn a_trap_catches_the_wrong_value_and_spares_the_right() {
    let wrong_value = |file: &mut Value| {
        let value = case(file)["expected"]["log_likelihood"].clone();
        case(file)["expected"]["wrong_log_likelihood"] = value;
    };
    assert_eq!(failures_of(wrong_value).len(), 1);
    let another = |file: &mut Value| {
        case(file)["expected"]["wrong_log_likelihood"] = json!(-1.0);
        case(file)["expected"]["info_anything"] = json!("for the reader");
    };
    assert_eq!(failures_of(another), Vec::<String>::new());
}

#[test]
fn impossible_sequences_must_be_reported_as_such() {
    let mut file: Value = serde_json::from_str(INFERENCE).expect("a golden file");
    let cases = file["cases"].as_array_mut().expect("cases");
    cases.retain(|case| case["name"] == "cat_zero_at_end");
    let check = |change: fn(&mut Value)| {
        let mut changed = file.clone();
        change(&mut changed["cases"][0]["expected"]);
        check_text("changed", &changed.to_string(), Precision::Double).failures.len()
    };
    assert_eq!(check(|_| ()), 0);
    assert_eq!(check(|expected| expected["log_likelihood"] = json!(-1e300)), 1);
    assert_eq!(check(|expected| expected["gamma"] = json!([[0.5, 0.5]])), 1);
    assert_eq!(check(|expected| expected["filter"][3] = json!([0.5, 0.5])), 1);
    assert_eq!(check(|expected| expected["log_c"][3] = Value::Null), 1);
}

#[test]
fn directories_without_vectors_or_with_strangers_fail() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(check_directory(directory.path(), Precision::Double).is_err());
    std::fs::write(directory.path().join("README.md"), "prose").expect("written");
    assert!(check_directory(directory.path(), Precision::Double).is_err());
    std::fs::write(directory.path().join("stranger.txt"), "no vectors").expect("written");
    let reports = check_directory(directory.path(), Precision::Double).expect("reports");
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].failures.len(), 1);
    assert!(check_directory(&directory.path().join("absent"), Precision::Double).is_err());
}
