//! `events` on the chosen board: records as text over its serial port, decisions or alarms out.
#![no_std]
#![no_main]

use fishweir_core::filter::Stream;
use fishweir_device::applications::Form;
use fishweir_device::applications::events::{Line, Names, events, longest};
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};
use fishweir_model::{self as model, CLASSES, COLUMNS, STATES};

#[entry]
fn main() -> ! {
    let Parts { mut serial, meter, .. } = image::start("events");
    let model = image::expect(model::load(), "the model was refused");
    let names = Names { columns: &COLUMNS, states: &STATES, classes: &CLASSES };
    let (mut event, mut field) = ([0; COLUMNS.len()], [0; longest(&STATES)]);
    let mut line = Line::new(names, &mut event, &mut field);
    let form = if cfg!(feature = "terminal") { Form::Terminal } else { Form::Frames };
    let outcome = events(&mut serial, &meter, &mut Stream::new(model), &mut line, form);
    image::finish(outcome, "the stream broke off")
}
