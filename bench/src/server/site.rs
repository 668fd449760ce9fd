//! The served files, and a place for the files of a sample.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

pub(crate) const FILE: &str = "10k.html";
pub(crate) const LENGTH: usize = 10 * 1024;

/// A folder with one file to serve. It is gone at the end of the sample.
pub(crate) struct Site {
    work: TempDir,
    folder: PathBuf,
}

impl Site {
    pub(crate) fn new() -> io::Result<Self> {
        // nginx gives up its rights, and has to get at the file all the same.
        let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        let work = TempDir::with_prefix("lisle-bench-")?;
        let folder = work.path().join("site");
        let file = folder.join(FILE);
        fs::create_dir(&folder)?;
        fs::write(&file, vec![b'x'; LENGTH])?;
        open(&file, 0o644)?;
        open(&folder, 0o755)?;
        open(work.path(), 0o755)?;
        Ok(Site { work, folder })
    }

    /// The folder that the server serves.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the sample's own files go.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }
}
