//! `merge` of what devices sent: the expected counts of their recordings, in frames of the wire.

use fishweir::batch::expectations;
use fishweir::data::{Dataset, ReadOptions, SamplesView};
use fishweir::parts::ModelFile;
use fishweir_core::wire::{COUNTS_PIECE, CountsHead, SampleIndex, encode, longest};
use serde_json::Value;
use zerocopy::IntoBytes;

use crate::fixtures::Folder;
use crate::shared::data::series_of_family;
use crate::{json, notes, printed, refuses};

/// Series of each of two classes: more than a leaf.
const SERIES: usize = 160;

/// Frames that a device sends of the counts of one recording.
fn frames(stream: u8, counts: &[f32], (lost, model): (u16, u32)) -> Vec<Vec<u8>> {
    let pieces = counts.chunks(COUNTS_PIECE);
    let count = pieces.len() as u16;
    let frame = |(piece, counts): (usize, &[f32])| {
        let head = SampleIndex { stream, time: 40 }.head(CountsHead::TAG);
        let (piece, pieces) = ((piece as u16).into(), count.into());
        let head = CountsHead { head, piece, pieces, lost: lost.into(), model: model.into() };
        let bytes = counts.iter().flat_map(|count| count.to_le_bytes());
        let record: Vec<u8> = head.as_bytes().iter().copied().chain(bytes).collect();
        let mut frame = vec![0; longest(record.len())];
        let length = encode(&record, &mut frame).expect("room enough");
        frame.truncate(length);
        frame
    };
    pieces.enumerate().map(frame).collect()
}

/// A model file, and for each of its two models its checksum and the counts of the series of its class.
fn counted(folder: &Folder, model: &str) -> Vec<(u32, Vec<Vec<f32>>)> {
    let text = folder.text(model);
    let models = ModelFile::parse(model, text.as_bytes()).expect("models");
    let ModelFile::Classifier(classifier) = &models else { panic!("no classifier") };
    let data = Dataset::read(folder.path().join("data.csv").as_path(), &ReadOptions::default());
    let data = data.expect("data");
    let of_class = |class: usize| -> Vec<Vec<f32>> {
        let own = data.series().iter().filter(|series| series.label == Some(class));
        let views: Vec<SamplesView<'_>> = own.map(|series| series.samples.view()).collect();
        let expected = expectations(&classifier.models[class], &views);
        let numbers = expected.into_iter().map(|one| one.expect("possible").numbers());
        numbers.map(|one| one.into_iter().map(|x| x as f32).collect()).collect()
    };
    models.device_checksums().expect("in range").into_iter().zip((0..2).map(of_class)).collect()
}

fn models(folder: &Folder, name: &str) -> Value {
    let text: Value = serde_json::from_str(&folder.text(name)).expect("JSON");
    text["classifier"]["models"].clone()
}

#[test]
fn what_devices_send_makes_the_next_models() {
    let folder = Folder::new();
    let data = folder.put("data.csv", series_of_family("gaussian", SERIES));
    let at = |name: &str| folder.at(name);
    let fit = format!(
        "fit {data} --classifier bayes --states 2 --restarts 1 --lags none --std-floor 0.1"
    );
    for (iterations, name) in [(2, "start.json"), (3, "three.json")] {
        printed(&format!("{fit} --iterations {iterations} -o {}", at(name)));
    }
    let counted = counted(&folder, "start.json");
    let (checksum, even) = &counted[0];
    let log = |some: &[Vec<f32>]| -> Vec<u8> {
        let each = some.iter().zip((200..=u8::MAX).chain(0..=u8::MAX));
        each.flat_map(|(counts, stream)| frames(stream, counts, (0, *checksum)).concat()).collect()
    };
    folder.put("all.bin", log(even));
    folder.put("one.bin", log(&even[..30]));
    folder.put("two.bin", log(&even[30..]));
    let merge = |parts: &[&str], name: &str| {
        let parts: Vec<String> = parts.iter().map(|part| at(part)).collect();
        let (start, out) = (at("start.json"), at(name));
        format!("merge {} -m {start} --std-floor 0.1 -o {out}", parts.join(" "))
    };
    let report = json(&format!("{} --json", merge(&["all.bin"], "all.json")));
    assert_eq!(report["models"][0]["sequences"], SERIES / 2, "{report}");
    printed(&merge(&["one.bin", "two.bin"], "parts.json"));
    assert_eq!(models(&folder, "parts.json"), models(&folder, "all.json"));
    // The other model was not counted under, and stays.
    assert_eq!(models(&folder, "all.json")[1], models(&folder, "start.json")[1]);
    // Counts in single precision are near a pass of the host.
    let mean = |name: &str| models(&folder, name)[0]["emission"]["gaussian"]["mean"].clone();
    let (own, wanted) = (mean("all.json"), mean("three.json"));
    for (own, wanted) in
        own.as_array().expect("states").iter().zip(wanted.as_array().expect("states"))
    {
        for k in 0..2 {
            let [own, wanted] = [own, wanted].map(|one| one[k].as_f64().expect("a number"));
            assert!((own - wanted).abs() < 1e-4, "{own} {wanted}");
        }
    }
    // Damaged, repeated and late records, and those of other models, change nothing.
    let mut noisy = b"starting\n".to_vec();
    for (at, (counts, stream)) in even.iter().zip((200..=u8::MAX).chain(0..=u8::MAX)).enumerate() {
        let own = frames(stream, counts, (0, *checksum));
        let mut damaged = own[0].clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        noisy.extend([&own[1][..], &damaged, &own[0], &own[1]].concat());
        noisy.extend(own[2..].concat());
        noisy.extend(frames(stream, &even[at], (0, checksum ^ 1))[0].clone());
        if at > 5 {
            noisy.extend(frames(stream.wrapping_sub(5), &even[at - 5], (0, *checksum)).concat());
        }
    }
    folder.put("noisy.bin", noisy);
    let told = notes(merge(&["noisy.bin"], "noisy.json").as_str());
    assert!(told.iter().any(|note| note.is("other-models")), "{told:?}");
    assert_eq!(models(&folder, "noisy.json"), models(&folder, "all.json"));
    // Both models, from the file of one device.
    let (other, odd) = &counted[1];
    let both: Vec<u8> = odd
        .iter()
        .zip(40..)
        .flat_map(|(counts, stream)| frames(stream, counts, (0, *other)).concat())
        .collect();
    let both = [log(even), both].concat();
    folder.put("both.bin", both);
    printed(&merge(&["both.bin"], "both.json"));
    assert_eq!(models(&folder, "both.json")[0], models(&folder, "all.json")[0]);
    assert_ne!(models(&folder, "both.json")[1], models(&folder, "start.json")[1]);
}

#[test]
fn records_that_make_no_whole_are_named() {
    let folder = Folder::new();
    let data = folder.put("data.csv", series_of_family("gaussian", 20));
    let at = |name: &str| folder.at(name);
    let fit =
        format!("fit {data} --classifier bayes --states 2 --restarts 1 --iterations 1 --lags none");
    printed(&format!("{fit} -o {}", at("start.json")));
    let (checksum, counts) = &counted(&folder, "start.json")[0];
    let of = |stream: u8, lost: u16, model: u32| {
        frames(stream, &counts[usize::from(stream)], (lost, model))
    };
    folder.put("one.bin", [of(0, 0, *checksum), of(1, 0, *checksum)].concat().concat());
    folder.put("again.bin", [of(0, 0, *checksum), of(1, 0, *checksum)].concat().concat());
    folder.put("cut.bin", of(2, 0, *checksum)[1..].concat());
    folder.put("other.bin", of(2, 0, 7).concat());
    let anew = [of(2, 0, *checksum), of(3, 0, *checksum), frames(2, &counts[4], (0, *checksum))];
    folder.put("anew.bin", anew.concat().concat());
    folder.put("nothing.bin", [0, 1, 2, 0]);
    folder.put("lost.bin", [of(2, 3, *checksum), of(3, 0, *checksum)].concat().concat());
    let merge = |parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|part| at(part)).collect();
        format!("merge {} -o {}", parts.join(" "), at("next.json"))
    };
    let start = format!("-m {}", at("start.json"));
    for (line, expected) in [
        (merge(&["one.bin"]), "missing-option --model".to_owned()),
        (
            format!("{} {start}", merge(&["one.bin", "again.bin"])),
            format!("repeated-counts {} {}", at("again.bin"), at("one.bin")),
        ),
        (
            format!("{} {start}", merge(&["one.bin", "cut.bin"])),
            format!("missing-counts {} stream 2 piece 1", at("cut.bin")),
        ),
        (
            format!("{} {start}", merge(&["one.bin", "anew.bin"])),
            format!("repeated-stream {} stream 2", at("anew.bin")),
        ),
        (
            format!("{} {start}", merge(&["nothing.bin"])),
            format!("no-counts {}", at("nothing.bin")),
        ),
    ] {
        refuses(&line, expected);
    }
    let told = crate::refused(format!("{} {start}", merge(&["other.bin"])).as_str());
    assert!(told.is(&format!("other-models {}", at("other.bin"))), "{told:?}");
    assert!(!std::fs::exists(at("next.json")).expect("readable"));
    let told = notes(format!("{} {start} --pseudo-count 1", merge(&["lost.bin"])).as_str());
    assert!(told.iter().any(|note| note.is("lost-samples 2")), "{told:?}");
    assert!(told.iter().any(|note| note.is("idle-option --pseudo-count")), "{told:?}");
}
