//! The parts that projects have a driver of, and what is known of them.

/// A sensor that projects have a driver of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorPart {
    /// ST's LIS2DH12, an accelerometer; LIS3DH and LIS2DH have the same registers.
    Lis2dh12,
    /// ST's LSM6DSO: accelerometer and gyroscope.
    Lsm6dso,
    /// Bosch's BMI270: accelerometer and gyroscope.
    Bmi270,
    /// TDK's MPU-6050: accelerometer and gyroscope.
    Mpu6050,
    /// Voltages at one to four pins.
    Adc,
    /// A microphone with PDM or I2S, as the board has it.
    Microphone,
}

/// Place of a sensor on a board: what the sources of the board have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SensorPlace {
    Bus,
    Inputs,
    Ear,
}

/// Facts of a part.
pub(super) struct PartFacts {
    pub(super) title: &'static str,
    /// Name of the driver crate, and its line of TOML.
    pub(super) driver: &'static str,
    pub(super) package: &'static str,
    pub(super) template: &'static str,
    /// `true` if it measures turning too.
    pub(super) turns: bool,
    /// Units of the driver: acceleration, turning.
    pub(super) units: [&'static str; 2],
    /// Samples per second, and the driver's name of that.
    pub(super) rates: &'static [(f64, &'static str)],
}

const LIS2DH12: PartFacts = PartFacts {
    title: "the LIS2DH12",
    driver: "lis2dh",
    package: "lis2dh = \"0.4.0\"\n",
    template: include_str!("template/sensors/lis2dh12.rs"),
    turns: false,
    units: ["g", ""],
    rates: &[
        (1.0, "Hz1"),
        (10.0, "Hz10"),
        (25.0, "Hz25"),
        (50.0, "Hz50"),
        (100.0, "Hz100"),
        (200.0, "Hz200"),
        (400.0, "Hz400"),
    ],
};

const LSM6DSO: PartFacts = PartFacts {
    title: "the LSM6DSO",
    driver: "lsm6dso",
    package: "lsm6dso = \"0.2.1\"\n",
    template: include_str!("template/sensors/lsm6dso.rs"),
    turns: true,
    units: ["m/s2", "rad/s"],
    rates: &[
        (12.5, "Rate12_5"),
        (26.0, "Rate26"),
        (52.0, "Rate52"),
        (104.0, "Rate104"),
        (208.0, "Rate208"),
        (416.0, "Rate416"),
        (833.0, "Rate833"),
    ],
};

const BMI270: PartFacts = PartFacts {
    title: "the BMI270",
    driver: "bmi2",
    package: "bmi2 = \"0.1.2\"\n",
    template: include_str!("template/sensors/bmi270.rs"),
    turns: true,
    units: ["g", "deg/s"],
    rates: &[
        (25.0, "Odr25"),
        (50.0, "Odr50"),
        (100.0, "Odr100"),
        (200.0, "Odr200"),
        (400.0, "Odr400"),
        (800.0, "Odr800"),
    ],
};

/// Its rates are 1 kHz, divided.
const MPU6050: PartFacts = PartFacts {
    title: "the MPU-6050",
    driver: "mpu6050-dmp",
    package: "mpu6050-dmp = \"0.6.1\"\n",
    template: include_str!("template/sensors/mpu6050.rs"),
    turns: true,
    units: ["g", "deg/s"],
    rates: &[],
};

/// Voltages at pins: the board has the driver.
const ADC: PartFacts = PartFacts {
    title: "the ADC",
    driver: "",
    package: "",
    template: "",
    turns: false,
    units: ["V", ""],
    rates: &[],
};

const MICROPHONE: PartFacts = PartFacts {
    title: "the microphone",
    package: "embassy-sync = \"0.8\"\n",
    units: ["", ""],
    ..ADC
};

/// Channels of analogue inputs, at the most.
pub(super) const INPUTS: usize = 4;

/// Samples per second that the MPU-6050 divides, and its largest divisor.
pub(super) const BASE_RATE: f64 = 1000.0;
pub(super) const MOST_DIVISOR: f64 = 256.0;
/// Bandwidths of its low-pass filters, in Hz.
pub(super) const FILTERS: [(f64, &str); 6] = [
    (184.0, "Filter1"),
    (94.0, "Filter2"),
    (44.0, "Filter3"),
    (21.0, "Filter4"),
    (10.0, "Filter5"),
    (5.0, "Filter6"),
];

impl SensorPart {
    /// All parts, by their names.
    pub const NAMES: [(&str, Self); 6] = [
        ("lis2dh12", Self::Lis2dh12),
        ("lsm6dso", Self::Lsm6dso),
        ("bmi270", Self::Bmi270),
        ("mpu6050", Self::Mpu6050),
        ("adc", Self::Adc),
        ("microphone", Self::Microphone),
    ];

    pub(super) fn place(self) -> SensorPlace {
        match self {
            Self::Adc => SensorPlace::Inputs,
            Self::Microphone => SensorPlace::Ear,
            _ => SensorPlace::Bus,
        }
    }

    pub(super) fn facts(self) -> &'static PartFacts {
        match self {
            Self::Lis2dh12 => &LIS2DH12,
            Self::Lsm6dso => &LSM6DSO,
            Self::Bmi270 => &BMI270,
            Self::Mpu6050 => &MPU6050,
            Self::Adc => &ADC,
            Self::Microphone => &MICROPHONE,
        }
    }
}
