//! Codebooks beside models for each lag: what a device holds of them, reads in place, and takes as an update.

use fishweir::classifier::{Classifier, Confidence, Output, Rejection, Rule};
use fishweir::data::{Sample, SamplesView};
use fishweir::deploy::{Deployed, PushError};
use fishweir_core::artefact::{
    self, ArtefactError, HEADER_LENGTH, Header, Shape, StoredClassifier,
};
use fishweir_core::classify::{
    AdditiveClassifier as _, ChannelSubset, Codebooks, StreamClassifier, WithCodebooks,
};
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::Hmm;
use fishweir_core::lagged::{LagFeatures, Lookback};
use fishweir_core::number::Dual;
use fishweir_core::wire::UpdateStatus;
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_tests::quick::{channels, trained_on_each_lag, trained_on_levels};
use zerocopy::IntoBytes;

use super::field::{Device, send, start};

/// Models of the differences at lags 1 and 2, and two codebooks for each of the dilations 1, 2 and 4.
type AtLags = LagFeatures<
    StreamClassifier<ChannelSubset<Hmm<Gaussian<6, Dual<f32, 1>>, 4>, 9, 6>, 2, 1>,
    Lookback<3, 2>,
    2,
>;
type Beside<const G: usize, const K: usize, const Q: usize = 0> =
    WithCodebooks<AtLags, Codebooks<[[f32; 3]; G], 1, Q>, K>;
type Whole = Beside<6, 32>;

/// With so many levels of each codeword.
fn fitted(levels: usize) -> Classifier {
    let limits = Rejection { rate: 0.1, least_margin: 0.5, likelihoods: vec![[-20.0, 20.0]; 2] };
    let confidence = Confidence { scale: 0.5, rejection: Some(limits), windows: 8 };
    let fitted = trained_on_levels(&channels(), &[1, 2], 2, levels);
    Classifier { confidence: Some(confidence), ..fitted }
}

pub(super) fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut aligned = vec![0_u64; bytes.len().div_ceil(8)];
    aligned.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    aligned
}

/// Host and core push a stream of which some is missing; the bits of all that they read are the same.
fn same_bits<const Q: usize>(deployed: &Deployed, core: &Beside<6, 32, Q>) {
    let data = channels();
    for series in data.series().iter().step_by(3) {
        let (mut host, mut device) = (deployed.stream(), Stream::new(core));
        for (t, sample) in series.samples.view().iter().enumerate() {
            let sample = if t % 9 == 4 { Sample::Missing } else { sample };
            let taken = match sample {
                Sample::Row(row) => {
                    let row: [f64; 3] = row.try_into().expect("three channels");
                    device.push(&row.map(|x| x as f32))
                }
                _ => {
                    device.push(None).expect("nothing to refuse");
                    Ok(())
                }
            };
            assert_eq!(host.push(sample), taken.map_err(PushError::from));
            let (here, there) = (host.decision().expect("in range"), device.read());
            assert_eq!((here.class, here.margin.to_bits()), (there.class, there.margin.to_bits()));
            assert_eq!(host.log_likelihoods(), core.log_likelihoods(device.state()));
        }
    }
}

#[test]
fn the_artefact_holds_codebooks_and_reads_back() {
    let deployed = fitted(0).deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    // Scale, least margin, and limits of two classes.
    assert_eq!(deployed.cost().model_bytes, size_of::<Whole>() + 24);
    let words = aligned(&bytes);
    let in_place = &words.as_bytes()[..bytes.len()];
    let core: &Whole = artefact::read(in_place).expect("an artefact");
    let confidence = artefact::confidence::<Whole>(in_place).expect("an artefact");
    assert_eq!(confidence, deployed.confidence().map(|confidence| confidence.of_core()));
    same_bits(&deployed, core);

    let shape = Header::parse(&bytes).expect("a header").shape();
    assert_eq!((shape, shape.codebooks, shape.dilation), (Whole::SHAPE, 6, 4));
    let others = [
        artefact::read::<Beside<5, 32>>(in_place).err(),
        artefact::read::<Beside<6, 64>>(in_place).err(),
        artefact::read::<AtLags>(in_place).err(),
    ];
    for other in others {
        assert!(matches!(other, Some(ArtefactError::OtherShape { .. })), "{other:?}");
    }
    // Before there were sections, what has none was as before there were any.
    let plain = trained_on_each_lag(&channels(), &[1, 2]).deploy().expect("fits in f32");
    let plain = plain.to_artefact().expect("small enough");
    assert_eq!((bytes[8], plain[8]), (4, 4), "format versions");
    let parsed = |whole: &[u8], version, beside| {
        let mut bytes = whole.to_vec();
        bytes[8] = version;
        bytes[22] |= beside;
        let mut digest = crc32fast::Hasher::new();
        digest.update(&bytes[..52]);
        digest.update(&bytes[56..]);
        bytes[52..56].copy_from_slice(&digest.finalize().to_le_bytes());
        Header::parse(&bytes).err()
    };
    assert_eq!((parsed(&bytes, 3, 0), parsed(&plain, 2, 0)), (None, None));
    let (codebooks, front) = (0x80, 0x20);
    for (whole, version, beside) in
        [(&bytes, 2, 0), (&plain, 2, codebooks), (&plain, 2, front), (&plain, 3, 0)]
    {
        let error = parsed(whole, version, beside);
        assert_eq!(error, Some(ArtefactError::BadHeader), "version {version}, {beside:x}");
    }
}

/// Levels lie with the codebooks, and are told by the header; what was written before there were any has none.
#[test]
fn the_artefact_holds_levels_and_reads_back() {
    type Levelled = Beside<6, 32, 2>;
    let deployed = fitted(2).deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed);
    assert_eq!(deployed.cost().model_bytes, size_of::<Levelled>() + 24);
    let words = aligned(&bytes);
    let in_place = &words.as_bytes()[..bytes.len()];
    same_bits(&deployed, artefact::read::<Levelled>(in_place).expect("an artefact"));
    let header = Header::parse(&bytes).expect("a header");
    let shape = header.shape();
    assert_eq!((shape, shape.levels, bytes[8]), (Levelled::SHAPE, 2, 4));
    let others = [
        artefact::read::<Whole>(in_place).err(),
        artefact::read::<Beside<6, 32, 1>>(in_place).err(),
    ];
    for other in others {
        assert!(matches!(other, Some(ArtefactError::OtherShape { .. })), "{other:?}");
    }
    let payload = header.payload(&bytes).expect("a classifier");
    let labels = &bytes[HEADER_LENGTH + payload.len()..];
    let encoded = |levels| Header::encode(Shape { levels, ..shape }, payload, labels);
    assert!(encoded(7).is_some() && encoded(8).is_none());
    // Without codebooks there are none.
    let none = Shape { codebooks: 0, dilation: 0, ..shape };
    assert_eq!(Header::encode(none, payload, labels), None);
    // A level after the dilations, and one of the weights at the end.
    let above = 24 + 4 * 96 + 72 + 384 + 4 * 48;
    for (at, entry) in [(24 + 4 * 17, 3 + 8 + 16 + 1), (above + 4 * 17, 3 + 8 + 1)] {
        let put = |books: &mut [u8]| books[at..at + 4].copy_from_slice(&[0, 0, 0x80, 0x7f]);
        let (taken, error) = spoilt::<2>(&deployed, shape, &put);
        let wrong = ModelError::new(Part::Codebook, ErrorKind::NotFinite, 1, entry);
        assert_eq!((taken, error), (false, Some(ArtefactError::Model(wrong))));
    }
    let (taken, _) = spoilt::<2>(&deployed, Shape { levels: 3, ..shape }, &|_| ());
    assert!(!taken, "more levels than there are");
}

/// Whether host and device take an artefact of this shape whose codebooks' bytes were changed, and why a device does not.
fn spoilt<const Q: usize>(
    deployed: &Deployed,
    shape: Shape,
    change: &dyn Fn(&mut [u8]),
) -> (bool, Option<ArtefactError>) {
    let whole = deployed.to_artefact().expect("small enough");
    let header = Header::parse(&whole).expect("a header");
    let mut payload = header.payload(&whole).expect("a classifier").to_vec();
    let labels = &whole[HEADER_LENGTH + payload.len()..];
    change(&mut payload[size_of::<AtLags>()..]);
    let header = Header::encode(shape, &payload, labels).expect("a header");
    let bytes = [header.as_slice(), &payload, labels].concat();
    let words = aligned(&bytes);
    let on_host = Deployed::from_artefact("a", &bytes).err().map(|error| error.to_string());
    let on_device = artefact::read::<Beside<6, 32, Q>>(&words.as_bytes()[..bytes.len()]).err();
    if shape == Beside::<6, 32, Q>::SHAPE {
        assert_eq!(on_host, on_device.map(|error| format!("a: {error}")));
    }
    (on_host.is_none(), on_device)
}

#[test]
fn what_is_no_codebook_is_refused_on_both_sides() {
    let deployed = fitted(0).deploy().expect("fits in f32");
    let whole = deployed.to_artefact().expect("small enough");
    let header = Header::parse(&whole).expect("a header");
    let payload = header.payload(&whole).expect("a classifier").to_vec();
    let labels = &whole[HEADER_LENGTH + payload.len()..];
    let spoilt = |shape: Shape, change: &dyn Fn(&mut [u8])| spoilt::<0>(&deployed, shape, change);
    let put = |at: usize, word: u32| {
        move |books: &mut [u8]| books[at..at + 4].copy_from_slice(&word.to_le_bytes())
    };
    let refused = |kind, book, entry| {
        let error = ModelError::new(Part::Codebook, kind, book, entry);
        (false, Some(ArtefactError::Model(error)))
    };
    assert_eq!(spoilt(Whole::SHAPE, &|_| ()), (true, None));
    for far in [0, 5, 1 << 29, u32::MAX] {
        let found = spoilt(Whole::SHAPE, &put(4, far));
        assert_eq!(found, refused(ErrorKind::NotInRange, 1, 0), "{far}");
    }
    let near = |books: &mut [u8]| (0..6).for_each(|book| put(4 * book, 1)(books));
    assert_eq!(spoilt(Whole::SHAPE, &near), refused(ErrorKind::Inconsistent, 0, 0));
    let (scales, vectors, weights) = (24, 24 + 72, 24 + 72 + 384);
    let infinite = f32::INFINITY.to_bits();
    let scale = spoilt(Whole::SHAPE, &put(scales + 4 * 7, f32::NAN.to_bits()));
    assert_eq!(scale, refused(ErrorKind::NotFinite, 2, 1));
    let weight = spoilt(Whole::SHAPE, &put(weights + 4 * 47, infinite));
    assert_eq!(weight, refused(ErrorKind::NotFinite, 5, 3 + 7));
    // Any bytes are code vectors.
    assert_eq!(spoilt(Whole::SHAPE, &put(vectors + 380, infinite)), (true, None));
    for (codebooks, dilation) in [(6, 3), (6, 5), (5, 4), (u16::MAX, 4), (6, u8::MAX)] {
        let (taken, _) = spoilt(Shape { codebooks, dilation, ..Whole::SHAPE }, &|_| ());
        assert!(!taken, "{codebooks} codebooks of dilation {dilation}");
    }
    for other in [Shape { dilation: 0, ..Whole::SHAPE }, Shape { states: 256, ..Whole::SHAPE }] {
        assert_eq!(Header::encode(other, &payload, labels), None, "{other}");
    }
}

/// What codebooks add to an output is what their counts weigh: levels one by one, though a device adds them up before.
#[test]
fn what_is_counted_weighs_what_was_learnt() {
    let with = fitted(3);
    let mut without = with.clone();
    let Rule::Linear(outputs) = &mut without.rule else { panic!("linear") };
    let Output { codewords, levels, .. } = &mut outputs[0];
    let weights: Vec<f64> = codewords.iter().chain(levels.iter()).copied().collect();
    codewords.iter_mut().chain(levels).for_each(|weight| *weight = 0.0);
    assert_eq!(weights.len(), 6 * 8 * (1 + 3));
    let codebooks = with.codebooks.as_ref().expect("codebooks");
    let value = |classifier: &Classifier, samples: SamplesView<'_>| {
        let mut stream = classifier.deploy().expect("fits in f32").stream();
        samples.iter().for_each(|sample| stream.push(sample).expect("possible"));
        f64::from(stream.decision_values().expect("in range")[0])
    };
    for series in channels().series() {
        let samples = series.samples.view();
        let counts = codebooks.counts(samples.rows().expect("channels"));
        let sum: f64 = counts.iter().zip(&weights).map(|(count, weight)| count * weight).sum();
        let wanted = with.normalisation.factor::<f64>(samples.len() as u64) * sum;
        let found = value(&with, samples) - value(&without, samples);
        // A count is some thousandths of this: what a device rounds is less.
        assert!((found - wanted).abs() < 1e-5 * (1.0 + wanted.abs()), "{found} for {wanted}");
        assert!(wanted != 0.0);
    }
}

/// What the host wrote is received, swapped for what ran, and decides as the host says; what has other codebooks, or a
/// self-test that fails, is refused.
#[test]
fn updates_of_codebooks_are_received_and_swapped() {
    let data = channels();
    let samples = data.series()[0].samples.view();
    let update = |version, deployed: &Deployed, samples: SamplesView<'_>| {
        deployed.to_update(version, samples, false).expect("an update")
    };
    let mut classifier = fitted(2);
    let first = classifier.deploy().expect("fits in f32");
    let Rule::Linear(outputs) = &mut classifier.rule else { panic!("linear") };
    let Output { codewords, levels, .. } = &mut outputs[0];
    codewords.iter_mut().chain(levels).for_each(|weight| *weight *= -2.0);
    let second = classifier.deploy().expect("fits in f32");
    let mut device: Device<Beside<6, 32, 2>> = start();
    for (version, deployed) in [(1, &first), (2, &second)] {
        assert_eq!(send(&mut device, &update(version, deployed, samples)), UpdateStatus::Received);
        assert_eq!(device.begin_stream(), Ok(true));
        assert_eq!(device.version(), version);
        same_bits(deployed, device.model().expect("it runs"));
        let confidence = deployed.confidence().map(|confidence| confidence.of_core());
        assert_eq!(device.confidence(), confidence);
        device.confirm().expect("writes");
    }

    // Other codebooks, and other levels.
    for other in [trained_on_levels(&data, &[1, 2], 1, 2), fitted(1), fitted(0)] {
        let other = other.deploy().expect("fits in f32");
        assert_eq!(send(&mut device, &update(3, &other, samples)), UpdateStatus::OtherShape);
    }
    // The test of one around the numbers of the other: 16 samples on, no codeword of dilation 1 is the same.
    let sound = update(3, &first, samples);
    let artefact = second.to_artefact().expect("small enough");
    let test = &sound[64 + artefact.len()..];
    let header = fishweir_core::update::UpdateHeader::encode(3, &artefact, test, false);
    let mixed = [&header.expect("a header")[..], &artefact, test].concat();
    assert_eq!(send(&mut device, &mixed), UpdateStatus::SelfTest);
    assert_eq!(send(&mut device, &sound), UpdateStatus::Received);
}
