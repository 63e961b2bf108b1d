//! Models whose states follow one another: what a device holds of them.

use fishweir::classifier::Classifier;
use fishweir::deploy::Deployed;
use fishweir::learn::ClassifierKind;
use fishweir::runtime::Emissions;
use fishweir_core::artefact::{self, ArtefactError, HEADER_LENGTH, Succession};
use fishweir_core::classify::StreamClassifier;
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Running;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;
use fishweir_tests::quick::{strings, trained_by_position};
use zerocopy::IntoBytes;

const POSITIONS: usize = 12;
type Steady = StreamClassifier<ContextModel<Steps, Categorical<4, Dual<f32, 1>>, POSITIONS>, 2, 1>;

fn fitted() -> Classifier {
    trained_by_position(&strings(30), ClassifierKind::Fisher, POSITIONS)
}

#[test]
fn the_artefact_holds_no_chain_and_reads_back() {
    let deployed = fitted().compile().expect("fits in f32");
    assert_eq!(deployed.succession(), Succession::STEPS);
    assert_eq!(deployed.cost().model_bytes, size_of::<Steady>());
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
    aligned.as_mut_bytes()[..bytes.len()].copy_from_slice(&bytes);
    let aligned = &aligned.as_bytes()[..bytes.len()];
    let steady: &Steady = artefact::read(aligned).expect("an artefact");
    let labels = str::from_utf8(&bytes[HEADER_LENGTH + size_of::<Steady>()..]).expect("text");
    let mut buffer = vec![0; bytes.len()];
    assert_eq!(artefact::write(steady, labels, &mut buffer), Some(&bytes[..]));
    let hidden = artefact::read::<Hmm<Categorical<4, Dual<f32, 1>>, POSITIONS>, 2, 1>(aligned);
    assert!(matches!(hidden, Err(ArtefactError::OtherShape { .. })), "another type");
    // The host's stream is the core's.
    let (data, mut host, mut device) = (strings(30), deployed.stream(), Running::new(steady));
    for sample in data.series()[3].samples.view().iter() {
        host.push(sample).expect("possible");
        match sample {
            fishweir::data::Sample::Symbol(symbol) => {
                device.push(&symbol.into()).expect("possible")
            }
            _ => device.push_missing(),
        }
        assert_eq!(host.decision(), device.read());
    }
}

#[test]
fn where_one_state_is_not_certain_all_are_hidden() {
    let mut classifier = fitted();
    let chain = &mut classifier.models[1].transition[3];
    (chain[3], chain[4]) = (0.25, 0.75);
    let deployed = classifier.compile().expect("fits in f32");
    assert_eq!(deployed.succession(), Succession::CHAIN);
    assert!(deployed.to_source().contains("Hmm<Categorical<4, Dual<f32, 1>>, 12>"));
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
}

/// A shorter model stays where it ends.
#[test]
fn models_of_a_bank_may_differ_in_length() {
    let mut classifier = fitted();
    let shorter = trained_by_position(&strings(30), ClassifierKind::Fisher, POSITIONS - 4);
    classifier.models[0] = shorter.models[0].clone();
    classifier.outputs[0].directions[0] = shorter.outputs[0].directions[0].clone();
    let deployed = classifier.compile().expect("fits in f32");
    assert_eq!(deployed.succession(), Succession::STEPS);
    let bytes = deployed.to_artefact().expect("small enough");
    let read = Deployed::from_artefact("a", &bytes).expect("an artefact");
    let (mut before, mut after) = (deployed.stream(), read.stream());
    let data = strings(30);
    for sample in data.series()[0].samples.view().iter() {
        before.push(sample).expect("possible");
        after.push(sample).expect("possible");
        assert_eq!(before.decision_values(), after.decision_values());
        assert_eq!(before.log_likelihoods(), after.log_likelihoods());
    }
    let Emissions::Categorical { probability } = &classifier.models[0].emission else {
        panic!("symbols")
    };
    assert_eq!(probability.len(), POSITIONS - 4);
}
