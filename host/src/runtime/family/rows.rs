//! Rows of likelihoods: all that a recursion sees of a family over channels.
//!
//! The recursions are compiled for numbers and sizes. A family is behind one call a row, and is compiled
//! for its rows alone.

use std::borrow::Cow;
use std::sync::Arc;

use fishweir_core::emission::{Emission, Row};
use fishweir_core::number::{Dual, Number, Real, RealParameter};
use fishweir_core::{ModelError, ObservationError};

use super::Shape;
use super::device::DeployedEmission;
use crate::batch::Lookup;
use crate::runtime::{with_states, with_two_sizes};

/// The emissions of all states of a model, together.
pub(super) trait Together<W: RealParameter>: Send + Sync {
    /// The relative likelihoods of a row of channels, `[state]`, and what they are relative to, as
    /// [`Emission::row`] gives them.
    fn row(&self, x: &[W::Real], likelihood: &mut [W]) -> Option<W::LogScale>;
}

/// The emissions of all states of a model, one by one.
pub(super) trait Each<W: RealParameter>: Send + Sync {
    fn log_likelihood(&self, state: usize, x: &[W::Real]) -> W;
    /// See [`RowState::log_likelihoods`].
    fn log_likelihoods(&self, x: &[W::Real], logs: &mut [W::Real]) -> bool;
    fn check(&self, state: usize, x: &[W::Real]) -> Result<(), ObservationError>;
    fn validate(&self, state: usize) -> Result<(), ModelError>;
    fn width(&self) -> usize;
}

/// The states of a model of a family, as many as a compiled size has.
struct States<F: OverRows, W: HostWeight>(Arc<[F::State<W>]>);

impl<F: OverRows, W: HostWeight> Clone for States<F, W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// States at a compiled size.
struct Compiled<F: OverRows, W: HostWeight, const N: usize>(States<F, W>);

impl<F: OverRows, W: HostWeight, const N: usize> Together<W> for Compiled<F, W, N> {
    fn row(&self, x: &[W::Real], likelihood: &mut [W]) -> Option<W::LogScale> {
        let states: &[F::State<W>; N] = self.0.0.first_chunk()?;
        let Row { likelihood: row, log_scale } = F::State::<W>::row(states, x)?;
        match likelihood.first_chunk_mut() {
            Some(all) => *all = row,
            None => likelihood.copy_from_slice(&row[..likelihood.len()]),
        }
        Some(log_scale)
    }
}

impl<F: OverRows, W: HostWeight> Each<W> for States<F, W> {
    fn log_likelihood(&self, state: usize, x: &[W::Real]) -> W {
        match self.0.get(state) {
            Some(state) => state.log_likelihood(x),
            None => W::constant(W::Real::NEG_INFINITY),
        }
    }
    fn log_likelihoods(&self, x: &[W::Real], logs: &mut [W::Real]) -> bool {
        let samples = logs.len() / self.0.len();
        for state in 0..self.0.len() {
            if !F::log_likelihoods(&self.0[state], x, &mut logs[state * samples..][..samples]) {
                return false;
            }
        }
        true
    }
    fn check(&self, state: usize, x: &[W::Real]) -> Result<(), ObservationError> {
        self.0.get(state).map_or(Ok(()), |state| state.check(x))
    }
    fn validate(&self, state: usize) -> Result<(), ModelError> {
        self.0.get(state).map_or(Ok(()), Emission::validate)
    }
    fn width(&self) -> usize {
        self.0.first().map_or(1, Emission::width)
    }
}

/// The emissions of all states of a model.
#[derive(Clone)]
pub struct Bank<W: RealParameter> {
    together: Arc<dyn Together<W>>,
    each: Arc<dyn Each<W>>,
}

/// One state's emission over a row of channels, whatever its family: the state's place in its bank.
#[derive(Clone)]
pub struct RowState<W: RealParameter> {
    bank: Bank<W>,
    state: usize,
}

impl<W: RealParameter> std::fmt::Debug for RowState<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RowState({})", self.state)
    }
}

impl<W: HostWeight> RowState<W> {
    /// The states of a model at a compiled size, those past the model's out of reach. `None` for a family
    /// over symbols.
    pub(crate) fn states<const N: usize>(
        emission: &[DeployedEmission<W::Real>],
        first: usize,
    ) -> Option<[Self; N]> {
        let DeployedEmission { family, shape, .. } = emission.first()?;
        let bank = W::bank(family.rows(*shape)?, emission, first, *shape);
        Some(std::array::from_fn(|state| Self { bank: bank.clone(), state }))
    }
}

impl<T: HostReal> RowState<T> {
    /// The log-likelihoods of many samples in every state, `[state][sample]`, of their channels,
    /// `[channel][sample]`: bit for bit those of each alone. `false` where the family has them one by one.
    pub(crate) fn log_likelihoods<const N: usize>(
        states: &[Self; N],
        x: &[T],
        logs: &mut [T],
    ) -> bool {
        // The last state's bank is all's, as for a row.
        states.last().is_some_and(|state| state.bank.each.log_likelihoods(x, logs))
    }
}

impl<W: RealParameter> Emission for RowState<W> {
    type Weight = W;
    type Observation = [W::Real];

    fn log_likelihood(&self, x: &[W::Real]) -> W {
        self.bank.each.log_likelihood(self.state, x)
    }

    #[inline]
    fn row<const N: usize>(states: &[Self; N], x: &[W::Real]) -> Option<Row<W, N>> {
        // One state alone is one that is known: its bank has all positions, of which it is any.
        if let ([state], false) = (states.as_slice(), Self::is_missing(x)) {
            let (likelihood, log_scale) = W::likelihoods(|_| state.log_likelihood(x))?;
            return Some(Row { likelihood, log_scale });
        }
        let mut likelihood = [W::constant(W::Real::ZERO); N];
        // The first of these states may be a model's own as well, with a bank of theirs: the last one's is all's.
        let log_scale = states.last()?.bank.together.row(x, &mut likelihood)?;
        Some(Row { likelihood, log_scale })
    }

    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        self.bank.each.check(self.state, x)
    }

    /// Returns whether a row is all NaN. It has no likelihood, so that it comes here.
    fn is_missing(x: &[W::Real]) -> bool {
        !x.is_empty() && x.iter().all(|&x| lacks(x))
    }

    fn width(&self) -> usize {
        self.bank.each.width()
    }

    fn validate(&self) -> Result<(), ModelError> {
        self.bank.each.validate(self.state)
    }
}

/// Converts a row of reals that stand for other observations: counts, or yes and no.
pub(super) fn converted<T: Real, X: Copy + Default, R>(
    row: &[T],
    one: impl Fn(f64) -> Result<X, ObservationError>,
    then: impl FnOnce(&[X]) -> R,
) -> Result<R, ObservationError> {
    /// Number of channels that need no memory of their own.
    const FEW: usize = 16;
    let mut few = [X::default(); FEW];
    let mut many = Vec::new();
    let converted = match few.get_mut(..row.len()) {
        Some(few) => few,
        None => {
            many.resize(row.len(), X::default());
            many.as_mut_slice()
        }
    };
    for (slot, value) in converted.iter_mut().zip(row) {
        *slot = one(value.to_f64())?;
    }
    Ok(then(converted))
}

/// Calls with slices of as many lanes as there are, a number that is known when the call is compiled.
macro_rules! with_lanes {
    ($lanes:expr, ($x:ident, $weights:ident, $sums:ident) => $call:expr) => {
        if $lanes == crate::batch::LANES {
            let ($x, $weights) =
                ($x.as_chunks::<{ crate::batch::LANES }>().0, $weights.as_chunks().0);
            let $sums = $sums.as_chunks_mut().0;
            $call
        } else {
            let ($x, $weights) =
                ($x.as_chunks::<{ crate::batch::LANES / 2 }>().0, $weights.as_chunks().0);
            let $sums = $sums.as_chunks_mut().0;
            $call
        }
    };
}
pub(super) use with_lanes;

/// Returns whether a channel is missing, that is, NaN.
#[inline]
pub(super) fn lacks<T: Real>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// A channel of a row, if it is there.
#[inline]
pub(super) fn there<T: Real>(x: &[T], d: usize) -> Option<T> {
    x.get(d).copied().filter(|&x| !lacks(x))
}

/// Returns whether a row has some channels and lacks others.
pub(super) fn is_in_part<T: Real>(x: &[T]) -> bool {
    let lacking = x.iter().filter(|&&x| lacks(x)).count();
    lacking > 0 && lacking < x.len()
}

/// Checks the channels of a row that are there.
pub(super) fn check_in_part<T: Real>(
    x: &[T],
    width: usize,
    one: impl Fn(f64) -> Result<(), ObservationError>,
) -> Result<(), ObservationError> {
    if x.len() != width {
        return Err(ObservationError::WrongLength);
    }
    x.iter().filter(|&&x| !lacks(x)).try_for_each(|x| one(x.to_f64()))
}

/// Makes a distribution at a run-time size an emission over rows of reals by its view; where they stand for
/// other observations, `one` reads one. Of a row with NaN the likelihood is that of the other channels.
macro_rules! by_view {
    (@rest) => {
        fn width(&self) -> usize {
            self.view().width()
        }
        fn validate(&self) -> Result<(), ::fishweir_core::ModelError> {
            self.view().validate()
        }
    };
    ($type:ident) => {
        impl<W: RealParameter> Emission for $type<W> {
            type Weight = W;
            type Observation = [W::Real];

            #[inline(always)]
            fn log_likelihood(&self, x: &[W::Real]) -> W {
                let log = self.view().log_likelihood(x);
                match ::fishweir_core::number::Real::is_finite(log.value()) {
                    true => log,
                    false => self.unless_in_part(log, x),
                }
            }
            fn check(&self, x: &[W::Real]) -> Result<(), ::fishweir_core::ObservationError> {
                if !super::rows::is_in_part(x) {
                    return self.view().check(x);
                }
                super::rows::check_in_part(x, self.width(), |x| match x.is_finite() {
                    true => Ok(()),
                    false => Err(::fishweir_core::ObservationError::NotFinite),
                })
            }
            by_view!(@rest);
        }

        impl<W: RealParameter> $type<W> {
            /// Returns a log-likelihood, or the marginal one if channels are missing.
            #[cold]
            #[inline(never)]
            fn unless_in_part(&self, log: W, x: &[W::Real]) -> W {
                if super::rows::is_in_part(x) { self.log_marginal(x) } else { log }
            }
        }
    };
    ($type:ident, $view:ident, $one:ident) => {
        impl<W: RealParameter> Emission for $type<W> {
            type Weight = W;
            type Observation = [W::Real];

            fn log_likelihood(&self, x: &[W::Real]) -> W {
                let none = W::constant(W::Real::NEG_INFINITY);
                match super::rows::converted(x, $one, |x| self.view().log_likelihood(x)) {
                    Ok(log) => log,
                    Err(_) if super::rows::is_in_part(x) && self.check(x).is_ok() => {
                        self.view().log_marginal(|d| $one(super::rows::there(x, d)?.to_f64()).ok())
                    }
                    Err(_) => none,
                }
            }
            fn row<const N: usize>(
                states: &[Self; N],
                x: &[W::Real],
            ) -> Option<::fishweir_core::emission::Row<W, N>> {
                let first = states.first()?.view();
                let views = fishweir_core::number::array_of::<_, N>(first, |j| states[j].view());
                let row = |x: &[_]| $view::row(&views, x);
                match super::rows::converted(x, $one, row) {
                    Ok(row) => row,
                    Err(_) if super::rows::is_in_part(x) && states.first()?.check(x).is_ok() => {
                        let there = |d| $one(super::rows::there(x, d)?.to_f64()).ok();
                        $view::marginal_row(&views, there).into()
                    }
                    Err(_) => None,
                }
            }
            fn check(&self, x: &[W::Real]) -> Result<(), ::fishweir_core::ObservationError> {
                if super::rows::is_in_part(x) {
                    return super::rows::check_in_part(x, self.width(), |x| $one(x).map(|_| ()));
                }
                super::rows::converted(x, $one, |x| self.view().check(x))?
            }
            by_view!(@rest);
        }
    };
}
pub(super) use by_view;

/// A family over channels with an emission of its own for every weight of the host.
pub trait OverRows: Sync + 'static {
    /// One state's.
    type State<W: HostWeight>: Emission<Weight = W, Observation = [W::Real]> + Send + Sync + 'static;

    /// A state from its deployed numbers, with the directions from `first` on; one that is out of reach,
    /// and never the likeliest of a row, from none.
    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> Self::State<W>;

    /// The log-likelihoods of many samples in a state, without their tangents, of the samples' channels,
    /// `[channel][sample]`: bit for bit those of each alone. `false` of a family that has them one by one. A family that returns
    /// `true` must write [`Family::collect_lanes`](super::Family::collect_lanes), too, or is not fitted.
    fn log_likelihoods<W: HostWeight>(
        state: &Self::State<W>,
        x: &[W::Real],
        logs: &mut [W::Real],
    ) -> bool {
        let _ = (state, x, logs);
        false
    }
}

/// Constructor of banks of one weight.
pub trait Banks<W: HostWeight> {
    fn bank(&self, emission: &[DeployedEmission<W::Real>], first: usize, shape: Shape) -> Bank<W>;
}

impl<F: OverRows, W: HostWeight> Banks<W> for F {
    fn bank(&self, emission: &[DeployedEmission<W::Real>], first: usize, shape: Shape) -> Bank<W> {
        let states = |size: usize| {
            let mut states = Vec::with_capacity(size);
            for state in 0..size {
                states.push(F::state::<W>(emission.get(state), first, shape));
            }
            States::<F, W>(states.into())
        };
        let (each, together): (_, Arc<dyn Together<W>>) = if const { W::TWO_SIZES } {
            with_two_sizes!(emission.len(), N => {
                let each = states(N);
                (each.clone(), Arc::new(Compiled::<F, W, N>(each)))
            })
        } else {
            with_states!(emission.len(), N => {
                let each = states(N);
                (each.clone(), Arc::new(Compiled::<F, W, N>(each)))
            })
        };
        Bank { together, each: Arc::new(each) }
    }
}

/// Largest number of directions that run side by side.
pub(crate) const BLOCK: usize = 8;

/// A weight for which families are compiled.
pub trait HostWeight:
    RealParameter<
        Number: Number<ScaleAccumulator: Send> + Send,
        Tangent: Send + Sync,
        Real: Send + Sync,
    > + Send
    + Sync
    + 'static
{
    /// `true` if two sizes suffice: directions over `f64` only measure fixed point.
    #[doc(hidden)]
    const TWO_SIZES: bool = size_of::<Self::Real>() == 8 && size_of::<Self::Tangent>() > 0;

    #[doc(hidden)]
    fn bank(
        rows: &dyn AllBanks,
        emission: &[DeployedEmission<Self::Real>],
        first: usize,
        shape: Shape,
    ) -> Bank<Self>;
}

/// A real number for which families are compiled: `f32` and `f64`.
pub trait HostReal: Real + HostWeight<Real = Self> + Lookup + Send + Sync {
    /// Weight with one direction.
    type One: HostWeight<Real = Self>;
    /// Weight with a block of directions.
    type Many: HostWeight<Real = Self>;

    /// Numbers of a file, rounded; as they are where that is nothing.
    #[doc(hidden)]
    fn of_many(values: &[f64]) -> Cow<'_, [Self]>;
}

impl HostReal for f32 {
    type One = Dual<Self, 1>;
    type Many = Dual<Self, BLOCK>;

    fn of_many(values: &[f64]) -> Cow<'_, [Self]> {
        values.iter().map(|&x| x as Self).collect()
    }
}

impl HostReal for f64 {
    // One direction over `f64` only measures fixed point: the wide type saves compiling another.
    type One = Dual<Self, BLOCK>;
    type Many = Dual<Self, BLOCK>;

    fn of_many(values: &[f64]) -> Cow<'_, [Self]> {
        Cow::Borrowed(values)
    }
}

macro_rules! weights {
    ($($weight:ty),*) => {
        /// Emissions of an [`OverRows`] family over rows of channels, for every weight of the host.
        pub trait AllBanks: $(Banks<$weight> +)* Sync {}
        impl<F: OverRows> AllBanks for F {}
        $(impl HostWeight for $weight {
            fn bank(
                rows: &dyn AllBanks,
                emission: &[DeployedEmission<Self::Real>],
                first: usize,
                shape: Shape,
            ) -> Bank<Self> {
                Banks::<Self>::bank(rows, emission, first, shape)
            }
        })*
    };
}
weights!(f32, f64, Dual<f32, 1>, Dual<f32, BLOCK>, Dual<f64, BLOCK>);
