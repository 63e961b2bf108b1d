//! `fishweir network run`.

use crate::shared::data::garden;
use crate::{json, printed};

#[test]
fn costs_are_told_before_and_an_emulated_device_agrees_to_the_last_bit() {
    let garden = garden();
    let [network, train, test, model] =
        ["garden.bif", "train.csv", "test.csv", "class.json"].map(|name| garden.at(name));
    let fit = format!("network fit {train} --class grass --classifier tan -o {model}");
    printed(&fit);
    let info = json(&format!("network info {model} --json"));
    // A table over rain and one over rain and sprinkler, or the other way round, for two classes.
    assert_eq!((&info["push_operations"], &info["state_bytes"]), (&4.into(), &16.into()), "{info}");
    let text = printed(&format!("network info {network}"));
    assert!(text.contains("3 nodes, 3 edges, 7 free parameters"), "{text}");
    // 14 cells and 3 nodes.
    let row = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
    };
    assert_eq!(row("multiply-adds per push"), "18");
    assert_eq!(row("multiply-adds per reading"), "6");
    assert_eq!(row("state, in RAM"), "92 B");
    garden.put("holes.csv", garden.text("test.csv").replace("no,on", "?,on"));
    let holes = garden.at("holes.csv");
    let alarm =
        format!("network run {test} --model {network} --mean-time 200 --memory 30 --limit 40");
    for line in
        [format!("network run {holes} --model {model} --limit 40"), alarm + " --board microbit"]
    {
        let report = json(&format!("{line} --json"));
        assert_eq!((&report["differing_answers"], &report["refused"]), (&0.into(), &0.into()));
        assert_eq!(report["records"], 40, "{report}");
        for name in ["instructions_per_push", "instructions_per_reading", "stack_bytes"] {
            assert!(report[name].as_f64().is_some_and(|count| count > 20.0), "{report}");
        }
        assert!(report["flash_bytes"].as_u64() > report["model_bytes"].as_u64(), "{report}");
    }
}
