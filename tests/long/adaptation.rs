//! Online EM over what no model was made for.

use fishweir_core::emission::{Gaussian, Regularisation};
use fishweir_core::filter::{OnlineEm, StepSize, Stream};
use fishweir_core::hmm::{Chain, Hmm};

#[test]
fn a_model_stays_a_model_whatever_comes() {
    let law = |mean: f32| Gaussian::<1>::new([mean], [1.0]).expect("a law");
    let ergodic = Chain::<f32, 3>::new([0.5, 0.25, 0.25], [[0.5, 0.25, 0.25]; 3]).expect("a chain");
    let left_to_right =
        Chain::<f32, 3>::new([1.0, 0.0, 0.0], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
            .expect("a chain");
    type Tosses = fn(u32) -> Option<f32>;
    let streams: [(&str, Tosses); 7] = [
        ("constant", |_| Some(1.0)),
        ("nothing", |_| None),
        ("far", |_| Some(1e6)),
        ("alternating", |t| Some(if t % 2 == 0 { -1e3 } else { 1e3 })),
        ("growing", |t| Some(1.01_f32.powi((t % 8000) as i32))),
        ("rare", |t| (t % 500 == 0).then_some(t as f32)),
        ("absurd", |t| Some(if t % 97 == 5 { 1.5e19 } else { (t % 7) as f32 })),
    ];
    let prior = Regularisation { variance_floor: 1e-4, pseudo_count: 0.0 };
    let steps = [StepSize::Power(0.6), StepSize::Power(1.0)]
        .into_iter()
        .chain([1e-4, 0.5, 1.0].map(StepSize::Constant));
    for step in steps {
        for chain in [ergodic, left_to_right] {
            let hmm = Hmm::new(chain, [law(-1.0), law(0.0), law(1.0)]);
            let adapting = OnlineEm::from(&hmm, step, 3, prior).expect("settings");
            for (name, stream) in streams {
                let mut running = Stream::new(adapting);
                let mut taken = 0;
                for t in 0..3000 {
                    let x = stream(t).map(|x| [x]);
                    // A model may have learnt that an observation is impossible.
                    taken += u32::from(running.push(&x).is_ok() && x.is_some());
                    if let Err(error) = running.state().hmm().validate() {
                        panic!("{name}, {step:?}, sample {t}: {error}");
                    }
                }
                assert!(taken > 0 || name == "nothing", "{name}, {step:?}: all refused");
                for (row, first) in
                    running.read().chain().transition().iter().zip(chain.transition())
                {
                    for (p, first) in row.iter().zip(first) {
                        assert!(*first > 0.0 || *p == 0.0, "a structural zero stays zero");
                    }
                }
            }
        }
    }
}
