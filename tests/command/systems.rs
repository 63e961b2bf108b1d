//! Linear dynamical systems, one a class: judged, priced and exported like a classifier.

use crate::fixtures::{Folder, fixtures};
use crate::{json, printed, refused, refuses};

#[test]
fn systems_one_a_class_decide() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (models, source, apart) = (at("lds.json"), at("lds.rs"), at("items.json"));
    let data = fixtures().at("three.csv");
    let lds = "--family lds --states 2 --iterations 10";
    printed(&format!("fit {data} {lds} -o {models}"));

    let info = json(&format!("info {models} --json"));
    assert_eq!((&info["form"], &info["classifier"]), (&"models".into(), &"bayes".into()));
    assert!(info["emission"].is_null(), "{info}");
    // The channels' mean is a number of the state.
    assert_eq!(
        (&info["states"], &info["models"], &info["outputs"]),
        (&3.into(), &3.into(), &3.into())
    );
    assert!(info["multiply_adds_per_sample"].as_u64().expect("a number") > 3 * 2 * 27);
    let text = printed(&format!("info {models}"));
    for part in
        ["log-likelihoods, by the Kalman filter", "linear dynamical systems are exported as Rust"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let judged = json(&format!("evaluate {data} --model {models} --json"));
    assert!(judged["accuracy"].as_f64().expect("a share") > 0.6, "{judged}");
    printed(&format!("predict {data} --model {models}"));
    printed(&format!("export {models} --rust {source}"));
    let text = std::fs::read_to_string(&source).expect("a source");
    assert!(text.contains(": Model = StreamClassifier::from_parts("), "{text}");
    for line in [
        format!("export {models} --artefact {}", at("lds.fishweir")),
        format!("run {data} --model {models} --artefact"),
    ] {
        let message = refused(&line);
        assert!(message.is("unsupported"), "{message}");
        assert_eq!(message.names("--rust"), line.starts_with("export"), "{message}");
    }
    let line = format!("export {models} --number q15 --rust {source}");
    refuses(&line, "needs-classifier");

    // Windows as they were fitted on, unless others are asked for.
    let windows = at("windows.json");
    printed(&format!("fit {data} {lds} --window 20 --hop 20 -o {windows}"));
    let rows =
        |more: &str| printed(&format!("predict {data} --model {windows} {more}")).lines().count();
    assert_eq!(rows(""), rows("--window 20 --hop 20"));
    assert!(rows("") > rows("--window 40 --hop 40"));
    let info = json(&format!("info {windows} --json"));
    assert_eq!(info["provenance"]["windowing"]["length"], 20);

    printed(&format!("fit {data} {lds} --model-per all -o {apart}"));
    refuses(&format!("info {apart}"), "bad-models");
    let kde = at("kde.json");
    printed(&format!("fit {data} --family kde -o {kde}"));
    refuses(&format!("info {kde}"), "bad-models");
    let matrix = at("k.csv");
    let report = printed(&format!(
        "gram {data} --kernel mean-map --family kde --window 20 --hop 20 --normalise -o {matrix}"
    ));
    assert!(report.contains("a kernel density estimate"), "{report}");

    let switching = "--components 2 --states 2 --iterations 5";
    let path = at("modes.json");
    printed(&format!("fit {data} --family switching {switching} -o {path}"));
    let line = format!("gram {data} --kernel ppk --family switching {switching} --steps 4");
    let report = printed(&format!("{line} --window 40 --normalise -o {matrix}"));
    assert!(report.contains("a switching linear dynamical system an item"), "{report}");
    let line = format!("gram {data} --kernel practical --family switching -o {matrix}");
    refuses(&line, "unsupported");
}
