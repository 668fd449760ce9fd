//! Effects: stacks come from a supply, and all parts of a computation lie on its stack. Two things
//! are allocated: the continuations of `resume_then`, and the payload that unwinds a computation
//! which ends early. They are not tested here.

use super::{allocates_nothing, my_turn, on_one_domain};
use lisle::effect::{Effect, Suspended, finish, generate, generator, handle, perform};
use std::cell::RefCell;
use std::collections::VecDeque;

struct Ask(usize);
impl Effect for Ask {
    type Answer = usize;
}

struct Pause;
impl Effect for Pause {
    type Answer = ();
}

fn effects() {
    allocates_nothing("run a computation without effect", |times| {
        (0..times).for_each(|i| assert_eq!(handle(|| i).on(|Ask(n), k| k.resume(n)).run(), i));
    });
    allocates_nothing("run a computation with an effect", |times| {
        (0..times).for_each(|i| {
            assert_eq!(handle(|| perform(Ask(i))).on(|Ask(n), k| k.resume(n + 1)).run(), i + 1)
        });
    });
    allocates_nothing("perform, through a handler of something else", |times| {
        let sum = || (0..times).map(|i| perform(Ask(i))).sum::<usize>();
        let within = || handle(sum).on(|Pause, k| k.resume(())).run();
        assert_eq!(handle(within).on(|Ask(_), k| k.resume(1)).run(), times);
        assert_eq!(handle(within).answer(|Ask(_)| 1).run(), times);
    });
    allocates_nothing("a clause that ends the computation with a value", |times| {
        (0..times).for_each(|i| assert_eq!(handle(|| i).on(|Pause, _| finish(0)).run(), i));
    });
    allocates_nothing("an item of a generator", |times| {
        let sum: usize = generate(|items| (0..times).for_each(|_| items.give(1)), |values| values.sum());
        assert_eq!(sum, times);
    });
    allocates_nothing("a generator", |times| {
        for i in 0..times {
            assert_eq!(generator(move |items| items.give(i)).sum::<usize>(), i);
        }
    });
}

/// Continuations that are kept in a queue, and resumed in turn.
fn kept() {
    thread_local! {
        static QUEUE: RefCell<VecDeque<Suspended<(), ()>>> = const { RefCell::new(VecDeque::new()) };
    }
    allocates_nothing("keep and resume, of three", |times| {
        for _ in 0..3 {
            handle(move || (0..times).for_each(|_| perform(Pause)))
                .on(|Pause, k| {
                    QUEUE.with_borrow_mut(|queue| queue.push_back(k.keep()));
                    finish(())
                })
                .run();
        }
        while let Some(next) = QUEUE.with_borrow_mut(VecDeque::pop_front) {
            next.resume(());
        }
    });
}

#[test]
fn effects_in_a_fiber() {
    on_one_domain(effects);
    on_one_domain(kept);
}

#[test]
fn effects_on_a_plain_thread() {
    let _turn = my_turn();
    effects();
    kept();
}
