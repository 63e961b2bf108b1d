//! Applications, each written once: generic over byte streams, buses and classifiers, knowing no board.

pub mod adapt;
pub mod classify_stream;
mod conversation;
#[cfg(test)]
mod damage;
pub mod detect_change;
pub mod events;
pub mod field;
mod lines;
pub mod record;
mod requests;
pub mod spot_events;
pub mod symbols;
pub mod teach;
pub mod watch_sensor;
#[cfg(test)]
mod wire;
mod word;

pub use lines::Form;
