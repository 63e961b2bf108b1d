//! `symbols` on the chosen board: text in over its serial port, one decision per line out.
#![no_std]
#![no_main]

use fishweir_core::filter::Stream;
use fishweir_device::applications::Form;
use fishweir_device::applications::symbols::symbols;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_model::{self as model, ALPHABET, CLASSES};

#[entry]
fn main() -> ! {
    let Parts { mut serial, .. } = image::start("symbols");
    let model = image::expect(model::load(), "the model was refused");
    let mut classifier = Stream::new(model::windows(model));
    let form = if cfg!(feature = "terminal") { Form::Terminal } else { Form::Frames };
    let outcome = symbols(&mut serial, &mut classifier, &ALPHABET, &CLASSES, form);
    image::finish(outcome, "the stream broke off")
}
