//! The outermost join of a stack.

use crate::join_history::{self, JoinMode};
use crate::pending::Pending;
use crate::shim::ticks;
use crate::within::{self, Within};
use crate::{heartbeat, owner};

/// A join that is not part of another join or of a loop. If earlier runs of the same join took no
/// longer alone, the domain is silenced: the join does not check whether another domain wants work.
/// The monitor ends the silence within 10 ms, and so does another domain that begins to search for
/// work.
pub(super) struct Outermost<'a> {
    pending: &'a Pending,
    code: usize,
    way: JoinMode,
    /// The time at which the join began, if it is measured.
    start: Option<u64>,
    silence: Option<heartbeat::Silence<'a>>,
    #[expect(dead_code, reason = "it is dropped when the join ends")]
    within: Option<Within<'a>>,
}

impl<'a> Outermost<'a> {
    #[inline]
    pub(super) fn enter(pending: &'a Pending, code: usize) -> Self {
        let within = within::enter(pending);
        let (way, is_measured) = match within::in_domain() {
            true => join_history::choose(code),
            false => (JoinMode::Shared, true),
        };
        let start = is_measured.then(ticks::now);
        let silence = match way {
            JoinMode::Alone => Some(heartbeat::here().silence()),
            JoinMode::Shared => {
                // The next heartbeat may never come, because the halves may never check for it.
                owner::hurry(pending, join_history::may_be_long(code));
                None
            }
        };
        Outermost { pending, code, way, start, silence, within }
    }

    /// Returns `true` if the join looks before its first half whether another domain wants work.
    pub(super) fn looks(&self) -> bool {
        self.way == JoinMode::Shared
    }

    /// Ends the join. `is_taken` says whether another thread has taken the second half.
    pub(super) fn end(&mut self, is_taken: bool) {
        let is_alone = self.way == JoinMode::Alone;
        if is_alone {
            if is_taken {
                // The join was not short, or no other domain would have taken the half.
                join_history::was_found(self.code);
            }
            if !heartbeat::here().is_quiet() {
                join_history::was_disturbed(self.code);
            }
            self.silence = None;
        }
        if let Some(start) = self.start {
            let now = ticks::now();
            if !(is_alone && is_taken) {
                join_history::learn(self.code, self.way, now.wrapping_sub(start));
            }
            // No code has looked at the clock meanwhile, and other fibers of the domain may want
            // their turn.
            if is_alone && !is_taken && owner::is_due(now) {
                owner::heartbeat(self.pending);
            }
        }
    }
}
