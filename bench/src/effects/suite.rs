//! The programs of the effect handlers' suite: their sizes and results.
//!
//! They are written anew from the descriptions of
//! <https://github.com/effect-handlers/effect-handlers-bench>, which also give the sizes: one case
//! of each program has the suite's size. Systems whose answers take microseconds would take minutes
//! for it; for them there is a short case, which all systems run.
//!
//! Where the suite resumes a continuation several times (`nqueens`, `tree-explore`, `triples`),
//! each possibility is run anew from its beginning by [`Path`](super::Path): no system here can
//! copy a continuation, or all could but Lisle. So they are compared at the same work.

use crate::{
    job::{Job, Outcome, timed},
    workload::{Case, size},
};
use std::hint::black_box;

pub(crate) const NAME: &str = "effect-suite";

/// Each program with the suite's size, if that is not short, and last with a short one.
pub(crate) const CASES: &[Case] = &[
    Case::new("chameneos", &[size("n", 6_000_000, 20_000)]).workers(1),
    Case::new("chameneos", &[size("n", 200_000, 10_000)]).workers(1),
    Case::new("countdown", &[size("n", 200_000_000, 200_000)]).workers(1),
    Case::new("countdown", &[size("n", 1_000_000, 100_000)]).workers(1),
    Case::new("fibonacci-recursive", &[size("n", 42, 25)]).workers(1),
    Case::new("generator", &[size("n", 25, 14)]).workers(1),
    Case::new("generator", &[size("n", 18, 12)]).workers(1),
    Case::new("handler-sieve", &[size("n", 60_000, 1_000)]).workers(1),
    Case::new("handler-sieve", &[size("n", 2_000, 500)]).workers(1),
    Case::new("iterator", &[size("n", 40_000_000, 200_000)]).workers(1),
    Case::new("iterator", &[size("n", 1_000_000, 100_000)]).workers(1),
    Case::new("nqueens", &[size("n", 12, 7)]).workers(1),
    Case::new("nqueens", &[size("n", 8, 6)]).workers(1),
    Case::new("parsing-dollars", &[size("n", 20_000, 300)]).workers(1),
    Case::new("parsing-dollars", &[size("n", 1_000, 200)]).workers(1),
    Case::new("product-early", &[size("n", 100_000, 100)]).workers(1),
    Case::new("product-early", &[size("n", 1_000, 50)]).workers(1),
    Case::new("resume-nontail", &[size("n", 10_000, 50)]).workers(1),
    Case::new("resume-nontail", &[size("n", 500, 20)]).workers(1),
    Case::new("tree-explore", &[size("n", 16, 7)]).workers(1),
    Case::new("tree-explore", &[size("n", 10, 6)]).workers(1),
    Case::new("triples", &[size("n", 300, 12)]).workers(1),
    Case::new("triples", &[size("n", 60, 10)]).workers(1),
];

/// Returns `true` if all systems can do the case in time.
pub(crate) fn is_short(case: &Case) -> bool {
    let last = CASES.iter().rfind(|other| other.variant == case.variant);
    last.is_some_and(|last| last.param("n") == case.param("n"))
}

/// Measures `run`, which runs the program of that name at a size, and checks its result.
pub(crate) fn measure(job: &Job, run: impl Fn(&str, u64) -> u64) -> Outcome {
    let program = &*job.variant;
    let n = job.param("n");
    let expected = expected(program, n);
    let warm_up = || assert_eq!(run(program, warm(n)), self::expected(program, warm(n)));
    let whole =
        || timed(|| assert_eq!(run(program, black_box(n)), expected, "the result is not that of the suite"));
    Outcome { checksum: Some(expected), ..job.measure_whole(warm_up, whole).milliseconds() }
}

/// A size at which a program takes a few hundredths of its time.
pub(crate) fn warm(n: u64) -> u64 {
    if n > 100 { n / 10 } else { n.saturating_sub(4).max(2) }
}

/// The result of a program, computed without effects, and by another algorithm where there is one.
pub(crate) fn expected(program: &str, n: u64) -> u64 {
    match program {
        "chameneos" => 2 * n,
        "countdown" | "product-early" => 0,
        "fibonacci-recursive" => (0..n).fold((0, 1), |(own, next), _| (next, own + next)).0,
        "generator" => (1 << (n + 1)) - n - 2,
        "handler-sieve" => primes_below(n),
        "iterator" | "parsing-dollars" => n * (n + 1) / 2,
        "nqueens" => queens(n, &mut Vec::new()),
        "resume-nontail" => (0..1_000).fold(0, |seed, _| (1..=n).fold(seed, |y, x| operator(x, y))),
        "tree-explore" => (0..10).fold(0, |seed, _| explore(n, &mut { seed })),
        "triples" => triples(n),
        other => panic!("the suite has no program {other}"),
    }
}

/// A number made of two, below 1,009.
pub(crate) fn operator(x: u64, y: u64) -> u64 {
    (x as i64 - 503 * y as i64 + 37).unsigned_abs() % 1_009
}

/// Three numbers as one.
pub(crate) fn hash(a: u64, b: u64, c: u64) -> u64 {
    (53 * a + 2_809 * b + 148_877 * c) % 1_000_000_007
}

/// Returns `true` if a queen in the next column and this row is attacked by none before it, the
/// last of which is the nearest.
pub(crate) fn is_safe(row: u64, before: &[u64]) -> bool {
    before.iter().rev().zip(1..).all(|(&other, columns)| row != other && row.abs_diff(other) != columns)
}

fn primes_below(n: u64) -> u64 {
    let mut is_composite = vec![false; n as usize];
    let mut sum = 0;
    for number in 2..n as usize {
        if !is_composite[number] {
            sum += number as u64;
            (number..n as usize).step_by(number).for_each(|multiple| is_composite[multiple] = true);
        }
    }
    sum
}

fn queens(n: u64, before: &mut Vec<u64>) -> u64 {
    if before.len() as u64 == n {
        return 1;
    }
    let mut solutions = 0;
    for row in 1..=n {
        if is_safe(row, before) {
            before.push(row);
            solutions += queens(n, before);
            before.pop();
        }
    }
    solutions
}

/// The greatest result of all paths through a tree of this height. Each step down changes the
/// state, and a path's result begins with the state at its leaf.
fn explore(height: u64, state: &mut u64) -> u64 {
    fn walk(height: u64, state: &mut u64, above: &mut Vec<u64>, greatest: &mut u64) {
        if height == 0 {
            let result = above.iter().rev().fold(*state, |below, &value| operator(value, below));
            *greatest = result.max(*greatest);
            return;
        }
        for _ in 0..2 {
            *state = operator(*state, height);
            above.push(height);
            walk(height - 1, state, above, greatest);
            above.pop();
        }
    }
    let mut greatest = 0;
    walk(height, state, &mut Vec::new(), &mut greatest);
    greatest
}

fn triples(n: u64) -> u64 {
    let mut sum = 0;
    for i in 1..=n {
        for j in 1..i {
            for k in 1..j {
                if i + j + k == n {
                    sum += hash(i, j, k);
                }
            }
        }
    }
    sum % 1_000_000_007
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the descriptions.
    #[test]
    fn the_results_are_those_of_the_suite() {
        for (program, n, result) in [
            ("fibonacci-recursive", 5, 5),
            ("generator", 5, 57),
            ("generator", 25, 67_108_837),
            ("handler-sieve", 10, 17),
            ("handler-sieve", 60_000, 171_848_738),
            ("iterator", 5, 15),
            ("iterator", 40_000_000, 800_000_020_000_000),
            ("nqueens", 5, 10),
            ("parsing-dollars", 10, 55),
            ("parsing-dollars", 20_000, 200_010_000),
            ("resume-nontail", 5, 37),
            ("resume-nontail", 10_000, 860),
            ("tree-explore", 5, 946),
            ("tree-explore", 16, 1_005),
            ("triples", 10, 779_312),
            ("triples", 300, 460_212_934),
        ] {
            assert_eq!(expected(program, n), result, "{program} {n}");
        }
    }

    #[test]
    fn each_program_has_one_short_case() {
        let short: Vec<_> = CASES.iter().filter(|case| is_short(case)).map(|case| case.variant).collect();
        let mut all: Vec<_> = CASES.iter().map(|case| case.variant).collect();
        all.dedup();
        assert_eq!(short, all);
        assert_eq!(all.len(), 12);
    }
}
