//! `classify_stream` on the chosen board: samples in over its serial port, decisions out.
#![no_std]
#![no_main]

use fishweir_core::filter::Stream;
use fishweir_device::applications::classify_stream::classify_stream;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_model as model;

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("classify_stream");
    let model = image::expect(model::load(), "the model was refused");
    let mut classifier = Stream::new(model::windows(model));
    image::finish(classify_stream(&mut serial, &mut classifier, &meter), "the stream broke off")
}
