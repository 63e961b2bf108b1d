//! Deployment: a trained classifier as the `f32` numbers that a device holds, and their recursions.
//!
//! ```text
//! Classifier (f64) --deploy--> Deployed (f32) --+--> Stream, the host's run of it
//!         |                                     +--> Rust source with a `static`, portable C source
//!         |                                     +--> binary artefact, read in place; update for the field
//!         |                                     +--> cost: RAM, flash, multiply-adds
//!         +--quantise--> FixedPoint (Q15)
//! ProfileParts (f64) --> Deployed, one profile: its log-odds, along a direction or alone
//! ModelSet of linear dynamical systems, one per class --> Deployed, by their likelihoods
//! Hmm (f64), direction, normal streams --calibrate--> Detector (f32): alarms of an unlabelled stream
//! SpotterModel (f64) --deploy--> Spotter (f32): events of a continuous stream; Rust source
//! ```
//!
//! The stream runs the core's recursions over the same numbers in the same order as the device, so
//! its decisions, margins and log-likelihoods are the device's, bit for bit.

mod artefact;
mod attach;
mod bank;
mod block;
mod c_source;
mod checksum;
mod codebooks;
mod common;
mod compile;
mod cost;
mod deployed;
mod detector;
mod engine;
mod error;
mod evaluator;
mod explain;
mod fixed;
mod front;
mod kernel_stream;
mod lags;
mod machine;
mod model;
mod model_stream;
mod narrowed;
mod pace;
mod past;
mod profiles;
mod route;
mod signing;
mod source;
mod spotter;
mod stream;
mod strings;
mod systems;
mod update;
mod validate;
mod whole_source;
mod windows;
mod words;

pub use artefact::ArtefactFileError;
pub use c_source::{CNames, CSource, CSourceError};
pub use checksum::device_checksum;
#[cfg(feature = "device")]
pub(crate) use common::Common;
pub use cost::Cost;
pub(crate) use cost::Priced;
pub use deployed::Deployed;
pub use detector::{
    Calibration, CalibrationError, ChangeLimit, Detector, DetectorCost, DetectorModel,
    DetectorStream,
};
pub use engine::{Compiled, EngineKind, Format};
pub use error::{DeployError, PushError};
pub use evaluator::{Description, StoredItems};
pub use explain::{ByChannel, ChannelParts, Explanation};
pub use fixed::{
    Codewords, Deviation, DeviationBound, DeviationLimits, FixedPoint, MeasureError, Q15,
    QuantiseError,
};
pub(crate) use machine::{check_size, has_machines};
pub use pace::{
    CLOCKS, CORES, Core, Currents, DeviceCost, Enough, OperatingPoint, Pace, Takes, Work,
};
pub use profiles::ProfileParts;
pub use route::Route;
pub use signing::{UpdateKey, UpdateKeyError, is_to_be_signed};
pub(crate) use spotter::BACKGROUND_STATES;
pub use spotter::{
    Found, SpottedClass, Spotter, SpotterCost, SpotterError, SpotterModel, SpotterStream,
};
pub use stream::Stream;
pub(crate) use stream::leads;
pub use update::{SELF_TEST_SAMPLES, UpdateFileError};
pub use windows::{OpenWindow, WindowStream};
