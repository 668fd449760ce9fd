//! Faces that are read and written.

/// Reading bytes.
macro_rules! reading {
    ($face:ident) => {
        impl $face {
            /// Reads the bytes that are available, without waiting.
            ///
            /// # Errors
            ///
            /// Fails with `WouldBlock` if nothing is available now, or with an error of the system.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{ErrorKind, Write};
            ///
            /// let (reader, mut writer) = lisle::net::pipe()?; // for instance
            /// let nothing = reader.try_read(&mut [0; 8]).unwrap_err();
            /// assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
            /// writer.write_all(b"abc")?;
            /// assert_eq!(reader.try_read(&mut [0; 8])?, 3);
            /// drop(writer);
            /// assert_eq!(reader.try_read(&mut [0; 8])?, 0); // the end
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_read(&self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.pollable.try_read(buffer)
            }

            /// Reads as [`try_read`](Self::try_read) does, into several buffers in turn.
            ///
            /// # Errors
            ///
            /// Returns the errors of [`try_read`](Self::try_read).
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{IoSliceMut, Write};
            ///
            /// let (reader, mut writer) = lisle::net::pipe()?; // for instance
            /// writer.write_all(b"headbody")?;
            /// let (mut head, mut body) = ([0; 4], [0; 8]);
            /// let mut both = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut body)];
            /// assert_eq!(reader.try_read_vectored(&mut both)?, 8);
            /// assert_eq!((&head, &body[..4]), (b"head", &b"body"[..]));
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_read_vectored(
                &self,
                buffers: &mut [std::io::IoSliceMut<'_>],
            ) -> std::io::Result<usize> {
                self.pollable.try_read_vectored(buffers)
            }

            /// Reads as [`Read::read`](std::io::Read::read) does, and waits for at most `timeout`.
            ///
            /// # Errors
            ///
            /// Fails with `TimedOut` if nothing came in time, and then has taken nothing. Otherwise
            /// returns the system's errors.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{ErrorKind, Write};
            /// use std::time::Duration;
            ///
            /// let (reader, mut writer) = lisle::net::pipe()?; // for instance
            /// let mut buffer = [0; 8];
            /// let late = reader.read_within(&mut buffer, Duration::from_millis(1)).unwrap_err();
            /// assert_eq!(late.kind(), ErrorKind::TimedOut);
            /// writer.write_all(b"abc")?;
            /// assert_eq!(reader.read_within(&mut buffer, Duration::from_secs(60))?, 3);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn read_within(
                &self,
                buffer: &mut [u8],
                timeout: std::time::Duration,
            ) -> std::io::Result<usize> {
                self.pollable.read_until(buffer, Some($crate::shim::clock::instant_after(timeout)))
            }

            /// Fills `buffer` as [`Read::read_exact`](std::io::Read::read_exact) does, within `timeout`
            /// in all.
            ///
            /// # Errors
            ///
            /// Fails with `TimedOut` if the bytes did not come in time; [`PartlyDone`](crate::net::PartlyDone)
            /// says how many have been read. Fails with `UnexpectedEof` if the stream ended before.
            /// Otherwise returns the system's errors.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::{ErrorKind, Write};
            /// use std::time::Duration;
            ///
            /// let (reader, mut writer) = lisle::net::pipe()?; // for instance
            /// writer.write_all(b"abc")?;
            /// let mut buffer = [0; 3];
            /// reader.read_exact_within(&mut buffer, Duration::from_secs(60))?;
            /// assert_eq!(&buffer, b"abc");
            /// writer.write_all(b"de")?; // one byte is missing
            /// let late = reader.read_exact_within(&mut buffer, Duration::from_millis(1)).unwrap_err();
            /// assert_eq!(late.kind(), ErrorKind::TimedOut);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn read_exact_within(
                &self,
                buffer: &mut [u8],
                timeout: std::time::Duration,
            ) -> std::io::Result<()> {
                let deadline = $crate::shim::clock::instant_after(timeout);
                let ended = std::io::ErrorKind::UnexpectedEof;
                $crate::net::partly::in_pieces(buffer.len(), deadline, ended, |done, deadline| {
                    self.pollable.read_until(&mut buffer[done..], Some(deadline))
                })
            }
        }

        /// Reading waits as [`Event::sync`](crate::Event::sync) does. The bytes are read after the
        /// wait, so a caller that is cancelled while it waits has taken nothing.
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
            /// Writes as many bytes as there is room for, without waiting.
            ///
            /// # Errors
            ///
            /// Fails with `WouldBlock` if there is no room now, or with an error of the system.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::ErrorKind;
            ///
            /// let (_reader, writer) = lisle::net::pipe()?; // for instance
            /// assert_eq!(writer.try_write(b"abc")?, 3);
            /// let full = loop {
            ///     if let Err(error) = writer.try_write(&[0; 4_096]) {
            ///         break error;
            ///     }
            /// };
            /// assert_eq!(full.kind(), ErrorKind::WouldBlock); // nobody reads
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_write(&self, bytes: &[u8]) -> std::io::Result<usize> {
                self.pollable.try_write(bytes)
            }

            /// Writes as [`try_write`](Self::try_write) does, from several buffers in turn.
            ///
            /// # Errors
            ///
            /// Returns the errors of [`try_write`](Self::try_write).
            ///
            /// # Examples
            ///
            /// ```
            /// use std::io::IoSlice;
            ///
            /// let (reader, writer) = lisle::net::pipe()?; // for instance
            /// let both = [IoSlice::new(b"head"), IoSlice::new(b"body")];
            /// assert_eq!(writer.try_write_vectored(&both)?, 8);
            /// let mut buffer = [0; 16];
            /// let length = reader.try_read(&mut buffer)?;
            /// assert_eq!(&buffer[..length], b"headbody");
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_write_vectored(&self, buffers: &[std::io::IoSlice<'_>]) -> std::io::Result<usize> {
                self.pollable.try_write_vectored(buffers)
            }

            /// Writes as [`Write::write`](std::io::Write::write) does, and waits for at most
            /// `timeout`.
            ///
            /// # Errors
            ///
            /// Fails with `TimedOut` if there was no room in time, and then has written nothing.
            /// Otherwise returns the system's errors.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::{io::ErrorKind, time::Duration};
            ///
            /// let (_reader, writer) = lisle::net::pipe()?; // for instance
            /// assert_eq!(writer.write_within(b"abc", Duration::from_secs(60))?, 3);
            /// while writer.try_write(&[0; 4_096]).is_ok() {} // until there is no room
            /// let late = writer.write_within(&[0; 4_096], Duration::from_millis(1)).unwrap_err();
            /// assert_eq!(late.kind(), ErrorKind::TimedOut);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn write_within(&self, bytes: &[u8], timeout: std::time::Duration) -> std::io::Result<usize> {
                self.pollable.write_until(bytes, Some($crate::shim::clock::instant_after(timeout)))
            }

            /// Writes all of `bytes` as [`Write::write_all`](std::io::Write::write_all) does, within
            /// `timeout` in all.
            ///
            /// # Errors
            ///
            /// Fails with `TimedOut` if there was too little room in time;
            /// [`PartlyDone`](crate::net::PartlyDone) says how many bytes have been written. Otherwise
            /// returns the system's errors.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::PartlyDone;
            /// use std::time::Duration;
            ///
            /// let (_reader, writer) = lisle::net::pipe()?; // for instance
            /// writer.write_all_within(b"abc", Duration::from_secs(60))?;
            /// let late = writer.write_all_within(&[0; 4_000_000], Duration::from_millis(1)).unwrap_err();
            /// assert!(PartlyDone::of(&late).unwrap().bytes() > 0); // nobody reads
            /// # std::io::Result::Ok(())
            /// ```
            pub fn write_all_within(
                &self,
                bytes: &[u8],
                timeout: std::time::Duration,
            ) -> std::io::Result<()> {
                let deadline = $crate::shim::clock::instant_after(timeout);
                let ended = std::io::ErrorKind::WriteZero;
                $crate::net::partly::in_pieces(bytes.len(), deadline, ended, |done, deadline| {
                    self.pollable.write_until(&bytes[done..], Some(deadline))
                })
            }

            /// Sends up to `count` bytes of `file`, starting at `offset`. Returns the number of bytes that
            /// were sent: as many as there was room for, and 0 at the end of the file (or if `count` is
            /// 0).
            ///
            /// The bytes need not pass through the program. On Linux the kernel takes them from its
            /// cache of the file (sendfile(2)). On other systems, and for files that sendfile(2)
            /// does not support, they are copied in pieces of 16 KiB. The position of `file` is
            /// neither used nor changed, so several callers may send the same file.
            ///
            /// No event stands for having sent or having written. To send in a choice, choose with
            /// [`writable_evt`](Self::writable_evt), and then call
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
            ///         0 => break, // The file has become shorter in the meantime.
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
            /// Returns the system's errors of the reading or of the writing. Fails with
            /// `InvalidInput` if no file can have such an offset.
            ///
            /// # Cancel safety
            ///
            /// A caller that is cancelled while it waits, or unwound by a shutdown, has sent
            /// nothing in this call.
            ///
            /// # Blocking
            ///
            /// Waits for room as [`Event::sync`](crate::Event::sync) does. Parts of the file that
            /// are not in memory are read from its disk, which blocks the thread and all fibers of
            /// its domain. If the file may not be in memory, read it in
            /// [`blocking`](crate::blocking) first.
            pub fn send_file(
                &self,
                file: &std::fs::File,
                offset: u64,
                count: usize,
            ) -> std::io::Result<usize> {
                self.pollable.send_file(file, offset, count)
            }

            /// Sends as [`send_file`](Self::send_file) does, without waiting for room.
            ///
            /// # Errors
            ///
            /// Fails with `WouldBlock` if there is no room now, or else as
            /// [`send_file`](Self::send_file) does.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UnixStream;
            /// use std::fs::File;
            ///
            /// let (one, other) = UnixStream::pair()?; // for instance
            /// let file = File::open("LICENSE-MIT")?;
            /// assert_eq!(one.try_send_file(&file, 0, 11)?, 11);
            /// let mut start = [0; 16];
            /// assert_eq!(other.try_read(&mut start)?, 11);
            /// assert_eq!(&start[..11], b"MIT License");
            /// assert_eq!(one.try_send_file(&file, file.metadata()?.len(), 11)?, 0); // the end
            /// # std::io::Result::Ok(())
            /// ```
            pub fn try_send_file(
                &self,
                file: &std::fs::File,
                offset: u64,
                count: usize,
            ) -> std::io::Result<usize> {
                self.pollable.try_send_file(file, offset, count)
            }
        }

        /// Writing waits as [`Event::sync`](crate::Event::sync) does. A caller that is cancelled
        /// while it waits has written nothing.
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
