//! `--codebooks`.

use std::fs;

use fishweir_core::update::Update;
use serde_json::Value;

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
use crate::{answers, json, printed, refuses};

/// Codebooks are told, priced to the byte, exported as Rust source and as an artefact that scores alike; what they
/// are not beside is refused by name.
#[test]
fn codebooks_are_told_and_exported() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    let (data, model, plain) = (fixtures().at("three.csv"), at("m.json"), at("plain.json"));
    let fit = |model: &str, codebooks: &str| {
        json(&format!(
            "fit {data} -o {model} --lags 1,4 --score-model each-lag --learner ridge {codebooks} {QUICK} \
             --effort quick --json"
        ))
    };
    let (with, without) = (fit(&model, "--codebooks 2 --levels 2"), fit(&plain, "--codebooks 0"));
    assert_eq!((&with["form"]["codebooks"], &with["form"]["levels"]), (&2.into(), &2.into()));
    assert_eq!(without["form"]["levels"], Value::Null, "levels of no codebook");
    let info = json(&format!("info {model} --json"));
    let told = info["codebooks"].as_str().expect("told").to_owned();
    // Series of more than 32 samples and no more than 64 have room for dilations 1, 2 and 4.
    assert_eq!(told, "6 codebooks of 8 patterns over the last 32 samples, 2 levels per pattern");
    let channels = info["channels"].as_array().expect("channels").len();
    let outputs = info["outputs"].as_u64().expect("outputs") as usize;
    let cost = |of: &Value, what: &str| of["cost"][what].as_u64().expect("a cost") as usize;
    let more = |what: &str| cost(&with, what) - cost(&without, what);
    assert_eq!(more("model_bytes"), 6 * (4 + 4 * channels + 64 + 32 * outputs * 3 + 64));
    assert_eq!(more("state_bytes"), (4 * 32 * channels + 8 + 8 * outputs).next_multiple_of(8));
    assert_eq!(
        more("multiply_adds_per_sample"),
        6 * (8 * channels + 64 + outputs + 8 * outputs / 3 + 2 * 2)
    );
    assert_eq!(info["model_bytes"], with["cost"]["model_bytes"]);
    let source = at("m.rs");
    printed(&format!("export {model} --rust {source}"));
    let rust = fs::read_to_string(&source).expect("a source");
    assert!(
        rust.contains(
            "fishweir_core::classify::WithCodebooks<Bank, fishweir_core::classify::Codebooks<[[f32;"
        ),
        "{rust}"
    );
    let (artefact, update) = (at("m.fishweir"), at("m.update"));
    printed(&format!(
        "export {model} --artefact {artefact} --update {update} --update-version 3 --data {data}"
    ));
    let of_artefact = json(&format!("info {artefact} --json"));
    for key in ["codebooks", "model_bytes", "state_bytes", "multiply_adds_per_sample", "lags"] {
        assert_eq!(of_artefact[key], info[key], "{key}");
    }
    assert_eq!(of_artefact["file_bytes"], info["artefact_bytes"]);
    let scored = |of: &str| printed(&format!("predict {data} --model {of}"));
    assert_eq!(scored(&artefact), scored(&model));
    let carried = fs::read(&update).expect("an update");
    let carried = Update::read(&carried).expect("sound");
    assert_eq!(carried.artefact, fs::read(&artefact).expect("an artefact"));
    in_fixed_point(&folder, &model, &data);
    // Where nothing can be held out more effort has nothing to judge by, and takes what the default does.
    let all = fs::read_to_string(&data).expect("a table");
    let ann = all.lines().filter(|line| line.starts_with("series") || line.contains(",ann,"));
    let ann = folder.put("ann.csv", ann.collect::<Vec<_>>().join("\n"));
    let alone = format!("fit {ann} -o {} {QUICK} --group subject --json", at("alone.json"));
    let codebooks =
        |effort: &str| json(&format!("{alone} --effort {effort}"))["form"]["codebooks"].clone();
    assert_eq!((codebooks("quick"), codebooks("normal")), (4.into(), 4.into()));
    let no = at("no.json");
    let short =
        format!("fit {data} -o {no} --codebooks 2 {QUICK} --effort quick --window 8 --hop 8");
    refuses(&short, "short-codebooks 8");
    refuses(
        &format!("fit {data} -o {no} --classifier count --codebooks 2 {QUICK}"),
        "no-codebooks",
    );
    refuses(
        &format!("fit {data} -o {no} --emission autoregressive --codebooks 2 {QUICK}"),
        "no-codebooks",
    );
    refuses(&format!("fit {data} -o {no} --codebooks 300 {QUICK}"), "too-many-codebooks 256");
    // Where limits leave no room for levels there are fewer, and not another form; but those that were asked for.
    let whole = with["cost"]["model_bytes"].as_u64().expect("bytes");
    let limited = |levels: &str| {
        let (of, most) =
            ("--score-model each-lag --learner ridge --codebooks 2 --lags 1,4", whole - 1);
        format!("fit {data} -o {no} {of} {levels} --max-flash {most} {QUICK} --effort quick --json")
    };
    let fewer = json(&limited(""))["form"].clone();
    assert_eq!((&fewer["codebooks"], &fewer["levels"]), (&2.into(), &1.into()));
    refuses(&limited("--levels 2"), "over-limit --levels");
    for idle in ["--codebooks 0 --levels 1", "--score-model all --codebook-weight 4"] {
        answers(format!("fit {data} -o {no} {idle} {QUICK}"), "idle-option");
    }
}

/// The same in integers: measured and bounded, priced alike by `export` and `info`, and smaller.
fn in_fixed_point(folder: &Folder, model: &str, data: &str) {
    let source = folder.at("q.rs");
    let line = format!("export {model} --number q15 --data {data} --rust {source}");
    let (said, report) = (printed(&line), json(&format!("{line} --json")));
    assert!(
        said.contains("codewords equal those in f64\n")
            && said.contains("bound of the rounding error")
    );
    let deviation = &report["deviation"];
    let [equal, all] = ["equal", "all"].map(|key| &deviation["codewords"][key]);
    let [equal, all] = [equal, all].map(|count| count.as_u64().expect("a count"));
    assert!(all > 0 && equal <= all && 100 * equal >= 95 * all, "{deviation}");
    assert_eq!(deviation["bound"]["exceeded"], 0);
    assert!(deviation["bound"]["windows"].as_u64() > Some(0), "{deviation}");
    let rust = fs::read_to_string(&source).expect("a source");
    for part in [
        "classify::WithCodebooks<Bank, fishweir_core::classify::Codebooks<[[i16;",
        "lagged::LagFeatures<Rows,",
        "ChannelSubset<Hmm<GaussianQ15<",
    ] {
        assert!(rust.contains(part), "{part}: {rust}");
    }
    let info = json(&format!("info {model} --json"));
    assert_eq!(info["fixed_point"], report["cost"]);
    for what in ["model_bytes", "state_bytes"] {
        let [small, float] = [&info["fixed_point"][what], &info[what]].map(|cost| cost.as_u64());
        assert!(small < float, "{what}: {info}");
    }
    assert!(printed(&format!("info {model}")).contains("in fixed point: flash"));
}

/// By default a model for each lag is taken untried, but not where there are floors to choose from.
#[test]
fn floors_that_are_given_are_tried() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("two.csv"), folder.at("m.json"));
    let tried = |options: &str| -> Vec<f64> {
        let fit = format!("fit {data} -o {model} {options} {QUICK} --effort quick --json");
        let form = json(&fit)["form"].clone();
        let all = form["candidates"].as_array().expect("candidates").clone();
        all.iter().map(|one| one["std_floor"].as_f64().expect("a floor")).collect()
    };
    assert!(tried("").is_empty() && tried("--std-floor 0.1").is_empty());
    let several = tried("--std-floor 0.9,0.001");
    assert!([0.9, 0.001].iter().all(|floor| several.contains(floor)), "{several:?}");
}

/// What the default does not try is said: forms that a part has no room for, and whitening of models too wide for it.
#[test]
fn what_the_default_leaves_out_is_told() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("two.csv"), folder.at("m.json"));
    let fit = format!("fit {data} -o {model} {QUICK} --effort quick");
    assert!(!printed(&fit).contains("limits left out"));
    // First levels, and then codebooks.
    let said = printed(&format!("{fit} --max-flash 3000"));
    assert!(said.contains("limits left out") && said.contains("1 level per pattern"), "{said}");
    let said = printed(&format!("{fit} --max-flash 1500"));
    assert!(said.contains("limits left out") && !said.contains("codebook"), "{said}");
    let mut wide = "series,label,t".to_owned();
    (0..190).for_each(|channel| wide += &format!(",c{channel}"));
    let mut noise = Noise(7);
    for (series, t) in (0..4).flat_map(|series| (0..20).map(move |t| (series, t))) {
        wide += &format!("\n{series},{},{t}", ["a", "b"][series % 2]);
        noise.by_ref().take(190).for_each(|x| wide += &format!(",{x:.3}"));
    }
    let wide = folder.put("wide.csv", wide + "\n");
    let said = printed(&format!("fit {wide} -o {model} --iterations 4"));
    assert!(said.contains("codebooks") && !said.contains("whitened"), "{said}");
    let told = printed(&format!("info {model}"));
    assert!(told.contains("whitened scores were not tried"), "{told}");
}
