//! The domains of a Lisle runtime as a pool.

use super::work::{Pool, Progress, Work};
use lisle_runtime::Handle;
use lisle_runtime::fiber::yield_now;
use std::fmt;

/// The domains of a Lisle runtime, as a pool for the worlds in it.
///
/// In each frame that sends calls, a fiber on each of the other domains looks for batches, and ends
/// with the frame. Between two batches it gives way to the other fibers of its domain, so that a server
/// goes on beside the frames. While the world waits, its own domain runs other fibers as well. A loop
/// of frames that never waits lets the other fibers of its domain pass every 10 to 20 ms, between two
/// frames. To let them pass before each frame, call `yield_now`.
///
/// ```
/// use lisle_frame::{Domains, Foreign, World};
///
/// lisle_runtime::run(|| {
///     let mut world = World::builder().pool(Domains::current()).build();
///     let work = Foreign::new("work", |n: u64| n + 1);
///     let stream = world.stream(async move || work.call(1).await);
///     world.frame();
///     assert_eq!(world.get(stream).unwrap(), 2);
/// });
/// ```
#[derive(Clone)]
pub struct Domains {
    runtime: Handle,
}

impl Domains {
    /// Returns the domains of the caller's runtime.
    ///
    /// # Panics
    ///
    /// Panics outside of a runtime.
    pub fn current() -> Domains {
        Domains { runtime: Handle::current() }
    }
}

impl Pool for Domains {
    fn workers(&self) -> usize {
        if self.runtime.has_ended() { 0 } else { self.runtime.domains() - 1 }
    }

    fn submit(&self, work: Work) {
        let run = move || {
            while work.run() != Progress::Over {
                yield_now();
            }
        };
        drop(self.runtime.spawn(run));
    }

    fn help(&self) {
        yield_now();
    }
}

impl fmt::Debug for Domains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domains").field("workers", &self.workers()).finish()
    }
}
