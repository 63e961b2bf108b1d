//! When to ask again, and when to send on.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::Options;

/// Times at which a question is repeated: after one silence, two more, four more. A device that is merely slow,
/// emulated on a busy machine, would otherwise drown in questions.
#[derive(Default)]
pub(super) struct Repeats {
    silences: u32,
    asked: u32,
}

impl Repeats {
    /// Returns whether to ask again, after one more silence.
    pub(super) fn due(&mut self) -> bool {
        self.silences += 1;
        let due = self.silences == 1 << self.asked;
        if due {
            (self.silences, self.asked) = (0, self.asked + 1);
        }
        due
    }
}

/// Holds samples back until earlier ones are answered, for a line without flow control.
pub(super) struct Pace {
    ahead: usize,
    heard: mpsc::Receiver<usize>,
    /// Samples that are answered, or whose answers are lost.
    settled: usize,
    /// Wait after which an answer is lost: above what the device takes for one.
    most: Duration,
    /// Part of that wait beside what the device was seen to take.
    retry: Duration,
}

impl Pace {
    /// Times what the slowest answer took that another is waited for.
    const SLOWER: u32 = 4;

    /// A pace of at most `ahead` samples without answers; `heard` gives how many are answered or lost.
    pub(super) fn new(ahead: usize, heard: mpsc::Receiver<usize>, options: &Options) -> Self {
        // Nobody knows yet how slow the device is.
        let most = options.patience.min(10 * options.retry);
        Self { ahead, heard, settled: 0, most, retry: options.retry }
    }

    /// Waits until `more` samples may follow the `sent` ones, or, for too many, until none is unanswered.
    pub(super) fn wait(&mut self, sent: usize, more: usize) {
        let most = self.ahead.saturating_sub(more);
        while sent.saturating_sub(self.settled) > most {
            let began = Instant::now();
            match self.heard.recv_timeout(self.most) {
                Ok(settled) => {
                    let took = Self::SLOWER * began.elapsed() + self.retry;
                    self.most = if self.settled == 0 { took } else { self.most.max(took) };
                    self.settled = self.settled.max(settled);
                }
                // Lost; or a listener that has gone has its own error to tell.
                Err(_) => self.settled = sent,
            }
        }
    }
}
