//! Events of categories: a classifier and an alarm, their lists and tables unknown, and the application that
//! takes events as text.

use core::convert::Infallible;
use core::hint::black_box;

use embedded_io::{ErrorType, Read, Write};
use fishweir_core::filter::{ForgettingFactor, Stream, Streaming};
use fishweir_core::network::{Discrepancy, DiscrepancyTables, FactorClassifier, FactorLayout};
use fishweir_device::applications::Form;
use fishweir_device::applications::events::{Line, Names, Verdict, events};
use fishweir_device::meter::NoMeter;

use super::drive;

/// A serial port: any bytes come, and all that is written goes, as on every board.
pub(super) struct Port;

impl ErrorType for Port {
    type Error = Infallible;
}

impl Read for Port {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Infallible> {
        buffer.fill(black_box(0));
        // No more than there is room for, as every reader promises.
        Ok(black_box(buffer.len()).min(buffer.len()))
    }
}

impl Write for Port {
    fn write(&mut self, buffer: &[u8]) -> Result<usize, Infallible> {
        black_box(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The application `events`: records as text, their names unknown, and answers.
#[inline(never)]
fn lines<R: Streaming<Observation = [u16], Reading: Verdict>>(model: &R) {
    static NAMES: [&str; 2] = ["lamp", "fan"];
    static STATES: [&[&str]; 2] = [&["off", "on"], &["low", "high", "a, b"]];
    let (columns, states) = (black_box(&NAMES[..]), black_box(&STATES[..]));
    let names = Names { columns, states, classes: black_box(&NAMES[..]) };
    let (mut event, mut field) = ([0; 4], [0; 8]);
    let mut line = Line::new(names, black_box(&mut event[..]), black_box(&mut field[..]));
    line.damage();
    let report =
        events(&mut Port, &NoMeter, &mut Stream::new(model), &mut line, black_box(Form::Frames));
    black_box(report).ok();
}

/// Sums of look-ups and discrepancies over lists that the optimiser does not know.
#[inline(never)]
pub(super) fn network() {
    static LISTS: [u16; 16] = [0; 16];
    static TABLE: [f32; 64] = [0.0; 64];
    let (list, table) = (|| black_box(&LISTS[..]), || black_box(&TABLE[..]));
    let Ok(terms) = FactorLayout::new(list(), list(), list()) else { return };
    black_box(terms.bytes());
    terms.ranges().for_each(|cells| _ = black_box(cells));
    if let Ok(sum) = FactorClassifier::new(terms, [table(); 3], black_box([0.0_f32; 3])) {
        black_box(sum.validate()).ok();
        drive(&sum, list());
        lines(&sum);
    }
    let settings = black_box([0.5_f32, 1.0, 1.0]);
    let [lost, threshold, least] = settings;
    let memory = ForgettingFactor::from_one_minus_lambda(lost);
    let tables = DiscrepancyTables::new(terms, table(), table(), memory, threshold, least);
    let Ok(tables) = tables else { return };
    black_box(tables.validate()).ok();
    if let Ok(alarm) = Discrepancy::<f32, 3, 20>::new(tables) {
        drive(&alarm, list());
        lines(&alarm);
    }
}
