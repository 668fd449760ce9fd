//! How fast programs that are values are checked: `cargo run --release --example task_speed`.

use lisle_check::steps;
use lisle_check::task::{
    Checker, MemoryCell, Mutex, Op, Task, die, fork, fork_value, join, mem, mutex, repeat, sequence,
};
use std::time::Instant;

/// `tasks` tasks, each of which adds `times` times to one place.
fn counters(tasks: usize, times: usize) -> Task {
    mem(0_usize).and_then(move |place| {
        let add = repeat(times, place.fetch_add(1).map(drop));
        sequence((0..tasks).map(|_| fork(add.clone().then(die()))).collect()).then(die())
    })
}

/// `tasks` tasks, each of which adds to a place of its own.
fn apart(tasks: usize, times: usize) -> Task {
    let task = mem(0_usize).and_then(move |place| repeat(times, place.fetch_add(1).map(drop)));
    sequence((0..tasks).map(|_| fork(task.clone().then(die()))).collect()).then(die())
}

/// `tasks` tasks that read and write under a lock.
fn locked(tasks: usize) -> Task {
    fn increment(lock: Mutex, count: MemoryCell<usize>) -> Op {
        lock.with(count.load().and_then(move |n| count.store(n + 1)))
    }
    steps! {
        let lock = mutex();
        let count = mem(0_usize);
        let done = sequence((0..tasks).map(|_| fork_value(increment(lock, count))).collect());
        join(done);
        die()
    }
}

fn main() {
    // Without optimization the figures mean nothing: then the programs are small.
    let times = if cfg!(debug_assertions) { 2 } else { 6 };
    let programs = [
        (format!("3 tasks add {} times to one place", times - 1), counters(3, times - 1)),
        (format!("7 tasks add {times} times to their own places"), apart(7, times)),
        ("6 tasks read and write under a lock".to_owned(), locked(6)),
    ];
    for (what, program) in programs {
        let begin = Instant::now();
        let verdict = Checker::new().states(2_000_000).check(program);
        let seconds = begin.elapsed().as_secs_f64();
        let (states, turns) = (verdict.states, verdict.turns);
        let rate = |count: usize| count as f64 / seconds;
        println!(
            "{what}: {:?}, {states} states, {turns} turns, {} results in {seconds:.3} s: \
             {:.0} states/s, {:.0} turns/s",
            verdict.coverage,
            verdict.outcomes.len(),
            rate(states),
            rate(turns)
        );
    }
}
