//! Faces that are read and written.

/// Reading bytes.
macro_rules! reading {
    ($face:ident) => {
        impl $face {
            /// Reads what is there, without waiting.
            ///
            /// # Errors
            ///
            /// `WouldBlock`: nothing is there now. Else the system's.
            pub fn try_read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.pollable.try_read(buffer)
            }

            /// As [`try_read`](Self::try_read), into several buffers in turn.
            ///
            /// # Errors
            ///
            /// As [`try_read`](Self::try_read).
            pub fn try_read_vectored(
                &self,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                self.pollable.try_read_vectored(buffers)
            }

            /// Reads as [`Read::read`](std::io::Read::read) does, waiting for at most `timeout`.
            ///
            /// # Errors
            ///
            /// `TimedOut`: nothing came in time, and nothing was taken. Else the system's.
            pub fn read_timeout(
                &self,
                buffer: &mut [u8],
                timeout: std::time::Duration,
            ) -> std::io::Result<usize> {
                self.pollable.read_until(buffer, Some($crate::shim::clock::instant_after(timeout)))
            }
        }

        /// Reading waits as [`Event::sync`](crate::Event::sync) does. What is read after a wait is read when
        /// the wait is over, so whoever is cancelled while waiting has taken nothing.
        impl std::io::Read for &$face {
            #[inline]
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.pollable.read_until(buffer, None)
            }
            fn read_vectored(&mut self, buffers: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                self.pollable.read_slices(buffers)
            }
        }

        impl std::io::Read for $face {
            #[inline]
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                (&*self).read(buffer)
            }
            fn read_vectored(&mut self, buffers: &mut [std::io::IoSliceMut<'_>]) -> std::io::Result<usize> {
                (&*self).read_vectored(buffers)
            }
        }
    };
}
pub(in crate::net) use reading;

/// Writing bytes.
macro_rules! writing {
    ($face:ident) => {
        impl $face {
            /// Writes as much as there is room for, without waiting.
            ///
            /// # Errors
            ///
            /// `WouldBlock`: there is no room now. Else the system's.
            pub fn try_write(&self, bytes: &[u8]) -> std::io::Result<usize> {
                self.pollable.try_write(bytes)
            }

            /// As [`try_write`](Self::try_write), from several buffers in turn.
            ///
            /// # Errors
            ///
            /// As [`try_write`](Self::try_write).
            pub fn try_write_vectored(&self, buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.pollable.try_write_vectored(buffers)
            }

            /// Writes as [`Write::write`](std::io::Write::write) does, waiting for at most `timeout`.
            ///
            /// # Errors
            ///
            /// `TimedOut`: no room came in time, and nothing was written. Else the system's.
            pub fn write_timeout(
                &self,
                bytes: &[u8],
                timeout: std::time::Duration,
            ) -> std::io::Result<usize> {
                self.pollable.write_until(bytes, Some($crate::shim::clock::instant_after(timeout)))
            }

            /// Sends up to `count` bytes of `file`, from `offset` on, and returns how many it was: as many as there
            /// was room for, and 0 at the end of the file (or if `count` is 0).
            ///
            /// The bytes need not pass through the program: on Linux the kernel takes them from where it keeps the
            /// file (sendfile(2)). Elsewhere, and with a file that it cannot do this with, they are copied in pieces of
            /// 16 KiB. The position of `file` plays no part and is left alone, so several may send the same file.
            ///
            /// There is no event of having sent, as there is none of having written. To wait for this and for other
            /// things at once, choose with [`writable_evt`](Self::writable_evt), and go on with
            /// [`try_send_file`](Self::try_send_file).
            ///
            /// ```
            /// use lisle::net::{TcpListener, TcpStream};
            /// use std::fs::File;
            /// use std::io::Read;
            ///
            /// # fn main() -> std::io::Result<()> {
            /// let listener = TcpListener::bind("127.0.0.1:0")?;
            /// let mut client = TcpStream::connect(listener.local_addr()?)?;
            /// let (server, _) = listener.accept()?;
            ///
            /// let file = File::open("Cargo.toml")?;
            /// let length = file.metadata()?.len();
            /// let mut at = 0;
            /// while at < length {
            ///     match server.send_file(&file, at, (length - at) as usize)? {
            ///         0 => break, // It has become shorter meanwhile.
            ///         sent => at += sent as u64,
            ///     }
            /// }
            /// drop(server);
            /// let mut text = String::new();
            /// client.read_to_string(&mut text)?;
            /// assert_eq!(text, std::fs::read_to_string("Cargo.toml")?);
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The system's, of the reading or of the writing. `InvalidInput`: no file has such an offset.
            ///
            /// # Cancel safety
            ///
            /// Whoever is cancelled while waiting, or by a shutdown, has sent nothing in this call.
            ///
            /// # Blocking
            ///
            /// Waits for room as [`Event::sync`](crate::Event::sync) does. What of the file is not in memory is read
            /// from its disk, and that keeps the thread, with all fibers of its domain: read it in
            /// [`blocking`](crate::blocking) first, if it may not be there.
            pub fn send_file(
                &self,
                file: &std::fs::File,
                offset: u64,
                count: usize,
            ) -> std::io::Result<usize> {
                self.pollable.send_file(file, offset, count)
            }

            /// As [`send_file`](Self::send_file), without waiting for room.
            ///
            /// # Errors
            ///
            /// `WouldBlock`: there is no room now. Else as [`send_file`](Self::send_file).
            pub fn try_send_file(
                &self,
                file: &std::fs::File,
                offset: u64,
                count: usize,
            ) -> std::io::Result<usize> {
                self.pollable.try_send_file(file, offset, count)
            }
        }

        /// Writing waits as [`Event::sync`](crate::Event::sync) does. Whoever is cancelled while waiting has
        /// written nothing.
        impl std::io::Write for &$face {
            #[inline]
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.pollable.write_until(bytes, None)
            }
            fn write_vectored(&mut self, buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.pollable.write_slices(buffers)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        impl std::io::Write for $face {
            #[inline]
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                (&*self).write(bytes)
            }
            fn write_vectored(&mut self, buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                (&*self).write_vectored(buffers)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
    };
}
pub(in crate::net) use writing;
