//! What the module says of its model.

use fishweir_model::{CHANNEL_PLACES, CHANNELS, CLASSES, CONTRACT};

use crate::runtime::{Context, Object, Runtime, name};

/// Seconds from one sample to the next; 0 where they are unknown.
const PERIOD: f32 = match CONTRACT.period {
    Some(period) => (period.nanoseconds as f64 / 1e9) as f32,
    None => 0.0,
};

/// Stores the constants in the module's globals.
pub(crate) fn store(runtime: Runtime, context: Context) {
    let texts =
        |texts: &'static [&'static str]| runtime.texts(context, texts.len(), texts.iter().copied());
    runtime.store(context, name::CLASSES, texts(&CLASSES));
    runtime.store(context, name::CHANNELS, texts(&CHANNELS));
    let symbols = match fishweir_model::alphabet() {
        Some(alphabet) if alphabet.is_of_words() => {
            runtime.texts(context, alphabet.size(), alphabet.symbols().split('\n'))
        }
        Some(alphabet) => runtime.text(alphabet.symbols()),
        None => runtime.none(),
    };
    runtime.store(context, name::SYMBOLS, symbols);
    let mut places = [Object::NULL; CHANNEL_PLACES.len()];
    for (place, &power) in places.iter_mut().zip(&CHANNEL_PLACES) {
        *place = runtime.integer(power.into());
    }
    runtime.store(context, name::PLACES, runtime.tuple(&places));
    let windows = CONTRACT.windows;
    let [length, hop] = windows.map_or([0; 2], |windows| [windows.length, windows.hop]);
    runtime.store(context, name::WINDOW, runtime.count(length as usize));
    runtime.store(context, name::HOP, runtime.count(hop as usize));
    let period = if PERIOD > 0.0 { runtime.float(PERIOD) } else { runtime.none() };
    runtime.store(context, name::PERIOD, period);
}
