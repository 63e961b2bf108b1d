use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::error::{ErrorKind, ModelError, Part};
use crate::number::{Number, Real, RealParameter, Tangent};

/// A weight of `2^24` and more is refused, so that no column overflows between two rescalings; a flank
/// that stays with less than `2^-24`, so that it vanishes in no single step.
const LARGEST: i32 = 24;

/// The ways into and out of one position.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Steps<W> {
    /// `B -> M_k`.
    pub enter: W,
    /// `M_k -> M_k+1`.
    pub match_match: W,
    /// `M_k -> I_k`.
    pub match_insert: W,
    /// `M_k -> D_k+1`.
    pub match_delete: W,
    /// `I_k -> M_k+1`.
    pub insert_match: W,
    /// `I_k -> I_k`.
    pub insert_insert: W,
    /// `D_k -> M_k+1`.
    pub delete_match: W,
    /// `D_k -> D_k+1`.
    pub delete_delete: W,
    /// `M_k -> E` and `D_k -> E`.
    pub exit: W,
}

impl<W: Copy> Steps<W> {
    /// All of them, in the order of the fields.
    pub const fn to_array(&self) -> [W; 9] {
        [
            self.enter,
            self.match_match,
            self.match_insert,
            self.match_delete,
            self.insert_match,
            self.insert_insert,
            self.delete_match,
            self.delete_delete,
            self.exit,
        ]
    }

    /// Creates the weights from an array, in the order of the fields.
    pub const fn from_array(weights: [W; 9]) -> Self {
        let [enter, match_match, match_insert, match_delete, insert_match, insert_insert, ..] =
            weights;
        let [.., delete_match, delete_delete, exit] = weights;
        Self {
            enter,
            match_match,
            match_insert,
            match_delete,
            insert_match,
            insert_insert,
            delete_match,
            delete_delete,
            exit,
        }
    }
}

/// Sequence around the domains, and the number of domains.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Flanks<W> {
    /// `N -> N`, `J -> J`, `C -> C`: another symbol.
    pub stay: W,
    /// `N -> B`, `J -> B`: a domain begins.
    pub begin: W,
    /// `E -> J`: another domain comes. Zero where there is one domain at most.
    pub again: W,
    /// `E -> C`: it was the last.
    pub last: W,
    /// `C -> T`: the sequence ends here.
    pub finish: W,
    /// Weight of a missing symbol: one, or the null model's factor for its length.
    pub missing: W,
}

impl<W: Copy> Flanks<W> {
    /// All of them, in the order of the fields.
    pub const fn to_array(&self) -> [W; 6] {
        [self.stay, self.begin, self.again, self.last, self.finish, self.missing]
    }

    /// Creates the weights from an array, in the order of the fields.
    pub const fn from_array(weights: [W; 6]) -> Self {
        let [stay, begin, again, last, finish, missing] = weights;
        Self { stay, begin, again, last, finish, missing }
    }

    /// Each of them as another number.
    pub fn map<X: Copy>(self, number: impl Fn(W) -> X) -> Flanks<X> {
        Flanks::from_array(self.to_array().map(number))
    }
}

/// A profile of `K` positions over `A` symbols, ready to be searched with.
///
/// A symbol's odds are `p(symbol | M_k)` over its probability under the null model; insertions have odds
/// of one. Codes for several residues are symbols with odds of their own. No row need sum to one: in a
/// local search, say, leaving costs nothing.
///
/// Over [`Dual`](crate::number::Dual) weights it has directions attached.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable, KnownLayout)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct ProfileHmm<W, const K: usize, const A: usize> {
    odds: [[W; K]; A],
    steps: [Steps<W>; K],
    flanks: Flanks<W>,
}

impl<W, const K: usize, const A: usize> ProfileHmm<W, K, A> {
    /// A profile from its odds `[symbol][position]`, its steps `[position]` and its flanks.
    ///
    /// # Errors
    /// Names the first weight that is no finite number from 0 to below `2^24`, ways into deletions above
    /// one, and the flanks' `stay` where it is below `2^-24`.
    pub fn new(
        odds: [[W; K]; A],
        steps: [Steps<W>; K],
        flanks: Flanks<W>,
    ) -> Result<Self, ModelError>
    where
        W: RealParameter,
    {
        let profile = Self::from_parts(odds, steps, flanks);
        profile.validate()?;
        Ok(profile)
    }

    /// Creates the model without checks, for constants. [`validate`](Self::validate) checks.
    pub const fn from_parts(odds: [[W; K]; A], steps: [Steps<W>; K], flanks: Flanks<W>) -> Self {
        const { assert!(K > 0 && A > 0, "a profile needs a position and a symbol") };
        Self { odds, steps, flanks }
    }

    /// Checks every weight.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn validate(&self) -> Result<(), ModelError>
    where
        W: RealParameter,
    {
        self.view().validate()
    }

    /// View of the model with its sizes at run time.
    pub const fn view(&self) -> ProfileHmmView<'_, W> {
        let odds = self.odds.as_flattened();
        ProfileHmmView { odds, steps: &self.steps, flanks: &self.flanks }
    }
}

/// A profile whose sizes are known at run time, borrowed.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[doc(hidden)]
pub struct ProfileHmmView<'m, W> {
    odds: &'m [W],
    steps: &'m [Steps<W>],
    flanks: &'m Flanks<W>,
}

impl<W> Clone for ProfileHmmView<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W> Copy for ProfileHmmView<'_, W> {}

impl<'m, W> ProfileHmmView<'m, W> {
    /// A view of odds `[symbol][position]`, by rows, of steps `[position]` and of flanks.
    ///
    /// # Errors
    /// As [`ProfileHmm::new`]; and where there is no position, or the odds fill no whole number of rows.
    pub fn new(
        odds: &'m [W],
        steps: &'m [Steps<W>],
        flanks: &'m Flanks<W>,
    ) -> Result<Self, ModelError>
    where
        W: RealParameter,
    {
        if odds.is_empty() || odds.len().checked_rem(steps.len()) != Some(0) {
            return Err(ModelError::new(Part::Probability, ErrorKind::Inconsistent, 0, odds.len()));
        }
        let view = Self { odds, steps, flanks };
        view.validate()?;
        Ok(view)
    }

    /// Creates the view without checks, from parts that were checked before.
    pub const fn from_parts(odds: &'m [W], steps: &'m [Steps<W>], flanks: &'m Flanks<W>) -> Self {
        Self { odds, steps, flanks }
    }

    /// Odds of a symbol, `[position]`; `None` outside the alphabet.
    #[inline]
    pub fn odds(&self, symbol: usize) -> Option<&'m [W]> {
        let positions = self.steps.len();
        let start = symbol.checked_mul(positions)?;
        self.odds.get(start..)?.get(..positions)
    }

    /// Steps, `[position]`.
    pub const fn steps(&self) -> &'m [Steps<W>] {
        self.steps
    }

    /// Flanks.
    pub const fn flanks(&self) -> &'m Flanks<W> {
        self.flanks
    }

    fn validate(&self) -> Result<(), ModelError>
    where
        W: RealParameter,
    {
        let positions = self.steps.len();
        for (index, &odds) in self.odds.iter().enumerate() {
            let row = index.checked_div(positions).unwrap_or_default();
            check(odds, Part::Probability, row, index - row * positions)?;
        }
        for (position, steps) in self.steps.iter().enumerate() {
            for (way, weight) in steps.to_array().into_iter().enumerate() {
                check(weight, Part::Transition, position, way)?;
            }
            for (way, weight) in [(3, steps.match_delete), (7, steps.delete_delete)] {
                if weight.value() > W::Real::ONE {
                    return Err(ModelError::new(
                        Part::Transition,
                        ErrorKind::AboveOne,
                        position,
                        way,
                    ));
                }
            }
        }
        for (way, weight) in self.flanks.to_array().into_iter().enumerate() {
            check(weight, Part::End, 0, way)?;
        }
        let stays = self.flanks.stay.value() >= W::Real::power_of_two(-LARGEST);
        if !stays {
            return Err(ModelError::new(Part::End, ErrorKind::NotInRange, 0, 0));
        }
        Ok(())
    }
}

/// Finite, not negative, not too large; its rates of change finite.
fn check<W: RealParameter>(
    weight: W,
    part: Part,
    row: usize,
    entry: usize,
) -> Result<(), ModelError> {
    let value = weight.value();
    let kind = if !value.is_finite() {
        ErrorKind::NotFinite
    } else if value < W::Real::ZERO {
        ErrorKind::Negative
    } else if value >= W::Real::power_of_two(LARGEST) {
        ErrorKind::OutOfRange
    } else if !weight.tangent().is_finite() {
        return Err(ModelError::new(Part::Tangent, ErrorKind::NotFinite, row, entry));
    } else {
        return Ok(());
    };
    Err(ModelError::new(part, kind, row, entry))
}
