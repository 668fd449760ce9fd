//! The sum of a binary tree, each node a fork: little but forks and joins, and their memory.

use crate::{
    job::{Job, Outcome, timed},
    peers::{Chili, Lisle, Pool, Rayon, Serial},
    workload::{Case, Program, Unit, Workload, param, size},
};
use std::hint::black_box;

pub(crate) static WORKLOAD: Workload = Workload {
    name: "tree",
    about: "the sum of a binary tree; at each node the two sides are forked and joined, without a cut-off",
    follows: "chili's benchmark: trees of 1,023 and 16,777,215 nodes",
    unit: Unit::lower_is_better("ns/node"),
    units: &[],
    cases: &[
        Case::new("-", &[param("nodes", 1023)]),
        Case::new("-", &[size("nodes", (1 << 24) - 1, (1 << 18) - 1)]),
    ],
    programs: &[
        Program::here("serial", on::<Serial>),
        Program::here("lisle", on::<Lisle>),
        Program::here("rayon", on::<Rayon>),
        Program::here("chili", chili),
        Program::elsewhere("onetbb"),
    ],
};

struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    /// A full tree of `nodes` nodes, one less than a power of two. The values are the sizes of the
    /// trees below.
    fn tree(nodes: u64) -> Self {
        let mut root = Node { value: nodes, left: None, right: None };
        root.grow();
        root
    }

    /// Makes a node before the nodes below it, and the left side before the right.
    fn grow(&mut self) {
        if self.value > 1 {
            for side in [&mut self.left, &mut self.right] {
                let node = Node { value: self.value / 2, left: None, right: None };
                side.insert(Box::new(node)).grow();
            }
        }
    }

    fn sum<P: Pool>(&self) -> u64 {
        P::join(
            || self.left.as_deref().map_or(0, Node::sum::<P>),
            || self.right.as_deref().map_or(0, Node::sum::<P>),
            |left, right| self.value + left + right,
        )
    }

    fn sum_on_chili(&self, scope: &mut chili::Scope<'_>) -> u64 {
        let (left, right) = scope.join(
            |scope| self.left.as_deref().map_or(0, |left| left.sum_on_chili(scope)),
            |scope| self.right.as_deref().map_or(0, |right| right.sum_on_chili(scope)),
        );
        self.value + left + right
    }
}

/// Each level's values come to one less than the one above.
fn expected(nodes: u64) -> u64 {
    let layers = u64::from((nodes + 1).ilog2());
    layers * (nodes + 1) - nodes
}

fn on<P: Pool>(job: &Job) -> Outcome {
    let tree = Node::tree(job.param("nodes"));
    P::run(job.workers, || measure(job, || black_box(&tree).sum::<P>()))
}

fn chili(job: &Job) -> Outcome {
    let tree = Node::tree(job.param("nodes"));
    Chili::run(job.workers, |scope| measure(job, || black_box(&tree).sum_on_chili(scope)))
}

fn measure(job: &Job, mut sum: impl FnMut() -> u64) -> Outcome {
    let nodes = job.param("nodes");
    let expected = expected(nodes);
    let measured = job.measure(|n| timed(|| (0..n).for_each(|_| assert_eq!(sum(), expected))));
    measured.figure(measured.elapsed.as_secs_f64() * 1e9 / (measured.operations * nodes) as f64)
}
