//! What the future of a stream is.

use std::future::{Pending, Ready};
use std::pin::Pin;

/// The future of a stream.
pub(crate) trait Body: Future<Output = ()> + 'static {
    /// Drops what the body has done so far, if it is run anew in each frame. The future begins with
    /// a new run of the body next.
    fn rest(self: Pin<&mut Self>) {}
}

impl Body for Pending<()> {}
impl Body for Ready<()> {}
