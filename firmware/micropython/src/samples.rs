//! Samples, as Python has them, to observations of the model.

use fishweir_core::emission::Letter;
use fishweir_core::filter::Streaming;
use fishweir_model::Model;

use crate::Status;
use crate::runtime::{Object, Runtime};
use crate::sample::Sample;

pub(crate) type Observation = <Model as Streaming>::Observation;

/// Channels of a sample; 0 over symbols.
const CHANNELS: usize = match Observation::CHANNELS {
    Some(channels) => channels,
    None => 0,
};

/// The observation that an object is: `None` is a missing sample, and a missing channel. An error of MicroPython's is raised
/// for an object of another kind.
pub(crate) fn observation(runtime: Runtime, object: Object) -> Result<Option<Observation>, Status> {
    if object == runtime.none() {
        return Ok(None);
    }
    if CHANNELS == 0 {
        return symbol(runtime, object);
    }
    let items: [Object; CHANNELS] = runtime.items(object);
    let mut channels = [f32::NAN; CHANNELS];
    // The last comes first.
    for (channel, &item) in channels.iter_mut().zip(items.iter().rev()) {
        if item != runtime.none() {
            *channel = runtime.to_float(item);
        }
    }
    Observation::of_channels(&channels).map(Some)
}

/// A symbol by its index, or by its letter or word.
fn symbol(runtime: Runtime, object: Object) -> Result<Option<Observation>, Status> {
    let index = match (runtime.bytes_of(&object), fishweir_model::alphabet()) {
        (Some(text), Some(alphabet)) => {
            let letter = match text {
                [byte] if !alphabet.is_of_words() => alphabet.decode(*byte),
                word => alphabet.decode_word(word),
            };
            match letter {
                Letter::Symbol(index) => u16::try_from(index).ok(),
                Letter::Missing => return Ok(None),
                Letter::Unknown => None,
            }
        }
        _ => {
            let number = runtime.to_float(object);
            let index = number as u16;
            (f32::from(index) == number).then_some(index)
        }
    };
    Observation::of_symbol(index.ok_or(Status::Invalid)?).map(Some)
}
