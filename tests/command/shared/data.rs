//! Data that tests of several commands read.

use std::fmt::Write as _;

use super::fixtures::{Folder, Noise};
use super::{json, printed};

/// Families of emissions that are not the default.
pub(crate) const FAMILIES: [&str; 5] =
    ["poisson", "bernoulli", "full-gaussian", "mixture", "autoregressive"];

/// Twelve series of forty samples of each of two classes, whose two states differ.
pub(crate) fn of_family(name: &str) -> String {
    series_of_family(name, 24)
}

/// As many series of a family, every other one of the other class.
pub(crate) fn series_of_family(name: &str, series: usize) -> String {
    let mut text = "series,label,t,x,y\n".to_owned();
    let mut noise = Noise(3);
    for series in 0..series {
        let odd = series % 2 == 1;
        let mut before = 0.0;
        for t in 0..40 {
            let late = t % 20 >= 10;
            let mut uniform = || 0.5 + 0.5 * noise.next().unwrap_or(0.0);
            let (u, v, w) = (uniform(), uniform(), uniform());
            let [x, y] = match name {
                "poisson" => {
                    let rate = if late { if odd { 6.0 } else { 3.0 } } else { 2.0 };
                    [(rate * 2.0 * u).floor(), (3.0 * v).floor()]
                }
                "bernoulli" => {
                    let share = if odd { 0.8 } else { 0.3 };
                    [f64::from(u < share), f64::from(if late { v < 0.9 } else { v < 0.2 })]
                }
                // The classes differ in how the channels go together, and each alone is alike.
                "full-gaussian" => {
                    let sum = u + v - 1.0;
                    [sum, if odd { sum } else { -sum } + 0.3 * (w - 0.5)]
                }
                // And here in how a channel goes on from where it was, and every sample by itself is alike.
                "autoregressive" => {
                    before = if odd { 0.8 } else { -0.8 } * before + u - 0.5;
                    [before, w]
                }
                _ => {
                    let side = if u < 0.5 { -2.0 } else { 2.0 };
                    [if odd { side } else { 0.0 } + v - 0.5, w]
                }
            };
            let _ = writeln!(text, "{series},{},{t},{x},{y}", ["even", "odd"][usize::from(odd)]);
        }
    }
    text
}

/// One floor, so that none is chosen, where there are standard deviations.
pub(crate) fn floor(name: &str) -> &'static str {
    if ["full-gaussian", "mixture", "autoregressive"].contains(&name) {
        "--std-floor 0.1"
    } else {
        ""
    }
}

/// Series of noise about zero with stretches about three and about minus three, marked.
pub(crate) fn marked(seed: u32) -> String {
    let mut text = String::from("series,t,x,mark\n");
    let mut noise = Noise(seed);
    for series in 0..4 {
        for t in 0..300 {
            let (level, mark) = match t {
                60..90 => (3.0, "high"),
                150..190 => (-3.0, "low"),
                240..260 => (3.0, "high"),
                _ => (0.0, ""),
            };
            let _ =
                writeln!(text, "{series},{t},{:.3},{mark}", level + noise.next().unwrap_or(0.0));
        }
    }
    text
}

/// Rain, sprinkler, wet grass.
pub(crate) const SPRINKLER: &str = "\
variable rain { type discrete [2] { no, yes }; }
variable sprinkler { type discrete [2] { off, on }; }
variable grass { type discrete [2] { dry, wet }; }
probability (rain) { table 0.8, 0.2; }
probability (sprinkler | rain) { (no) 0.6, 0.4; (yes) 0.99, 0.01; }
probability (grass | sprinkler, rain) {
  (off, no) 0.95, 0.05; (off, yes) 0.2, 0.8; (on, no) 0.1, 0.9; (on, yes) 0.01, 0.99;
}
";

/// A folder with that network and records drawn from it.
pub(crate) fn garden() -> Folder {
    let garden = Folder::new();
    let model = garden.put("garden.bif", SPRINKLER);
    for (file, seed) in [("train.csv", 1), ("test.csv", 2)] {
        let file = garden.at(file);
        json(&format!("network sample {model} -n 600 --seed {seed} -o {file} --json"));
    }
    garden
}

/// Windows of twenty samples, fifty a second.
pub(crate) const STEP: f64 = 0.02;

/// Series of two classes, their samples `step` apart; before sample 30 the time leaps.
pub(crate) fn leaping(step: f64, leap: f64) -> String {
    let series = |n: i32| {
        let (label, scale) = [("calm", 0.1), ("wild", 1.0)][n as usize % 2];
        (0..60).map(move |t: i32| {
            let time = f64::from(t) * step + if t < 30 { 0.0 } else { leap };
            format!("{n},{label},{time:.3},{:.3}\n", f64::from((t + n) % 5) * scale)
        })
    };
    "series,label,t,x\n".to_owned() + &(0..8).flat_map(series).collect::<String>()
}

pub(crate) fn of_leaping(folder: &Folder) -> String {
    let (data, model) = (folder.put("data.csv", leaping(STEP, 0.0)), folder.at("m.json"));
    printed(&format!(
        "fit {data} -o {model} --classifier bayes --states 2 --window 20 --effort quick"
    ));
    model
}

/// Labels and events of machines: healthy ones open, close and rest in turn, worn ones report errors in between.
pub(crate) fn machines() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut noise = Noise(11);
    let mut chance = move || noise.next().unwrap_or(0.0);
    let machine = |number: usize| {
        let worn = number % 2 == 1;
        let mut last = "idle";
        let events = (0..30).map(|_| {
            last = match (last, chance() < if worn { 0.0 } else { 0.9 }) {
                ("open", true) => "close",
                ("open", false) => "error",
                ("close", true) => "idle",
                ("close", false) => "open",
                ("error", _) => ["open", "error"][usize::from(worn && chance() < 0.0)],
                (_, true) => "open",
                (_, false) => "idle",
            };
            last
        });
        (if worn { "worn" } else { "healthy" }, events.collect())
    };
    (0..16).map(machine).collect()
}

/// Their logs, an event per line in a column of that name.
pub(crate) fn event_log(column: &str) -> String {
    let mut text = format!("series,label,t [s],{column}\n");
    for (id, (label, events)) in machines().into_iter().enumerate() {
        for (t, event) in events.iter().enumerate() {
            let _ = writeln!(text, "m{id},{label},{},{event}", t * t / 4 + t);
        }
    }
    text
}
