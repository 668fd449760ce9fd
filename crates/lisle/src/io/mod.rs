//! Lines, and changes to files, as events.
//!
//! | Item | Source | How |
//! |---|---|---|
//! | [`Lines`] | readers with an event: sockets, pipes, a child's output | non-blocking reads by the performer that waits |
//! | [`lines_of`] | readers that block: standard input, files, any [`Read`](std::io::Read) | a thread that sends the lines on a channel |
//! | `watch_files`, with the feature `files` | files and directories | the system's notifications, by the crate `notify` |
//!
//! ```
//! use lisle::{Event, choose, io::Lines, time::after};
//! use std::io::Write;
//! use std::time::Duration;
//!
//! # fn main() -> std::io::Result<()> {
//! let (reader, mut writer) = lisle::net::pipe()?;
//! let lines = Lines::new(reader);
//! let in_time = || {
//!     choose((
//!         lines.line_evt().wrap(Some),
//!         after(Duration::from_millis(1)).wrap(|()| None),
//!     ))
//!     .sync()
//!     .transpose()
//! };
//! writer.write_all(b"half a")?;
//! assert!(in_time()?.is_none()); // the bytes that have come are kept
//! writer.write_all(b" line\n")?;
//! assert_eq!(lines.next_line()?.unwrap(), "half a line");
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "files")]
mod files;
mod line_buffer;
mod lines;
mod lines_of;
mod try_read;

#[cfg(feature = "files")]
pub use files::{Change, ChangeEvt, ChangeKind, Changes, watch_files, watch_tree};
pub use lines::{LineEvt, Lines};
pub use lines_of::lines_of;
pub use try_read::TryRead;
