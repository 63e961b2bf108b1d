//! Models whose states follow one another: what a device holds of them.

use fishweir::classifier::{Classifier, Output, Rule};
use fishweir::data::Sample;
use fishweir::deploy::{Deployed, PushError, Stream};
use fishweir::learn::ClassifierKind;
use fishweir_core::artefact::{self, ArtefactError, HEADER_LENGTH, Topology};
use fishweir_core::classify::StreamClassifier;
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Stream as DeviceStream;
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;
use fishweir_tests::quick::{strings, trained_by_position};
use zerocopy::IntoBytes;

const POSITIONS: usize = 12;
type Steady = StreamClassifier<ContextModel<Steps, Categorical<4, Dual<f32, 1>>, POSITIONS>, 2, 1>;

fn outputs_of(classifier: &mut Classifier) -> &mut [Output] {
    match &mut classifier.rule {
        Rule::Linear(outputs) => outputs,
        _ => panic!("linear"),
    }
}

fn fitted() -> Classifier {
    trained_by_position(&strings(30), ClassifierKind::Fisher, POSITIONS)
}

#[test]
fn the_artefact_holds_no_chain_and_reads_back() {
    let deployed = fitted().deploy().expect("fits in f32");
    assert_eq!(deployed.topology(), Topology::STEPS);
    assert_eq!(deployed.cost().model_bytes, size_of::<Steady>());
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
    aligned.as_mut_bytes()[..bytes.len()].copy_from_slice(&bytes);
    let aligned = &aligned.as_bytes()[..bytes.len()];
    let steady: &Steady = artefact::read(aligned).expect("an artefact");
    // A device writes it without a contract.
    let mut buffer = vec![0; bytes.len()];
    let written = artefact::write(steady, &deployed.classes().join("\n"), &mut buffer);
    let payload = HEADER_LENGTH..HEADER_LENGTH + size_of::<Steady>();
    assert_eq!(written.expect("room enough")[payload.clone()], bytes[payload]);
    let hidden = artefact::read::<
        StreamClassifier<Hmm<Categorical<4, Dual<f32, 1>>, POSITIONS>, 2, 1>,
    >(aligned);
    assert!(matches!(hidden, Err(ArtefactError::OtherShape { .. })), "another type");
    let data = strings(30);
    let (_, refused) = same_bits(&deployed, steady, data.series()[3].samples.view().iter());
    assert_eq!(refused, 0);
}

/// Pushes a stream to the host's run and to the core's, and compares all bits of what they read. The
/// host's run, and how many samples both refused.
fn same_bits<'a>(
    deployed: &Deployed,
    steady: &Steady,
    samples: impl Iterator<Item = Sample<'a>>,
) -> (Stream, usize) {
    let (mut host, mut device) = (deployed.stream(), DeviceStream::new(steady));
    let mut refused = 0;
    for sample in samples {
        let taken = match sample {
            Sample::Symbol(symbol) => device.push(&usize::from(symbol)),
            _ => device.push(None),
        };
        assert_eq!(host.push(sample), taken.map_err(PushError::from));
        refused += usize::from(taken.is_err());
        assert_eq!(host.decision(), Ok(device.read()));
        assert_eq!(host.log_likelihoods(), steady.log_likelihoods(device.state()));
        assert_eq!(
            host.decision_values().expect("in range"),
            steady.decision_values(device.state())
        );
        assert_eq!(host.samples(), device.state().samples());
    }
    (host, refused)
}

/// A long stream, and then one that rules a model out: the host does as the device, bit for bit.
#[test]
fn a_model_is_ruled_out_on_the_host_as_on_the_device() {
    let mut classifier = fitted();
    let probability = classifier.models[0].emission.symbols_mut().expect("symbols");
    // The last position holds for all that follow.
    probability[POSITIONS - 1] = vec![0.5, 0.25, 0.25, 0.0];
    let probability = classifier.models[1].emission.symbols_mut().expect("symbols");
    probability[POSITIONS - 1] = vec![0.0, 0.5, 0.25, 0.25];
    outputs_of(&mut classifier)[0].weights = vec![-0.75, 0.5];
    let deployed = classifier.deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
    aligned.as_mut_bytes()[..bytes.len()].copy_from_slice(&bytes);
    let steady: &Steady = artefact::read(&aligned.as_bytes()[..bytes.len()]).expect("an artefact");
    let long = [1, 2].repeat(50_000).into_iter();
    for last in [0, 3] {
        let symbols = long.clone().chain([last, 1, 2, 3 - last, 1]);
        // What ruled one model out is followed by what the other cannot make either.
        let (stream, refused) = same_bits(&deployed, steady, symbols.map(Sample::Symbol));
        assert_eq!(refused, 1);
        let out = if last == 0 { 1 } else { 0 };
        assert_eq!(stream.log_likelihoods()[out], f32::NEG_INFINITY);
        assert!(stream.log_likelihoods()[1 - out].is_finite());
        let decision = stream.decision().expect("in range");
        assert_eq!((decision.class, decision.margin), (1 - out, f32::INFINITY));
        assert_eq!(stream.leads().expect("in range")[out], f32::NEG_INFINITY);
    }
}

#[test]
fn where_one_state_is_not_certain_all_are_hidden() {
    let mut classifier = fitted();
    let chain = &mut classifier.models[1].transition[3];
    (chain[3], chain[4]) = (0.25, 0.75);
    let deployed = classifier.deploy().expect("fits in f32");
    assert_eq!(deployed.topology(), Topology::CHAIN);
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
    outputs_of(&mut classifier)[0].directions[0] = shorter.outputs()[0].directions[0].clone();
    let deployed = classifier.deploy().expect("fits in f32");
    assert_eq!(deployed.topology(), Topology::STEPS);
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
    let probability = classifier.models[0].emission.symbols().expect("symbols");
    assert_eq!(probability.len(), POSITIONS - 4);
}
