//! How far decisions are believed: what a device holds of it, and that host and core say the same bits.

use fishweir::classifier::{Classifier, Confidence, Rejection};
use fishweir::data::{Rows, Samples, SamplesView};
use fishweir::deploy::{ByChannel, Deployed, Explanation};
use fishweir::learn::{ClassifierKind, ScoreModels};
use fishweir_core::artefact::{self, ArtefactError, HEADER_LENGTH, Header, StoredClassifier};
use fishweir_core::classify::{
    self, AdditiveClassifier as _, Decision, RejectionReason, StreamClassifier,
};
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::Hmm;
use fishweir_tests::checks::assert_near;
use fishweir_tests::quick::{
    channels, recordings, three_channels, trained, trained_on_differences, trained_on_the_past,
};
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
    let confidence = classify::Calibration { scale: 1.0, least_margin: 0.5, likelihoods: &[] };
    assert!(confidence.probability([0.0, f32::NAN]).is_nan());
    assert_eq!(confidence.probability([0.0, f32::NEG_INFINITY]), 1.0, "the other is ruled out");
    let rejection = |margin: f32| confidence.rejection(&Decision { class: 0, margin }, [], 3);
    assert_eq!(rejection(f32::NAN), Some(RejectionReason::LowMargin));
    assert_eq!([rejection(0.25), rejection(0.5)], [Some(RejectionReason::LowMargin), None]);
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
        let (mut stream, mut device) = (deployed.stream(), Stream::new(two));
        for sample in series.samples.view().iter() {
            stream.push(sample).expect("taken");
            let fishweir::data::Sample::Row(row) = sample else { panic!("a row") };
            let row: [f64; 3] = row.try_into().expect("three channels");
            device.push(&row.map(|x| x as f32)).expect("taken");
            let host = stream.believed(&on_host).expect("of a bank");
            let core = two.predict(device.state(), &confidence);
            assert_eq!(host.probability.to_bits(), core.probability.to_bits());
            assert_eq!(host, core);
            assert_eq!(Ok(host.decision), stream.decision());
            // Two classes: the logistic function of the margin.
            let sigmoid = 1.0 / (1.0 + (-0.125 * f64::from(host.decision.margin)).exp());
            assert!((f64::from(host.probability) - sigmoid).abs() < 1e-6, "{host:?}");
        }
        seen.push(stream.believed(&on_host).expect("of a bank").rejection);
    }
    for rejection in
        [None, Some(RejectionReason::LowLikelihood), Some(RejectionReason::HighLikelihood)]
    {
        assert!(seen.contains(&rejection), "{seen:?}");
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

/// A window without a channel, or as it is.
fn without(gone: Option<usize>, window: SamplesView<'_>) -> Samples {
    let rows = window.rows().expect("channels");
    let mut kept = Rows::new(rows.dimension() - usize::from(gone.is_some()));
    for row in rows.iter() {
        let mut row = row.expect("observed").to_vec();
        gone.map(|channel| row.remove(channel));
        kept.push(Some(&row));
    }
    Samples::Channels(kept)
}

/// Each model's log-likelihood of a window, and what its one output's direction makes of it.
fn evidence(
    deployed: &Deployed<f64>,
    classifier: &Classifier,
    window: SamplesView<'_>,
) -> (Vec<f64>, f64) {
    let mut stream = deployed.stream();
    window.iter().for_each(|sample| stream.push(sample).expect("possible"));
    let logs = stream.log_likelihoods();
    let (output, value) =
        (&classifier.outputs()[0], stream.decision_values().expect("in range")[0]);
    let factor: f64 = classifier.normalisation.factor(window.len() as u64);
    let weighed: f64 = output.weights.iter().zip(&logs).map(|(weight, log)| weight * log).sum();
    (logs, (value - output.bias) / factor - weighed)
}

/// Without a channel a model is its marginal: what it finds of the others is the integral over all that the channel
/// may be, and what a direction makes of them its mean (of one model; several have each their own).
#[test]
fn a_channel_left_out_is_one_never_observed() {
    let data = channels();
    let window = data.series()[3].samples.view().slice(0..2);
    for classifier in [
        trained(&data, ClassifierKind::Bayes),
        trained(&data, ClassifierKind::Fisher),
        trained_on_differences(&data, &[], ScoreModels::Universal),
    ] {
        let whole = classifier.compile_in::<f64>().expect("fits");
        for gone in 0..classifier.size() {
            let narrow = classifier.without_channel(gone).expect("independent channels");
            let exact = narrow.compile_in::<f64>().expect("fits");
            let (logs, along) = evidence(&exact, &narrow, without(Some(gone), window).view());
            // By the trapezoid rule at both samples: densities are smooth, and gone at the ends.
            let (centre, step) = (classifier.centre[gone], classifier.scale[gone] / 5.0);
            let place = |n: usize| centre + step * (n as f64 - 30.0);
            let (mut integral, mut mean) = (vec![0.0; logs.len()], 0.0);
            for (n, k) in (0..=60).flat_map(|n| (0..=60).map(move |k| (n, k))) {
                let mut rows = window.rows().expect("channels").iter();
                let moved: Samples = [n, k]
                    .map(|n| {
                        let mut row: [f64; 3] =
                            rows.next().flatten().expect("observed").try_into().expect("three");
                        row[gone] = place(n);
                        row
                    })
                    .into_iter()
                    .collect();
                let (logs, along) = evidence(&whole, &classifier, moved.view());
                let mass = |log: &f64| step * step * log.exp();
                integral.iter_mut().zip(&logs).for_each(|(to, log)| *to += mass(log));
                mean += along * mass(&logs[0]);
            }
            for (integral, log) in integral.iter().zip(&logs) {
                assert_near(integral.ln(), *log, 1e-6, gone);
            }
            if logs.len() == 1 {
                assert_near(mean / integral[0], along, 1e-5 * (1.0 + along.abs()), gone);
            }
        }
    }
}

#[test]
fn a_channels_part_is_what_the_margin_loses_without_it() {
    let data = channels();
    for kind in [ClassifierKind::Bayes, ClassifierKind::Count] {
        let classifier = trained(&data, kind);
        let explainer = ByChannel::of(&classifier).expect("fits").expect("several channels");
        for series in data.series() {
            let window = series.samples.view();
            let found = explainer.explain(window).expect("decided");
            assert_eq!((found.parts.len(), found.refused), (3, 0));
            for (gone, part) in found.parts.iter().enumerate() {
                let narrow = classifier.without_channel(gone).expect("independent channels");
                let mut stream = narrow.deploy().expect("fits").stream();
                let others = without(Some(gone), window);
                others.view().iter().for_each(|x| stream.push(x).expect("taken"));
                let value = f64::from(stream.decision_values().expect("in range")[0]);
                let lead = if found.class == 1 { value } else { -value };
                let lost = f64::from(found.margin) - lead;
                assert_near(*part, lost, 1e-4 * (1.0 + part.abs()), gone);
            }
        }
    }
    let one = three_channels().without_channel(0).and_then(|two| two.without_channel(0));
    assert!(one.expect("one is left").without_channel(0).is_none(), "the last one stays");
    assert!(
        trained_on_the_past(&data, &[1]).without_channel(0).is_none(),
        "channels predict channels"
    );
}
