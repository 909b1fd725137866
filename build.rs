//! Link flags for the addon, and the target it is built for.
#![allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what it needs by its environment"
)]

fn main() {
    #[cfg(feature = "addon")]
    napi_build::setup();
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=FUSION_CURSOR_TARGET={target}");
}
