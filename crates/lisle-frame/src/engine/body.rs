//! The trait of the futures of streams.

use std::future::{Pending, Ready};
use std::pin::Pin;

/// The future of a stream.
pub(crate) trait Body: Future<Output = ()> + 'static {
    /// Drops the state of the body's last run, if the body is run anew in each frame. The future
    /// then begins with a new run of the body.
    fn rest(self: Pin<&mut Self>) {}
}

impl Body for Pending<()> {}
impl Body for Ready<()> {}
