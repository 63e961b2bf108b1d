//! Kinds of errors: stable names, by which programs distinguish errors.

use fishweir_core::artefact::ArtefactError;
use fishweir_core::classify::ScoreOutOfRange;
use fishweir_core::context::ContextError;
use fishweir_core::contract::{ContractError, WindowsError};
use fishweir_core::smooth::SequenceError;
use fishweir_core::update::UpdateError;
use fishweir_core::{ModelError, ObservationError};

/// An error whose kind has a stable name, by which programs distinguish errors.
pub trait StableKind {
    /// Returns the stable name of the fault, in kebab-case, such as `unknown-label`: that of the innermost error.
    fn kind(&self) -> &'static str;
}

/// Gives an enum of errors a `kind`: the name of its variant, or, of variants that are listed, the kind of the error
/// inside.
#[doc(hidden)]
#[macro_export]
macro_rules! kinds {
    ($error:ident $(, $(#[$when:meta])? $variant:pat => $inner:ident)* $(,)?) => {
        impl $error {
            /// Returns the stable name of what is wrong, in kebab-case, such as `unknown-label`: that of the innermost
            /// error.
            pub fn kind(&self) -> &'static str {
                #[allow(unused_imports)]
                use $crate::StableKind as _;
                #[allow(unreachable_patterns)]
                match self {
                    $($(#[$when])? $variant => $inner.kind(),)*
                    other => other.into(),
                }
            }
        }

        impl $crate::StableKind for $error {
            fn kind(&self) -> &'static str {
                $error::kind(self)
            }
        }
    };
}

/// Gives an error of another crate a kind.
macro_rules! foreign_kinds {
    ($error:path, $self:ident => $kind:expr) => {
        impl StableKind for $error {
            fn kind(&$self) -> &'static str {
                $kind
            }
        }
    };
}

foreign_kinds!(std::io::Error, self => "io");
foreign_kinds!(csv::Error, self => "io");
foreign_kinds!(serde_json::Error, self => "io");
foreign_kinds!(ScoreOutOfRange, self => "score-out-of-range");
foreign_kinds!(ModelError, self => self.kind.kind());
// The core names its own: there the compiler asks for the name of each new error.
foreign_kinds!(ObservationError, self => Self::kind(self));
foreign_kinds!(SequenceError, self => Self::kind(self));
foreign_kinds!(ContextError, self => Self::kind(self));
foreign_kinds!(fishweir_core::kernel::KernelError, self => Self::kind(self));
foreign_kinds!(WindowsError, self => Self::kind(self));
foreign_kinds!(ContractError, self => Self::kind(self));
foreign_kinds!(ArtefactError, self => Self::kind(self));
foreign_kinds!(UpdateError, self => Self::kind(self));
