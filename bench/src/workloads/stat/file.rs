//! The file that is asked for its size.

use std::{io::Write, path::Path};
use tempfile::NamedTempFile;

/// A file of a size that no other answer would give by chance.
pub(super) struct Sized(NamedTempFile);

const SIZE: u64 = 4_321;

impl Sized {
    pub(super) fn new() -> Self {
        let mut file = NamedTempFile::new().expect("there is a folder for temporary files");
        file.write_all(&[0; SIZE as usize]).expect("it may be written to");
        Sized(file)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Checks that this is the sum of the answers to `n` questions.
    pub(super) fn check(&self, n: u64, sum: u64) {
        assert_eq!(sum, n * SIZE, "the sum of the sizes");
    }
}
