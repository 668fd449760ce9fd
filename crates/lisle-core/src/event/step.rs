//! What must not happen within a step of an event, under a source's lock, and where the user has forbidden it: to be suspended.
//!
//! Between publishing an attempt and withdrawing it, its performer must not be suspended by anybody but the
//! performance itself: a partner may commit the attempt at any moment, and its wake would then end the
//! wrong park, or find the performer already queued to run. So each thread knows which attempts it is
//! in a step of, and whoever wants to suspend asks here first.
//!
//! So does a thread know under which sources' locks it runs a function of the user's (`Section`). Who waits there, or uses
//! the same source, would have all who want that lock spin, itself among them.
//!
//! And so does whoever may not be suspended because the user has said so (`no_suspend`): a
//! `Fence`.
//!
//! The three stand in one list, innermost first, told apart by marks in their addresses. So the one look that each suspension
//! takes finds all of them, and costs nothing more where there are none.

use super::record::{Record, misuse};
use super::woken::Woken;
use crate::abort;
use std::cell::Cell;
use std::panic::Location;

#[cfg(not(lisle_loom))]
thread_local! {
    /// The innermost; each knows the next one out.
    static CURRENT: Cell<*const Record> = const { Cell::new(std::ptr::null()) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static CURRENT: Cell<*const Record> = Cell::new(std::ptr::null());
}

/// Marks a step of the attempt with this record, until it [ends](InStep::end) or unwinds.
pub(super) struct InStep<'a>(&'a Record);

impl<'a> InStep<'a> {
    #[inline]
    pub(super) fn new(record: &'a Record) -> Self {
        record.outer.set(CURRENT.with(|current| current.replace(record)));
        InStep(record)
    }
}

impl InStep<'_> {
    /// The step has come to its end.
    #[inline]
    pub(super) fn end(self) {
        self.leave();
        std::mem::forget(self);
    }

    #[inline]
    fn leave(&self) {
        CURRENT.with(|current| current.set(self.0.outer.get()));
    }
}

impl Drop for InStep<'_> {
    /// The step unwinds, and its performer with it. If a partner has committed that, the wake which is on its way would
    /// find nobody.
    fn drop(&mut self) {
        self.leave();
        if !self.0.is_withdrawn() {
            misuse("a step of it panics when a partner has committed it");
        }
    }
}

/// What runs under a source's lock.
#[repr(align(8))]
struct Section {
    outer: *const Record,
    lock: *const (),
    /// Those who have been granted something, and are woken when the lock is let go; may be null.
    owed: *const Woken,
}

/// Where suspending is forbidden: on the stack of who has forbidden it, as long as that lasts.
#[repr(align(8))]
struct Fence {
    outer: *const Record,
    forbidden: Forbidden,
}

/// The marks of those that are no records, in the lowest bits of their addresses, all of which are multiples of 8.
const SECTION: usize = 1;
const FENCE: usize = 2;

/// One of the list.
enum Entry<'a> {
    Step(&'a Record),
    Section(&'a Section),
    Fence(&'a Fence),
}

/// What stands in the list of this thread from `next` on outwards. Not to be kept for longer than the caller's call.
fn entries<'a>(mut next: *const Record) -> impl Iterator<Item = Entry<'a>> {
    std::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        let address = next.map_addr(|addr| addr & !(SECTION | FENCE));
        Some(match next.addr() & (SECTION | FENCE) {
            SECTION => {
                // SAFETY: so marked is the address of a section, which stays until its function has returned, and this is
                // called by what that function calls.
                let section = unsafe { &*address.cast::<Section>() };
                next = section.outer;
                Entry::Section(section)
            }
            FENCE => {
                // SAFETY: likewise of a fence.
                let fence = unsafe { &*address.cast::<Fence>() };
                next = fence.outer;
                Entry::Fence(fence)
            }
            _ => {
                // SAFETY: a record outlives the steps of its attempt, and this performer is in one of them.
                let record = unsafe { &*address };
                next = record.outer.get();
                Entry::Step(record)
            }
        })
    })
}

/// Makes this the innermost of the list, marked so, while `f` runs.
#[inline]
fn within<T, R>(entry: &T, mark: usize, f: impl FnOnce() -> R) -> R {
    let address = std::ptr::from_ref(entry).cast::<Record>().map_addr(|addr| addr | mark);
    let _restore = Restore(CURRENT.with(|current| current.replace(address)));
    f()
}

/// Puts back what was the innermost, however the code in between ends.
struct Restore(*const Record);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0));
    }
}

/// Runs `f`, which is a user's, and for which the caller has taken `lock`. `owed`: who is woken when it is let go.
#[inline]
pub(super) fn under_lock<R>(lock: *const (), owed: *const Woken, f: impl FnOnce() -> R) -> R {
    let section = Section { outer: CURRENT.with(Cell::get), lock, owed };
    within(&section, SECTION, f)
}

/// To be asked before `lock` is taken, for a function of the user's or by one.
///
/// # Panics
///
/// If this thread runs a function under that lock.
#[inline]
#[track_caller]
pub(super) fn must_not_be_under(lock: *const ()) {
    let innermost = CURRENT.with(Cell::get);
    assert!(
        innermost.is_null() || !sections(innermost).any(|section| section.lock == lock),
        "a function given to a `Source` uses the same source, whose lock it holds: use what the function is given, or \
         return first"
    );
}

/// The sections that this thread is in.
#[cold]
fn sections<'a>(innermost: *const Record) -> impl Iterator<Item = &'a Section> {
    entries(innermost).filter_map(|entry| match entry {
        Entry::Section(section) => Some(section),
        Entry::Step(_) | Entry::Fence(_) => None,
    })
}

/// Takes back the wake of the waker at `data`, if this thread owes it, and would come to it only after what runs now.
pub(super) fn take_back_wake(data: *const ()) -> bool {
    sections(CURRENT.with(Cell::get)).any(|section| {
        // SAFETY: they stay until the function has returned by whose section they are known.
        unsafe { section.owed.as_ref() }.is_some_and(|owed| owed.take_back(data))
    })
}

/// Suspending is forbidden here.
#[derive(Debug)]
pub struct Fenced;

/// By whom suspending is forbidden.
#[derive(Debug, Clone, Copy)]
pub struct Forbidden {
    /// What it is, up to its place.
    pub by: &'static str,
    pub site: &'static Location<'static>,
}

/// Calls `f`, in which nobody is suspended on this thread: [`suspend`] says so.
#[cfg(not(lisle_loom))]
#[inline]
pub fn fenced<R>(forbidden: Forbidden, f: impl FnOnce() -> R) -> R {
    let fence = Fence { outer: CURRENT.with(Cell::get), forbidden };
    within(&fence, FENCE, f)
}

/// Whether suspending is forbidden to the code that runs now.
#[inline]
pub fn forbidden() -> Option<Forbidden> {
    let innermost = CURRENT.with(Cell::get);
    if innermost.is_null() { None } else { forbidden_within(innermost) }
}

#[cold]
fn forbidden_within(innermost: *const Record) -> Option<Forbidden> {
    entries(innermost).find_map(|entry| match entry {
        Entry::Fence(fence) => Some(fence.forbidden),
        Entry::Step(_) | Entry::Section(_) => None,
    })
}

/// May the code that runs now be suspended where it has not asked to be: is it neither fenced, nor under a lock, nor in a
/// step?
#[cfg(not(lisle_loom))]
#[inline]
pub fn is_free() -> bool {
    CURRENT.with(Cell::get).is_null()
}

/// Suspends the performer now running by calling `park`. Ends the process if that happens within a step
/// of an attempt that partners can see, or under the lock of a source.
///
/// # Errors
///
/// Suspending is forbidden here, see [`forbidden`]. Nothing has been done.
#[inline(always)]
pub fn suspend<R>(park: impl FnOnce() -> R) -> Result<R, Fenced> {
    let innermost = CURRENT.with(Cell::get);
    if innermost.is_null() { Ok(park()) } else { suspend_in_step(innermost, park) }
}

#[cold]
fn suspend_in_step<R>(innermost: *const Record, park: impl FnOnce() -> R) -> Result<R, Fenced> {
    for entry in entries(innermost) {
        match entry {
            Entry::Fence(_) => return Err(Fenced),
            Entry::Section(_) => abort::process(
                "a function given to a `Source` waits, under the source's lock, for which others spin meanwhile; it must \
                 return first: change the state, and wait after `update`",
            ),
            Entry::Step(record) if record.is_exposed() => {
                misuse("a function that it calls in `publish` or `withdraw` waits for something else");
            }
            Entry::Step(_) => {}
        }
    }
    // Others that run on this thread meanwhile have steps of their own.
    let _restore = Restore(CURRENT.with(|current| current.replace(std::ptr::null())));
    Ok(park())
}

/// Panics: the code that runs would have to do `what`, and that is forbidden to it.
#[cold]
pub fn refuse(what: &str) -> ! {
    forbidden().expect("who is fenced has a fence").refuse(what)
}

impl Forbidden {
    /// Panics: somebody would have to do `what`.
    #[cold]
    pub fn refuse(self, what: &str) -> ! {
        let Forbidden { by, site } = self;
        panic!("nothing may wait inside {by} {site}, and this would have to {what}")
    }
}
