//! The filter at many sizes, by emission and type of number: those that fit on the smallest board.

use core::hint::black_box;
use core::mem::size_of_val;

use embedded_hal::delay::DelayNs;
use embedded_io::Write;
#[cfg(not(without = "windows"))]
use fishweir_core::classify::{Normalisation, StreamClassifier, WindowClassifier};
#[cfg(not(without = "windows"))]
use fishweir_core::contract::{Contract, Windows};
use fishweir_core::emission::{Parametrisation, SufficientStatistics};
use fishweir_core::filter::Forward;
use fishweir_core::hmm::Hmm;
use fishweir_core::profile_hmm::ProfileFilter;
use fishweir_device::meter::Meter;

use super::bench::{Bench, Failure};
use super::record::DELAY;
use super::{bits, models};

/// Waits for a millisecond, which shows that delay and meter agree, then measures the filter. Sends a
/// row for each, of the filter named `emission, N=states, K=symbols or D=channels, C=directions,
/// number`.
///
/// # Errors
/// When the transport fails, or a model or a sample is refused.
pub fn costs<S: Write, D: DelayNs, M: Meter>(
    serial: S,
    mut delay: D,
    meter: M,
) -> Result<(), Failure<S::Error>> {
    let mut table = Table(Bench { serial, meter });
    table.0.once(DELAY, || delay.delay_ms(1))?;
    table.floats()?;
    table.profiles()?;
    table.windows()?;
    table.fixed()?;
    table.readings()?;
    table.0.end()
}

struct Table<S, M>(Bench<S, M>);

/// The name of a row: `row!("Gaussian", N = 4, D = 3, C = 1, "f32")`.
macro_rules! row {
    ($family:literal, N = $n:expr, $letter:ident = $size:expr, C = $c:literal, $number:literal) => {
        concat!(
            $family,
            ", N=",
            $n,
            ", ",
            stringify!($letter),
            "=",
            $size,
            ", C=",
            $c,
            ", ",
            $number
        )
    };
}

impl<S: Write, M: Meter> Table<S, M> {
    fn floats(&mut self) -> Result<(), Failure<S::Error>> {
        macro_rules! categorical {
            ($($n:literal, $k:literal;)*) => {$(
                let hmm = const { &models::categorical::<$k, $n>() };
                let stream = const { &models::symbols::<$k>() };
                self.forward(row!("categorical", N = $n, K = $k, C = 0, "f32"), hmm, stream, &$k)?;
                self.tangent(row!("categorical", N = $n, K = $k, C = 1, "f32"), hmm, stream, &$k)?;
            )*};
        }
        macro_rules! gaussian {
            ($($d:literal;)*) => {$(
                let hmm = &models::gaussian::<$d>()?;
                let stream = const { &models::vectors::<$d>() };
                let far = &[1e6; $d];
                self.forward(row!("Gaussian", N = 4, D = $d, C = 0, "f32"), hmm, stream, far)?;
                self.tangent(row!("Gaussian", N = 4, D = $d, C = 1, "f32"), hmm, stream, far)?;
            )*};
        }
        categorical! { 2, 16; 4, 4; 4, 16; 8, 16; }
        gaussian! { 3; 6; }
        Ok(())
    }

    /// A classifier of two models along a direction: on a stream that never ends, and on windows of 200 samples.
    #[inline(never)]
    fn windows(&mut self) -> Result<(), Failure<S::Error>> {
        // `board.toml` says which boards have no flash left for them.
        #[cfg(not(without = "windows"))]
        {
            let hmm = models::gaussian::<6>()?;
            let along = hmm.with_directions(&[models::direction()], Parametrisation::default());
            let bank = StreamClassifier::from_parts(
                [along, along],
                [[-1.0, 1.0]],
                [0.0],
                Normalisation::PER_SAMPLE,
            );
            let bank = black_box(&bank);
            let (stream, far) = (const { &models::vectors::<6>() }, &[1e6; 6]);
            let bytes = size_of_val(bank);
            self.0.recursion("2 Gaussian, N=4, D=6, C=1, f32", &bank, bytes, stream, far)?;
            macro_rules! windows {
                ($($hop:literal, $states:literal;)*) => {$(
                    let contract = Contract { windows: Some(Windows::of(200, $hop)), ..Contract::NONE };
                    let name = concat!("2 Gaussian 200/", $hop, ", N=4, D=6, C=1, f32");
                    let on = WindowClassifier::<_, $states>::from_parts(bank, black_box(&contract));
                    self.0.recursion(name, &on, bytes, stream, far)?;
                )*};
            }
            windows! { 200, 1; 100, 2; 50, 4; 25, 8; }
        }
        Ok(())
    }

    /// Profiles of sixteen positions, alone and along a direction.
    fn profiles(&mut self) -> Result<(), Failure<S::Error>> {
        // As many symbols as the categorical rows have, so that flash holds their stream once.
        let (stream, odd) = (const { &models::symbols::<16>() }, &20);
        if !cfg!(without = "profiles") {
            let profile = black_box(const { &models::profile::<16, 20>() });
            let name = row!("profile", N = 16, K = 20, C = 0, "f32");
            let search = ProfileFilter::of(profile);
            self.0.recursion(name, &search, size_of_val(profile), stream, odd)?;
        }
        if !cfg!(without = "profile-directions") {
            let profile = black_box(const { &models::profile_along::<16, 20>() });
            let name = row!("profile", N = 16, K = 20, C = 1, "f32");
            let search = ProfileFilter::of(profile);
            self.0.recursion(name, &search, size_of_val(profile), stream, odd)?;
        }
        Ok(())
    }

    /// Digests of the readings of streams.
    #[inline(never)]
    fn readings(&mut self) -> Result<(), Failure<S::Error>> {
        if !cfg!(without = "systems") {
            let systems = &bits::systems()?;
            self.0.digest("systems", bits::digest(black_box(systems), bits::row))?;
        }
        self.0.digest("words", bits::digest(black_box(&bits::WORDS), bits::symbol))?;
        self.0.digest("latent", bits::digest(black_box(&bits::latent()), bits::symbol))
    }

    /// Measures the filter in fixed point.
    fn fixed(&mut self) -> Result<(), Failure<S::Error>> {
        macro_rules! categorical {
            ($($n:literal, $k:literal, $c:literal;)*) => {$(
                let hmm = black_box(const { &models::categorical_q15::<$k, $n, $c>() });
                let stream = const { &models::symbols::<$k>() };
                let name = row!("categorical", N = $n, K = $k, C = $c, "Q15");
                self.0.recursion(name, &Forward::of(hmm), size_of_val(hmm), stream, &$k)?;
            )*};
        }
        macro_rules! gaussian {
            ($($d:literal, $c:literal;)*) => {$(
                let hmm = &models::gaussian_q15::<$d, $c>()?;
                let hmm = black_box(hmm);
                let stream = const { &models::integers::<$d>() };
                let name = row!("Gaussian", N = 4, D = $d, C = $c, "Q15");
                self.0.recursion(name, &Forward::of(hmm), size_of_val(hmm), stream, &[i16::MAX; $d])?;
            )*};
        }
        categorical! { 2, 16, 0; 2, 16, 1; 4, 4, 0; 4, 4, 1; 4, 16, 0; 4, 16, 1; 8, 16, 0; 8, 16, 1; }
        gaussian! { 3, 0; 3, 1; 6, 0; 6, 1; }
        Ok(())
    }

    /// Measures a filter without a direction. `odd` is a sample that takes the slow path.
    #[inline(never)]
    fn forward<E, const N: usize>(
        &mut self,
        name: &str,
        hmm: &Hmm<E, N>,
        stream: &[E::Observation],
        odd: &E::Observation,
    ) -> Result<(), Failure<S::Error>>
    where
        E: SufficientStatistics<Real = f32, Observation: Sized>,
    {
        let hmm = black_box(hmm);
        self.0.recursion(name, &Forward::of(hmm), size_of_val(hmm), stream, odd)
    }

    /// Measures a filter along one direction without a zero.
    #[inline(never)]
    fn tangent<E, const N: usize>(
        &mut self,
        name: &str,
        hmm: &Hmm<E, N>,
        stream: &[E::Observation],
        odd: &E::Observation,
    ) -> Result<(), Failure<S::Error>>
    where
        E: SufficientStatistics<Real = f32, Observation: Sized>,
    {
        let along = hmm.with_directions(&[models::direction()], Parametrisation::default());
        let along = black_box(&along);
        self.0.recursion(name, &Forward::of(along), size_of_val(along), stream, odd)
    }
}
