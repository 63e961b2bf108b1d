//! How far decisions are believed: what a device holds of it, and that host and core say the same bits.

use fishweir::classifier::{Classifier, Confidence, Rejection};
use fishweir::deploy::{Deployed, Explanation};
use fishweir::learn::ClassifierKind;
use fishweir_core::artefact::{self, ArtefactError, HEADER_LENGTH, Header, StoredClassifier};
use fishweir_core::classify::{self, Decision, Doubt, StreamClassifier};
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::Running;
use fishweir_core::hmm::Hmm;
use fishweir_tests::quick::{channels, recordings, three_channels, trained};
use zerocopy::IntoBytes;

type Two = StreamClassifier<Hmm<Gaussian<3>, 2>, 2, 1>;

/// Likelihoods of the training data lie on both sides of the limits.
fn believing() -> Classifier {
    let mut classifier = three_channels();
    let data = channels();
    let deployed = classifier.deploy().expect("fits in f32");
    let mut levels: Vec<f32> = data
        .series()
        .iter()
        .map(|series| {
            let mut stream = deployed.stream();
            series.samples.view().iter().for_each(|sample| stream.push(sample).expect("taken"));
            stream.log_likelihoods().into_iter().fold(f32::MIN, f32::max) / 40.0
        })
        .collect();
    levels.sort_by(f32::total_cmp);
    let limits = [levels[2], levels[levels.len() - 3]].map(f64::from);
    classifier.confidence = Some(Confidence {
        scale: 0.125,
        rejection: Some(Rejection { rate: 0.1, least_margin: 3.0, likelihoods: vec![limits; 2] }),
        windows: 8,
    });
    classifier
}

fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
    aligned.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    aligned
}

#[test]
fn scores_out_of_range_are_no_certainty() {
    let confidence = classify::Confidence { scale: 1.0, least_margin: 0.5, likelihoods: &[] };
    assert!(confidence.probability([0.0, f32::NAN]).is_nan());
    assert_eq!(confidence.probability([0.0, f32::NEG_INFINITY]), 1.0, "the other is ruled out");
    let doubt = |margin: f32| confidence.doubt(&Decision { class: 0, margin }, [], 3);
    assert_eq!(doubt(f32::NAN), Some(Doubt::CloseCall));
    assert_eq!([doubt(0.25), doubt(0.5)], [Some(Doubt::CloseCall), None]);
}

#[test]
fn an_artefact_holds_it_and_the_core_believes_as_the_host() {
    let deployed = believing().deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    let words = aligned(&bytes);
    let bytes = &words.as_bytes()[..bytes.len()];
    let two: &Two = artefact::read(bytes).expect("an artefact");
    let confidence = artefact::confidence::<Two>(bytes).expect("an artefact").expect("learnt");
    let on_host = deployed.confidence().expect("learnt").of_core();
    assert_eq!(confidence, on_host);
    let (data, mut seen) = (channels(), Vec::new());
    for series in data.series() {
        let (mut stream, mut device) = (deployed.stream(), Running::new(two));
        for sample in series.samples.view().iter() {
            stream.push(sample).expect("taken");
            let fishweir::data::Sample::Row(row) = sample else { panic!("a row") };
            let row: [f64; 3] = row.try_into().expect("three channels");
            device.push(&row.map(|x| x as f32)).expect("taken");
            let host = stream.believed(&on_host).expect("of a bank");
            let core = two.believed(device.state(), &confidence);
            assert_eq!(host.probability.to_bits(), core.probability.to_bits());
            assert_eq!(host, core);
            assert_eq!(Ok(host.decision), stream.decision());
            // Two classes: the logistic function of the margin.
            let sigmoid = 1.0 / (1.0 + (-0.125 * f64::from(host.decision.margin)).exp());
            assert!((f64::from(host.probability) - sigmoid).abs() < 1e-6, "{host:?}");
        }
        seen.push(stream.believed(&on_host).expect("of a bank").doubt);
    }
    for doubt in [None, Some(Doubt::Unlikely), Some(Doubt::TooLikely)] {
        assert!(seen.contains(&doubt), "{seen:?}");
    }
}

#[test]
fn what_is_no_confidence_is_refused_on_both_sides() {
    let deployed = believing().deploy().expect("fits in f32");
    let whole = deployed.to_artefact().expect("small enough");
    let header = Header::parse(&whole).expect("a header");
    let payload = header.payload(&whole).expect("a classifier").to_vec();
    let labels = &whole[HEADER_LENGTH + payload.len()..];
    let bare = size_of::<Two>();
    // Scale, least margin, limits of two classes; then each piece spoilt.
    let spoilt = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut payload = payload.clone();
        change(&mut payload);
        let header = Header::encode(Two::SHAPE, &payload, labels).expect("a header");
        let bytes = [header.as_slice(), &payload, labels].concat();
        let words = aligned(&bytes);
        let on_host = Deployed::from_artefact("a", &bytes).is_ok();
        let on_device = artefact::read::<Two>(&words.as_bytes()[..bytes.len()]).map(|_| ());
        assert_eq!(on_host, on_device.is_ok(), "{on_device:?}");
        on_device
    };
    let put = |at: usize, x: f32| {
        move |payload: &mut Vec<u8>| {
            payload[bare + 4 * at..][..4].copy_from_slice(&x.to_le_bytes());
        }
    };
    assert_eq!(spoilt(&|_| ()), Ok(()));
    assert_eq!(spoilt(&|payload| payload.truncate(bare)), Ok(()), "a classifier alone");
    assert_eq!(spoilt(&|payload| payload.truncate(bare + 8)), Ok(()), "no limits");
    for bytes in [4, 12, 16, 20] {
        let cut = spoilt(&|payload: &mut Vec<u8>| payload.truncate(bare + bytes));
        assert_eq!(cut, Err(ArtefactError::OtherSize), "{bytes}");
    }
    for (at, x) in [(0, 0.0), (0, f32::NAN), (1, f32::INFINITY), (2, f32::NAN), (3, -1e30)] {
        let refused = spoilt(&put(at, x));
        assert!(matches!(refused, Err(ArtefactError::Model(_))), "{at}: {refused:?}");
    }
}

#[test]
fn a_file_with_limits_for_other_classes_is_refused() {
    let mut classifier = believing();
    let json = classifier.to_json().expect("numbers");
    assert_eq!(Classifier::parse("m.json", json.as_bytes()).expect("a model"), classifier);
    if let Some(Confidence { rejection: Some(rejection), .. }) = &mut classifier.confidence {
        rejection.likelihoods.pop();
    }
    let json = classifier.to_json().expect("numbers");
    let refused = Classifier::parse("m.json", json.as_bytes()).expect_err("one class of two");
    assert!(refused.to_string().contains("limits of likelihood for 1 of 2 classes"), "{refused}");
}

/// What samples give adds up to the margin.
#[test]
fn gains_add_up_to_the_margin() {
    let data = recordings();
    let classifier = trained(&data, ClassifierKind::Fisher);
    let deployed = classifier.deploy().expect("fits in f32");
    for series in data.series().iter().take(6) {
        let window = series.samples.view().slice(0..300);
        let found = deployed.explain(window).expect("decided");
        let Explanation { class, rival, margin, bias, gains, .. } = found;
        assert_ne!(class, rival);
        assert_eq!(gains.len(), 300);
        let sum = bias + gains.iter().sum::<f64>();
        let scale: f64 = gains.iter().map(|gain| gain.abs()).sum::<f64>() + bias.abs();
        assert!((sum - f64::from(margin)).abs() < 1e-5 * scale, "{sum} {margin} {scale}");
    }
    // Two classes have one output, whose sign tells.
    let deployed = three_channels().deploy().expect("fits in f32");
    for series in channels().series() {
        let found = deployed.explain(series.samples.view()).expect("decided");
        let sum = found.bias + found.gains.iter().sum::<f64>();
        assert!((sum - f64::from(found.margin)).abs() < 1e-3, "{found:?}");
        assert_eq!(found.class + found.rival, 1);
    }
}
