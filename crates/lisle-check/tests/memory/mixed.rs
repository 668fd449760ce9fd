//! Atomics together with the library's primitives: exploring finds all that sampling finds, and
//! locks and messages order accesses that the atomics do not order.

use lisle::sync::Mutex;
use lisle::{channel, spawn};
use lisle_check::atomic::{AtomicU32, Ordering, fence};
use lisle_check::{Checker, Memory, Verdict};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

type Outcomes = Arc<std::sync::Mutex<BTreeSet<Vec<u32>>>>;

/// A step of a fiber of a random program.
#[derive(Clone, Debug)]
enum Op {
    Load(usize, Ordering),
    Store(usize, u32, Ordering),
    Add(usize, Ordering),
    Fence(Ordering),
    Locked(Vec<Op>),
    Send(u32),
    Receive,
}

#[derive(Clone, Debug)]
struct Program(Vec<Vec<Op>>);

struct Shared {
    atomics: [AtomicU32; 2],
    lock: Mutex<()>,
    messages: (channel::Sender<u32>, channel::Receiver<u32>),
}

fn run(ops: &[Op], shared: &Shared, seen: &mut Vec<u32>) {
    for op in ops {
        match op {
            Op::Load(at, order) => seen.push(shared.atomics[*at].load(*order)),
            Op::Store(at, value, order) => shared.atomics[*at].store(*value, *order),
            Op::Add(at, order) => seen.push(shared.atomics[*at].fetch_add(1, *order)),
            Op::Fence(order) => fence(*order),
            Op::Locked(ops) => {
                let _guard = shared.lock.lock();
                run(ops, shared, seen);
            }
            Op::Send(message) => seen.push(u32::from(shared.messages.0.try_send(*message).is_ok())),
            Op::Receive => seen.push(shared.messages.1.try_recv().unwrap_or(0)),
        }
    }
}

fn explore(program: &Program, checker: Checker) -> (Verdict, BTreeSet<Vec<u32>>) {
    let outcomes = Outcomes::default();
    let (program, of_program) = (Arc::new(program.clone()), outcomes.clone());
    let verdict = checker.explore(move || {
        let shared = Arc::new(Shared {
            atomics: [const { AtomicU32::new(0) }; 2],
            lock: Mutex::new(()),
            messages: channel::bounded(2),
        });
        let fibers: Vec<_> = (0..program.0.len())
            .map(|fiber| {
                let (program, shared) = (program.clone(), shared.clone());
                spawn(move || {
                    let mut seen = Vec::new();
                    run(&program.0[fiber], &shared, &mut seen);
                    seen
                })
            })
            .collect();
        let mut seen: Vec<u32> = fibers.into_iter().flat_map(|fiber| fiber.join().unwrap()).collect();
        seen.extend(shared.atomics.each_ref().map(|atomic| atomic.load(Relaxed)));
        of_program.lock().unwrap().insert(seen);
    });
    let outcomes = outcomes.lock().unwrap().clone();
    (verdict, outcomes)
}

fn operation(random: &mut fastrand::Rng, is_inner: bool) -> Op {
    let order = |random: &mut fastrand::Rng, orders: [Ordering; 3]| orders[random.usize(..3)];
    match random.usize(..if is_inner { 9 } else { 13 }) {
        0..4 => Op::Load(random.usize(..2), order(random, [Relaxed, Relaxed, Acquire])),
        4..7 => Op::Store(random.usize(..2), random.u32(1..3), order(random, [Relaxed, Relaxed, Release])),
        7 => Op::Add(random.usize(..2), order(random, [Relaxed, Acquire, SeqCst])),
        8 => Op::Fence(order(random, [Acquire, Release, SeqCst])),
        9..11 => Op::Locked((0..2).map(|_| operation(random, true)).collect()),
        11 => Op::Send(random.u32(1..3)),
        _ => Op::Receive,
    }
}

#[test]
fn exploring_finds_all_that_sampling_finds() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut weak = 0;
    for number in 0..40 {
        let fibers = 2 + usize::from(number % 3 == 0);
        let length = if fibers == 2 { 2 } else { 1 };
        // Between a store and a load, which is where weak orders show.
        let fibers = (0..fibers).map(|fiber| {
            let mut ops = vec![Op::Store(fiber % 2, 1, Relaxed)];
            ops.extend((0..length).map(|_| operation(&mut random, false)));
            ops.push(Op::Load(1 - fiber % 2, Relaxed));
            ops
        });
        let program = Program(fibers.collect());
        let memory = if number % 4 == 3 { Memory::Tso } else { Memory::Rc11 };
        let (verdict, all) = explore(&program, Checker::new().memory(memory));
        assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}\n{program:?}");
        for seed in 0..3 {
            let checker = Checker::new().memory(memory).executions(150);
            let checker = if seed == 2 { checker.priorities(seed, 3) } else { checker.random(seed) };
            let (_, some) = explore(&program, checker);
            let missed: Vec<_> = some.difference(&all).collect();
            assert!(missed.is_empty(), "{memory}: {verdict} misses {missed:?}\n{program:?}");
        }
        let (_, strong) = explore(&program, Checker::new().memory(Memory::Sc));
        assert!(strong.is_subset(&all), "{memory}: {verdict}\n{program:?}");
        weak += usize::from(strong.len() < all.len());
    }
    println!("{weak} programs do more than under sequential consistency");
    assert!(weak > 5);
}

#[test]
fn a_lock_orders_relaxed_operations_in_it_and_none_besides() {
    let store_buffering = |is_locked: bool| {
        let ops = |mine: usize| {
            let ops = vec![Op::Store(mine, 1, Relaxed), Op::Load(1 - mine, Relaxed)];
            if is_locked { vec![Op::Locked(ops)] } else { [ops, vec![Op::Locked(vec![])]].concat() }
        };
        explore(&Program(vec![ops(0), ops(1)]), Checker::new()).1
    };
    let is_weak = |outcome: &Vec<u32>| outcome[..2] == [0, 0];
    assert!(!store_buffering(true).iter().any(is_weak));
    assert!(store_buffering(false).iter().any(is_weak));
}

#[test]
fn a_message_orders_what_comes_before_it() {
    let program =
        Program(vec![vec![Op::Store(0, 1, Relaxed), Op::Send(1)], vec![Op::Receive, Op::Load(0, Relaxed)]]);
    let (_, outcomes) = explore(&program, Checker::new());
    // The send, the value received, the value loaded, and the last values.
    assert!(outcomes.contains(&vec![1, 1, 1, 1, 0]), "{outcomes:?}");
    assert!(!outcomes.contains(&vec![1, 1, 0, 1, 0]), "{outcomes:?}");
}
