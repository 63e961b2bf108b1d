//! {{part}}, by ADC1 with the calibration of the chip: {{what}}, each converted when a sample is due.

use esp_hal::Blocking;
use esp_hal::analog::adc::{
    Adc, AdcCalCurve, AdcChannel, AdcConfig, AdcPin, Attenuation,
};
use esp_hal::peripherals::{ADC1, {{adc_a}}, Peripherals};
{{two?}}use esp_hal::peripherals::{{adc_b}};
{{three?}}use esp_hal::peripherals::{{adc_c}};
{{four?}}use esp_hal::peripherals::{{adc_d}};

type Curve = AdcCalCurve<ADC1<'static>>;
type Pin<P> = AdcPin<P, ADC1<'static>, Curve>;
type Converter = Adc<'static, ADC1<'static>, Blocking>;

/// The converter and its pins.
struct Driver {
    adc: Converter,
    a: Pin<{{adc_a}}<'static>>,
{{two?}}    b: Pin<{{adc_b}}<'static>>,
{{three?}}    c: Pin<{{adc_c}}<'static>>,
{{four?}}    d: Pin<{{adc_d}}<'static>>,
}

{{sensor}}
/// Takes the converter and its pins, for up to some 3 V.
fn start() -> Option<Driver> {
    // SAFETY: nothing else takes what is taken here.
    let parts = unsafe { Peripherals::steal() };
    let mut config = AdcConfig::new();
    let a = config.enable_pin_with_cal::<_, Curve>(parts.{{adc_a}}, Attenuation::_11dB);
{{two?}}    let b = config.enable_pin_with_cal::<_, Curve>(parts.{{adc_b}}, Attenuation::_11dB);
{{three?}}    let c = config.enable_pin_with_cal::<_, Curve>(parts.{{adc_c}}, Attenuation::_11dB);
{{four?}}    let d = config.enable_pin_with_cal::<_, Curve>(parts.{{adc_d}}, Attenuation::_11dB);
    Some(Driver {
        adc: Adc::new(parts.ADC1, config),
        a,
{{two?}}        b,
{{three?}}        c,
{{four?}}        d,
    })
}

/// Voltages of the pins.
fn read(driver: &mut Driver) -> Result<Option<[f32; {{count}}]>, Lost> {
    Ok(Some([
        volts(&mut driver.adc, &mut driver.a),
{{two?}}        volts(&mut driver.adc, &mut driver.b),
{{three?}}        volts(&mut driver.adc, &mut driver.c),
{{four?}}        volts(&mut driver.adc, &mut driver.d),
    ]))
}

/// Voltage of a pin: the curve gives millivolts.
fn volts<P: AdcChannel>(adc: &mut Converter, pin: &mut Pin<P>) -> f32 {
    loop {
        if let Ok(millivolts) = adc.read_oneshot(pin) {
            return f32::from(millivolts) / 1000.0;
        }
    }
}
