//! For the `Debug` of what may hold a secret.

use std::fmt;

/// Shows of a text no more than how long it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Length(usize);

impl Length {
    pub(crate) fn of<T: AsRef<[u8]>>(text: Option<T>) -> Option<Self> {
        text.map(|text| Self(text.as_ref().len()))
    }
}

impl fmt::Debug for Length {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.0)
    }
}
