//! The served directory, and the promise that nothing outside it is opened for reading.
//!
//! Where the kernel has `openat2` (Linux 5.6 and later), it resolves the whole path beneath the directory in one step that
//! no concurrent rename or exchange of a link can trick. It refuses links with an absolute target even if they lead back inside, and
//! older kernels do not have it; for both there is a second way: resolve the path to a handle that cannot read
//! (`O_PATH`), ask the kernel where that handle really is, and only if that lies inside, open that very file through the
//! handle.
//!
//! Only regular files are read. A FIFO would block and a device might do anything, so files are opened without blocking
//! and their kind is checked on the open descriptor.
//!
//! The directory is looked up by its name each time: one that is deleted and made anew, or replaced by another release,
//! is served as it is now. All calls here may wait for a disk; they belong on the pool for blocking calls.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// How often a path is tried anew when the kernel says that a rename was going on at the same time.
const TRIES: usize = 16;

/// The flags for a file to read.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The flags for a handle that can be asked about, but not read.
const HANDLE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// What there is under a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file, open for reading.
    File(File, Stat),
    /// A directory.
    Directory,
}

/// Why there is nothing to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing there, nothing that may be seen from here, or nothing that is a file.
    Missing,
    /// The permissions do not allow it.
    Forbidden,
    /// Descriptors or memory have run out; later it may work.
    Exhausted,
    /// The file system failed.
    Broken,
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Failure::Forbidden,
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => Failure::Exhausted,
            Errno::IO | Errno::NOTRECOVERABLE | Errno::UCLEAN | Errno::STALE => Failure::Broken,
            // Among them NOENT, NOTDIR, LOOP, NAMETOOLONG, XDEV (a link that leads out) and NXIO (a socket).
            _ => Failure::Missing,
        }
    }
}

/// The served directory.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    /// Whether to try `openat2`; off for tests of the second way.
    openat2: bool,
}

impl Root {
    /// The directory `path`, which must exist now, though it need not for ever.
    pub(crate) fn new(path: &Path) -> io::Result<Root> {
        let path = std::path::absolute(path)?;
        let root = Root { path, openat2: true };
        root.directory()?;
        Ok(root)
    }

    /// Opens what `relative` names, which must have no slash at its start.
    pub(crate) fn open(&self, relative: &[u8]) -> Result<Found, Failure> {
        let directory = self.directory()?;
        let relative =
            if relative.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(relative)) };
        let file = match self.open_beneath(&directory, relative) {
            Err(Errno::XDEV | Errno::NOSYS | Errno::INVAL | Errno::TOOBIG) => {
                open_checked(&directory, relative)?
            }
            other => other?,
        };
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Found::File(File::from(file), stat)),
            FileType::Directory => Ok(Found::Directory),
            _ => Err(Failure::Missing),
        }
    }

    fn directory(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(CWD, &self.path, HANDLE | OFlags::DIRECTORY, Mode::empty())
    }

    fn open_beneath(&self, directory: &OwnedFd, relative: &Path) -> Result<OwnedFd, Errno> {
        if !self.openat2 {
            return Err(Errno::NOSYS);
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..TRIES {
            match rustix::fs::openat2(directory, relative, READ, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                other => return other,
            }
        }
        Err(Errno::NOENT)
    }
}

/// The second way: a handle first, then the question where it is, then the file behind that same handle.
fn open_checked(directory: &OwnedFd, relative: &Path) -> Result<OwnedFd, Failure> {
    let handle = rustix::fs::openat(directory, relative, HANDLE, Mode::empty())?;
    let inside = real_path(&handle)?.starts_with(real_path(directory)?);
    if !inside {
        return Err(Failure::Missing);
    }
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode);
    if !matches!(kind, FileType::RegularFile | FileType::Directory) {
        return Err(Failure::Missing);
    }
    Ok(rustix::fs::openat(CWD, descriptor_path(&handle), READ, Mode::empty())?)
}

/// Where an open file is now, links resolved. Without `/proc` there is no answer, and then nothing is served this way.
fn real_path(file: &OwnedFd) -> Result<PathBuf, Failure> {
    let target = rustix::fs::readlinkat(CWD, descriptor_path(file), Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
}

fn descriptor_path(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
