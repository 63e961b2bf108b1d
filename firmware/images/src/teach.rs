//! `teach` on the chosen board: classifies a stream, and is taught up to four further classes over the same line.
//!
//! The model was fitted with `fishweir fit --teachable`.
#![no_std]
#![no_main]

use fishweir_core::classify::teach::TaughtClasses;
use fishweir_device::applications::teach::{Lesson, teach};
use fishweir_firmware::boards::{Board, Parts, Selected};
use fishweir_firmware::image::{self, entry};
use fishweir_model as model;

/// Most taught classes.
const MOST: usize = 4;
const NUMBERS: usize = model::TEACHING_NUMBERS;

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("teach");
    let classifier = image::expect(model::load(), "the model was refused");
    let flash = image::expect(Selected::flash(), "no flash to save to");
    let lesson = Lesson {
        basis: model::teaching(),
        calibration: model::calibration(),
        known: &model::CLASSES,
    };
    let mut buffer = [0; TaughtClasses::<MOST, NUMBERS>::RECORD_LONGEST];
    let done = teach::<_, _, _, _, _, _, MOST, NUMBERS>(
        &mut serial,
        flash,
        &meter,
        model::windows(classifier),
        lesson,
        &mut buffer,
    );
    image::finish(done, "nothing could be taught, or the stream broke off")
}
