//! Front ends on emulated boards: the host's bits after every sample, and the sizes that were told.

use fishweir::data::{Dataset, Kind, Rows, Samples, Series};
use fishweir::deploy::Deployed;
use fishweir::device::{BOARDS, Firmware, ModelFile, Options, Qemu};
use fishweir::parity::{Recording, compare};
use fishweir_tests::quick::{assert_identical, channels, trained_behind};

fn on_device(name: &str, deployed: &Deployed, recording: &Recording<'_>, from_artefact: bool) {
    let board = BOARDS.iter().find(|board| board.name == name).expect("a board");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(if from_artefact { "model" } else { "model.rs" });
    let file = if from_artefact {
        deployed.save_artefact(&file).expect("writes");
        ModelFile::Artefact(&file)
    } else {
        std::fs::write(&file, deployed.to_source()).expect("writes");
        ModelFile::Source(&file)
    };
    let firmware = Firmware::in_repository().expect("the firmware is in the repository");
    let image = folder.path().join("image.elf");
    let run = firmware
        .build(board, "classify_stream", file, &image)
        .and_then(|image| Qemu::start(&image))
        .and_then(|qemu| qemu.run(recording.inputs(), &Options::default(), |_| ()))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let instructions = run.instructions_per_sample().expect("every board counts");
    println!("{name}: {instructions:.0} instructions per sample behind {}", deployed.front());
    assert_eq!(run.outcome.info.state_bytes, deployed.cost().state_bytes, "{name}");
    assert_eq!(run.outcome.info.model_bytes, deployed.cost().model_bytes, "{name}");
    let parity = compare(deployed, recording, &run.outcome.answers).expect("comparable");
    assert!(parity.missing > 0, "{parity:?}");
    assert_identical(&parity, 2 + 2);
}

/// Every series of three channels, with samples where they are to be.
fn gappy(data: &Dataset, there: impl Fn(usize) -> bool) -> Vec<Samples> {
    let one = |one: &Series| {
        let mut rows = Rows::new(3);
        let view = one.samples.view().rows().expect("channels");
        view.iter().enumerate().for_each(|(t, row)| rows.push(row.filter(|_| there(t))));
        Samples::Channels(rows)
    };
    data.series().iter().map(one).collect()
}

#[test]
fn magnitudes_and_means_give_the_same_bits() {
    let data = channels();
    let samples = gappy(&data, |t| t % 7 != 3 && t > 2 && !(20..24).contains(&t));
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    let deployed = trained_behind(&data, "magnitude=x+z,decimate=3");
    let deployed = deployed.deploy().expect("fits in f32");
    for (name, from_artefact) in [("microbit", true), ("mps2-an386", false)] {
        on_device(name, &deployed, &recording, from_artefact);
    }
}

/// Slopes over the last samples, before a magnitude of slopes.
#[test]
fn slopes_give_the_same_bits() {
    let data = channels();
    let samples = gappy(&data, |t| t % 7 != 3);
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    let steep = "slopes=5,magnitude=slope of x+slope of z";
    let classifier = trained_behind(&data, steep);
    assert_eq!(classifier.row_size(), 5);
    for (name, from_artefact) in [("microbit", true), ("mps2-an386", false)] {
        let deployed = classifier.deploy().expect("fits in f32");
        on_device(name, &deployed, &recording, from_artefact);
    }
}

/// A row becomes a symbol, and class models look it up: the host's symbols on the device.
#[test]
fn symbols_of_learnt_words_give_the_same_bits() {
    let data = channels();
    let samples = gappy(&data, |t| t % 7 != 3);
    let recording = Recording::new(samples.iter().map(Samples::view), None);
    for (front, boards) in [
        ("symbols=12", &[("microbit", false), ("mps2-an386", false)][..]),
        ("magnitude=x+z,decimate=3,symbols=5", &[("mps2-an386", true)]),
    ] {
        let classifier = trained_behind(&data, front);
        let deployed = classifier.deploy().expect("fits in f32");
        assert!(deployed.front().makes_symbols() && deployed.cost().exponentials_per_sample == 0);
        for &(name, from_artefact) in boards {
            on_device(name, &deployed, &recording, from_artefact);
        }
    }
}

/// Two sounds that rise and fall, noise in one of them, a gap in the last of each.
fn sounds() -> Dataset {
    let sound = |class: usize, series: usize| -> Samples {
        let mut rows = Rows::new(1);
        for t in 0..600_usize {
            let at = t as f64 / 8000.0;
            let noise = ((t * t * 31 + t * 17 + series * 101) % 257) as f64 / 257.0 - 0.5;
            let frequency = [400.0, 900.0 + 3000.0 * at][class] + 20.0 * series as f64;
            let x = 0.3 * (std::f64::consts::TAU * frequency * at).sin() + 0.05 * noise;
            let gap = series >= 6 && (430..434).contains(&t);
            rows.push((!gap).then_some(&[x]));
        }
        Samples::Channels(rows)
    };
    let series = (0..8).map(|one| (["low", "rising"][one / 2 % 2], sound(one / 2 % 2, one)));
    Dataset::labelled(Kind::Channels(vec!["x".into()]), series).expect("series")
}

#[test]
fn mel_cepstra_give_the_same_bits() {
    let data = sounds();
    let views = data.series().iter().skip(4).map(|one| one.samples.view());
    let recording = Recording::new(views, None);
    let classifier = trained_behind(&data, "cepstra=128/64/12/5@8000");
    assert_eq!(classifier.row_size(), 5);
    on_device("mps2-an386", &classifier.deploy().expect("fits in f32"), &recording, true);
}
