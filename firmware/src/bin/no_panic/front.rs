//! Front ends and lags before a classifier, with any settings.

use core::hint::black_box;

use fishweir_core::artefact::{self, StoredClassifier};
use fishweir_core::classify::{ChannelSubset, Codebooks, StreamClassifier, WithCodebooks};
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Streaming;
use fishweir_core::front::{
    Cepstra, Decimate, Magnitude, Pipe, Preprocessed, Slopes, VectorQuantiser,
};
use fishweir_core::hmm::Hmm;
use fishweir_core::lagged::{LagFeatures, Lookback};

use super::{STATES, drive, some};

type Bank<const D: usize> = StreamClassifier<Hmm<Gaussian<D>, STATES>, 2, 1>;

type Symbols = StreamClassifier<Hmm<Categorical<4>, STATES>, 2, 1>;

/// Reads an artefact of any content.
fn stored<C: StoredClassifier>() {
    black_box(artefact::read::<C>(black_box(&[0; 64])).is_ok());
}

/// All front ends.
#[inline(never)]
pub(crate) fn all() {
    type Strengths = Pipe<Magnitude<3, 2>, Decimate<2>>;
    stored::<Preprocessed<Strengths, Bank<2>>>();
    stored::<Preprocessed<Slopes<1, 8>, Bank<2>>>();
    drive(&Preprocessed::new(Slopes::<1, 8>::new(), some::<Bank<2>>()), &black_box([0.0]));
    stored::<Preprocessed<VectorQuantiser<3, 4>, Symbols>>();
    stored::<Preprocessed<Cepstra<64, 8, 6>, Bank<6>>>();
    let group = black_box([true, false, true]);
    let strengths = Pipe::new(Magnitude::<3, 2>::new(group), Decimate::<2>::new(black_box(4)));
    drive(&Preprocessed::new(strengths, some::<Bank<2>>()), &black_box([0.0; 3]));
    if let Ok(words) = VectorQuantiser::<3, 4>::new(black_box([1.0; 3]), black_box([[0.0; 3]; 4])) {
        let symbols = some::<Symbols>();
        drive(&Preprocessed::new(words, symbols), &black_box([0.0; 3]));
    }
    if let Ok(sound) = Cepstra::<64, 8, 6>::new(black_box(64), black_box(8000.0)) {
        drive(&Preprocessed::new(sound, some::<Bank<6>>()), &black_box([0.0]));
    }
}

/// A classifier with codebooks, with any numbers, and its readings.
#[inline(never)]
pub(crate) fn coded() {
    type Beside<C> = WithCodebooks<C, Codebooks<[[f32; 2]; 2], 1, 2>, 16>;
    type AtLags = LagFeatures<
        StreamClassifier<ChannelSubset<Hmm<Gaussian<4>, STATES>, 6, 4>, 2, 1>,
        Lookback<2, 4>,
        2,
    >;
    let coded = some::<Beside<Bank<2>>>();
    drive(&coded, &black_box([0.0; 2]));
    black_box(coded.validate().is_ok());
    let bytes = black_box(&[0; 64]);
    black_box(artefact::read::<Beside<Bank<2>>>(bytes).is_ok());
    black_box(artefact::read::<Beside<AtLags>>(bytes).is_ok());
}

/// The past at any lags, or differences from it, before a classifier.
#[inline(never)]
pub(crate) fn lagged<C, const PAST: bool>()
where
    LagFeatures<C, Lookback<2, 4, PAST>, 2>: StoredClassifier + Streaming<Observation = [f32; 2]>,
{
    let lagged = some::<LagFeatures<C, Lookback<2, 4, PAST>, 2>>();
    drive(&lagged, &black_box([0.0; 2]));
    black_box(
        artefact::read::<LagFeatures<C, Lookback<2, 4, PAST>, 2>>(black_box(&[0; 64])).is_ok(),
    );
}
