//! A small classifier of symbols, and strings for it.

use std::path::Path;

use fishweir::data::{Dataset, ReadOptions};
use fishweir::deploy::Deployed;
use fishweir::device::{Board, Firmware, Image, ModelFile};
use fishweir::learn::{Augment, ClassifierKind, TrainOptions, train};

/// Eight strings of two kinds over four letters, with missing letters; ragged, so that streams end
/// at different times.
pub(crate) fn strings(length: usize) -> Dataset {
    let mut text = String::from("label\tid\tsequence\n");
    for series in 0..8 {
        let sequence: String = (0..length + 7 * series)
            .map(|t| match (t * t + 3 * series * t) % 11 {
                0 => 'N',
                rest if series < 4 => ['A', 'C', 'G', 'T'][rest % 4],
                rest => ['A', 'A', 'G', 'T', 'C'][rest % 5],
            })
            .collect();
        text += &format!("{}\ts{series}\t{sequence}\n", ["plain", "skewed"][series / 4]);
    }
    Dataset::parse("strings.tsv", text.as_bytes(), &ReadOptions::default()).expect("reads")
}

/// A quick fit.
pub(crate) fn classifier() -> Deployed {
    let data = strings(90);
    let mut options = TrainOptions::new(ClassifierKind::Fisher);
    options.baum_welch.iterations = 3;
    options.augment = Augment::NONE;
    options.c = vec![1.0];
    options.scalings.truncate(1);
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trained = train(&data, &all, &options, &|| ()).expect("trains");
    trained.classifier.compile().expect("fits in f32")
}

/// An image of an application with the classifier in it, read in place.
pub(crate) fn image(deployed: &Deployed, application: &str, folder: &Path) -> Image {
    let artefact = folder.join("model.fishweir");
    deployed.save_artefact(&artefact).expect("writes");
    let board = Board::named(Board::DEFAULT).expect("a board");
    let elf = folder.join("image.elf");
    Firmware::in_repository()
        .and_then(|firmware| {
            firmware.build(board, application, ModelFile::Artefact(&artefact), &elf)
        })
        .expect("builds")
}
