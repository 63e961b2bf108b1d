//! Front ends and lags, whatever their settings, before a classifier.

use core::hint::black_box;

use fishweir_core::artefact::{self, StoredClassifier};
use fishweir_core::classify::{Coded, Heard, StreamClassifier};
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Recursion;
use fishweir_core::front::{Cepstra, Decimate, Fronted, Magnitude, Slopes, Then, VectorQuantiser};
use fishweir_core::hmm::Hmm;
use fishweir_core::lagged::Lagged;

use super::{STATES, drive, some};

type Bank<const D: usize> = StreamClassifier<Hmm<Gaussian<D>, STATES>, 2, 1>;

type Symbols = StreamClassifier<Hmm<Categorical<4>, STATES>, 2, 1>;

/// What an artefact holds, read, whatever is in it.
fn stored<C: StoredClassifier>() {
    black_box(artefact::read::<C>(black_box(&[0; 64])).is_ok());
}

/// All front ends.
#[inline(never)]
pub(crate) fn all() {
    type Strengths = Then<Magnitude<3, 2>, Decimate<2>>;
    stored::<Fronted<Strengths, Bank<2>>>();
    stored::<Fronted<Slopes<1, 2, 8>, Bank<2>>>();
    drive(&Fronted::new(Slopes::<1, 2, 8>::new(), some::<Bank<2>>()), &black_box([0.0]));
    stored::<Fronted<VectorQuantiser<3, 4>, Symbols>>();
    stored::<Fronted<Cepstra<128, 64, 8, 6, 6>, Bank<6>>>();
    let group = black_box([true, false, true]);
    let strengths = Then::new(Magnitude::<3, 2>::new(group), Decimate::<2>::new(black_box(4)));
    drive(&Fronted::new(strengths, some::<Bank<2>>()), &black_box([0.0; 3]));
    if let Ok(words) = VectorQuantiser::<3, 4>::new(black_box([1.0; 3]), black_box([[0.0; 3]; 4])) {
        let symbols = some::<Symbols>();
        drive(&Fronted::new(words, symbols), &black_box([0.0; 3]));
    }
    if let Ok(sound) = Cepstra::<128, 64, 8, 6, 6>::new(black_box(64), black_box(8000.0)) {
        drive(&Fronted::new(sound, some::<Bank<6>>()), &black_box([0.0]));
    }
}

/// Codebooks, whatever their numbers, beside a classifier, and read with it.
#[inline(never)]
pub(crate) fn coded() {
    type Beside<C> = Coded<C, f32, 2, 2, 16, 1, 2>;
    type AtLags = Lagged<StreamClassifier<Heard<Hmm<Gaussian<4>, STATES>, 6, 4>, 2, 1>, 2, 6, 2, 4>;
    let coded = some::<Beside<Bank<2>>>();
    drive(&coded, &black_box([0.0; 2]));
    black_box(coded.validate().is_ok());
    let bytes = black_box(&[0; 64]);
    black_box(artefact::read::<Beside<Bank<2>>>(bytes).is_ok());
    black_box(artefact::read::<Beside<AtLags>>(bytes).is_ok());
}

/// The past at lags, whatever these are, or differences from it, before a classifier.
#[inline(never)]
pub(crate) fn lagged<C, const PAST: bool>()
where
    Lagged<C, 2, 6, 2, 4, PAST>: StoredClassifier + Recursion<Observation = [f32; 2]>,
{
    let lagged = some::<Lagged<C, 2, 6, 2, 4, PAST>>();
    drive(&lagged, &black_box([0.0; 2]));
    black_box(artefact::read::<Lagged<C, 2, 6, 2, 4, PAST>>(black_box(&[0; 64])).is_ok());
}
