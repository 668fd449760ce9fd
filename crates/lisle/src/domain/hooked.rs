//! What a worker does around a turn of a host if its runtime has hooks (`fiber/hooks.rs`).

use super::worker::Worker;
use crate::fiber::hooks::Moment;
use crate::fiber::host::{self, Host};

impl Worker {
    /// `host`, which is the current one, is about to run.
    #[cold]
    pub(super) fn before_turn(&self, host: &Host) {
        self.hooks.resumed(host);
    }

    /// `host`, which is the current one, has run.
    #[cold]
    pub(super) fn after_turn(&self, host: &Host, moment: Moment) {
        self.hooks.suspended(host, moment);
        if moment == Moment::Ends {
            // They may have left locals of the host's behind, which must not leave this thread.
            host::clear_locals(host);
        }
    }
}
