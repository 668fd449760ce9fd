//! The stop for a fork of the process.

use super::{INSIDE, Member, OUTSIDE, Round, World};
use lisle_core::internal::shim::sync::MutexGuard;
use std::thread;

impl<M: Member> World<M> {
    /// Stops all members but `me` before the process is forked, and keeps the lock. Unlike [`stop`](Self::stop), this
    /// is no safe point of `me`, which may be inside.
    pub(crate) fn quiet(&self, me: Option<*const M>, late: impl FnOnce(&M)) -> Quiet<'_, M> {
        let is_me = |member: &M| me.is_some_and(|me| std::ptr::eq(me, member));
        let mut round = self.lock_after_those_who_come();
        loop {
            if !round.stopping {
                round.stopping = true;
                self.ask_to_stop();
                let round = self.wait_for_others(round, is_me, late);
                return Quiet { world: self, me, round, stopped: true };
            }
            // SAFETY: the lock is held.
            let inside = unsafe { &*self.members.get() }.iter().filter(|member| member.state().is(INSIDE));
            let (mine, others): (Vec<_>, Vec<_>) = inside.partition(|member| is_me(member));
            if mine.is_empty() {
                drop(self.wait_for_end(round));
                round = self.lock_after_those_who_come();
            } else if others.len() > 1 {
                drop(round);
                thread::yield_now();
                round = self.lock();
            } else {
                // One other member is inside: it stops all, and cannot go on while `me` is inside.
                return Quiet { world: self, me, round, stopped: false };
            }
        }
    }
}

/// The time in which the process is forked.
pub(crate) struct Quiet<'a, M: Member> {
    world: &'a World<M>,
    me: Option<*const M>,
    round: MutexGuard<'a, Round>,
    /// Whether the thread that forks has stopped the others, and not one of them.
    stopped: bool,
}

impl<M: Member> Quiet<'_, M> {
    /// Goes on in the parent.
    pub(crate) fn go_on(self) {
        if self.stopped {
            self.world.end(self.round);
        }
    }

    /// Goes on in the child, where no other member has a thread. Calls `give_up` for each of them.
    pub(crate) fn go_on_alone(mut self, give_up: impl Fn(&M)) {
        // SAFETY: the lock is held.
        for member in unsafe { &*self.world.members.get() } {
            if self.me.is_none_or(|me| !std::ptr::eq(me, &**member)) {
                member.state().set(OUTSIDE);
                give_up(member);
            }
        }
        self.round.helpers = 0;
        self.round.coming = 0;
        self.world.end(self.round);
    }
}
