//! A file as it is served: its content or a descriptor to read it from, and every header line that does not depend on the
//! request, written once when the file is loaded.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::root::Failure;
use crate::serve::http::condition::Validators;
use crate::serve::http::{date, media};

/// How often a file that changes while it is read is read anew.
const TRIES: usize = 3;

/// What tells one state of a file from another. The time of the last change of the inode is part of it, because the
/// time of the last change of the content can be set at will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Stamp {
    #[allow(
        clippy::unnecessary_cast,
        reason = "the fields of `Stat` differ in type from one architecture to another"
    )]
    pub(crate) fn of(stat: &Stat) -> Stamp {
        Stamp {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            length: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        }
    }
}

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Body {
    /// In memory.
    Memory(Box<[u8]>),
    /// On disk, to be read piece by piece.
    Disk(File),
}

/// One state of one file.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    /// How many bytes the body has.
    pub(crate) length: u64,
    pub(crate) body: Body,
    /// `ETag`, `Last-Modified` and `Accept-Ranges`: the lines that a 304 carries as well.
    pub(crate) validator_lines: Box<[u8]>,
    /// `Content-Type` and what belongs to it.
    pub(crate) content_lines: Box<[u8]>,
    etag: Box<[u8]>,
    modified: Option<u64>,
}

impl Entry {
    /// Reads `file`, if it has at most `in_memory` bytes, or keeps it open. `name` decides on the content type.
    pub(crate) fn load(mut file: File, stat: &Stat, name: &Path, in_memory: u64) -> Result<Entry, Failure> {
        let mut stamp = Stamp::of(stat);
        let mut content = None;
        for _ in 0..TRIES {
            if stamp.length > in_memory {
                break;
            }
            content = Some(read(&mut file, stamp.length).map_err(failure)?);
            let after = Stamp::of(&rustix::fs::fstat(&file)?);
            if after == stamp {
                break;
            }
            stamp = after;
        }
        let body = match content {
            Some(content) => Body::Memory(content),
            None => Body::Disk(file),
        };
        Ok(Entry::new(stamp, body, name))
    }

    fn new(stamp: Stamp, body: Body, name: &Path) -> Entry {
        let (seconds, nanos) = stamp.modified;
        let length = match &body {
            Body::Memory(content) => content.len() as u64,
            Body::Disk(_) => stamp.length,
        };
        let etag = format!("\"{seconds:x}.{nanos:x}-{length:x}-{:x}\"", stamp.inode).into_bytes();
        // A time in the future is a wrong one, and section 8.8.2.1 of RFC 9110 forbids to send it.
        let modified = UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        let modified = (seconds > 0 && modified <= SystemTime::now()).then_some(modified);

        let mut validator_lines = Vec::with_capacity(128);
        if let Some(time) = modified {
            validator_lines.extend_from_slice(b"Last-Modified: ");
            date::write(&mut validator_lines, time);
            validator_lines.extend_from_slice(b"\r\n");
        }
        validator_lines.extend_from_slice(b"ETag: ");
        validator_lines.extend_from_slice(&etag);
        validator_lines.extend_from_slice(b"\r\nAccept-Ranges: bytes\r\n");
        let content_lines =
            format!("Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n", media::content_type(name));
        Entry {
            stamp,
            length,
            body,
            validator_lines: validator_lines.into_boxed_slice(),
            content_lines: content_lines.into_bytes().into_boxed_slice(),
            etag: etag.into_boxed_slice(),
            modified: modified.map(|_| seconds.unsigned_abs()),
        }
    }

    /// What preconditions are compared with.
    pub(crate) fn validators(&self) -> Validators<'_> {
        Validators { etag: &self.etag, modified: self.modified }
    }

    /// Fills `buffer` from `offset` on, waiting for the disk if need be. That the file has become shorter than it was is an
    /// error: its length has been promised to the client.
    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.body {
            Body::Memory(content) => {
                let part =
                    usize::try_from(offset).ok().and_then(|from| content.get(from..)?.get(..buffer.len()));
                buffer.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Body::Disk(file) => file.read_exact_at(buffer, offset),
        }
    }

    /// As [`read`](Self::read), but only if the kernel has all of it in memory. False has done nothing but use the buffer.
    pub(crate) fn read_now(&self, buffer: &mut [u8], offset: u64) -> bool {
        let Body::Disk(file) = &self.body else { return self.read(buffer, offset).is_ok() };
        let wanted = buffer.len();
        let mut buffers = [io::IoSliceMut::new(buffer)];
        let read = rustix::io::preadv2(file, &mut buffers, offset, rustix::io::ReadWriteFlags::NOWAIT);
        read == Ok(wanted)
    }

    /// What the entry takes in memory, roughly.
    pub(crate) fn cost(&self) -> u64 {
        let content = match &self.body {
            Body::Memory(content) => content.len(),
            Body::Disk(_) => 0,
        };
        (content
            + self.validator_lines.len()
            + self.content_lines.len()
            + self.etag.len()
            + size_of::<Entry>()) as u64
    }
}

/// At most `length` bytes from the start; what has been appended since the length was taken is left alone.
fn read(file: &mut File, length: u64) -> io::Result<Box<[u8]>> {
    file.rewind()?;
    let mut content = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut content)?;
    Ok(content.into_boxed_slice())
}

fn failure(error: io::Error) -> Failure {
    rustix::io::Errno::from_io_error(&error).map_or(Failure::Broken, Failure::from)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An entry of `length` bytes that was never on any disk.
    pub(crate) fn entry_of(length: usize) -> Entry {
        let stamp = Stamp {
            device: 1,
            inode: 2,
            length: length as u64,
            modified: (784_111_777, 5),
            changed: (784_111_777, 5),
        };
        Entry::new(stamp, Body::Memory(vec![b'x'; length].into_boxed_slice()), Path::new("a.txt"))
    }

    fn load(content: &[u8], in_memory: u64) -> Entry {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.html");
        std::fs::write(&path, content).unwrap();
        let file = File::open(&path).unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        Entry::load(file, &stat, &path, in_memory).unwrap()
    }

    #[test]
    fn small_files_are_read_and_large_ones_kept_open() {
        let small = load(b"12345", 5);
        assert!(matches!(&small.body, Body::Memory(content) if &**content == b"12345"));
        let large = load(b"123456", 5);
        assert_eq!(large.length, 6);
        assert!(matches!(large.body, Body::Disk(_)));
        for entry in [&load(b"123456", 6), &large] {
            let mut buffer = [0; 3];
            entry.read(&mut buffer, 2).unwrap();
            assert_eq!(&buffer, b"345");
            assert_eq!(entry.read(&mut buffer, 4).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
            assert!(!entry.read_now(&mut buffer, 4));
            if entry.read_now(&mut buffer, 1) {
                assert_eq!(&buffer, b"234");
            }
        }
        assert!(small.cost() >= 5 && large.cost() > 0);
    }

    #[test]
    fn prepared_lines() {
        let entry = entry_of(16);
        let lines = std::str::from_utf8(&entry.validator_lines).unwrap();
        assert_eq!(
            lines,
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"2ebc98a1.5-10-2\"\r\nAccept-Ranges: bytes\r\n"
        );
        assert_eq!(entry.validators().etag, b"\"2ebc98a1.5-10-2\"");
        assert_eq!(entry.validators().modified, Some(784_111_777));
        assert!(entry.content_lines.starts_with(b"Content-Type: text/plain; charset=utf-8\r\n"));
    }

    #[test]
    fn a_time_that_cannot_be_is_not_told() {
        for seconds in [-5, i64::MAX / 2, 1 << 40] {
            let stamp =
                Stamp { device: 1, inode: 2, length: 0, modified: (seconds, 0), changed: (seconds, 0) };
            let entry = Entry::new(stamp, Body::Memory(Box::default()), Path::new("a"));
            assert_eq!(entry.validators().modified, None, "{seconds}");
            assert!(!entry.validator_lines.starts_with(b"Last-Modified"), "{seconds}");
        }
    }

    #[test]
    fn every_change_shows() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        let stamp = || Stamp::of(&rustix::fs::stat(&path).unwrap());
        std::fs::write(&path, "one").unwrap();
        let first = stamp();
        assert_eq!(first, stamp());
        std::fs::write(&path, "four").unwrap();
        assert_ne!(first, stamp(), "another length");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(place.path().join("taken"), "").unwrap();
        std::fs::write(&path, "one").unwrap();
        assert_ne!(first, stamp(), "another file of the same name and length");
    }
}
