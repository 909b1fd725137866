//! The token that a caller shows.

use std::fmt;

use subtle::ConstantTimeEq;

/// 256 random bits, in hexadecimal digits. It is in no `Debug`, and comparing it tells nothing by its time.
#[derive(Clone)]
pub struct Token([u8; Token::LENGTH]);

impl Token {
    /// Of its text, in bytes.
    pub const LENGTH: usize = 64;

    /// A new one, from the system's random numbers.
    ///
    /// # Errors
    /// Where the system has none to give.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bits = [0; Self::LENGTH / 2];
        getrandom::fill(&mut bits)?;
        let mut text = [0; Self::LENGTH];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bits) {
            pair[0] = digit(byte >> 4);
            pair[1] = digit(byte & 15);
        }
        Ok(Self(text))
    }

    /// For whoever starts the caller, and for nobody else.
    #[must_use]
    pub fn reveal(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Whether this is it. Takes as long wherever the two differ, and whatever length was shown.
    #[must_use]
    pub fn is(&self, shown: &[u8]) -> bool {
        let mut whole = [0; Self::LENGTH];
        let length = shown.len().min(Self::LENGTH);
        whole[..length].copy_from_slice(&shown[..length]);
        (whole.ct_eq(&self.0) & shown.len().ct_eq(&Self::LENGTH)).into()
    }
}

fn digit(half: u8) -> u8 {
    b"0123456789abcdef"[usize::from(half & 15)]
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_random_and_shows_itself_to_nobody() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), Token::LENGTH);
        assert!(one.reveal().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(format!("{one:?}"), "Token(secret)");
    }

    #[test]
    fn nothing_else_is_taken_for_it() {
        let token = Token::random().unwrap();
        let text = token.reveal().to_owned();
        assert!(token.is(text.as_bytes()));
        for length in 0..text.len() {
            assert!(!token.is(&text.as_bytes()[..length]), "{length}");
        }
        for more in ["0", "\0", " ", &text] {
            assert!(!token.is(format!("{text}{more}").as_bytes()), "{more:?}");
        }
        for place in 0..text.len() {
            let mut wrong = text.clone().into_bytes();
            wrong[place] ^= 1;
            assert!(!token.is(&wrong), "{place}");
        }
        assert!(!token.is(text.to_uppercase().as_bytes()) || text == text.to_uppercase());
        assert!(!token.is(&[0; Token::LENGTH]));
    }
}
