//! Front ends in an artefact: their stages are read in place with the classifier behind them, and updated with it.

use fishweir::classifier::Classifier;
use fishweir::data::{Dataset, Kind, Rows, Sample, Samples, SamplesView};
use fishweir::deploy::{Deployed, PushError, UpdateFileError};
use fishweir_core::artefact::{
    self, ArtefactError, HEADER_LENGTH, Header, Shape, Stages, StoredClassifier,
};
use fishweir_core::classify::{self, StreamClassifier};
use fishweir_core::contract::{LABELS, Section};
use fishweir_core::emission::{Categorical, Gaussian};
use fishweir_core::filter::Stream;
use fishweir_core::front::{
    Cepstra, Decimate, Magnitude, Pipe, Preprocessed, Slopes, VectorQuantiser,
};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;
use fishweir_core::wire::UpdateStatus;
use fishweir_core::{ErrorKind, ModelError, Part};
use fishweir_device::classifier::WireSample;
use fishweir_tests::quick::{channels, trained_behind};
use zerocopy::IntoBytes;

use super::codebooks::aligned;
use super::field::{Device, send, start};

type Along = Dual<f32, 1>;
type Bank<E> = StreamClassifier<Hmm<E, 2>, 2, 1>;
type Strengths = Pipe<Magnitude<3, 2>, Decimate<2>>;
type OnStrengths = Preprocessed<Strengths, Bank<Gaussian<2, Along>>>;
/// After a number of four bytes groups of five and of four, each in words of its own.
type Groups = Pipe<Pipe<Decimate<5>, Magnitude<5, 4>>, Magnitude<4, 3>>;
type OnTwoGroups = Preprocessed<Groups, Bank<Gaussian<3, Along>>>;
type OnSymbols = Preprocessed<Pipe<Strengths, VectorQuantiser<2, 5>>, Bank<Categorical<5, Along>>>;
type OnSlopes = Preprocessed<Pipe<Decimate<3>, Slopes<3, 4>>, Bank<Gaussian<6, Along>>>;
/// A stage without numbers of its own, alone.
type OnSlopesAlone = Preprocessed<Slopes<3, 63>, Bank<Gaussian<6, Along>>>;
type OnSound = Preprocessed<Cepstra<64, 12, 5>, Bank<Gaussian<5, Along>>>;

/// Bands that rise, and bands that do not, on channels of these names.
fn sounds(names: &[&str]) -> Dataset {
    let sound = |series: usize| {
        let mut rows = Rows::new(names.len());
        for t in 0..600_usize {
            let noise = ((t * t * 31 + t * 17 + series * 101) % 257) as f64 / 257.0 - 0.5;
            let step = [0.3, 1.1 + 0.002 * t as f64][series / 2 % 2];
            let x = |channel: usize| (step * (t + channel * channel) as f64).sin();
            let row: Vec<f64> = (0..names.len()).map(|c| 0.3 * x(c) + 0.05 * noise).collect();
            rows.push(Some(&row));
        }
        Samples::Channels(rows)
    };
    let series = (0..8).map(|one| (["low", "rising"][one / 2 % 2], sound(one)));
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Dataset::labelled(Kind::Channels(names), series).expect("series")
}

/// Host and core push a series of which some is missing; the bits of all that they read are the same.
fn same_bits<C, const D: usize>(data: &Dataset, deployed: &Deployed, core: &C)
where
    C: classify::Classifier<Real = f32, Evidence = [f32; 2], Observation = [f32; D]>,
{
    let (mut host, mut device) = (deployed.stream(), Stream::new(core));
    for (t, sample) in data.series()[1].samples.view().iter().enumerate() {
        let sample = if t % 131 == 20 { Sample::Missing } else { sample };
        let taken = match sample {
            Sample::Row(row) => {
                let row: [f64; D] = row.try_into().expect("channels");
                device.push(&row.map(|x| x as f32))
            }
            _ => {
                device.push(None).expect("nothing to refuse");
                Ok(())
            }
        };
        assert_eq!(host.push(sample), taken.map_err(PushError::from));
        let here = host.decision().expect("in range");
        let there = core.decision(device.state()).expect("in range");
        assert_eq!((here.class, here.margin.to_bits()), (there.class, there.margin.to_bits()));
        assert_eq!(host.log_likelihoods(), core.evidence(device.state()).expect("in range"));
    }
}

/// What was written reads back, in place too, and runs as an update; other settings, numbers and stages are refused.
fn holds<C, const D: usize>(data: &Dataset, front: &str)
where
    C: StoredClassifier
        + classify::Classifier<Real = f32, Evidence = [f32; 2], Observation = [f32; D]>,
    [f32; D]: WireSample,
{
    let deployed = trained_behind(data, front).deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("a", &bytes).expect("an artefact"), deployed, "{front}");
    assert_eq!(deployed.cost().model_bytes.next_multiple_of(4), size_of::<C>(), "{front}");
    let words = aligned(&bytes);
    let core: &C = artefact::read(&words.as_bytes()[..bytes.len()]).expect("an artefact");
    same_bits(data, &deployed, core);

    // A sample that is refused is missing behind a front end: the self-test is of those after it.
    let mut rows = Rows::new(D);
    let view = data.series()[0].samples.view().rows().expect("channels");
    let spoilt = |t: usize, row| if t == 3 { Some(&[1e300; D][..]) } else { row };
    view.iter().enumerate().for_each(|(t, row)| rows.push(spoilt(t, row)));
    let update = deployed.to_update(1, SamplesView::Channels(rows.view()), false);
    let update = update.expect("an update");
    let mut device: Device<C> = start();
    assert_eq!(send(&mut device, &update), UpdateStatus::Received, "{front}");
    assert_eq!(device.begin_stream(), Ok(true));
    same_bits(data, &deployed, device.model().expect("it runs"));
}

#[test]
fn the_artefact_holds_front_ends_and_an_update_carries_them() {
    holds::<OnStrengths, 3>(&channels(), "magnitude=x+z,decimate=3");
    holds::<OnSymbols, 3>(&channels(), "magnitude=x+z,decimate=2,symbols=5");
    holds::<OnSlopes, 3>(&channels(), "decimate=2,slopes=5");
    holds::<OnSlopesAlone, 3>(&channels(), "slopes=64");
    holds::<OnSound, 1>(&sounds(&["x"]), "cepstra=128/64/12/5@8000");
    let five = sounds(&["a", "b", "c", "d", "e"]);
    holds::<OnTwoGroups, 5>(&five, "decimate=2,magnitude=a+b,magnitude=c+d");
}

#[test]
fn an_update_whose_self_test_hears_no_row_is_refused() {
    let data = channels();
    let view = data.series()[0].samples.view().rows().expect("channels");
    let mut classifier = trained_behind(&data, "decimate=30");
    let update = |classifier: &Classifier, most: usize, spoilt: usize| {
        let mut rows = Rows::new(3);
        let row = |(t, row)| if t == spoilt { Some(&[1e300; 3][..]) } else { row };
        view.iter().take(most).enumerate().map(row).for_each(|row| rows.push(row));
        let deployed = classifier.deploy().expect("fits in f32");
        deployed.to_update(1, SamplesView::Channels(rows.view()), false)
    };
    assert!(update(&classifier, 30, 30).is_ok());
    let short = update(&classifier, 29, 29).expect_err("no row");
    assert!(matches!(short, UpdateFileError::NoRow { takes: 30, found: 29 }), "{short}");
    let parted = update(&classifier, 40, 20).expect_err("no row");
    assert!(matches!(parted, UpdateFileError::NoRow { takes: 30, found: 20 }), "{parted}");
    let none = update(&classifier, 0, 0).expect_err("no sample");
    assert!(matches!(none, UpdateFileError::NoSample), "{none}");
    classifier.front = "decimate=2049".parse().expect("a front end");
    let long = update(&classifier, 40, 40).expect_err("no row");
    assert!(matches!(long, UpdateFileError::LongFront { takes: 2049 }), "{long}");
}

#[test]
fn what_is_no_front_end_is_refused_on_both_sides() {
    let deployed =
        trained_behind(&channels(), "magnitude=x+z,decimate=2,symbols=5").deploy().expect("fits");
    let whole = deployed.to_artefact().expect("small enough");
    let shape = Header::parse(&whole).expect("a header").shape();
    assert_eq!(shape, OnSymbols::SHAPE);
    let labels = "p\nq\nx\ny\nz\nmagnitude=x+z,decimate=2,symbols=5\n";
    let section_of = |labels: &str| {
        let section = Section { tag: LABELS, content: labels.as_bytes() };
        [&section.head(), section.content].concat()
    };
    let section = section_of(labels);
    let mut places = whole.windows(section.len());
    let labels_at = places.position(|bytes| bytes == section).expect("its labels");
    let spoilt = |change: &dyn Fn(&mut [u8]), labels: &str| {
        let mut payload = whole[HEADER_LENGTH..labels_at].to_vec();
        change(&mut payload);
        let section = section_of(labels);
        let header = Header::encode(shape, &payload, &section).expect("a header");
        let bytes = [&header[..], &payload, &section].concat();
        let words = aligned(&bytes);
        let device = artefact::read::<OnSymbols>(&words.as_bytes()[..bytes.len()]).err();
        let host = Deployed::from_artefact("a", &bytes).err();
        (host.map(|error| error.to_string()), device)
    };
    let wrong =
        |kind, row, entry| ArtefactError::Model(ModelError::new(Part::Front, kind, row, entry));
    assert_eq!(spoilt(&|_| (), labels), (None, None));
    // A group of three bytes and one that aligns what follows; a mean's length; weights; words.
    for (at, byte, error) in [
        (1, 2, Some(wrong(ErrorKind::NotInRange, 0, 1))),
        (1, 1, Some(wrong(ErrorKind::Inconsistent, 0, 0))),
        (4, 0, Some(wrong(ErrorKind::NotInRange, 0, 0))),
        (4, 5, None),
        (11, 0xFF, Some(wrong(ErrorKind::NotInRange, 0, 0))),
    ] {
        let (host, device) = spoilt(&|payload| payload[at] = byte, labels);
        assert_eq!(device, error, "{at}");
        assert!(host.is_some(), "{at}: settings that the line has otherwise");
    }
    let nan = f32::NAN.to_le_bytes();
    let (host, device) =
        spoilt(&|payload| payload[8 + 8 + 12..][..4].copy_from_slice(&nan), labels);
    assert_eq!(device, Some(wrong(ErrorKind::NotFinite, 2, 1)));
    assert!(host.is_some());
    for (from, to) in [
        ("symbols=5", "symbols=6"),
        ("decimate=2,", "decimate=2,decimate=2,"),
        ("decimate=2", "decimate=4"),
        ("magnitude=x+z", "magnitude=x+y"),
        ("magnitude=x+z", "magnitude=x+q"),
        (",symbols=5", ""),
        ("magnitude=x+z,decimate=2,symbols=5\n", ""),
    ] {
        let (host, _) = spoilt(&|_| (), &labels.replace(from, to));
        assert!(host.is_some(), "{from} for {to}");
    }
    // Of no channels, as the number has it.
    let none = Shape { front: Stages::symbols(0, 5), ..shape };
    let mut payload = whole[HEADER_LENGTH..labels_at - 4].to_vec();
    payload.extend(none.front.code().to_le_bytes());
    let section = section_of("p\nq\nsymbols=5\n");
    let header = Header::encode(none, &payload, &section).expect("a header");
    let bytes = [&header[..], &payload, &section].concat();
    Deployed::from_artefact("a", &bytes).expect_err("no channel");
    // A number of other stages, or none at the end.
    let mut other = whole.clone();
    other[labels_at - 1] ^= 1;
    let payload = &other[HEADER_LENGTH..labels_at];
    assert_eq!(Header::encode(shape, payload, &section_of(labels)), None);
    let words = aligned(&whole);
    type Otherwise =
        Preprocessed<Pipe<Decimate<3>, VectorQuantiser<3, 5>>, Bank<Categorical<5, Along>>>;
    let read = artefact::read::<Otherwise>(&words.as_bytes()[..whole.len()]).err();
    assert!(matches!(read, Some(ArtefactError::OtherShape { .. })), "{read:?}");
    let mut device: Device<Otherwise> = start();
    let data = channels();
    let update = deployed.to_update(1, data.series()[0].samples.view(), false).expect("an update");
    assert_eq!(send(&mut device, &update), UpdateStatus::OtherShape);
}
