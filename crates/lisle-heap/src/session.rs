//! A session: the roots of a performer (a fiber, a task or a plain thread) that has entered a heap.

use crate::inner::Inner;
use crate::place::{Here, Place};
use crate::roots::Roots;
use lisle_core::event::performer_id;
use lisle_core::internal::performer::{is_in_task, is_on_own_stack};
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The sessions that the performers of this thread have opened: the first of a list. One of them is
    /// inside at most; the fibers of the others wait in `outside`.
    static OPEN: Cell<*const Session> = const { Cell::new(ptr::null()) };
}

pub(crate) struct Session {
    pub(crate) roots: Roots,
    pub(crate) heap: Cell<*const Inner>,
    /// The place of its thread.
    pub(crate) place: Cell<*const Place>,
    /// Whether the performer uses the heap: it does not in `Scope::outside`.
    pub(crate) inside: Cell<bool>,
    /// The number of scopes that are open.
    pub(crate) depth: Cell<usize>,
    /// The fence that forbids waits inside.
    pub(crate) fence: Cell<usize>,
    /// The performer that has opened the session.
    performer: Cell<usize>,
    /// Whether it was opened in no fiber, but on the thread's own stack.
    on_own_stack: Cell<bool>,
    next: Cell<*const Session>,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self {
            roots: Roots::new(),
            heap: Cell::new(ptr::null()),
            place: Cell::new(ptr::null()),
            inside: Cell::new(false),
            depth: Cell::new(0),
            fence: Cell::new(0),
            performer: Cell::new(0),
            on_own_stack: Cell::new(false),
            next: Cell::new(ptr::null()),
        }
    }

    /// Returns the session that the performer here has opened, or null. Calls `check` for it, and for those of
    /// other performers whose code may have called this code, with their handles at hand: a session that is
    /// inside, since nobody waits there, and one on the thread's own stack, below those of all fibers. The
    /// code of a task has been sent to where it runs, so it has no handles of that one.
    pub(crate) fn open_here(check: impl Fn(&Self)) -> *const Self {
        let (mut session, mut mine) = (OPEN.get(), ptr::null());
        // SAFETY: a session is listed while it is open, on the thread that has opened it.
        while let Some(open) = unsafe { session.as_ref() } {
            let is_mine = open.performer.get() == performer_id();
            if is_mine || open.inside.get() || (open.on_own_stack.get() && !is_in_task()) {
                check(open);
            }
            if is_mine {
                mine = session;
            }
            session = open.next.get();
        }
        mine
    }

    /// Returns the place of its thread.
    pub(crate) fn here(&self) -> Here<'_> {
        // SAFETY: a place stays while a session is open in it.
        Here::of(unsafe { &*self.place.get() })
    }

    /// Lists the session as open here.
    pub(crate) fn list(&self) {
        self.performer.set(performer_id());
        self.on_own_stack.set(is_on_own_stack());
        self.next.set(OPEN.replace(self));
    }

    /// Takes the session out of the list.
    pub(crate) fn unlist(&self) {
        let next = self.next.get();
        if ptr::eq(OPEN.get(), self) {
            OPEN.set(next);
            return;
        }
        let mut session = OPEN.get();
        // SAFETY: as in `open_here`.
        while let Some(open) = unsafe { session.as_ref() } {
            if ptr::eq(open.next.get(), self) {
                open.next.set(next);
                return;
            }
            session = open.next.get();
        }
    }
}
