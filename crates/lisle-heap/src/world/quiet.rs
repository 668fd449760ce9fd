//! The stop for a fork of the process.

use super::{FORKS, INSIDE, Member, OUTSIDE, Round, World};
use lisle_core::internal::shim::sync::MutexGuard;
use std::thread;

impl<M: Member> World<M> {
    /// Says that `me`, which is inside, is about to fork the process. Until it goes on, forks of others do not wait for it. The
    /// one that stops all, and forks in the stop, stays inside.
    pub(crate) fn begin_fork(&self, me: &M) {
        let round = self.lock();
        if !round.stopping || round.waits {
            me.state().set(FORKS);
            // A thread that forks may wait for this one, or for the end of a stop that waits for this one.
            self.arrived.notify_one();
            self.over.notify_all();
        }
    }

    /// Stops all members but `me` before the process is forked, and keeps the lock. Unlike [`stop`](Self::stop), this
    /// is no safe point of `me`, which may be inside. One thread does so at a time.
    pub(crate) fn quiet(&self, me: Option<*const M>, late: impl FnOnce(&M)) -> Quiet<'_, M> {
        let mut round = self.lock_after_those_who_come();
        loop {
            if !round.stopping {
                round.stopping = true;
                let round = self.ask_others(round, |member| member.state().is(INSIDE), late);
                return Quiet { world: self, me, round, stopped: true };
            }
            // SAFETY: the lock is held.
            let members = unsafe { &*self.members.get() };
            let is_me = |member: &M| me.is_some_and(|me| std::ptr::eq(me, member));
            let inside = members.iter().filter(|member| member.state().is(INSIDE)).count();
            if members.iter().any(|member| member.state().is(INSIDE) && is_me(member)) {
                // It has stopped all.
                return Quiet { world: self, me, round, stopped: false };
            } else if !round.waits || !members.iter().any(|member| member.state().is(FORKS)) {
                drop(self.wait_for_end(round));
                round = self.lock_after_those_who_come();
            } else if inside > 1 {
                drop(round);
                thread::yield_now();
                round = self.lock();
            } else {
                // One member is inside: it stops all, and cannot go on while another one forks.
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
    fn end_fork(&self) {
        // SAFETY: the lock is held.
        for member in unsafe { &*self.world.members.get() } {
            if self.me.is_some_and(|me| std::ptr::eq(me, &**member)) && member.state().is(FORKS) {
                member.state().set(INSIDE);
            }
        }
    }

    /// Goes on in the parent.
    pub(crate) fn go_on(self) {
        self.end_fork();
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
        self.end_fork();
        self.round.waits = false;
        self.round.helpers = 0;
        self.round.coming = 0;
        self.world.end(self.round);
    }
}
