//! Codebooks over the last samples: which short pattern a stream is in, counted beside what models say of it.

use core::fmt::Debug;

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{
    Believed, CODEWORDS, CodeVectors, Coding, Confidence, Decision, Output, StreamClassifier,
    StreamModel, StreamState, TAPS, decide_exactly, likeness,
};
use crate::error::{ErrorKind, ModelError, ObservationError, Part};
use crate::filter::Recursion;
use crate::front::{Front, Fronted, FrontedState};
use crate::lagged::{Lagged, LaggedState, RingPlace};
use crate::number::{Channel, Real};

/// `G` codebooks over `D` channels, and what each of their codewords weighs for each of `O` outputs; and `Q` levels of each
/// code vector's likeness, with what it weighs to exceed so many of them.
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
/// integers, up to a word. Work a sample: `G (8 D + 64 + O)` multiply-adds; with levels `8 G Q` comparisons and `8 G O`
/// additions more, at most.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Codebooks<T: Coding, const D: usize, const G: usize, const O: usize, const Q: usize = 0>
{
    dilations: [u32; G],
    levels: [[[T::Wide; Q]; CODEWORDS]; G],
    scales: [[T; D]; G],
    vectors: [CodeVectors; G],
    weights: [[[T; O]; CODEWORDS]; G],
    above: [[[[T; O]; Q]; CODEWORDS]; G],
    units: [T::Unit; O],
}

impl<T: Coding<Unit = ()>, const D: usize, const G: usize, const O: usize> Codebooks<T, D, G, O> {
    /// From dilations in samples, what channels are multiplied by, code vectors, and what codewords weigh, all
    /// `[codebook]`. They are right where their maker made them so;
    /// [`validate`](Coded::validate) checks what was read from elsewhere.
    pub const fn new(
        dilations: [u32; G],
        scales: [[T; D]; G],
        vectors: [CodeVectors; G],
        weights: [[[T; O]; CODEWORDS]; G],
    ) -> Self {
        Self::in_units(dilations, scales, vectors, weights, [(); O])
    }
}

impl<T: Coding, const D: usize, const G: usize, const O: usize> Codebooks<T, D, G, O> {
    /// The same with the unit of what codewords weigh, `[output]`.
    pub const fn in_units(
        dilations: [u32; G],
        scales: [[T; D]; G],
        vectors: [CodeVectors; G],
        weights: [[[T; O]; CODEWORDS]; G],
        units: [T::Unit; O],
    ) -> Self {
        const { assert!(G < 1 << 16, "a sample's evidence in integers is proven for so many") };
        let (levels, above) = ([[[]; CODEWORDS]; G], [[[]; CODEWORDS]; G]);
        Self { dilations, levels, scales, vectors, weights, above, units }
    }

    /// The same with `Q` levels of each code vector's likeness, `[codebook][codeword][level]`, and what it weighs to exceed
    /// one, two, ... of them, in the same units.
    pub const fn with_levels<const Q: usize>(
        self,
        levels: [[[T::Wide; Q]; CODEWORDS]; G],
        above: [[[[T; O]; Q]; CODEWORDS]; G],
    ) -> Codebooks<T, D, G, O, Q> {
        const {
            let weights = G * (1 + if Q > 0 { CODEWORDS } else { 0 });
            assert!(weights < 1 << 16, "a sample's evidence in integers is proven for so many");
        };
        let Self { dilations, scales, vectors, weights, units, .. } = self;
        Codebooks { dilations, levels, scales, vectors, weights, above, units }
    }
}

impl<T: Coding, const D: usize, const G: usize, const O: usize, const Q: usize>
    Codebooks<T, D, G, O, Q>
{
    /// The dilations, in samples.
    pub const fn dilations(&self) -> &[u32; G] {
        &self.dilations
    }
}

/// A classifier whose outputs are sums, so that other evidence can be added before they are rounded.
pub trait Summing<const O: usize>:
    Recursion<Reading = Decision<<Self as Summing<O>>::Real>>
{
    /// The reals that outputs are in.
    type Real: Real;
    /// A log-likelihood for each model.
    type Logs: Copy + Debug + IntoIterator<Item = Self::Real>;

    /// Evidence for each output, before normalisation and biases.
    fn sums(&self, state: &Self::State) -> [Output<Self::Real>; O];
    /// Normalises evidence for the length of the stream, and adds the biases.
    fn finish(&self, state: &Self::State, outputs: &mut [Output<Self::Real>; O]);
    /// The log-likelihood of the stream under each model.
    fn logs(&self, state: &Self::State) -> Self::Logs;
    /// How many samples have been taken in, missing ones included.
    fn taken(&self, state: &Self::State) -> u64;
    /// Checks every number.
    ///
    /// # Errors
    /// Names the first that is wrong.
    fn check(&self) -> Result<(), ModelError>;
}

impl<H: StreamModel, const M: usize, const O: usize> Summing<O> for StreamClassifier<H, M, O> {
    type Real = H::Real;
    type Logs = [H::Real; M];

    fn sums(&self, state: &Self::State) -> [Output<H::Real>; O] {
        Self::sums(self, state)
    }
    fn finish(&self, state: &Self::State, outputs: &mut [Output<H::Real>; O]) {
        Self::finish(self, state, outputs);
    }
    fn logs(&self, state: &Self::State) -> [H::Real; M] {
        self.log_likelihoods(state)
    }
    fn taken(&self, state: &StreamState<H::State, M>) -> u64 {
        state.samples()
    }
    fn check(&self) -> Result<(), ModelError> {
        self.validate()
    }
}

/// Behind differences at lags.
impl<
    T: Channel,
    R: Summing<O, Observation = [T; E]>,
    const D: usize,
    const E: usize,
    const L: usize,
    const K: usize,
    const O: usize,
> Summing<O> for Lagged<R, D, E, L, K>
{
    type Real = R::Real;
    type Logs = R::Logs;

    fn sums(&self, state: &LaggedState<R::State, T, D, K>) -> [Output<R::Real>; O] {
        self.recursion().sums(state.inner())
    }
    fn finish(&self, state: &LaggedState<R::State, T, D, K>, outputs: &mut [Output<R::Real>; O]) {
        self.recursion().finish(state.inner(), outputs);
    }
    fn logs(&self, state: &LaggedState<R::State, T, D, K>) -> R::Logs {
        self.recursion().logs(state.inner())
    }
    fn taken(&self, state: &LaggedState<R::State, T, D, K>) -> u64 {
        self.recursion().taken(state.inner())
    }
    fn check(&self) -> Result<(), ModelError> {
        self.validate_lags()?;
        self.recursion().check()
    }
}

/// A classifier, and [codebooks](Codebooks) whose evidence is added to its own before it is normalised.
///
/// `K` samples are kept: eight times the largest dilation. Where a sample is missing, the last one that was
/// observed stands for it in what comes after, and it has no codeword.
///
/// Flash: that of both. RAM: `D K` numbers, `2 O` for the sums and 8 bytes, beside the classifier's state.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Coded<
    R,
    T: Coding,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize = 0,
> {
    classifier: R,
    codebooks: Codebooks<T, D, G, O, Q>,
}

/// What a stream left in a [`Coded`] classifier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodedState<S, T: Coding, const D: usize, const K: usize, const O: usize> {
    inner: S,
    past: [[T; D]; K],
    place: RingPlace,
    sums: [T::Total; O],
}

impl<R, T: Coding, const D: usize, const G: usize, const K: usize, const O: usize, const Q: usize>
    Coded<R, T, D, G, K, O, Q>
{
    /// A classifier and its codebooks.
    pub const fn new(classifier: R, codebooks: Codebooks<T, D, G, O, Q>) -> Self {
        const { assert!(K > 0 && K <= u32::MAX as usize, "a ring is counted in 32 bits") };
        Self { classifier, codebooks }
    }

    /// The classifier without them.
    pub const fn classifier(&self) -> &R {
        &self.classifier
    }

    /// The codebooks.
    pub const fn codebooks(&self) -> &Codebooks<T, D, G, O, Q> {
        &self.codebooks
    }
}

/// What a stream left in what is inside a [`Coded`] classifier, and in it.
type StateOf<R, T, const D: usize, const K: usize, const O: usize> =
    CodedState<<R as Recursion>::State, T, D, K, O>;

impl<
    T: Coding,
    R: Summing<O, Real = T::Real, Observation = [T; D]>,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize,
> Coded<R, T, D, G, K, O, Q>
{
    /// Checks the classifier and every number of the codebooks: eight times the largest dilation is the ring.
    ///
    /// # Errors
    /// Names the first that is wrong, by codebook and entry.
    pub fn validate(&self) -> Result<(), ModelError> {
        self.classifier.check()?;
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

    /// The outputs before they are rounded, `[output]`.
    pub fn outputs(&self, state: &StateOf<R, T, D, K, O>) -> [Output<T::Real>; O] {
        let mut outputs = self.classifier.sums(&state.inner);
        for ((output, sum), &unit) in outputs.iter_mut().zip(&state.sums).zip(&self.codebooks.units)
        {
            output.add_evidence(T::parts(sum, unit));
        }
        self.classifier.finish(&state.inner, &mut outputs);
        outputs
    }

    /// The log-likelihood of the stream under each model: see [`StreamClassifier::log_likelihoods`].
    pub fn log_likelihoods(&self, state: &StateOf<R, T, D, K, O>) -> R::Logs {
        self.classifier.logs(&state.inner)
    }

    /// How far the decision is to be believed: see [`StreamClassifier::believed`].
    pub fn believed(
        &self,
        state: &StateOf<R, T, D, K, O>,
        confidence: &Confidence<'_, T::Real>,
    ) -> Believed<T::Real> {
        let (logs, taken) = (self.log_likelihoods(state), self.classifier.taken(&state.inner));
        confidence.believe(&self.outputs(state), logs, taken)
    }
}

impl<
    T: Coding,
    R: Summing<O, Real = T::Real, Observation = [T; D]>,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize,
> Recursion for Coded<R, T, D, G, K, O, Q>
{
    type Observation = [T; D];
    type State = StateOf<R, T, D, K, O>;
    type Reading = Decision<T::Real>;

    #[inline]
    fn start(&self) -> Self::State {
        CodedState {
            inner: self.classifier.start(),
            past: [[T::BLANK; D]; K],
            place: RingPlace::NEW,
            sums: [T::NOTHING; O],
        }
    }

    fn push(&self, state: &mut Self::State, x: &[T; D]) -> Result<(), ObservationError> {
        self.classifier.push(&mut state.inner, x)?;
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

    fn push_missing(&self, state: &mut Self::State) {
        self.classifier.push_missing(&mut state.inner);
        state.place.take_missing(&mut state.past);
    }

    fn read(&self, state: &Self::State) -> Decision<T::Real> {
        decide_exactly(&self.outputs(state))
    }
}

/// Checks codebooks over a ring of so many samples: their dilations, of which eight times the largest is the ring, and
/// of each codebook its scales, its codewords' weights and those of its levels, then these.
///
/// # Errors
/// Names the first that is wrong, by codebook and entry.
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

/// Behind a front end.
impl<
    F: Front<Row = [T; D]>,
    T: Coding,
    R: Summing<O, Real = T::Real, Observation = [T; D]>,
    const D: usize,
    const G: usize,
    const K: usize,
    const O: usize,
    const Q: usize,
> Fronted<F, Coded<R, T, D, G, K, O, Q>>
{
    /// The log-likelihood of the rows under each model: see [`StreamClassifier::log_likelihoods`].
    pub fn log_likelihoods(
        &self,
        state: &FrontedState<F::State, StateOf<R, T, D, K, O>>,
    ) -> R::Logs {
        self.recursion().log_likelihoods(state.inner())
    }

    /// How far the decision is to be believed: see [`StreamClassifier::believed`].
    pub fn believed(
        &self,
        state: &FrontedState<F::State, StateOf<R, T, D, K, O>>,
        confidence: &Confidence<'_, T::Real>,
    ) -> Believed<T::Real> {
        self.recursion().believed(state.inner(), confidence)
    }
}
