//! Random programs: the checker finds each outcome that the axioms of the litmus tests allow, and
//! no other, and distinguishes as many executions.

use super::language::{Op, Program, Value, compare};
use lisle_check::Memory;
use lisle_check::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// How the programs of a series look.
#[derive(Clone, Copy)]
struct Series {
    threads: usize,
    locations: usize,
    operations: usize,
    /// One of this many operations is sequentially consistent.
    strong: usize,
}

struct Maker {
    random: fastrand::Rng,
    series: Series,
    /// One exchange of a thread may fail without a reason: the checker tries no two in a row.
    has_weak: bool,
}

impl Maker {
    fn order(&mut self, orders: [Ordering; 3]) -> Ordering {
        if self.random.usize(..self.series.strong) == 0 { SeqCst } else { orders[self.random.usize(..3)] }
    }

    fn value(&mut self, registers: usize) -> Value {
        match self.random.usize(..3) {
            0 if registers > 0 => Value::Register(self.random.usize(..registers)),
            _ => Value::Constant(self.random.u32(1..3)),
        }
    }

    fn operation(&mut self, registers: usize) -> Op {
        let at = self.random.usize(..self.series.locations);
        match self.random.usize(..20) {
            0..7 => Op::Load(at, self.order([Relaxed, Relaxed, Acquire])),
            7..14 => Op::Store(at, self.value(registers), self.order([Relaxed, Relaxed, Release])),
            14 => Op::Swap(at, self.value(registers), self.order([Relaxed, Acquire, Release])),
            15 => Op::Add(at, 1, self.order([Relaxed, AcqRel, Release])),
            16 => {
                let weak = !std::mem::replace(&mut self.has_weak, true) && self.random.bool();
                let success = self.order([Relaxed, AcqRel, Release]);
                let failure = self.order([Relaxed, Relaxed, Acquire]);
                let (expected, new) = (self.random.u32(..2), self.random.u32(1..3));
                Op::Exchange { at, expected, new, success, failure, weak }
            }
            _ => Op::Fence(self.order([Acquire, Release, AcqRel])),
        }
    }

    fn thread(&mut self, length: usize) -> Vec<Op> {
        self.has_weak = false;
        let mut registers = 0;
        let mut ops = Vec::new();
        for _ in 0..length {
            let op = self.operation(registers);
            let added = match op {
                Op::Load(..) | Op::Swap(..) | Op::Add(..) => 1,
                Op::Exchange { .. } => 2,
                _ => 0,
            };
            if registers > 0 && self.random.usize(..6) == 0 {
                ops.push(Op::If(self.random.usize(..registers), self.random.u32(..2), vec![op]));
            } else {
                ops.push(op);
            }
            registers += added;
        }
        ops
    }

    fn program(&mut self) -> Program {
        let Series { threads, locations, operations, .. } = self.series;
        let mut lengths = vec![1; threads];
        for _ in threads..operations {
            lengths[self.random.usize(..threads)] += 1;
        }
        let threads = lengths.into_iter().map(|length| self.thread(length)).collect();
        Program { locations, threads }
    }
}

/// Compares `programs` programs of a series, and prints how many executions were run for each
/// graph.
fn compare_series(series: Series, programs: usize, memory: Memory, seed: u64) {
    let mut maker = Maker { random: fastrand::Rng::with_seed(seed), series, has_weak: false };
    let mut sums = (0, 0, 0);
    for _ in 0..programs {
        let (complete, redundant, graphs) = compare(&maker.program(), memory);
        sums = (sums.0 + complete, sums.1 + redundant, sums.2 + graphs);
    }
    let (complete, redundant, graphs) = sums;
    println!(
        "{programs} programs of {} threads and {} operations under {memory}: {graphs} graphs, {complete} \
         complete executions, {redundant} given up",
        series.threads, series.operations
    );
}

/// How many programs of a series are run: more if `LISLE_CHECK_RANDOM` says so.
fn programs() -> usize {
    std::env::var("LISLE_CHECK_RANDOM").map_or(150, |many| many.parse().expect("a number of programs"))
}

const SMALL: Series = Series { threads: 2, locations: 2, operations: 6, strong: 4 };
const WIDE: Series = Series { threads: 3, locations: 2, operations: 6, strong: 4 };
const FOUR: Series = Series { threads: 4, locations: 2, operations: 6, strong: 4 };
const STRONG: Series = Series { threads: 3, locations: 2, operations: 7, strong: 2 };
const LONG: Series = Series { threads: 3, locations: 2, operations: 9, strong: 6 };
const RELAXED: Series = Series { threads: 3, locations: 3, operations: 7, strong: 1_000_000 };

#[test]
fn rc11_of_two_threads() {
    compare_series(SMALL, programs(), Memory::Rc11, 1);
}

#[test]
fn rc11_of_three_threads() {
    compare_series(WIDE, programs(), Memory::Rc11, 2);
}

#[test]
fn rc11_of_four_threads() {
    compare_series(FOUR, programs(), Memory::Rc11, 3);
}

#[test]
fn rc11_with_many_sequentially_consistent_operations() {
    compare_series(STRONG, programs(), Memory::Rc11, 4);
}

#[test]
fn rc11_without_sequentially_consistent_operations() {
    compare_series(RELAXED, programs(), Memory::Rc11, 5);
}

#[test]
fn rc11_of_longer_programs() {
    compare_series(LONG, programs() / 5, Memory::Rc11, 9);
}

#[test]
fn tso() {
    compare_series(SMALL, programs(), Memory::Tso, 6);
    compare_series(STRONG, programs(), Memory::Tso, 7);
}

#[test]
fn sequential_consistency() {
    compare_series(WIDE, programs(), Memory::Sc, 8);
}
