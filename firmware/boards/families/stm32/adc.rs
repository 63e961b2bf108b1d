//! {{part}}, by ADC1: {{what}}, each converted when a sample is due.

use embassy_stm32::adc::{Adc, SampleTime};
use embassy_stm32::peripherals::{ADC1, {{adc_a}}};
{{two?}}use embassy_stm32::peripherals::{{adc_b}};
{{three?}}use embassy_stm32::peripherals::{{adc_c}};
{{four?}}use embassy_stm32::peripherals::{{adc_d}};
use embassy_stm32::{Peri, Peripherals};

/// The converter and its pins.
struct Driver {
    adc: Adc<'static, ADC1>,
    a: Peri<'static, {{adc_a}}>,
{{two?}}    b: Peri<'static, {{adc_b}}>,
{{three?}}    c: Peri<'static, {{adc_c}}>,
{{four?}}    d: Peri<'static, {{adc_d}}>,
}

/// Volts of one digit: 12 bits for the reference, the board's 3.3 V.
const VOLTS: f32 = 3.3 / 4096.0;

/// The sixth of the chip's eight sample times: some 40 to 120 clocks of the converter.
const TIME: u8 = 5;

{{sensor}}
/// Takes the converter and its pins.
fn start() -> Option<Driver> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    Some(Driver {
        adc: Adc::new(parts.ADC1),
        a: parts.{{adc_a}},
{{two?}}        b: parts.{{adc_b}},
{{three?}}        c: parts.{{adc_c}},
{{four?}}        d: parts.{{adc_d}},
    })
}

/// Voltages of the pins.
fn read(driver: &mut Driver) -> Result<Option<[f32; {{count}}]>, Lost> {
    let digits = [
        driver.adc.blocking_read(&mut driver.a, SampleTime::from_bits(TIME)),
{{two?}}        driver.adc.blocking_read(&mut driver.b, SampleTime::from_bits(TIME)),
{{three?}}        driver.adc.blocking_read(&mut driver.c, SampleTime::from_bits(TIME)),
{{four?}}        driver.adc.blocking_read(&mut driver.d, SampleTime::from_bits(TIME)),
    ];
    Ok(Some(digits.map(|digits| f32::from(digits) * VOLTS)))
}
