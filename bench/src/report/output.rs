//! Where a report goes. It is opened before the run, so that a wrong path does not cost the
//! results.

use std::{
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

pub(super) enum Output {
    Standard,
    File(PathBuf, File),
}

impl Output {
    /// The old content stays in the file until something is written.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        file.map(|file| Output::File(path.to_owned(), file))
            .map_err(|error| cannot_write(path.display(), &error))
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), String> {
        match self {
            Output::Standard => {
                let mut stdout = io::stdout().lock();
                match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
                    // The reader has seen enough, as `head` does.
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                    result => result.map_err(|error| cannot_write("standard output", &error)),
                }
            }
            Output::File(path, file) => {
                replace(file, text).map_err(|error| cannot_write(path.display(), &error))
            }
        }
    }
}

fn replace(file: &mut File, text: &str) -> io::Result<()> {
    // A pipe or a device has no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}

fn cannot_write(place: impl std::fmt::Display, error: &io::Error) -> String {
    format!("cannot write {place}: {error}")
}
