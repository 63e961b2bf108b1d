//! A front end in an artefact: the memory of its stages, the number that identifies them, and a line of settings.

use fishweir_core::artefact::{ArtefactError, Stages};
use fishweir_core::{ErrorKind, ModelError, Part};

use crate::data::internals::{FrontEnd, PlacedStage};
use crate::data::{Front, Kind, Stage, VectorQuantiser};

/// Bytes of a number, which it is aligned to.
const WORD: usize = 4;

/// Identifier of the front end's stages, as the core computes it.
pub(super) fn stages(front: &FrontEnd) -> Stages {
    front.stages().iter().fold(Stages::NONE, |before, stage| {
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        before.then(match stage {
            PlacedStage::Decimate { channels, .. } => Stages::decimate(size(*channels)),
            PlacedStage::Magnitude { group } => {
                Stages::magnitude(size(group.len()), size(stage.width()))
            }
            PlacedStage::Slopes { samples, channels } => Stages::slopes(size(*channels), *samples),
            PlacedStage::Cepstra(one) => {
                Stages::cepstra(one.mel.window, one.mel.bands, one.mel.cepstra)
            }
            PlacedStage::Symbols(quantiser) => {
                Stages::symbols(size(quantiser.weights().len()), size(quantiser.words().len()))
            }
        })
    })
}

/// The memory of the core's front end, up to that of the recursion behind it.
pub(super) fn bytes(front: &FrontEnd) -> Vec<u8> {
    let (mut bytes, (begins, end)) = (Vec::new(), front.layout());
    for (stage, at) in front.stages().iter().zip(begins) {
        bytes.resize(at, 0);
        match stage {
            PlacedStage::Decimate { every, .. } => bytes.extend(every.to_le_bytes()),
            PlacedStage::Magnitude { group } => {
                bytes.extend(group.iter().map(|&one| u8::from(one)))
            }
            PlacedStage::Slopes { .. } => {}
            PlacedStage::Cepstra(one) => {
                bytes.extend(one.mel.hop.to_le_bytes());
                put(&mut bytes, one.window.iter().chain(&one.rises));
                put(&mut bytes, one.cosines.iter().flatten());
                bytes.extend(&one.segments);
            }
            PlacedStage::Symbols(quantiser) => {
                let words = quantiser.words().iter().flatten();
                put(&mut bytes, quantiser.weights().iter().chain(words));
            }
        }
    }
    bytes.resize(end.next_multiple_of(WORD), 0);
    bytes
}

fn put<'r>(bytes: &mut Vec<u8>, reals: impl Iterator<Item = &'r f32>) {
    bytes.extend(reals.flat_map(|x| x.to_le_bytes()));
}

/// Settings on one line; of code words only their number, as their values are in the memory.
///
/// `None` if a comma in a name would split it.
pub(super) fn line(front: &Front) -> Option<String> {
    let told = |stage: &Stage| match stage {
        Stage::Words(quantiser) => Stage::Symbols(quantiser.words().len() as u32),
        other => other.clone(),
    };
    let told = Front::of(front.stages().iter().map(told).collect());
    let line = told.to_string();
    line.parse().is_ok_and(|read: Front| read == told).then_some(line)
}

/// Reads a front end from such a line, over channels of these names, and from memory, of which the rest is left.
pub(super) fn read<'b>(
    line: &str,
    names: &[String],
    number: Stages,
    memory: &'b [u8],
) -> Result<(FrontEnd, &'b [u8]), ArtefactError> {
    if names.is_empty() {
        return Err(ArtefactError::Labels);
    }
    let kind = Kind::Channels(names.to_vec());
    let over = |front: &Front| front.over(&kind).map_err(|_| ArtefactError::Labels);
    let wrong = |kind| ArtefactError::Model(ModelError::new(Part::Front, kind, 0, 0));
    let front: Front = line.parse().map_err(|_| ArtefactError::Labels)?;
    let mut placed = over(&front)?;
    if stages(&placed) != number {
        return Err(ArtefactError::BadHeader);
    }
    let length = bytes(&placed).len();
    let (own, rest) = memory.split_at_checked(length).ok_or(ArtefactError::OtherSize)?;
    if let (Some((Stage::Symbols(count), before)), Some(PlacedStage::Symbols(blank))) =
        (front.stages().split_last(), placed.stages().last())
    {
        let channels = blank.weights().len();
        let table = own.len() - WORD * channels * (1 + *count as usize);
        let reals = own[table..].as_chunks().0.iter().map(|&word| f32::from_le_bytes(word));
        let reals: Vec<f32> = reals.collect();
        let mut rows = reals.chunks(channels).map(<[f32]>::to_vec);
        let weights = rows.next().unwrap_or_default();
        let words = VectorQuantiser::new(weights, rows.collect());
        let words = Stage::Words(words.ok_or_else(|| wrong(ErrorKind::NotInRange))?);
        placed = over(&Front::of(before.iter().cloned().chain([words]).collect()))?;
    }
    // All else follows from the settings.
    if bytes(&placed) != own {
        return Err(wrong(ErrorKind::Inconsistent));
    }
    Ok((placed, rest))
}
