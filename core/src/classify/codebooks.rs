//! Codebooks over the last samples: counts of short patterns in a stream, in addition to its models' evidence.

use core::fmt::Debug;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    AdditiveClassifier, CODEWORDS, Classifier, CodeVectors, Coding, Decision, Output,
    ScoreOutOfRange, TAPS, decide_exactly, likeness,
};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::Streaming;
use crate::lagged::RingIndex;
use crate::number::{Array2, NumberFormat};

/// Weights per output for the codewords of `G` codebooks over `D` channels and for levels of their likenesses.
///
/// Scales are `[[T; D]; G]`; each codeword has a weight for each of `O` outputs. Each code vector has `Q` levels of likeness,
/// with weights for the number of levels exceeded.
///
/// ```text
/// sum_o(x_1..t) = sum over samples and codebooks of
///     weight_(codebook, codeword, o) + sum_w above_(codebook, w, k_w, o),
/// k_w = | { q : alike_w > level_(codebook, w, q) } |,     above_(.., 0, o) = 0
/// ```
///
/// Given a codebook, the codewords of a stream are taken as drawn anew each time with some
/// probabilities; then the score in their logits is the number of each codeword less the number expected, and a
/// linear machine on it, which is a marginalised count kernel's where nothing is hidden (Tsuda, Kin and Asai,
/// *Marginalized kernels for biological sequences*, 2002), is this sum. Quantised signals as the symbols of
/// models: Rabiner, *A tutorial on hidden Markov models*, 1989, section V. Counts of the nearest of
/// a few patterns at dyadic dilations: Dempster, Schmidt and Webb, *Hydra: competing convolutional kernels for
/// fast and accurate time series classification*, 2023. Levels: a linear machine on the proportions of likenesses above
/// some quantiles of what they are in training, Dempster, Schmidt and Webb, *MiniRocket: a very fast (almost) deterministic
/// transform for time series classification*, 2021. What it weighs to exceed `k` levels is the sum of the machine's weights on the
/// first `k`, so that a sample adds one row a code vector.
///
/// Over reals, or over the integers of [fixed point](crate::number::fixed): see [`Coding`].
///
/// Flash: `G (4 + 4 D + 64 + 32 O (1 + Q) + 32 Q)` bytes in `f32`, `G (4 + 2 D + 64 + 16 O (1 + Q) + 32 Q) + 2 O` in
/// integers, up to a word. Work per sample: `G (8 D + 64 + O)` multiply-adds; with levels `8 G Q` comparisons and `8 G O`
/// additions more, at most.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Codebooks<S: Array2<Entry: Coding>, const O: usize, const Q: usize = 0> {
    dilations: S::PerRow<u32>,
    levels: S::PerRow<[[<S::Entry as Coding>::Wide; Q]; CODEWORDS]>,
    scales: S,
    vectors: S::PerRow<CodeVectors>,
    weights: S::PerRow<[[S::Entry; O]; CODEWORDS]>,
    above: S::PerRow<[[[S::Entry; O]; Q]; CODEWORDS]>,
    units: [<S::Entry as Coding>::Unit; O],
}

impl<T: Coding<Unit = ()>, const D: usize, const G: usize, const O: usize>
    Codebooks<[[T; D]; G], O>
{
    /// Codebooks from dilations in samples, scales of the channels, code vectors and weights of the codewords, all
    /// `[codebook]`. [`WithCodebooks::new`] checks them, with the ring that they take.
    pub const fn from_parts(
        dilations: [u32; G],
        scales: [[T; D]; G],
        vectors: [CodeVectors; G],
        weights: [[[T; O]; CODEWORDS]; G],
    ) -> Self {
        Self::in_units(dilations, scales, vectors, weights, [(); O])
    }
}

impl<T: Coding, const D: usize, const G: usize, const O: usize> Codebooks<[[T; D]; G], O> {
    /// Sets the unit of the codewords' weights, `[output]`.
    pub const fn in_units(
        dilations: [u32; G],
        scales: [[T; D]; G],
        vectors: [CodeVectors; G],
        weights: [[[T; O]; CODEWORDS]; G],
        units: [T::Unit; O],
    ) -> Self {
        const { assert!(G < 1 << 16, "G must be below 65536") };
        let (levels, above) = ([[[]; CODEWORDS]; G], [[[]; CODEWORDS]; G]);
        Self { dilations, levels, scales, vectors, weights, above, units }
    }

    /// Adds `Q` levels of each code vector's likeness, `[codebook][codeword][level]`.
    ///
    /// `above` are the weights for exceeding one, two, ... of them, in the same units.
    pub const fn with_levels<const Q: usize>(
        self,
        levels: [[[T::Wide; Q]; CODEWORDS]; G],
        above: [[[[T; O]; Q]; CODEWORDS]; G],
    ) -> Codebooks<[[T; D]; G], O, Q> {
        const {
            let weights = G * (1 + if Q > 0 { CODEWORDS } else { 0 });
            assert!(weights < 1 << 16, "G * (1 + 8) must be below 65536 where Q > 0");
        };
        let Self { dilations, scales, vectors, weights, units, .. } = self;
        Codebooks { dilations, levels, scales, vectors, weights, above, units }
    }
}

impl<T: Coding, const D: usize, const G: usize, const O: usize, const Q: usize>
    Codebooks<[[T; D]; G], O, Q>
{
    /// The dilations, in samples.
    pub const fn dilations(&self) -> &[u32; G] {
        &self.dilations
    }
}

/// A classifier, and [codebooks](Codebooks) whose evidence is added to its own before it is normalised.
///
/// `C` are the codebooks. `K` samples are kept: eight times the largest dilation. Where a sample is missing, the last one that was
/// observed stands for it in what comes after, and it has no codeword.
///
/// Flash: that of both. RAM: `D K` numbers, `2 O` for the sums and 8 bytes, beside the classifier's state.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct WithCodebooks<R, C, const K: usize> {
    classifier: R,
    codebooks: C,
}

/// State of a [`WithCodebooks`] classifier: the last samples, `[[T; D]; K]`, and the sums, `[output]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithCodebooksState<S, P, Y> {
    inner: S,
    past: P,
    place: RingIndex,
    sums: Y,
}

impl<S, T: Coding, const D: usize, const K: usize, const O: usize>
    WithCodebooksState<S, [[T; D]; K], [T::Total; O]>
{
    /// Returns the state before the first sample, around the classifier's own first state.
    pub const fn new(inner: S) -> Self {
        Self { inner, past: [[T::BLANK; D]; K], place: RingIndex::NEW, sums: [T::NOTHING; O] }
    }
}

impl<R, C, const K: usize> WithCodebooks<R, C, K> {
    /// Creates a classifier with codebooks without checks, in a constant too: [`validate`](Self::validate) checks it.
    pub const fn from_parts(classifier: R, codebooks: C) -> Self {
        const { assert!(K > 0 && K <= u32::MAX as usize, "K must be at least 1 and fit 32 bits") };
        Self { classifier, codebooks }
    }

    /// The classifier without them.
    pub const fn classifier(&self) -> &R {
        &self.classifier
    }

    /// The codebooks.
    pub const fn codebooks(&self) -> &C {
        &self.codebooks
    }
}

/// State of a [`WithCodebooks`] classifier, with the state of the classifier inside.
type StateOf<R, T, const D: usize, const K: usize, const O: usize> =
    WithCodebooksState<<R as Streaming>::State, [[T; D]; K], [<T as Coding>::Total; O]>;

impl<
    T: Coding,
    R: AdditiveClassifier<Real = T::Real, Observation = [T; D], Outputs = [Output<T::Real>; O]>,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize,
> WithCodebooks<R, Codebooks<[[T; D]; G], O, Q>, K>
{
    /// Creates a classifier with codebooks, and checks every number.
    ///
    /// # Errors
    /// Names the first invalid number, by codebook and entry.
    pub fn new(classifier: R, codebooks: Codebooks<[[T; D]; G], O, Q>) -> Result<Self, ModelError> {
        let made = Self::from_parts(classifier, codebooks);
        made.validate()?;
        Ok(made)
    }

    /// Checks the classifier and every number of the codebooks: eight times the largest dilation is the ring.
    ///
    /// # Errors
    /// Names the first that is wrong, by codebook and entry.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.classifier.validate()?;
        let Codebooks { dilations, levels, scales, weights, above, units, .. } = &self.codebooks;
        let numbers = scales.iter().zip(weights).zip(above).map(|((scales, weights), above)| {
            let above = above.as_flattened().as_flattened();
            scales.iter().chain(weights.as_flattened()).chain(above)
        });
        let levels = levels.iter().map(|levels| levels.as_flattened().iter().copied());
        validate_codebooks(
            K,
            dilations.iter().copied(),
            numbers.map(Iterator::copied).zip(levels),
        )?;
        let error =
            |book, entry| Err(ModelError::new(Part::Codebook, ErrorKind::OutOfRange, book, entry));
        if let Some(book) = scales.iter().position(|scale| !T::fits(scale)) {
            return error(book, 0);
        }
        units.iter().position(|&unit| !T::is_unit(unit)).map_or(Ok(()), |output| error(G, output))
    }
}

impl<
    T: Coding,
    R: AdditiveClassifier<Real = T::Real, Observation = [T; D], Outputs = [Output<T::Real>; O]>,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize,
> Streaming for WithCodebooks<R, Codebooks<[[T; D]; G], O, Q>, K>
{
    type Observation = [T; D];
    type State = StateOf<R, T, D, K, O>;
    type Reading = Decision<T::Real>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        WithCodebooksState::new(self.classifier.initial_state())
    }

    fn step(&self, state: &mut Self::State, x: &[T; D]) -> Result<(), ObservationError> {
        const {
            assert!(
                R::ROLLS_BACK,
                "R must leave its state unchanged on an error: put a front end outside"
            )
        };
        self.classifier.step(&mut state.inner, x)?;
        let Codebooks { dilations, levels, scales, vectors, weights, above, .. } = &self.codebooks;
        let mut sample = [T::Wide::default(); O];
        for g in 0..G {
            let (levels, above) = (&levels[g], &above[g]);
            let step = |word: usize| (&levels[word][..], &above[word][..]);
            let (dilation, scale, vectors) = (dilations[g], &scales[g], &vectors[g]);
            if let Some(alike) = likeness(state.place, &state.past, x, dilation, scale, vectors) {
                alike.weigh(&mut sample, &weights[g], step);
            }
        }
        for output in 0..O {
            T::add_sample(&mut state.sums[output], sample[output]);
        }
        state.place.take(&mut state.past, x);
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        self.classifier.step_missing(&mut state.inner);
        state.place.take_missing(&mut state.past);
    }

    fn read(&self, state: &Self::State) -> Decision<T::Real> {
        decide_exactly(&self.outputs(state))
    }
}

/// Checks codebooks over a ring of `ring` samples, which is eight times the largest dilation.
///
/// Checks the dilations, then of each codebook its scales, the weights of its codewords and of its levels, and the levels.
///
/// # Errors
/// Names the first that is wrong, by codebook and entry.
#[doc(hidden)]
pub fn validate_codebooks<T: Coding>(
    ring: usize,
    dilations: impl Iterator<Item = u32>,
    numbers: impl Iterator<Item = (impl Iterator<Item = T>, impl Iterator<Item = T::Wide>)>,
) -> Result<(), ModelError> {
    let error = |kind, book, entry| Err(ModelError::new(Part::Codebook, kind, book, entry));
    let mut largest = 0;
    for (book, dilation) in dilations.enumerate() {
        let reach = (dilation as usize).saturating_mul(TAPS);
        if dilation == 0 || reach > ring {
            return error(ErrorKind::NotInRange, book, 0);
        }
        largest = usize::max(largest, reach);
    }
    if largest != ring {
        return error(ErrorKind::Inconsistent, 0, 0);
    }
    for (book, (numbers, levels)) in numbers.enumerate() {
        let mut sound = numbers.map(|x| x.is_number()).chain(levels.map(T::is_level));
        if let Some(entry) = sound.position(|sound| !sound) {
            return error(ErrorKind::NotFinite, book, entry);
        }
    }
    Ok(())
}

impl<T: Coding, R, const D: usize, const G: usize, const K: usize, const O: usize, const Q: usize>
    Classifier for WithCodebooks<R, Codebooks<[[T; D]; G], O, Q>, K>
where
    R: AdditiveClassifier<Real = T::Real, Observation = [T; D], Outputs = [Output<T::Real>; O]>,
{
    type Real = T::Real;
    type Evidence = R::Evidence;
    const FORMAT: NumberFormat = R::FORMAT;

    fn decision(&self, state: &Self::State) -> Result<Decision<T::Real>, ScoreOutOfRange> {
        Ok(self.read(state))
    }
    fn evidence(&self, state: &Self::State) -> Result<R::Evidence, ScoreOutOfRange> {
        Ok(self.log_likelihoods(state))
    }
    fn classes(&self) -> usize {
        self.classifier.classes()
    }
    fn size_bytes(&self) -> usize {
        self.classifier.size_bytes() + size_of_val(&self.codebooks)
    }
}

impl<T: Coding, R, const D: usize, const G: usize, const K: usize, const O: usize, const Q: usize>
    AdditiveClassifier for WithCodebooks<R, Codebooks<[[T; D]; G], O, Q>, K>
where
    R: AdditiveClassifier<Real = T::Real, Observation = [T; D], Outputs = [Output<T::Real>; O]>,
{
    type Outputs = [Output<T::Real>; O];

    fn sums(&self, state: &Self::State) -> [Output<T::Real>; O] {
        let mut outputs = self.classifier.sums(&state.inner);
        for ((output, sum), &unit) in outputs.iter_mut().zip(&state.sums).zip(&self.codebooks.units)
        {
            output.add_evidence(T::parts(sum, unit));
        }
        outputs
    }
    fn finish(&self, state: &Self::State, outputs: &mut [Output<T::Real>; O]) {
        self.classifier.finish(&state.inner, outputs);
    }
    fn log_likelihoods(&self, state: &Self::State) -> R::Evidence {
        self.classifier.log_likelihoods(&state.inner)
    }
    fn samples(&self, state: &Self::State) -> u64 {
        self.classifier.samples(&state.inner)
    }
    fn validate(&self) -> Result<(), ModelError> {
        Self::validate(self)
    }
}
