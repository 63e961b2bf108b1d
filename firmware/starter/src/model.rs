// A stream classifier, exported by fishweir 0.1.0. Change the model, not this file.
//
// Observes channels ax, ay, az.
// Class 0: ABD.
// Class 1: ROW.

use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Gaussian;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::number::Dual;

/// The names of the classes, by index.
#[rustfmt::skip]
pub static CLASSES: [&str; 2] = ["ABD", "ROW"];

/// The names of the channels, by index; none over symbols.
#[rustfmt::skip]
pub static CHANNELS: [&str; 3] = ["ax", "ay", "az"];

/// 2 models of 4 hidden states over 3 channels (ax, ay, az), 1 outputs.
pub type Model = StreamClassifier<Hmm<Gaussian<3, Dual<f32, 1>>, 4>, 2, 1>;

/// The classifier, in flash.
#[rustfmt::skip]
#[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]
pub static MODEL: Model = StreamClassifier::new(
    [
        Hmm::new(
            Chain::from_parts(
                [Dual { value: 0.48750007, tangent: [7.973502] }, Dual { value: 0.3303056, tangent: [-11.421417] }, Dual { value: 0.18219432, tangent: [3.4479146] }, Dual { value: 0.0, tangent: [0.0] }],
                [
                    [Dual { value: 0.980351, tangent: [-0.3783009] }, Dual { value: 1.5886722e-5, tangent: [-0.027059633] }, Dual { value: 0.019617263, tangent: [0.43426943] }, Dual { value: 1.5852478e-5, tangent: [-0.028908897] }],
                    [Dual { value: 2.0940797e-5, tangent: [0.141602] }, Dual { value: 0.977137, tangent: [-0.69808775] }, Dual { value: 0.019643154, tangent: [0.5151651] }, Dual { value: 0.0031988735, tangent: [0.041320726] }],
                    [Dual { value: 0.011500981, tangent: [0.008117677] }, Dual { value: 0.008987851, tangent: [-0.035937734] }, Dual { value: 0.9771087, tangent: [0.01908861] }, Dual { value: 0.002402479, tangent: [0.008731449] }],
                    [Dual { value: 8.096067e-5, tangent: [-0.048973255] }, Dual { value: 0.009045348, tangent: [0.051577836] }, Dual { value: 0.023899093, tangent: [0.43972853] }, Dual { value: 0.9669746, tangent: [-0.4423331] }],
                ],
            ),
            [
                Gaussian::from_parts([1.3100262, 0.55308336, -0.77101237], [2.0500324, 2.3306634, 2.0503201], Dual { value: -0.4748111, tangent: [0.2226962] }, [[0.1814329], [-0.20913327], [0.067369014]], [[-0.22793943], [-0.06420414], [0.06944736]]),
                Gaussian::from_parts([-1.135651, 0.36947644, -0.841294], [2.8207674, 4.212003, 3.8152454], Dual { value: 1.0571368, tangent: [-1.5020351] }, [[0.8960252], [0.41704255], [0.35879922]], [[0.65093803], [0.1317441], [0.719353]]),
                Gaussian::from_parts([-0.07847029, -0.13400698, 0.0920838], [1.7593672, 2.2290428, 2.0201447], Dual { value: -0.68712, tangent: [-0.13801986] }, [[-0.029001506], [0.08299262], [-0.004699731]], [[0.016517228], [0.10902418], [0.012478442]]),
                Gaussian::from_parts([-2.4299943, 0.8303074, -1.1595582], [1.6982979, 1.0808959, 0.7873183], Dual { value: -2.3885217, tangent: [-0.53967774] }, [[0.16424458], [-0.08945994], [0.16530555]], [[0.19258769], [-0.13088739], [0.47797742]]),
            ],
        ),
        Hmm::new(
            Chain::from_parts(
                [Dual { value: 0.1659699, tangent: [-1.7210108] }, Dual { value: 0.3340253, tangent: [1.8715143] }, Dual { value: 0.0834174, tangent: [1.2244446] }, Dual { value: 0.4165874, tangent: [-1.3749481] }],
                [
                    [Dual { value: 0.96332955, tangent: [-0.08554585] }, Dual { value: 0.023316776, tangent: [0.17755173] }, Dual { value: 0.0060346797, tangent: [-0.031927835] }, Dual { value: 0.007318977, tangent: [-0.060078047] }],
                    [Dual { value: 0.021128468, tangent: [-0.06102249] }, Dual { value: 0.97882956, tangent: [0.18398511] }, Dual { value: 2.1157037e-5, tangent: [-0.12159275] }, Dual { value: 2.0806003e-5, tangent: [-0.0013698754] }],
                    [Dual { value: 0.010683829, tangent: [-0.10873853] }, Dual { value: 2.208943e-5, tangent: [-0.09817089] }, Dual { value: 0.9537443, tangent: [0.1909341] }, Dual { value: 0.035549805, tangent: [0.015975308] }],
                    [Dual { value: 0.0023177315, tangent: [-0.035179615] }, Dual { value: 2.3093935e-5, tangent: [0.00050521485] }, Dual { value: 0.04245012, tangent: [0.30064073] }, Dual { value: 0.9552091, tangent: [-0.26596636] }],
                ],
            ),
            [
                Gaussian::from_parts([-0.4239978, 0.3864108, -0.24283285], [2.4298341, 4.8983974, 3.882494], Dual { value: 1.0763932, tangent: [0.012507055] }, [[0.026484266], [0.0766794], [0.04622487]], [[-0.005068017], [-0.0053565213], [-0.0020825164]]),
                Gaussian::from_parts([-1.204006, 0.2769925, 0.10684486], [3.065812, 4.589921, 5.640737], Dual { value: 1.6173744, tangent: [0.010583778] }, [[-0.01799151], [-0.020473782], [0.07343493]], [[0.0016844695], [-0.00053762505], [-0.0117306225]]),
                Gaussian::from_parts([0.8582078, 0.48606104, 0.1477025], [3.065812, 7.4395413, 5.640737], Dual { value: 2.1003208, tangent: [0.068778984] }, [[-0.02365099], [-0.10061537], [0.09634958]], [[0.0138435075], [-0.047451932], [-0.03517056]]),
                Gaussian::from_parts([1.0348219, 0.11272791, 0.078175694], [2.3882775, 7.230948, 5.640737], Dual { value: 1.8221416, tangent: [0.036091506] }, [[0.39211074], [0.1488935], [-0.06265511]], [[0.035933416], [-0.022935463], [-0.049089458]]),
            ],
        ),
    ],
    [
        [-0.06441831, 0.26293397],
    ],
    [0.35472676],
    Normalisation::PER_SAMPLE,
);
