//! What the compiler says of mistakes that users make: the messages are part of the interface.
//!
//! They differ between versions of the compiler, so those that are expected here are those of one.
//! Who changes a message, or goes to a newer version, runs this with `TRYBUILD=overwrite` and reads
//! what has come of it.

use std::env;
use std::process::Command;

/// The version whose messages are in `ui/*.stderr`: the minimum version.
const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

#[test]
fn mistakes_are_explained() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().expect("there is a compiler");
    let version = String::from_utf8(version.stdout).expect("its version is text");
    if !version.starts_with(&format!("rustc {VERSION}.")) {
        eprintln!("not compared: the messages are those of rustc {VERSION}, and this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
