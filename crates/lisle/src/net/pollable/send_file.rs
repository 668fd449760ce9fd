//! Sending a part of a file without taking it into the program.
//!
//! On Linux the kernel hands the pages of the file over to the socket (sendfile(2)). Elsewhere, and for the few
//! files that the kernel cannot do this with, the part is read into a buffer and written from there. What the caller
//! sees is the same: a count, and a position of its own in the file.

use super::Pollable;
use crate::sched::reactor::Direction;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// So much is copied at once where the kernel does not do it by itself. It lies on the stack, which may be a fiber's.
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
        // What sendfile(2) says of a file, or a receiver, that it cannot do this with.
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

/// Reads some and writes it. What is not taken is read again next time, since only what was written counts.
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

    /// A file without a name, with bytes that tell where they stand.
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
