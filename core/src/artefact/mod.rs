//! The binary artefact: a classifier as a versioned, checksummed file that is read in place.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `FISHWEIR` |
//! | 8 | 2 | format version: [`VERSION`], or 2 or 3 of an artefact of before contracts |
//! | 10 | 1 | bytes per real: 4 or 8 |
//! | 11 | 1 | emission family, [`Family`] |
//! | 12 | 2 | states `N`, or positions; beside codebooks a byte, and a byte with their largest dilation |
//! | 14 | 2 | alphabet size `K`, or channels `D`, those at lags among them |
//! | 16 | 2 | models `M` |
//! | 18 | 2 | outputs `O` |
//! | 20 | 2 | directions `C`: 0 or `O`; beside codebooks how many of these there are, `G` |
//! | 22 | 1 | how states follow one another, [`Topology`]; beside codebooks 128 more, 64 more where `C` is `O`, and 4 for each level; 32 more behind a front end |
//! | 23 | 1 | lags `L` of a [`LagFeatures`] classifier, 0 for any other classifier |
//! | 24 | 4 | bytes from 56 to the sections: of the front end, the classifier and all that lies after it |
//! | 28 | 4 | bytes of the sections |
//! | 32 | 20 | [`Profile`](crate::Profile) of the machine that wrote it |
//! | 52 | 4 | CRC-32 (ISO-HDLC) of bytes 0..52 and of all after 56 |
//! | 56 | | its front end's memory, each stage aligned as its numbers are |
//! | | | the classifier: the memory of a [`StreamClassifier`] of that shape, and `L` lags of 4 bytes |
//! | | | its [`Codebooks`]: dilations of 4 bytes, levels, scales, code vectors, what codewords weigh and what levels do |
//! | | | its [`Calibration`], where one was learnt: scale, least margin, limits, `[class][2]`, or none of them |
//! | | | behind a front end which stages it has: [`Stages`], 4 bytes |
//! | | | [sections](crate::contract::Sections): labels of the classes and channels, UTF-8, one per line; the [contract](crate::contract) |
//!
//! All little-endian. The classifier's bytes are its fields in order, arrays in index order, so that
//! a little-endian target uses them where they lie in flash: no copy, no parsing, no RAM. Versions 2 and 3 are read
//! too: in place of the sections they have the labels alone, and their contract is unknown.

mod error;
mod front;
mod header;
mod include;
mod shape;

pub use crate::emission::{Family, Stored};
pub use error::ArtefactError;
pub use front::{Stages, StoredFront};
pub use header::{HEADER_LENGTH, Header};
pub use include::{Aligned, Embedded, calibration_pairs};
pub use shape::{Shape, Topology, VERSION};
/// Items for the output of [`fishweir-build`](crate::include_model).
#[doc(hidden)]
pub use zerocopy::{
    IntoBytes as AsBytes, transmute as transmute_bytes, transmute_ref as transmute_words,
};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::checksum::CRC;
use crate::classify::{
    AdditiveClassifier, Calibration, ChannelSubset, Classifier, Codebooks, Output,
    StreamClassifier, StreamModel, TAPS, WithCodebooks,
};
use crate::context::{ContextModel, Steps};
use crate::contract::{Contract, LABELS, SECTION_HEAD, Section};
use crate::emission::{Emission, for_each_real};
use crate::front::Preprocessed;
use crate::hmm::{Hmm, RealOf};
use crate::lagged::{LagFeatures, Lookback};
use crate::number::{Channel, Real, RealParameter};
use crate::profile_hmm::ProfileHmm;

/// A model that an artefact can hold.
pub trait StoredModel: StreamModel {
    /// The code of its emission family.
    const FAMILY: Family;
    /// Transitions between the states.
    const TOPOLOGY: Topology;
    /// States, or positions.
    const STATES: usize;
    /// The alphabet's size or the number of channels.
    const SIZE: usize;
    /// `true` if channels of an observation may be missing.
    const IN_PART: bool = false;

    /// Hands over every number, in the order in which they lie in memory.
    fn for_each_real(&self, take: &mut impl FnMut(Self::Real));
}

/// The CRC-32 (ISO-HDLC) of a model's numbers, little-endian, in the order in which they lie in memory: the same on every
/// device and on the host.
#[must_use]
pub fn model_checksum<H: StoredModel<Real = f32>>(model: &H) -> u32 {
    let mut digest = CRC.digest();
    model.for_each_real(&mut |real: f32| digest.update(&real.to_le_bytes()));
    digest.finalize()
}

impl<E: Stored, const N: usize> StoredModel for Hmm<E, N> {
    const FAMILY: Family = E::FAMILY;
    const TOPOLOGY: Topology = Topology::CHAIN;
    const STATES: usize = N;
    const SIZE: usize = E::SIZE;
    const IN_PART: bool = E::IN_PART;

    fn for_each_real(&self, take: &mut impl FnMut(RealOf<E>)) {
        for_each_real(self.chain().initial(), take);
        for_each_real(self.chain().transition().as_flattened(), take);
        self.emission().iter().for_each(|emission| emission.for_each_real(take));
    }
}

/// Columns are no reals: [`write()`] refuses such models.
impl<T, X, M, const N: usize, const E: usize, const C: usize> StoredModel
    for ChannelSubset<Hmm<M, N>, E, C>
where
    T: Real,
    X: Channel,
    M: Stored + Emission<Observation = [X; C]>,
    Hmm<M, N>: StreamModel<Observation = [X; C], Real = T> + StoredModel,
{
    const FAMILY: Family = M::FAMILY;
    const TOPOLOGY: Topology = Topology::PER_LAG;
    const STATES: usize = N;
    const SIZE: usize = E;
    const IN_PART: bool = M::IN_PART;

    fn for_each_real(&self, take: &mut impl FnMut(T)) {
        self.model().for_each_real(take);
    }
}

impl<E: Stored<Weight: RealParameter>, const C: usize> StoredModel for ContextModel<Steps, E, C> {
    const FAMILY: Family = E::FAMILY;
    const TOPOLOGY: Topology = Topology::STEPS;
    const STATES: usize = C;
    const SIZE: usize = E::SIZE;
    const IN_PART: bool = E::IN_PART;

    fn for_each_real(&self, take: &mut impl FnMut(RealOf<E>)) {
        self.emission().iter().for_each(|emission| emission.for_each_real(take));
    }
}

impl<W: RealParameter, const K: usize, const A: usize> StoredModel for ProfileHmm<W, K, A> {
    const FAMILY: Family = Family::Categorical;
    const TOPOLOGY: Topology = Topology::PROFILE;
    const STATES: usize = K;
    const SIZE: usize = A;

    fn for_each_real(&self, take: &mut impl FnMut(W::Real)) {
        for symbol in 0..A {
            for_each_real(self.view().odds(symbol).into_iter().flatten(), take);
        }
        for steps in self.view().steps() {
            for_each_real(&steps.to_array(), take);
        }
        for_each_real(&self.view().flanks().to_array(), take);
    }
}

/// A classifier that an artefact can hold.
pub trait StoredClassifier:
    AdditiveClassifier<Real: FromBytes + Immutable + 'static> + FromBytes + Immutable + KnownLayout
{
    /// The shape that the header states.
    const SHAPE: Shape;
}

impl<H: StoredModel, const M: usize, const O: usize> StoredClassifier for StreamClassifier<H, M, O>
where
    Self: FromBytes + Immutable + KnownLayout,
    H::Real: FromBytes + Immutable + 'static,
{
    const SHAPE: Shape = shape_of::<H, M, O>();
}

impl<
    T: Channel,
    C,
    const D: usize,
    const E: usize,
    const K: usize,
    const PAST: bool,
    const L: usize,
> StoredClassifier for LagFeatures<C, Lookback<D, K, PAST>, L>
where
    Self: FromBytes + Immutable + KnownLayout,
    C: StoredClassifier<Observation = [T; E]>,
{
    const SHAPE: Shape = {
        Self::assert_row::<E>();
        assert!(L > 0 && L <= u8::MAX as usize, "an artefact counts lags in a byte");
        assert!(PAST == C::SHAPE.family.has_past(), "the past itself is what regressions see");
        Shape { lags: L as u8, ..C::SHAPE }
    };
}

impl<R, T, const D: usize, const G: usize, const O: usize, const Q: usize, const K: usize>
    StoredClassifier for WithCodebooks<R, Codebooks<[[T; D]; G], O, Q>, K>
where
    Self: FromBytes + Immutable + KnownLayout,
    T: Real + FromBytes + Immutable + 'static,
    R: StoredClassifier<Real = T, Observation = [T; D], Outputs = [Output<T>; O]>,
{
    const SHAPE: Shape = {
        assert!(G > 0 && G <= u16::MAX as usize, "an artefact counts codebooks in two bytes");
        assert!(
            K > 0 && K.is_multiple_of(TAPS) && K / TAPS <= u8::MAX as usize,
            "an artefact has the largest dilation, an eighth of the ring, in a byte"
        );
        assert!(R::SHAPE.states <= u8::MAX as u16, "beside codebooks states are counted in a byte");
        assert!(Q <= Shape::LEVELS_MAX as usize, "an artefact counts levels in three bits");
        Shape { codebooks: G as u16, dilation: (K / TAPS) as u8, levels: Q as u8, ..R::SHAPE }
    };
}

impl<F, R> StoredClassifier for Preprocessed<F, R>
where
    Self: FromBytes + Immutable + KnownLayout,
    F: StoredFront<R::Observation>,
    R: StoredClassifier<Observation: Sized>,
{
    const SHAPE: Shape = {
        let heard = R::SHAPE.size as usize / (1 + R::SHAPE.lags as usize);
        assert!(
            F::WIDTH == heard,
            "models hear the channels, or the symbols, that a front end makes"
        );
        Shape { front: F::STAGES, ..R::SHAPE }
    };
}

/// The shape of a classifier's type, as an artefact's header states it.
pub const fn shape_of<H: StoredModel, const M: usize, const O: usize>() -> Shape {
    Shape {
        real_bytes: size_of::<H::Real>() as u8,
        family: H::FAMILY,
        topology: H::TOPOLOGY,
        states: H::STATES as u16,
        size: H::SIZE as u16,
        lags: 0,
        models: M as u16,
        outputs: O as u16,
        directions: H::DIRECTIONS as u16,
        codebooks: 0,
        dilation: 0,
        levels: 0,
        front: Stages::NONE,
        in_part: H::IN_PART,
    }
}

/// Bytes of the artefact of a classifier with `labels` bytes of labels.
pub const fn length_of<H: StoredModel, const M: usize, const O: usize>(labels: usize) -> usize {
    HEADER_LENGTH + size_of::<StreamClassifier<H, M, O>>() + SECTION_HEAD + labels
}

/// Writes a classifier's artefact to the start of `buffer`: a device saves what it has learnt.
///
/// `labels` are the names of the classes, one per line; no contract is written. Returns `None` if the buffer holds fewer than
/// [`length_of`] bytes, and of models that [hear](ChannelSubset) some columns, which no device learns. Cost: two passes over the bytes.
pub fn write<'b, H: StoredModel, const M: usize, const O: usize>(
    classifier: &StreamClassifier<H, M, O>,
    labels: &str,
    buffer: &'b mut [u8],
) -> Option<&'b [u8]>
where
    H::Real: IntoBytes + Immutable,
{
    let payload = size_of::<StreamClassifier<H, M, O>>();
    let (header, rest) = buffer.split_at_mut_checked(HEADER_LENGTH)?;
    let rest = rest.get_mut(..payload + SECTION_HEAD + labels.len())?;
    let mut written = 0;
    let mut put = |bytes: &[u8]| {
        if let Some(room) = rest.get_mut(written..written + bytes.len()) {
            room.copy_from_slice(bytes);
        }
        written += bytes.len();
    };
    let mut real = |real: H::Real| put(real.as_bytes());
    classifier.models().iter().for_each(|model| model.for_each_real(&mut real));
    classifier.weights().as_flattened().iter().for_each(|&weight| real(weight));
    classifier.biases().iter().for_each(|&bias| real(bias));
    put(&classifier.normalisation().code().to_le_bytes());
    put(&0_u32.to_le_bytes());
    // Reals are written as they lie in memory; so must be what is around them.
    if written != payload || cfg!(target_endian = "big") {
        return None;
    }
    let (payload, sections) = rest.split_at_mut_checked(payload)?;
    let section = Section { tag: LABELS, content: labels.as_bytes() };
    let (head, names) = sections.split_at_mut_checked(SECTION_HEAD)?;
    head.copy_from_slice(&section.head());
    names.copy_from_slice(section.content);
    header.copy_from_slice(&Header::encode(shape_of::<H, M, O>(), payload, sections)?);
    buffer.get(..length_of::<H, M, O>(labels.len()))
}

/// A classifier where it lies in `bytes`, checked: header, checksum, shape, and every number.
///
/// Cost: one pass over the bytes; no RAM.
///
/// # Errors
/// What is wrong with the bytes, or how their shape differs from the type asked for.
///
/// A type whose own sizes disagree does not compile, as where it is made. Four words are four symbols:
///
/// ```
/// # use fishweir_core::{artefact, classify::StreamClassifier, emission::Categorical, hmm::Hmm};
/// # use fishweir_core::front::{Preprocessed, VectorQuantiser};
/// type Bank = StreamClassifier<Hmm<Categorical<4>, 2>, 2, 2>;
/// let empty = artefact::read::<Preprocessed<VectorQuantiser<3, 4>, Bank>>(&[]);
/// assert_eq!(empty.err(), Some(artefact::ArtefactError::NotAnArtefact));
/// ```
///
/// and five are not:
///
/// ```compile_fail
/// # use fishweir_core::{artefact, classify::StreamClassifier, emission::Categorical, hmm::Hmm};
/// # use fishweir_core::front::{Preprocessed, VectorQuantiser};
/// type Bank = StreamClassifier<Hmm<Categorical<4>, 2>, 2, 2>;
/// let empty = artefact::read::<Preprocessed<VectorQuantiser<3, 5>, Bank>>(&[]);
/// assert_eq!(empty.err(), Some(artefact::ArtefactError::NotAnArtefact));
/// ```
pub fn read<C: StoredClassifier>(bytes: &[u8]) -> Result<&C, ArtefactError> {
    let (classifier, confidence) = parts::<C>(bytes)?;
    classifier.validate().map_err(ArtefactError::Model)?;
    confidence.map_or(Ok(()), |found| found.validate()).map_err(ArtefactError::Model)?;
    Ok(classifier)
}

/// Returns the contract of the classifier in `bytes`; `None` for versions without contracts.
///
/// Cost: one pass over the bytes.
///
/// # Errors
/// Names the fault in header, checksum or sections.
pub fn contract(bytes: &[u8]) -> Result<Option<Contract<'_>>, ArtefactError> {
    Header::parse(bytes)?.contract(bytes)
}

/// Returns the calibration of the classifier in `bytes`; `None` if none was learnt.
///
/// Cost: one pass over the bytes; limits stay where they are.
///
/// # Errors
/// As [`read`], but for the numbers of the classifier, which only that one checks.
pub fn confidence<'a, C: StoredClassifier + 'a>(
    bytes: &'a [u8],
) -> Result<Option<Calibration<'a, C::Real>>, ArtefactError> {
    let (_, confidence) = parts::<C>(bytes)?;
    confidence.map_or(Ok(()), |found| found.validate()).map_err(ArtefactError::Model)?;
    Ok(confidence)
}

/// Unchecked parts of an artefact: classifier and calibration.
type Parts<'a, C> = (&'a C, Option<Calibration<'a, <C as Classifier>::Real>>);

fn parts<C: StoredClassifier>(bytes: &[u8]) -> Result<Parts<'_, C>, ArtefactError> {
    if cfg!(target_endian = "big") {
        return Err(ArtefactError::BigEndianTarget);
    }
    let header = Header::parse(bytes)?;
    let wanted = C::SHAPE;
    if header.shape() != wanted {
        return Err(ArtefactError::OtherShape { found: header.shape(), wanted });
    }
    let payload = header.payload(bytes).ok_or(ArtefactError::Truncated)?;
    let (classifier, rest) =
        payload.split_at_checked(size_of::<C>()).ok_or(ArtefactError::OtherSize)?;
    let classifier = C::ref_from_bytes(classifier).map_err(|_| ArtefactError::Misaligned)?;
    if rest.is_empty() {
        return Ok((classifier, None));
    }
    if !rest.len().is_multiple_of(2 * size_of::<C::Real>()) {
        return Err(ArtefactError::OtherSize);
    }
    let pairs = <[[C::Real; 2]]>::ref_from_bytes(rest).map_err(|_| ArtefactError::Misaligned)?;
    let ([scale, least_margin], likelihoods) = match pairs {
        [first, limits @ ..] if limits.is_empty() || limits.len() == wanted.classes() => {
            (*first, limits)
        }
        _ => return Err(ArtefactError::OtherSize),
    };
    Ok((classifier, Some(Calibration { scale, least_margin, likelihoods })))
}
