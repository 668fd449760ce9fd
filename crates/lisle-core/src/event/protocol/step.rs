//! A step of an event: its result, and the operations that are forbidden meanwhile.
//!
//! Checks on suspension: within a step of an event, under a source's lock, and where the user has
//! forbidden it, code must not be suspended.
//!
//! Between publishing an attempt and withdrawing it, only the performance itself may suspend its
//! performer: a partner may commit the attempt at any moment, and its wake would then end the wrong
//! park, or find the performer already queued to run. Therefore each thread knows the attempts that
//! it is in a step of, and code that wants to suspend checks here first.
//!
//! A thread also knows the sources under whose locks it runs a user's function (`Section`). If that
//! function waited, or used the same source, all threads that want the lock would spin, including
//! its own.
//!
//! A thread also knows where the user has forbidden suspension (`no_suspend`): a `Fence`.
//!
//! All three are in one list, innermost first, distinguished by tag bits in their addresses. The
//! one check that each suspension makes finds all of them, and costs nothing more when the list is
//! empty.

use super::record::{Record, misuse};
use super::woken::Woken;
use crate::abort;
use std::cell::Cell;
use std::panic::Location;

/// The result of one step of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a committed event must be completed"]
pub enum Step {
    /// The event has happened; [`Event::complete`](crate::Event::complete) returns its value.
    Committed,
    /// The event has not happened yet.
    Waiting,
}

#[cfg(not(lisle_loom))]
thread_local! {
    /// The innermost entry; each entry knows the next outer one.
    static CURRENT: Cell<*const Record> = const { Cell::new(std::ptr::null()) };
}

#[cfg(lisle_loom)]
loom::thread_local! {
    static CURRENT: Cell<*const Record> = Cell::new(std::ptr::null());
}

/// A guard for a step of the attempt with this record, until it [ends](InStep::end) or unwinds.
pub(in crate::event) struct InStep<'a>(&'a Record);

impl<'a> InStep<'a> {
    #[inline]
    pub(in crate::event) fn new(record: &'a Record) -> Self {
        record.outer.set(CURRENT.with(|current| current.replace(record)));
        InStep(record)
    }
}

impl InStep<'_> {
    /// Ends the step.
    #[inline]
    pub(in crate::event) fn end(self) {
        self.leave();
        std::mem::forget(self);
    }

    #[inline]
    fn leave(&self) {
        CURRENT.with(|current| current.set(self.0.outer.get()));
    }
}

impl Drop for InStep<'_> {
    /// The step unwinds, and its performer with it. If a partner has committed the performer, the
    /// wake that is on its way would find no performer.
    fn drop(&mut self) {
        self.leave();
        if !self.0.is_withdrawn() {
            misuse("a step of it panics when a partner has committed it");
        }
    }
}

/// An entry for a function that runs under a source's lock.
#[repr(align(8))]
struct Section {
    outer: *const Record,
    lock: *const (),
    /// The performers that have been granted something, and are woken when the lock is released;
    /// may be null.
    owed: *const Woken,
}

/// An entry for code that must not be suspended. It lies on the stack of the function that has
/// forbidden it.
#[repr(align(8))]
struct Fence {
    outer: *const Record,
    forbidden: Forbidden,
}

/// The tags of entries that are not records, in the lowest bits of their addresses, which are
/// multiples of 8.
const SECTION: usize = 1;
const FENCE: usize = 2;

/// An entry of the list.
enum Entry<'a> {
    Step(&'a Record),
    Section(&'a Section),
    Fence(&'a Fence),
}

/// Returns the entries of this thread's list from `next` outwards. They must not be kept beyond the
/// caller's call.
fn entries<'a>(mut next: *const Record) -> impl Iterator<Item = Entry<'a>> {
    std::iter::from_fn(move || {
        if next.is_null() {
            return None;
        }
        let address = next.map_addr(|addr| addr & !(SECTION | FENCE));
        Some(match next.addr() & (SECTION | FENCE) {
            SECTION => {
                // SAFETY: an address with this tag leads to a section, which stays until its
                // function has returned, and that function has called this code.
                let section = unsafe { &*address.cast::<Section>() };
                next = section.outer;
                Entry::Section(section)
            }
            FENCE => {
                // SAFETY: likewise for a fence.
                let fence = unsafe { &*address.cast::<Fence>() };
                next = fence.outer;
                Entry::Fence(fence)
            }
            _ => {
                // SAFETY: a record outlives the steps of its attempt, and this performer is in one
                // of them.
                let record = unsafe { &*address };
                next = record.outer.get();
                Entry::Step(record)
            }
        })
    })
}

/// Runs `f` with `entry` as the innermost entry of the list, tagged with `mark`.
#[inline]
fn within<T, R>(entry: &T, mark: usize, f: impl FnOnce() -> R) -> R {
    let address = std::ptr::from_ref(entry).cast::<Record>().map_addr(|addr| addr | mark);
    let _within = Within { entry: address, before: CURRENT.with(|current| current.replace(address)) };
    f()
}

/// A guard that sets the innermost entry back to `before`, however the code in between ends. That code leaves
/// `entry` as the innermost one, as it has found it.
struct Within {
    entry: *const Record,
    before: *const Record,
}

impl Drop for Within {
    /// Ends the process if another entry is the innermost one: a coroutine has put it there, and has not gone on.
    /// The entry lies on the stack of the coroutine, which may go.
    #[inline]
    fn drop(&mut self) {
        let left = CURRENT.with(|current| current.replace(self.before));
        if left != self.entry {
            not_nested();
        }
    }
}

#[cold]
fn not_nested() -> ! {
    abort::process(
        "a coroutine was suspended, or has ended, between the beginning and the end of a call in which nothing may wait: \
         such calls must end in the reverse order in which they began",
    )
}

/// A guard that restores the innermost entry, however the code in between ends.
struct Restore(*const Record);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(self.0));
    }
}

/// Runs `f`, a user's function for which the caller has taken `lock`. `owed` holds the performers
/// that are woken when the lock is released.
#[inline]
pub(in crate::event) fn under_lock<R>(lock: *const (), owed: *const Woken, f: impl FnOnce() -> R) -> R {
    let section = Section { outer: CURRENT.with(Cell::get), lock, owed };
    within(&section, SECTION, f)
}

/// Checks, before `lock` is taken for or by a user's function, that this thread does not already
/// run a function under it.
///
/// # Panics
///
/// Panics if this thread runs a function under that lock.
#[inline]
#[track_caller]
pub(in crate::event) fn must_not_be_under(lock: *const ()) {
    let innermost = CURRENT.with(Cell::get);
    assert!(
        innermost.is_null() || !sections(innermost).any(|section| section.lock == lock),
        "a function given to a `Source` uses the same source, whose lock it holds: use what the function is given, or \
         return first"
    );
}

/// Returns the sections that this thread is in.
#[cold]
fn sections<'a>(innermost: *const Record) -> impl Iterator<Item = &'a Section> {
    entries(innermost).filter_map(|entry| match entry {
        Entry::Section(section) => Some(section),
        Entry::Step(_) | Entry::Fence(_) => None,
    })
}

/// Takes back the wake of the waker at `data`, if this thread owes it and would send it only after
/// the code that runs now. Returns `true` if it was taken back.
pub(in crate::event) fn take_back_wake(data: *const ()) -> bool {
    sections(CURRENT.with(Cell::get)).any(|section| {
        // SAFETY: the list of wakes stays until the function of its section has returned.
        unsafe { section.owed.as_ref() }.is_some_and(|owed| owed.take_back(data))
    })
}

/// An error: suspending is forbidden here.
#[derive(Debug)]
pub struct Fenced;

/// A description of the code that has forbidden suspension.
#[derive(Debug, Clone, Copy)]
pub struct Forbidden {
    /// Its name in a message, to be followed by its place.
    pub by: &'static str,
    pub site: &'static Location<'static>,
}

/// Calls `f`, during which this thread's code is not suspended: [`suspend`] returns an error.
#[cfg(not(lisle_loom))]
#[inline]
pub fn fenced<R>(forbidden: Forbidden, f: impl FnOnce() -> R) -> R {
    let fence = Fence { outer: CURRENT.with(Cell::get), forbidden };
    within(&fence, FENCE, f)
}

/// Calls `f` without the fence whose identity [`innermost`] has returned, if it is the innermost entry:
/// the code that has forbidden suspension lets `f` wait. Fences further out still forbid it.
#[cfg(not(lisle_loom))]
pub fn lifted<R>(fence: usize, f: impl FnOnce() -> R) -> R {
    let innermost = CURRENT.with(Cell::get);
    let outer = match entries(innermost).next() {
        Some(Entry::Fence(found)) if innermost.addr() == fence => found.outer,
        _ => return f(),
    };
    let _within = Within { entry: outer, before: CURRENT.with(|current| current.replace(outer)) };
    f()
}

/// Returns the code that has forbidden suspension to the code that runs now, if any has.
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

/// Returns `true` if the code that runs now may be suspended where it has not asked to be: it is
/// neither fenced, nor under a lock, nor in a step.
#[cfg(not(lisle_loom))]
#[inline]
pub fn is_free() -> bool {
    CURRENT.with(Cell::get).is_null()
}

/// Returns `true` if the code that runs here is in a step, or under a source's lock, fenced or not. A
/// performer that it wakes then may wait for that very step.
#[cfg(not(lisle_loom))]
pub fn is_in_step() -> bool {
    entries(CURRENT.with(Cell::get)).any(|entry| !matches!(entry, Entry::Fence(_)))
}

/// Returns the identity of the innermost step, lock or fence of this thread.
#[cfg(not(lisle_loom))]
#[inline(always)]
pub fn innermost() -> usize {
    CURRENT.with(Cell::get).addr()
}

/// Suspends the performer that runs now by calling `park`. Ends the process if that happens within
/// a step of an attempt that partners can see, or under the lock of a source.
///
/// # Errors
///
/// Returns an error if suspending is forbidden here, see [`forbidden`]. Nothing has been done then.
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

/// Panics, because the running code would have to do `what`, which is forbidden here.
#[cold]
pub fn refuse(what: &str) -> ! {
    forbidden().expect("a fenced performer has a fence").refuse(what)
}

impl Forbidden {
    /// Panics, because the running code would have to do `what`.
    #[cold]
    pub fn refuse(self, what: &str) -> ! {
        let Forbidden { by, site } = self;
        panic!("nothing may wait inside {by} {site}, and this would have to {what}")
    }
}
