//! Front ends, whatever their settings, before a classifier.

use core::hint::black_box;

use fishweir_core::classify::StreamClassifier;
use fishweir_core::emission::Gaussian;
use fishweir_core::front::{Cepstra, Decimate, Fronted, Magnitude, Then};
use fishweir_core::hmm::Hmm;

use super::{STATES, drive, some};

type Heard<const D: usize> = StreamClassifier<Hmm<Gaussian<D>, STATES>, 2, 1>;

/// All of them.
#[inline(never)]
pub(crate) fn all() {
    let group = black_box([true, false, true]);
    let strengths = Then::new(Magnitude::<3, 2>::new(group), Decimate::<2>::new(black_box(4)));
    drive(&Fronted::new(strengths, some::<Heard<2>>()), &black_box([0.0; 3]));
    if let Ok(sound) = Cepstra::<128, 64, 8, 6, 6>::new(black_box(64), black_box(8000.0)) {
        drive(&Fronted::new(sound, some::<Heard<6>>()), &black_box([0.0]));
    }
}
