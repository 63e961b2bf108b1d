//! Binary artefacts.

use std::sync::OnceLock;

use fishweir::classifier::Classifier;
use fishweir::deploy::Deployed;
use fishweir_core::artefact::{HEADER_LENGTH, Header, read};
use fishweir_core::classify::{Codebooks, StreamClassifier, WithCodebooks};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::emission::{Bernoulli, Categorical, Gaussian, Poisson};
use fishweir_core::front::{Decimate, Preprocessed};
use fishweir_core::hmm::Hmm;
use fishweir_core::number::Dual;

use super::{CLASSIFIERS, names_the_file, sealed};

/// The artefacts of [`CLASSIFIERS`] that have one.
fn sound_artefacts() -> &'static [Vec<u8>] {
    static SOUND: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SOUND.get_or_init(|| {
        let artefact = |content: &str| {
            let model = Classifier::parse("sound", &sealed(content)).expect("sound");
            let deployed = model.deploy().expect("a device takes it");
            deployed.no_artefact().is_none().then(|| deployed.to_artefact().expect("small enough"))
        };
        CLASSIFIERS.iter().filter_map(|content| artefact(content)).collect()
    })
}

/// A binary artefact, or edits to a sound one, three bytes each: where and what. The checksum is
/// always right. Read by the host, and in place as several types, at every alignment that matters.
///
/// Returns whether one of the types took it.
pub fn reads_artefact(bytes: &[u8]) -> bool {
    let mut artefact;
    if bytes.starts_with(b"FISHWEIR") {
        artefact = bytes.to_vec();
    } else {
        let (&which, edits) = bytes.split_first().unwrap_or((&0, bytes));
        let sound = sound_artefacts();
        artefact = sound[usize::from(which) % sound.len()].clone();
        for edit in edits.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
            if at >= 0xC000 {
                artefact.truncate(at % (artefact.len() + 1));
            } else if let Some(length) = artefact.len().checked_sub(1) {
                artefact[at % (length + 1)] = edit[2];
            }
        }
    }
    seal_artefact(&mut artefact);
    // Where the header is refused, that is all that any reader does.
    let sound = Header::parse(&artefact).is_ok_and(|header| {
        assert!(header.payload(&artefact).is_some());
        let _ = header.labels(&artefact).map(Iterator::count);
        true
    });
    match Deployed::from_artefact("fuzzed", &artefact) {
        Ok(deployed) => {
            let own = deployed.to_artefact().expect("it has been one");
            assert_eq!(Deployed::from_artefact("own", &own).ok(), Some(deployed));
        }
        Err(error) => names_the_file(&error, "fuzzed"),
    }
    let mut buffer = vec![0; artefact.len() + 8];
    let mut taken = false;
    for &shift in if sound { &[0, 1, 4][..] } else { &[0] } {
        buffer[shift..shift + artefact.len()].copy_from_slice(&artefact);
        let bytes = &buffer[shift..shift + artefact.len()];
        taken |= read::<StreamClassifier<Hmm<Categorical<2>, 2>, 2, 1>>(bytes).is_ok();
        taken |= read::<StreamClassifier<Hmm<Gaussian<1, Dual<f32, 1>>, 2>, 2, 1>>(bytes).is_ok();
        taken |= read::<
            WithCodebooks<
                StreamClassifier<Hmm<Gaussian<1, Dual<f32, 1>>, 2>, 2, 1>,
                Codebooks<[[f32; 1]; 2], 1>,
                16,
            >,
        >(bytes)
        .is_ok();
        taken |= read::<
            WithCodebooks<
                StreamClassifier<Hmm<Gaussian<1, Dual<f32, 1>>, 2>, 2, 1>,
                Codebooks<[[f32; 1]; 2], 1, 2>,
                16,
            >,
        >(bytes)
        .is_ok();
        taken |= read::<
            Preprocessed<Decimate<1>, StreamClassifier<Hmm<Gaussian<1, Dual<f32, 1>>, 2>, 2, 1>>,
        >(bytes)
        .is_ok();
        taken |= read::<StreamClassifier<Hmm<Poisson<1, Dual<f32, 1>>, 2>, 2, 1>>(bytes).is_ok();
        taken |= read::<StreamClassifier<Hmm<Bernoulli<2, Dual<f32, 1>>, 2>, 2, 1>>(bytes).is_ok();
        taken |=
            read::<StreamClassifier<ContextModel<Steps, Categorical<2>, 2>, 2, 1>>(bytes).is_ok();
    }
    taken
}

/// See [`reads_artefact`].
pub fn artefact(bytes: &[u8]) {
    reads_artefact(bytes);
}

/// The checksum ends the header and covers all but itself.
fn seal_artefact(artefact: &mut [u8]) {
    const AT: usize = HEADER_LENGTH - 4;
    if artefact.len() >= HEADER_LENGTH {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&artefact[..AT]);
        hasher.update(&artefact[HEADER_LENGTH..]);
        artefact[AT..HEADER_LENGTH].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
}
