//! The world of a program: standard input and output, and files.
//!
//! *Invariant:* many tasks call a world at once; each method does its whole work before another
//! sees any of it.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a program prints, reads, and has its files.
///
/// An error ends the program as a [fault](crate::task::End::Fault) of the task that asked.
pub trait World: Send + Sync + 'static {
    /// Prints `text`.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    fn print(&self, text: &str) -> io::Result<()>;

    /// Returns the next line of input without its end, or `None` at the end of input. It may block
    /// its thread: it is called as a [blocking](lisle::blocking) call.
    ///
    /// # Errors
    ///
    /// Returns the error of the input.
    fn read_line(&self) -> io::Result<Option<String>>;

    /// Adds `text` to the end of `file`, which is made if there is none.
    ///
    /// # Errors
    ///
    /// Returns the error of the file.
    fn append(&self, file: &str, text: &str) -> io::Result<()>;

    /// Returns the text of `file`, or `None` if there is none. It is called as a
    /// [blocking](lisle::blocking) call.
    ///
    /// # Errors
    ///
    /// Returns the error of the file, one that is no text included.
    fn read_file(&self, file: &str) -> io::Result<Option<String>>;

    /// Returns the printed text and the contents of the files, if the world remembers them. By
    /// default it remembers nothing.
    fn record(&self) -> Record {
        Record::default()
    }
}

/// The record of a program in a [`World`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The printed text.
    pub output: String,
    /// The files.
    pub files: BTreeMap<String, String>,
}

/// The world of this process. It remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outside;

impl World for Outside {
    fn print(&self, text: &str) -> io::Result<()> {
        let mut output = io::stdout().lock();
        output.write_all(text.as_bytes())?;
        output.flush()
    }

    fn read_line(&self) -> io::Result<Option<String>> {
        io::stdin().lines().next().transpose()
    }

    fn append(&self, file: &str, text: &str) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(file)?.write_all(text.as_bytes())
    }

    fn read_file(&self, file: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }
}

/// A world in memory, for tests and for the [checker](crate::task::Checker::world).
#[derive(Debug, Default)]
pub struct InMemory {
    now: Mutex<Now>,
}

#[derive(Clone, Debug, Default)]
struct Now {
    lines: VecDeque<String>,
    record: Record,
}

impl InMemory {
    /// Creates a world without input and without files.
    pub fn new() -> Self {
        InMemory::default()
    }

    /// Adds a line of input.
    #[must_use]
    pub fn with_line(self, line: impl Into<String>) -> Self {
        self.lock().lines.push_back(line.into());
        self
    }

    /// Adds a file.
    #[must_use]
    pub fn with_file(self, file: impl Into<String>, text: impl Into<String>) -> Self {
        self.lock().record.files.insert(file.into(), text.into());
        self
    }

    /// Returns the lines of input that are left.
    pub(in crate::task) fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    /// Returns the files.
    pub(in crate::task) fn files(&self) -> BTreeMap<String, String> {
        self.lock().record.files.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for InMemory {
    fn clone(&self) -> Self {
        InMemory { now: Mutex::new(self.lock().clone()) }
    }
}

impl World for InMemory {
    fn print(&self, text: &str) -> io::Result<()> {
        self.lock().record.output.push_str(text);
        Ok(())
    }

    fn read_line(&self) -> io::Result<Option<String>> {
        Ok(self.lock().lines.pop_front())
    }

    fn append(&self, file: &str, text: &str) -> io::Result<()> {
        self.lock().record.files.entry(file.to_owned()).or_default().push_str(text);
        Ok(())
    }

    fn read_file(&self, file: &str) -> io::Result<Option<String>> {
        Ok(self.lock().record.files.get(file).cloned())
    }

    fn record(&self) -> Record {
        self.lock().record.clone()
    }
}
