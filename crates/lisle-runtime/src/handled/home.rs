//! The home of a suspended computation: its fiber, task or thread.
//!
//! The frames of a suspended computation may refer to values of the fiber, the task or the thread
//! in which it was suspended: to a value of a `fiber_local!`, for example, which is dropped when
//! the fiber ends. Therefore it goes on there or nowhere.
//!
//! When a fiber ends, its suspended computations are unwound first, and then each local is dropped,
//! see `Locals`. A task's computations go on in it, or stay for ever. Then the locals of the task
//! stay with them, and so do the locals of the fiber or thread on whose stack they were suspended.
//!
//! # Hooks
//!
//! Hooks run between fibers, but have the locals of the fiber for which they are called. So while
//! they run the thread has another home, see `Apart`: a computation that they suspend goes on in
//! the same call or nowhere.
//!
//! # Threads
//!
//! The system drops a thread's locals, the youngest first, and does not tell that this has begun. So
//! thread-locals of this module end the thread's home: a destructor that runs after one of them
//! finds that the computations of the thread belong to nothing any more. An ending local that is
//! older than a local to which a computation refers comes too late. Therefore another one is made
//! whenever the number of computations that have been kept on the thread is a power of two: the code
//! of a program soon has no locals to make. A computation that is dropped, and not resumed, also
//! asks `lisle_core::thread_end`, which is certain and takes long.

use crate::event::parker;
use crate::sched::worker::with_current;
use crate::spawned::kept::{Entry, Home};
use crate::spawned::this_stack::{ThisStack, this_stack};
use crate::task;
use lisle_core::internal::thread_end;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static LAST: Cell<u64> = const { Cell::new(0) };
    /// The number of computations that were kept on this thread, outside of fibers, and of homes.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// How many of the ends have been made.
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// Ends the home of a thread with its locals.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        // The home of a fiber, if it has called `exit`.
        this_stack().state().handled.home.set(0);
    }
}

/// Defines the thread-locals that end the home of a thread, and the functions that make them.
macro_rules! ends {
    ($($name:ident)+) => {
        thread_local! {
            $(static $name: End = const { End };)+
        }
        const ENDS: &[fn()] = &[$(|| $name.try_with(|_| ()).unwrap_or_default()),+];
    };
}

ends!(A B C D E F G H I J K L M N O P Q R S T U V W X Y Z AA BB CC DD EE FF GG HH II JJ KK LL MM NN);

/// Has the home of this thread end before the locals that were made until now.
#[cold]
fn make_end() {
    let made = MADE.get();
    if let Some(make) = ENDS.get(made) {
        MADE.set(made + 1);
        make();
    }
}

/// Counts a computation that needs a home that ends with the thread.
#[inline]
fn count() {
    COUNT.set(COUNT.get() + 1);
    if COUNT.get().is_power_of_two() {
        make_end();
    }
}

impl Home {
    /// Returns the home of the code that runs here.
    #[inline]
    pub fn here() -> Self {
        Self::of(this_stack())
    }

    #[inline]
    fn of(stack: ThisStack<'_>) -> Self {
        let of_stack = &stack.state().handled.home;
        if of_stack.get() == 0 {
            of_stack.set(next());
        }
        let task = if stack.task.get().is_null() { 0 } else { of_task() };
        Home { stack: of_stack.get(), task }
    }

    /// Returns `true` if computations that were suspended on this thread must not be unwound any more,
    /// be it in a fiber or not: frames may refer to locals of the thread that are gone. It walks the
    /// stack, which may belong to a fiber that has called `exit`.
    pub fn is_ending() -> bool {
        thread_end::is_ending()
    }

    /// Describes the running code, for messages.
    pub fn describe() -> &'static str {
        if !this_stack().task.get().is_null() {
            "a task"
        } else if parker::running().is_some() {
            "a fiber"
        } else if with_current(|worker| worker.is_some_and(|worker| worker.hooked_fiber().is_some())) {
            "a hook"
        } else if thread_end::is_ending() {
            "the destructor of a thread-local"
        } else {
            "a thread"
        }
    }
}

/// Puts a computation that has just been suspended here into the list of suspended ones of this stack. The
/// end of a fiber calls `end` with the computations that were suspended in it, outside of tasks. `end`
/// returns `false` for one that stays as it is.
///
/// # Safety
///
/// The entry is in no list, and stays at its place until it has been taken out. `end` may be called
/// with it then.
#[inline(always)]
pub unsafe fn wait(entry: &Entry, end: unsafe fn(NonNull<Entry>) -> bool) {
    let stack = this_stack();
    let home = Home::of(stack);
    let end = if stack.is_of_fiber() {
        Some(end)
    } else {
        count_kept(home);
        None
    };
    // SAFETY: passed on to the caller, and this runs on that stack.
    unsafe { stack.state().handled.kept.link(entry, home, end) };
}

/// Takes a computation that goes on or has ended out of the list, if it is there.
#[inline(always)]
pub fn wait_no_more(entry: &Entry) {
    // SAFETY: it was in a list.
    if entry.unlink() && unsafe { entry.home() }.task != 0 {
        // SAFETY: as above.
        count_kept_no_more(unsafe { entry.home() });
    }
}

/// Counts a computation that was suspended on a thread's own stack, or in a task.
#[inline]
fn count_kept(home: Home) {
    if home.task == 0 {
        return count();
    }
    if let Some(task) = task::current() {
        // SAFETY: the current task is alive, and only the thread that runs it touches its cells.
        unsafe { task.as_ref() }.keeps_one_more();
    }
}

/// Counts a computation that no longer waits in its task. One that ends outside of the task is not
/// counted: it has not begun, or the task has ended.
#[cold]
fn count_kept_no_more(home: Home) {
    // SAFETY: the current task is alive, and only the thread that runs it touches its cells.
    let task = task::current().map(|task| unsafe { task.as_ref() });
    if let Some(task) = task.filter(|task| task.number.get() == home.task) {
        task.keeps_one_less();
    }
}

/// Returns a number that no fiber of this thread, nor the thread, has had.
#[cold]
fn next() -> u64 {
    // Also for a fiber: it may call `exit`.
    count();
    LAST.set(LAST.get() + 1);
    LAST.get()
}

/// Returns the number of the current task. Tasks come from other threads, so all have different
/// ones.
#[cold]
fn of_task() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let Some(task) = task::current() else { return 0 };
    // SAFETY: the current task is alive, and only the thread that runs it touches its cells.
    let number = unsafe { &task.as_ref().number };
    if number.get() == 0 {
        number.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
    }
    number.get()
}
