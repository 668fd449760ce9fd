//! Cargo wants a build script where `links` is. There is nothing to link.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}
