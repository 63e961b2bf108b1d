//! Data under other conditions than a model's training: another rate, another unit, another scale.

use std::fs;

use crate::fixtures::Folder;
use crate::{Told, as_json, fishweir, json, notes, printed, refuses};

/// Sines of two frequencies in hertz, ten seconds each at a rate, in some unit; a header for time and channel.
fn waves(rate: f64, [time, channel]: [&str; 2], [of_time, factor]: [f64; 2]) -> String {
    let mut table = format!("series,label,{time},{channel}\n");
    for series in 0..8_i32 {
        let (label, hertz) = [("slow", 1.0), ("fast", 2.0)][series as usize % 2];
        for t in 0..(4.0 * rate) as i32 {
            let seconds = f64::from(t) / rate;
            let noise = f64::from((t * 7 + series * 3) % 11 - 5) * 0.02;
            let x = (std::f64::consts::TAU * hertz * seconds + f64::from(series)).sin() + noise;
            table += &format!("{series},{label},{:.6},{:.4}\n", seconds * of_time, factor * x);
        }
    }
    table
}

const SECONDS: [f64; 2] = [1.0, 1.0];

fn of_waves(folder: &Folder) -> String {
    let (data, model) =
        (folder.put("w50.csv", waves(50.0, ["t", "ax [g]"], SECONDS)), folder.at("w.json"));
    printed(&format!("fit {data} -o {model} --classifier fisher --states 2"));
    model
}

fn accuracy(line: &str) -> f64 {
    json(line)["accuracy"].as_f64().expect("a share")
}

fn has(told: &[Told], expected: &str) -> bool {
    told.iter().any(|note| note.is(expected))
}

#[test]
fn another_rate_is_refused_and_resampled_when_asked() {
    let folder = Folder::new();
    let model = of_waves(&folder);
    let fast = folder.put("w100.csv", waves(100.0, ["t", "ax [g]"], SECONDS));
    let same = folder.put("again.csv", waves(50.0, ["t [ms]", "ax [g]"], [1000.0, 1.0]));
    let contract = json(&format!("info {model} --json"))["contract"].clone();
    assert_eq!(contract["period"]["seconds"], 0.02);
    let plain = folder.at("plain.json");
    printed(&format!("fit {} -o {plain} --classifier bayes --states 2", folder.at("w50.csv")));
    for command in
        ["evaluate", "predict", "predict --explain", "gram --kernel practical -o /dev/null"]
    {
        let model = if command.starts_with("gram") { &plain } else { &model };
        let line = format!("{command} {fast} --model {model}");
        refuses(&line, "other-rate 100 50 --resample");
        printed(&format!("{line} --resample"));
        printed(&format!("{line} --resample 50"));
        refuses(&format!("{line} --resample 100"), "other-rate --resample 100 50");
    }
    assert_eq!(accuracy(&format!("evaluate {same} --model {model} --json")), 1.0);
    assert_eq!(accuracy(&format!("evaluate {fast} --model {model} --resample --json")), 1.0);
    // A project and its prices are at the rate of the training.
    let at = folder.at("project");
    refuses(
        &format!("new {at} --board mps2-an386 --model {model} --rate 100"),
        "other-rate --rate 100 50",
    );
    refuses(&format!("info {model} --rate 100"), "other-rate --rate 100 50");
    let new = format!("new {at} --board mps2-an386 --model {model} --data {fast}");
    refuses(&new, "other-rate 100 50");
    printed(&format!("{new} --resample"));
    let written = |file: &str| fs::read_to_string(format!("{at}/{file}")).expect("written");
    assert!(written("README.md").contains("50 Hz") && written("src/sensor.rs").contains("50 Hz"));
    // The artefact keeps it too.
    let artefact = folder.at("w.fishweir");
    printed(&format!("export {model} --artefact {artefact}"));
    refuses(&format!("evaluate {fast} --model {artefact}"), "other-rate 100 50");
    assert_eq!(accuracy(&format!("evaluate {fast} --model {artefact} --resample --json")), 1.0);
}

#[test]
fn series_of_two_rates_are_refused_and_made_one() {
    let folder = Folder::new();
    let renamed =
        |text: String| text.lines().skip(1).map(|row| format!("again{row}\n")).collect::<String>();
    let both = waves(50.0, ["t", "x"], SECONDS) + &renamed(waves(100.0, ["t", "x"], SECONDS));
    let both = folder.put("both.csv", both);
    let model = folder.at("both.json");
    for command in [
        "fit -o /dev/null",
        "evaluate",
        "gram --kernel practical -o /dev/null",
        "detect --mean-time 100",
    ] {
        refuses(&format!("{command} {both}"), "mixed-rates 0 50 again0 100 --resample");
    }
    printed(&format!("fit {both} -o {model} --classifier fisher --states 2 --resample"));
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["contract"]["period"]["seconds"], 0.02);
    assert_eq!(info["provenance"]["resampled"], true);
    // In fixed point it is measured on the training data, as they were resampled for it.
    let source = folder.at("q15.rs");
    printed(&format!(
        "export {model} --number q15 --equal 0 --rust {source} --data {both} --resample"
    ));
    printed(&format!("fit {both} -o {model} --classifier fisher --states 2 --resample 25"));
    assert_eq!(json(&format!("info {model} --json"))["contract"]["period"]["seconds"], 0.04);
    for none in ["series,label,x\n0,a,1\n0,a,2\n1,b,3\n", "label,sequence\na,ACGT\nb,CCGT\n"] {
        let data = folder.put("none.csv", none);
        refuses(&format!("evaluate {data} --resample"), "not-resampled");
    }
    refuses(&format!("fit -o /dev/null --resample {both}"), "invalid-value --resample");
}

#[test]
fn units_are_converted_and_another_scale_is_noted() {
    let folder = Folder::new();
    let model = of_waves(&folder);
    let channel = json(&format!("info {model} --json"))["contract"]["channels"][0].clone();
    assert_eq!((channel["name"].as_str(), channel["unit"].as_str()), (Some("ax"), Some("g")));
    let judge = |name: &str, factor: f64| {
        let data = folder.put("scaled.csv", waves(50.0, ["t", name], [1.0, factor]));
        format!("evaluate {data} --model {model} --json")
    };
    // The same numbers, whatever they are written in.
    for (name, factor) in [("ax (m/s^2)", 9.806_65), ("ax [mg]", 1000.0), ("ax", 1.0)] {
        let line = judge(name, factor);
        assert_eq!(accuracy(&line), 1.0, "{name}");
        assert!(!has(&notes(&line), "other-scale"), "{name}");
    }
    refuses(&judge("ax [deg/s]", 1.0), "other-unit ax deg/s g");
    refuses(&judge("ay [g]", 1.0), "bad-header ax ay");
    for (factor, guess) in [(9.806_65, "m/s^2"), (1000.0, "mg"), (57.3, "degrees"), (50_000.0, "")]
    {
        let told = notes(&judge("ax", factor));
        assert!(has(&told, &format!("other-scale ax {guess}")), "{factor}: {told:?}");
    }
    // Live, too: converted by name, and noted where there is no unit.
    for (name, noted) in [("ax (m/s^2)", false), ("ax", true)] {
        let live = waves(50.0, ["t", name], [1.0, 9.806_65]);
        let rows = live.lines().filter(|row| row.starts_with('1') || row.starts_with('s'));
        let row = |row: &str| row.splitn(3, ',').nth(2).expect("fields").to_owned() + "\n";
        let mut command = fishweir(&format!("predict --stream --model {model}"));
        let output = as_json(command.write_stdin(rows.map(row).collect::<String>()));
        let last = String::from_utf8(output.stdout).expect("text");
        assert!(noted || last.lines().last().is_some_and(|row| row.contains("fast")), "{last}");
        let told = crate::Messages::of(&output.stderr).notes;
        assert_eq!(has(&told, "other-scale ax m/s^2"), noted, "{told:?}");
    }
}

#[test]
fn what_may_not_be_meant_is_noted_by_kind() {
    let folder = Folder::new();
    let model = of_waves(&folder);
    let judge = |text: String| {
        let data = folder.put("odd.csv", text);
        notes(&format!("predict {data} --model {model}"))
    };
    let even = waves(50.0, ["t", "ax [g]"], SECONDS);
    assert!(judge(even.clone()).is_empty());
    assert!(has(&judge(even.replace("fast", "Fast ")), "similar-labels Fast fast"));
    assert!(has(&judge(even.clone() + "9,slow,0,0.5\n"), "single-samples 9"));
    let still =
        |row: &str| row.rsplit_once(',').map_or(String::new(), |(row, _)| format!("{row},1\n"));
    let head = "series,label,t,ax [g]\n";
    let dead: String = even.lines().skip(1).map(still).collect();
    assert!(has(&judge(head.to_owned() + &dead), "constant-channel ax"));
    let numbered = |row: (usize, &str)| {
        let fields: Vec<&str> = row.1.split(',').collect();
        format!("{},{},{},{}\n", fields[0], fields[1], row.0, fields[3])
    };
    let index: String = even.lines().skip(1).enumerate().map(numbered).collect();
    assert!(has(&judge(head.to_owned() + &index), "no-times 50"));
    let milliseconds = waves(50.0, ["t", "x"], [1000.0, 1.0]);
    let data = folder.put("ms.csv", milliseconds.replace(".000000", ""));
    let fit = format!("fit {data} -o /dev/null --classifier bayes --states 1");
    assert!(has(&notes(&fit), "maybe-milliseconds t"), "{:?}", notes(&fit));
    // A step of 5, 20, 35 or 50 ms.
    let uneven = |row: (usize, &str)| {
        let fields: Vec<&str> = row.1.split(',').collect();
        let t = row.0 as f64 * 0.02 + (row.0 * row.0 % 5) as f64 * 0.004;
        format!("{},{},{t:.3},{}\n", fields[0], fields[1], fields[3])
    };
    let uneven: String = even.lines().skip(1).enumerate().map(uneven).collect();
    assert!(has(&judge(head.to_owned() + &uneven), "irregular-times"));
    // A project whose model has no rate takes one, and says so.
    let unknown = folder.put(
        "unknown.csv",
        head.replace(",t", "").to_owned()
            + &even
                .lines()
                .skip(1)
                .map(|row| {
                    let fields: Vec<&str> = row.split(',').collect();
                    format!("{},{},{}\n", fields[0], fields[1], fields[3])
                })
                .collect::<String>(),
    );
    let plain = folder.at("plain.json");
    printed(&format!("fit {unknown} -o {plain} --classifier bayes --states 1"));
    let at = folder.at("assumed");
    let told = notes(&format!("new {at} --board mps2-an386 --model {plain}"));
    assert!(has(&told, "assumed-rate 50 --rate"), "{told:?}");
}

/// Noise at a rate, with a burst of another size in the middle of each series that a column marks.
fn bursts(rate: f64) -> String {
    let mut table = "series,t,x,what\n".to_owned();
    for series in 0..6_i32 {
        for t in 0..(8.0 * rate) as i32 {
            let seconds = f64::from(t) / rate;
            let burst = (3.0..5.0).contains(&seconds);
            let size = if burst { 1.0 } else { 0.1 };
            let x = size * f64::from((t * 7 + series * 3) % 11 - 5);
            table +=
                &format!("{series},{seconds:.3},{x:.3},{}\n", if burst { "burst" } else { "" });
        }
    }
    table
}

#[test]
fn spotters_and_detectors_keep_their_rate() {
    let folder = Folder::new();
    let (slow, fast) = (folder.put("b50.csv", bursts(50.0)), folder.put("b100.csv", bursts(100.0)));
    let spotter = folder.at("spotter.json");
    printed(&format!("spot {slow} --marks what --states 1 -o {spotter}"));
    let period = json(&format!("info {spotter} --json"))["contract"]["period"]["seconds"].clone();
    assert_eq!(period, 0.02);
    let found = |line: &str| json(line)["events"].as_array().expect("events").len();
    assert_eq!(found(&format!("spot {slow} --model {spotter} --json")), 6);
    let other = format!("spot {fast} --model {spotter} --json");
    refuses(&other, "other-rate 100 50 --resample");
    refuses(
        &format!("evaluate {fast} --events --marks what --model {spotter}"),
        "other-rate 100 50",
    );
    assert_eq!(found(&format!("{other} --resample")), 6);
    // Marks follow the samples that are resampled.
    let judged = json(&format!("{other} --resample --marks what"));
    assert_eq!(judged["figures"][0]["found"], 6, "{judged}");
    let calm: String = bursts(50.0)
        .lines()
        .filter(|row| !row.ends_with("burst"))
        .map(|row| row.to_owned() + "\n")
        .collect();
    let calm = folder.put("calm.csv", calm);
    assert!(has(&notes(&format!("spot {calm} --model {spotter}")), "nothing-found"));
    let unmarked = |name: &str, rate: f64| {
        let row = |row: &str| row.rsplit_once(',').expect("fields").0.to_owned() + "\n";
        folder.put(name, bursts(rate).lines().map(row).collect::<String>())
    };
    let (normal, changed) = (unmarked("n50.csv", 50.0), unmarked("n100.csv", 100.0));
    let detect =
        format!("detect {normal} --mean-time 50 --memory 10 --states 1 --changed {changed}");
    refuses(&detect, "other-rate 100 50");
    printed(&format!("{detect} --resample"));
}
