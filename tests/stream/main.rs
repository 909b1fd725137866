//! The stream as its users see it: bytes in, events out.

#[cfg(test)]
mod framing;
#[cfg(test)]
mod payloads;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod records;
#[cfg(test)]
mod support;
#[cfg(test)]
mod text;
#[cfg(test)]
mod tools;
