//! The compiler's messages about mistakes of users: they are part of the interface.
//!
//! They differ between versions of the compiler, so this test expects the messages of one version.
//! After changing a message, or for a newer version, run this with `TRYBUILD=overwrite` and read
//! the new messages.

use std::env;
use std::process::Command;

/// The version whose messages are in `ui/*.stderr`: the one that this repository is developed with.
const VERSION: &str = "1.95";

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
