//! Events of categories: a classifier and an alarm, their lists and tables unknown, and events as text.

use core::hint::black_box;

use fishweir_core::filter::ForgettingFactor;
use fishweir_core::network::{Discrepancy, DiscrepancyTables, NodeSum, Terms};

use fishweir_firmware::applications::events::{Line, Names};

use super::drive;

/// Records as text, their names unknown.
#[inline(never)]
pub(super) fn lines() {
    static STATES: [&[&str]; 2] = [&["off", "on"], &["low", "high", "a, b"]];
    let names = Names { columns: &[], states: black_box(&STATES[..]), classes: &[] };
    let (mut event, mut field) = ([0; 4], [0; 8]);
    let mut line = Line::new(names, black_box(&mut event[..]), black_box(&mut field[..]));
    black_box(&b"on,\"a, b\""[..]).iter().for_each(|&byte| line.take(byte));
    black_box(line.is_empty());
    line.damage();
    black_box(line.end()).ok();
}

/// Sums of look-ups and discrepancies over lists that the optimiser does not know.
#[inline(never)]
pub(super) fn network() {
    static LISTS: [u16; 16] = [0; 16];
    static TABLE: [f32; 64] = [0.0; 64];
    let (list, table) = (|| black_box(&LISTS[..]), || black_box(&TABLE[..]));
    let Ok(terms) = Terms::new(list(), list(), list()) else { return };
    black_box(terms.bytes());
    terms.ranges().for_each(|cells| _ = black_box(cells));
    if let Ok(sum) = NodeSum::new(terms, [table(); 3], black_box([0.0_f32; 3])) {
        black_box(sum.validate()).ok();
        drive(&sum, list());
    }
    let settings = black_box([0.5_f32, 1.0, 1.0]);
    let [lost, threshold, least] = settings;
    let memory = ForgettingFactor::from_lost(lost);
    let tables = DiscrepancyTables::new(terms, table(), table(), memory, threshold, least);
    let Ok(tables) = tables else { return };
    black_box(tables.validate()).ok();
    if let Ok(alarm) = Discrepancy::<f32, 3, 20>::new(tables) {
        drive(&alarm, list());
    }
}
