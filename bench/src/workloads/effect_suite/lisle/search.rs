//! The programs that search: each possibility is run anew from its beginning, under a handler that
//! chooses.

use super::answered;
use crate::effects::{
    Path, Tree,
    suite::{hash, is_safe, operator},
};
use lisle::effect::{Effect, handle, perform};
use std::cell::{Cell, RefCell};

/// Which of this many options?
struct Choose(u64);

impl Effect for Choose {
    type Answer = u64;
}

/// Runs `body` for each possibility, and calls `found` with its results.
fn search<const IN_PLACE: bool, R>(body: impl Fn() -> Option<R>, mut found: impl FnMut(R)) {
    let path = RefCell::new(Path::default());
    loop {
        let result = answered!(&body, Choose(options) => path.borrow_mut().choose(options).0);
        if let Some(result) = result {
            found(result);
        }
        if !path.borrow_mut().advance() {
            break;
        }
    }
}

pub(super) fn nqueens<const IN_PLACE: bool>(n: u64) -> u64 {
    fn place(n: u64, column: u64) -> Option<Vec<u64>> {
        if column == 0 {
            return Some(Vec::with_capacity(n as usize));
        }
        let mut rest = place(n, column - 1)?;
        let row = perform(Choose(n)) + 1;
        is_safe(row, &rest).then(|| {
            rest.push(row);
            rest
        })
    }
    let mut solutions = 0;
    search::<IN_PLACE, _>(|| place(n, n), |_| solutions += 1);
    solutions
}

pub(super) fn triples<const IN_PLACE: bool>(n: u64) -> u64 {
    fn choice(n: u64) -> Option<u64> {
        (1..=n).rev().find(|_| perform(Choose(2)) == 0)
    }
    let triple = || {
        let i = choice(n)?;
        let j = choice(i - 1)?;
        let k = choice(j - 1)?;
        (i + j + k == n).then(|| hash(i, j, k))
    };
    let mut sum = 0;
    search::<IN_PLACE, _>(triple, |hash| sum = (sum + hash) % 1_000_000_007);
    sum
}

/// Left or right, at a node of this value?
struct Turn(u64);

impl Effect for Turn {
    type Answer = u64;
}

pub(super) fn tree_explore<const IN_PLACE: bool>(height: u64) -> u64 {
    fn explore(tree: Option<&Tree>, state: &Cell<u64>) -> u64 {
        let Some(tree) = tree else { return state.get() };
        perform(Turn(tree.value));
        operator(tree.value, explore(tree.half.as_deref(), state))
    }
    let tree = Tree::of_height(height);
    (0..10).fold(0, |seed, _| {
        let (state, path, mut greatest) = (Cell::new(seed), RefCell::new(Path::default()), 0);
        let turn = |value| {
            let (option, is_new) = path.borrow_mut().choose(2);
            if is_new {
                state.set(operator(state.get(), value));
            }
            option
        };
        loop {
            let result = answered!(|| explore(tree.as_deref(), &state), Turn(value) => turn(value));
            greatest = greatest.max(result);
            if !path.borrow_mut().advance() {
                break greatest;
            }
        }
    })
}
