//! Signatures of updates: keys, and who has signed.

use ed25519_dalek::ed25519::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::ed25519::pkcs8::{EncodePrivateKey, KeypairBytes};
use ed25519_dalek::pkcs8::DecodePrivateKey;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use fishweir_core::update::{HEADER_LENGTH, SIGNATURE_LENGTH, Update, UpdateError, UpdateHeader};

/// A private key of Ed25519 (RFC 8032) that signs updates.
///
/// A device whose image was built with the public key takes the updates that it signs, and no others.
#[derive(Clone)]
pub struct UpdateKey(SigningKey);

impl std::fmt::Debug for UpdateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UpdateKey(public {})", self.public_text())
    }
}

/// Reason why a text is no private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum UpdateKeyError {
    /// The text is no key of Ed25519 in PKCS #8.
    #[error("not a private key of Ed25519 in PEM (PKCS #8)")]
    NotAPrivateKey,
    /// The text is a public key.
    #[error("this is a public key; the private one signs")]
    PublicKey,
}

crate::kinds!(UpdateKeyError,);

impl UpdateKey {
    /// The key of 32 secret bytes, which must be random.
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(secret))
    }

    /// The key of a private key file: PEM, PKCS #8, as [`private_text`](Self::private_text) and OpenSSL write it.
    ///
    /// # Errors
    /// Where the text is anything else.
    pub fn parse(text: &str) -> Result<Self, UpdateKeyError> {
        let hex = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if hex(text.trim()) || text.contains("BEGIN PUBLIC KEY") {
            return Err(UpdateKeyError::PublicKey);
        }
        let key = SigningKey::from_pkcs8_pem(text);
        key.map(Self).map_err(|_| UpdateKeyError::NotAPrivateKey)
    }

    /// The text of the private key file.
    pub fn private_text(&self) -> String {
        let pair = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        // A key of fixed length has an encoding.
        pair.to_pkcs8_pem(LineEnding::LF).map(|text| text.to_string()).unwrap_or_default()
    }

    /// The text of the public key file: 64 hexadecimal digits and a line feed.
    pub fn public_text(&self) -> String {
        let digits = self.0.verifying_key().to_bytes().map(|byte| format!("{byte:02x}"));
        digits.concat() + "\n"
    }

    /// Signs an update, which may be unsigned, to be signed, or already signed by anyone.
    ///
    /// # Errors
    /// Where the bytes are no update.
    pub fn sign(&self, update: &[u8]) -> Result<Vec<u8>, UpdateError> {
        let to_be_signed = is_to_be_signed(update);
        let whole =
            if to_be_signed { [update, &[0; SIGNATURE_LENGTH]].concat() } else { Vec::new() };
        let update = Update::read(if to_be_signed { &whole } else { update })?;
        let rest = &update.signed[HEADER_LENGTH..];
        let self_test = &rest[update.artefact.len()..];
        let version = update.header.version();
        let header = UpdateHeader::encode(version, update.artefact, self_test, true)?;
        let signed = [&header[..], rest].concat();
        let signature = self.0.sign(&signed).to_bytes();
        Ok([&signed[..], &signature].concat())
    }

    /// Returns whether this key has signed an update.
    pub fn has_signed(&self, update: &Update<'_>) -> bool {
        let key: VerifyingKey = self.0.verifying_key();
        Signature::from_slice(update.signature)
            .is_ok_and(|signature| key.verify_strict(update.signed, &signature).is_ok())
    }
}

/// Returns whether bytes are an update without the signature that its header announces.
pub fn is_to_be_signed(update: &[u8]) -> bool {
    let header = update.first_chunk().and_then(|head| UpdateHeader::parse(head).ok());
    header.is_some_and(|header| {
        header.is_signed() && header.length() == Some(update.len() + SIGNATURE_LENGTH)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8410, 10.3.
    const RFC: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
        -----END PRIVATE KEY-----\n";

    #[test]
    fn keys_are_those_of_the_standard() {
        let key = UpdateKey::parse(RFC).expect("a key");
        let public = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1\n";
        assert_eq!(key.public_text(), public);
        assert_eq!(key.private_text(), RFC);
        let debug = format!("{key:?}");
        assert!(!debug.contains("d4ee72"), "{debug}");
        assert_eq!(UpdateKey::parse(public).expect_err("public"), UpdateKeyError::PublicKey);
        for text in ["", "hello", &RFC[..60]] {
            let refused = UpdateKey::parse(text).expect_err("no key");
            assert_eq!(refused, UpdateKeyError::NotAPrivateKey);
        }
    }
}
