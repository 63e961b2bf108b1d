//! A small classifier of symbols, and images of it.

use std::path::Path;

use fishweir::deploy::Deployed;
use fishweir::device::{Board, Firmware, Image, ModelFile};
use fishweir::learn::ClassifierKind;
pub(crate) use fishweir_tests::quick::strings;
use fishweir_tests::quick::trained;

/// A quick fit.
pub(crate) fn classifier() -> Deployed {
    trained(&strings(90), ClassifierKind::Fisher).deploy().expect("fits in f32")
}

/// An image of an application with the classifier in it, read in place.
pub(crate) fn image(deployed: &Deployed, application: &str, folder: &Path) -> Image {
    let artefact = folder.join("model.fishweir");
    deployed.save_artefact(&artefact).expect("writes");
    let board = Board::named(Board::default_name()).expect("a board");
    let elf = folder.join("image.elf");
    Firmware::in_repository()
        .and_then(|firmware| {
            firmware.build(board, application, ModelFile::Artefact(&artefact), &elf)
        })
        .expect("builds")
}
