//! Figures: well-formed, whole, inside of their view box, and for light and dark pages.

use std::collections::BTreeMap;

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
use crate::shared::data::marked;
use crate::shared::pages;
use crate::{fishweir, json, printed, refuses};

/// A start tag: its name and attributes, or text.
enum Part {
    Start(String, BTreeMap<String, String>),
    Text(String),
}

/// The parts of a document, found to be well-formed: tags nest, attributes are quoted, references are known.
fn parts(svg: &str) -> Vec<Part> {
    let (mut all, mut open, mut rest) = (Vec::new(), Vec::<String>::new(), svg);
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        for reference in text.split('&').skip(1) {
            assert!(["lt;", "gt;", "amp;", "quot;"].iter().any(|one| reference.starts_with(one)));
        }
        assert!(!open.is_empty() || text.trim().is_empty(), "text outside of the root: {text}");
        all.push(Part::Text(text.to_owned()));
        let end = tag.find('>').expect("a tag that ends");
        let (inside, alone) = match tag[1..end].strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (&tag[1..end], false),
        };
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags nest");
            continue;
        }
        let (name, mut listed) = inside.split_once(' ').unwrap_or((inside, ""));
        let mut attributes = BTreeMap::new();
        while let Some((key, value)) = listed.trim_start().split_once("=\"") {
            let (value, after) = value.split_once('"').expect("a quoted value");
            assert!(!value.contains('<') && !key.contains(' '), "{inside}");
            assert!(attributes.insert(key.to_owned(), value.to_owned()).is_none(), "{inside}");
            listed = after;
        }
        assert!(listed.trim().is_empty(), "{inside}");
        all.push(Part::Start(name.to_owned(), attributes));
        if !alone {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    all
}

/// Numbers of an attribute: of a path's those of its points.
fn numbers(text: &str) -> Vec<f64> {
    let apart = |one: char| !(one.is_ascii_digit() || one == '.' || one == '-');
    text.split(apart).filter(|one| !one.is_empty()).map(|one| one.parse().expect(one)).collect()
}

/// The whole check of a figure; returns its texts, decoded.
fn check(svg: &str) -> Vec<String> {
    assert!(
        svg.contains("@media (prefers-color-scheme: dark){") && svg.contains(".page{fill:#fff}")
    );
    let parts = parts(svg);
    let Part::Start(_, root) = &parts[1] else { panic!("a root") };
    let [_, _, width, height] = numbers(&root["viewBox"])[..] else { panic!("a view box") };
    let (mut down, mut clipped) = (0.0, 0);
    let mut texts = Vec::new();
    for part in &parts {
        let (name, all) = match part {
            Part::Text(text) => {
                texts.push(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
                continue;
            }
            Part::Start(name, all) => (name.as_str(), all),
        };
        let of = |key: &str| all.get(key).map(|value| value.parse::<f64>().expect("a number"));
        if let Some(moved) = all.get("transform") {
            let by = numbers(moved);
            if name == "g" {
                down = by[1];
                continue;
            }
            assert!((0.0..=width).contains(&by[0]) && (0.0..=height).contains(&(by[1] + down)));
        }
        let radius = of("r").unwrap_or(0.0);
        let inside = |at: Option<f64>, more: f64, limit: f64| {
            let Some(at) = at else { return };
            assert!(at - radius >= -0.06 && at + radius + more <= limit + 0.06, "{name} {all:?}");
        };
        for key in ["x", "x1", "x2", "cx"] {
            inside(of(key), of("width").unwrap_or(0.0), width);
        }
        for key in ["y", "y1", "y2", "cy"] {
            inside(of(key).map(|y| y + down), of("height").unwrap_or(0.0), height);
        }
        if all.contains_key("clip-path") {
            clipped += 1;
        } else if let Some(path) = all.get("d").filter(|path| !path.contains(['H', 'V', 'h', 'v']))
        {
            for point in numbers(path).chunks(2) {
                inside(Some(point[0]), 0.0, width);
                inside(Some(point[1] + down), 0.0, height);
            }
        }
    }
    assert!(clipped == 0 || svg.contains("<clipPath"));
    texts
}

/// Whether a matrix has its classes, counts and accuracy.
pub(crate) fn check_matrix(svg: &str, figures: &serde_json::Value) {
    let texts = check(svg);
    let has = |text: &str| texts.iter().any(|one| one == text);
    for class in figures["classes"].as_array().expect("classes") {
        assert!(has(class.as_str().expect("a name")), "no {class} in {texts:?}");
    }
    for count in
        figures["confusion"].as_array().expect("rows").iter().flat_map(|row| row.as_array())
    {
        for count in count.iter().filter_map(|count| count.as_u64()).filter(|count| *count > 0) {
            assert!(has(&count.to_string()), "no {count} in {texts:?}");
        }
    }
    let accuracy = format!("accuracy {:.3}", figures["accuracy"].as_f64().expect("a share"));
    assert!(texts.iter().any(|text| text.contains(&accuracy)), "{texts:?}");
    assert!(has("recall") && has("precision") && has("true class") && has("decided class"));
}

#[test]
fn decisions_of_classifiers_of_series_are_drawn_by_class() {
    let folder = Folder::new();
    let (data, draw) = (fixtures().at("three.csv"), folder.at("d.svg"));
    let line = format!(
        "evaluate {data} --group subject --folds 3 --window 20 {QUICK} --effort quick --draw {draw} --json"
    );
    let report = json(&line);
    let svg = folder.text("d.svg");
    for classifier in ["bayes", "fisher"] {
        check_matrix(&svg, &report["classifiers"][classifier]);
        assert!(svg.contains(&format!(">{classifier}: accuracy ")));
    }
    // Of a fitted model too, on standard output.
    let model = fixtures().at("three.json");
    let figures = json(&format!("evaluate {data} --model {model} --json"));
    check_matrix(&printed(&format!("evaluate {data} --model {model} --draw -")), &figures);
}

#[test]
fn thirty_classes_of_long_names_are_drawn() {
    let folder = Folder::new();
    let mut text = String::from("series,label,t,x\n");
    for t in 0..30 * 2 * 12 {
        let (series, class) = (t / 12, t / 12 % 30);
        let value = f64::from(class) + 0.1 * f64::from(t % 5);
        text += &format!("{series},one of the <long> names {class},{},{value}\n", t % 12);
    }
    let (data, draw) = (folder.put("many.csv", text), folder.at("d.svg"));
    let line = format!(
        "evaluate {data} --classifier bayes --folds 2 {QUICK} --effort quick --draw {draw}"
    );
    let figures = json(&format!("{line} --json"));
    check_matrix(&folder.text("d.svg"), &figures["classifiers"]["bayes"]);
    assert!(folder.text("d.svg").contains("one of the \u{2026}"), "names are shortened");
}

#[test]
fn streams_and_curves_stay_in_their_figures() {
    let folder = Folder::new();
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    let why = printed(&format!("predict {data} --model {model} --explain --draw -"));
    let texts = check(&why);
    assert!(texts.iter().any(|text| text.starts_with("time, ")), "{texts:?}");
    let [roc, believed] = ["r.svg", "b.svg"].map(|name| folder.at(name));
    printed(&format!(
        "evaluate {data} {QUICK} --effort quick --roc {roc} --reliability {believed}"
    ));
    for figure in ["r.svg", "b.svg"] {
        check(&folder.text(figure));
    }
    for figure in ["stream", "why", "missing", "protein-families", "representatives", "taught"] {
        let path = pages::root().join(format!("host/docs/{figure}.svg"));
        check(&std::fs::read_to_string(path).expect("a figure of the book"));
    }
}

/// Rectangles of a colour, with their titles: how many there are of each name.
fn titled(texts: &[String], name: &str) -> usize {
    texts.iter().filter(|text| *text == name || text.starts_with(&format!("{name}: "))).count()
}

#[test]
fn events_are_drawn_with_what_is_true_found_and_decided() {
    let folder = Folder::new();
    let (train, test) = (folder.put("train.csv", marked(1)), folder.put("test.csv", marked(2)));
    let (file, draw) = (folder.at("spotter.json"), folder.at("d.svg"));
    let line =
        format!("spot {train} --test {test} --marks mark --states 2 -o {file} --draw {draw}");
    printed(&line);
    let trained = folder.text("d.svg");
    let texts = check(&trained);
    let has = |text: &str| texts.iter().any(|one| one == text);
    for text in [
        "true",
        "found",
        "decided",
        "background",
        "confidence: log odds per sample, nats",
        "time, samples",
        "x",
    ] {
        assert!(has(text), "no {text} in {texts:?}");
    }
    // Two events of one class and one of the other: in the legend, the panel and three strips.
    assert_eq!([titled(&texts, "high"), titled(&texts, "low")], [1 + 2 + 3 * 2, 1 + 1 + 3]);
    assert!(texts.iter().any(|text| text.contains("3 of 3 events found, 3 reported")), "{texts:?}");
    // The kept spotter draws the same; without marks there is no truth.
    printed(&format!("spot {test} --model {file} --marks mark --draw {draw}"));
    assert_eq!(folder.text("d.svg"), trained);
    let bare = check(&printed(&format!("spot {test} --model {file} --draw -")));
    assert!(!bare.iter().any(|text| text == "true") && titled(&bare, "high") == 1 + 2 + 2 * 2);
    refuses(&format!("spot {test} --model {file} --draw {test}"), "output-is-input");
}

#[test]
fn alarms_are_drawn_on_their_statistics() {
    let folder = Folder::new();
    let mut noise = Noise(5);
    let mut table = |offset: f64| {
        let mut text = "series,t [s],x\n".to_owned();
        for t in 0..900 {
            let x = noise.next().unwrap_or(0.0) + if t > 450 { offset } else { 0.0 };
            text += &format!("0,{},{x:.3}\n", f64::from(t) / 10.0);
        }
        text
    };
    let (normal, changed) =
        (folder.put("normal.csv", table(0.0)), folder.put("changed.csv", table(1.5)));
    let (model, draw) = (folder.at("d.json"), folder.at("d.svg"));
    let train = format!("detect {normal} --mean-time 30 --memory 10 --states 1");
    let said = printed(&format!("{train} --offset x=1 -o {model} --draw {draw}"));
    for part in ["\n  unseen ", "on a device: ", "next: fishweir detect DATA --model"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains("nats per sample"), "{said}");
    assert!(printed(&format!("{train} --verbose")).contains("nats per sample"));
    let texts = check(&folder.text("d.svg"));
    assert!(
        texts.iter().any(|text| text.ends_with("on which the models were trained")),
        "{texts:?}"
    );
    let alarms = json(&format!("detect {changed} --model {model} --json"));
    let count = |statistic: &str| {
        let alarms = alarms["alarms"].as_array().expect("alarms");
        alarms.iter().filter(|one| one["statistic"] == statistic).count()
    };
    let svg = printed(&format!("detect {changed} --model {model} --draw -"));
    let texts = check(&svg);
    for text in [
        "alarms",
        "limit",
        "unlikely",
        "change",
        "time, seconds",
        "deviation, multiples of the limit",
    ] {
        assert!(texts.iter().any(|one| one == text), "no {text} in {texts:?}");
    }
    assert!(count("change") > 2);
    // In the legend, as a point and in the strip.
    assert_eq!(titled(&texts, "change"), 1 + 2 * count("change"));
    assert_eq!(svg.matches("<circle").count(), count("change") + count("unlikely"));
}

#[test]
fn a_stream_is_drawn_when_it_has_ended() {
    let folder = Folder::new();
    let (model, draw) = (fixtures().at("two.json"), folder.at("d.svg"));
    let data = std::fs::read_to_string(fixtures().at("two.csv")).expect("data");
    let line = format!("predict --stream --endless --every 10 --model {model} --draw {draw}");
    let decisions = printed(fishweir(&line).write_stdin(data.clone()));
    let texts = check(&folder.text("d.svg"));
    for text in ["true", "decided", "margin over the best other class", "x", "y"] {
        assert!(texts.iter().any(|one| one == text), "no {text} in {texts:?}");
    }
    let told = format!("{} decisions by ", decisions.lines().count() - 1);
    assert!(texts.iter().any(|text| text.contains(&told)), "no {told} in {texts:?}");
    // Without the column of labels there is no truth.
    let bare: String = data
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let at =
                data.lines().next().expect("a header").split(',').position(|name| name == "label");
            let kept =
                (0..fields.len()).filter(|&field| Some(field) != at).map(|field| fields[field]);
            kept.collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    assert_eq!(printed(fishweir(&line).write_stdin(bare)), decisions);
    assert!(!check(&folder.text("d.svg")).iter().any(|text| text == "true"));
    // Nothing came: that is a figure too.
    printed(fishweir(&line).write_stdin(String::new()));
    check(&folder.text("d.svg"));
    refuses(&line.replace(&draw, "-"), "same-output --draw");
    refuses(
        &format!("predict {} --model {model} --draw {draw}", fixtures().at("two.csv")),
        "missing-option --draw",
    );
}
