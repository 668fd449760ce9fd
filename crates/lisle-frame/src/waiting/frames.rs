//! Waiting for a later frame.

use crate::engine;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The future of [`next_frame`] and [`frames`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct NextFrame {
    /// The number of frames to wait. Once the wait has begun, the frame in which it ends, and a
    /// bit that says so.
    frames: u64,
}

const BEGUN: u64 = 1 << 63;

/// Waits for the next frame. The stream is done for this frame: it keeps its last value.
///
/// # Panics
///
/// The future panics if it is polled outside of a frame.
pub fn next_frame() -> NextFrame {
    frames(1)
}

/// Waits for `frames` frames. The stream keeps its value meanwhile. For 0 it does not wait.
///
/// # Panics
///
/// The future panics if it is polled outside of a frame.
pub fn frames(frames: u64) -> NextFrame {
    NextFrame { frames: frames & !BEGUN }
}

impl Future for NextFrame {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(core) = engine::current() else {
            panic!("`next_frame` is awaited outside of the body of a stream: no frame is under way")
        };
        let now = core.now();
        if self.frames & BEGUN == 0 {
            self.frames = (now + self.frames).min(BEGUN - 1) | BEGUN;
        }
        if now >= self.frames & !BEGUN {
            return Poll::Ready(());
        }
        core.keep_waker(cx.waker());
        Poll::Pending
    }
}
