//! {{part}}, by the SAADC: {{what}}, each converted when a sample is due.

use core::pin::pin;
use core::task::{Context, Waker};

use embassy_nrf::saadc::{ChannelConfig, Config, InterruptHandler, Saadc};
use embassy_nrf::{Peripherals, bind_interrupts};

bind_interrupts!(struct Interrupts { SAADC => InterruptHandler; });

type Driver = Saadc<'static, {{count}}>;

/// Volts of one digit: 12 bits for six times the reference of 0.6 V.
const VOLTS: f32 = 3.6 / 4096.0;

{{sensor}}
/// Takes the converter and its pins.
fn start() -> Option<Driver> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let channels = [
        ChannelConfig::single_ended(parts.{{adc_a}}),
{{two?}}        ChannelConfig::single_ended(parts.{{adc_b}}),
{{three?}}        ChannelConfig::single_ended(parts.{{adc_c}}),
{{four?}}        ChannelConfig::single_ended(parts.{{adc_d}}),
    ];
    Some(Saadc::new(parts.SAADC, Interrupts, Config::default(), channels))
}

/// Voltages of the pins: some 20 microseconds each.
fn read(driver: &mut Driver) -> Result<Option<[f32; {{count}}]>, Lost> {
    let mut digits = [0; {{count}}];
    {
        let mut sampled = pin!(driver.sample(&mut digits));
        let mut context = Context::from_waker(Waker::noop());
        while sampled.as_mut().poll(&mut context).is_pending() {}
    }
    Ok(Some(digits.map(|digits| f32::from(digits) * VOLTS)))
}
