//! Families as an artefact has them: a code, and numbers in the order of memory.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Emission;
use crate::for_each_family;
use crate::number::{Parameter, Real, Tangent};

macro_rules! families {
    ($($module:ident $type:ident $(= $code:literal $unit:literal $($past:ident)?)?;)*) => {
        /// The emission families that an artefact can hold, by their codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Family {
            $($(
                #[doc = concat!("[`", stringify!($type), "`](super::", stringify!($type), "), sized in ", $unit)]
                $type = $code,
            )?)*
        }

        impl Family {
            /// All of them.
            pub const ALL: &[Self] = &[$($({ let _: u8 = $code; Self::$type },)?)*];

            /// The name of its type.
            pub const fn name(self) -> &'static str {
                match self { $($(Self::$type => { let _: u8 = $code; stringify!($type) })?)* }
            }

            /// Unit of the family's size: symbols, or channels.
            pub const fn unit(self) -> &'static str {
                match self { $($(Self::$type => $unit,)?)* }
            }

            /// Returns whether the family reads rows that hold past samples, behind a
            /// [`LagFeatures`](crate::lagged::LagFeatures).
            pub const fn has_past(self) -> bool {
                let past: &[&str] = match self { $($(Self::$type => &[$(stringify!($past))?],)?)* };
                !past.is_empty()
            }
        }
    };
}
for_each_family!(families!);

impl Family {
    /// The family of a code; `None` if the code is unknown.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|&family| family as u8 == code)
    }
}

/// An emission family that an artefact can hold.
pub trait Stored: Emission + FromBytes + Immutable + KnownLayout {
    /// Code of the family.
    const FAMILY: Family;
    /// Size of the alphabet, or number of channels.
    const SIZE: usize;
    /// `true` if channels of an observation may be missing.
    const IN_PART: bool = false;

    /// Hands over every number, in the order in which they lie in memory.
    fn for_each_real(&self, take: &mut impl FnMut(<Self::Weight as Parameter>::Real));
}

/// The numbers of weights in memory's order: each a value and its tangent.
pub(crate) fn for_each_real<'w, W: Parameter + 'w>(
    weights: impl IntoIterator<Item = &'w W>,
    take: &mut impl FnMut(W::Real),
) {
    for weight in weights {
        take(weight.value());
        for_each_rate(&weight.tangent(), take);
    }
}

pub(crate) fn for_each_rate<T: Real, G: Tangent<T>>(tangent: &G, take: &mut impl FnMut(T)) {
    (0..G::DIRECTIONS).filter_map(|c| tangent.get(c)).for_each(take);
}
