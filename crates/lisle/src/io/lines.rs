//! The next line of a stream as an event.

use super::TryRead;
use super::line_buffer::{Line, LineBuffer};
use crate::choose;
use crate::event::until::{Operation, Until};
use crate::event::{Choose, Description, Label, Source, SourceEvent};
use crate::net::{ReadyEvt, waiting};
use crate::shim::sync::Mutex;
use std::fmt;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A stream of bytes that is read line by line.
///
/// The next line is an event, [`line_evt`](Lines::line_evt). A performance that loses a choice has
/// taken no line, and the bytes of an incomplete line are kept for the next performance.
///
/// A line ends with `\n` or `\r\n`, which is not part of it. The last line may end with the stream.
/// A line that is longer than the limit (1 MiB by default) gives an error of the kind `InvalidData`
/// as soon as that many bytes have come, and is skipped. A line that is not UTF-8 gives the same
/// kind of error and is skipped. Never much more than the limit is kept in memory.
///
/// ```
/// use lisle::io::Lines;
/// use std::process::{Command, Stdio};
///
/// # fn main() -> std::io::Result<()> {
/// let mut child = lisle::process::spawn(Command::new("seq").arg("3").stdout(Stdio::piped()))?;
/// let lines = Lines::new(child.stdout.take().unwrap());
/// let numbers: Result<Vec<_>, _> = (&lines).into_iter().collect();
/// assert_eq!(numbers?, ["1", "2", "3"]);
/// assert!(lines.next_line()?.is_none());
/// # Ok(())
/// # }
/// ```
pub struct Lines<R> {
    reader: R,
    kept: Mutex<Kept>,
    /// Whether a line or the end is available without reading, and the performers that wait for it.
    more: Source<bool, io::Result<()>>,
}

struct Kept {
    buffer: LineBuffer,
    /// The line that is taken out of the buffer ahead of time, to know whether there is one.
    next: Option<Line>,
}

/// The event of the next line of a [`Lines`], returned by [`Lines::line_evt`].
pub type LineEvt<'a, R> = Until<'a, Lines<R>, Sign<'a, <R as TryRead>::Io>>;

/// The event that more bytes have come, or that another performer has left a line behind.
type Sign<'a, Io> = Choose<(ReadyEvt<'a, Io>, SourceEvent<'a, bool, io::Result<()>, More>)>;
type More = fn(&mut bool) -> Option<io::Result<()>>;

// The state of the stream changes only when the reader has returned.
impl<R: UnwindSafe> UnwindSafe for Lines<R> {}
impl<R: RefUnwindSafe> RefUnwindSafe for Lines<R> {}

impl<R: TryRead> Lines<R> {
    /// Creates the lines of `reader`, each of at most 1 MiB.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::Lines;
    /// use std::io::Write;
    ///
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// writer.write_all(b"one\r\ntwo\n\nlast")?;
    /// drop(writer);
    /// let lines: Result<Vec<_>, _> = (&Lines::new(reader)).collect();
    /// assert_eq!(lines?, ["one", "two", "", "last"]);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn new(reader: R) -> Self {
        Lines::with_limit(reader, 1024 * 1024)
    }

    /// Creates the lines of `reader`, each of at most `limit` bytes without its ending.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::Lines;
    /// use std::io::{ErrorKind, Write};
    ///
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// let lines = Lines::with_limit(reader, 5);
    /// writer.write_all(b"12345\n123456\nnext\n")?;
    /// assert_eq!(lines.next_line()?.unwrap(), "12345");
    /// assert_eq!(lines.next_line().unwrap_err().kind(), ErrorKind::InvalidData); // too long
    /// assert_eq!(lines.next_line()?.unwrap(), "next");
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn with_limit(reader: R, limit: usize) -> Self {
        Lines {
            reader,
            kept: Mutex::new(Kept { buffer: LineBuffer::new(limit), next: None }),
            more: Source::labelled(Label::new("lines"), false),
        }
    }

    /// Returns the event of the next line. At the end of the stream it gives `None`, again and
    /// again.
    ///
    /// Several performers may wait. Each line goes to one of them.
    ///
    /// # Errors
    ///
    /// The event gives an error for a line that is too long or not UTF-8, and then continues with
    /// the next line. It also gives an error if reading fails.
    ///
    /// # Cancel safety
    ///
    /// A performance that loses a choice, a poll that fails and a future that is dropped before it
    /// gets its line have taken no line.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{Event, io::Lines};
    /// use std::io::Write;
    ///
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// let lines = Lines::new(reader);
    /// writer.write_all(b"half a")?;
    /// assert!(lines.line_evt().poll().is_none()); // the bytes are kept
    /// writer.write_all(b" line\n")?;
    /// assert_eq!(lines.line_evt().sync()?.unwrap(), "half a line");
    /// drop(writer);
    /// assert!(lines.line_evt().sync()?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn line_evt(&self) -> LineEvt<'_, R> {
        let more: More = |more| more.then_some(Ok(()));
        Until::new(self, choose((self.reader.readable_evt(), self.more.event(more))))
    }

    /// Returns the next line, and waits for it as [`Event::sync`](crate::Event::sync) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`line_evt`](Lines::line_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::Lines;
    /// use std::io::{ErrorKind, Write};
    ///
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// let lines = Lines::new(reader);
    /// writer.write_all(b"no text: \xff\ntext\n")?;
    /// drop(writer);
    /// assert_eq!(lines.next_line().unwrap_err().kind(), ErrorKind::InvalidData);
    /// assert_eq!(lines.next_line()?.as_deref(), Some("text"));
    /// assert_eq!(lines.next_line()?, None);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn next_line(&self) -> io::Result<Option<String>> {
        waiting::wait(self.line_evt())?
    }
}

impl<R> Lines<R> {
    /// Returns the stream. Bytes that are read from it directly are missing in the lines.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::{io::Lines, net::UnixStream};
    /// use std::io::Write;
    ///
    /// let (stream, mut other) = UnixStream::pair()?;
    /// let lines = Lines::new(stream);
    /// lines.get_ref().write_all(b"question\n")?; // writing does not disturb the lines
    /// other.write_all(b"answer\n")?;
    /// assert_eq!(lines.next_line()?.unwrap(), "answer");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the stream. Bytes that have been read ahead of the lines are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::Lines;
    /// use std::io::{Read, Write};
    ///
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// let lines = Lines::new(reader);
    /// writer.write_all(b"line\nrest")?;
    /// assert_eq!(lines.next_line()?.unwrap(), "line");
    /// drop(writer);
    /// let mut reader = lines.into_inner();
    /// assert_eq!(reader.read(&mut [0; 8])?, 0); // the rest was read with the line, and is lost
    /// # std::io::Result::Ok(())
    /// ```
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: TryRead> Operation for Lines<R> {
    type Output = Option<String>;

    fn attempt(&self) -> Option<Line> {
        let mut kept = self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let knew_more = kept.next.is_some();
        let line = match kept.next.take() {
            Some(line) => line,
            None => kept.read(&self.reader)?,
        };
        kept.next = kept.buffer.take();
        let knows_more = kept.next.is_some();
        if knows_more != knew_more {
            // This happens before the lock is released, so the flag is never older than the state
            // that it describes. A grant waits for performers that are about to commit. None of
            // them waits for this lock at that time, see `until.rs`.
            self.more.update(|more, waiters| {
                *more = knows_more;
                while *more && waiters.grant(Ok(())).is_ok() {}
            });
        }
        Some(line)
    }

    fn describe(&self, waits: &mut Description) {
        waits.on("read a line", self.more.label(), std::ptr::from_ref(self) as usize);
    }
}

impl Kept {
    /// Reads until there is a line. Returns `None` if there is none yet.
    fn read(&mut self, reader: &impl TryRead) -> Option<Line> {
        loop {
            if let Some(line) = self.buffer.take() {
                return Some(line);
            }
            match self.buffer.fill(|room| reader.try_read(room)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Iterates over the remaining lines, and waits for each as [`Event::sync`](crate::Event::sync) does.
impl<R: TryRead> Iterator for &Lines<R> {
    type Item = io::Result<String>;
    fn next(&mut self) -> Option<io::Result<String>> {
        self.next_line().transpose()
    }
}

impl<R: fmt::Debug> fmt::Debug for Lines<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("reader", &self.reader).finish_non_exhaustive()
    }
}
