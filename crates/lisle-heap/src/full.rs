//! The error of a heap without room.

use std::error::Error;
use std::fmt;

/// The error of an allocation that the heap has no room for, after it has collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// The size that was asked for, in bytes.
    pub asked: usize,
    /// The bytes of objects that were found alive, with those that they own elsewhere.
    pub live: usize,
    /// The limit of the heap, in bytes, or `None` if the system has no more memory.
    pub limit: Option<usize>,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, live, limit } = self;
        match limit {
            Some(limit) => write!(
                f,
                "the heap is full: {live} bytes are alive, {asked} were asked for, and its limit is {limit}, of which the nursery takes a part. \
                 Let go of objects, or raise `Builder::limit`"
            ),
            None => write!(
                f,
                "the system has no memory for {asked} bytes more; {live} bytes are alive. Let go of objects"
            ),
        }
    }
}

impl Error for Full {}

/// Returns the new object, or panics with the text of the error.
#[inline]
#[track_caller]
pub(crate) fn unless_full<T>(new: Result<T, Full>) -> T {
    match new {
        Ok(new) => new,
        Err(full) => panic!("{full}"),
    }
}
