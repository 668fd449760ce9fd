//! On whose stack a worker runs parasites, and parts of loops: a host of its own, the *bearer*.
//!
//! A parasite that is ready has no stack: it needs one for as long as it is polled. It could be the worker's. But
//! then a parasite that blocks in place (it locks a mutex, joins a host, calls a function that receives) would
//! stop its whole domain, and whom it waits for may be on that. So parasites run in a host. It rests between them,
//! and is resumed with the next, which costs a switch. If one blocks, the bearer is parked like any host, and the
//! next parasite gets a new one; when there are two that rest, one ends.
//!
//! A bearer counts for nothing: what is counted as alive is the parasites.

use super::loops::Load;
use super::queues::STREAK;
use super::runnable::{Either, Kind, either};
use super::worker::{VISIT, Worker, with_current};
use crate::event::parker::{self, Suspend};
use crate::fiber::host::{self, Host, Traits};
use crate::parasite;
use std::panic::Location;
use std::ptr::NonNull;

impl Worker {
    /// Runs a parasite until it waits or ends, or a part of a loop until it ends.
    pub(super) fn run_on_bearer(&self, load: Load, turn: u32) {
        let bearer = match self.bearer.take() {
            Some(resting) => {
                self.borne.set(Some(load));
                resting
            }
            None => new_bearer(load),
        };
        self.run(bearer, turn);
    }

    /// The next parasite for a bearer that runs, if no host is to run next and nothing else is due.
    fn follow(&self) -> Option<Load> {
        let turn = self.turn.get().wrapping_add(1);
        if turn.is_multiple_of(VISIT) || self.streak.get() >= STREAK || !self.interrupting.get().is_null() {
            return None;
        }
        let following = match self.next.get() {
            Some(_) if self.due() => self.take_woken()?.cast(),
            Some(next) => {
                // SAFETY: what is queued is alive, and is run by who takes it.
                let Either::Parasite(parasite) = (unsafe { either(next) }) else { return None };
                self.next.set(None);
                self.streak.set(self.streak.get() + 1);
                parasite
            }
            // They are many at times: each that somebody unblocks who goes on. None of them is to pile up.
            None => self.take_woken()?.cast(),
        };
        self.turn.set(turn);
        self.domain.counts.begin_turn(turn, self.others_are_ready());
        Some(Load::Parasite(following))
    }

    /// Ends the bearer that rests, if there is one.
    pub(super) fn retire_bearer(&self) {
        if let Some(resting) = self.bearer.take() {
            self.run(resting, self.turn.get());
        }
    }
}

#[cold]
fn new_bearer(first: Load) -> NonNull<Host> {
    let traits = Traits { kind: Some(Kind::Bearer), ..Traits::default() };
    let bearer = Host::new(move || bear(first), traits, Location::caller());
    // SAFETY: the handle's reference, which nobody needs.
    unsafe { host::release(bearer) };
    bearer
}

/// A bearer's life.
fn bear(first: Load) {
    with_current(|worker| {
        let worker = worker.expect("a bearer runs in a worker, and stays there");
        let mut next = Some(first);
        while let Some(load) = next {
            match load {
                // SAFETY: it was taken out of its queue for this.
                Load::Parasite(parasite) => unsafe { parasite::run(parasite, worker) },
                // SAFETY: it was taken for this.
                Load::Job(taken) => unsafe { worker.run_job(taken) },
            }
            // One that never got a stack is run on the worker's, when the runtime is wound up.
            let Some(bearer) = parker::running() else { return };
            next = worker.follow();
            if next.is_none() && worker.bearer.get().is_none() {
                bearer.suspend(Suspend::Resting);
                // Resumed without one, it is to end.
                next = worker.borne.take();
            }
        }
    });
}
