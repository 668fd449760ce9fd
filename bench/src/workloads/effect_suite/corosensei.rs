//! By corosensei alone: a handler is the code that resumes a coroutine, and an effect is a value
//! that the coroutine yields. The handler has to yield other handlers' effects itself.

use crate::effects::{
    Path, Tree,
    suite::{hash, is_safe, operator},
};
use corosensei::{CoroutineResult, ScopedCoroutine, Yielder, stack::DefaultStack};
use std::{cell::Cell, collections::VecDeque, hint::black_box};

pub(super) fn run(program: &str, n: u64) -> u64 {
    match program {
        "chameneos" => chameneos(n),
        "countdown" => countdown(n),
        "fibonacci-recursive" => handle(&mut stack(), |_: &Yielder<(), ()>| fibonacci(n), |()| ()),
        "generator" => generator(n),
        "handler-sieve" => sieve(n),
        "iterator" => iterator(n),
        "nqueens" => nqueens(n),
        "parsing-dollars" => parsing_dollars(n),
        "product-early" => product_early(n),
        "resume-nontail" => resume_nontail(n),
        "tree-explore" => tree_explore(n),
        "triples" => triples(n),
        other => panic!("the suite has no program {other}"),
    }
}

fn stack() -> DefaultStack {
    DefaultStack::default()
}

/// Runs `body` on this stack, and answers its questions.
fn handle<Q, A: Default, R>(
    stack: &mut DefaultStack,
    body: impl FnOnce(&Yielder<A, Q>) -> R,
    mut clause: impl FnMut(Q) -> A,
) -> R {
    handle_or_drop(stack, body, |question| Some(clause(question))).expect("every question is answered")
}

/// As [`handle`]. If there is no answer, the body is unwound, and there is no result.
fn handle_or_drop<Q, A: Default, R>(
    stack: &mut DefaultStack,
    body: impl FnOnce(&Yielder<A, Q>) -> R,
    mut clause: impl FnMut(Q) -> Option<A>,
) -> Option<R> {
    ScopedCoroutine::with_stack(stack, |yielder, _: A| body(yielder)).scope(|mut coroutine| {
        let mut answer = A::default();
        loop {
            match coroutine.resume(answer) {
                CoroutineResult::Yield(question) => answer = clause(question)?,
                CoroutineResult::Return(result) => break Some(result),
            }
        }
    })
}

#[inline(never)]
pub(super) fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

enum State {
    Get,
    Set(u64),
}

fn countdown(n: u64) -> u64 {
    let mut state = n;
    let body = |yielder: &Yielder<u64, State>| loop {
        let now = yielder.suspend(State::Get);
        if now == 0 {
            break now;
        }
        yielder.suspend(State::Set(now - 1));
    };
    handle(&mut stack(), body, |question| {
        if let State::Set(new) = question {
            state = new;
        }
        state
    })
}

fn iterator(n: u64) -> u64 {
    let mut sum = 0;
    let range = |yielder: &Yielder<(), u64>| (0..=n).for_each(|number| yielder.suspend(number));
    handle(&mut stack(), range, |number| sum += number);
    sum
}

fn walk(tree: Option<&Tree>, yielder: &Yielder<(), u64>) {
    if let Some(tree) = tree {
        walk(tree.half.as_deref(), yielder);
        yielder.suspend(tree.value);
        walk(tree.half.as_deref(), yielder);
    }
}

fn generator(height: u64) -> u64 {
    let (tree, mut sum) = (Tree::of_height(height), 0);
    handle(&mut stack(), |yielder| walk(tree.as_deref(), yielder), |value| sum += value);
    sum
}

/// `outer` asks the handler of the prime before.
fn primes(first: u64, n: u64, sum: u64, is_prime: &dyn Fn(u64) -> bool) -> u64 {
    let Some(prime) = (first..n).find(|&number| is_prime(number)) else { return sum };
    let body =
        |yielder: &Yielder<bool, u64>| primes(prime + 1, n, sum + prime, &|number| yielder.suspend(number));
    handle(&mut stack(), body, |number| number % prime != 0 && is_prime(number))
}

fn sieve(n: u64) -> u64 {
    let body = |yielder: &Yielder<bool, u64>| primes(2, n, 0, &|number| yielder.suspend(number));
    handle(&mut stack(), body, |_| true)
}

/// The box keeps the compiler from making a loop of it, without a frame for each number.
fn product(list: &[u64], yielder: &Yielder<u64, u64>) -> u64 {
    match list {
        [] => 0,
        [0, ..] => yielder.suspend(0),
        [first, rest @ ..] => first.wrapping_mul(black_box(product(rest, yielder))),
    }
}

fn product_early(n: u64) -> u64 {
    let (list, mut stack) = ((0..=1_000).rev().collect::<Vec<u64>>(), stack());
    let mut sum = 0;
    for _ in 0..n {
        let mut done = 0;
        let result = handle_or_drop(
            &mut stack,
            |yielder| product(&list, yielder),
            |result| {
                done = result;
                None
            },
        );
        sum += result.unwrap_or(done);
    }
    sum
}

enum Parsing {
    Read,
    Emit(u64),
}

const NEWLINE: u64 = 10;
const DOLLAR: u64 = 36;

fn parse(yielder: &Yielder<u64, Parsing>) {
    let mut dollars = 0;
    loop {
        match yielder.suspend(Parsing::Read) {
            DOLLAR => dollars += 1,
            NEWLINE => {
                yielder.suspend(Parsing::Emit(dollars));
                dollars = 0;
            }
            _ => return,
        }
    }
}

fn parsing_dollars(n: u64) -> u64 {
    let feed = |emit: &Yielder<(), u64>| {
        let (mut line, mut left) = (0, 0);
        handle_or_drop(&mut stack(), parse, |question| match question {
            Parsing::Emit(dollars) => {
                emit.suspend(dollars);
                Some(0)
            }
            Parsing::Read if line > n => None,
            Parsing::Read if left == 0 => {
                line += 1;
                left = line;
                Some(NEWLINE)
            }
            Parsing::Read => {
                left -= 1;
                Some(DOLLAR)
            }
        })
    };
    let mut sum = 0;
    handle(&mut stack(), feed, |dollars| sum += dollars);
    sum
}

fn resume_nontail(n: u64) -> u64 {
    type Resumed<'a, 'b> = corosensei::ScopedCoroutineRef<'a, (), u64, u64, &'b mut DefaultStack>;
    fn answer(mut coroutine: Resumed<'_, '_>) -> u64 {
        match coroutine.resume(()) {
            CoroutineResult::Yield(x) => operator(x, answer(coroutine)),
            CoroutineResult::Return(seed) => seed,
        }
    }
    let mut stack = stack();
    (0..1_000).fold(0, |seed, _| {
        let body = |yielder: &Yielder<(), u64>, ()| {
            (1..=n).rev().for_each(|x| yielder.suspend(x));
            seed
        };
        ScopedCoroutine::with_stack(&mut stack, body).scope(answer)
    })
}

/// Runs `body` for each possibility, and calls `found` with its results.
fn search<R>(body: impl Fn(&Yielder<u64, u64>) -> Option<R>, mut found: impl FnMut(R)) {
    let (mut path, mut stack) = (Path::default(), stack());
    loop {
        if let Some(result) = handle(&mut stack, &body, |options| path.choose(options).0) {
            found(result);
        }
        if !path.advance() {
            break;
        }
    }
}

fn nqueens(n: u64) -> u64 {
    fn place(n: u64, column: u64, yielder: &Yielder<u64, u64>) -> Option<Vec<u64>> {
        if column == 0 {
            return Some(Vec::with_capacity(n as usize));
        }
        let mut rest = place(n, column - 1, yielder)?;
        let row = yielder.suspend(n) + 1;
        is_safe(row, &rest).then(|| {
            rest.push(row);
            rest
        })
    }
    let mut solutions = 0;
    search(|yielder| place(n, n, yielder), |_| solutions += 1);
    solutions
}

fn triples(n: u64) -> u64 {
    fn choice(n: u64, yielder: &Yielder<u64, u64>) -> Option<u64> {
        (1..=n).rev().find(|_| yielder.suspend(2) == 0)
    }
    let triple = |yielder: &Yielder<u64, u64>| {
        let i = choice(n, yielder)?;
        let j = choice(i - 1, yielder)?;
        let k = choice(j - 1, yielder)?;
        (i + j + k == n).then(|| hash(i, j, k))
    };
    let mut sum = 0;
    search(triple, |hash| sum = (sum + hash) % 1_000_000_007);
    sum
}

fn tree_explore(height: u64) -> u64 {
    fn explore(tree: Option<&Tree>, state: &Cell<u64>, yielder: &Yielder<u64, u64>) -> u64 {
        let Some(tree) = tree else { return state.get() };
        yielder.suspend(tree.value);
        operator(tree.value, explore(tree.half.as_deref(), state, yielder))
    }
    let (tree, mut stack) = (Tree::of_height(height), stack());
    (0..10).fold(0, |seed, _| {
        let (state, mut path, mut greatest) = (Cell::new(seed), Path::default(), 0);
        loop {
            let result = handle(
                &mut stack,
                |yielder| explore(tree.as_deref(), &state, yielder),
                |value| {
                    let (option, is_new) = path.choose(2);
                    if is_new {
                        state.set(operator(state.get(), value));
                    }
                    option
                },
            );
            greatest = greatest.max(result);
            if !path.advance() {
                break greatest;
            }
        }
    })
}

fn chameneos(n: u64) -> u64 {
    use super::chameneos::{COLOURS, Colour, Mall, creature};
    use corosensei::Coroutine;

    let begin = |colour| {
        Coroutine::new(move |yielder: &Yielder<Option<Colour>, Colour>, _| {
            creature(colour, |own| yielder.suspend(own))
        })
    };
    let mut creatures = COLOURS.map(begin);
    let mut ready: VecDeque<(usize, Option<Colour>)> = (0..creatures.len()).map(|id| (id, None)).collect();
    let (mut mall, mut meetings) = (Mall::new(n), 0);
    while let Some((id, other)) = ready.pop_front().or_else(|| mall.close()) {
        match creatures[id].resume(other) {
            CoroutineResult::Yield(colour) => {
                mall.enter(id, colour, |id, other| ready.push_back((id, other)))
            }
            CoroutineResult::Return(own) => meetings += own,
        }
    }
    meetings
}
