//! Trust in updates, by signature.

use fishweir_core::update::Update;

/// Decides whose updates an image accepts.
pub trait Trust {
    /// `true` if updates must be signed.
    const SIGNED: bool;

    /// Returns whether to trust an update that is valid in all other respects.
    fn trusts(&self, update: &Update<'_>) -> bool;
}

/// Updates of anyone who can write to the serial port. Signatures are ignored: anyone with access to the line decides what the
/// device decides. For tests, and for lines that nobody else reaches.
#[derive(Clone, Copy, Debug)]
pub struct NoSignature;

impl Trust for NoSignature {
    const SIGNED: bool = false;

    fn trusts(&self, _: &Update<'_>) -> bool {
        true
    }
}

/// Updates signed by the holder of the private key to this public key: Ed25519 (RFC 8032), verified by `ed25519-compact`.
///
/// Cost on a Cortex-M0: 23 kB of flash, 7 kB of stack, 14 million instructions per update received and per reset.
#[cfg(any(feature = "ed25519", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
#[derive(Clone, Copy, Debug)]
pub struct Ed25519(pub [u8; 32]);

#[cfg(any(feature = "ed25519", test))]
impl Ed25519 {
    /// The key of a public key file, as `fishweir keygen` writes it: 64 hexadecimal digits, and white space around them.
    ///
    /// ```
    /// use fishweir_device::update::Ed25519;
    ///
    /// // In an image: include_str!("update.pub").
    /// const KEY: Ed25519 =
    ///     Ed25519::from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\n");
    /// assert_eq!(KEY.0[..2], [0xd7, 0x5a]);
    /// ```
    ///
    /// # Panics
    /// Where the text is anything else; in a constant, the build fails.
    #[must_use]
    pub const fn from_hex(text: &str) -> Self {
        let text = text.as_bytes().trim_ascii();
        assert!(text.len() == 64, "a public key has 64 hexadecimal digits");
        let (mut key, mut at) = ([0; 32], 0);
        while at < 32 {
            key[at] = digit(text[2 * at]) << 4 | digit(text[2 * at + 1]);
            at += 1;
        }
        Self(key)
    }
}

#[cfg(any(feature = "ed25519", test))]
const fn digit(letter: u8) -> u8 {
    match letter {
        b'0'..=b'9' => letter - b'0',
        b'a'..=b'f' => letter - b'a' + 10,
        b'A'..=b'F' => letter - b'A' + 10,
        _ => panic!("a public key has 64 hexadecimal digits"),
    }
}

#[cfg(any(feature = "ed25519", test))]
impl Trust for Ed25519 {
    const SIGNED: bool = true;

    fn trusts(&self, update: &Update<'_>) -> bool {
        use ed25519_compact::{PublicKey, Signature};
        let Ok(signature) = Signature::from_slice(update.signature) else { return false };
        PublicKey::new(self.0).verify(update.signed, &signature).is_ok()
    }
}
