use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

macro_rules! little_endian {
    ($($name:ident: $native:ident, $bytes:literal;)*) => {$(
        #[doc = concat!("A `", stringify!($native), "` as it lies on the wire: little-endian, unaligned.")]
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash,
            FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
        )]
        #[repr(transparent)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Converts from the machine's form.
            #[must_use]
            pub const fn new(value: $native) -> Self {
                Self(value.to_le_bytes())
            }

            /// Converts to the machine's form.
            #[must_use]
            pub const fn get(self) -> $native {
                $native::from_le_bytes(self.0)
            }
        }

        impl From<$native> for $name {
            fn from(value: $native) -> Self {
                Self::new(value)
            }
        }

        #[cfg(feature = "defmt")]
        impl defmt::Format for $name {
            fn format(&self, f: defmt::Formatter<'_>) {
                self.get().format(f);
            }
        }
    )*};
}

little_endian! {
    U16: u16, 2;
    U32: u32, 4;
    U64: u64, 8;
    F32: f32, 4;
}
