//! The served directory, and the guarantee that nothing outside it is opened for reading.
//!
//! Where the kernel has `openat2` (Linux 5.6 and later), it resolves the whole path beneath the
//! directory in one step, which no concurrent rename or exchange of a link can trick. It refuses
//! links with an absolute target even if they lead back inside, and older kernels do not have it.
//! For both cases there is a second way: resolve the path to a handle that cannot read (`O_PATH`),
//! ask the kernel for the real place of that handle, and only if that place is inside, open the
//! same file through the handle.
//!
//! Only regular files are read. A FIFO would block and a device might do anything. Therefore files
//! are opened without blocking, and their kind is checked on the open descriptor.
//!
//! The directory is looked up by its name each time. If it is deleted and created anew, or replaced
//! by another release, the new one is served. All calls here may wait for a disk and therefore
//! belong on the pool for blocking calls.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// The number of attempts to open a path when the kernel reports a concurrent rename.
const TRIES: usize = 16;

/// The flags for a file to read.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The flags for a handle that can be examined but not read.
const HANDLE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// The object under a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file, open for reading.
    File(File, Stat),
    /// A directory.
    Directory,
}

/// The reason why there is nothing to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing exists there, or nothing that may be seen from here, or nothing that is a file.
    Missing,
    /// The permissions do not allow it.
    Forbidden,
    /// Descriptors or memory have run out. It may work later.
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
            // This includes NOENT, NOTDIR, LOOP, NAMETOOLONG, XDEV (a link that leads out) and NXIO
            // (a socket).
            _ => Failure::Missing,
        }
    }
}

/// The served directory.
#[derive(Debug)]
pub(crate) struct Root {
    path: PathBuf,
    /// Whether to try `openat2`. Tests of the second way turn it off.
    openat2: bool,
}

impl Root {
    /// Creates the root for the directory `path`. The directory must exist now, but may be removed
    /// later.
    pub(crate) fn new(path: &Path) -> io::Result<Root> {
        let path = std::path::absolute(path)?;
        let root = Root { path, openat2: true };
        root.directory()?;
        Ok(root)
    }

    /// Opens the object with the name `relative`, which must not begin with a slash.
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

/// Opens a file in the second way: gets a handle, asks for its real place, and opens the file
/// behind that same handle.
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

/// Returns the real place of an open file, with links resolved. Without `/proc` it fails, and then
/// no file is served this way.
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
