//! Pipes.

use super::face::{clone, descriptor, readable, reading, writable, writing};
use super::pollable::{Kind, Pollable};
use crate::net::pollable::not_in_models;
use std::io;

/// Creates a pipe: bytes that are written at one end are read at the other, also across processes.
///
/// ```
/// use std::io::{Read, Write};
///
/// # fn main() -> std::io::Result<()> {
/// let (mut reader, mut writer) = lisle::net::pipe()?;
/// writer.write_all(b"through")?;
/// drop(writer);
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "through");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns an error if the system is out of descriptors.
#[track_caller]
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    not_in_models();
    let (reader, writer) = io::pipe()?;
    Ok((PipeReader::from_std(reader)?, PipeWriter::from_std(writer)?))
}

/// The reading end of a [`pipe`]. Reading waits for bytes, and finds the end when all writing ends
/// are closed.
pub struct PipeReader {
    pollable: Pollable<io::PipeReader>,
}

/// The writing end of a [`pipe`]. Writing waits for room, and fails with `BrokenPipe` when all
/// reading ends are closed.
pub struct PipeWriter {
    pollable: Pollable<io::PipeWriter>,
}

impl PipeReader {
    /// Wraps a pipe whose bytes are for this process, and not for its forked children, which would take
    /// them away.
    pub(crate) fn for_this_process(reader: io::PipeReader) -> io::Result<Self> {
        Ok(PipeReader { pollable: Pollable::of_kind(reader, Kind::GENERAL.for_this_process())? })
    }
}

descriptor!(PipeReader, io::PipeReader, io::PipeReader, GENERAL);
clone!(PipeReader);
readable!(PipeReader, io::PipeReader);
reading!(PipeReader);

descriptor!(PipeWriter, io::PipeWriter, io::PipeWriter, GENERAL);
clone!(PipeWriter);
writable!(PipeWriter, io::PipeWriter);
writing!(PipeWriter);
