//! Systems of fibers and tasks on one thread, each of which performs choices, wraps, guards, nacks
//! and stages over a few channels: the rules must allow each system's outcome.
//!
//! The systems, the rules and the events are taken from the library's own differential tests. There
//! is one domain, and nothing suspends a performer within a step, so the strict rules hold: a
//! performer that is left waiting at the end must not have been able to go on.

#![no_main]

#[path = "../../crates/lisle/tests/it/differential/performing.rs"]
mod performing;
#[path = "../../crates/lisle/tests/it/differential/reference.rs"]
#[allow(dead_code, reason = "the free rules are for several threads")]
mod reference;
#[path = "../../crates/lisle/tests/it/differential/system.rs"]
mod system;

use libfuzzer_sys::{Corpus, fuzz_target};
use lisle::event::Never;
use lisle::fiber::{JoinHandle, yield_now};
use lisle::sync::Condition;
use lisle::task::TaskHandle;
use lisle::{Event, Runtime, choose, select, spawn, spawn_task};
use lisle_fuzz::Draw;
use performing::Run;
use reference::{Rules, allows};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Waker};
use system::{Done, Expr, Generator, Op, Outcome, System};

lisle_fuzz::with_fibers!();

/// The library nests events so deep that a stack can hold them; here less is enough.
const DEEPEST: usize = 24;

fuzz_target!(|data: &[u8]| -> Corpus {
    let mut draw = Draw::new(data, 256);
    // The largest numbers of performers, performances of each, leaves of each, channels.
    let limits = [[2, 1, 3, 1], [2, 2, 3, 2], [3, 1, 3, 2], [3, 2, 3, 2]][draw.below(4)];
    let manners: Vec<Manner> = (0..limits[0]).map(|_| Manner::drawn(&mut draw)).collect();
    let system = Arc::new(Generator::system(&mut |bound| draw.below(bound), limits));
    if system.performers.iter().flatten().any(|op| depth(&op.expr) > DEEPEST) {
        return Corpus::Reject;
    }
    let outcome = RUNTIME.run(|| performed(&system, &manners));
    assert!(
        allows(&system, Rules::Strict, &outcome),
        "{outcome:#?} is not allowed in {manners:?} {system:#?}"
    );
    Corpus::Keep
});

/// To start one takes longer than all that a system does.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::builder().domains(1).start().unwrap());

fn depth(expr: &Expr) -> usize {
    1 + match expr {
        Expr::Leaf(..) => 0,
        Expr::Choose { of, .. } => of.iter().map(depth).max().unwrap_or(0),
        Expr::Wrap(_, expr) | Expr::Guard(_, expr) | Expr::Nack(_, expr) | Expr::Then(_, expr) => depth(expr),
        Expr::Replace(first, second) => depth(first) + depth(second),
    }
}

/// How a performer goes about it.
#[derive(Debug, Clone, Copy)]
struct Manner {
    is_task: bool,
    /// By `select!`, where it performs a choice of few events.
    selects: bool,
}

impl Manner {
    fn drawn(draw: &mut Draw<'_>) -> Self {
        let which = draw.below(4);
        Manner { is_task: which & 1 == 1, selects: which & 2 == 2 }
    }
}

/// An event that is switched off.
fn unmade() -> Never<()> {
    unreachable!("the event of an arm whose condition is false is evaluated")
}

/// A `select!` of some expressions, with all its options.
macro_rules! select_of {
    ($run:expr, $stopped:expr, $poll:expr, $how:expr, $exprs:tt) => {
        match $how {
            (false, false) => select_of!(@ $run, $stopped, $poll, [], $exprs),
            (true, false) => select_of!(@ $run, $stopped, $poll, [biased;], $exprs),
            (false, true) => select_of!(@ $run, $stopped, $poll, [await;], $exprs),
            (true, true) => select_of!(@ $run, $stopped, $poll, [await; biased;], $exprs),
        }
    };
    (@ $run:expr, $stopped:expr, $poll:expr, [$($option:tt)*], [$($expr:ident)+]) => {
        if $poll {
            select! {
                $($option)*
                () = unmade(), if false => unreachable!(),
                $(value = $run.event($expr) => Done::Value(value),)+
                default => Done::Unready,
            }
        } else {
            select! {
                $($option)*
                $(value = $run.event($expr) => Done::Value(value),)+
                () = unmade(), if false => unreachable!(),
                () = $stopped.wait_evt() => Done::Stopped,
            }
        }
    };
}

/// Performs `system`; performers that are stuck in the end are told to stop.
fn performed(system: &Arc<System>, manners: &[Manner]) -> Outcome {
    let run = Arc::new(Run::new(system));
    let stopped = Arc::new(Condition::new());
    let performers: Vec<_> = (0..system.performers.len())
        .map(|performer| {
            let (system, run, stopped) = (system.clone(), run.clone(), stopped.clone());
            let manner = manners[performer];
            let ops = async move { perform(&system.performers[performer], &run, &stopped, manner).await };
            if manner.is_task {
                Performer::Task(spawn_task(ops))
            } else {
                Performer::Fiber(spawn(|| at_once(ops)))
            }
        })
        .collect();
    // In each of these turns somebody goes on by a leaf, or nobody can any more; and there are no
    // more leaves than names.
    for _ in 0..2 * system.ids + 8 {
        yield_now();
    }
    stopped.signal();
    run.outcome(performers.into_iter().map(Performer::join).collect())
}

enum Performer {
    Fiber(JoinHandle<Vec<Done>>),
    Task(TaskHandle<Vec<Done>>),
}

impl Performer {
    fn join(self) -> Vec<Done> {
        match self {
            Performer::Fiber(fiber) => fiber.join().unwrap(),
            Performer::Task(task) => task.join().unwrap(),
        }
    }
}

/// A fiber waits for its events in place, and so never suspends a future.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a fiber awaits nothing"),
    }
}

async fn perform(ops: &[Op], run: &Run, stopped: &Condition, manner: Manner) -> Vec<Done> {
    let mut results = Vec::new();
    for op in ops {
        let done = match &op.expr {
            Expr::Choose { biased, of } if manner.selects && (1..=3).contains(&of.len()) => {
                let how = (*biased, manner.is_task);
                match &of[..] {
                    [a] => select_of!(run, stopped, op.poll, how, [a]),
                    [a, b] => select_of!(run, stopped, op.poll, how, [a b]),
                    [a, b, c] => select_of!(run, stopped, op.poll, how, [a b c]),
                    _ => unreachable!("one to three"),
                }
            }
            expr if op.poll => run.event(expr).poll().map_or(Done::Unready, Done::Value),
            expr => {
                let stopped = stopped.wait_evt().wrap(|()| Done::Stopped);
                let event = choose((run.event(expr).wrap(Done::Value), stopped));
                if manner.is_task { event.await } else { event.sync() }
            }
        };
        run.is_over(op);
        let ended = done == Done::Stopped;
        results.push(done);
        if ended {
            break;
        }
    }
    results
}
