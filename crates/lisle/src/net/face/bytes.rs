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
                self.pollable.read_until(buffer, $crate::net::pollable::deadline(timeout))
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
                self.pollable.write_until(bytes, $crate::net::pollable::deadline(timeout))
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
