//! Algorithms on atomics, each as it should be and with an order or a fence missing.

use lisle::spawn;
use lisle_check::atomic::{AtomicBool, AtomicI8, AtomicPtr, AtomicU32, Ordering, fence};
use lisle_check::cell::{Cell, UnsafeCell};
use lisle_check::{Checker, Failure, Memory, Verdict};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

fn explore(memory: Memory, program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = Checker::new().memory(memory).explore(program);
    println!("{verdict}");
    verdict
}

#[track_caller]
fn is_clean(memory: Memory, program: impl Fn() + Send + Sync + 'static) -> Verdict {
    let verdict = explore(memory, program);
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
    verdict
}

#[track_caller]
fn fails(memory: Memory, program: impl Fn() + Send + Sync + 'static) -> Failure {
    explore(memory, program).into_failure().expect("it goes wrong")
}

/// How two fibers see to it that only one of them is inside.
#[derive(Clone, Copy)]
struct Doorway {
    accesses: [Ordering; 2],
    has_fence: bool,
    /// Whose turn it is is said by an exchange.
    exchanges: bool,
}

const STRONG: Doorway = Doorway { accesses: [SeqCst, SeqCst], has_fence: false, exchanges: false };
const WEAK: Doorway = Doorway { accesses: [Acquire, Release], ..STRONG };
const FENCED: Doorway = Doorway { has_fence: true, ..WEAK };

/// Peterson's algorithm, which gives up instead of waiting.
fn peterson(doorway: Doorway) -> impl Fn() + Send + Sync + 'static {
    move || {
        let Doorway { accesses: [load, store], has_fence, exchanges } = doorway;
        let shared = Arc::new(([const { AtomicBool::new(false) }; 2], AtomicU32::new(0), AtomicU32::new(0)));
        let fibers = [0, 1].map(|me| {
            let shared = shared.clone();
            spawn(move || {
                let (wants, turn, inside) = &*shared;
                wants[me].store(true, store);
                if exchanges {
                    turn.swap(1 - me as u32, AcqRel);
                } else {
                    turn.store(1 - me as u32, store);
                }
                if has_fence {
                    fence(SeqCst);
                }
                if !wants[1 - me].load(load) || turn.load(load) == me as u32 {
                    assert_eq!(inside.fetch_add(1, Relaxed), 0);
                    inside.fetch_sub(1, Relaxed);
                }
                wants[me].store(false, store);
            })
        });
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

#[test]
fn peterson_needs_an_order_of_all() {
    for memory in [Memory::Sc, Memory::Tso, Memory::Rc11] {
        is_clean(memory, peterson(STRONG));
        is_clean(memory, peterson(Doorway { exchanges: true, ..FENCED }));
    }
    is_clean(Memory::Tso, peterson(FENCED));
    // A release orders nothing before a thread that only overwrites its value.
    fails(Memory::Rc11, peterson(FENCED));
    is_clean(Memory::Sc, peterson(WEAK));
    fails(Memory::Tso, peterson(WEAK));
    fails(Memory::Rc11, peterson(WEAK));
}

/// The doorway of Dekker's algorithm.
fn dekker(doorway: Doorway) -> impl Fn() + Send + Sync + 'static {
    move || {
        let Doorway { accesses: [load, store], has_fence, .. } = doorway;
        let shared = Arc::new(([const { AtomicBool::new(false) }; 2], AtomicU32::new(0)));
        let fibers = [0, 1].map(|me| {
            let shared = shared.clone();
            spawn(move || {
                let (wants, inside) = &*shared;
                wants[me].store(true, store);
                if has_fence {
                    fence(SeqCst);
                }
                if !wants[1 - me].load(load) {
                    inside.fetch_add(1, Relaxed);
                }
            })
        });
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(shared.1.load(Relaxed) <= 1);
    }
}

#[test]
fn dekker_needs_a_fence() {
    for memory in [Memory::Tso, Memory::Rc11] {
        is_clean(memory, dekker(STRONG));
        is_clean(memory, dekker(FENCED));
        assert!(fails(memory, dekker(WEAK)).panicked().is_some());
    }
}

struct Node {
    value: Cell<u32>,
    next: UnsafeCell<*mut Node>,
}

/// Treiber's stack. Its nodes are dropped at the end, so that no place is used twice.
struct Stack {
    top: AtomicPtr<Node>,
    push: Ordering,
    pop: Ordering,
}

impl Stack {
    fn push(&self, node: *mut Node) {
        let mut top = self.top.load(Relaxed);
        loop {
            // SAFETY: the node is the pusher's until it is on the stack.
            unsafe { (*node).next.with_mut(|next| *next = top) };
            match self.top.compare_exchange_weak(top, node, self.push, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut top = self.top.load(self.pop);
        loop {
            if top.is_null() {
                return None;
            }
            // SAFETY: nodes are dropped at the end only.
            let next = unsafe { (*top).next.with(|next| *next) };
            match self.top.compare_exchange(top, next, self.pop, self.pop) {
                // SAFETY: as above.
                Ok(_) => return Some(unsafe { (*top).value.get() }),
                Err(now) => top = now,
            }
        }
    }
}

struct Nodes(Vec<*mut Node>);

// SAFETY: the nodes are dropped when all others have ended.
unsafe impl Send for Nodes {}

fn treiber(push: Ordering, pop: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let stack = Arc::new(Stack { top: AtomicPtr::new(ptr::null_mut()), push, pop });
        let fibers = [1, 2].map(|value| {
            let stack = stack.clone();
            spawn(move || {
                let node = Node { value: Cell::new(value), next: UnsafeCell::new(ptr::null_mut()) };
                let node = Box::into_raw(Box::new(node));
                stack.push(node);
                (Nodes(vec![node]), stack.pop())
            })
        });
        let ended = fibers.map(|fiber| fiber.join().unwrap());
        let popped: u32 = ended.iter().map(|(_, value)| value.expect("there is one for each")).sum();
        assert_eq!(popped, 3);
        for node in ended.into_iter().flat_map(|(nodes, _)| nodes.0) {
            // SAFETY: `into_raw` has made it, and this was its last owner.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

#[test]
fn a_stack_hands_its_nodes_on() {
    is_clean(Memory::Rc11, treiber(Release, Acquire));
    is_clean(Memory::Rc11, treiber(SeqCst, SeqCst));
    // A reader of a node that was pushed without a release may see it before it is filled.
    assert!(fails(Memory::Rc11, treiber(Relaxed, Acquire)).race().is_some());
    assert!(fails(Memory::Rc11, treiber(Release, Relaxed)).race().is_some());
}

/// Treiber's stack with `next` as an atomic. Each fiber pushes and pops as often as `plan` says.
fn linked(plan: &'static [[u32; 2]]) -> impl Fn() + Send + Sync + 'static {
    struct Linked {
        next: AtomicPtr<Linked>,
    }

    struct Owned(Vec<*mut Linked>);
    // SAFETY: the nodes are dropped when all others have ended.
    unsafe impl Send for Owned {}

    move || {
        let top = Arc::new(AtomicPtr::<Linked>::new(ptr::null_mut()));
        let fibers: Vec<_> = plan
            .iter()
            .map(|&[pushes, pops]| {
                let top = top.clone();
                spawn(move || {
                    let push = |_| {
                        let node = Box::into_raw(Box::new(Linked { next: AtomicPtr::new(ptr::null_mut()) }));
                        let mut old = top.load(Relaxed);
                        loop {
                            // SAFETY: nodes are dropped at the end only.
                            unsafe { (*node).next.store(old, Relaxed) };
                            match top.compare_exchange(old, node, Release, Relaxed) {
                                Ok(_) => return node,
                                Err(now) => old = now,
                            }
                        }
                    };
                    let pop = |_| {
                        let mut old = top.load(Acquire);
                        while !old.is_null() {
                            // SAFETY: nodes are dropped at the end only.
                            let next = unsafe { (*old).next.load(Relaxed) };
                            match top.compare_exchange(old, next, Acquire, Acquire) {
                                Ok(_) => return,
                                Err(now) => old = now,
                            }
                        }
                    };
                    let nodes = Owned((0..pushes).map(push).collect());
                    (0..pops).for_each(pop);
                    nodes
                })
            })
            .collect();
        let ended: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
        for node in ended.into_iter().flat_map(|nodes| nodes.0) {
            // SAFETY: `into_raw` has made it, and this was its last owner.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

/// A fiber that pops may meet either node first, and the nodes stay different objects.
#[test]
fn a_stack_has_one_execution_for_each_graph() {
    let plans: [(&[[u32; 2]], u64); 4] = [
        (&[[1, 1], [1, 1]], 40),
        (&[[2, 0], [0, 2]], 11),
        (&[[1, 0], [1, 0], [0, 2]], 44),
        (&[[1, 0], [1, 0], [0, 1], [0, 1]], 164),
    ];
    for (plan, graphs) in plans {
        for workers in [1, 2] {
            let verdict = Checker::new().workers(workers).explore(linked(plan));
            assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
            assert_eq!((verdict.counts().complete, verdict.graphs()), (graphs, graphs), "{plan:?}");
        }
    }
}

/// A lock for readers who look again. A fence may be missing in the writer or in the reader.
fn sequence_lock(fences: [bool; 2]) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicU32::new(0), [const { AtomicU32::new(0) }; 2]));
        let of_writer = shared.clone();
        let writer = spawn(move || {
            let (version, data) = &*of_writer;
            version.store(1, Relaxed);
            if fences[0] {
                fence(Release);
            }
            data.iter().for_each(|data| data.store(1, Relaxed));
            version.store(2, Release);
        });
        let (version, data) = &*shared;
        let before = version.load(Acquire);
        let seen = data.each_ref().map(|data| data.load(Relaxed));
        if fences[1] {
            fence(Acquire);
        }
        if before == version.load(Relaxed) && before % 2 == 0 {
            assert_eq!(seen[0], seen[1]);
        }
        writer.join().unwrap();
    }
}

#[test]
fn a_sequence_lock_needs_both_fences() {
    is_clean(Memory::Rc11, sequence_lock([true, true]));
    fails(Memory::Rc11, sequence_lock([false, true]));
    fails(Memory::Rc11, sequence_lock([true, false]));
    is_clean(Memory::Tso, sequence_lock([false, false]));
}

struct Guarded {
    is_locked: AtomicBool,
    value: Cell<u32>,
}

// SAFETY: the value is used under the lock. (The check is whether that suffices.)
unsafe impl Sync for Guarded {}

fn spin_lock(acquire: Ordering, release: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let guarded = Arc::new(Guarded { is_locked: AtomicBool::new(false), value: Cell::new(0) });
        let fibers = [(); 3].map(|()| {
            let guarded = guarded.clone();
            spawn(move || {
                for _ in 0..2 {
                    if !guarded.is_locked.swap(true, acquire) {
                        guarded.value.set(guarded.value.get() + 1);
                        guarded.is_locked.store(false, release);
                        return 1;
                    }
                }
                0
            })
        });
        let times: u32 = fibers.map(|fiber| fiber.join().unwrap()).iter().sum();
        assert_eq!(guarded.value.get(), times);
    }
}

#[test]
fn a_lock_acquires_and_releases() {
    is_clean(Memory::Rc11, spin_lock(Acquire, Release));
    assert!(fails(Memory::Rc11, spin_lock(Relaxed, Release)).race().is_some());
    assert!(fails(Memory::Rc11, spin_lock(Acquire, Relaxed)).race().is_some());
}

#[test]
fn an_exchange_may_fail_without_a_reason() {
    let count = |is_loop: bool| {
        move || {
            let count = Arc::new(AtomicU32::new(0));
            let fibers = [(); 2].map(|()| {
                let count = count.clone();
                spawn(move || {
                    let mut before = count.load(Relaxed);
                    while let Err(now) = count.compare_exchange_weak(before, before + 1, Relaxed, Relaxed) {
                        assert!(is_loop || now != before, "it has failed without a reason");
                        before = now;
                    }
                })
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            assert_eq!(count.load(Relaxed), 2);
        }
    };
    is_clean(Memory::Rc11, count(true));
    assert!(fails(Memory::Rc11, count(false)).panicked().unwrap().contains("without a reason"));
}

#[test]
fn counts_of_updates_are_exact_in_any_order() {
    let verdict = is_clean(Memory::Rc11, || {
        let count = Arc::new(AtomicI8::new(2));
        let fibers = [(); 3].map(|()| {
            let count = count.clone();
            spawn(move || count.fetch_update(Relaxed, Relaxed, |n| Some(n - 1)).unwrap())
        });
        let mut seen = fibers.map(|fiber| fiber.join().unwrap());
        seen.sort();
        assert_eq!((seen, count.load(Relaxed)), ([0, 1, 2], -1));
    });
    assert!(verdict.graphs() >= 6, "{verdict}");
}

#[test]
fn what_was_given_up_to_one_owner_begins_anew() {
    is_clean(Memory::Rc11, || {
        let mut flag = AtomicU32::new(1);
        flag.store(2, Relaxed);
        *flag.get_mut() = 3;
        let flag = Arc::new(flag);
        let of_other = flag.clone();
        let other = spawn(move || of_other.load(Relaxed));
        assert_eq!(other.join().unwrap(), 3);
        assert_eq!(Arc::into_inner(flag).unwrap().into_inner(), 3);
    });
}

#[test]
fn the_verdict_says_which_model_was_used() {
    let relaxed = || {
        let flag = Arc::new(AtomicU32::new(0));
        let of_other = flag.clone();
        spawn(move || of_other.store(1, Relaxed)).join().unwrap();
        assert_eq!(flag.load(Relaxed), 1);
    };
    assert_eq!(
        is_clean(Memory::Rc11, relaxed).to_string(),
        "exhaustive: 1 executions of 1 graphs under rc11, all end"
    );
    assert_eq!(
        is_clean(Memory::Sc, relaxed).to_string(),
        "exhaustive: 1 executions, with every order taken for SeqCst, all end"
    );
    let strong = || {
        let flag = AtomicU32::new(0);
        flag.store(1, SeqCst);
    };
    assert_eq!(is_clean(Memory::Rc11, strong).to_string(), "exhaustive: 1 executions, all end");
}

#[test]
#[should_panic(expected = "there is no such thing as a release load")]
fn an_order_that_is_none_for_loads() {
    let failure = fails(Memory::Rc11, || {
        AtomicU32::new(0).load(Release);
    });
    panic!("{failure}");
}
