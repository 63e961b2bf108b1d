//! Transfers over flash that loses power at every step, and from senders that mean ill.

extern crate std;

use std::vec::Vec;
use std::{format, vec};

use fishweir_core::artefact::{
    HEADER_LENGTH as ARTEFACT_HEADER, Header, StoredClassifier, length_of, write,
};
use fishweir_core::classify::{Normalisation, StreamClassifier};
use fishweir_core::emission::Categorical;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::update::{Entry, HEADER_LENGTH, SelfTest, UpdateHeader};
use fishweir_core::wire::{UPDATE_CHUNK, UpdateStatus};
use zerocopy::IntoBytes;

use super::*;
use crate::storage::tests::Flash;

mod hostile;
mod power;

pub(crate) type Model = StreamClassifier<Hmm<Categorical<2>, 2>, 2, 2>;
pub(super) type Device<'f> = Updates<&'f mut Flash, NoSignature, Model, 2>;

/// Pages of 64 bytes: slots of 512.
const PAGES: usize = 16;

/// A coin that takes turns: how likely heads are depends on the version.
pub(crate) fn model(version: u32) -> Model {
    let p = 0.5 + 0.25 / (1.0 + version as f32);
    let chain = Chain::from_parts([0.5, 0.5], [[0.25, 0.75], [0.75, 0.25]]);
    let coin = |p: f32| Categorical::from_parts([p, 1.0 - p]);
    let hmm = |p| Hmm::new(chain, [coin(p), coin(1.0 - p)]);
    StreamClassifier::from_parts(
        [hmm(0.5), hmm(p)],
        [[1.0, 0.0], [0.0, 1.0]],
        [0.0, 0.0],
        Normalisation::NONE,
    )
}

/// The update of a version, to be signed or not, without signature.
pub(super) fn update_of(version: u32, model: &Model, signed: bool) -> Vec<u8> {
    let mut room = [0; length_of::<Hmm<Categorical<2>, 2>, 2, 2>(0)];
    update_around(version, write(model, "", &mut room).expect("room enough"), model, signed)
}

/// Builds an update around an artefact of the model.
fn update_around(version: u32, artefact: &[u8], model: &Model, signed: bool) -> Vec<u8> {
    let mut stream = Stream::new(model);
    let tosses = [0_u16, 1, 1, 0];
    let mut test = SelfTest::head(tosses.len() as u16, 2).to_vec();
    for toss in tosses {
        stream.push(&usize::from(toss)).expect("possible");
        let decision = stream.read();
        let sample = &toss.to_le_bytes()[..];
        let (class, margin_bits) = (decision.class as u16, decision.margin.to_bits());
        test.extend([sample, &Entry { sample, class, margin_bits }.verdict()].concat());
    }
    let header = UpdateHeader::encode(version, artefact, &test, signed).expect("sound");
    [&header[..], artefact, &test].concat()
}

pub(crate) fn update(version: u32) -> Vec<u8> {
    update_of(version, &model(version), false)
}

pub(super) fn start(flash: &mut Flash) -> Device<'_> {
    Updates::start(flash, NoSignature, 0, None).expect("reads")
}

pub(crate) fn header(update: &[u8]) -> [u8; HEADER_LENGTH] {
    *update.first_chunk().expect("a header")
}

pub(crate) fn transfer(update: &[u8]) -> u32 {
    u32::from_le_bytes(*header(update).last_chunk().expect("a checksum"))
}

pub(crate) fn piece(update: &[u8], offset: usize) -> [u8; UPDATE_CHUNK] {
    let mut piece = [0xFF; UPDATE_CHUNK];
    let rest = update.get(offset..).unwrap_or(&[]);
    piece.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    piece
}

/// Sends an update as an honest sender does, from where the device wants it.
pub(super) fn send<T: Trust>(
    device: &mut Updates<&mut Flash, T, Model, 2>,
    update: &[u8],
) -> UpdateStatus {
    let mut status = device.offer(&header(update));
    for _ in 0..update.len() {
        if status != UpdateStatus::Receiving {
            return status;
        }
        let wanted = device.progress(Default::default(), status).wanted.get();
        status = device.chunk(transfer(update), wanted, &piece(update, wanted as usize));
    }
    status
}

/// Flash in which a version runs, confirmed.
pub(super) fn running(version: u32) -> Flash {
    let mut flash = Flash::of(PAGES);
    let mut device = start(&mut flash);
    assert_eq!(send(&mut device, &update(version)), UpdateStatus::Received);
    assert_eq!(device.begin_stream(), Ok(true));
    device.confirm().expect("writes");
    flash
}

/// Returns the version that runs after a reset, and asserts that it is the model of that version.
pub(super) fn runs<T: Trust>(device: &Updates<&mut Flash, T, Model, 2>) -> u32 {
    let version = device.version();
    assert_eq!(device.model().copied(), (version > 0).then(|| model(version)), "{version}");
    version
}

#[test]
fn an_update_begins_with_the_next_stream_and_stays_when_confirmed() {
    let mut flash = Flash::of(PAGES);
    for version in 1..6 {
        let mut device = start(&mut flash);
        assert_eq!(runs(&device), version - 1);
        assert_eq!(send(&mut device, &update(version)), UpdateStatus::Received);
        // Said again, where the answer was lost.
        assert_eq!(send(&mut device, &update(version)), UpdateStatus::Received);
        assert_eq!(runs(&device), version - 1);
        assert_eq!(device.begin_stream(), Ok(true));
        assert_eq!(runs(&device), version);
        assert!(device.is_on_trial());
        assert_eq!(send(&mut device, &update(version)), UpdateStatus::OnTrial);
        assert_eq!(send(&mut device, &update(9)), UpdateStatus::Busy);
        device.confirm().expect("writes");
        assert_eq!(device.begin_stream(), Ok(false));
        assert_eq!(send(&mut device, &update(version)), UpdateStatus::Confirmed);
    }
}

#[test]
fn a_model_that_is_not_confirmed_before_the_second_reset_is_rolled_back() {
    for before in [0, 3] {
        let mut flash = if before > 0 { running(before) } else { Flash::of(PAGES) };
        let mut device = start(&mut flash);
        send(&mut device, &update(4));
        assert_eq!(device.begin_stream(), Ok(true));
        let device = start(&mut flash);
        assert_eq!((runs(&device), device.is_on_trial()), (4, true));
        for _ in 0..3 {
            let mut device = start(&mut flash);
            assert_eq!(runs(&device), before);
            assert_eq!(device.offer(&header(&update(4))), UpdateStatus::RolledBack);
        }
        let mut device = start(&mut flash);
        assert_eq!(send(&mut device, &update(5)), UpdateStatus::Received);
    }
}

#[test]
fn confidence_comes_and_goes_with_the_model() {
    let with = |version: u32, scale: f32| {
        let reals = [scale, 0.25, -3.0, -0.5, -4.0, -0.75];
        let mut room = [0; length_of::<Hmm<Categorical<2>, 2>, 2, 2>(0)];
        let plain = write(&model(version), "", &mut room).expect("room enough");
        let (numbers, sections) = plain[ARTEFACT_HEADER..].split_at(size_of::<Model>());
        let payload = [numbers, reals.as_bytes()].concat();
        let header = Header::encode(Model::SHAPE, &payload, sections).expect("small enough");
        let artefact = [&header[..], &payload, sections].concat();
        update_around(version, &artefact, &model(version), false)
    };
    let mut flash = Flash::of(PAGES);
    let mut device = start(&mut flash);
    assert_eq!(device.confidence(), None, "the built-in model's is the image's");
    for (version, scale) in [(1, 0.5), (2, 2.0)] {
        assert_eq!(send(&mut device, &with(version, scale)), UpdateStatus::Received);
        assert_eq!(device.begin_stream(), Ok(true));
        assert_eq!(runs(&device), version);
        let confidence = device.confidence().expect("it came");
        assert_eq!((confidence.scale, confidence.least_margin), (scale, 0.25));
        assert_eq!(confidence.likelihoods, [[-3.0, -0.5], [-4.0, -0.75]]);
        device.confirm().expect("writes");
    }
    assert_eq!(send(&mut device, &with(3, -1.0)), UpdateStatus::Damaged, "no temperature");
    assert_eq!(send(&mut device, &update(3)), UpdateStatus::Received);
    assert_eq!(device.begin_stream(), Ok(true));
    assert_eq!(device.confidence(), None, "none came with it");
}

#[test]
fn the_running_model_is_read_where_it_lies_and_aligned() {
    let flash = &mut running(2);
    let range = flash.bytes().as_ptr_range();
    let device = start(flash);
    let model: *const Model = device.model().expect("runs");
    assert!(range.contains(&model.cast()));
    assert_eq!((model.addr() - range.start.addr()) % 512, 192 + HEADER_LENGTH + ARTEFACT_HEADER);
}

#[test]
fn what_is_older_built_in_or_of_another_image_is_refused_before_anything_is_erased() {
    let flash = running(3);
    let refused = |update: &[u8], built_in: u32| {
        let mut now = flash.clone();
        let mut device =
            Updates::<_, _, Model, 2>::start(&mut now, NoSignature, built_in, None).expect("reads");
        let status = send(&mut device, update);
        assert_eq!(now.bytes(), flash.bytes());
        status
    };
    assert_eq!(refused(&update(1), 0), UpdateStatus::NotNewer);
    assert_eq!(refused(&update_of(3, &model(9), false), 0), UpdateStatus::NotNewer);
    assert_eq!(refused(&update(7), 7), UpdateStatus::NotNewer);
    let mut other = update(4);
    other[12] += 1;
    assert_eq!(refused(&other, 0), UpdateStatus::OtherShape);
    let mut other = update(4);
    other[36] ^= 1;
    assert_eq!(refused(&other, 0), UpdateStatus::OtherProfile);
    let mut long = update(4);
    long[54] = 1;
    assert_eq!(refused(&long, 0), UpdateStatus::TooLong);
    assert_eq!(refused(&[0; HEADER_LENGTH], 0), UpdateStatus::NotAnUpdate);
}

#[test]
fn a_model_that_does_not_decide_as_its_self_test_says_is_refused() {
    let mut flash = running(1);
    let honest = update(2);
    let artefact = &honest[HEADER_LENGTH..][..length_of::<Hmm<Categorical<2>, 2>, 2, 2>(0)];
    let test = &honest[HEADER_LENGTH + artefact.len()..];
    // Margin or class of the last entry; a sample that is no symbol; none at all.
    for (at, value) in [(test.len() - 1, 0x11), (test.len() - 6, 1), (4, 9), (2, 3)] {
        let mut test = test.to_vec();
        test[at] ^= value;
        let Ok(header) = UpdateHeader::encode(2, artefact, &test, false) else {
            assert_eq!(at, 2);
            continue;
        };
        let update = [&header[..], artefact, &test].concat();
        let mut device = start(&mut flash);
        assert_eq!(send(&mut device, &update), UpdateStatus::SelfTest, "{at}");
        assert_eq!(device.begin_stream(), Ok(false));
        assert_eq!(runs(&start(&mut flash)), 1);
    }
    assert_eq!(send(&mut start(&mut flash), &honest), UpdateStatus::Received);
}

#[test]
fn only_the_holder_of_the_key_updates_a_device_that_asks_for_signatures() {
    use ed25519_dalek::{Signer, SigningKey};
    let key = SigningKey::from_bytes(&[7; 32]);
    let trust = Ed25519(key.verifying_key().to_bytes());
    let sign =
        |key: &SigningKey, update: &[u8]| [update, &key.sign(update).to_bytes()[..]].concat();
    let mut flash = Flash::of(2 * PAGES);
    let mut device = Updates::<_, _, Model, 2>::start(&mut flash, trust, 0, None).expect("reads");
    assert_eq!(send(&mut device, &update(1)), UpdateStatus::Signature);
    let unsigned = update_of(1, &model(1), true);
    let forged = sign(&SigningKey::from_bytes(&[8; 32]), &unsigned);
    assert_eq!(send(&mut device, &forged), UpdateStatus::Signature);
    let genuine = sign(&key, &unsigned);
    // The signature of another update; a flipped bit; nothing.
    let other = sign(&key, &update_of(2, &model(2), true));
    let mut wrong = vec![[&unsigned[..], &other[other.len() - 64..]].concat()];
    wrong.push([&unsigned[..], &[0; 64]].concat());
    let mut flipped = genuine.clone();
    flipped[genuine.len() - 1] ^= 1;
    wrong.push(flipped);
    for update in wrong {
        assert_eq!(send(&mut device, &update), UpdateStatus::Signature);
        assert_eq!(device.begin_stream(), Ok(false));
    }
    assert_eq!(send(&mut device, &genuine), UpdateStatus::Received);
    assert_eq!(device.begin_stream(), Ok(true));
    assert_eq!(runs(&device), 1);
    // Keys of small order, for which a signature of nothing would hold for all.
    let mut one = [0; 32];
    one[0] = 1;
    for weak in [[0; 32], one] {
        let nothing = [&unsigned[..], &one, &[0; 32]].concat();
        let mut flash = Flash::of(2 * PAGES);
        let trust = Ed25519(weak);
        let device = Updates::<_, _, Model, 2>::start(&mut flash, trust, 0, None);
        assert_eq!(send(&mut device.expect("reads"), &nothing), UpdateStatus::Signature);
    }
    // NoSignature's device takes it too.
    let mut flash = Flash::of(2 * PAGES);
    assert_eq!(send(&mut start(&mut flash), &genuine), UpdateStatus::Received);
}

#[test]
fn every_status_reads_back_from_its_byte() {
    for byte in 0..=u8::MAX {
        let status = UpdateStatus::from_byte(byte);
        assert!(
            status.is_none_or(|status| status as u8 == byte && !format!("{status}").is_empty())
        );
    }
}
