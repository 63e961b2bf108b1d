//! {{part}}, by the crate `{{driver}}`: {{what}}, at {{odr_hertz}} Hz.
//!
//! The newest sample is read when one is due. A sensor that does not answer is set up anew.

{{turning?}}use lsm6dso::{GyroscopeFullScale, GyroscopeOutput};
use lsm6dso::{AccelerometerOutput, AccelerometerScale, Lsm6dso};

use crate::bus::{self, Bus};

type Driver = Lsm6dso<Bus>;

/// Address where the pin SDO/SA0 is low; 0x6B where it is high.
const ADDRESS: u8 = 0x6A;

{{sensor}}
/// Sets the sensor up: up to 8 g{{turning_range}}.
fn start() -> Option<Driver> {
    let mut driver = Lsm6dso::new(bus::take()?, ADDRESS);
    driver.check().ok()?;
    driver.set_accelerometer_output(AccelerometerOutput::{{odr}}).ok()?;
    driver.set_accelerometer_scale(AccelerometerScale::G08).ok()?;
{{turning?}}    driver.set_gyroscope_output(GyroscopeOutput::{{odr}}).ok()?;
{{turning?}}    driver.set_gyroscope_scale(GyroscopeFullScale::Dps1000).ok()?;
    Some(driver)
}

{{turning?}}/// Acceleration along x, y, z, in m/s2, and turning about them, in rad/s.
{{turning?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 6]>, Lost> {
{{still?}}/// Acceleration along x, y, z, in m/s2.
{{still?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 3]>, Lost> {
    if !driver.accel_data_available().map_err(|_| Lost)? {
        return Ok(None);
    }
    let (ax, ay, az) = driver.read_accelerometer().map_err(|_| Lost)?;
{{turning?}}    let (gx, gy, gz) = driver.read_gyro().map_err(|_| Lost)?;
    Ok(Some([{{axes}}]))
}
