//! Reading and writing bytes, for descriptors that do so through a shared reference.

use super::Pollable;
use crate::reactor::Direction;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsFd;
use std::time::Instant;

impl<T: AsFd> Pollable<T>
where
    for<'a> &'a T: Read,
{
    pub(in crate::net) fn read_until(
        &self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<usize> {
        let room = buffer.len();
        let read = |mut io: &T| io.read(buffer);
        self.perform_and_judge(Direction::Read, deadline, read, |&n| self.is_drained(n, room))
    }

    pub(in crate::net) fn read_slices(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.perform(Direction::Read, None, |mut io| io.read_vectored(buffers))
    }

    pub(in crate::net) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = buffer.len();
        let read = |mut io: &T| io.read(buffer);
        self.try_once(Direction::Read, read, |&n| self.is_drained(n, room))
    }

    pub(in crate::net) fn try_read_vectored(&self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.try_once(Direction::Read, |mut io| io.read_vectored(buffers), |_| false)
    }

    /// Returns `true` if a read of `read` bytes has drained the stream. A read of more than the
    /// kernel moves in one call may be short for that reason, so it shows nothing.
    fn is_drained(&self, read: usize, room: usize) -> bool {
        const MOST: usize = 1 << 30;
        self.kind.short_read_drains && 0 < read && read < room && room <= MOST
    }
}

impl<T: AsFd> Pollable<T>
where
    for<'a> &'a T: Write,
{
    pub(in crate::net) fn write_until(&self, bytes: &[u8], deadline: Option<Instant>) -> io::Result<usize> {
        self.perform(Direction::Write, deadline, |mut io| io.write(bytes))
    }

    pub(in crate::net) fn write_slices(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.perform(Direction::Write, None, |mut io| io.write_vectored(buffers))
    }

    pub(in crate::net) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_once(Direction::Write, |mut io| io.write(bytes), |_| false)
    }

    pub(in crate::net) fn try_write_vectored(&self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.try_once(Direction::Write, |mut io| io.write_vectored(buffers), |_| false)
    }
}

impl<T: AsFd> Read for &Pollable<T>
where
    for<'a> &'a T: Read,
{
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_until(buffer, None)
    }
    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.read_slices(buffers)
    }
}

impl<T: AsFd> Write for &Pollable<T>
where
    for<'a> &'a T: Write,
{
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_until(bytes, None)
    }
    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_slices(buffers)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
