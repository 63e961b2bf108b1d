//! Linear dynamical systems, one a class: judged, priced and exported like a classifier.

use crate::fixtures::fixtures;
use crate::{fishweir, json, printed, refused};

#[test]
fn systems_one_a_class_decide() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (models, source, apart) = (at("lds.json"), at("lds.rs"), at("items.json"));
    let data = fixtures().at("three.csv");
    let lds = "--model lds --states 2 --iterations 10";
    printed(&mut fishweir(&format!("fit {data} {lds} -o {models}")));

    let info = json(&mut fishweir(&format!("info {models} --json")));
    assert_eq!((&info["form"], &info["classifier"]), (&"models".into(), &"bayes".into()));
    // The channels' mean is a number of the state.
    assert_eq!(
        (&info["states"], &info["models"], &info["outputs"]),
        (&3.into(), &3.into(), &3.into())
    );
    assert!(info["multiply_adds_per_sample"].as_u64().expect("a number") > 3 * 2 * 27);
    let text = printed(&mut fishweir(&format!("info {models}")));
    for part in
        ["log-likelihoods, by the Kalman filter", "linear dynamical systems are exported as Rust"]
    {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
    let judged = json(&mut fishweir(&format!("evaluate {data} --model {models} --json")));
    assert!(judged["accuracy"].as_f64().expect("a share") > 0.6, "{judged}");
    printed(&mut fishweir(&format!("score {data} --model {models}")));
    printed(&mut fishweir(&format!("export {models} --rust {source}")));
    let text = std::fs::read_to_string(&source).expect("a source");
    assert!(text.contains(": Model = StreamClassifier::new("), "{text}");

    printed(&mut fishweir(&format!("fit {data} {lds} --model-per all -o {apart}")));
    let message = refused(&mut fishweir(&format!("info {apart}")), 2);
    assert!(message.contains("of no class"), "{message}");
    let kde = at("kde.json");
    printed(&mut fishweir(&format!("fit {data} --model kde -o {kde}")));
    let message = refused(&mut fishweir(&format!("info {kde}")), 2);
    assert!(message.contains("is a kernel density estimate"), "{message}");
    let matrix = at("k.csv");
    let report = printed(&mut fishweir(&format!(
        "gram {data} --kernel mean-map --family kde --window 20 --hop 20 --normalise -o {matrix}"
    )));
    assert!(report.contains("a kernel density estimate"), "{report}");

    let switching = "--components 2 --states 2 --iterations 5";
    let path = at("modes.json");
    printed(&mut fishweir(&format!("fit {data} --model switching {switching} -o {path}")));
    let line = format!("gram {data} --kernel ppk --family switching {switching} --steps 4");
    let report = printed(&mut fishweir(&format!("{line} --window 40 --normalise -o {matrix}")));
    assert!(report.contains("a switching linear dynamical system an item"), "{report}");
    let line = format!("gram {data} --kernel practical --family switching -o {matrix}");
    let message = refused(&mut fishweir(&line), 2);
    assert!(message.contains("systems that switch have none"), "{message}");
}
