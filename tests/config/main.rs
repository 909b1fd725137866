//! The config and the state file as text: what is put in, what is taken out, what is refused.

#[cfg(test)]
mod any_manifest;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod manifest;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod recover;
#[cfg(test)]
mod refusals;
