//! When to ask again, and when to send on.

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

/// Number of samples that may be unanswered on a line without flow control, and the wait after which an answer is lost.
pub(super) struct Pace {
    ahead: usize,
    /// Samples that are answered, or whose answers are lost.
    settled: usize,
    /// Wait after which an answer is lost: above what the device takes for one.
    most: Duration,
    /// Part of that wait beside what the device was seen to take.
    retry: Duration,
    /// Time since which an answer is waited for.
    began: Instant,
}

impl Pace {
    /// Times what the slowest answer took that another is waited for.
    const SLOWER: u32 = 4;

    /// A pace of at most `ahead` samples without answers.
    pub(super) fn new(ahead: usize, options: &Options) -> Self {
        // Nobody knows yet how slow the device is.
        let most = options.patience.min(10 * options.retry);
        Self { ahead, settled: 0, most, retry: options.retry, began: Instant::now() }
    }

    /// Returns whether one more sample may follow the `sent` ones.
    pub(super) fn has_room(&self, sent: usize) -> bool {
        sent.saturating_sub(self.settled) < self.ahead
    }

    /// Returns whether none of the `sent` samples is waited for.
    pub(super) fn is_settled(&self, sent: usize) -> bool {
        self.settled >= sent
    }

    /// Begins to wait for an answer.
    pub(super) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Takes in that `heard` of the `sent` samples are answered or lost. After too long a wait all others are lost, too.
    pub(super) fn settle(&mut self, heard: usize, sent: usize) {
        if heard > self.settled {
            let took = Self::SLOWER * self.began.elapsed() + self.retry;
            self.most = if self.settled == 0 { took } else { self.most.max(took) };
            self.settled = heard;
            self.begin();
        } else if self.began.elapsed() >= self.most {
            self.settled = sent;
        }
    }
}
