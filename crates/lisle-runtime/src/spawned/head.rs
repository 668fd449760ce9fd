//! The parts that the heads of a fiber's and of a task's cell share.

use super::cell::Contents;
use super::locals::Locals;
use super::runnable::{Kind, Runnable};
use super::scope_state::ScopeState;
use crate::event::{Interrupted, Source, Unlabelled, limit};
use crate::masked;
use crate::panics::forget_panic;
use std::any::Any;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::ptr::NonNull;
use std::thread;

/// The content of a cell's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The closure or future, which has not ended.
    Start,
    /// A value, or the payload of a panic.
    Done,
    /// Nothing, since it was cancelled.
    Cancelled,
    /// Nothing, since the runtime ended before it was done.
    ShutDown,
    /// Nothing, since the deadline of its scope passed before it was done.
    Late,
    /// Nothing, since the result has been taken.
    Taken,
}

/// The first field of a fiber and of a task. Its cells belong to the thread that runs or owns the
/// fiber or task, as their modules say. Joiners look at `finished`, which has a lock.
#[repr(C)]
pub(crate) struct Head {
    pub(crate) runnable: Runnable,
    site: Cell<&'static Location<'static>>,
    pub(crate) scope: Cell<Option<NonNull<ScopeState>>>,
    pub(crate) locals: Locals,
    /// `true` once it has ended and can be joined.
    pub(crate) finished: Source<bool, (), Unlabelled>,
}

impl Head {
    #[inline(always)]
    pub(crate) fn new(
        kind: Kind,
        scope: Option<NonNull<ScopeState>>,
        site: &'static Location<'static>,
    ) -> Self {
        Head {
            runnable: Runnable::new(kind),
            site: Cell::new(site),
            scope: Cell::new(scope),
            locals: Locals::new(),
            finished: Source::unlabelled(false),
        }
    }

    /// Prepares the head of a vacant cell for the content that has just been put into its body.
    #[inline(always)]
    pub(crate) fn reuse(&self, scope: Option<NonNull<ScopeState>>, site: &'static Location<'static>) {
        self.outcome().set(Outcome::Start);
        self.site.set(site);
        self.scope.set(scope);
    }

    /// Returns its outcome. The caller runs or owns the fiber or task.
    #[inline(always)]
    pub(crate) fn outcome(&self) -> &Cell<Outcome> {
        &self.runnable.outcome
    }

    /// Returns the place where it was spawned.
    #[inline]
    pub(crate) fn site(&self) -> &'static Location<'static> {
        self.site.get()
    }

    /// Makes a result ready to be taken, and wakes the joiners.
    pub(crate) fn finish(&self) {
        self.finished.update_plain(|finished, waiters| {
            *finished = true;
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Takes the result of a fiber or task that has ended. Returns the outcome if there is no
    /// result.
    ///
    /// # Panics
    ///
    /// If it has not ended: a direct call of `complete` may come too early.
    ///
    /// # Safety
    ///
    /// This is the head of the cell `of` with these contents, whose result is of type `T`. Results
    /// are taken only by this function, until no other code refers to the cell.
    pub(crate) unsafe fn take_result<H, T>(
        &self,
        of: NonNull<H>,
        contents: &Contents,
    ) -> Result<thread::Result<T>, Outcome> {
        // Two threads may share a handle. The source's lock admits one taker at a time.
        let taken = self.finished.with(|&finished| {
            // SAFETY: it has ended, as seen just now under the source's lock, which all takers
            // hold.
            finished.then(|| unsafe { self.take(of, contents) })
        });
        self.unless_late(taken.expect("`complete` on the event of an end that has not come"))
    }

    /// Returns the taken result. If it is missing because of a deadline that is the taker's as well, the
    /// deadline ends the taker's own wait: which of the two learns of it first does not matter.
    #[inline]
    fn unless_late<T>(
        &self,
        taken: Result<thread::Result<T>, Outcome>,
    ) -> Result<thread::Result<T>, Outcome> {
        if matches!(taken, Err(Outcome::Late)) {
            limit::unwind_if_late();
            // From here on it is known.
            self.finished.with(|_| self.outcome().set(Outcome::Taken));
        }
        taken
    }

    /// Does the same as [`take_result`](Head::take_result) for a fiber or task that is known to
    /// have ended.
    ///
    /// # Safety
    ///
    /// As for [`take_result`](Head::take_result). The caller has seen under the lock of `finished`
    /// that it has ended, and no other code takes the result meanwhile.
    pub(crate) unsafe fn take_alone<H, T>(
        &self,
        of: NonNull<H>,
        contents: &Contents,
    ) -> Result<thread::Result<T>, Outcome> {
        // SAFETY: passed on to the caller.
        self.unless_late(unsafe { self.take(of, contents) })
    }

    /// # Safety
    ///
    /// As for [`take_alone`](Head::take_alone), or the lock of `finished` is held.
    #[inline(always)]
    unsafe fn take<H, T>(&self, of: NonNull<H>, contents: &Contents) -> Result<thread::Result<T>, Outcome> {
        match self.outcome().get() {
            Outcome::Done => {
                self.outcome().set(Outcome::Taken);
                let mut place = MaybeUninit::uninit();
                // SAFETY: the result was written before the lock was taken to set `finished`, so
                // the write happens before this read. The result is moved only here.
                unsafe { contents.take::<H, T>(of, &mut place) };
                // SAFETY: just written.
                Ok(unsafe { place.assume_init() })
            }
            outcome => Err(outcome),
        }
    }

    /// Drops an unclaimed result. Its panic is noted in the scope, or else given to `report`. It is noted
    /// as well that there is none since the deadline had passed.
    ///
    /// # Safety
    ///
    /// This is the head of the cell `of` with these contents. No other code refers to the body.
    pub(crate) unsafe fn drop_result<H>(
        &self,
        of: NonNull<H>,
        contents: &Contents,
        report: impl FnOnce(Box<dyn Any + Send>),
    ) {
        match self.outcome().replace(Outcome::Taken) {
            Outcome::Done => {}
            Outcome::Late => {
                // SAFETY: neither a scoped fiber or task nor its handle outlives the scope.
                return self.scope.get().into_iter().for_each(|scope| unsafe { scope.as_ref() }.note_late());
            }
            _ => return,
        }
        // SAFETY: the body holds the result. The rest is the caller's promise.
        if let Err(panic) = unsafe { contents.drop_result(of) } {
            note_or(self.scope.get(), panic, report);
        }
    }
}

/// Notes the panic of an unjoined fiber or task in its scope. If there is no scope, gives the panic
/// to `report`, unless it is the unwinding by the end of its runtime.
#[cold]
pub(crate) fn note_or(
    scope: Option<NonNull<ScopeState>>,
    panic: Box<dyn Any + Send>,
    report: impl FnOnce(Box<dyn Any + Send>),
) {
    // The payload is the user's. Its destructor may wait, and may panic.
    masked!(_masked);
    match scope {
        _ if panic.is::<Interrupted>() => {}
        Some(scope) => {
            // SAFETY: neither a scoped fiber or task nor its handle outlives the scope.
            unsafe { scope.as_ref() }.note_panic();
            forget_panic(panic);
        }
        None => report(panic),
    }
}
