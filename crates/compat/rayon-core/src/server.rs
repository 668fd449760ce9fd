//! The fibers that run jobs.

use crate::queue::Woke;
use crate::registry::{Registry, Which};
use lisle_runtime::fiber;
use lisle_runtime::jobs::heartbeat;
use lisle_runtime::loops::owner;
use std::sync::Arc;

/// A fiber that is to run the jobs of a queue.
pub(crate) struct Server {
    registry: Arc<Registry>,
    which: Which,
    has_begun: bool,
}

impl Server {
    pub(crate) fn new(registry: Arc<Registry>, which: Which) -> Self {
        Server { registry, which, has_begun: false }
    }

    pub(crate) fn run(mut self) {
        self.has_begun = true;
        let registry = &self.registry;
        let (queue, end) = (registry.queue(self.which), registry.end(self.which));
        queue.server_begins();
        while let Some((entry, needs_server)) = queue.take(end) {
            if needs_server {
                registry.spawn_server(self.which);
            }
            match entry.run() {
                // It has waited for the job, and comes first.
                Woke::One => fiber::yield_now(),
                Woke::None => let_others_pass(),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.has_begun {
            // The runtime ends.
            self.registry.queue(self.which).give_up();
        }
    }
}

/// A fiber that is to run a job of a broadcast.
pub(crate) struct Broadcaster {
    registry: Arc<Registry>,
    index: usize,
    has_begun: bool,
}

impl Broadcaster {
    pub(crate) fn new(registry: Arc<Registry>, index: usize) -> Self {
        Broadcaster { registry, index, has_begun: false }
    }

    pub(crate) fn run(mut self) {
        self.has_begun = true;
        while let Some(entry) = self.registry.take_queued(self.index) {
            entry.run();
            let_others_pass();
        }
        // If there is none, code that yields has run it.
        if let Some(job) = self.registry.take_broadcast(self.index) {
            job();
        }
    }
}

impl Drop for Broadcaster {
    fn drop(&mut self) {
        if !self.has_begun {
            drop(self.registry.take_broadcast(self.index));
        }
    }
}

/// Lets other fibers of the domain have their turn, if it is time, as joins do.
#[inline]
pub(crate) fn let_others_pass() {
    let (word, pending) = (heartbeat::here(), owner::pending());
    if word.is_wanted() || (!word.is_quiet() && pending.count()) {
        owner::heartbeat(pending);
    }
}
