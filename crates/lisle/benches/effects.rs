//! Measurements of effects: `cargo bench -p lisle --bench effects`.
//!
//! Each figure is the median of several rounds, printed with the fastest and the slowest round, on
//! a plain thread and in a fiber.

use lisle::effect::{Effect, Items, Suspended, finish, generate, handle, perform};
use std::cell::RefCell;
use std::hint::black_box;
use std::panic::{catch_unwind, resume_unwind};
use std::rc::Rc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 11;

struct Ask(u64);
impl Effect for Ask {
    type Answer = u64;
}

struct Other;
impl Effect for Other {
    type Answer = u64;
}

struct Yield;
impl Effect for Yield {
    type Answer = ();
}

/// A benchmark: a name, and a function that does something `n` times.
struct Bench {
    name: &'static str,
    times: u64,
    run: fn(u64) -> u64,
}

const BENCHES: &[Bench] = &[
    Bench { name: "run a computation without effect", times: 1_000_000, run: without_effect },
    Bench { name: "run a computation with one effect", times: 500_000, run: one_effect },
    Bench { name: "perform and resume", times: 2_000_000, run: |n| handled(0, n, false) },
    Bench { name: "the same through 1 handler", times: 1_000_000, run: |n| handled(1, n, false) },
    Bench { name: "the same through 5 handlers", times: 1_000_000, run: |n| handled(5, n, false) },
    Bench { name: "the same through 10 handlers", times: 1_000_000, run: |n| handled(10, n, false) },
    Bench { name: "perform and answer in place", times: 2_000_000, run: |n| handled(0, n, true) },
    Bench { name: "the same through 10 handlers", times: 1_000_000, run: |n| handled(10, n, true) },
    Bench { name: "perform and resume, not at the end", times: 200_000, run: not_at_the_end },
    Bench { name: "perform and catch", times: 20_000, run: catch },
    Bench { name: "a panic with such a payload, caught", times: 20_000, run: panic_and_catch },
    Bench { name: "keep and resume, of two", times: 500_000, run: kept },
    Bench { name: "an item of a generator", times: 2_000_000, run: given },
    Bench { name: "a node of a tree of a million, generator", times: 1 << 20, run: tree_by_generator },
    Bench { name: "a node of a tree of a million, own stack", times: 1 << 20, run: tree_by_hand },
];

fn main() {
    // `cargo test --benches` runs this without measuring.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    measure("plain thread", rounds);
    lisle::Runtime::builder().domains(1).pin(true).run(|| measure("fiber", rounds));
    println!("{:<44} {:>6.0} bytes", "a kept computation, resident", kept_bytes(100_000));
}

fn measure(place: &str, rounds: usize) {
    println!("{place:<44} {:>9} {:>9} {:>9}", "median", "fastest", "slowest");
    for bench in BENCHES {
        black_box((bench.run)(bench.times / 10));
        let mut samples: Vec<f64> = (0..rounds)
            .map(|_| {
                let begun = Instant::now();
                black_box((bench.run)(bench.times));
                begun.elapsed().max(Duration::from_nanos(1)).as_nanos() as f64 / bench.times as f64
            })
            .collect();
        samples.sort_by(f64::total_cmp);
        let [fastest, median, slowest] = [samples[0], samples[samples.len() / 2], samples[samples.len() - 1]];
        println!("{:<44} {median:>6.1} ns {fastest:>6.1} ns {slowest:>6.1} ns", bench.name);
    }
}

fn without_effect(n: u64) -> u64 {
    (0..n).map(|i| handle(|| black_box(i)).on(|Ask(n), k| k.resume(n)).run()).sum()
}

fn one_effect(n: u64) -> u64 {
    (0..n).map(|i| handle(|| perform(Ask(i))).on(|Ask(n), k| k.resume(n)).run()).sum()
}

fn ask(n: u64) -> u64 {
    (0..n).map(|i| perform(Ask(i))).sum()
}

fn nested(depth: u32, n: u64) -> u64 {
    if depth == 0 {
        return ask(n);
    }
    handle(|| nested(depth - 1, n)).on(|Other, k| k.resume(1)).run()
}

fn handled(depth: u32, n: u64, in_place: bool) -> u64 {
    if in_place {
        handle(|| nested(depth, n)).answer(|Ask(n)| n + 1).run()
    } else {
        handle(|| nested(depth, n)).on(|Ask(n), k| k.resume(n + 1)).run()
    }
}

fn not_at_the_end(n: u64) -> u64 {
    handle(|| ask(n)).on(|Ask(n), k| k.resume_then(n, move |result| result ^ n)).run()
}

fn catch(n: u64) -> u64 {
    (0..n).map(|i| handle(|| perform(Ask(i))).catch(|Ask(n)| n).run()).sum()
}

/// The peer of `catch`: a panic that calls no hook, without effects.
fn panic_and_catch(n: u64) -> u64 {
    let caught = |i: u64| match catch_unwind(|| -> u64 { resume_unwind(Box::new(black_box(i))) }) {
        Ok(value) => value,
        Err(payload) => *payload.downcast().expect("the payload of this panic"),
    };
    (0..n).map(caught).sum()
}

fn kept(n: u64) -> u64 {
    let queue: Rc<RefCell<Vec<Suspended<(), ()>>>> = Rc::default();
    for _ in 0..2 {
        let queue = queue.clone();
        handle(move || (0..n / 2).for_each(|_| perform(Yield)))
            .on(move |Yield, k| {
                queue.borrow_mut().push(k.keep());
                finish(())
            })
            .run();
    }
    let mut resumed = 0;
    while !queue.borrow().is_empty() {
        let next = queue.borrow_mut().remove(0);
        next.resume(());
        resumed += 1;
    }
    resumed
}

fn given(n: u64) -> u64 {
    generate(|items| (0..n).for_each(|i| items.give(i)), |values| values.sum())
}

struct Tree {
    left: Option<Box<Tree>>,
    value: u64,
    right: Option<Box<Tree>>,
}

fn tree(nodes: u64) -> Option<Box<Tree>> {
    (nodes > 0).then(|| {
        let left = (nodes - 1) / 2;
        Box::new(Tree { left: tree(left), value: nodes, right: tree(nodes - 1 - left) })
    })
}

thread_local! {
    static TREE: &'static Tree = Box::leak(tree(1 << 20).expect("it has nodes"));
}

fn walk(tree: &Tree, items: &Items<u64>) {
    if let Some(left) = &tree.left {
        walk(left, items);
    }
    items.give(tree.value);
    if let Some(right) = &tree.right {
        walk(right, items);
    }
}

fn tree_by_generator(n: u64) -> u64 {
    let tree = TREE.with(|tree| *tree);
    generate(|items| walk(tree, items), |values| values.take(n as usize).sum())
}

/// The iterator that one writes without generators.
struct ByHand<'t>(Vec<&'t Tree>);

impl<'t> ByHand<'t> {
    fn push(&mut self, mut next: Option<&'t Tree>) {
        while let Some(tree) = next {
            self.0.push(tree);
            next = tree.left.as_deref();
        }
    }
}

impl Iterator for ByHand<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let tree = self.0.pop()?;
        self.push(tree.right.as_deref());
        Some(tree.value)
    }
}

fn tree_by_hand(n: u64) -> u64 {
    let mut nodes = ByHand(Vec::new());
    nodes.push(Some(TREE.with(|tree| *tree)));
    nodes.take(n as usize).sum()
}

/// The memory of one of `many` kept computations, measured by the growth of the process's resident
/// memory.
fn kept_bytes(many: usize) -> f64 {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0
    };
    let all: Rc<RefCell<Vec<Suspended<(), u64>>>> = Rc::new(RefCell::new(Vec::with_capacity(many)));
    let before = resident();
    for i in 0..many as u64 {
        let all = all.clone();
        handle(move || {
            perform(Yield);
            i
        })
        .on(move |Yield, k| {
            all.borrow_mut().push(k.keep());
            finish(0)
        })
        .run();
    }
    let each = (resident() - before) / many as f64;
    assert_eq!(
        all.take().into_iter().map(|kept| kept.resume(())).sum::<u64>(),
        (many * (many - 1) / 2) as u64
    );
    each
}
