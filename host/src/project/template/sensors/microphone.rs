/// Samples that come at once, and such blocks that wait for the program.
const BLOCK: usize = 256;
static BLOCKS: Channel<CriticalSectionRawMutex, (usize, [i16; BLOCK]), 4> = Channel::new();

/// Samples of the microphone.
pub struct Sensor {
    block: [i16; BLOCK],
    /// Samples of the block that are done.
    done: usize,
    /// Samples before it that are lost: the program was too slow.
    lost: usize,
}

impl Sensor {
    /// A microphone before its first sample.
    pub fn new() -> Self {
        Self { block: [0; BLOCK], done: BLOCK, lost: 0 }
    }

    /// Waits for the next sample.
    pub async fn wait(&mut self) {
        if self.done == BLOCK {
            let (lost, block) = BLOCKS.receive().await;
            *self = Self { block, done: 0, lost: lost * BLOCK };
        }
    }

    /// Returns the next sample, from -1 to 1 as in a recording; `None` if it is lost.
    pub fn measure(&mut self) -> Option<[f32; 1]> {
        if self.lost > 0 {
            self.lost -= 1;
            return None;
        }
        let digits = *self.block.get(self.done)?;
        self.done += 1;
        Some([f32::from(digits) / 32_768.0])
    }
}

/// Hears while a program runs.
pub async fn beside<F: Future>(program: F) -> F::Output {
    match select(hear(), program).await {
        Either::First(never) => never,
        Either::Second(output) => output,
    }
}

/// Hands a block over, with the number of those before it that found no room.
fn give(lost: &mut usize, block: &[i16; BLOCK]) {
    match BLOCKS.try_send((*lost, *block)) {
        Ok(()) => *lost = 0,
        Err(_) => *lost += 1,
    }
}
