//! Emulated boards: every bit is the host's, costs are as promised, faults are survived. These tests fail
//! where QEMU or a target is missing.

mod applications;
mod bits;
mod c_interface;
mod c_source;
mod costs;
mod counts;
mod faults;
mod fixed;
mod fronts;
mod kernels;
mod machines;
mod measure;
mod micropython;
mod steps;
mod streams;

use fishweir::device::{BOARDS, Board};

/// Whether `tests/boards` asks.
fn all_boards() -> bool {
    std::env::var_os("FISHWEIR_BOARDS").is_some_and(|boards| boards == "all")
}

/// A board without hardware for floats and one with it. With `FISHWEIR_BOARDS=all`, as `tests/boards` has it, every
/// board.
fn some_boards() -> impl Iterator<Item = &'static Board> {
    let some = ["microbit", "mps2-an386"];
    BOARDS.iter().filter(move |board| all_boards() || some.contains(&board.name))
}

/// A board of each kind of core: without hardware for floats, with it, and no Arm at all. With
/// `FISHWEIR_BOARDS=all`, as `tests/boards` has it, every board.
fn boards() -> impl Iterator<Item = &'static Board> {
    let some = ["microbit", "mps2-an386", "riscv-virt"];
    BOARDS.iter().filter(move |board| all_boards() || some.contains(&board.name))
}

/// On a board of each kind of core.
fn on_every_kind_of_core(mut test: impl FnMut(&'static Board)) {
    boards().for_each(|board| on(board, &mut test));
}

/// On a core without an FPU and on one with.
fn on_boards(mut test: impl FnMut(&'static Board)) {
    some_boards().for_each(|board| on(board, &mut test));
}

fn on(board: &'static Board, test: &mut impl FnMut(&'static Board)) {
    println!("{}", board.name);
    test(board);
}
