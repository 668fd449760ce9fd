//! How fast the engine is. Run with
//! `cargo test --release --test explore speed -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use lisle_check::explore::{Counts, Exhaustive, Random, Strategy};

use crate::counts::{last_zero, philosophers, readers, store_buffering};
use crate::toy::{Machine, Program};

/// Runs the program with strategies that are made anew when they are done, for half a second.
/// Returns the nanoseconds for a step, and the counts of a whole exploration, if one came to its
/// end.
fn run<S: Strategy>(program: &Program, make: impl Fn() -> S) -> (f64, f64, Option<Counts>) {
    let mut machine = Machine::new();
    let mut strategy = make();
    let (mut whole, mut executions) = (None, 0);
    let begin = Instant::now();
    while begin.elapsed().as_millis() < 500 {
        if strategy.begin() {
            machine.run(program, &mut strategy);
            executions += 1;
        } else {
            whole = Some(strategy.counts());
            strategy = make();
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let steps: usize = program.processes.iter().map(Vec::len).sum();
    (seconds * 1e9 / (executions * steps as u64) as f64, executions as f64 / seconds, black_box(whole))
}

/// Prints how fast the program is explored, and how much of a step's time is the engine's.
fn measure(name: &str, program: &Program) {
    let (step, executions, whole) = run(program, Exhaustive::new);
    // A random walk costs little more than the interpreter.
    let (interpreter, ..) = run(program, || Random::new(1, u64::MAX));
    println!(
        "{name}: {executions:.0} executions/s, {step:.0} ns a step ({interpreter:.0} without the engine), {whole:?}"
    );
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    measure("SB", &store_buffering());
    measure("readers_10", &readers(10));
    measure("lastzero_10", &last_zero(10));
    measure("philosophers_5", &philosophers(5));
    measure("philosophers_7", &philosophers(7));
    measure("readers_100", &readers(100));
}
