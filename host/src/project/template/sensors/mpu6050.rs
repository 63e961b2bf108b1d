//! {{part}}, by the crate `{{driver}}`: {{what}}, at {{odr_hertz}} Hz.
//!
//! The newest sample is read when one is due. A sensor that does not answer is set up anew.

use embassy_time::Delay;
use mpu6050_dmp::accel::AccelFullScale;
use mpu6050_dmp::address::Address;
use mpu6050_dmp::config::DigitalLowPassFilter;
{{turning?}}use mpu6050_dmp::gyro::GyroFullScale;
use mpu6050_dmp::sensor::Mpu6050;

use crate::bus::{self, Bus};

type Driver = Mpu6050<Bus>;

/// Bit of a new sample among the causes of an interrupt.
const READY: u8 = 0x01;

{{sensor}}
/// Sets the sensor up: up to 8 g{{turning_range}}. Its pin AD0 is low.
fn start() -> Option<Driver> {
    let mut driver = Mpu6050::new(bus::take()?, Address::default()).ok()?;
    // Its settings are those of a reset.
    driver.reset(&mut Delay).ok()?;
    driver.disable_sleep().ok()?;
    driver.set_accel_full_scale(AccelFullScale::G8).ok()?;
{{turning?}}    driver.set_gyro_full_scale(GyroFullScale::Deg1000).ok()?;
    // With a filter it counts down from 1 kHz.
    driver.set_digital_lowpass_filter(DigitalLowPassFilter::{{filter}}).ok()?;
    driver.set_sample_rate_divider({{odr}}).ok()?;
    driver.interrupt_data_ready_en().ok()?;
    Some(driver)
}

{{turning?}}/// Acceleration along x, y, z, in g, and turning about them, in degrees per second.
{{turning?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 6]>, Lost> {
{{still?}}/// Acceleration along x, y, z, in g.
{{still?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 3]>, Lost> {
    if driver.interrupt_read_clear().map_err(|_| Lost)? & READY == 0 {
        return Ok(None);
    }
{{turning?}}    let (acceleration, turning) = driver.motion6().map_err(|_| Lost)?;
{{turning?}}    let turning = turning.scaled(GyroFullScale::Deg1000);
{{turning?}}    let [gx, gy, gz] = [turning.x(), turning.y(), turning.z()];
{{still?}}    let acceleration = driver.accel().map_err(|_| Lost)?;
    let acceleration = acceleration.scaled(AccelFullScale::G8);
    let [ax, ay, az] = [acceleration.x(), acceleration.y(), acceleration.z()];
    Ok(Some([{{axes}}]))
}
