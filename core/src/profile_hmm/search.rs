use core::marker::PhantomData;

use super::{Flanks, ProfileHmm, ProfileHmmView, Steps};
use crate::error::ObservationError;
use crate::filter::{Streaming, impossible};
use crate::kernel::Cells;
use crate::number::{Number, Parameter, RealParameter, Scalar};

/// A column whose sum is from `2^-WITHIN` to `2^WITHIN` is left as it is: where a domain is found every
/// symbol makes it larger, and rescaling at each would cost as much as the recursion.
const WITHIN: i32 = 32;

/// The smallest power of two with all its digits in every format.
const SMALLEST: i32 = -126;

/// A flank from here on is still there after a step, of `2^-24` at least.
const LASTING: i32 = -100;

/// The three states of one position.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cell<X> {
    /// `M_k`: the last symbol is the position's own.
    pub matched: X,
    /// `I_k`: it is inserted after the position.
    pub inserted: X,
    /// `D_k`: the position is skipped.
    pub deleted: X,
}

impl<X: Number> Cell<X> {
    /// Nowhere.
    pub const ZERO: Self = Self { matched: X::ZERO, inserted: X::ZERO, deleted: X::ZERO };
}

/// The forward recursion of a [`ProfileHmm`]: the log-odds of a stream against the null model, after
/// every symbol.
///
/// ```text
/// M_k(t) = odds_k(x_t) ( M_k-1(t-1) mm + I_k-1(t-1) im + D_k-1(t-1) dm + B(t-1) enter_k )
/// I_k(t) = M_k(t-1) mi + I_k(t-1) ii
/// D_k(t) = M_k-1(t) md + D_k-1(t) dd                    (silent: of the same column)
/// E(t)   = sum_k exit_k ( M_k(t) + D_k(t) )
/// N(t)   = N(t-1) stay        J(t) = J(t-1) stay + E(t) again       B(t) = (N(t) + J(t)) begin
/// C(t)   = C(t-1) stay + E(t) last                      log-odds = log C(t) finish
/// ```
///
/// Over [`Max`](crate::number::Max) it is Viterbi's score, over [`Dual`](crate::number::Dual) weights the
/// log-odds with its directional derivatives. Scaling is by exact powers of two, when the column's sum
/// leaves `2^-32` to `2^32`. The empty stream has no domain: minus infinity.
///
/// Range: paths `2^-94` times as probable as all together in `f32` (`2^-990` in `f64`), or more, keep
/// every digit; one far below may be taken for one that cannot be. Where a profile finds one domain at
/// most (`again` zero), that may be the path of a better domain later; where it finds many, the way from
/// the domain before stays.
///
/// State: `3 K + 3` numbers and a ledger. Work per symbol: `10 K` multiplications and `9 K` additions, one
/// and two times `C` that with `C` directions.
///
/// ```
/// use fishweir_core::filter::Stream;
/// use fishweir_core::profile_hmm::{Flanks, ProfileFilter, ProfileHmm, Steps};
///
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// let step = |enter| Steps::from_array([enter, 0.9, 0.05, 0.05, 0.5, 0.5, 0.8, 0.2, 1.0]);
/// let flanks =
///     Flanks { stay: 0.9, begin: 0.1, again: 0.5, last: 0.5, finish: 1.0, missing: 1.0 };
/// let motif = ProfileHmm::<f64, 2, 2>::new([[3.0, 0.5], [0.5, 3.0]], [step(0.5), step(0.5)], flanks)?;
/// let mut stream = Stream::new(ProfileFilter::of(&motif));
/// stream.push(&0)?;
/// let one = stream.read();
/// stream.push(&1)?;
/// assert!(stream.read() > one); // 0 1 is the motif
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ProfileSearch<'m, W, X, C> {
    profile: ProfileHmmView<'m, W>,
    state: PhantomData<fn() -> (X, C)>,
}

/// A [`ProfileSearch`] with its column in an array.
pub type ProfileFilter<'m, W, const K: usize> =
    ProfileSearch<'m, W, <W as Parameter>::Number, [Cell<<W as Parameter>::Number>; K]>;

/// One symbol of the recursion, over any number type: a column, `N J C` and the odds of the symbol at
/// every position. The sum of what is new, deletions left out.
///
/// The equations are those of [the module](crate::profile_hmm). Work: `10 K + 8` multiplications and some `9 K`
/// additions for `K` positions, in place.
#[inline(always)]
pub fn advance<X: Number>(
    cells: &mut [Cell<X>],
    around: &mut [X; 3],
    steps: &[Steps<X::Weight>],
    flanks: &Flanks<X>,
    odds: impl Iterator<Item = X>,
) -> X {
    let [before, between, after] = *around;
    let begin = before.plus(between).times(flanks.begin);
    // What comes from the position before: of the last column, and silently of this one.
    let (mut matching, mut deleting) = (X::ZERO, X::ZERO);
    let (mut ending, mut sum) = (X::ZERO, X::ZERO);
    for ((cell, steps), odds) in cells.iter_mut().zip(steps).zip(odds) {
        let Cell { matched, inserted, deleted } = *cell;
        let new = Cell {
            matched: matching.plus(begin.mul_weight(steps.enter)).times(odds),
            inserted: matched
                .mul_weight(steps.match_insert)
                .plus(inserted.mul_weight(steps.insert_insert)),
            deleted: deleting,
        };
        matching = matched
            .mul_weight(steps.match_match)
            .plus(inserted.mul_weight(steps.insert_match))
            .plus(deleted.mul_weight(steps.delete_match));
        deleting = new
            .matched
            .mul_weight(steps.match_delete)
            .plus(new.deleted.mul_weight(steps.delete_delete));
        ending = ending.plus(new.matched.plus(new.deleted).mul_weight(steps.exit));
        // No deletion is larger than the matches that it follows.
        sum = sum.plus(new.matched.plus(new.inserted));
        *cell = new;
    }
    let before = before.times(flanks.stay);
    let between = between.times(flanks.stay).plus(ending.times(flanks.again));
    let after = after.times(flanks.stay).plus(ending.times(flanks.last));
    *around = [before, between, after];
    sum.plus(before.plus(between.plus(after)))
}

/// Moves the magnitude of a column, whose sum is `sum`, and its derivative into a ledger.
#[doc(hidden)]
pub fn rescale<X: Number>(
    cells: &mut [Cell<X>],
    around: &mut [X; 3],
    sum: X,
    ledger: &mut X::ScaleAccumulator,
) {
    let before = *ledger;
    for cell in cells {
        let mut row = [cell.matched, cell.inserted, cell.deleted];
        X::rescale(&mut row, sum, &mut before.clone());
        let [matched, inserted, deleted] = row;
        *cell = Cell { matched, inserted, deleted };
    }
    X::rescale(around, sum, ledger);
}

impl<W, X, C> Clone for ProfileSearch<'_, W, X, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W, X, C> Copy for ProfileSearch<'_, W, X, C> {}

/// State of a [`ProfileSearch`]: a scaled column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileBelief<X: Number, C> {
    cells: C,
    /// `N`, `J`, `C`.
    flanks: [X; 3],
    ledger: X::ScaleAccumulator,
    /// Symbols since the column was rescaled, where that matters.
    age: u32,
}

impl<X: Number, C> ProfileBelief<X, C> {
    /// The column, `[position]`, relative to its scale.
    pub const fn cells(&self) -> &C {
        &self.cells
    }

    /// `N`, `J` and `C`, relative to the same.
    pub const fn flanks(&self) -> &[X; 3] {
        &self.flanks
    }

    /// Scale moved out of the column.
    pub const fn ledger(&self) -> &X::ScaleAccumulator {
        &self.ledger
    }
}

impl<'m, W, X, const K: usize> ProfileSearch<'m, W, X, [Cell<X>; K]> {
    /// The recursion of a profile.
    pub const fn of<const A: usize>(profile: &'m ProfileHmm<W, K, A>) -> Self {
        Self { profile: profile.view(), state: PhantomData }
    }
}

impl<'m, W, X, C> ProfileSearch<'m, W, X, C>
where
    W: RealParameter,
    X: Scalar<Weight = W, Real = W::Real>,
    C: Cells<Cell<X>>,
{
    /// The recursion of a profile of any size, its column where there is room for any.
    pub const fn over(profile: ProfileHmmView<'m, W>) -> Self {
        const { assert!(C::CAPACITY.is_none(), "an array has room for profiles of its size: of") };
        Self { profile, state: PhantomData }
    }

    /// The profile.
    pub const fn profile(&self) -> ProfileHmmView<'m, W> {
        self.profile
    }

    /// Takes in a symbol by its odds. Returns `false`, with an invalid state, if nothing is possible.
    #[inline(always)]
    fn sweep(self, state: &mut ProfileBelief<X, C>, odds: impl Iterator<Item = W>) -> bool {
        let (steps, flanks) = (self.profile.steps(), self.profile.flanks().map(X::lift));
        let cells = state.cells.as_mut();
        let sum = advance(cells, &mut state.flanks, steps, &flanks, odds.map(X::lift));
        // A derivative is kept centred.
        let due = X::CENTRED && {
            state.age += 1;
            state.age >= X::RESCALE_EVERY
        };
        if due || !sum.is_between(-WITHIN, WITHIN) {
            return state.rescale(sum);
        }
        true
    }

    fn take(
        &self,
        state: &mut ProfileBelief<X, C>,
        odds: impl Iterator<Item = W>,
    ) -> Result<(), ObservationError> {
        // A flank that is there stays: only without one may everything vanish, and then the column that
        // is changed in place is wanted once more.
        let kept = if state.flanks.iter().any(|flank| flank.is_at_least(LASTING)) {
            None
        } else {
            Some(state.clone())
        };
        if !self.sweep(state, odds)
            && let Some(kept) = kept
        {
            *state = kept;
            return Err(ObservationError::Impossible);
        }
        Ok(())
    }
}

impl<X: Number, C: AsMut<[Cell<X>]>> ProfileBelief<X, C> {
    /// Moves magnitude and derivative into the ledger.
    #[cold]
    #[inline(never)]
    fn rescale(&mut self, sum: X) -> bool {
        if !sum.is_at_least(SMALLEST) {
            return false;
        }
        rescale(self.cells.as_mut(), &mut self.flanks, sum, &mut self.ledger);
        self.age = 0;
        true
    }
}

impl<W, X, C> ProfileSearch<'_, W, X, C>
where
    W: RealParameter,
    X: Scalar<
            Weight = W,
            Real = W::Real,
            Reading: Scalar<Real = W::Real, Weight: RealParameter<Real = W::Real>>,
        >,
{
    /// The log-odds so far as the nearest number and the remainder, with their tangents.
    pub fn log_parts(&self, state: &ProfileBelief<X, C>) -> [X::Reading; 2] {
        let [_, _, after] = state.flanks;
        let ended = after.mul_weight(*self.finish());
        if ended.value() > X::Real::ZERO {
            X::log_parts(ended, &state.ledger)
        } else {
            [impossible(), X::Reading::ZERO]
        }
    }

    /// `C -> T`.
    const fn finish(&self) -> &W {
        &self.profile.flanks().finish
    }
}

impl<W, X, C> Streaming for ProfileSearch<'_, W, X, C>
where
    W: RealParameter,
    X: Scalar<
            Weight = W,
            Real = W::Real,
            Reading: Scalar<Real = W::Real, Weight: RealParameter<Real = W::Real>>,
        >,
    C: Cells<Cell<X>>,
{
    type Observation = usize;
    type State = ProfileBelief<X, C>;
    /// The log-odds, with their tangent over dual numbers.
    type Reading = X::Reading;

    fn initial_state(&self) -> Self::State {
        let cells = C::filled(Cell::ZERO, self.profile.steps().len());
        ProfileBelief { cells, flanks: [X::ONE, X::ZERO, X::ZERO], ledger: X::UNSCALED, age: 0 }
    }

    #[inline]
    fn step(&self, state: &mut Self::State, x: &usize) -> Result<(), ObservationError> {
        let odds = self.profile.odds(*x).ok_or(ObservationError::UnknownSymbol)?;
        self.take(state, odds.iter().copied())
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        let missing = self.profile.flanks().missing;
        // Of what was not observed nothing is impossible, unless the profile has no way on.
        let _ = self.take(state, core::iter::repeat(missing));
    }

    #[inline]
    fn read(&self, state: &Self::State) -> X::Reading {
        let [_, _, after] = state.flanks;
        let ended = after.mul_weight(*self.finish());
        let possible = ended.value() > X::Real::ZERO;
        if possible { X::log(ended, &state.ledger) } else { impossible() }
    }
}
