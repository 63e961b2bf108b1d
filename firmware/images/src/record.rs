//! `record` on the chosen board: samples out over its serial port, for `fishweir record`. The boards under QEMU have no
//! sensor: a counter stands for one.
#![no_std]
#![no_main]

use embedded_hal::delay::DelayNs;
use fishweir_device::applications::record::Recorder;
use fishweir_firmware::boards::Parts;
use fishweir_firmware::image::{self, entry};

/// Nanoseconds between two samples: two hundred per second.
const PERIOD_NS: u32 = 5_000_000;

/// Value of the counter at a sample: the samples before it, and their distance from the next multiple of a hundred. Each
/// fiftieth sample is not observed.
fn measure(sample: u16) -> Option<[f32; 2]> {
    let phase = sample % 100;
    (sample % 50 != 49).then_some([f32::from(sample), f32::from(phase.min(100 - phase))])
}

#[entry]
fn main() -> ! {
    let Parts { mut serial, mut delay, .. } = image::start("record");
    let mut recorder = Recorder::new(["count", "triangle"], PERIOD_NS.into());
    let mut sample = 0_u16;
    loop {
        let done = recorder.push(&mut serial, measure(sample).as_ref());
        image::expect(done, "the line broke");
        sample = sample.wrapping_add(1);
        delay.delay_ns(PERIOD_NS);
    }
}
