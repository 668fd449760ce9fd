//! Case 28: stacks and queues without locks, on `Slot::compare_exchange`, that several threads share; and destructors
//! of objects that threads pass to each other.

use crate::support::{Random, together, watched};
use lisle_heap::{Array, Global, Heap, Kind, Local, Object, Scope, Slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;

const THREADS: usize = 4;
/// The number of values that each thread pushes.
const VALUES: u32 = if cfg!(miri) { 40 } else { 20_000 };

#[derive(Object)]
struct Item {
    value: u32,
    next: Slot<Option<Item>>,
}

#[derive(Object)]
struct Stack {
    top: Slot<Option<Item>>,
}

impl Stack {
    fn push(s: &mut Scope<'_>, stack: Local<'_, Self>, value: u32) {
        s.scope(|s| {
            let item = s.alloc::<Item>(Item::init(value, None));
            let (stack, item) = (stack.get(s), item.get(s));
            loop {
                let top = stack.top();
                item.get().next.set(s, top);
                if stack.get().top.compare_exchange(s, top, item).is_ok() {
                    return;
                }
            }
        });
    }

    /// Pops a value. In some cases others collect between the loads and the exchange.
    fn pop(s: &mut Scope<'_>, stack: Local<'_, Self>, random: &mut Random) -> Option<u32> {
        loop {
            let popped = s.scope(|s| {
                let Some(top) = stack.get(s).top() else { return Some(None) };
                let (top, next) = (s.local::<Item>(top), s.local::<Option<Item>>(top.next()));
                match random.below(500) {
                    0 => s.outside(thread::yield_now),
                    1..=30 => s.outside(|| ()),
                    _ => {}
                }
                // The handle keeps the item, so no other item has its address meanwhile. An item is pushed once.
                let exchanged = stack.get(s).get().top.compare_exchange(s, top, next);
                exchanged.is_ok().then(|| Some(top.get(s).value))
            });
            if let Some(popped) = popped {
                return popped;
            }
        }
    }
}

/// The queue of Michael and Scott: the first item has been popped already, and the last one is at `tail` or next to it.
#[derive(Object)]
struct Queue {
    head: Slot<Item>,
    tail: Slot<Item>,
}

impl Queue {
    fn push(s: &mut Scope<'_>, queue: Local<'_, Self>, value: u32) {
        s.scope(|s| {
            let item = s.alloc::<Item>(Item::init(value, None));
            let (queue, item) = (queue.get(s), item.get(s));
            loop {
                let tail = queue.tail();
                // A failure says that another thread has moved the tail.
                let Err(next) = tail.get().next.compare_exchange(s, None, item) else {
                    let _ = queue.get().tail.compare_exchange(s, tail, item);
                    return;
                };
                let next = next.expect("it was not `None`");
                let _ = queue.get().tail.compare_exchange(s, tail, next);
            }
        });
    }

    fn pop(s: &mut Scope<'_>, queue: Local<'_, Self>) -> Option<u32> {
        let queue = queue.get(s);
        loop {
            let (head, tail) = (queue.head(), queue.tail());
            let next = head.next();
            match next {
                None => return None,
                Some(next) if head == tail => {
                    let _ = queue.get().tail.compare_exchange(s, tail, next);
                }
                Some(next) => {
                    if queue.get().head.compare_exchange(s, head, next).is_ok() {
                        return Some(next.value);
                    }
                }
            }
        }
    }
}

/// Lets each thread push its values and pop others' with these operations, and returns the values that each has popped.
fn exchange<T: Object>(
    heap: &Heap,
    shared: &Global<T>,
    push: impl Fn(&mut Scope<'_>, Local<'_, T>, u32) + Sync,
    pop: impl Fn(&mut Scope<'_>, Local<'_, T>, &mut Random) -> Option<u32> + Sync,
) -> Vec<Vec<u32>> {
    let all = AtomicUsize::new(0);
    let popped = together(THREADS, |me, meeting| {
        let mut random = Random(me as u64 * 2 + 1);
        let (mut pushed, mut popped) = (0, Vec::new());
        meeting.wait();
        heap.enter(|s| {
            let shared = s.local::<T>(shared);
            while all.load(Ordering::Relaxed) < THREADS * VALUES as usize {
                if pushed < VALUES && random.below(2) == 0 {
                    push(s, shared, (me as u32) << 24 | pushed);
                    pushed += 1;
                } else if let Some(value) = pop(s, shared, &mut random) {
                    popped.push(value);
                    all.fetch_add(1, Ordering::Relaxed);
                } else if pushed == VALUES {
                    // The others have the values that are missing.
                    meeting.check();
                    s.outside(thread::yield_now);
                }
                match random.below(2_000) {
                    0 => s.collect(Kind::Full),
                    1..=5 => s.collect(Kind::Minor),
                    6 | 7 => s.outside(thread::yield_now),
                    8..=40 => s.poll(),
                    _ => {}
                }
            }
        });
        popped
    });
    let mut values: Vec<u32> = popped.iter().flatten().copied().collect();
    values.sort_unstable();
    // Each value was popped once.
    assert!(
        values.iter().copied().eq((0..THREADS as u32).flat_map(|me| (0..VALUES).map(move |n| me << 24 | n)))
    );
    popped
}

fn ends_empty(heap: &Heap) {
    heap.collect(Kind::Full);
    assert_eq!((heap.verify(), heap.stats().live_bytes), (Ok(()), 0));
}

#[test]
fn case_28_a_stack_that_threads_share_loses_and_doubles_nothing() {
    let _watched = watched();
    for nursery in [1 << 16, 1 << 20] {
        let heap = Heap::builder().nursery(nursery).build();
        let stack = heap.enter(|s| {
            let stack = s.alloc::<Stack>(Stack::init(None));
            s.global::<Stack>(stack)
        });
        exchange(&heap, &stack, Stack::push, Stack::pop);
        heap.enter(|s| assert!(s.local::<Stack>(&stack).get(s).top().is_none()));
        drop(stack);
        ends_empty(&heap);
    }
}

#[test]
fn case_28_a_queue_that_threads_share_keeps_the_order_of_each() {
    let _watched = watched();
    for nursery in [1 << 16, 1 << 20] {
        let heap = Heap::builder().nursery(nursery).build();
        let queue = heap.enter(|s| {
            let first = s.alloc::<Item>(Item::init(u32::MAX, None));
            let queue = s.alloc::<Queue>(Queue::init(first, first));
            s.global::<Queue>(queue)
        });
        let popped = exchange(&heap, &queue, Queue::push, |s, queue, _| Queue::pop(s, queue));
        // The values of a thread arrive at each other one in their order.
        for values in popped {
            for from in 0..THREADS as u32 {
                let of_one = values.iter().filter(|value| *value >> 24 == from);
                assert!(of_one.is_sorted());
            }
        }
        drop(queue);
        ends_empty(&heap);
    }
}

/// How often the destructor of each object has run.
type Runs = Arc<Vec<AtomicU8>>;

struct Counts(usize, Runs);

impl Drop for Counts {
    fn drop(&mut self) {
        self.1[self.0].fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts {
    fn is_alive(&self) -> bool {
        self.1[self.0].load(Ordering::Relaxed) == 0
    }
}

#[derive(Object)]
struct Owner {
    counts: Counts,
    other: Slot<Option<Owner>>,
    large: Slot<Option<Large>>,
}

/// Larger than a cell.
#[derive(Object)]
struct Large {
    counts: Counts,
    _words: [u64; 200],
}

/// Threads put objects on a board, link them there, and forget them, while all collect.
#[test]
fn destructors_run_once_whichever_thread_collects() {
    const BOARD: usize = 64;
    const OBJECTS: usize = if cfg!(miri) { 100 } else { 20_000 };
    let _watched = watched();
    let runs: Runs = Arc::new((0..THREADS * OBJECTS * 2).map(|_| AtomicU8::new(0)).collect());
    let heap = Heap::builder().nursery(1 << 17).build();
    let board = heap.enter(|s| {
        let board = s.array::<Option<Owner>>(BOARD, None);
        s.global::<Array<Option<Owner>>>(board)
    });
    let made = together(THREADS, |me, meeting| {
        let mut random = Random(me as u64 * 2 + 1);
        let mut numbers = (me * OBJECTS * 2..).map(|number| Counts(number, runs.clone()));
        let mut made = 0;
        meeting.wait();
        heap.enter(|s| {
            let board = s.local::<Array<Option<Owner>>>(&board);
            for _ in 0..OBJECTS {
                s.scope(|s| {
                    let large = (random.below(50) == 0)
                        .then(|| s.alloc::<Large>(Large::init(numbers.next().unwrap(), [0; 200])));
                    let owner = s.alloc::<Owner>(Owner::init(numbers.next().unwrap(), None, large));
                    made += 1 + usize::from(large.is_some());
                    let board = board.get(s);
                    // The owner gets an object of others, and takes its place or another one.
                    let other = board.at(random.below(BOARD)).get();
                    if let Some(other) = other {
                        assert!(
                            other.counts.is_alive()
                                && other.large().is_none_or(|large| large.counts.is_alive())
                        );
                        // Not the whole history.
                        other.get().other.set(s, None);
                        owner.get(s).get().other.set(s, other);
                    }
                    board.at(random.below(BOARD)).set(s, owner);
                });
                match random.below(400) {
                    0 => s.collect(Kind::Full),
                    1..=3 => s.collect(Kind::Minor),
                    4 => s.outside(thread::yield_now),
                    5..=15 => s.poll(),
                    _ => {}
                }
            }
        });
        made
    });
    let runs_of = |run: u8| runs.iter().filter(|runs| runs.load(Ordering::Relaxed) == run).count();
    let made: usize = made.into_iter().sum();
    // No more than the board keeps: an object, its other one, and two large ones.
    heap.collect(Kind::Full);
    assert!((made - BOARD * 4..=made).contains(&runs_of(1)), "{} of {made}", runs_of(1));
    assert_eq!(heap.verify(), Ok(()));
    drop((board, heap));
    assert_eq!((runs_of(1), runs_of(0)), (made, runs.len() - made));
}
