//! Proof that fishweir-core never panics on a device: an image that links only if that is so.
//!
//! It calls the recursions with models, settings and samples that the optimiser cannot know, and its
//! panic handler calls a function that does not exist. Where a panic can be reached, the linker misses
//! that function; feature `plant-panic` shows it. No allocator is linked, so nothing allocates.
//!
//! Whether a bounds check can be proven away depends on the sizes: the filter is therefore linked for
//! many numbers of states, every other recursion for every family of emissions at one.
#![no_std]
#![no_main]
#![allow(unsafe_code, reason = "the function that does not exist")]

use core::convert::Infallible;
use core::hint::black_box;
use core::panic::PanicInfo;

use fishweir_core::artefact::{self, Header, StoredModel};
use fishweir_core::classify::{
    AdditiveClassifier as _, Calibration, ChangeDetector, DiagonalWhitening, FullWhitening,
    KernelMachine, Limit, NoNorm, Normalisation, ScoreKernel, StoredKernel, StoredScores,
    StoredSequences, StreamClassifier, StreamModel,
};
use fishweir_core::context::{ContextModel, Steps};
use fishweir_core::dynamics::{Dynamics, Kalman, Parameters};
use fishweir_core::emission::{
    self, Alphabet, Autoregressive, Bernoulli, Categorical, Emission, FullGaussian, Gaussian,
    Mixture, Parametrisation, Poisson, Regularisation, Sample, SufficientStatistics, VectorSpace,
};
use fishweir_core::filter::{
    Belief, Forgetting, ForgettingFactor, Forward, OnlineEm, RollingLogLikelihood, Statistics,
    StepSize, Stream, Streaming, Window,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::kernel::{FixedLength, FixedLengthNorm};
use fishweir_core::number::{Arithmetic, Dual, Parameter, Real};
use fishweir_core::profile_hmm::{ProfileFilter, ProfileHmm};
use fishweir_core::rand_core::TryRng;
use fishweir_core::score::Score;
use fishweir_core::smooth::{
    Ancestral, FixedLag, OnlineViterbi, Viterbi, draw_path, posteriors, posteriors_checkpointed,
    viterbi,
};
use fishweir_core::wire::{Frame, Head, Receiver, RecordBuffer, SampleIndex, Status, encode};
use fishweir_core::{ModelError, Profile, for_each_family};
use zerocopy::{FromBytes, FromZeros, Immutable, KnownLayout};

mod context;
mod fixed;
mod front;
mod kernels;
mod network;
mod session;
mod spot;

const STATES: usize = 4;

#[cfg_attr(target_arch = "arm", cortex_m_rt::entry)]
#[cfg_attr(target_arch = "riscv32", riscv_rt::entry)]
fn main() -> ! {
    if cfg!(feature = "plant-panic") {
        // Alone, for the build has nothing else to show.
        black_box(black_box(&[0_u8; 2])[black_box(0)]);
    } else {
        everything();
    }
    loop {
        core::hint::spin_loop();
    }
}

#[inline(never)]
fn everything() {
    filters::<f32>();
    filters::<f64>();
    filters::<Dual<f32, 1>>();
    filters::<Dual<f32, 3>>();

    families();
    family::<Mixture<Gaussian<3>, 2>>(&black_box([0.0; 3]));
    constructors();
    kernels::kernels();
    kernels::tree_kernels();
    kernels::between_models();
    kernels::model_banks();
    fixed::fixed();
    network::network();
    session::session();
    spot::spot();
    profile_hmm();
    context::all();
    context::trees_and_segments();
    wire();

    classifier::<Hmm<Categorical<16>, STATES>>(&black_box(0));
    classifier::<Hmm<Gaussian<3>, STATES>>(&black_box([0.0; 3]));
    classifier::<ContextModel<Steps, Categorical<16>, 5>>(&black_box(0));
    front::all();
    front::coded();
    front::lagged::<StreamClassifier<Hmm<Gaussian<6>, STATES>, 2, 1>, false>();
    front::lagged::<StreamClassifier<Hmm<Autoregressive<6, 2>, STATES>, 2, 1>, true>();
    classifier::<Dynamics<4, 3>>(&black_box([0.0; 3]));
    systems::<4, 3>();
    systems::<5, 2>();
    machines();
    static BYTES: [u8; 1024] = [0; 1024];
    let bytes = black_box(&BYTES[..]);
    black_box(bytes.first().map(|&byte| black_box(Alphabet::DNA).decode(byte)));
    black_box(black_box(Alphabet::of("open\nclose")).decode_word(bytes));
    artefacts::<Hmm<Categorical<16>, STATES>>(bytes);
    artefacts::<Hmm<Gaussian<3, Dual<f32, 1>>, STATES>>(bytes);
    artefacts::<ContextModel<Steps, Categorical<16>, 5>>(bytes);
}

/// Every family that has a size.
fn families() {
    macro_rules! each {
        ($($module:ident $type:ident $(= $code:literal $unit:literal $($past:ident)?)?;)*) => {
            $(family::<emission::$type<3>>(&black_box(Default::default()));)*
        };
    }
    for_each_family!(each!);
}

/// Reading a classifier in place, and writing one.
#[inline(never)]
fn artefacts<H: StoredModel<Real = f32> + 'static>(bytes: &[u8])
where
    StreamClassifier<H, 2, 1>: FromBytes + Immutable + KnownLayout,
{
    let mut buffer = [0; 4096];
    if let Ok(classifier) = artefact::read::<StreamClassifier<H, 2, 1>>(bytes) {
        let room = black_box(&mut buffer[..]);
        black_box(artefact::write(classifier, black_box("a label"), room));
    }
    black_box(artefact::confidence::<StreamClassifier<H, 2, 1>>(bytes).is_ok());
    if let Ok(header) = Header::parse(bytes) {
        black_box((header.shape(), header.profile(), header.payload(bytes)));
        if let Ok(labels) = header.labels(bytes) {
            labels.for_each(|label| {
                black_box(label);
            });
        }
    }
}

/// Some value: every bit pattern is one, and the optimiser does not know which.
fn some<T: FromZeros>() -> T {
    black_box(T::new_zeroed())
}

/// Calls every method of a recursion.
fn drive<R: Streaming>(recursion: R, x: &R::Observation) {
    let mut stream = Stream::new(black_box(recursion));
    black_box(&mut stream);
    let _ = black_box(stream.push(x));
    let _ = stream.push(None);
    black_box(stream.read());
    stream.reset();
    black_box(&stream);
}

/// Profiles, whose sizes the optimiser knows.
#[inline(never)]
fn profile_hmm() {
    let x = black_box(0);
    let model = ProfileHmm::<f32, 5, 4>::new(some(), some(), some());
    let Ok(model) = model else { return };
    drive(ProfileFilter::of(&model), &x);
    let model = ProfileHmm::<Dual<f32, 2>, 5, 4>::new(some(), some(), some());
    let Ok(model) = model else { return };
    drive(ProfileFilter::of(&model), &x);
}

/// The filter at many sizes.
fn filters<W>()
where
    W: fishweir_core::number::RealParameter + FromZeros,
{
    filter::<W, 1>();
    filter::<W, 2>();
    filter::<W, 3>();
    filter::<W, 5>();
    filter::<W, 8>();
    filter::<W, 16>();
    filter::<W, 32>();
}

#[inline(never)]
fn filter<W, const N: usize>()
where
    W: fishweir_core::number::RealParameter + FromZeros,
{
    let chain = Chain::from_parts(
        core::array::from_fn(|_| some::<W>()),
        core::array::from_fn(|_| core::array::from_fn(|_| some::<W>())),
    );
    let emission =
        core::array::from_fn(|_| Categorical::from_parts(core::array::from_fn(|_| some::<W>())));
    let hmm = black_box(Hmm::<Categorical<16, W>, N>::new(chain, emission));
    let _ = black_box(hmm.validate());
    let forward = Forward::of(&hmm);
    drive(forward, &black_box(0));
    let mut belief = black_box(forward.initial_state());
    let _ = forward.step(&mut belief, &black_box(0));
    black_box((forward.filtered(&belief), forward.predicted(&belief)));
}

/// Every recursion over one family of emissions.
#[inline(never)]
fn family<E>(x: &E::Observation)
where
    E: SufficientStatistics<Real = f32> + Sample + FromZeros,
{
    let hmm = some::<Hmm<E, STATES>>();
    let hmm = &hmm;
    let _ = black_box(hmm.validate());
    filtering(hmm, x);
    tangents(hmm, x);
    learning(hmm, x);
    smoothing(hmm, x);
    sampling(hmm, x);
}

/// A generator whose numbers the optimiser does not know.
struct Dice;

impl TryRng for Dice {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(black_box(0))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(black_box(0))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        black_box(bytes).fill(0);
        Ok(())
    }
}

/// Drawing states and observations, and paths given observations.
#[inline(never)]
fn sampling<E: Sample<Weight = f32>>(hmm: &Hmm<E, STATES>, x: &E::Observation) {
    for draw in Ancestral::of(hmm, Dice).take(black_box(2)) {
        black_box((draw.state, &draw.observation));
    }
    let (mut rows, mut path) = ([[0.0; STATES]; 9], [0_u8; 9]);
    let (rows, path) = (black_box(&mut rows[..]), black_box(&mut path[..]));
    let sequence = (0..black_box(5)).map(|_| black_box(Some(x)));
    let _ = black_box(draw_path(hmm, sequence, rows, path, &mut Dice));
}

#[inline(never)]
fn filtering<E: Emission<Weight = f32>>(hmm: &Hmm<E, STATES>, x: &E::Observation) {
    drive(Forward::of(hmm), x);
    let memories =
        [ForgettingFactor::factor(black_box(0.5)), ForgettingFactor::samples(black_box(2.0))];
    for memory in memories.into_iter().flatten() {
        drive(Forgetting::of(hmm, memory), x);
    }
    if let Ok(recent) = RollingLogLikelihood::<_, STATES, 5>::of(hmm, black_box(1)) {
        drive(recent, x);
    }
    if let Ok(window) = Window::<_, 3>::of(Forward::of(hmm), black_box(1)) {
        drive(window, x);
    }
}

#[inline(never)]
fn tangents<E>(hmm: &Hmm<E, STATES>, x: &E::Observation)
where
    E: SufficientStatistics<Real = f32>,
{
    let directions = black_box([Score::ZERO; 2]);
    let along = black_box(hmm.with_directions(&directions, black_box(Parametrisation::default())));
    let forward = Forward::of(&along);
    drive(forward, x);
    drive(Forgetting::of(&along, black_box(ForgettingFactor::ENDLESS)), x);
    let limit = Limit { mean: black_box(0.0), threshold: black_box(1.0) };
    let detector =
        ChangeDetector::from_parts(along, black_box(ForgettingFactor::ENDLESS), limit, [limit; 2]);
    let _ = black_box(detector.validate());
    drive(&detector, x);
    if let Ok(recent) = RollingLogLikelihood::<_, STATES, 5>::of(&along, black_box(1)) {
        drive(recent, x);
    }
    if let Ok(window) = Window::<_, 3>::of(forward, black_box(1)) {
        drive(window, x);
    }
}

#[inline(never)]
fn learning<E>(hmm: &Hmm<E, STATES>, x: &E::Observation)
where
    E: SufficientStatistics<Real = f32>,
{
    let statistics = Statistics::of(hmm).with_memory(black_box(ForgettingFactor::ENDLESS));
    drive(statistics, x);
    drive(statistics.with_boundary_scores(), x);
    let regularisation = black_box(Regularisation::NONE);
    for step_size in [StepSize::Power(black_box(0.6)), StepSize::Constant(black_box(0.1))] {
        if let Ok(online) = OnlineEm::from(hmm, step_size, black_box(1), regularisation) {
            drive(online, x);
        }
    }
    let expected = black_box(statistics.read(&black_box(statistics.initial_state())));
    black_box(Score::of(hmm, &expected, black_box(Parametrisation::default())));
    let _ = black_box(hmm.maximise(&expected, &regularisation));
}

#[inline(never)]
fn smoothing<E: Emission<Weight = f32>>(hmm: &Hmm<E, STATES>, x: &E::Observation) {
    drive(Viterbi::of(hmm), x);
    drive(OnlineViterbi::<_, 9>::of(hmm), x);
    let online = OnlineViterbi::<_, 9>::of(hmm);
    black_box(online.undecided(&black_box(online.initial_state())));
    let lagged = FixedLag::<_, STATES, 7>::of(hmm);
    drive(lagged, x);
    let state = black_box(lagged.initial_state());
    black_box(lagged.at_lag(&state, black_box(3)));
    lagged.for_each_lag(&state, |reading| {
        black_box(reading);
    });

    let length = black_box(5);
    let sequence = || (0..length).map(|_| black_box(Some(x)));
    let (mut rows, mut pairs) = ([[0.0; STATES]; 9], [[0.0; STATES]; STATES]);
    let (mut back, mut path) = ([[0_u8; STATES]; 9], [0_u8; 9]);
    let mut checkpoints = [Belief::NEW; 3];
    let (rows, back) = (black_box(&mut rows[..]), black_box(&mut back[..]));
    let (path, checkpoints) = (black_box(&mut path[..]), black_box(&mut checkpoints[..]));
    let _ = black_box(posteriors(hmm, sequence(), rows, &mut pairs));
    let _ = black_box(viterbi(hmm, sequence(), back, path));
    let _ = black_box(posteriors_checkpointed(
        hmm,
        length,
        |_| black_box(Some(x)),
        checkpoints,
        rows,
        &mut pairs,
        |time, row| {
            black_box((time, row));
        },
    ));
}

#[inline(never)]
fn classifier<H: StreamModel<Real = f32>>(x: &H::Observation)
where
    StreamClassifier<H, 3, 3>: FromZeros,
{
    let classifier = some::<StreamClassifier<H, 3, 3>>();
    let _ = black_box(classifier.validate());
    drive(&classifier, x);
    let state = black_box(classifier.initial_state());
    black_box((classifier.decision_values(&state), classifier.log_likelihoods(&state)));
    let [scale, least_margin] = some();
    let likelihoods: [[f32; 2]; 2] = some();
    let confidence = Calibration { scale, least_margin, likelihoods: &likelihoods };
    black_box(classifier.predict(&state, &confidence));
}

/// Linear dynamical systems: how they are made, and their filter.
#[inline(never)]
fn systems<const N: usize, const D: usize>() {
    let parameters: Parameters<f32, N, D> = black_box(Parameters::ZERO);
    let along = parameters.with_directions(&black_box([Parameters::ZERO; 2]));
    system(Dynamics::new(&parameters));
    system(Dynamics::new(&along));
}

fn system<W, const N: usize, const D: usize>(system: Result<Dynamics<N, D, W>, ModelError>)
where
    W: Arithmetic + Parameter<Real = f32>,
{
    if let Ok(system) = black_box(system) {
        let _ = black_box(system.validate());
        let filter = Kalman::of(&system);
        drive(filter, &black_box([0.0; D]));
        let state = black_box(filter.initial_state());
        let belief = filter.predicted(&state);
        black_box((belief.covariance().matrix(), state.density().log_parts()));
    }
}

/// Kernel machines on support sequences and on support scores.
#[inline(never)]
fn machines() {
    let hmm = some::<Hmm<Categorical<16>, STATES>>();
    let stored: [[u8; 6]; 3] = some();
    let stored = [&stored[0][..], &stored[1], &stored[2]];
    let kernel = FixedLength::from_parts(&hmm, black_box(stored));
    let own = FixedLengthNorm::of(&hmm, black_box(6));
    machine(StoredSequences::new(kernel, own, some()), &black_box(0));
    machine(StoredSequences::new(kernel, NoNorm::NEW, some()), &black_box(0));

    const ENTRIES: usize = 2 * (STATES + STATES * STATES + STATES * 6 + 1);
    let models = || some::<[Hmm<Gaussian<3>, STATES>; 2]>();
    let by = black_box((Parametrisation::default(), Normalisation::PER_SAMPLE));
    let x = black_box([0.0; 3]);
    let diagonal = DiagonalWhitening::<_, ENTRIES> { centre: some(), rate: some() };
    let full = FullWhitening::<_, ENTRIES> { centre: some(), rows: some() };
    let kernel = black_box(ScoreKernel::Gaussian { gamma: 1.0 });
    machine(StoredScores::from_parts(models(), by.0, by.1, diagonal, kernel, some()), &x);
    machine(StoredScores::from_parts(models(), by.0, by.1, full, kernel, some()), &x);
}

#[inline(never)]
fn machine<K: StoredKernel<3, Real = f32>>(kernel: K, x: &K::Observation) {
    let machine = black_box(KernelMachine::<_, [[f32; 3]; 2]>::from_parts(kernel, some(), some()));
    let _ = black_box(machine.validate());
    black_box(machine.size_bytes());
    drive(&machine, x);
    let _ = black_box(machine.decision_values(&black_box(machine.initial_state())));
}

/// The constructors that check their arguments.
#[inline(never)]
fn constructors() {
    let _ = black_box(Chain::<f32, STATES>::new(some(), some()));
    let _ = black_box(Categorical::<16>::new(some()));
    let _ = black_box(Gaussian::<3>::new(some(), some()));
    let _ = black_box(FullGaussian::<3>::new(some(), some()));
    let _ = black_box(Mixture::<Gaussian<3>, 2>::new(some(), some()));
    let _ = black_box(Autoregressive::<3>::new(some(), some(), some()));
    let _ = black_box(Poisson::<3>::new(some()));
    let _ = black_box(Bernoulli::<3>::new(some::<[f32; 3]>()));
    black_box(Real::exp(black_box(0.0_f32)));
}

/// Frames in and out.
#[inline(never)]
fn wire() {
    let mut receiver = black_box(Receiver::new());
    let mut room = black_box(RecordBuffer::<[u8; 40]>::new());
    let length = black_box(receiver.push(black_box(7), room.bytes()));
    black_box((length, &receiver));
    let mut short = black_box([0; 16]);
    black_box(encode(black_box(&[0; 9]), black_box(&mut short[..])));
    black_box(Frame::new(&black_box([0_u8; 300])).as_bytes());
    let mut place = black_box(SampleIndex::default());
    black_box((place.reach(black_box(SampleIndex::default())), Head::split(room.bytes())));
    black_box(Profile::from_bytes(some()).map(Profile::to_bytes));
    black_box(Status::of(black_box(Ok(()))));
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe extern "C" {
        /// Defined nowhere.
        fn a_panic_can_be_reached() -> !;
    }
    // SAFETY: an image that would call it does not link.
    unsafe { a_panic_can_be_reached() }
}
