//! Check, before a project is written, that a board has room and speed for it.

use std::path::Path;

use fishweir::deploy::{Enough, FixedPoint};
use fishweir::project::{PROJECT_BOARDS, ProjectBoard, ProjectModel, Room};
use fishweir::report::{OnBoard, grouped, grouped_to_three_digits, to_three_digits};

use super::{Failure, Topic, note};

/// A project that is to be written.
pub(super) struct Wanted<'a> {
    pub(super) file: &'a Path,
    pub(super) board: &'static ProjectBoard,
    pub(super) model: ProjectModel<'a>,
    /// Fixed-point form of the model, if it has one and the project is to be in `f32`.
    pub(super) fixed: Option<&'a FixedPoint>,
    /// Number of samples of the self-test.
    pub(super) samples: usize,
    pub(super) rate: f64,
    /// Room of an image with what the program does beside its decisions.
    pub(super) beside: fn(Room, &ProjectBoard) -> Room,
}

/// Refuses a board whose memories cannot hold an image, and notes if they may not suffice. `place` names numbers, board and memories.
pub(super) fn check_room(
    file: &Path,
    holds: Enough,
    place: &str,
    instead: impl FnOnce() -> String,
) -> Result<(), Failure> {
    match holds {
        Enough::No => Err(Failure::input(
            Topic::NoRoom,
            format!("{}: no room {place}: {}", file.display(), instead()),
        )),
        Enough::Perhaps => {
            note(
                Topic::TightRoom,
                format_args!(
                    "there may be no room {place}: the linker checks flash, but not the stack; {}",
                    instead()
                ),
            );
            Ok(())
        }
        Enough::Yes => Ok(()),
    }
}

/// The boards on which there surely is room.
pub(super) fn other_boards(room: impl Fn(&ProjectBoard) -> Room) -> String {
    let others = PROJECT_BOARDS.iter().filter(|board| room(board).holds() == Enough::Yes);
    let others: Vec<&str> = others.map(|board| board.name).collect();
    match others.as_slice() {
        [] => "no other board has".to_owned(),
        names => format!("there is room on {}", names.join(", ")),
    }
}

impl Wanted<'_> {
    /// Refuses a board whose memories cannot hold the image, and notes if they or the processor may not suffice.
    pub(super) fn check(&self) -> Result<Room, Failure> {
        let on_board = self.on(self.model);
        let place = format!("in {} on {}", self.model.number(), on_board.short());
        check_room(self.file, on_board.holds, &place, || self.instead(&on_board.room))?;
        self.note_pace(&on_board);
        Ok(on_board.room)
    }

    /// Says where the processor may not keep up.
    fn note_pace(&self, on_board: &OnBoard) {
        let Some(pace) = &on_board.pace else { return };
        let words = match pace.keeps_up() {
            Enough::Yes => return,
            Enough::Perhaps => "may not keep",
            Enough::No => "cannot keep",
        };
        let [least, most] = pace.instructions.map(|count| grouped(count.round() as usize));
        let [idle, busy] = pace.busy.map(|busy| grouped_to_three_digits(100.0 * busy));
        // What is surely kept up with, rounded downwards.
        let slower = self.rate / pace.busy[1];
        let slower = if slower >= 1.0 { slower.floor() } else { 0.99 * slower };
        let (number, fixed) = (self.model.number(), self.fixed_keeps_up());
        note(
            Topic::SlowBoard,
            format_args!(
                "{} {words} up with {} samples per second in {number}: {least} to {most} instructions per sample are \
                 {idle} to {busy} % of {} MHz; it keeps up with --rate {}{fixed}",
                self.board.name,
                grouped_to_three_digits(self.rate),
                to_three_digits(f64::from(self.board.clock.hertz) / 1e6),
                to_three_digits(slower),
            ),
        );
    }

    fn on(&self, model: ProjectModel<'_>) -> OnBoard {
        let on_board = OnBoard::of(self.board, model, [self.samples; 2], Some(self.rate));
        let room = (self.beside)(on_board.room, self.board);
        on_board.with_room(room)
    }

    fn room_on(&self, board: &ProjectBoard) -> Room {
        (self.beside)(Room::of(board, self.model, [self.samples; 2]), board)
    }

    /// Alternatives if there is no room.
    fn instead(&self, room: &Room) -> String {
        let mut ways = Vec::new();
        if let Some(fixed) = self.fixed {
            match self.on(ProjectModel::Q15(fixed)).holds {
                Enough::Yes => ways.push("--number q15 has room".to_owned()),
                Enough::Perhaps => ways.push("--number q15 may have room".to_owned()),
                Enough::No => {}
            }
        }
        let [state, model] = room.at_most(&self.model.cost());
        if state > 0 && model > 0 {
            ways.push(format!("fit --max-ram {state} --max-flash {model} makes a model that has"));
        }
        ways.push(other_boards(|board| self.room_on(board)));
        ways.join("; ")
    }

    /// Hint that fixed point keeps up, if it does.
    fn fixed_keeps_up(&self) -> &'static str {
        let pace = self.fixed.and_then(|fixed| self.on(ProjectModel::Q15(fixed)).pace);
        match pace.map(|pace| pace.keeps_up()) {
            Some(Enough::Yes) => ", and --number q15 keeps up",
            Some(Enough::Perhaps) => ", and --number q15 may keep up",
            _ => "",
        }
    }
}
