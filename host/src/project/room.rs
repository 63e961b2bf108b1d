//! Estimate, before the image exists, of whether it has room on a board.

use serde::Serialize;

use super::self_test::most_compared;
use super::{ProjectBoard, ProjectModel, Watcher};
use crate::deploy::{Cost, Enough};
use crate::words::grouped;

/// Memory that an image takes, and memory of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// Bytes of RAM that it takes, from the least to the most: static memory, and the stack with a stream's state.
    pub ram: [usize; 2],
    /// Bytes of RAM on the board.
    pub ram_there: usize,
    /// Bytes of flash that it takes: code, model, and samples of the self-test.
    pub flash: [usize; 2],
    /// Bytes of flash on the board.
    pub flash_there: usize,
}

/// Bytes that outlive a reset.
const STATIC: usize = 68;

/// Bytes of stack beside those copies, rows of numbers along all directions that the filter holds at once, and copies of the
/// state: one is made where a stream begins anew. The deepest stacks of projects under QEMU lie between.
const STACK: [(usize, usize, f64); 2] = [(60, 6, 2.0), (1500, 24, 2.2)];

/// Bytes of code and constants without model and self-test: a filter of symbols or channels, start-up code and what
/// talks with them.
const CODE: [usize; 2] = [8_000, 56_000];

/// Bytes that drivers, log and executor take on real boards beside that: of RAM, and of flash.
const DRIVERS: [[usize; 2]; 2] = [[1_000, 5_000], [0, 24_000]];

/// Bytes that a conversation, updates and their signatures take: of RAM, and of flash. Images of a Cortex-M4F lie between.
const UPDATES: [[usize; 2]; 2] = [[500, 12_000], [50_000, 80_000]];

/// Bytes that a conversation and lessons take.
const LESSONS: [[usize; 2]; 2] = [[500, 8_000], [8_000, 40_000]];

/// Bytes of a finding of a self-test.
const FINDING: usize = 20;

impl Room {
    /// Memory of an image with a model on a board, with `samples` samples for its self-test.
    #[must_use]
    pub fn of(board: &ProjectBoard, model: ProjectModel<'_>, samples: [usize; 2]) -> Self {
        let self_test = samples.map(|samples| {
            let compared = samples.min(most_compared(model));
            samples * model.form().bytes() + compared * model.decision_bytes()
        });
        Self::with(board, &model.cost(), model.row_bytes(), self_test)
    }

    /// The same for an image that takes new models on this board, and keeps them in slots.
    #[must_use]
    pub fn with_updates(self, board: &ProjectBoard) -> Self {
        let [copied, kept] = board.update_bytes();
        self.beside(UPDATES, copied, kept)
    }

    /// The same for an image that is taught classes on this board, and keeps them in slots.
    #[must_use]
    pub fn with_lessons(self, board: &ProjectBoard) -> Self {
        let [_, kept] = board.update_bytes();
        self.beside(LESSONS, 0, kept)
    }

    fn beside(self, [of_ram, of_flash]: [[usize; 2]; 2], copied: usize, kept: usize) -> Self {
        Self {
            ram: [0, 1].map(|end| self.ram[end] + of_ram[end] + copied),
            flash: [0, 1].map(|end| self.flash[end] + of_flash[end]),
            flash_there: self.flash_there.saturating_sub(kept),
            ..self
        }
    }

    /// Memory of an image around a watcher on a board.
    #[must_use]
    pub fn of_watcher(board: &ProjectBoard, watcher: &Watcher) -> Self {
        let [sample_bytes, model_bytes, state_bytes] = watcher.bytes;
        let self_test = watcher.samples() * sample_bytes + watcher.findings() * FINDING;
        let cost = Cost { model_bytes, state_bytes, ..Cost::default() };
        Self::with(board, &cost, watcher.row_bytes, [self_test; 2])
    }

    fn with(board: &ProjectBoard, cost: &Cost, row_bytes: usize, self_test: [usize; 2]) -> Self {
        let [of_ram, of_flash] = if board.is_emulated() { [[0; 2]; 2] } else { DRIVERS };
        let stack = |(rest, rows, copies): (usize, usize, f64)| {
            rest + rows * row_bytes + (copies * cost.state_bytes as f64).ceil() as usize
        };
        let [flash_there, ram_there] = board.memories();
        Self {
            ram: [0, 1].map(|end| STATIC + of_ram[end] + stack(STACK[end])),
            ram_there,
            flash: [0, 1].map(|end| of_flash[end] + CODE[end] + cost.model_bytes + self_test[end]),
            flash_there,
        }
    }

    /// Returns whether RAM suffices.
    #[must_use]
    pub fn ram_holds(&self) -> Enough {
        Enough::of(self.ram_there, self.ram)
    }

    /// Returns whether flash suffices.
    #[must_use]
    pub fn flash_holds(&self) -> Enough {
        Enough::of(self.flash_there, self.flash)
    }

    /// Returns whether both suffice.
    #[must_use]
    pub fn holds(&self) -> Enough {
        self.ram_holds().and(self.flash_holds())
    }

    /// What does not surely suffice: `RAM 9 000 to 20 000 of 16 384 B`.
    #[must_use]
    pub fn short(&self) -> String {
        let memories = [
            ("RAM", self.ram_holds(), self.ram, self.ram_there),
            ("flash", self.flash_holds(), self.flash, self.flash_there),
        ];
        let short = memories.into_iter().filter(|(_, holds, ..)| *holds != Enough::Yes);
        let short = short.map(|(name, _, takes, there)| {
            format!("{name} {} of {} B", takes.map(grouped).join(" to "), grouped(there))
        });
        short.collect::<Vec<_>>().join(", ")
    }

    /// Bytes of a state, and of a model in flash, that surely leave room for as much else as this image takes.
    #[must_use]
    pub fn at_most(&self, cost: &Cost) -> [usize; 2] {
        let copies = STACK[1].2;
        let beside = self.ram[1] - (copies * cost.state_bytes as f64).ceil() as usize;
        let state = self.ram_there.saturating_sub(beside) as f64 / copies;
        let model = (self.flash_there + cost.model_bytes).saturating_sub(self.flash[1]);
        // States are whole words of eight bytes.
        [state as usize / 8 * 8, model / 4 * 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(board: &str, cost: &Cost) -> Room {
        let board = ProjectBoard::named(board).expect("a board");
        Room::with(board, cost, 128, [10_240; 2])
    }

    #[test]
    fn a_state_is_on_the_stack_twice() {
        let cost = Cost { state_bytes: 8248, model_bytes: 38_724, ..Cost::default() };
        assert_eq!(on("microbit", &cost).ram_holds(), Enough::No);
        assert_eq!(on("microbit", &cost).flash_holds(), Enough::Yes);
        assert_eq!(on("lm3s6965evb", &cost).holds(), Enough::Yes);
        let room = on("nucleo-g071rb", &Cost { model_bytes: 120_000, ..cost });
        assert_eq!([room.ram_holds(), room.flash_holds()], [Enough::Yes, Enough::No]);
        assert_eq!(room.holds(), Enough::No);
    }

    #[test]
    fn what_is_told_to_fit_fits() {
        for name in ["microbit", "nucleo-g071rb", "esp32c3"] {
            let large = Cost { state_bytes: 8248, model_bytes: 38_724, ..Cost::default() };
            let [state_bytes, model_bytes] = on(name, &large).at_most(&large);
            let cost = Cost { state_bytes, model_bytes, ..large };
            assert_eq!(on(name, &cost).holds(), Enough::Yes, "{name}: {cost:?}");
            for more in [
                Cost { state_bytes: state_bytes + 16, ..cost },
                Cost { model_bytes: model_bytes + 8, ..cost },
            ] {
                assert_eq!(on(name, &more).holds(), Enough::Perhaps, "{name}: {more:?}");
            }
        }
    }
}
