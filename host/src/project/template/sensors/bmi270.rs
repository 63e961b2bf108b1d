//! {{part}}, by the crate `{{driver}}`: {{what}}, at {{odr_hertz}} Hz.
//!
//! The newest sample is read when one is due. A sensor that does not answer is set up anew.

use bmi2::config::BMI270_CONFIG_FILE;
{{turning?}}use bmi2::types::{GyrBwp, GyrConf, GyrRange, GyrRangeVal, OisRange};
use bmi2::types::{AccBwp, AccConf, AccRange, Burst, Odr, PerfMode, PwrCtrl};
use bmi2::{Bmi2, I2cAddr, interface::I2cInterface};
use embassy_time::Delay;

use crate::bus::{self, Bus};

/// Bytes of the sensor's program that are sent at once.
const BURST: usize = 64;

type Driver = Bmi2<I2cInterface<Bus>, Delay, BURST>;

/// Content of the register `CHIP_ID`.
const IDENTITY: u8 = 0x24;
/// Acceleration of one digit, of 8 g on either side{{turning_digit}}.
const G: f32 = 8.0 / 32_768.0;
{{turning?}}const DEGREES: f32 = 1000.0 / 32_768.0;

{{sensor}}
/// Sets the sensor up: up to 8 g{{turning_range}}. Its pin SDO is low.
fn start() -> Option<Driver> {
    let burst = Burst::new(BURST as u16);
    let mut driver = Driver::new_i2c(bus::take()?, Delay, I2cAddr::Default, burst);
    if driver.get_chip_id().ok()? != IDENTITY {
        return None;
    }
    driver.init(&BMI270_CONFIG_FILE).ok()?;
    let power = PwrCtrl { aux_en: false, gyr_en: {{is_turning}}, acc_en: true, temp_en: false };
    driver.set_pwr_ctrl(power).ok()?;
    let acceleration =
        AccConf { odr: Odr::{{odr}}, bwp: AccBwp::NormAvg4, filter_perf: PerfMode::Perf };
    driver.set_acc_conf(acceleration).ok()?;
    driver.set_acc_range(AccRange::Range8g).ok()?;
{{turning?}}    let turning = GyrConf {
{{turning?}}        odr: Odr::{{odr}},
{{turning?}}        bwp: GyrBwp::Norm,
{{turning?}}        noise_perf: PerfMode::Perf,
{{turning?}}        filter_perf: PerfMode::Perf,
{{turning?}}    };
{{turning?}}    driver.set_gyr_conf(turning).ok()?;
{{turning?}}    let range = GyrRange { range: GyrRangeVal::Range1000, ois_range: OisRange::Range250 };
{{turning?}}    driver.set_gyr_range(range).ok()?;
    Some(driver)
}

{{turning?}}/// Acceleration along x, y, z, in g, and turning about them, in degrees per second.
{{turning?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 6]>, Lost> {
{{still?}}/// Acceleration along x, y, z, in g.
{{still?}}fn read(driver: &mut Driver) -> Result<Option<[f32; 3]>, Lost> {
    if !driver.get_status().map_err(|_| Lost)?.acc_data_ready {
        return Ok(None);
    }
{{turning?}}    let data = driver.get_data().map_err(|_| Lost)?;
{{turning?}}    let turning = [data.gyr.x, data.gyr.y, data.gyr.z];
{{turning?}}    let [gx, gy, gz] = turning.map(|digits| f32::from(digits) * DEGREES);
{{turning?}}    let acceleration = data.acc;
{{still?}}    let acceleration = driver.get_acc_data().map_err(|_| Lost)?;
    let acceleration = [acceleration.x, acceleration.y, acceleration.z];
    let [ax, ay, az] = acceleration.map(|digits| f32::from(digits) * G);
    Ok(Some([{{axes}}]))
}
