//! Programs whose number of executions is known from the literature.

use lisle_check::explore::{Counts, Exhaustive, Strategy};

use crate::toy::{Machine, Op, Program};

/// Explores the program with one worker.
pub(crate) fn explore(program: &Program) -> Counts {
    let mut strategy = Exhaustive::new();
    let mut machine = Machine::new();
    while strategy.begin() {
        machine.run(program, &mut strategy);
    }
    assert_eq!(strategy.divergence(), None);
    assert!(strategy.is_finished());
    strategy.counts()
}

fn complete(complete: u64) -> Counts {
    Counts { complete, ..Counts::default() }
}

/// N processes that read one variable and each write one of their own, and one that writes the
/// variable.
pub(crate) fn readers(n: usize) -> Program {
    let readers = (1..=n).map(|i| vec![Op::Read(0), Op::Write(i, 1)]);
    Program { processes: std::iter::once(vec![Op::Write(0, 1)]).chain(readers).collect() }
}

/// N writers of one place each, each after a look at the place before; one process looks for the
/// last zero.
pub(crate) fn last_zero(n: usize) -> Program {
    let writers = (1..=n).map(|i| vec![Op::Read(i - 1), Op::WriteRegister(i)]);
    Program { processes: std::iter::once(vec![Op::Set(n as i64), Op::LastZero]).chain(writers).collect() }
}

pub(crate) fn store_buffering() -> Program {
    Program { processes: vec![vec![Op::Write(0, 1), Op::Read(1)], vec![Op::Write(1, 1), Op::Read(0)]] }
}

pub(crate) fn philosophers(n: usize) -> Program {
    let one = |i| vec![Op::Lock(i), Op::Lock((i + 1) % n), Op::Unlock((i + 1) % n), Op::Unlock(i)];
    Program { processes: (0..n).map(one).collect() }
}

#[test]
fn store_buffering_has_three() {
    assert_eq!(explore(&store_buffering()), complete(3));
}

#[test]
fn readers_are_two_to_the_nth() {
    for n in 1..=10 {
        assert_eq!(explore(&readers(n)), complete(1 << n), "{n} readers");
    }
}

#[test]
fn last_zero_has_its_counts() {
    for (n, count) in [(1, 2), (2, 5), (3, 12), (4, 28), (5, 64), (10, 3328)] {
        assert_eq!(explore(&last_zero(n)), complete(count), "lastzero of {n}");
    }
}

#[test]
fn locks_in_a_circle() {
    // Each of the n locks is taken by two processes in one of two orders: 2^n, less the two that go
    // around. One of these is the deadlock, the other one is impossible.
    for n in 2..=6 {
        let counts = Counts { complete: (1 << n) - 2, blocked: 1, ..Counts::default() };
        assert_eq!(explore(&philosophers(n)), counts, "{n} philosophers");
    }
}
