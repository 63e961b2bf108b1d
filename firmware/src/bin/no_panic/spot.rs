//! Spotting and the detection of change: recursions, undecided events, and the applications around them.

use core::hint::black_box;

use fishweir_core::classify::{ChangeDetector, Limit};
use fishweir_core::emission::{Categorical, Emission, Gaussian};
use fishweir_core::filter::{ForgettingFactor, Stream, Streaming};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;
use fishweir_core::spot::Spotter;
use fishweir_device::alarm::Alarm;
use fishweir_device::applications::detect_change::detect_change;
use fishweir_device::applications::spot_events::spot_events;
use fishweir_device::classifier::WireSample;
use fishweir_device::meter::NoMeter;
use zerocopy::FromZeros;

use super::network::Port;
use super::{drive, some};

/// Two families, at two sizes.
#[inline(never)]
pub(super) fn spot() {
    spotter::<Categorical<16>, 7>(&black_box(0));
    spotter::<Gaussian<3>, 12>(&black_box([0.0; 3]));
    detector::<Gaussian<3, Dual<f32, 1>>>();
}

#[inline(never)]
fn detector<E>()
where
    E: Emission<Weight = Dual<f32, 1>, Observation: WireSample + Sized> + FromZeros,
{
    let hmm = some::<Hmm<E, 4>>();
    let [lost, mean, threshold] = black_box([0.5_f32, 0.0, 1.0]);
    let limit = Limit { mean, threshold };
    let detector = ChangeDetector::from_parts(
        hmm,
        ForgettingFactor::from_one_minus_lambda(lost),
        limit,
        [limit],
    );
    black_box(detect_change(&mut Port, &mut Stream::new(&detector), &mut Alarm::none())).ok();
}

#[inline(never)]
fn spotter<E, const S: usize>(x: &E::Observation)
where
    E: Emission<Weight = f32, Observation: WireSample + Sized> + FromZeros,
{
    static NAMES: [&str; 2] = ["knock", "ring"];
    let network = some::<Hmm<E, S>>();
    let background = some::<Chain<f32, 4>>();
    let spotter: Spotter<E, S, 4, 4> =
        black_box(Spotter::from_parts(network, background, black_box([0; S]), black_box(9)));
    let _ = black_box(spotter.validate());
    drive(&spotter, x);
    black_box(spotter.undecided(&black_box(spotter.initial_state())));
    let names = black_box(&NAMES[..]);
    black_box(spot_events(&mut Port, &NoMeter, &spotter, names, &mut Alarm::none())).ok();
}
