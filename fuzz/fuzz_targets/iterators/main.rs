//! A source, some adapters, an end: a parallel iterator beside a standard one.
//!
//! The loop is divided where the fuzzer says, on this thread, or where other domains happen to ask
//! for work.

#![no_main]

mod chains;
mod divided;
mod ends;
#[path = "../../../crates/lisle-par/src/iter/tests/erased.rs"]
#[allow(dead_code, reason = "its tests use the rest")]
mod erased;

use chains::{exact_adapter, loose_adapter, source};
use divided::{Divided, parts_agree};
use ends::{common_end, end, exact_end, none_is_alive};
use erased::Loose;
use libfuzzer_sys::fuzz_target;
// Under the name by which `erased` knows it in its own crate.
use lisle::par::iter;
use lisle::par::prelude::*;
use lisle_fuzz::Draw;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

lisle_fuzz::with_fibers!();

/// The payload of an item's panic.
struct Bad;

fuzz_target!(|data: &[u8]| {
    run(&mut Draw::new(data, 128));
    none_is_alive();
});

fn run(draw: &mut Draw<'_>) {
    let kind = draw.below(8);
    let (mut exact, mut items) = source(draw);
    for _ in 0..draw.below(5) {
        (exact, items) = exact_adapter(draw, exact, items);
    }
    match kind {
        0 => return parts_agree(draw, exact, &items),
        1 => return exact_end(draw, exact, items),
        _ => {}
    }
    let mut any = Loose::new(exact);
    for _ in 0..draw.below(4) {
        (any, items) = loose_adapter(draw, any, items);
    }
    let bytes = if kind < 4 {
        // The steps are long enough for others to ask for work.
        let rounds = if items.len() < 16 { 3_000 } else { 0 };
        let work = move |x: &i64| _ = black_box((0..rounds).fold(*x, |x, n| black_box(x ^ n)));
        any = Loose::new(any.inspect(work).grain(1));
        None
    } else {
        Some((0..16 + draw.below(48)).map(|_| draw.byte()).collect())
    };
    let tells = draw.below(2) == 0;
    last(draw, Divided::new(any, bytes, tells), items);
}

/// One more adapter, with a way of its own to be driven, which a boxed iterator does not have; then
/// the end.
fn last(draw: &mut Draw<'_>, iter: Divided<Loose>, items: Vec<i64>) {
    let n = draw.below(5) as i64;
    let several = move |x: i64| x..x + x.rem_euclid(n + 1);
    let some = move |x: &i64| x % 5 != n;
    match draw.below(12) {
        0 => _ = common_end(draw, iter.filter(some), items.into_iter().filter(some).collect()),
        1 => _ = common_end(draw, iter.flat_map(several), items.into_iter().flat_map(several).collect()),
        2 => {
            let numbered = iter.map_init(|| 0, |n: &mut i64, x| (x, std::mem::replace(n, *n + 1)));
            let checked = numbered.map(|(x, n)| if n >= 0 { x } else { 0 });
            _ = common_end(draw, checked.deterministic(n as usize + 1), items);
        }
        3 => {
            // Sums of runs, of which nobody knows how many there are.
            let sums = iter.fold(|| 0, |sum, x| sum + x).fold_with(0, |sum, x| sum + x);
            assert_eq!(sums.filter(|sum| *sum != 0).sum::<i64>(), items.iter().sum());
        }
        4 => with_a_bad_one(draw, iter, items),
        _ => end(draw, iter, items),
    }
}

/// An item panics: so does the loop if it comes to the item, and it makes no other mistake.
fn with_a_bad_one(draw: &mut Draw<'_>, iter: Divided<Loose>, items: Vec<i64>) {
    let bad = items.get(draw.below(items.len() + 1)).copied();
    let blown = iter.inspect(move |x| {
        if Some(*x) == bad {
            resume_unwind(Box::new(Bad));
        }
    });
    match catch_unwind(AssertUnwindSafe(|| common_end(draw, blown, items))) {
        Ok(looked_at_all) => assert!(!looked_at_all || bad.is_none(), "the panic was lost"),
        Err(panic) => assert!(panic.is::<Bad>() && bad.is_some()),
    }
}
