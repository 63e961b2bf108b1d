//! `fishweir spot`: events of a marked stream, beside those of windows.

use std::fmt::Write as _;

use crate::fixtures::{Folder, Noise};
use crate::{json, printed, refuses};

/// Series of noise about zero with stretches about three and about minus three, marked.
fn marked(seed: u32) -> String {
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

#[test]
fn events_are_found_and_windows_are_told_beside() {
    let folder = Folder::new();
    let (train, test) = (folder.put("train.csv", marked(1)), folder.put("test.csv", marked(2)));
    let line = format!("spot {train} --test {test} --marks mark --states 2 --events");
    let report = json(&format!("{line} --json"));
    let [.., spotted, windowed] = &report["figures"].as_array().expect("figures")[..] else {
        panic!("no figures: {report}")
    };
    assert_eq!((&spotted["events"], &spotted["f1"]), (&12.into(), &1.0.into()), "{report}");
    assert!(
        windowed["what"].as_str().is_some_and(|what| what.ends_with("by windows of 15 samples"))
    );
    assert!(windowed["f1"].as_f64().is_some_and(|f1| (0.3..=1.0).contains(&f1)), "{report}");
    let events = report["events"].as_array().expect("events");
    assert_eq!(events.len(), 12);
    for event in events {
        let number = |name: &str| event[name].as_u64().expect("a number");
        assert!(number("start") < number("end") && number("end") <= number("decided"), "{event}");
        assert!(event["log_odds_per_sample"].as_f64().is_some_and(|odds| odds > 0.0), "{event}");
    }
    let said = printed(&line);
    assert!(said.contains("12 of 12 events found, 12 reported; precision 1.000"), "{said}");
    assert!(
        said.contains("\nseries,class,start,end,log_odds_per_sample,decided\n0,high,60,90,"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_spotted_is_refused() {
    let folder = Folder::new();
    let train = folder.put("train.csv", marked(1));
    refuses(&format!("spot {train} --marks class"), "no column `class` after a column `t`");
    refuses(&format!("spot {train} --marks mark --overlap 2"), "overlap");
    let bare = folder.put("bare.csv", marked(1).replace("high", "").replace("low", ""));
    refuses(&format!("spot {bare} --marks mark"), "bare.csv");
    let other = folder.put("other.csv", marked(1).replace("high", "top"));
    refuses(&format!("spot {train} --marks mark --test {other}"), "marks low, top");
}
