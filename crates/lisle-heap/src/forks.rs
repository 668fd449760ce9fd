//! Forks of the process.
//!
//! A child has all heaps and one thread. Another thread may have been in the middle of a change to a heap, which would stay half
//! done. So a fork first stops the threads that are inside of a heap, as a collection does, and holds the locks that others may
//! have. In the child the places of all other threads are without a thread: new ones take them over. The objects that their
//! sessions keep alive stay alive.

use crate::inner::Inner;
use crate::lock::lock;
use crate::place::Place;
use crate::table::Held;
use crate::world::Quiet;
use lisle_core::internal::fork::Handlers;
use lisle_core::internal::seam;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

static HEAPS: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());
/// One thread forks at a time.
static TURN: Mutex<()> = Mutex::new(());
static HANDLERS: Handlers = Handlers::around(before, in_parent, in_child);

/// What the thread that forks has stopped. Null between forks.
static STOPPED: AtomicPtr<Stopped> = AtomicPtr::new(ptr::null_mut());

/// The fields are dropped in this order.
struct Stopped {
    globals: Vec<Held<'static>>,
    heaps: Vec<One>,
    list: MutexGuard<'static, Vec<Weak<Inner>>>,
    /// Dropped last, since another thread may fork then.
    turn: MutexGuard<'static, ()>,
}

struct One {
    world: Quiet<'static, Place>,
    /// Keeps what the others borrow.
    heap: Arc<Inner>,
}

/// Makes sure that forks stop this heap.
pub(crate) fn watch(heap: &Arc<Inner>) {
    let mut heaps = lock(&HEAPS);
    HANDLERS.register();
    heaps.retain(|heap| heap.strong_count() > 0);
    heaps.push(Arc::downgrade(heap));
}

impl One {
    fn stop(heap: Arc<Inner>) -> Self {
        let late = |other: &Place| {
            seam::write(&format!(
                "a fork waits for a second to stop the heap `{}`, for {}. Code that waits, blocks or computes for long goes into \
                 `Scope::outside`, or calls `Scope::poll`",
                heap.name(),
                other.describe()
            ));
        };
        let world = heap.world.quiet(Place::of_this_thread(heap.number), late);
        // SAFETY: only the lifetime changes; `heap` is dropped later.
        let world = unsafe { transmute::<Quiet<'_, Place>, Quiet<'static, Place>>(world) };
        Self { world, heap }
    }

    fn hold_globals(&self) -> Held<'static> {
        // SAFETY: only the lifetime changes; `heap` is dropped later.
        unsafe { transmute::<Held<'_>, Held<'static>>(self.heap.globals.hold()) }
    }
}

extern "C" fn before() {
    // First, since the thread that forks now may wait for this one.
    if let Some((heap, place)) = Place::inside_here() {
        heap.world.begin_fork(place);
    }
    let turn = lock(&TURN);
    let mut heaps: Vec<One> = Vec::new();
    // A thread that is inside of one heap may make another one. So the list is not locked while others are waited for.
    let list = loop {
        let list = lock(&HEAPS);
        let is_new = |heap: &Arc<Inner>| heaps.iter().all(|stopped| !Arc::ptr_eq(&stopped.heap, heap));
        let new: Vec<_> = list.iter().filter_map(Weak::upgrade).filter(is_new).collect();
        if new.is_empty() {
            break list;
        }
        drop(list);
        heaps.extend(new.into_iter().map(One::stop));
    };
    // Last, since a thread that is inside of one heap may drop a global handle of another one.
    let globals = heaps.iter().map(One::hold_globals).collect();
    STOPPED.store(Box::into_raw(Box::new(Stopped { globals, heaps, list, turn })), Ordering::Relaxed);
}

fn take() -> Stopped {
    // SAFETY: `before` has stored it, on this thread.
    *unsafe { Box::from_raw(STOPPED.swap(ptr::null_mut(), Ordering::Relaxed)) }
}

/// Goes on. The heaps are dropped last, without a lock, since the destructors of their objects may run.
fn go_on(stopped: Stopped, each: impl Fn(Quiet<'static, Place>)) {
    let Stopped { globals, heaps, list, turn } = stopped;
    drop(globals);
    let mut kept = Vec::with_capacity(heaps.len());
    for One { world, heap } in heaps {
        each(world);
        kept.push(heap);
    }
    drop(list);
    drop(turn);
    drop(kept);
}

extern "C" fn in_parent() {
    go_on(take(), Quiet::go_on);
}

extern "C" fn in_child() {
    go_on(take(), |world| world.go_on_alone(Place::give_up));
}
