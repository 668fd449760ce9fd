//! Streams that can be read without waiting, and that have an event of their readiness.

use crate::net::{PipeReader, Pollable, ReadyEvt, TcpStream, UnixStream};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;

/// A stream of bytes that can be read without waiting, and that has an event for its readiness.
///
/// References and `Arc`s of such a stream implement this trait too, so the other half of a socket
/// stays available for writing.
pub trait TryRead {
    /// The underlying descriptor.
    type Io: AsFd;

    /// Reads the bytes that are available, without waiting. Returns 0 at the end of the stream.
    ///
    /// # Errors
    ///
    /// Fails with `WouldBlock` if nothing is available now, or with an error of the system.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::io::TryRead;
    /// use std::io::{self, Write};
    ///
    /// /// Reads up to 16 bytes, or nothing if there are none yet.
    /// fn some(reader: impl TryRead) -> io::Result<Option<usize>> {
    ///     match reader.try_read(&mut [0; 16]) {
    ///         Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
    ///         outcome => outcome.map(Some),
    ///     }
    /// }
    /// let (reader, mut writer) = lisle::net::pipe()?;
    /// assert_eq!(some(&reader)?, None);
    /// writer.write_all(b"abc")?;
    /// assert_eq!(some(&reader)?, Some(3));
    /// # io::Result::Ok(())
    /// ```
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns the event of the stream's readiness: [`try_read`](TryRead::try_read) then does not
    /// fail with `WouldBlock`.
    fn readable_evt(&self) -> ReadyEvt<'_, Self::Io>;
}

macro_rules! face {
    ($($face:ident over $io:ty;)*) => {
        $(
            impl TryRead for $face {
                type Io = $io;
                fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                    $face::try_read(self, buffer)
                }
                fn readable_evt(&self) -> ReadyEvt<'_, $io> {
                    $face::readable_evt(self)
                }
            }
        )*
    };
}

face! {
    TcpStream over std::net::TcpStream;
    UnixStream over std::os::unix::net::UnixStream;
    PipeReader over io::PipeReader;
}

impl<T: AsFd> TryRead for Pollable<T>
where
    for<'a> &'a T: Read,
{
    type Io = T;
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.get_ref().read(buffer)
    }
    fn readable_evt(&self) -> ReadyEvt<'_, T> {
        Pollable::readable_evt(self)
    }
}

macro_rules! pointer {
    ($($pointer:ty),*) => {
        $(
            impl<R: TryRead + ?Sized> TryRead for $pointer {
                type Io = R::Io;
                fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
                    (**self).try_read(buffer)
                }
                fn readable_evt(&self) -> ReadyEvt<'_, R::Io> {
                    (**self).readable_evt()
                }
            }
        )*
    };
}

pointer!(&R, Arc<R>, Box<R>);
