//! Executions that are not to go on are unwound.

use super::Explorer;
use crate::sched::worker::Worker;

/// The number of times that everything runs before the rest counts as impossible to unwind.
const TURNS: u32 = 1_000;

impl Worker {
    /// Unwinds all processes. Returns the processes that cannot be unwound, if any.
    pub(super) fn unwind_all(&self) -> Option<String> {
        self.modelled.is_ending.set(true);
        self.modelled.unwound.set(0);
        let tell = || self.explorer().into_iter().for_each(Explorer::unwinds);
        tell();
        self.stop(true);
        let (mut looks, mut turns) = (0, 0);
        while self.shared.live() > 0 && looks < 100 && turns < TURNS {
            // It goes on, though it may take long.
            tell();
            self.collect();
            let ready = self.modelled.ready.take();
            let was_ready = !ready.is_empty();
            ready.into_iter().for_each(|next| self.take_step(next.who));
            let mut was_parked = false;
            while let Some(fiber) = self.begun.next_interrupted() {
                was_parked = true;
                self.run(fiber, self.next_turn());
            }
            looks = if was_ready || was_parked { 0 } else { looks + 1 };
            turns += 1;
            self.stop(true);
        }
        let stuck = (self.shared.live() > 0).then(|| self.begun(8).join(", "));
        self.modelled.timers.clear();
        self.begun.go_on();
        self.modelled.is_ending.set(false);
        stuck
    }

    /// Returns `true` if tasks are not to go on.
    pub(crate) fn is_unwinding_all(&self) -> bool {
        self.modelled.is_ending.get()
    }
}
