//! The owner of pending entries: it looks whether they are wanted, and takes back the jobs that it
//! has offered, or waits for them.

use crate::abort;
use crate::event::parker;
use crate::event::{Interrupted, step};
use crate::fiber::{self, JoinError};
use crate::jobs::heartbeat;
use crate::jobs::job::{Descendants, Job};
use crate::jobs::pending::Pending;
use crate::runtime::{default_runtime, try_default_runtime};
use crate::sched::default::started_default_runtime;
use crate::sched::shared::Shared;
use crate::sched::sharing::{LastBeat, PERIOD};
use crate::sched::within::{self, in_domain};
use crate::sched::worker::{Worker, with_current};
use crate::shim::ticks;
use crate::spawned::this_stack::this_stack;
use std::any::Any;
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;

/// Returns the pending work of the stack on which this runs. Only code that runs on that stack may
/// use it, and only while it does.
#[inline(always)]
pub fn pending<'a>() -> &'a Pending {
    &this_stack().state().pending
}

/// Returns `true` if the running code may wait for jobs that it gives away, so that others may find the pending work on its
/// stack. It may not if it unwinds, or where waiting is forbidden: in [`no_suspend`](crate::fiber::no_suspend()), and in code of
/// other crates, such as a session of a heap.
#[inline(always)]
pub fn may_wait() -> bool {
    step::forbidden().is_none() && !parker::is_unwinding()
}

/// Returns `true` if enough of this stack is left for a loop to run on it, or if the code could not
/// wait for another stack.
#[inline]
pub fn has_room() -> bool {
    // Code that cannot wait cannot wait for another stack. Nor can code on a domain's own stack.
    let cannot_wait = || !may_wait() || with_current(|worker| worker.is_some() && !in_domain());
    this_stack().has_room() || cannot_wait()
}

/// Runs `f` on the stack of a new fiber, and waits for it, as for a part of the running code.
#[cold]
pub fn on_another_stack<R: Send>(
    pending: &Pending,
    site: &'static Location<'static>,
    f: impl FnOnce() -> R + Send,
) -> R {
    let (mut f, mut result) = (Some(f), None);
    call_on_another_stack(pending, site, &mut || result = f.take().map(|f| f()));
    result.expect("the fiber has ended, and has not panicked")
}

/// Does the same, for all types of functions.
fn call_on_another_stack(pending: &Pending, site: &'static Location<'static>, f: &mut (dyn FnMut() + Send)) {
    /// The job that this code is a part of, for another stack.
    struct Parent(*const Job);
    // SAFETY: the pointer is only compared and followed, and the job stays until its parts are
    // done.
    unsafe impl Send for Parent {}
    let parent = Parent(pending.job.get());
    let run = move || {
        let parent = parent;
        let pending = self::pending();
        pending.job.set(parent.0);
        let _within = within::enter(pending);
        f();
    };
    let joined = with_current(|worker| {
        // Meanwhile the domain runs nothing else that might be a part of the same loop.
        let wait = || fiber::scope(|scope| scope.spawn_at(run, site).join());
        match worker {
            Some(worker) => worker.while_waiting_for(Descendants::NOTHING, wait),
            None => wait(),
        }
    });
    match joined.map_err(JoinError::into_panic) {
        Ok(()) => {}
        Err(Ok(panic)) => raise(panic),
        Err(Err(_)) => raise(Box::new(Interrupted)),
    }
}

/// Goes on with a panic that has ended code which may have run elsewhere. If the panic is the end
/// of the runtime, and this stack cannot be unwound, this waits for ever.
#[cold]
pub fn raise(panic: Box<dyn Any + Send>) -> ! {
    if panic.is::<Interrupted>()
        && let Some(parker) = parker::running()
    {
        // SAFETY: the parker belongs to the running fiber.
        unsafe { parker.stay_unless_unwound() };
    }
    resume_unwind(panic)
}

/// Makes the code that runs here look at the clock the next time that it puts something off. If
/// `now`, that look is a heartbeat.
#[inline]
pub fn hurry(pending: &Pending, now: bool) {
    pending.hurry();
    if now {
        LAST.with(LastBeat::hurry);
        with_current(|worker| worker.into_iter().for_each(Worker::hurry));
    }
}

/// Returns `true` if it is time, on this thread, to look whether another domain wants something.
#[inline]
pub fn is_due(now: u64) -> bool {
    heartbeat::here().is_wanted()
        || with_current(|worker| match worker {
            Some(worker) => worker.is_due(now),
            None => LAST.with(|last| last.is_past(now)),
        })
}

thread_local! {
    /// The last heartbeat of a thread that runs no domain.
    static LAST: LastBeat = const { LastBeat::new() };
}

/// Looks whether another domain wants something. It does not unwind, since pending entries are on
/// the stack.
#[cold]
pub fn heartbeat(pending: &Pending) {
    pending.looked(ticks::now(), PERIOD / 5);
    if !may_wait() {
        return;
    }
    abort::if_it_unwinds("a panic has reached the sharing of a loop, whose parts are on the stack", || {
        with_current(|worker| match worker {
            Some(worker) => worker.heartbeat(pending),
            None => beat_outside(pending),
        });
    });
    pending.was_away(ticks::now());
}

/// Does the same for a thread that runs no domain: the domains of the default runtime help it.
fn beat_outside(pending: &Pending) {
    if heartbeat::OUTSIDE.is_wanted() {
        heartbeat::OUTSIDE.heard();
        if let Some(shared) = started_default_runtime() {
            let wanted = shared.looking() + shared.offers.returning();
            (0..wanted).take_while(|_| offer_outside(pending, shared)).for_each(drop);
        }
    }
    let now = ticks::now();
    if LAST.with(|last| last.is_past(now)) {
        LAST.with(|last| last.set(now));
        // If the default runtime cannot be started, there is no help.
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
    // SAFETY: a pending entry stays in place until its job has been taken back or is done.
    unsafe { shared.offers.offer(|| pending.offer()) }
}

/// Returns the number of domains that may help here, look for work and do not sleep.
pub fn looking() -> usize {
    with_current(|worker| match worker {
        Some(worker) => worker.shared().looking(),
        None => started_default_runtime().map_or(0, |shared| shared.looking()),
    })
}

/// Offers the oldest pending entry to domains that look for work, and wakes no domain for it.
pub fn offer(pending: &Pending) {
    if !may_wait() {
        return;
    }
    with_current(|worker| match worker {
        Some(worker) => worker.offer_one(pending),
        None => started_default_runtime().is_some_and(|shared| offer_outside(pending, shared)),
    });
}

/// Offers up to `count` more pending entries, as far as there is room.
#[inline]
pub fn give_away(pending: &Pending, count: usize) {
    if !may_wait() {
        return;
    }
    with_current(|worker| match worker {
        Some(worker) => worker.give_away(pending, count),
        // If the default runtime cannot be started, there is no help.
        None => {
            try_default_runtime().into_iter().for_each(|shared| give_away_outside(pending, shared, count))
        }
    });
}

fn give_away_outside(pending: &Pending, shared: &Shared, count: usize) {
    let given = (0..count).take_while(|_| offer_outside(pending, shared)).count();
    if given > 0 && shared.could_wake_one() {
        shared.wake_for_loop(0);
    }
}

/// Takes back a job that was offered, or waits until it is done. Returns `true` if the caller has
/// it back, `false` if another thread has done it.
#[inline]
pub fn settle(job: &Job) -> bool {
    let is_ours = take_back(job);
    if !is_ours {
        wait_for(job, job.descendants());
    }
    is_ours
}

/// Takes back a job that was offered. Returns `false` if another thread has taken it.
#[inline]
pub fn take_back(job: &Job) -> bool {
    let this = NonNull::from(job);
    with_current(|worker| match worker {
        Some(worker) => worker.domain().offers.take_back(this),
        None => default_runtime().offers.take_back(this),
    })
}

/// Waits until `job`, which another thread runs, is done. Of the pending work of loops and scopes,
/// only parts of `descendants` run here meanwhile.
#[inline]
pub fn wait_for(job: &Job, descendants: Descendants) {
    with_current(|worker| match worker {
        #[cfg(feature = "model")]
        Some(worker) if worker.is_modelled() => worker.await_part(job),
        Some(worker) => worker.while_waiting_for(descendants, || job.wait()),
        None => job.wait(),
    });
}
