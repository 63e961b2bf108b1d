//! {{part}}, by I2S0: its bit clock is {{mic_clock}}, its word select {{mic_word}}, its data {{mic_data}}. {{what}}, the left channel, at
//! {{odr_hertz}} Hz.

use embassy_futures::select::{Either, select};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::channel::Channel;
use esp_hal::dma_rx_stream_buffer;
use esp_hal::i2s::master::{Channels, DataFormat, I2s, TdmConfig};
use esp_hal::peripherals::Peripherals;
use esp_hal::time::Rate;

{{sensor}}
/// Bytes of a frame: 32 bits of the left channel, and of the right.
const FRAME: usize = 8;

/// Takes the microphone, and hears for ever.
async fn hear() -> ! {
    let mut lost = 0;
    let mut buffer = dma_rx_stream_buffer!(8 * BLOCK * FRAME, BLOCK * FRAME);
    loop {
        // SAFETY: nothing else takes what is taken here, and the driver before is gone.
        let parts = unsafe { Peripherals::steal() };
        let config = TdmConfig::new_tdm_philips()
            .with_sample_rate(Rate::from_hz({{odr}}))
            .with_data_format(DataFormat::Data32Channel32)
            .with_channels(Channels::STEREO);
        let i2s = match I2s::new(parts.I2S0, parts.DMA_CH0, config) {
            Ok(i2s) => i2s.into_async(),
            Err(error) => defmt::panic!("no microphone: {}", error),
        };
        let port = i2s.i2s_rx.with_bclk(parts.{{mic_clock}}).with_ws(parts.{{mic_word}});
        let mut heard = match port.with_din(parts.{{mic_data}}).build().read(buffer) {
            Ok(heard) => heard,
            Err((error, ..)) => defmt::panic!("no microphone: {}", error),
        };
        let mut frames = [[0; FRAME]; BLOCK];
        // What is broken off begins anew.
        while heard.wait_for_available_async().await.is_ok() {
            while heard.available_bytes() >= BLOCK * FRAME {
                heard.pop(frames.as_flattened_mut());
                // The most significant bytes of the left channel.
                give(&mut lost, &frames.map(|[_, _, low, high, ..]| i16::from_le_bytes([low, high])));
            }
        }
        (_, buffer) = heard.stop();
        lost += 1;
    }
}
