//! Many nested tasks, on one stack and on several.

use super::{Boxed, everywhere};
use crate::support::{scaled, watched};
use lisle::{Runtime, channel, spawn_task};

fn nest(depth: usize) -> Boxed<usize> {
    Box::pin(async move { if depth == 0 { 0 } else { spawn_task(nest(depth - 1)).await.unwrap() + 1 } })
}

/// A task spawns a task that spawns a task, and so on.
#[test]
fn a_hundred_thousand_within_each_other() {
    let depth = scaled(100_000, 100_000);
    everywhere(|| assert_eq!(spawn_task(nest(depth)).join().unwrap(), depth));
    let _watched = watched();
    let small = Runtime::builder().domains(2).stack_size(16 * 1024);
    assert_eq!(small.run(|| spawn_task(nest(5_000)).join().unwrap()), 5_000);
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let thread = thread.spawn(move || spawn_task(nest(5_000)).join().unwrap());
    assert_eq!(thread.unwrap().join().unwrap(), 5_000);
}

fn nest_in_place(depth: usize) -> Boxed<usize> {
    Box::pin(
        async move { if depth == 0 { 0 } else { spawn_task(nest_in_place(depth - 1)).join().unwrap() + 1 } },
    )
}

/// Each task stops the stack on which it runs, until no more begin on that stack.
#[test]
fn many_within_each_other_that_join_in_place() {
    everywhere(|| assert_eq!(spawn_task(nest_in_place(2_000)).join().unwrap(), 2_000));
}

/// Each task waits for the one before, and all of them end at once.
#[test]
fn a_long_chain_of_joins() {
    let count = scaled(100_000, 20_000);
    everywhere(|| {
        let (tx, rx) = channel();
        let mut last = spawn_task(async move { rx.recv_evt().await.unwrap() });
        for _ in 0..count {
            last = spawn_task(async move { last.await.unwrap() + 1 });
        }
        tx.send(0).unwrap();
        assert_eq!(last.join().unwrap(), count);
    });
}
