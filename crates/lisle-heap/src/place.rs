//! The place of a thread in a heap: its allocator, its log, and the sessions of its performers.
//!
//! A thread gets a place when it first enters a heap. When the thread ends, the place stays, with all that belongs to it, and
//! the next new thread takes it over.

use crate::inner::Inner;
use crate::lock::lock;
use crate::object::Cell as Word;
use crate::session::Session;
use crate::space::Young;
use crate::world::{Member, State};
use lisle_core::internal::performer;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Its thread writes to it at each allocation, so it shares no cache line.
#[repr(align(128))]
pub(crate) struct Place {
    state: State,
    pub(crate) young: Young,
    /// The number of the heap.
    heap: u64,
    /// Whether a thread has the place.
    owned: AtomicBool,
    /// Whether that thread is about to end, and gives the place up when it closes its last session.
    ends: Cell<bool>,
    /// Only its thread changes them. The collector reads them, so the thread may read them outside.
    sessions: UnsafeCell<Sessions>,
    /// The sessions whose roots may have changed since the last minor collection.
    changed: UnsafeCell<Vec<NonNull<Session>>>,
    /// The mark that goes on has not looked at the first so many of the open sessions, but for those that have been inside since
    /// it began.
    unmarked: Cell<usize>,
    /// Where the thread has entered, for reports.
    entered: AtomicPtr<Location<'static>>,
    /// The name of the thread, for reports.
    thread: Mutex<String>,
}

// SAFETY: its thread uses the allocator and the sessions while it is inside, and the collector while that thread has
// stopped. A thread that takes the place over has synchronized with the one before it by `owned`.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// Each session is a box that scopes point to. `Box` itself would claim that nothing else does.
#[derive(Default)]
struct Sessions {
    /// The sessions of performers that are inside or in `outside`.
    open: Vec<NonNull<Session>>,
    unused: Vec<NonNull<Session>>,
}

impl Drop for Sessions {
    fn drop(&mut self) {
        for session in self.open.iter().chain(&self.unused) {
            // SAFETY: `open_session` has leaked the box, and no thread has the session open any more.
            drop(unsafe { Box::from_raw(session.as_ptr()) });
        }
    }
}

impl Member for Place {
    fn state(&self) -> &State {
        &self.state
    }

    fn ask_to_stop(&self) {
        self.young.close();
    }
}

thread_local! {
    /// The place that this thread has used last.
    static LAST: Cell<*const Place> = const { Cell::new(ptr::null()) };
    /// The places of this thread.
    static MINE: RefCell<Mine> = const { RefCell::new(Mine(Vec::new())) };
}

struct Mine(Vec<Arc<Place>>);

impl Drop for Mine {
    fn drop(&mut self) {
        LAST.set(ptr::null());
        self.0.iter().for_each(|place| place.end());
    }
}

/// The place of this thread in a heap.
pub(crate) struct Here<'a> {
    pub(crate) place: &'a Place,
    /// Whether the place is to be given up at once, since the thread is about to end.
    temporary: bool,
}

impl<'a> Here<'a> {
    /// Returns a place that the thread has.
    #[inline]
    pub(crate) fn of(place: &'a Place) -> Self {
        Self { place, temporary: false }
    }
}

impl Drop for Here<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.temporary {
            self.place.give_up();
        }
    }
}

impl Place {
    fn new(inner: &Inner) -> Self {
        Self {
            state: State::new(),
            young: Young::new(inner.nursery.range()),
            heap: inner.number,
            owned: AtomicBool::new(true),
            ends: Cell::new(false),
            sessions: UnsafeCell::default(),
            changed: UnsafeCell::default(),
            unmarked: Cell::new(0),
            entered: AtomicPtr::new(ptr::null_mut()),
            thread: Mutex::default(),
        }
    }

    /// Returns the place of this thread in the heap.
    #[inline]
    pub(crate) fn here(inner: &Inner) -> Here<'_> {
        let last = LAST.get();
        // SAFETY: the thread has the place, so `MINE` keeps it.
        match unsafe { last.as_ref() } {
            Some(place) if place.heap == inner.number => Here::of(place),
            _ => Self::look_up(inner),
        }
    }

    #[cold]
    fn look_up(inner: &Inner) -> Here<'_> {
        let known = MINE.try_with(|mine| {
            let mut mine = mine.borrow_mut();
            if let Some(place) = mine.0.iter().find(|place| place.heap == inner.number) {
                return Arc::as_ptr(place);
            }
            // Those of heaps that are gone.
            LAST.set(ptr::null());
            mine.0.retain(|place| Arc::strong_count(place) > 1);
            let place = Self::take_over_or_make(inner);
            let pointer = Arc::as_ptr(&place);
            mine.0.push(place);
            pointer
        });
        match known {
            Ok(place) => {
                LAST.set(place);
                // SAFETY: the heap has the place, too.
                Here::of(unsafe { &*place })
            }
            Err(_) => {
                let place = Arc::as_ptr(&Self::take_over_or_make(inner));
                // SAFETY: as above.
                Here { place: unsafe { &*place }, temporary: true }
            }
        }
    }

    /// Takes over a place whose thread has ended, or makes one.
    fn take_over_or_make(inner: &Inner) -> Arc<Self> {
        let current = thread::current();
        let name = current.name().map_or_else(|| format!("{:?}", current.id()), |name| format!("`{name}`"));
        // In both closures no fork goes on, so that no child finds the name locked.
        let take = |place: &Self| {
            let taken =
                place.owned.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if taken {
                place.ends.set(false);
                place.set_name(&name);
            }
            taken
        };
        inner.world.find(take).unwrap_or_else(|| {
            let place = Arc::new(Self::new(inner));
            inner.world.add(place.clone(), |place| {
                place.young.set_shade(inner.shade());
                place.set_name(&name);
            });
            place
        })
    }

    fn set_name(&self, name: &str) {
        name.clone_into(&mut lock(&self.thread));
    }

    /// Returns the place that this thread has in the heap with this number, if any.
    pub(crate) fn of_this_thread(heap: u64) -> Option<*const Self> {
        let find = |mine: &RefCell<Mine>| {
            Some(Arc::as_ptr(mine.borrow().0.iter().find(|place| place.heap == heap)?))
        };
        let inside = Self::inside_here().map(|(_, place)| place).filter(|place| place.heap == heap);
        inside.map(ptr::from_ref).or_else(|| MINE.try_with(find).ok().flatten())
    }

    /// Returns the heap that this thread is inside of, if any, and its place there.
    pub(crate) fn inside_here<'a>() -> Option<(&'a Inner, &'a Self)> {
        // SAFETY: the heap and the place stay while a session is open there.
        Session::inside_here().map(|session| unsafe { (&*session.heap.get(), &*session.place.get()) })
    }

    /// Gives the place up, since its thread ends. Coroutines that are kept in thread-local variables may have sessions here, and
    /// use or close them when these variables are dropped. Then the last one that is closed gives it up.
    fn end(&self) {
        self.ends.set(true);
        // SAFETY: other threads do no more than read these.
        if unsafe { &*self.sessions.get() }.open.is_empty() {
            self.give_up();
        }
    }

    /// Leaves the place to another thread.
    pub(crate) fn give_up(&self) {
        self.owned.store(false, Ordering::Release);
    }

    /// Opens a session of the performer here.
    ///
    /// # Safety
    ///
    /// The place is that of this thread, which is inside.
    pub(crate) unsafe fn open_session(&self, heap: &Inner, here: performer::Here) -> &Session {
        // SAFETY: passed on to the caller.
        let sessions = unsafe { &mut *self.sessions.get() };
        let session =
            sessions.unused.pop().unwrap_or_else(|| NonNull::from(Box::leak(Box::new(Session::new()))));
        sessions.open.push(session);
        // SAFETY: the session stays as long as the place.
        let session = unsafe { session.as_ref() };
        session.heap.set(heap);
        session.place.set(self);
        session.index.set(sessions.open.len() - 1);
        // Its roots will be of objects that the mark reaches anyway.
        session.mark.set(heap.cycle.marks());
        session.list(here);
        session
    }

    /// Notes that the session has come inside, where its roots may change.
    ///
    /// # Safety
    ///
    /// The place is that of this thread, which is inside.
    #[inline]
    pub(crate) unsafe fn enter_session(&self, session: &Session) {
        session.set_inside(true);
        if !session.changed.get() {
            // SAFETY: passed on to the caller.
            unsafe { self.note_changed(session) };
        }
    }

    /// Notes that the roots of the session may change. A mark that has not looked at them does so now.
    #[cold]
    unsafe fn note_changed(&self, session: &Session) {
        session.changed.set(true);
        // SAFETY: passed on to the caller, and the session is one of this place.
        unsafe {
            (*self.changed.get()).push(NonNull::from(session));
            let marks = (*session.heap.get()).cycle.marks();
            if session.mark.replace(marks) != marks {
                _ = session.roots.each(|root| self.young.mark(root.load(Ordering::Relaxed)));
            }
        }
    }

    /// Closes a session that `open_session` has opened. Returns `true` if the thread is about to end, and has no other session
    /// here: it gives the place up when it has left.
    ///
    /// # Safety
    ///
    /// The place is that of this thread, which is inside.
    pub(crate) unsafe fn close_session(&self, session: &Session) -> bool {
        session.unlist();
        // SAFETY: passed on to the caller.
        let sessions = unsafe { &mut *self.sessions.get() };
        let index = session.index.get();
        let session = sessions.open.swap_remove(index);
        if let Some(moved) = sessions.open.get(index) {
            // SAFETY: the session stays as long as the place.
            unsafe { moved.as_ref() }.index.set(index);
        }
        // The one that has moved comes from behind, so none of the first ones is passed over.
        self.unmarked.set(self.unmarked.get().min(sessions.open.len()));
        sessions.unused.push(session);
        self.ends.get() && sessions.open.is_empty()
    }

    /// Calls `visit` for each open session.
    ///
    /// # Safety
    ///
    /// The thread of the place has stopped, or is this one.
    pub(crate) unsafe fn each_session(&self, mut visit: impl FnMut(&Session)) {
        // SAFETY: passed on to the caller.
        unsafe {
            (*self.sessions.get()).open.iter().for_each(|session| visit(session.as_ref()));
        }
    }

    /// Calls `visit` for each root that may be young, after which it is old. A session that was not inside since the last minor
    /// collection has none, and is not looked at. Returns the largest number of roots of a session.
    ///
    /// # Safety
    ///
    /// As for `each_session`.
    pub(crate) unsafe fn each_young_root(&self, mut visit: impl FnMut(&Word)) -> usize {
        let mut most = 0;
        // SAFETY: passed on to the caller.
        unsafe {
            (*self.changed.get()).retain(|session| {
                let session = session.as_ref();
                most = most.max(session.roots.each(&mut visit));
                session.changed.set(session.is_inside() || session.is_shared());
                session.changed.get()
            });
        }
        most
    }

    /// Begins a mark with this number: calls `visit` for the roots that may change from now on. The other sessions are looked at
    /// by `mark_sessions`, or when they come inside.
    ///
    /// # Safety
    ///
    /// The thread of the place has stopped, or is this one, and no root is young.
    pub(crate) unsafe fn begin_mark(&self, mark: u64, mut visit: impl FnMut(&Word)) {
        // SAFETY: passed on to the caller.
        unsafe {
            self.unmarked.set((&*self.sessions.get()).open.len());
            for session in &*self.changed.get() {
                _ = session.as_ref().roots.each(&mut visit);
                session.as_ref().mark.set(mark);
            }
        }
    }

    /// Calls `visit` for the roots of some of the sessions that the mark with this number has not looked at: of `least` sessions, or
    /// of a sixteenth of them if that is more. Returns `true` if none is left.
    ///
    /// # Safety
    ///
    /// As for `each_session`.
    pub(crate) unsafe fn mark_sessions(&self, mark: u64, least: usize, mut visit: impl FnMut(&Word)) -> bool {
        // SAFETY: passed on to the caller.
        unsafe {
            let (sessions, unmarked) = (&*self.sessions.get(), self.unmarked.get());
            let rest = unmarked - least.max(unmarked / 16).min(unmarked);
            for session in &sessions.open[rest..unmarked] {
                let session = session.as_ref();
                if session.mark.replace(mark) != mark {
                    _ = session.roots.each(&mut visit);
                }
            }
            self.unmarked.set(rest);
            rest == 0
        }
    }

    /// Notes where the thread enters.
    #[inline]
    pub(crate) fn note_entered(&self, site: &'static Location<'static>) {
        self.entered.store(ptr::from_ref(site).cast_mut(), Ordering::Relaxed);
    }

    /// Says which thread is inside, and since which call.
    pub(crate) fn describe(&self) -> String {
        let thread = lock(&self.thread);
        // SAFETY: null, or the address of a constant.
        match unsafe { self.entered.load(Ordering::Relaxed).as_ref() } {
            Some(site) => format!("the thread {thread}, which has entered at {site}"),
            None => format!("the thread {thread}"),
        }
    }
}
