//! The conversation over the wire: requests of any bytes, and the application around it.

use core::hint::black_box;

use fishweir_core::classify::teach::{ClassName, TaughtClasses, TeachingBasis, whitened_evidence};
use fishweir_core::classify::{Calibration, StreamClassifier, WindowClassifier};
use fishweir_core::contract::Contract;
use fishweir_core::emission::{Alphabet, Categorical, Emission, Gaussian};
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::hmm::Hmm;
use fishweir_core::kernel::{Coreset, DenseFeatures};
use fishweir_core::network::{EventFeatures, FactorLayout};
use fishweir_core::number::Dual;
use fishweir_device::applications::Form;
use fishweir_device::applications::classify_stream::classify_stream;
use fishweir_device::applications::record::Recorder;
use fishweir_device::applications::symbols::symbols;
use fishweir_device::classifier::WireSample;
use fishweir_device::meter::NoMeter;
use zerocopy::FromZeros;

use super::network::Port;
use super::some;

/// Runs sessions over symbols and over channels.
#[inline(never)]
pub(super) fn session() {
    converse::<Categorical<16, Dual<f32, 1>>>();
    converse::<Gaussian<3, Dual<f32, 1>>>();
    letters();
    record();
    lesson();
}

/// Taught classes from any bytes, and windows of any evidence; coresets of these and of events.
#[inline(never)]
fn lesson() {
    let Ok(basis) = TeachingBasis::read(black_box(&[])) else { return };
    let Ok(mut taught) = TaughtClasses::<3, 5>::read(&basis, black_box(&[])) else { return };
    let Ok(name) = ClassName::new(black_box("name")) else { return };
    let classifier = some::<StreamClassifier<Hmm<Categorical<16, Dual<f32, 1>>, 4>, 3, 2>>();
    let state = black_box(classifier.initial_state());
    let limits = black_box([[0.0, 1.0]; 2]);
    let calibration = Calibration { scale: 1.0, least_margin: 0.0, likelihoods: &limits };
    black_box(taught.show_state(&basis, &name, &classifier, &state)).ok();
    black_box(taught.predict(&basis, black_box(Some(&calibration)), &classifier, &state));
    black_box(taught.forget(&name)).ok();
    black_box(taught.write(black_box(&mut [0; 64][..]))).ok();
    let windows = Coreset::<_, 3, 5>::new(DenseFeatures::<[f32; 5]>::new());
    let mut kept = windows.initial_state();
    let Ok(features) = whitened_evidence(&basis, &classifier, &state) else { return };
    black_box(windows.push(&mut kept, black_box(Some(&features)))).ok();
    black_box(windows.read(&kept));
    let terms = FactorLayout::new(black_box(&[2, 2]), black_box(&[1, 2]), black_box(&[0, 0, 1]));
    let Ok(terms) = terms else { return };
    let Ok(features) =
        EventFeatures::<[u16; 2]>::new(terms, black_box(&[0.5; 6]), black_box(&[2.0; 6]))
    else {
        return;
    };
    let events = Coreset::<_, 3, 6>::new(features);
    let mut kept = events.initial_state();
    black_box(events.push(&mut kept, black_box(Some(&[0, 1])))).ok();
    black_box(events.read(&kept));
}

/// Samples and names of any kind.
#[inline(never)]
fn record() {
    static NAMES: [&str; 3] = ["x", "y", "z"];
    let mut recorder = Recorder::new(black_box(NAMES), black_box(20_000_000));
    for sample in black_box([Some([0.0, f32::NAN, -1.0]), None]) {
        black_box(recorder.push(&mut Port, sample.as_ref())).ok();
    }
}

/// Text in both forms.
#[inline(never)]
fn letters() {
    static NAMES: [&str; 2] = ["plain", "repeat"];
    let classifier = some::<StreamClassifier<Hmm<Categorical<16, Dual<f32, 1>>, 4>, 3, 2>>();
    let contract = black_box(Contract::read(black_box(&[]))).unwrap_or(Contract::NONE);
    let windows = WindowClassifier::<_, 4>::from_parts(&classifier, &contract);
    let alphabet = black_box(Alphabet::new("ACGT", "N-", true));
    let (mut stream, names, form) =
        (Stream::new(windows), black_box(&NAMES[..]), black_box(Form::Frames));
    black_box(symbols(&mut Port, &mut stream, &alphabet, names, form)).ok();
}

#[inline(never)]
fn converse<E>()
where
    E: Emission<Weight = Dual<f32, 1>, Observation: WireSample + Sized> + FromZeros,
{
    let classifier = some::<StreamClassifier<Hmm<E, 4>, 3, 2>>();
    // On windows that nobody knows beforehand, channels and all.
    let contract = black_box(Contract::read(black_box(&[]))).unwrap_or(Contract::NONE);
    let windows = WindowClassifier::<_, 4>::from_parts(&classifier, &contract);
    black_box(classify_stream(&mut Port, &mut Stream::new(windows), &NoMeter)).ok();
}
