//! Lets a fiber that does not wait give the others of its domain their turn.

use super::{Worker, with_current};
use crate::event::parker::Suspend;
use crate::event::step::Fenced;
use crate::event::{installed, is_modelled, parker, step, suspend, turn};
use crate::sched::snapshot::Between;
use crate::shim::clock;
use std::panic::Location;
use std::time::Duration;

/// While a fiber asks in vain, timers and sockets are looked at once in this many times, if nothing
/// else calls for a visit.
const LOOK: u32 = 8;

/// For how long the monitor, which looks every 10 ms, has seen the turn of a fiber that is to give
/// way although its operations need not wait. The turn has then lasted for up to 10 ms more.
const OVERSTAYED: Duration = Duration::from_millis(5);

/// Lets other fibers of this domain run before the current one goes on. On a plain thread it yields
/// the processor.
///
/// # Panics
///
/// Panics in [`no_suspend`](crate::fiber::no_suspend()).
///
/// # Examples
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber;
///
/// lisle::Runtime::builder().domains(1).run(|| {
///     let other = lisle::spawn(|| ());
///     assert!(!other.is_finished()); // it has not begun
///     fiber::yield_now();
///     assert!(other.is_finished());
/// });
/// ```
///
/// ```should_panic
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber;
///
/// lisle::run(|| fiber::no_suspend(fiber::yield_now));
/// ```
#[inline]
#[track_caller]
pub fn yield_now() {
    yield_at(Location::caller());
}

/// Does the same as [`yield_now`], for the call at `site`.
#[inline]
pub(crate) fn yield_at(site: &'static Location<'static>) {
    #[cfg(feature = "model")]
    if with_current(|worker| worker.is_some_and(|worker| worker.ask_again(site))) {
        return;
    }
    match (parker::running(), installed()) {
        (Some(parker), _) => {
            // SAFETY: it is the parker of the running fiber.
            let yielded = suspend(|| unsafe { parker.suspend(Suspend::Yielded) });
            if let Err(Fenced) = yielded {
                refuse_to_yield(site);
            }
        }
        (None, _) if step::forbidden().is_some() => refuse_to_yield(site),
        (None, Some(context)) => context.yield_now(),
        (None, None) => crate::shim::thread::yield_now(),
    }
}

#[cold]
fn refuse_to_yield(site: &Location<'_>) -> ! {
    step::refuse(&format!("yield (at {site})"))
}

/// Lets others have a turn, if the current fiber may be suspended.
pub fn pass() {
    if turn::may_pass() {
        yield_now();
    }
}

/// Lets others have a turn at a checkpoint of the code that runs here. Called when they are due
/// one.
#[cold]
pub(crate) fn checkpoint(site: &'static Location<'static>) {
    if parker::running().is_none() {
        return;
    }
    turn::take_due();
    // Its step has ended already, and how long a turn lasts is nothing that a model knows.
    if is_modelled() {
        return;
    }
    with_current(|worker| {
        let Some(worker) = worker else { return };
        if step::is_free() {
            worker.give_way();
        } else if step::forbidden().is_some() && worker.is_wanted() {
            step::refuse(&format!("let others pass at a checkpoint (at {site})"));
        }
    });
}

impl Worker {
    /// Lets others have their turn. Returns `false` if there are none.
    pub(super) fn give_way(&self) -> bool {
        let is_wanted = self.is_wanted();
        if is_wanted {
            yield_now();
        }
        is_wanted
    }

    /// Visits everything that is not in the queues of this domain. Then returns `true` if a fiber
    /// or task is ready or, at a shutdown, if a fiber must unwind. Within a step of an event no
    /// other fiber can run, and nothing is visited: a due timer may belong to the record that the
    /// step has claimed.
    fn is_wanted(&self) -> bool {
        if step::is_in_step() {
            return false;
        }
        // Foreign code may run meanwhile. It cannot be suspended in the middle of a visit.
        let between = Between::new();
        self.visit();
        drop(between);
        self.has_ready() || self.begun.is_interrupting()
    }

    /// Notes that the current fiber has often asked in vain, or locked before others. Makes it give
    /// way if it did so before in the same turn.
    #[cold]
    pub(super) fn asked_in_vain(&self) {
        let (turn, (before, times)) = (self.turn.get(), self.in_vain.last.get());
        let times = if before == turn { times.wrapping_add(1) } else { 0 };
        self.in_vain.last.set((turn, times));
        // A visit takes as long as asking some ten times.
        let is_time = times.is_multiple_of(LOOK) || self.has_ready() || self.domain.inbox.has_news();
        if times > 0 && is_time {
            self.give_way();
        }
    }

    /// Makes the current fiber, which has found the mark in an operation, give way if its turn has
    /// been long. The mark is set in short turns, too: in a short turn a fiber goes on, as it does
    /// whenever an operation need not wait.
    #[cold]
    pub(super) fn overstays(&self) {
        if self.domain.lasted(clock::now()).is_some_and(|lasted| lasted >= OVERSTAYED) {
            self.give_way();
        }
    }
}
