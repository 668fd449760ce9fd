//! The sessions that the performers of a thread have opened.
//!
//! A thread may have ten thousand fibers that wait in `outside`, each with a session. So a fiber's session is found in a hash table.
//! The sessions that were opened on the thread's own stack are few: one for each of its coroutines of other crates at most. They
//! are a list, since all of them have to be looked at.

use lisle_core::internal::performer::Here;
use std::cell::Cell;
use std::ptr;

/// A session.
pub(crate) trait Entry: Sized {
    fn links(&self) -> &Links<Self>;
}

/// The links by which a session is found.
pub(crate) struct Links<S> {
    /// The performer that has opened it.
    performer: Cell<usize>,
    /// Whether it was opened in no fiber, but on the thread's own stack.
    on_own_stack: Cell<bool>,
    /// The next one in its list.
    next: List<S>,
}

impl<S> Links<S> {
    pub(crate) fn new() -> Self {
        Self { performer: Cell::new(0), on_own_stack: Cell::new(false), next: Cell::new(ptr::null()) }
    }

    pub(crate) fn is_on_own_stack(&self) -> bool {
        self.on_own_stack.get()
    }
}

/// The first of a list of sessions, or null.
type List<S> = Cell<*const S>;

/// The number of lists of a small table, which needs no allocation.
const FEW: usize = 16;

/// The sessions of a thread. It has no destructor, so it can be used while the thread's variables are dropped.
pub(crate) struct Opened<S> {
    /// The session that is inside: one at most, since all others wait in `outside`.
    inside: List<S>,
    /// The sessions that were opened on the thread's own stack.
    on_own_stack: List<S>,
    /// The sessions of fibers, by the hashes of their performers.
    few: [List<S>; FEW],
    /// In place of `few` if there are many. Freed when the last session of a fiber is closed.
    many: Cell<*const [List<S>]>,
    /// The number of sessions of fibers.
    count: Cell<usize>,
}

/// Returns the first session of the list for which `is_it` returns `true`, or null.
fn find<S: Entry>(list: &List<S>, is_it: impl Fn(&S) -> bool) -> *const S {
    let mut session = list.get();
    // SAFETY: a session is listed while it is open, on the thread that has opened it.
    while let Some(open) = unsafe { session.as_ref() } {
        if is_it(open) {
            break;
        }
        session = open.links().next.get();
    }
    session
}

fn add<S: Entry>(list: &List<S>, session: &S) {
    session.links().next.set(list.replace(session));
}

fn remove<S: Entry>(list: &List<S>, session: &S) {
    let next = session.links().next.get();
    if ptr::eq(list.get(), session) {
        list.set(next);
        return;
    }
    let before = find(list, |other| ptr::eq(other.links().next.get(), session));
    // SAFETY: as in `find`.
    unsafe { before.as_ref() }.expect("an open session is listed").links().next.set(next);
}

impl<S: Entry> Opened<S> {
    pub(crate) const fn new() -> Self {
        Self {
            inside: Cell::new(ptr::null()),
            on_own_stack: Cell::new(ptr::null()),
            few: [const { Cell::new(ptr::null()) }; FEW],
            many: Cell::new(ptr::slice_from_raw_parts(ptr::null(), 0)),
            count: Cell::new(0),
        }
    }

    fn lists(&self) -> &[List<S>] {
        let many = self.many.get();
        // SAFETY: if there are many, the slice is alive until the last session is closed, and no reference is kept.
        if many.is_empty() { &self.few } else { unsafe { &*many } }
    }

    /// Returns the list with the sessions of fibers whose performer has this number.
    fn list(&self, performer: usize) -> &List<S> {
        let lists = self.lists();
        // The numbers are addresses of objects, so their lowest bits are equal.
        let hash = (performer as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &lists[hash as usize & (lists.len() - 1)]
    }

    fn add_of_fiber(&self, session: &S) {
        self.count.set(self.count.get() + 1);
        if self.count.get() > self.lists().len() {
            self.grow();
        }
        add(self.list(session.links().performer.get()), session);
    }

    #[cold]
    fn grow(&self) {
        let longer: Box<[List<S>]> = (0..4 * self.lists().len()).map(|_| Cell::new(ptr::null())).collect();
        let before = self.many.get();
        let sessions: Vec<_> = self.lists().iter().map(|list| list.replace(ptr::null())).collect();
        self.many.set(Box::into_raw(longer));
        Self::free(before);
        for mut session in sessions {
            // SAFETY: as in `find`.
            while let Some(open) = unsafe { session.as_ref() } {
                session = open.links().next.get();
                add(self.list(open.links().performer.get()), open);
            }
        }
    }

    fn remove_of_fiber(&self, session: &S) {
        remove(self.list(session.links().performer.get()), session);
        self.count.set(self.count.get() - 1);
        if self.count.get() == 0 {
            Self::free(self.many.replace(ptr::slice_from_raw_parts(ptr::null(), 0)));
        }
    }

    fn free(many: *const [List<S>]) {
        if !many.is_empty() {
            // SAFETY: `grow` has made it, and has let go of the box.
            drop(unsafe { Box::from_raw(many.cast_mut()) });
        }
    }

    /// Returns the session that the performer here has opened, or null. Calls `check` for it, and for sessions of
    /// other performers whose code may have called this code, with their handles at hand: one that is
    /// inside, since no code waits there, and the sessions on the thread's own stack, below the stacks of all fibers. The
    /// code of a task has been sent to where it runs, so it has no handles of these.
    ///
    /// Complexity: constant, but for the number of coroutines of other crates.
    pub(crate) fn of_performer(&self, here: Here, check: impl Fn(&S)) -> *const S {
        let list = if here.is_on_own_stack { &self.on_own_stack } else { self.list(here.id) };
        let mine = find(list, |open| open.links().performer.get() == here.id);
        for pointer in [self.inside.get(), mine] {
            // SAFETY: as in `find`.
            if let Some(open) = unsafe { pointer.as_ref() } {
                check(open);
            }
        }
        if !here.is_in_task {
            find(&self.on_own_stack, |open| {
                check(open);
                false
            });
        }
        mine
    }

    /// Adds a session of the performer here.
    pub(crate) fn add(&self, session: &S, here: Here) {
        let links = session.links();
        links.performer.set(here.id);
        links.on_own_stack.set(here.is_on_own_stack);
        if here.is_on_own_stack {
            add(&self.on_own_stack, session);
        } else {
            self.add_of_fiber(session);
        }
    }

    /// Removes a session that is closed.
    pub(crate) fn remove(&self, session: &S) {
        if session.links().on_own_stack.get() {
            remove(&self.on_own_stack, session);
        } else {
            self.remove_of_fiber(session);
        }
    }

    /// Returns the session that is inside, or null.
    pub(crate) fn inside(&self) -> *const S {
        self.inside.get()
    }

    /// Notes which session is inside, or that none is.
    #[inline]
    pub(crate) fn set_inside(&self, session: Option<&S>) {
        self.inside.set(session.map_or(ptr::null(), ptr::from_ref));
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, FEW, Links, Opened, find};

    struct Session(Links<Self>);

    impl Entry for Session {
        fn links(&self) -> &Links<Self> {
            &self.0
        }
    }

    #[test]
    fn sessions_of_many_fibers_are_found() {
        let opened = Opened::new();
        let count = if cfg!(miri) { 3 * FEW } else { 20 * FEW };
        let sessions: Vec<Session> = (0..count).map(|_| Session(Links::new())).collect();
        let number = |index: usize| 0x7000 + 64 * index;
        for (index, session) in sessions.iter().enumerate() {
            session.0.performer.set(number(index));
            opened.add_of_fiber(session);
        }
        let found = |index: usize| {
            let session = find(opened.list(number(index)), |open| open.0.performer.get() == number(index));
            sessions.iter().position(|other| std::ptr::eq(other, session))
        };
        for index in 0..sessions.len() {
            assert_eq!(found(index), Some(index));
        }
        for (index, session) in sessions.iter().enumerate().rev() {
            opened.remove_of_fiber(session);
            assert_eq!(found(index), None);
            assert!(index == 0 || found(index - 1) == Some(index - 1));
        }
        assert_eq!(opened.lists().len(), FEW);
    }
}
