//! Engines, and the number formats that each is in.

use std::fmt::Debug;

use fishweir_core::number::Real;

use super::bank::Bank;
use super::evaluator::Evaluator;
use super::machine::Machine;
use super::profiles::DeployedProfile;
use super::strings::Strings;
use super::systems::Systems;

/// Registers engines, each a type with [`Evaluator`].
macro_rules! engines {
    ($($(#[$words:meta])* $name:ident($engine:ty),)*) => {
        /// Engine of a deployed classifier.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Engine {
            $($(#[$words])* $name($engine),)*
        }

        /// Kind of a deployed classifier's engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EngineKind {
            $($(#[$words])* $name,)*
        }

        impl Engine {
            pub(super) fn kind(&self) -> EngineKind {
                match self {
                    $(Self::$name(_) => EngineKind::$name,)*
                }
            }

            pub(super) fn evaluator(&self) -> &dyn Evaluator {
                match self {
                    $(Self::$name(engine) => engine,)*
                }
            }
        }

        $(impl From<$engine> for Engine {
            fn from(engine: $engine) -> Self {
                Self::$name(engine)
            }
        })*
    };
}

engines! {
    /// Hidden Markov models, or models whose states are known, with directions.
    Bank(Bank),
    /// Linear dynamical systems, one per class.
    Systems(Systems),
    /// Markov strings, one per class.
    Strings(Strings),
    /// A profile.
    Profile(DeployedProfile),
    /// A kernel against stored items.
    Machine(Machine),
}

/// A number format of deployed classifiers: `f32`, `f64`, or [`Q15`](super::Q15).
pub trait Format {
    /// Numbers of weights and outputs.
    type Number: Real;
    /// Engine, or engines, in this format.
    #[doc(hidden)]
    type Engine: Clone + Debug + PartialEq;
}

/// A format that classifiers are compiled in: `f32`, and `f64`, from which other formats are made.
pub trait Compiled: Real + Format<Number = Self, Engine: From<Bank<Self>>> {}

impl Format for f32 {
    type Number = Self;
    type Engine = Engine;
}

impl Format for f64 {
    type Number = Self;
    type Engine = Bank<f64>;
}

impl Compiled for f32 {}
impl Compiled for f64 {}
