//! The state of a heap, and how performers enter and leave it.

use crate::session::{Gate, Session};
use crate::space::{Place, Spaces};
use crate::table::Table;
use lisle_core::event::step::{self, Forbidden};
use lisle_core::internal::abort;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;

pub(crate) struct Inner {
    pub(crate) ratio: f64,
    pub(crate) limit: usize,
    pub(crate) globals: Arc<Table>,
    pub(crate) place: Place,
    /// All of these are used by the thread that is inside.
    pub(crate) spaces: UnsafeCell<Spaces>,
    pub(crate) sessions: UnsafeCell<Sessions>,
    gate: Gate,
}

// SAFETY: the thread that is inside uses the place, the spaces and the sessions, and the gate lets in one
// at a time. What objects contain is `Send` and `Sync`.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

/// Each session is a box that scopes point to. `Box` itself would claim that nothing else does.
#[derive(Default)]
pub(crate) struct Sessions {
    /// The sessions of threads that are inside or in `outside`.
    pub(crate) open: Vec<NonNull<Session>>,
    unused: Vec<NonNull<Session>>,
}

impl Drop for Sessions {
    fn drop(&mut self) {
        for session in self.open.iter().chain(&self.unused) {
            // SAFETY: `enter` has leaked the box, and no thread has the session open any more.
            drop(unsafe { Box::from_raw(session.as_ptr()) });
        }
    }
}

impl Inner {
    pub(crate) fn new(name: String, ratio: f64, limit: usize, place: Place, spaces: Spaces) -> Self {
        Self {
            ratio,
            limit,
            globals: Arc::new(Table::new(name)),
            place,
            spaces: UnsafeCell::new(spaces),
            sessions: UnsafeCell::default(),
            gate: Gate::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.globals.heap()
    }

    /// Calls `f` inside, with the session of the performer here.
    #[track_caller]
    pub(crate) fn enter<R>(&self, forbidden: Forbidden, f: impl FnOnce(&Session, &Self) -> R) -> R {
        let open = Session::open_here(|session| self.check_allowed_in(session));
        // SAFETY: a session stays while it is open.
        let open = unsafe { open.as_ref() };
        self.gate.enter();
        let session = open.unwrap_or_else(|| self.open_session());
        session.inside.set(true);
        let _leave = Leave {
            inner: self,
            session,
            depth: session.depth.get(),
            fence: session.fence.get(),
            closes: open.is_none(),
        };
        step::fenced(forbidden, || {
            session.fence.set(step::innermost());
            f(session, self)
        })
    }

    /// Panics if a session that may have called this code is one of another heap, or is inside.
    #[track_caller]
    fn check_allowed_in(&self, session: &Session) {
        let other = session.heap.get();
        if !std::ptr::eq(other, self) {
            // SAFETY: a heap stays while a session is open in it.
            let other = unsafe { (*other).name() };
            panic!(
                "a session is open in the heap `{other}`, and its fiber or thread cannot enter the heap `{}`: handles of one must not be \
                 used with the other. Leave the first, or use a fiber or thread each",
                self.name()
            );
        }
        assert!(
            !session.inside.get(),
            "this code is inside the heap `{}` already. Pass `&mut Scope` to the code that needs it",
            self.name()
        );
    }

    /// Opens a session of the performer here, which has passed the gate.
    fn open_session(&self) -> &Session {
        // SAFETY: this thread is inside.
        let sessions = unsafe { &mut *self.sessions.get() };
        let session =
            sessions.unused.pop().unwrap_or_else(|| NonNull::from(Box::leak(Box::new(Session::new()))));
        sessions.open.push(session);
        // SAFETY: the session stays until the heap is dropped.
        let session = unsafe { session.as_ref() };
        session.heap.set(self);
        session.list();
        session
    }

    /// Lets other threads in while `f` runs.
    pub(crate) fn outside<R>(&self, session: &Session, f: impl FnOnce() -> R) -> R {
        struct Back<'a>(&'a Inner, &'a Session, usize);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                // First, since a session that was left open inside would keep the gate.
                check_depth(self.1, self.2);
                self.0.gate.enter();
                self.1.inside.set(true);
            }
        }
        let _back = Back(self, session, session.depth.get());
        session.inside.set(false);
        self.gate.leave();
        step::lifted(session.fence.get(), f)
    }
}

/// Ends the process if scopes are open that should have ended: a coroutine that has another order of calls
/// has left one open, and its roots would be mixed up with other roots.
#[inline]
pub(crate) fn check_depth(session: &Session, depth: usize) {
    if session.depth.get() != depth {
        left_open();
    }
}

#[cold]
fn left_open() -> ! {
    abort::process(
        "a scope of a heap was left open while an outer one ended. Scopes must end in the reverse order in which they began, also \
         where coroutines switch stacks",
    )
}

struct Leave<'a> {
    inner: &'a Inner,
    session: &'a Session,
    depth: usize,
    /// The fence of the session that goes on, if this one is nested.
    fence: usize,
    closes: bool,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        check_depth(self.session, self.depth);
        self.session.inside.set(false);
        self.session.fence.set(self.fence);
        if self.closes {
            self.session.unlist();
            // SAFETY: this thread is inside until the gate is left.
            let sessions = unsafe { &mut *self.inner.sessions.get() };
            let mine = NonNull::from(self.session);
            let index =
                sessions.open.iter().position(|session| *session == mine).expect("an open session is listed");
            let session = sessions.open.swap_remove(index);
            sessions.unused.push(session);
        }
        self.inner.gate.leave();
    }
}
