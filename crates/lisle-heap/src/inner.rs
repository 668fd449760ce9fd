//! The state of a heap, and how performers enter and leave it.

use crate::guarded::Guards;
use crate::lock::lock;
use crate::place::{Here, Place};
use crate::session::Session;
use crate::space::{Cycle, NO_SHADE, Nursery, Old, Phase, shade_of};
use crate::stats::Stats;
use crate::table::Table;
use crate::world::World;
use lisle_core::event::step::{self, Forbidden};
use lisle_core::internal::{abort, affinity, performer};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct Inner {
    /// Tells heaps apart.
    pub(crate) number: u64,
    pub(crate) ratio: f64,
    pub(crate) limit: usize,
    /// Whether each allocation collects.
    pub(crate) stress: bool,
    pub(crate) globals: Arc<Table>,
    pub(crate) world: World<Place>,
    pub(crate) nursery: Nursery,
    /// The threads of a collection borrow its blocks, and large objects are born in it.
    pub(crate) old: Mutex<Old>,
    pub(crate) stats: Mutex<Stats>,
    pub(crate) cycle: Cycle,
    pub(crate) guards: Guards,
    /// The number of threads that may move objects in the next collection: for so many the old space has reserved blocks.
    pub(crate) movers: AtomicUsize,
    /// The number of processors.
    pub(crate) processors: usize,
    /// Whether a session with many handles was reported.
    pub(crate) roots_reported: AtomicBool,
}

/// A heap as `Builder` describes it.
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) ratio: f64,
    pub(crate) limit: usize,
    pub(crate) stress: bool,
    pub(crate) nursery: Nursery,
    pub(crate) old: Old,
}

impl Inner {
    pub(crate) fn new(parts: Parts) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let processors = affinity::processors();
        let Parts { name, ratio, limit, stress, nursery, old } = parts;
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            ratio,
            limit,
            stress,
            globals: Arc::new(Table::new(name, nursery.range())),
            world: World::new(processors),
            nursery,
            old: Mutex::new(old),
            stats: Mutex::default(),
            cycle: Cycle::default(),
            guards: Guards::default(),
            movers: AtomicUsize::new(1),
            processors,
            roots_reported: AtomicBool::new(false),
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.globals.heap()
    }

    /// Returns what a new place has to know of the mark that goes on, if one does. No stop may be going on.
    pub(crate) fn shade(&self) -> usize {
        match self.cycle.phase() {
            Phase::Marking => shade_of(lock(&self.old).colours),
            Phase::Idle | Phase::Sweeping => NO_SHADE,
        }
    }

    /// Calls `f` inside, with the session of the performer here.
    #[track_caller]
    pub(crate) fn enter<R>(&self, forbidden: Forbidden, f: impl FnOnce(&Session, &Place) -> R) -> R {
        let performer = performer::here();
        let open = Session::open_here(performer, |session| self.check_allowed_in(session));
        // SAFETY: a session stays while it is open.
        let open = unsafe { open.as_ref() };
        let here = open.map_or_else(|| Place::here(self), Session::here);
        let place = here.place;
        place.note_entered(forbidden.site);
        self.world.enter(place);
        // SAFETY: this thread is inside, in its place.
        let session = open.unwrap_or_else(|| unsafe { place.open_session(self, performer) });
        // SAFETY: as above.
        unsafe { place.enter_session(session) };
        let _leave = Leave {
            inner: self,
            here,
            session,
            depth: session.depth.get(),
            fence: session.fence.get(),
            closes: open.is_none(),
        };
        step::fenced(forbidden, || {
            session.fence.set(step::innermost());
            f(session, place)
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
            !session.is_inside(),
            "this code is inside the heap `{}` already. Pass `&mut Scope` to the code that needs it",
            self.name()
        );
    }

    /// Lets others collect while `f` runs.
    pub(crate) fn outside<R>(&self, session: &Session, place: &Place, f: impl FnOnce() -> R) -> R {
        struct Back<'a>(&'a Inner, &'a Session, &'a Place, usize);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                // First, since a session that was left open inside would be inside already.
                check_depth(self.1, self.3);
                self.0.world.enter(self.2);
                // SAFETY: this thread is inside, in its place.
                unsafe { self.2.enter_session(self.1) };
            }
        }
        let _back = Back(self, session, place, session.depth.get());
        session.set_inside(false);
        self.world.leave(place);
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
    /// Dropped after the rest.
    here: Here<'a>,
    session: &'a Session,
    depth: usize,
    /// The fence of the session that goes on, if this one is nested.
    fence: usize,
    closes: bool,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        check_depth(self.session, self.depth);
        self.session.set_inside(false);
        self.session.fence.set(self.fence);
        let place = self.here.place;
        // SAFETY: this thread is inside, in its place.
        let was_last = self.closes && unsafe { place.close_session(self.session) };
        self.inner.world.leave(place);
        if was_last {
            place.give_up();
        }
    }
}
