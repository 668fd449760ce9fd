//! The fibers that run jobs.
//!
//! Jobs may wait, so fibers run them. A fiber that serves a queue is a *server*. For each job that waits, there
//! is a server of its queue that has not begun: the code that puts a job into a queue without one spawns it, and
//! so does a server that takes a job and leaves others behind. So a server that waits within a job does not keep
//! the other jobs waiting, and as long as no job waits, one server runs all of them.

mod flag;

pub(crate) use flag::ServerFlag;

use crate::home::Home;
use crate::registry::{Registry, Which};
use crate::runner::{Ended, Runner};
use lisle_runtime::fiber;
use lisle_runtime::internal::{heartbeat, owner};
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
        let (registry, which) = (&self.registry, self.which);
        let home = Home::of(registry).filter(|home| home.which() == which);
        let flag = registry.server_flag(which);
        flag.lower();
        while let Some(job) = home.map_or_else(|| registry.steal(which), Home::take) {
            if flag.is_lowered() && !registry.is_empty(which) {
                registry.is_pushed(which);
            }
            match job.run(Runner::Other) {
                // The code that has waited for it comes first.
                Ended::Scope => fiber::yield_now(),
                Ended::Job => let_others_pass(),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.has_begun {
            // The runtime ends.
            self.registry.server_flag(self.which).lower();
            while let Some(job) = self.registry.steal(self.which) {
                drop(job);
            }
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
        let home = Home::of(&self.registry).expect("it was spawned on a domain of the pool");
        while let Some(job) = home.take() {
            job.run(Runner::Other);
            let_others_pass();
        }
        // If there is none, code that yields has run it.
        if let Some(job) = self.registry.domain(self.index).take_broadcast() {
            job.run(Runner::Other);
        }
    }
}

impl Drop for Broadcaster {
    fn drop(&mut self) {
        if !self.has_begun {
            drop(self.registry.domain(self.index).take_broadcast());
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
