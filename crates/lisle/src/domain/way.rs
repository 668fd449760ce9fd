//! How a host that waits for nothing lets the others of its domain have their turn.

use super::survey::Between;
use super::worker::Worker;
use crate::fiber;

/// So often a host that asks in vain, and sees nobody who wants a turn, goes on before timers and sockets are looked at.
const LOOK: u32 = 8;

impl Worker {
    /// Lets others have their turn, if there are any. False: there are none.
    pub(crate) fn give_way(&self) -> bool {
        let is_wanted = self.is_wanted();
        if is_wanted {
            fiber::yield_now();
        }
        is_wanted
    }

    /// Looks after what is not in the queues of this worker, and then whether anybody wants a turn: a host or parasite
    /// that is ready, or, when the runtime shuts down, one that is to unwind.
    pub(crate) fn is_wanted(&self) -> bool {
        // Foreign code may run meanwhile, which cannot be suspended between what a visit does.
        let between = Between::new();
        self.visit();
        drop(between);
        self.has_ready() || !self.interrupting.get().is_null()
    }

    /// The host that runs has often asked for what had not happened: it gives way if it did so before in the same turn.
    #[cold]
    pub(crate) fn asked_in_vain(&self) {
        let (turn, (before, times)) = (self.turn.get(), self.asked.get());
        let times = if before == turn { times.wrapping_add(1) } else { 0 };
        self.asked.set((turn, times));
        // To look after everything takes as long as to ask some ten times.
        let is_time = times.is_multiple_of(LOOK) || self.has_ready() || self.domain.inbox.has_news();
        if times > 0 && is_time {
            self.give_way();
        }
    }
}
