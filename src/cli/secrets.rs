//! Keeps the keys that a program was given out of what is told of its words.

use std::ffi::OsString;
use std::fmt;

use super::environment::{KEYS, value};
use super::mask::{hide, mask};

/// The keys and tokens of one environment.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Those that the CLI takes from this environment.
    #[must_use]
    pub fn of(environment: &[(OsString, OsString)]) -> Self {
        let keys = KEYS.iter().filter_map(|name| value(environment, name));
        Self(keys.map(|key| key.to_string_lossy().into_owned()).collect())
    }

    /// What a program wrote, without these very keys, from 8 characters.
    #[must_use]
    pub fn hide(&self, output: Vec<u8>) -> Vec<u8> {
        hide(output, &self.0)
    }

    /// The same of text, and without whatever else looks like a key or a token.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        let hidden = self.hide(text.into_bytes());
        let hidden = String::from_utf8_lossy(&hidden);
        hidden.split_inclusive('\n').map(mask).collect()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(key: &str) -> Secrets {
        Secrets::of(&[
            ("CURSOR_API_KEY".into(), key.into()),
            ("PATH".into(), "/bin".into()),
        ])
    }

    #[test]
    fn the_very_key_goes_whatever_it_looks_like_and_so_does_what_looks_like_one() {
        let text = "plain words are no good\nBearer eyJhbGciOiJIUzI1NiJ9.e30.abcdefgh\nlast line";
        let redacted = secrets("plain words").redact(text.into());
        assert!(redacted.starts_with("*** are no good\n"), "{redacted}");
        assert!(!redacted.contains("eyJ"), "{redacted}");
        assert!(redacted.ends_with("\nlast line"), "{redacted}");
    }

    #[test]
    fn ordinary_words_stay_as_they_are() {
        let text = "Error: connect ECONNREFUSED 127.0.0.1:443\n    at index.js:10:5\n";
        assert_eq!(secrets("").redact(text.into()), text);
    }

    #[test]
    fn nothing_shows_them() {
        assert_eq!(format!("{:?}", secrets("correct horse")), "Secrets(1)");
    }
}
