//! {{part}}, by the PDM interface: its clock is {{mic_clock}}, its data {{mic_data}}. {{what}}, at {{odr_hertz}} Hz.

use embassy_futures::select::{Either, select};
use embassy_nrf::pdm::{Config, Frequency, InterruptHandler, Pdm, Ratio, SamplerState};
use embassy_nrf::peripherals::PDM;
use embassy_nrf::{Peripherals, bind_interrupts};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;

bind_interrupts!(struct Interrupts { PDM => InterruptHandler<PDM>; });

{{sensor}}
/// Takes the microphone, and hears for ever.
async fn hear() -> ! {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let mut config = Config::default();
    // 1.28 MHz by 80: 16 kHz.
    config.frequency = Frequency::_1280k;
    config.ratio = Ratio::Ratio80;
    let mut pdm = Pdm::new(parts.PDM, Interrupts, parts.{{mic_clock}}, parts.{{mic_data}}, config);
    let (mut buffers, mut lost) = ([[0; BLOCK]; 2], 0);
    loop {
        let each = |block: &[i16; BLOCK]| {
            give(&mut lost, block);
            SamplerState::Sampled
        };
        // It ends only where it is told to.
        let _ = pdm.run_task_sampler(&mut buffers, each).await;
    }
}
