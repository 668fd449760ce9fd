//! The place of an operation in the program.
//!
//! The library's functions do not get the places of their callers, which would make each call
//! dearer. Instead the recorder looks at the stack. It takes the place in the innermost function
//! that belongs neither to the library nor to `std`. Without line tables in the binary there is no
//! place.

use super::SourceLine;
use rustc_hash::FxHashMap;
use std::ffi::c_void;

/// The most frames that it looks at. The library's own are fewer.
const FRAMES: usize = 64;

/// Returns the frames of the caller's stack, innermost first. Their places are looked up after the
/// execution.
pub(super) fn stack() -> Vec<usize> {
    let mut frames = Vec::with_capacity(FRAMES);
    backtrace::trace(|frame| {
        frames.push(frame.ip().addr());
        frames.len() < FRAMES
    });
    frames
}

/// The places of stacks, each frame of which is looked up once.
#[derive(Debug, Default)]
pub(super) struct Places(FxHashMap<usize, Option<SourceLine>>);

impl Places {
    /// Returns the place in the program for this stack.
    pub(super) fn of(&mut self, stack: &[usize]) -> Option<SourceLine> {
        stack.iter().find_map(|&frame| self.0.entry(frame).or_insert_with(|| of_program(frame)).clone())
    }
}

/// Returns the place of a frame if it is in a function of the program.
fn of_program(frame: usize) -> Option<SourceLine> {
    let mut found = None;
    backtrace::resolve(std::ptr::without_provenance_mut::<c_void>(frame), |symbol| {
        if let (None, Some(file), Some(line)) = (&found, symbol.filename(), symbol.lineno()) {
            let file = file.to_string_lossy().into_owned();
            found = (!is_in_library(&file)).then(|| SourceLine::new(file, line));
        }
    });
    found
}

/// The crates whose functions do not belong to the program. Functions of `std` are recognized by
/// their files.
const LIBRARY: [&str; 7] =
    ["backtrace", "corosensei", "lisle", "lisle-check", "lisle-core", "lisle-par", "lisle-runtime"];

/// Returns `true` if the file belongs to the library or to `std`: it is in the folder `src` of such
/// a crate, whose name may have a version after it. The file decides, since inlined functions need
/// not have a name.
pub(super) fn is_in_library(file: &str) -> bool {
    let file = file.replace('\\', "/");
    let is_own = |folder: &str| {
        let name = folder.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        LIBRARY.iter().any(|own| folder == *own || name.strip_suffix('-') == Some(own))
    };
    let mut folders = file.split('/').zip(file.split('/').skip(1));
    file.starts_with("/rustc/")
        || ["/library/std/src/", "/library/core/src/", "/library/alloc/src/"]
            .iter()
            .any(|std| file.contains(std))
        || folders.any(|(folder, inner)| inner == "src" && is_own(folder))
}

#[cfg(test)]
mod tests {
    use super::is_in_library;

    #[test]
    fn files_of_the_library_are_known_by_their_folders() {
        for own in [
            "/home/me/.cargo/registry/src/x/lisle-core-0.1.0/src/event/sync.rs",
            "/home/me/lisle/crates/lisle/src/lib.rs",
            "/home/me/.cargo/registry/src/x/backtrace-0.3.77/src/backtrace/libunwind.rs",
            "C:\\lisle\\crates\\lisle-runtime\\src\\lib.rs",
            "/rustc/0123/library/core/src/ops/function.rs",
        ] {
            assert!(is_in_library(own), "{own}");
        }
        for other in
            ["/home/me/lisle-user/src/main.rs", "/home/me/lisle/crates/lisle/tests/it/kill.rs", "src/x.rs"]
        {
            assert!(!is_in_library(other), "{other}");
        }
    }
}
