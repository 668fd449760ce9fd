//! What the owner of something pending does: looks whether it is wanted, and settles what has been offered.

use crate::abort;
use crate::event::parker::{self, Parker};
use crate::event::{Interrupted, step};
use crate::fiber::{self, JoinError};
use crate::jobs::heartbeat;
use crate::jobs::job::{Descendants, Job};
use crate::jobs::pending::{Inside, Pending};
use crate::runtime::{default_runtime, try_default_runtime};
use crate::sched::default::started_default_runtime;
use crate::sched::shared::Shared;
use crate::sched::sharing::PERIOD;
use crate::sched::within::{self, in_domain};
use crate::sched::worker::{Worker, with_current};
use crate::shim::ticks;
use crate::spawned::this_stack::this_stack;
use crate::task;
use std::any::Any;
use std::cell::Cell;
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;

/// What is pending on the stack that this runs on. For use by what runs on that stack, and no longer.
#[inline(always)]
pub fn pending<'a>() -> &'a Pending {
    &this_stack().state().pending
}

/// May others find what is put off on this stack, which is that of the caller? Who unwinds, or has ruled waiting out, cannot
/// wait for what they have taken.
#[inline(always)]
pub fn may_be_helped(pending: &Pending) -> bool {
    pending.inside.get() != Inside::Fenced && !parker::is_unwinding()
}

/// May the code that runs here wait for what it gives away? Not if it unwinds, or has ruled that out.
fn may_wait() -> bool {
    !parker::is_unwinding() && step::forbidden().is_none()
}

/// Is enough left of this stack for a loop to run on it?
#[inline]
pub fn has_room() -> bool {
    // Who cannot wait cannot wait for another stack, and what runs on a worker's own cannot either.
    let cannot_wait = || !may_wait() || with_current(|worker| worker.is_some() && !in_domain());
    task::has_room(this_stack()) || cannot_wait()
}

/// Runs `f` on the stack of a fiber of its own, and waits for it, as for a part of what runs here.
#[cold]
pub fn on_another_stack<R: Send>(
    pending: &Pending,
    site: &'static Location<'static>,
    f: impl FnOnce() -> R + Send,
) -> R {
    /// Which job this is in the ancestor of, to be told to another stack.
    struct Parent(*const Job);
    // SAFETY: it is only compared and followed, and stays until what is done in its ancestor is.
    unsafe impl Send for Parent {}
    let parent = Parent(pending.job.get());
    let run = move || {
        let parent = parent;
        let pending = self::pending();
        pending.job.set(parent.0);
        let _within = within::enter(pending);
        f()
    };
    let joined = with_current(|worker| {
        // Nothing else is to run on the domain meanwhile that might be a part of the same loop.
        let wait = || fiber::scope(|scope| scope.spawn_at(run, site).join());
        match worker {
            Some(worker) => worker.while_waiting_for(Descendants::NOTHING, wait),
            None => wait(),
        }
    });
    match joined.map_err(JoinError::into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => raise(panic),
        Err(Err(_)) => raise(Box::new(Interrupted)),
    }
}

/// Goes on with a panic that code has ended with which may have run elsewhere. If it is to end with its runtime, and this
/// cannot be unwound, it waits for ever.
#[cold]
pub fn raise(panic: Box<dyn Any + Send>) -> ! {
    if panic.is::<Interrupted>() {
        parker::running().into_iter().for_each(Parker::stay_unless_unwound);
    }
    resume_unwind(panic)
}

/// Has the code that runs here look at the clock the next time that it puts something off, and if `now`, heartbeat then.
#[inline]
pub fn hurry(pending: &Pending, now: bool) {
    pending.hurry();
    if now {
        LAST.set(0);
        with_current(|worker| worker.into_iter().for_each(Worker::hurry));
    }
}

/// Is it time, on this thread, to look whether somebody wants something?
#[inline]
pub fn is_due(now: u64) -> bool {
    heartbeat::here().is_wanted()
        || with_current(|worker| match worker {
            Some(worker) => worker.is_due(now),
            None => LAST.with(|last| now.wrapping_sub(last.get()) >= PERIOD),
        })
}

thread_local! {
    /// When a thread that is no worker has last looked.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// Looks whether somebody wants something. It does not unwind: entries are pending that lie on the stack.
#[cold]
pub fn heartbeat(pending: &Pending) {
    if !may_wait() {
        return pending.looked();
    }
    abort::if_it_unwinds("a panic has reached the sharing of a loop, whose parts are on the stack", || {
        with_current(|worker| match worker {
            Some(worker) => worker.heartbeat(pending),
            None => beat_outside(pending),
        });
    });
}

/// The same for a thread that is no worker: the domains of the default runtime help it.
fn beat_outside(pending: &Pending) {
    pending.looked();
    if heartbeat::OUTSIDE.is_wanted() {
        heartbeat::OUTSIDE.heard();
        if let Some(shared) = started_default_runtime() {
            let wanted = shared.looking() + shared.offers.returning();
            (0..wanted).take_while(|_| offer_outside(pending, shared)).for_each(drop);
        }
    }
    let now = ticks::now();
    if now.wrapping_sub(LAST.get()) >= PERIOD {
        LAST.set(now);
        // If it cannot be started nobody helps.
        if let Some(shared) = try_default_runtime()
            && (shared.could_wake_one() || shared.looking() > 0)
            && (offer_outside(pending, shared) || shared.offers.len() > 0)
            && shared.could_wake_one()
        {
            shared.wake_for_loop(0);
        }
    }
}

fn offer_outside(pending: &Pending, shared: &Shared) -> bool {
    // SAFETY: what is pending stays in place until it has been taken back or is done.
    unsafe { shared.offers.offer(|| pending.offer()) }
}

/// Offers so many more of what is pending, if there are and there is room.
#[inline]
pub fn give_away(pending: &Pending, count: usize) {
    if !may_wait() {
        return;
    }
    with_current(|worker| match worker {
        Some(worker) => worker.give_away(pending, count),
        None => give_away_outside(pending, default_runtime(), count),
    });
}

fn give_away_outside(pending: &Pending, shared: &Shared, count: usize) {
    let given = (0..count).take_while(|_| offer_outside(pending, shared)).count();
    if given > 0 && shared.could_wake_one() {
        shared.wake_for_loop(0);
    }
}

/// Settles what has been offered and is to be gone on with: true if the caller has it back, false if another has done it.
#[inline]
pub fn settle(job: &Job) -> bool {
    let is_ours = take_back(job);
    if !is_ours {
        wait_for(job, job.descendants());
    }
    is_ours
}

/// Takes back what has been offered. False if another has taken it.
#[inline]
pub fn take_back(job: &Job) -> bool {
    let this = NonNull::from(job);
    with_current(|worker| match worker {
        Some(worker) => worker.domain.offers.take_back(this),
        None => default_runtime().offers.take_back(this),
    })
}

/// Waits until `job`, which somebody else runs, is done. Of what loops and scopes have put off only parts of `descendants` run here
/// meanwhile.
#[inline]
pub fn wait_for(job: &Job, descendants: Descendants) {
    with_current(|worker| match worker {
        Some(worker) => worker.while_waiting_for(descendants, || job.wait()),
        None => job.wait(),
    });
}
