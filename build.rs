//! Link flags for the addon; nothing is generated here.

fn main() {
    #[cfg(feature = "addon")]
    napi_build::setup();
}
