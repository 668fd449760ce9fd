//! By Lisle's handlers, in two forms: `resume`, in which each clause is given a continuation, and
//! `in_place`, in which a clause that would resume at once answers as a function does that is
//! called.

#[path = "lisle/search.rs"]
mod search;

use super::chameneos::{COLOURS, Colour, Mall, creature};
use crate::effects::{Tree, suite::operator};
use lisle::effect::{Effect, Suspended, finish, handle, perform};
use std::{cell::Cell, collections::VecDeque, hint::black_box};

/// The programs of the suite whose clauses all resume at once.
pub(super) const IN_PLACE: [&str; 8] = [
    "countdown",
    "fibonacci-recursive",
    "handler-sieve",
    "iterator",
    "nqueens",
    "parsing-dollars",
    "tree-explore",
    "triples",
];

pub(super) fn resume(program: &str, n: u64) -> u64 {
    match program {
        "chameneos" => chameneos(n),
        "generator" => generator(n),
        "product-early" => product_early(n),
        "resume-nontail" => resume_nontail(n),
        other => answer::<false>(other, n),
    }
}

pub(super) fn in_place(program: &str, n: u64) -> u64 {
    answer::<true>(program, n)
}

fn answer<const IN_PLACE: bool>(program: &str, n: u64) -> u64 {
    match program {
        "countdown" => countdown::<IN_PLACE>(n),
        "fibonacci-recursive" => fibonacci::<IN_PLACE>(n),
        "handler-sieve" => sieve::<IN_PLACE>(n),
        "iterator" => iterator::<IN_PLACE>(n),
        "nqueens" => search::nqueens::<IN_PLACE>(n),
        "parsing-dollars" => parsing_dollars::<IN_PLACE>(n),
        "tree-explore" => search::tree_explore::<IN_PLACE>(n),
        "triples" => search::triples::<IN_PLACE>(n),
        other => panic!("the suite has no program {other}"),
    }
}

/// Runs a body under a handler with these clauses, in the form that is asked for.
macro_rules! answered {
    ($body:expr, $($effect:pat => $answer:expr),+) => {
        if IN_PLACE {
            handle($body)$(.answer(|$effect| $answer))+.run()
        } else {
            handle($body)$(.on(|$effect, k| k.resume($answer)))+.run()
        }
    };
}
use answered;

struct Get;

impl Effect for Get {
    type Answer = u64;
}

struct Set(u64);

impl Effect for Set {
    type Answer = ();
}

fn countdown<const IN_PLACE: bool>(n: u64) -> u64 {
    let body = || loop {
        let now = perform(Get);
        if now == 0 {
            break now;
        }
        perform(Set(now - 1));
    };
    let state = Cell::new(n);
    answered!(body, Get => state.get(), Set(new) => state.set(new))
}

fn fibonacci<const IN_PLACE: bool>(n: u64) -> u64 {
    answered!(|| super::corosensei::fibonacci(n), Get => 0)
}

struct Emit(u64);

impl Effect for Emit {
    type Answer = ();
}

fn iterator<const IN_PLACE: bool>(n: u64) -> u64 {
    let sum = Cell::new(0);
    answered!(
        || (0..=n).for_each(|number| perform(Emit(number))),
        Emit(number) => sum.set(sum.get() + number)
    );
    sum.get()
}

enum Values {
    More(u64, Suspended<(), Values>),
    End,
}

fn generator(height: u64) -> u64 {
    fn walk(tree: Option<&Tree>) {
        if let Some(tree) = tree {
            walk(tree.half.as_deref());
            perform(Emit(tree.value));
            walk(tree.half.as_deref());
        }
    }
    let tree = Tree::of_height(height);
    let mut values = handle(move || walk(tree.as_deref()))
        .returning(|()| Values::End)
        .on(|Emit(value), k| finish(Values::More(value, k.keep())))
        .run();
    let mut sum = 0;
    while let Values::More(value, rest) = values {
        sum += value;
        values = rest.resume(());
    }
    sum
}

struct IsPrime(u64);

impl Effect for IsPrime {
    type Answer = bool;
}

fn sieve<const IN_PLACE: bool>(n: u64) -> u64 {
    fn primes<const IN_PLACE: bool>(first: u64, n: u64, sum: u64) -> u64 {
        let Some(prime) = (first..n).find(|&number| perform(IsPrime(number))) else { return sum };
        let body = || primes::<IN_PLACE>(prime + 1, n, sum + prime);
        let is_prime = |number| number % prime != 0 && perform(IsPrime(number));
        if IN_PLACE {
            // The clauses of all primes are called one by the other, on the stack of the innermost.
            handle(body).answer(|IsPrime(number)| is_prime(number)).stack_size(SIEVE_STACK).run()
        } else {
            handle(body).on(|IsPrime(number), k| k.resume(is_prime(number))).run()
        }
    }
    answered!(|| primes::<IN_PLACE>(2, n, 0), IsPrime(_) => true)
}

/// There is a clause for each of 6,057 primes on one stack.
const SIEVE_STACK: usize = 4 << 20;

/// It is not answered.
struct Done(u64);

impl Effect for Done {
    type Answer = u64;
}

/// The box keeps the compiler from making a loop of it, without a frame for each number.
fn product(list: &[u64]) -> u64 {
    match list {
        [] => 0,
        [0, ..] => perform(Done(0)),
        [first, rest @ ..] => first.wrapping_mul(black_box(product(rest))),
    }
}

/// For a thousand calls, as large as they are without optimization.
const PRODUCT_STACK: usize = 4 << 20;

fn product_early(n: u64) -> u64 {
    let list: Vec<u64> = (0..=1_000).rev().collect();
    let early = |_| handle(|| product(&list)).catch(|Done(result)| result).stack_size(PRODUCT_STACK).run();
    (0..n).map(early).sum()
}

struct Read;

impl Effect for Read {
    type Answer = u64;
}

/// It is not answered.
struct Stop;

impl Effect for Stop {
    type Answer = u64;
}

const NEWLINE: u64 = 10;
const DOLLAR: u64 = 36;

fn parse() {
    let mut dollars = 0;
    loop {
        match perform(Read) {
            DOLLAR => dollars += 1,
            NEWLINE => {
                perform(Emit(dollars));
                dollars = 0;
            }
            _ => {
                perform(Stop);
            }
        }
    }
}

fn parsing_dollars<const IN_PLACE: bool>(n: u64) -> u64 {
    let feed = || {
        let (line, left) = (Cell::new(0), Cell::new(0));
        let read = || match left.get() {
            _ if line.get() > n => perform(Stop),
            0 => {
                line.set(line.get() + 1);
                left.set(line.get());
                NEWLINE
            }
            some => {
                left.set(some - 1);
                DOLLAR
            }
        };
        answered!(parse, Read => read());
    };
    let sum = Cell::new(0);
    answered!(
        || handle(feed).catch(|Stop| ()).run(),
        Emit(dollars) => sum.set(sum.get() + dollars)
    );
    sum.get()
}

struct Operator(u64);

impl Effect for Operator {
    type Answer = ();
}

fn resume_nontail(n: u64) -> u64 {
    (0..1_000).fold(0, |seed, _| {
        let body = || {
            (1..=n).rev().for_each(|x| perform(Operator(x)));
            seed
        };
        handle(body).on(|Operator(x), k| k.resume_then((), move |y| operator(x, y))).run()
    })
}

struct Meet(Colour);

impl Effect for Meet {
    type Answer = Option<Colour>;
}

enum Creature {
    Asks(Colour, Suspended<Option<Colour>, Creature>),
    Ended(u64),
}

fn chameneos(n: u64) -> u64 {
    let (mut mall, mut meetings) = (Mall::new(n), 0);
    let mut ready = VecDeque::new();
    let mut go_on = |creature, mall: &mut Mall<_>, ready: &mut VecDeque<_>| match creature {
        Creature::Asks(colour, k) => mall.enter(k, colour, |k, other| ready.push_back((k, other))),
        Creature::Ended(own) => meetings += own,
    };
    for colour in COLOURS {
        let begun = handle(move || creature(colour, |own| perform(Meet(own))))
            .returning(Creature::Ended)
            .on(|Meet(colour), k| finish(Creature::Asks(colour, k.keep())))
            .run();
        go_on(begun, &mut mall, &mut ready);
    }
    while let Some((k, other)) = ready.pop_front().or_else(|| mall.close()) {
        go_on(k.resume(other), &mut mall, &mut ready);
    }
    meetings
}
