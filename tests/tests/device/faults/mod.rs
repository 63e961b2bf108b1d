//! Faults, on the emulated device: a noisy line, a damaged model, power lost while a model is saved.

mod artefact;
mod fixtures;
mod line;
mod log;
mod saving;
mod teaching;
mod updating;
