//! `fishweir info`.

use fishweir::project::{PROJECT_BOARDS, ProjectBoard};

use crate::fixtures::fixtures;
use crate::{json, printed, refuses};

#[test]
fn a_model_and_its_artefact_cost_the_same() {
    for name in ["two", "three", "bayes", "strings"] {
        let info = |ending: &str| {
            let file = fixtures().at(format!("{name}.{ending}"));
            json(&format!("info {file} --json"))
        };
        let (model, artefact) = (info("json"), info("fishweir"));
        for key in [
            "classifier",
            "routes",
            "classes",
            "channels",
            "symbols",
            "models",
            "states",
            "outputs",
            "directions",
            "normalisation",
            "state_bytes",
            "model_bytes",
            "multiply_adds_per_sample",
            "exponentials_per_sample",
            "artefact_bytes",
        ] {
            assert_eq!(model[key], artefact[key], "{name}: {key}");
        }
        let file = std::fs::metadata(fixtures().at(format!("{name}.fishweir"))).expect("there");
        assert_eq!(model["artefact_bytes"], file.len());
        assert_eq!(artefact["file_bytes"], file.len());
        assert!(model["provenance"].is_object() && artefact["provenance"].is_null());
    }
}

#[test]
fn costs_follow_from_the_shape() {
    let info = |name: &str| json(&format!("info {} --json", fixtures().at(name)));
    // Three models of two states over two channels, three directions: M (1+2C)(N^2+N) + M N D (2+2C); two windows of 20 are
    // open at a time, a new one every 10.
    let three = info("three.json");
    assert_eq!(three["multiply_adds_per_sample"], 2 * 3 * (7 * 6 + 2 * 2 * 8));
    assert_eq!(three["exponentials_per_sample"], 2 * 3 * 2);
    assert_eq!(three["contract"]["windows"]["states"], 2);
    assert_eq!(three["directions"], 3);
    // Symbols need no exponential.
    assert_eq!(info("strings.json")["exponentials_per_sample"], 0);
    assert_eq!(info("bayes.json")["directions"], 0);
}

#[test]
fn people_are_told_what_it_is_and_what_it_costs() {
    let text = printed(&format!("info {}", fixtures().at("two.json")));
    for part in [
        "fisher",
        "compiled directions (taken)",
        "no training window on the device",
        "moving, still",
        "(x, y)",
        "flash",
        "RAM",
        "multiply-adds",
        "two.csv",
    ] {
        assert!(text.contains(part), "no {part} in:\n{text}");
    }
}

#[test]
fn whether_it_keeps_up_is_told_from_the_least_to_the_most() {
    let model = fixtures().at("three.json");
    refuses(
        &format!("info {model} --rate 50 --clock 16 --current 4 --sleep 5"),
        "sleep-above-current --sleep",
    );
    let line = format!("info {model} --rate 20 --clock 16 --current 4 --sleep 0.01");
    let pace = json(&format!("{line} --json"))["pace"].clone();
    let cores = pace["cores"].as_array().expect("a list").clone();
    assert_eq!(cores.len(), 5);
    for core in &cores {
        let pair = |key: &str| [0, 1].map(|end| core[key][end].as_f64().expect("a number"));
        let ([few, many], [idle, busy]) = (pair("instructions"), pair("busy"));
        assert!(few < many && idle < busy, "{core}");
        assert!((busy - 2.0 * many * 20.0 / 16e6).abs() < 1e-12, "{core}");
        let [least, most] = pair("charge");
        assert!(24.0 * 0.01 <= least && least < most && most <= 24.0 * 4.0, "{core}");
    }
    let said = printed(&line);
    assert!(said.contains("Cortex-M4F") && said.contains("mAh a day"), "{said}");
    let slow = printed(&format!("info {model} --rate 100000 --clock 1"));
    // In fixed point too where there is no unit for floats.
    assert_eq!(slow.lines().filter(|line| line.ends_with(" no")).count(), 5 + 3, "{slow}");
    refuses(&format!("info {model} --rate 50 --current 4"), "missing-required-argument --clock");
    refuses(&format!("info {model} --clock 16"), "missing-option --rate");
    refuses(&format!("info {model} --rate 50 --clock 0"), "invalid-value 0 --clock");
    for rate in ["1e-7", "100001"] {
        let told = "invalid-value 0.0000116 --rate";
        refuses(&format!("info {model} --rate {rate}"), told);
    }
}

#[test]
fn fixed_point_keeps_up_where_floats_in_software_do_not() {
    let model = fixtures().at("three.json");
    let line = format!("info {model} --rate 200 --clock 16 --json");
    let pace = json(&line)["pace"].clone();
    let busy = |format: &str, core: usize, end: usize| {
        let one = &pace[format][core];
        assert_eq!(one["number"], if format == "cores" { "f32" } else { "q15" });
        one["busy"][end].as_f64().expect("a number")
    };
    for core in 0..5 {
        // The decision is read in floats, so that the most of fixed point is of both.
        assert!(busy("fixed_point", core, 0) < busy("fixed_point", core, 1), "{pace}");
        let soft = pace["cores"][core]["core"].as_str().is_some_and(|name| name != "Cortex-M4F");
        if soft && pace["cores"][core]["core"] != "Cortex-M33" {
            assert!(8.0 * busy("fixed_point", core, 0) < busy("cores", core, 0), "{pace}");
        }
    }
    let said = printed(&format!("info {model} --rate 200 --clock 16"));
    let q15 = |core: &str| said.lines().any(|line| line.contains(core) && line.contains(" q15 "));
    assert!(q15("Cortex-M0") && q15("Cortex-M3") && q15("RV32IMAC"), "{said}");
    assert!(!q15("Cortex-M4F") && !q15("Cortex-M33"), "{said}");
    // An artefact has no fixed point to be asked for.
    let artefact = fixtures().at("three.fishweir");
    let pace = json(&format!("info {artefact} --rate 200 --clock 16 --json"))["pace"].clone();
    assert!(pace["cores"].is_array() && pace["fixed_point"].is_null(), "{pace}");
}

#[test]
fn every_board_is_told_of_room_time_and_battery() {
    let model = fixtures().at("three.json");
    let told = json(&format!("info {model} --rate 20 --json"));
    let boards = told["boards"].as_array().expect("a list");
    assert_eq!(boards.len(), 2 * PROJECT_BOARDS.len());
    for one in boards {
        for (takes, there) in [("ram", "ram_there"), ("flash", "flash_there")] {
            let pair = [0, 1].map(|end| one[takes][end].as_u64().expect("a number"));
            assert!(pair[0] < pair[1] && one[there].as_u64() > Some(0), "{one}");
        }
        let state = &told[if one["number"] == "f32" { "state_bytes" } else { "fixed_point" }];
        let state = state["state_bytes"].as_u64().or_else(|| state.as_u64()).expect("a number");
        assert!(one["ram"][0].as_u64() > Some(2 * state), "{one}");
        // What a day takes is told where a maker's figure is, within what that part draws.
        let (power, charge) = (&one["power"], &one["pace"]["charge"]);
        assert_eq!(power.is_null(), charge.is_null(), "{one}");
        if let Some(most) = charge[1].as_f64() {
            let run = power["currents"]["run"][1].as_f64().expect("a number");
            assert!(charge[0].as_f64() < Some(most) && most < 24.0 * run, "{one}");
            assert!(power["source"].as_str().is_some_and(|source| source.contains("table")));
        }
    }
    let drawn = |board: &str| {
        let of = boards.iter().filter(|one| one["board"] == board);
        of.clone().count() == 2 && of.into_iter().all(|one| one["power"].is_object())
    };
    let none = ["riscv-virt", "rp2040-pico", "nucleo-f446re", "nucleo-g071rb", "esp32c6"];
    for ProjectBoard { name, .. } in PROJECT_BOARDS.iter() {
        assert_eq!(drawn(name), !none.contains(name), "{name}");
    }
    let brief = printed(&format!("info {model} --rate 20"));
    assert!(!brief.contains("mA running") && brief.contains("the makers' figures"), "{brief}");
    let said = printed(&format!("info {model} --rate 20 --verbose"));
    // Two boards have this part.
    assert_eq!(said.matches("\n  nRF52840: 3.30 to 6.30 mA running").count(), 1, "{said}");
    for part in
        ["in f32: ", "in fixed point: ", "ESP32-C3 Series Datasheet", "no figure at that clock"]
    {
        assert!(said.contains(part), "no {part} in:\n{said}");
    }
    // Without a rate it is room alone.
    let said = printed(&format!("info {model}"));
    assert!(said.contains("in f32: ") && !said.contains("keeps up"), "{said}");
}
