//! Models of the protocol: entering and leaving against a stop, two stops at once, the request to come to a safe point,
//! and help.

use super::{INSIDE, Member, State, World};
use lisle_core::internal::shim::unseen::{AtomicUsize, Ordering};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A member with an allocator that is open or closed, and objects that only the collector may change.
struct One {
    state: State,
    limit: AtomicUsize,
}

impl Member for One {
    fn state(&self) -> &State {
        &self.state
    }

    fn ask_to_stop(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }
}

struct Heap {
    world: World<One>,
    /// Members that are inside read it. Loom reports a collector that changes it meanwhile.
    objects: UnsafeCell<usize>,
}

// SAFETY: loom checks that no member reads while another one writes.
unsafe impl Sync for Heap {}
// SAFETY: a number.
unsafe impl Send for Heap {}

impl Heap {
    fn with_members(count: usize) -> (Arc<Self>, Vec<Arc<One>>) {
        let heap = Self { world: World::new(2), objects: UnsafeCell::new(0) };
        let member = || Arc::new(One { state: State::new(), limit: AtomicUsize::new(0) });
        let members: Vec<_> = (0..count).map(|_| member()).collect();
        members.iter().for_each(|member| heap.world.add(member.clone(), |_| {}));
        (Arc::new(heap), members)
    }

    /// Uses the heap, inside.
    fn read(&self) -> usize {
        // SAFETY: loom checks that no member writes.
        self.objects.with(|objects| unsafe { *objects })
    }

    /// Collects until this member, and not another, has done it.
    fn collect(&self, me: &One) {
        loop {
            if let Some(_stopped) = self.world.stop(me, |_| {}) {
                return self.count();
            }
        }
    }

    /// Does the same in its turn.
    fn collect_in_turn(&self, me: &One) {
        let _stopped = self.world.stop_in_turn(me, |_| {});
        self.count();
    }

    /// Changes the objects, in a stop.
    fn count(&self) {
        // SAFETY: loom checks that no member reads meanwhile.
        self.objects.with_mut(|objects| unsafe { *objects += 1 });
    }

    /// Forks the process, while `me` is inside. One member does so at a time.
    fn fork(&self, turn: &Mutex<()>, me: &One) {
        self.world.begin_fork(me);
        let turn = turn.lock().unwrap();
        let quiet = self.world.quiet(Some(me), |_| {});
        // The child gets them as they are now.
        self.read();
        quiet.go_on();
        drop(turn);
        // The next fork waits for it again.
        assert!(me.state.is(INSIDE));
    }

    /// Opens the allocator of a member.
    fn open(&self, me: &One) {
        me.limit.store(1, Ordering::Relaxed);
        self.world.order_before_look();
        if self.world.is_stopping() {
            me.limit.store(0, Ordering::Relaxed);
        }
    }
}

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn loom_nobody_is_inside_during_a_stop() {
    explore(3, || {
        let (heap, members) = Heap::with_members(2);
        let (there, other) = (heap.clone(), members[1].clone());
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                there.world.enter(&other);
                there.read();
                there.world.leave(&other);
            }
        });
        heap.world.enter(&members[0]);
        heap.collect(&members[0]);
        assert_eq!(heap.read(), 1);
        heap.world.leave(&members[0]);
        reader.join().unwrap();
    });
}

#[test]
fn loom_two_stop_at_once() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let (there, other) = (heap.clone(), members[1].clone());
        let second = thread::spawn(move || {
            there.world.enter(&other);
            there.collect(&other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        heap.collect(&members[0]);
        heap.world.leave(&members[0]);
        second.join().unwrap();
        assert_eq!(heap.read(), 2);
    });
}

/// A member that waits for its turn gets it, whatever the other one does.
#[test]
fn loom_a_member_stops_all_in_its_turn() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let (there, other) = (heap.clone(), members[1].clone());
        let second = thread::spawn(move || {
            there.world.enter(&other);
            there.collect(&other);
            there.collect(&other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        heap.collect_in_turn(&members[0]);
        heap.world.leave(&members[0]);
        second.join().unwrap();
        assert_eq!(heap.read(), 3);
    });
}

/// A member that opens its allocator does not hide a request. If it did, it would look for it for ever.
#[test]
fn loom_a_request_is_seen() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let (there, other) = (heap.clone(), members[1].clone());
        there.world.enter(&other);
        let allocates = thread::spawn(move || {
            there.open(&other);
            while other.limit.load(Ordering::Relaxed) != 0 {
                thread::yield_now();
            }
            there.world.hold(&other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        heap.collect(&members[0]);
        heap.world.leave(&members[0]);
        allocates.join().unwrap();
        assert_eq!(heap.read(), 1);
    });
}

/// A member that is added during a stop comes in after it.
#[test]
fn loom_a_member_is_added() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let there = heap.clone();
        let new = thread::spawn(move || {
            let other = Arc::new(One { state: State::new(), limit: AtomicUsize::new(0) });
            there.world.add(other.clone(), |_| {});
            there.world.enter(&other);
            there.read();
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        heap.collect(&members[0]);
        heap.collect(&members[0]);
        heap.world.leave(&members[0]);
        new.join().unwrap();
    });
}

/// Each call for help ends when all who have begun to help have ended, and nobody helps twice.
#[test]
fn loom_a_held_member_helps() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let (there, other) = (heap.clone(), members[1].clone());
        heap.world.enter(&other);
        let held = thread::spawn(move || {
            there.world.hold(&other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        let stopped = heap.world.stop(&members[0], |_| {}).expect("nobody else stops");
        let calls = Arc::new(AtomicUsize::new(0));
        for round in 1..=2 {
            let others = stopped.held();
            let help = calls.clone();
            stopped.with_help(others, &move || {
                help.fetch_add(1, Ordering::Relaxed);
            });
            let called = calls.swap(0, Ordering::Relaxed);
            assert!((1..=1 + others).contains(&called), "{called} calls in round {round}");
        }
        drop(stopped);
        heap.world.leave(&members[0]);
        held.join().unwrap();
    });
}

/// Two members that are inside fork at once, and neither waits for the other to come to a safe point.
#[test]
fn loom_two_fork_at_once() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let turn = Arc::new(Mutex::new(()));
        let (there, other, its_turn) = (heap.clone(), members[1].clone(), turn.clone());
        let second = thread::spawn(move || {
            there.world.enter(&other);
            there.fork(&its_turn, &other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        heap.fork(&turn, &members[0]);
        heap.read();
        heap.world.leave(&members[0]);
        second.join().unwrap();
    });
}

/// A collection waits for a member that forks, and that one does not wait for its end while it is inside.
#[test]
fn loom_one_forks_and_one_collects() {
    explore(2, || {
        let (heap, members) = Heap::with_members(2);
        let turn = Arc::new(Mutex::new(()));
        let (there, other) = (heap.clone(), members[1].clone());
        let second = thread::spawn(move || {
            there.world.enter(&other);
            there.collect(&other);
            there.world.leave(&other);
        });
        heap.world.enter(&members[0]);
        let before = heap.read();
        heap.fork(&turn, &members[0]);
        // No safe point has come between.
        assert_eq!(heap.read(), before);
        heap.world.leave(&members[0]);
        second.join().unwrap();
        assert_eq!(heap.read(), 1);
    });
}
