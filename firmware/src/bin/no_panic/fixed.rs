//! Fixed point, and how a model gets into it.

use core::hint::black_box;

use fishweir_core::Part;
use fishweir_core::classify::{ChannelSubset, Codebooks, StreamClassifier, WithCodebooks};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{
    CategoricalLogQ15, CategoricalLogQ15View, CategoricalQ15, CategoricalQ15View, ChannelQ15,
    Emission, GaussianQ15,
};
use fishweir_core::filter::Forward;
use fishweir_core::hmm::Hmm;
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::number::{
    FineQ15, Q15, fine_exponent, quantise_fine_row, quantise_rates, quantise_row, rate_unit,
};
use zerocopy::FromZeros;

use super::{STATES, classifier, drive, some};

pub(super) fn fixed() {
    filter::<CategoricalQ15<16>>(&black_box(0));
    filter::<CategoricalQ15<16, 2>>(&black_box(0));
    filter::<GaussianQ15<3>>(&black_box([0; 3]));
    filter::<GaussianQ15<3, 2>>(&black_box([0; 3]));
    classifier::<Hmm<CategoricalQ15<16, 3>, STATES>>(&black_box(0));
    classifier::<Hmm<GaussianQ15<3, 3>, STATES>>(&black_box([0; 3]));
    classifier::<ContextModel<Steps, CategoricalLogQ15<16, 3>, STATES>>(&black_box(0));
    classifier::<ContextModel<Steps, GaussianQ15<3, 3>, STATES>>(&black_box([0; 3]));
    beside();
    tables();
}

/// Differences at lags and codebooks, with any numbers.
#[inline(never)]
fn beside() {
    type Bank = StreamClassifier<ChannelSubset<Hmm<GaussianQ15<4, 1>, STATES>, 6, 4>, 2, 1>;
    type AtLags = LagFeatures<Bank, Lookback<2, 4>, 2>;
    let coded = some::<WithCodebooks<AtLags, Codebooks<[[i16; 2]; 2], 1, 2>, 16>>();
    black_box(coded.validate().is_ok());
    drive(&coded, &black_box([0; 2]));
}

#[inline(never)]
fn filter<E: Emission + FromZeros>(x: &E::Observation)
where
    Hmm<E, STATES>: FromZeros,
{
    let hmm = some::<Hmm<E, STATES>>();
    let _ = black_box(hmm.validate());
    drive(Forward::of(&hmm), x);
}

#[inline(never)]
fn tables() {
    let _ = black_box(ChannelQ15::new(black_box(1.0), black_box(2.0), black_box(0)));
    let _ = black_box(ChannelQ15::integer(black_box(3.0)));
    black_box(CategoricalQ15View::<0>::entry_for(
        black_box(0.5),
        CategoricalQ15View::<0>::exponent_for(black_box(0.5)),
    ));
    black_box(CategoricalLogQ15View::entry_for(black_box(0.5)));
    let (row, exponents) = (some::<[f64; 4]>(), some::<[u16; 4]>());
    let mut table = black_box([Q15::ZERO; 4]);
    let _ = black_box(quantise_row(&row, &mut table, Part::Initial, black_box(0)));
    let fine = quantise_fine_row(&row, &exponents, &mut table, Part::Transition, black_box(0));
    let _ = black_box(fine);
    black_box(fine_exponent(black_box(0.5), row.iter().copied()));
    let unit = black_box(rate_unit(black_box(0.5))).unwrap_or_default();
    let set = |entry: usize, rate: Q15| {
        black_box((entry, rate));
    };
    let _ = black_box(quantise_rates(&row, unit, black_box(true), black_box(0), set));
    black_box((&table, some::<FineQ15<2>>()));
}
