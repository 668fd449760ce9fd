//! Sending a part of a file without copying it into the program.
//!
//! On Linux the kernel hands the pages of the file to the socket (sendfile(2)). On other systems,
//! and for the few files that sendfile(2) does not support, the part is read into a buffer and
//! written from there. The caller sees no difference: a count is returned, and the position in the
//! file is the caller's own.

use super::Pollable;
use crate::reactor::Direction;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The largest number of bytes copied at once where the kernel does not send the file. The buffer
/// lies on the stack, which may be a fiber's.
const COPIED: usize = 16 * 1024;

impl<T: AsFd> Pollable<T>
where
    for<'a> &'a T: Write,
{
    pub(in crate::net) fn send_file(&self, file: &File, offset: u64, count: usize) -> io::Result<usize> {
        self.perform(Direction::Write, None, |io: &T| send::<T>(io, file, offset, count))
    }

    pub(in crate::net) fn try_send_file(&self, file: &File, offset: u64, count: usize) -> io::Result<usize> {
        self.try_once(Direction::Write, |io: &T| send::<T>(io, file, offset, count), |_| false)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn send<T: AsFd>(to: &T, file: &File, offset: u64, count: usize) -> io::Result<usize>
where
    for<'a> &'a T: Write,
{
    match crate::net::system::send_file(to.as_fd(), file.as_fd(), offset, count) {
        // sendfile(2) fails with these errors for a file or a receiver that it does not support.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
            copy::<T>(to, file, offset, count)
        }
        outcome => outcome,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn send<T: AsFd>(to: &T, file: &File, offset: u64, count: usize) -> io::Result<usize>
where
    for<'a> &'a T: Write,
{
    copy::<T>(to, file, offset, count)
}

/// Reads a piece and writes it. Bytes that the receiver does not take are read again the next time,
/// since only the written bytes count.
fn copy<T>(mut to: &T, file: &File, offset: u64, count: usize) -> io::Result<usize>
where
    for<'a> &'a T: Write,
{
    let mut buffer = [0; COPIED];
    let read = file.read_at(&mut buffer[..count.min(COPIED)], offset)?;
    if read == 0 { Ok(0) } else { to.write(&buffer[..read]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    /// Creates a file without a name. Its bytes depend on their position.
    fn file(length: usize) -> (File, Vec<u8>) {
        let content: Vec<u8> = (0..length).map(|at| (at * 7 + at / 251) as u8).collect();
        let path = std::env::temp_dir().join(format!("lisle-copy-{}-{length}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(&content).unwrap();
        file.rewind().unwrap();
        (file, content)
    }

    #[test]
    fn copying_gives_what_the_kernel_would() {
        let (file, content) = file(3 * COPIED + 5);
        let (mut reader, writer) = io::pipe().unwrap();
        let mut at = 1;
        let mut found = Vec::new();
        while at < content.len() {
            let sent = copy::<io::PipeWriter>(&writer, &file, at as u64, content.len()).unwrap();
            assert!((1..=COPIED).contains(&sent));
            let mut part = vec![0; sent];
            reader.read_exact(&mut part).unwrap();
            found.extend(part);
            at += sent;
        }
        assert!(found == content[1..]);
        assert_eq!(copy::<io::PipeWriter>(&writer, &file, 0, 3).unwrap(), 3, "no more than was asked for");
        assert_eq!(copy::<io::PipeWriter>(&writer, &file, content.len() as u64, 10).unwrap(), 0, "the end");
        assert_eq!(copy::<io::PipeWriter>(&writer, &file, 0, 0).unwrap(), 0);
    }
}
