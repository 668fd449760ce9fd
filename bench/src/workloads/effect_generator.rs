//! A generator that walks a tree, and its substitutes: an iterator with a stack of its own, or a
//! thread that sends the values through a channel.

use crate::{
    effects::{Node, balanced},
    job::{Job, Outcome, timed},
    peers,
    workload::{Case, Program, Unit, Workload, size},
};
use corosensei::{CoroutineResult, ScopedCoroutine, Yielder};
use genawaiter::stack::{Co, let_gen_using};
use lisle::effect::{Items, generate};
use std::{
    hint::black_box,
    pin::Pin,
    sync::{Arc, mpsc},
    thread,
};

pub(crate) static WORKLOAD: Workload = Workload {
    name: "effect-generator",
    about: "a generator walks a tree in order, and the numbers in its nodes are added up as they come",
    follows: "the program `generator` of the effect handlers' suite, with a tree that is in memory",
    unit: Unit::lower_is_better("ns/node"),
    units: &[],
    cases: &[Case::new("-", &[size("nodes", 1_000_000, 20_000)]).workers(1)],
    programs: &[
        Program::here("serial", serial).note("an iterator with a stack of its own"),
        Program::here("call", call).note("calls a function with each, which is no iterator"),
        Program::here("lisle", lisle),
        Program::here("lisle-channel", lisle_channel).note("a fiber that sends, and a channel"),
        Program::here("corosensei", corosensei).note("a coroutine"),
        Program::here("genawaiter", genawaiter).note("a future; its recursion takes boxes"),
        Program::here("threads", threads).note("a thread that sends, and a channel without room"),
        Program::elsewhere("boost-context").note("Boost.Coroutine2, which is made of it"),
        Program::elsewhere("go").note("a goroutine that sends, and a channel without room"),
        Program::elsewhere("go-pull").note("iter.Pull"),
        Program::elsewhere("java").note("a virtual thread that is parked after each"),
        Program::elsewhere("libmpeff"),
        Program::elsewhere("ocaml"),
    ],
};

/// Measures `sum`, which adds up the numbers of a tree.
fn measure(job: &Job, sum: impl Fn(&Arc<Option<Box<Node>>>) -> u64) -> Outcome {
    let nodes = job.param("nodes");
    let tree = Arc::new(balanced(1, nodes));
    let small = Arc::new(balanced(1, nodes / 100));
    let expected = nodes * (nodes + 1) / 2;
    let warm_up = || {
        black_box(sum(&small));
    };
    let measured = job.measure_whole(warm_up, || timed(|| assert_eq!(sum(black_box(&tree)), expected)));
    let nanoseconds = measured.elapsed.as_secs_f64() * 1e9 / (measured.operations * nodes) as f64;
    measured.figure(nanoseconds)
}

/// The nodes still to be given on the way from the root to the current place.
struct InOrder<'a> {
    path: Vec<&'a Node>,
}

impl<'a> InOrder<'a> {
    fn of(tree: Option<&'a Node>) -> Self {
        let mut all = InOrder { path: Vec::new() };
        all.descend(tree);
        all
    }

    fn descend(&mut self, mut tree: Option<&'a Node>) {
        while let Some(node) = tree {
            self.path.push(node);
            tree = node.left.as_deref();
        }
    }
}

impl Iterator for InOrder<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let node = self.path.pop()?;
        self.descend(node.right.as_deref());
        Some(node.value)
    }
}

fn serial(job: &Job) -> Outcome {
    // The compiler does not merge code behind a pointer with the loop around it, as it does not for
    // the others.
    measure(job, |tree| {
        let all: Box<dyn Iterator<Item = u64>> = black_box(Box::new(InOrder::of(tree.as_deref())));
        let mut sum = 0;
        for value in all {
            sum += value;
        }
        sum
    })
}

/// Calls `visit` with each number, in order.
fn walk(tree: Option<&Node>, visit: &mut impl FnMut(u64)) {
    if let Some(node) = tree {
        walk(node.left.as_deref(), visit);
        visit(node.value);
        walk(node.right.as_deref(), visit);
    }
}

fn call(job: &Job) -> Outcome {
    measure(job, |tree| {
        let mut sum = 0;
        walk(tree.as_deref(), &mut |value| sum += value);
        sum
    })
}

fn lisle(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        measure(job, |tree| {
            let give = |items: &Items<u64>| walk((**tree).as_deref(), &mut |value| items.give(value));
            generate(give, |values| values.sum())
        })
    })
}

fn lisle_channel(job: &Job) -> Outcome {
    peers::runtime(job.workers).run(|| {
        measure(job, |tree| {
            let (tx, rx) = lisle::channel();
            let tree = tree.clone();
            let walker = lisle::spawn(move || {
                walk((*tree).as_deref(), &mut |value| tx.send(value).expect("all are received"));
            });
            let mut sum = 0;
            while let Ok(value) = rx.recv() {
                sum += value;
            }
            walker.join().expect("it has sent all");
            sum
        })
    })
}

fn threads(job: &Job) -> Outcome {
    measure(job, |tree| {
        let (tx, rx) = mpsc::sync_channel(0);
        let tree = tree.clone();
        let walker = thread::spawn(move || {
            walk((*tree).as_deref(), &mut |value| tx.send(value).expect("all are received"));
        });
        let sum = rx.into_iter().sum();
        walker.join().expect("it has sent all");
        sum
    })
}

fn corosensei(job: &Job) -> Outcome {
    measure(job, |tree| {
        let walker = ScopedCoroutine::new(|yielder: &Yielder<(), u64>, ()| {
            walk((**tree).as_deref(), &mut |value| yielder.suspend(value));
        });
        walker.scope(|mut walker| {
            let mut sum = 0;
            while let CoroutineResult::Yield(value) = walker.resume(()) {
                sum += value;
            }
            sum
        })
    })
}

fn genawaiter(job: &Job) -> Outcome {
    fn walk<'a>(tree: Option<&'a Node>, co: &'a Co<'_, u64>) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(async move {
            if let Some(node) = tree {
                walk(node.left.as_deref(), co).await;
                co.yield_(node.value).await;
                walk(node.right.as_deref(), co).await;
            }
        })
    }
    measure(job, |tree| {
        let tree = (**tree).as_deref();
        let_gen_using!(values, |co: Co<'_, u64>| async move { walk(tree, &co).await });
        values.into_iter().sum()
    })
}
