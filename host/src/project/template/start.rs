//! The start of the program: the report of what ended the run before, and the self-test.

use crate::board::Board;
use crate::fault;
use crate::report;
{{model?}}use crate::self_test;

/// Faults in a row, with nothing done between them, after which the program no longer begins.
const TOO_MANY: u32 = 3;

/// Takes the board. A program that fails again and again, or differs from the host, ends here.
pub fn begin() -> Board {
    let mut board = Board::new();
    if let Some(fault) = fault::last() {
        report::fault(&fault);
        if fault.in_a_row >= TOO_MANY {
            board.give_up();
        }
    }
{{model?}}    match self_test::run(|| board.feed()) {
{{model?}}        Ok(samples) => report::tested(samples),
{{model?}}        Err(difference) => {
{{model?}}            report::differs(&difference);
{{model?}}            board.give_up();
{{model?}}        }
{{model?}}    }
    board
}
