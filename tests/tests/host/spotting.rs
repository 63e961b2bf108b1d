//! The source of a spotter: it compiles, and what it spots is what the host spots, bit for bit.

use fishweir::classifier::{Observations, Provenance};
use fishweir::data::{Sample, Samples};
use fishweir::deploy::{SpottedClass, SpotterModel};
use fishweir::runtime::{Emissions, Hmm};
use fishweir_core::filter::Stream;

/// What [`coins`] is exported as: it comes with the firmware.
const SOURCE: &str = include_str!("../../../firmware/models/spotter.rs");

#[allow(unreachable_pub, missing_docs, dead_code)]
mod exported {
    include!("../../../firmware/models/spotter.rs");
}

/// A coin that now and then favours a side for some tosses: with a model of one state, or of two.
fn coins() -> SpotterModel {
    let coin = |heads: &[f64]| {
        let states = heads.len();
        let stays = |from: usize, to: usize| match (states, from == to) {
            (1, _) => 1.0,
            (_, true) => 0.9,
            (_, false) => 0.1,
        };
        let row = |from| (0..states).map(|to| stays(from, to)).collect();
        let emission = heads.iter().map(|&heads| vec![heads, 1.0 - heads]).collect();
        Hmm {
            initial: vec![1.0 / states as f64; states],
            transition: (0..states).map(row).collect(),
            emission: Emissions::categorical(emission),
        }
    };
    let class = |name: &str, heads: &[f64], exit| SpottedClass {
        name: name.into(),
        model: coin(heads),
        entry: 0.02,
        exit,
    };
    SpotterModel {
        observations: Observations::Symbols("HT".into()),
        background: coin(&[0.5]),
        classes: vec![class("heads", &[0.95], 0.05), class("tails", &[0.1, 0.02], 0.04)],
        lag: 60,
        provenance: Provenance::default(),
    }
}

/// Without the line that names the program's version.
fn body(source: &str) -> &str {
    source.split_once('\n').expect("a line").1
}

#[test]
fn a_spotters_source_compiles_and_spots_what_the_host_spots() {
    let model = coins();
    let spotter = model.deploy().expect("sound");
    if std::env::var_os("FISHWEIR_UPDATE_SOURCE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../firmware/models/spotter.rs");
        std::fs::write(path, spotter.to_source()).expect("written");
    }
    assert_eq!(body(&spotter.to_source()), body(SOURCE), "FISHWEIR_UPDATE_SOURCE=1 writes it anew");

    // Fair tosses, and every 200 of them forty that favour heads and forty that favour tails.
    let (mut tosses, mut state) = (Vec::new(), 1_u32);
    for t in 0..4_000_usize {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let chance = (state >> 8) as f32 / (1 << 24) as f32;
        let heads = match t % 200 {
            50..90 => 0.95,
            140..180 => 0.05,
            _ => 0.5,
        };
        tosses.push((t % 37 != 0).then_some(u16::from(chance >= heads)));
    }
    let mut device = Stream::new(&exported::MODEL);
    let mut told = Vec::new();
    for (t, toss) in tosses.iter().enumerate() {
        device.push(toss.map(usize::from).as_ref()).expect("possible");
        told.extend(device.read().events.iter().map(|&event| (event, t as u64 + 1)));
    }
    let mut host = spotter.stream();
    let mut found = Vec::new();
    // A symbol that is unknown is refused: missing, once.
    let odd = tosses.iter().map(|toss| Some(toss.unwrap_or(7))).collect();
    assert_eq!(
        spotter.spot(&Samples::Symbols(odd).view()),
        spotter.spot(&Samples::Symbols(tosses.clone()).view())
    );
    let tosses = Samples::Symbols(tosses);
    for sample in tosses.view().iter() {
        host.push(sample).expect("possible");
        found.extend(host.decided().iter().map(|one| (one.event, one.decided)));
    }
    assert_eq!(told, found);
    assert!(found.len() > 30, "{} events", found.len());
    assert!(found.iter().any(|(event, _)| event.class == 1) && host.push(Sample::Missing).is_ok());
    assert_eq!((exported::CLASSES, exported::MODEL.lag()), (["heads", "tails"], 60));
    exported::MODEL.validate().expect("sound");
}
