// A stream classifier, exported by fishweir 0.1.0. Change the model, not this file.
//
// Observes channels x, y.
// Class 0: fast.
// Class 1: slow.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Gaussian;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;

/// The names of the classes, by index.
#[rustfmt::skip]
pub static CLASSES: [&str; 2] = ["fast", "slow"];

/// The names of the channels, by index; none over symbols.
#[rustfmt::skip]
pub static CHANNELS: [&str; 2] = ["x", "y"];

/// 2 models of 2 hidden states over 2 channels (x, y), 1 outputs.
pub type Model = StreamClassifier<Hmm<Gaussian<2, Dual<f32, 1>>, 2>, 2, 1>;

/// The classifier, in flash.
#[rustfmt::skip]
#[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]
pub static MODEL: Model = StreamClassifier::from_parts(
    [
        Hmm::new(
            Chain::from_parts(
                [Dual { value: 0.06701299, tangent: [0.00016810086] }, Dual { value: 0.93298703, tangent: [-0.00016810086] }],
                [
                    [Dual { value: 0.686841, tangent: [0.005573965] }, Dual { value: 0.313159, tangent: [-0.005573965] }],
                    [Dual { value: 0.25980347, tangent: [-0.0049032387] }, Dual { value: 0.7401965, tangent: [0.0049032387] }],
                ],
            ),
            [
                Gaussian::from_parts([-0.7199227, -0.012995042], [3.083773, 2.5349278], Dual { value: 0.21844192, tangent: [-0.106728256] }, [[0.01692791], [0.007953447]], [[-0.0071336306], [0.11386189]]),
                Gaussian::from_parts([0.6123575, -0.012787492], [2.6805277, 2.3987412], Dual { value: 0.023080725, tangent: [-0.1432938] }, [[-0.027347019], [0.008286535]], [[-0.0010264332], [0.14432022]]),
            ],
        ),
        Hmm::new(
            Chain::from_parts(
                [Dual { value: 0.17941152, tangent: [0.00033429632] }, Dual { value: 0.82058847, tangent: [-0.00033429632] }],
                [
                    [Dual { value: 0.94838804, tangent: [0.0013022403] }, Dual { value: 0.051611982, tangent: [-0.0013022403] }],
                    [Dual { value: 0.06745857, tangent: [-0.0014637896] }, Dual { value: 0.93254143, tangent: [0.0014637896] }],
                ],
            ),
            [
                Gaussian::from_parts([-0.013286249, 0.7070652], [1.3662332, 3.034519], Dual { value: -0.41576666, tangent: [0.013841358] }, [[-0.0037325493], [0.16108342]], [[0.0047159805], [-0.018557338]]),
                Gaussian::from_parts([-0.00016704126, -0.5934528], [1.4238882, 2.5792515], Dual { value: -0.53698653, tangent: [0.04700622] }, [[-0.0041409708], [-0.17047894]], [[-0.019258779], [-0.027747443]]),
            ],
        ),
    ],
    [
        [-0.69674027, 0.46659794],
    ],
    [-0.46091902],
    Normalisation::PER_SAMPLE,
);
