//! Whose updates are taken.

use fishweir_core::update::Update;

/// Whose updates an image takes.
pub trait Trust {
    /// Whether updates must be signed.
    const SIGNED: bool;

    /// Whether this one is to be trusted; all else about it is right.
    fn trusts(&self, update: &Update<'_>) -> bool;
}

/// Updates of anyone who can write to the serial port. Signatures are not looked at.
#[derive(Clone, Copy, Debug)]
pub struct Anyone;

impl Trust for Anyone {
    const SIGNED: bool = false;

    fn trusts(&self, _: &Update<'_>) -> bool {
        true
    }
}

/// Updates signed by the holder of the secret to this public key: Ed25519 (RFC 8032), by `verify_strict` of
/// `ed25519-dalek`.
#[cfg(any(feature = "ed25519", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "ed25519")))]
#[derive(Clone, Copy, Debug)]
pub struct Ed25519(pub [u8; 32]);

#[cfg(any(feature = "ed25519", test))]
impl Trust for Ed25519 {
    const SIGNED: bool = true;

    fn trusts(&self, update: &Update<'_>) -> bool {
        use ed25519_dalek::{Signature, VerifyingKey};
        let (Ok(key), Ok(signature)) =
            (VerifyingKey::from_bytes(&self.0), Signature::from_slice(update.signature))
        else {
            return false;
        };
        key.verify_strict(update.signed, &signature).is_ok()
    }
}
