//! The files of the crate, and variants of them.

use std::path::{Path, PathBuf};

use lisle_check::litmus::{ParseError, Test};

/// The folder with the litmus files.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus")
}

/// The text of a file, such as `c/SB`.
pub(crate) fn text(name: &str) -> String {
    let path = folder().join(format!("{name}.litmus"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The test in a text that is right.
pub(crate) fn test(text: &str) -> Test {
    Test::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of a text that is wrong.
pub(crate) fn mistake(text: &str) -> ParseError {
    Test::parse(text).expect_err(text)
}

/// A C test of relaxed accesses, with loads that acquire and stores that release in their place.
/// Updates do both.
pub(crate) fn acquire_and_release(text: &str) -> String {
    let ordered = |line: &str| {
        let order = match line {
            line if line.contains("atomic_load") => "memory_order_acquire",
            line if line.contains("atomic_store") => "memory_order_release",
            _ => "memory_order_acq_rel",
        };
        line.replace("memory_order_relaxed", order)
    };
    text.lines().map(ordered).collect::<Vec<_>>().join("\n")
}
