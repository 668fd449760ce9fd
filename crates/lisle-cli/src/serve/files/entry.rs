//! A file as it is served: its content or a descriptor to read it from, and every header line that
//! does not depend on the request. These lines are written once, when the file is loaded.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::root::Failure;
use crate::serve::http::condition::Validators;
use crate::serve::http::{date, media};

/// The number of attempts to read a file that changes while it is read.
const TRIES: usize = 3;

/// The age of the last change from which a file is *settled*: every later change gives it a
/// different time, since no file system in use has a coarser clock. Before that, two states of the
/// file may have the same stamp.
const SETTLED: Duration = Duration::from_secs(2);

/// By default the kernel reads ahead at least this much. Where one byte of a file is in memory, at
/// least this many bytes around it are, too.
const STRIDE: usize = 64 * 1024;

/// Distinguishes the states of a file. It contains the time of the inode's last change, because the
/// time of the content's last change can be set to any value.
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

    /// Returns `true` if the last change was before `time`. Returns `false` for a change in the
    /// future.
    fn changed_by(&self, time: SystemTime) -> bool {
        let (seconds, nanos) = self.changed;
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        (seconds, nanos) < (since.as_secs() as i64, u64::from(since.subsec_nanos()))
    }
}

/// The place of the bytes.
#[derive(Debug)]
pub(crate) enum Body {
    /// In memory.
    Memory(Box<[u8]>),
    /// On disk, read piece by piece.
    Disk(File),
}

/// One state of one file.
#[derive(Debug)]
pub(crate) struct Entry {
    stamp: Stamp,
    /// `true` if the stamp identifies this content and no other, see [`SETTLED`].
    settled: bool,
    /// The number of bytes of the body.
    pub(crate) length: u64,
    pub(crate) body: Body,
    /// `ETag`, `Last-Modified` and `Accept-Ranges`: the lines that a 304 also contains.
    pub(crate) validator_lines: Box<[u8]>,
    /// `Content-Type` and the lines that belong to it.
    pub(crate) content_lines: Box<[u8]>,
    etag: Box<[u8]>,
    modified: Option<u64>,
}

impl Entry {
    /// Reads `file` if it has at most `in_memory` bytes, or else keeps it open. `name` determines
    /// the content type.
    pub(crate) fn load(mut file: File, stat: &Stat, name: &Path, in_memory: u64) -> Result<Entry, Failure> {
        let began = SystemTime::now();
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
        Ok(Entry::new(stamp, body, name, began))
    }

    /// Creates an entry. `began` is a time before the content was read.
    fn new(stamp: Stamp, body: Body, name: &Path, began: SystemTime) -> Entry {
        let settled = stamp.changed_by(began - SETTLED);
        let (seconds, _) = stamp.modified;
        let length = match &body {
            Body::Memory(content) => content.len() as u64,
            Body::Disk(_) => stamp.length,
        };
        let etag = entity_tag(&stamp, length, settled, &body);
        // A time in the future is wrong, and section 8.8.2.1 of RFC 9110 forbids sending it.
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
            settled,
            length,
            body,
            validator_lines: validator_lines.into_boxed_slice(),
            content_lines: content_lines.into_bytes().into_boxed_slice(),
            etag: etag.into_boxed_slice(),
            modified: modified.map(|_| seconds.unsigned_abs()),
        }
    }

    /// Returns `true` if the entry holds a descriptor.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.body, Body::Disk(_))
    }

    /// Returns `true` if the bytes still belong to this state, as far as the stamp shows. Content
    /// in memory does not change. The content of an open file changes when it is written to, even
    /// if its name now refers to another file.
    pub(crate) fn holds(&self) -> bool {
        match &self.body {
            Body::Memory(_) => true,
            Body::Disk(file) => rustix::fs::fstat(file).is_ok_and(|stat| Stamp::of(&stat) == self.stamp),
        }
    }

    /// Returns `true` if the bytes certainly still belong to this state.
    pub(crate) fn is_current(&self) -> bool {
        !self.is_open() || (self.settled && self.holds())
    }

    /// Returns the stamp if it identifies this content.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.settled.then_some(self.stamp)
    }

    /// Returns the values with which preconditions are compared.
    pub(crate) fn validators(&self) -> Validators<'_> {
        Validators { etag: &self.etag, modified: self.modified }
    }

    /// Returns `true` if the kernel has this part of the file in memory, so sending it does not
    /// wait for a disk. It checks one byte in each [`STRIDE`], since the kernel reads ahead at
    /// least that much. In doubt returns `false`.
    pub(crate) fn is_at_hand(&self, start: u64, length: usize) -> bool {
        let Body::Disk(file) = &self.body else { return true };
        let there = |at: u64| {
            let mut buffer = [0];
            let mut buffers = [io::IoSliceMut::new(&mut buffer)];
            rustix::io::preadv2(file, &mut buffers, at, rustix::io::ReadWriteFlags::NOWAIT) == Ok(1)
        };
        length == 0
            || ((0..length).step_by(STRIDE).all(|at| there(start + at as u64))
                && there(start + (length - 1) as u64))
    }

    /// Makes the kernel read this part of the file into its memory, and waits for that. Errors are
    /// ignored: they will occur again when the part is sent.
    pub(crate) fn fetch(&self, start: u64, length: usize) {
        let Body::Disk(file) = &self.body else { return };
        let mut buffer = vec![0; length.min(STRIDE)];
        let mut at = 0;
        while at < length {
            let wanted = (length - at).min(buffer.len());
            match file.read_at(&mut buffer[..wanted], start + at as u64) {
                Ok(count) if count > 0 => at += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Returns the approximate memory of the entry.
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

/// Returns a tag that no other content of the file has had or will have. It contains the time of
/// the inode's last change, since size and time of the content can be the same for another content.
/// It does not contain the inode's number, so a restored copy with the same times has the same tag.
///
/// For a file that is not settled, the stamp is not enough. The tag then contains a hash of the
/// content. If the content is not in memory, the tag is a weak one, which promises less (RFC 9110,
/// section 8.8.1).
fn entity_tag(stamp: &Stamp, length: u64, settled: bool, body: &Body) -> Vec<u8> {
    let ((seconds, nanos), (changed, changed_nanos)) = (stamp.modified, stamp.changed);
    let state = format!("{seconds:x}.{nanos:x}-{length:x}-{changed:x}.{changed_nanos:x}");
    match body {
        _ if settled => format!("\"{state}\""),
        Body::Memory(content) => {
            let mut hasher = DefaultHasher::new();
            hasher.write(content);
            format!("\"{state}-{:x}\"", hasher.finish())
        }
        Body::Disk(_) => format!("W/\"{state}-new\""),
    }
    .into_bytes()
}

/// Reads at most `length` bytes from the start. Bytes that were appended after the length was
/// determined are not read.
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

    /// Creates an entry of `length` bytes that was never on a disk.
    pub(crate) fn entry_of(length: usize) -> Entry {
        let stamp = Stamp {
            device: 1,
            inode: 2,
            length: length as u64,
            modified: (784_111_777, 5),
            changed: (784_111_777, 7),
        };
        let body = Body::Memory(vec![b'x'; length].into_boxed_slice());
        Entry::new(stamp, body, Path::new("a.txt"), SystemTime::now())
    }

    /// Returns a time at which a file that was just written has been settled for long.
    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(3600)
    }

    /// Creates an entry whose file is open.
    pub(crate) fn open_entry() -> Entry {
        entry_on_disk(b"")
    }

    /// Creates an entry whose file is open and has this content.
    pub(crate) fn entry_on_disk(content: &[u8]) -> Entry {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, content).unwrap();
        let stat = rustix::fs::fstat(&file).unwrap();
        Entry::new(Stamp::of(&stat), Body::Disk(file), Path::new("a.bin"), later())
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
        assert!(small.is_at_hand(0, 5), "in memory means at hand");
        large.fetch(1, 4);
        large.fetch(0, 1000);
        assert!(large.is_at_hand(6, 0), "nothing is always at hand");
        assert!(!large.is_at_hand(4, 3), "a chunk beyond the end is never at hand");
        assert!(small.cost() >= 5 && large.cost() > 0);
    }

    #[test]
    fn an_open_file_that_is_written_to_is_not_current() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        let load = |in_memory| {
            let file = File::open(&path).unwrap();
            let stat = rustix::fs::fstat(&file).unwrap();
            Entry::load(file, &stat, &path, in_memory).unwrap()
        };
        let stamp = load(0).stamp;
        let open = Entry::new(stamp, Body::Disk(File::open(&path).unwrap()), &path, later());
        let kept = load(100);
        assert!(open.is_open() && !kept.is_open());
        assert!(open.is_current() && kept.is_current());
        std::fs::write(&path, "123456").unwrap();
        assert!(!open.is_current());
        assert!(kept.is_current(), "content in memory does not change");
    }

    #[test]
    fn prepared_lines() {
        let entry = entry_of(16);
        let lines = std::str::from_utf8(&entry.validator_lines).unwrap();
        assert_eq!(
            lines,
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"2ebc98a1.5-10-2ebc98a1.7\"\r\nAccept-Ranges: bytes\r\n"
        );
        assert_eq!(entry.validators().etag, b"\"2ebc98a1.5-10-2ebc98a1.7\"");
        assert_eq!(entry.validators().modified, Some(784_111_777));
        assert!(entry.content_lines.starts_with(b"Content-Type: text/plain; charset=utf-8\r\n"));
    }

    #[test]
    fn what_a_tag_depends_on() {
        let stamp = entry_of(3).stamp;
        let tag = |stamp: Stamp, began, content: &[u8]| {
            let entry = Entry::new(stamp, Body::Memory(content.into()), Path::new("a"), began);
            String::from_utf8(entry.etag.into_vec()).unwrap()
        };
        let changed = UNIX_EPOCH + Duration::new(784_111_777, 7);
        let (fresh, settled) = (changed + SETTLED, changed + SETTLED + Duration::from_nanos(1));
        let first = tag(stamp, settled, b"abc");
        assert_eq!(first, tag(Stamp { device: 7, inode: 8, ..stamp }, settled, b"abc"), "a copy");
        assert_ne!(first, tag(Stamp { changed: (784_111_777, 8), ..stamp }, settled, b"abc"));
        assert_ne!(first, tag(Stamp { modified: (784_111_777, 8), ..stamp }, settled, b"abc"));
        assert_ne!(first, tag(stamp, settled, b"abcd"));

        assert_eq!(tag(stamp, fresh, b"abc"), tag(stamp, fresh, b"abc"));
        assert_ne!(tag(stamp, fresh, b"abc"), tag(stamp, fresh, b"abd"));
        assert_ne!(tag(stamp, fresh, b"abc"), first, "there may have been another content before");
        for began in [fresh, changed, changed - Duration::from_secs(3600)] {
            let open = Entry::new(stamp, Body::Disk(tempfile::tempfile().unwrap()), Path::new("a"), began);
            assert!(open.etag.starts_with(b"W/\"") && open.etag.ends_with(b"\""));
            assert_eq!(open.stamp(), None);
        }
        assert_eq!(entry_of(3).stamp(), Some(stamp));
    }

    #[test]
    fn a_time_that_cannot_be_is_not_told() {
        for seconds in [-5, i64::MAX / 2, 1 << 40] {
            let stamp =
                Stamp { device: 1, inode: 2, length: 0, modified: (seconds, 0), changed: (seconds, 0) };
            let entry = Entry::new(stamp, Body::Memory(Box::default()), Path::new("a"), SystemTime::now());
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
