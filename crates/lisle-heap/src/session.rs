//! A session: the roots of a performer (a fiber, a task or a plain thread) that has entered a heap.

use crate::inner::Inner;
use crate::opened::{Entry, Links, Opened};
use crate::place::{self, Place};
use crate::roots::Roots;
use lisle_core::internal::performer::Here;
use std::cell::Cell;
use std::ptr;

thread_local! {
    static OPENED: Opened<Session> = const { Opened::new() };
}

pub(crate) struct Session {
    pub(crate) roots: Roots,
    pub(crate) heap: Cell<*const Inner>,
    /// The place of its thread.
    pub(crate) place: Cell<*const Place>,
    links: Links<Self>,
    /// Whether the performer uses the heap: it does not in `Scope::outside`.
    inside: Cell<bool>,
    /// The number of scopes that are open.
    pub(crate) depth: Cell<usize>,
    /// The fence that forbids waits inside.
    pub(crate) fence: Cell<usize>,
    /// Its index in the list of its place.
    pub(crate) index: Cell<usize>,
    /// Whether its roots may have changed since the last minor collection. It is in its place's list of these then.
    pub(crate) changed: Cell<bool>,
    /// The number of the last mark that has seen its roots.
    pub(crate) mark: Cell<u64>,
}

impl Entry for Session {
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Session {
    pub(crate) fn new() -> Self {
        Self {
            roots: Roots::new(),
            heap: Cell::new(ptr::null()),
            place: Cell::new(ptr::null()),
            links: Links::new(),
            inside: Cell::new(false),
            depth: Cell::new(0),
            fence: Cell::new(0),
            index: Cell::new(0),
            changed: Cell::new(false),
            mark: Cell::new(0),
        }
    }

    /// Returns the place of its thread.
    pub(crate) fn here(&self) -> place::Here<'_> {
        // SAFETY: a place stays while a session is open in it.
        place::Here::of(unsafe { &*self.place.get() })
    }

    /// Returns the session that the performer here has opened, or null. See [`Opened::of_performer`].
    pub(crate) fn open_here(here: Here, check: impl Fn(&Self)) -> *const Self {
        OPENED.with(|opened| opened.of_performer(here, check))
    }

    /// Returns the session of this thread that is inside, if any.
    pub(crate) fn inside_here<'a>() -> Option<&'a Self> {
        // SAFETY: a session stays while it is open, and the code that calls this runs inside of it.
        OPENED.with(|opened| unsafe { opened.inside().as_ref() })
    }

    /// Notes that the performer here has opened the session.
    pub(crate) fn list(&self, here: Here) {
        OPENED.with(|opened| opened.add(self, here));
    }

    /// Notes that the session is closed.
    pub(crate) fn unlist(&self) {
        OPENED.with(|opened| opened.remove(self));
    }

    #[inline]
    pub(crate) fn set_inside(&self, inside: bool) {
        self.inside.set(inside);
        OPENED.with(|opened| opened.set_inside(inside.then_some(self)));
    }

    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.get()
    }

    /// Returns `true` if its variables may be set in other sessions: a runtime that runs in its `outside`, on the stack of its
    /// thread, has fibers that need not be `Send`.
    pub(crate) fn is_shared(&self) -> bool {
        self.links.is_on_own_stack()
    }
}
