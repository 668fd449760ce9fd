//! For how long the operations of a face wait.

/// Timeouts of reading and writing.
macro_rules! timeouts {
    ($face:ident) => {
        impl $face {
            /// Sets the timeout of operations that read. `None` means that they wait for as long as it
            /// takes. When the timeout is over, the operation fails with `WouldBlock`, as in the standard
            /// library on Unix, and has taken nothing.
            ///
            /// The timeout holds for this handle alone, and for handles that are cloned from it later. It
            /// does not hold for events, nor for operations with a timeout of their own.
            ///
            /// # Errors
            ///
            /// Fails with `InvalidInput` if the timeout is zero.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UdpSocket; // for instance
            /// use std::io::ErrorKind;
            /// use std::time::Duration;
            ///
            /// let socket = UdpSocket::bind("127.0.0.1:0")?;
            /// socket.set_read_timeout(Some(Duration::from_millis(1)))?;
            /// assert_eq!(socket.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
            /// assert!(socket.set_read_timeout(Some(Duration::ZERO)).is_err());
            /// # std::io::Result::Ok(())
            /// ```
            pub fn set_read_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                self.set_timeout($crate::reactor::Direction::Read, timeout)
            }

            /// Sets the timeout of operations that write, as
            /// [`set_read_timeout`](Self::set_read_timeout) does for operations that read.
            ///
            /// # Errors
            ///
            /// Fails with `InvalidInput` if the timeout is zero.
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UnixStream; // for instance
            /// use std::io::{ErrorKind, Write};
            /// use std::time::Duration;
            ///
            /// let (mut one, _other) = UnixStream::pair()?;
            /// one.set_write_timeout(Some(Duration::from_millis(1)))?;
            /// let full = one.write_all(&[0; 4_000_000]).unwrap_err(); // nobody reads
            /// assert_eq!(full.kind(), ErrorKind::WouldBlock);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn set_write_timeout(&self, timeout: Option<std::time::Duration>) -> std::io::Result<()> {
                self.set_timeout($crate::reactor::Direction::Write, timeout)
            }

            /// Returns the timeout that [`set_read_timeout`](Self::set_read_timeout) has set.
            ///
            /// # Errors
            ///
            /// Returns none. (The standard library's method asks the system.)
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::UdpSocket; // for instance
            /// use std::time::Duration;
            ///
            /// let socket = UdpSocket::bind("127.0.0.1:0")?;
            /// assert_eq!(socket.read_timeout()?, None);
            /// let second = Some(Duration::from_secs(1));
            /// socket.set_read_timeout(second)?;
            /// assert_eq!((socket.read_timeout()?, socket.write_timeout()?), (second, None));
            /// assert_eq!(socket.try_clone()?.read_timeout()?, second);
            /// assert_eq!(socket.into_std()?.read_timeout()?, second);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn read_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                Ok(self.pollable.patience().timeout($crate::reactor::Direction::Read))
            }

            /// Returns the timeout that [`set_write_timeout`](Self::set_write_timeout) has set.
            ///
            /// # Errors
            ///
            /// Returns none. (The standard library's method asks the system.)
            pub fn write_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                Ok(self.pollable.patience().timeout($crate::reactor::Direction::Write))
            }

            fn set_timeout(
                &self,
                direction: $crate::reactor::Direction,
                timeout: Option<std::time::Duration>,
            ) -> std::io::Result<()> {
                self.pollable.patience().set_timeout(direction, timeout)?;
                // For callers that convert the handle to the standard library's type.
                match direction {
                    $crate::reactor::Direction::Read => self.pollable.get_ref().set_read_timeout(timeout),
                    $crate::reactor::Direction::Write => self.pollable.get_ref().set_write_timeout(timeout),
                }
            }

            /// Takes over the timeouts of a socket that the standard library has made.
            fn with_its_timeouts(self) -> std::io::Result<Self> {
                use $crate::reactor::Direction::{Read, Write};
                let io = self.pollable.get_ref();
                self.pollable.patience().set_timeout(Read, io.read_timeout()?)?;
                self.pollable.patience().set_timeout(Write, io.write_timeout()?)?;
                Ok(self)
            }
        }
    };
}
pub(in crate::net) use timeouts;

/// Operations that do not wait at all.
macro_rules! nonblocking {
    ($face:ident) => {
        impl $face {
            /// Makes the operations of this handle fail with `WouldBlock` where they would have to wait,
            /// or has them wait again.
            ///
            /// The method is for code that was written for the standard library's types. Operations whose
            /// names begin with `try_` never wait, and events wait in any case. A socket of the standard
            /// library that was non-blocking becomes a handle that waits: most programs make a socket
            /// non-blocking for a library like this.
            ///
            /// Unlike the standard library's method, this one concerns this handle alone, and handles that
            /// are cloned from it later: the open file is non-blocking in any case.
            ///
            /// # Errors
            ///
            /// Returns none. (The standard library's method asks the system.)
            ///
            /// # Examples
            ///
            /// ```
            /// use lisle::net::TcpListener; // for instance; all sockets have this
            /// use std::io::ErrorKind;
            ///
            /// let listener = TcpListener::bind("127.0.0.1:0")?;
            /// listener.set_nonblocking(true)?;
            /// assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
            /// # std::io::Result::Ok(())
            /// ```
            pub fn set_nonblocking(&self, nonblocking: bool) -> std::io::Result<()> {
                self.pollable.patience().set_none(nonblocking);
                Ok(())
            }
        }
    };
}
pub(in crate::net) use nonblocking;
