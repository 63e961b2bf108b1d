//! {{part}}, by the converter of the chip: {{what}}, each converted when a sample is due.

use embassy_rp::Peripherals;
use embassy_rp::adc::{Adc, Blocking, Channel, Config};
use embassy_rp::gpio::Pull;

type Driver = (Adc<'static, Blocking>, [Channel<'static>; {{count}}]);

/// Volts of one digit: 12 bits for the reference, the board's 3.3 V.
const VOLTS: f32 = 3.3 / 4096.0;

{{sensor}}
/// Takes the converter and its pins.
fn start() -> Option<Driver> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let channels = [
        Channel::new_pin(parts.{{adc_a}}, Pull::None),
{{two?}}        Channel::new_pin(parts.{{adc_b}}, Pull::None),
{{three?}}        Channel::new_pin(parts.{{adc_c}}, Pull::None),
{{four?}}        Channel::new_pin(parts.{{adc_d}}, Pull::None),
    ];
    Some((Adc::new_blocking(parts.ADC, Config::default()), channels))
}

/// Voltages of the pins: 2 microseconds each.
fn read((adc, channels): &mut Driver) -> Result<Option<[f32; {{count}}]>, Lost> {
    let mut volts = [0.0; {{count}}];
    for (volts, channel) in volts.iter_mut().zip(channels) {
        *volts = f32::from(adc.blocking_read(channel).map_err(|_| Lost)?) * VOLTS;
    }
    Ok(Some(volts))
}
