//! Values, stacks and nestings of the least and the greatest size.

use crate::support::{Ask, Yield, begin, message_of};
use lisle::effect::{Effect, finish, generate, generator, handle, perform};
use std::convert::Infallible;

/// As many as the tests may run of something, which sanitizers make slow.
fn many(count: usize) -> usize {
    if cfg!(debug_assertions) { count / 10 } else { count }
}

#[test]
fn sizes_of_stacks() {
    assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).stack_size(0).run(), 1);
    for size in
        [usize::MAX, usize::MAX - 1, usize::MAX - 4095, usize::MAX / 2 + 1, isize::MAX as usize, 1 << 48]
    {
        let message = message_of(|| handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).stack_size(size).run());
        assert!(message.contains("no stack"), "{size:x}: {message}");
    }
    for size in (0..200_000).step_by(1_337) {
        assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).stack_size(size).run(), 1);
    }
}

struct Huge(Box<u8>, [u8; 1 << 20]);
impl Effect for Huge {
    type Answer = [u8; 1 << 20];
}
struct Empty;
impl Effect for Empty {
    type Answer = Empty;
}
struct Never;
impl Effect for Never {
    type Answer = Infallible;
}
#[repr(align(4096))]
struct Aligned(u8);
impl Effect for Aligned {
    type Answer = Aligned;
}

#[test]
fn sizes_of_values() {
    let room = 64 << 20;
    let f = || perform(Huge(Box::new(1), [2; 1 << 20]))[7];
    let thread = std::thread::Builder::new().stack_size(room);
    let all = move || {
        assert_eq!(handle(f).on(|Huge(a, b), k| k.resume([*a + b[3]; 1 << 20])).stack_size(room).run(), 3);
        assert_eq!(handle(f).answer(|Huge(a, b)| [*a + b[3]; 1 << 20]).stack_size(room).run(), 3);
        let result = handle(|| [perform(Ask) as u8; 1 << 20]).on(|Ask, k| k.resume(4)).stack_size(room).run();
        assert_eq!(result[99], 4);
        let items = generate(
            |items| (0..3).for_each(|n| items.give([n; 1 << 14])),
            |values| values.map(|v| v[5]).sum::<u8>(),
        );
        assert_eq!(items, 3);
    };
    thread.spawn(all).unwrap().join().unwrap();
    handle(|| _ = perform(Empty)).on(|Empty, k| k.resume(Empty)).run();
    handle(|| _ = perform(Empty)).answer(|Empty| Empty).run();
    handle(|| match perform(Never) {}).on(|Never, _| finish(())).run();
    let aligned = handle(|| {
        let answer = perform(Aligned(1));
        assert_eq!((&raw const answer).addr() % 4096, 0);
        answer
    })
    .on(|Aligned(n), k| {
        let answer = Aligned(n + 1);
        k.resume(answer)
    })
    .run();
    assert_eq!(aligned.0, 2);
    // Aligned closures and results lie on the stack that they are run on.
    let (big, other) = (Aligned(1), Aligned(2));
    let sum = handle(move || {
        let big = big;
        assert_eq!((&raw const big).addr() % 4096, 0);
        big.0 + perform(Ask) as u8
    })
    .on(move |Ask, k| {
        k.resume({
            let other = &other;
            u32::from(other.0)
        })
    })
    .run();
    assert_eq!(sum, 3);
}

#[test]
fn handlers_ten_thousand_deep() {
    fn nest(depth: usize) -> u32 {
        if depth == 0 {
            perform(Yield);
            return perform(Ask);
        }
        handle(|| nest(depth - 1) + 1).on(|Empty, k| k.resume(Empty)).stack_size(16 << 10).run()
    }
    let depth = if cfg!(debug_assertions) { 1_000 } else { 10_000 };
    let run = |gives_up: bool| {
        handle(|| nest(depth))
            .on(move |Yield, k| if gives_up { finish(0) } else { k.resume(()) })
            .answer(|Ask| 1)
            .run() as usize
    };
    assert_eq!(run(false), depth + 1);
    assert_eq!(run(true), 0);
    let kept = begin(move || {
        handle(|| nest(depth)).answer(|Ask| 1).run();
    });
    drop(kept);
}

#[test]
fn a_million_of_each() {
    let count = many(1_000_000);
    let sum =
        handle(|| (0..count).map(|_| perform(Ask) as usize).sum::<usize>()).on(|Ask, k| k.resume(1)).run();
    assert_eq!(sum, count);
    let done = handle(|| (0..count).for_each(|_| _ = perform(Ask)))
        .returning(|()| 0)
        .on(|Ask, k| k.resume_then(1, |n: usize| n + 1))
        .run();
    assert_eq!(done, count);
    // The continuations that are left are dropped, and not run.
    let left = handle(|| {
        (0..count).for_each(|n| {
            perform(Ask);
            assert!(n + 1 < count, "the last");
        })
    })
    .returning(|()| 0)
    .on(|Ask, k| k.resume_then(1, |n: usize| n + 1));
    assert_eq!(message_of(|| left.run()), "the last");
    let mut kept = begin(move || (0..count).for_each(|_| perform(Yield)));
    assert!(kept.is_some());
    drop(kept.take());
    for _ in 0..count {
        drop(begin(|| perform(Yield)));
    }
}

#[test]
fn generators() {
    // After the end, and in each other.
    let mut values = generator(|items| items.give(1));
    assert_eq!((values.next(), values.next(), values.next()), (Some(1), None, None));
    assert_eq!(values.size_hint().0, 0);
    fn count(depth: u32) -> Box<dyn Iterator<Item = u32>> {
        if depth == 0 {
            return Box::new(generator(|items| items.give(1)));
        }
        Box::new(generator(move |items| count(depth - 1).chain(count(depth - 1)).for_each(|n| items.give(n))))
    }
    assert_eq!(count(8).sum::<u32>(), 256);
    // An inner computation gives to the outer one, and the inner one of two gives to both.
    let pairs = generate(
        |outer| {
            generate(
                |inner| {
                    for n in 0..10 {
                        outer.give(n);
                        inner.give(n);
                        handle(|| {
                            outer.give(n + perform(Ask));
                            inner.give(n)
                        })
                        .on(|Ask, k| k.resume(100))
                        .run();
                    }
                },
                |values| outer.give(values.sum::<u32>()),
            );
        },
        |values| values.collect::<Vec<_>>(),
    );
    assert_eq!((pairs.len(), pairs[20]), (21, 90));
    // Dropped in the middle of that.
    let first = generate(
        |outer| {
            generate(
                |inner| {
                    outer.give(Box::new(1));
                    inner.give(2)
                },
                |values| _ = values.count(),
            );
        },
        |mut values| values.next(),
    );
    assert_eq!(first, Some(Box::new(1)));
    // The producer panics, and is asked again.
    let mut values = generator(|items| {
        items.give(1);
        panic!("no more")
    });
    values.next();
    assert_eq!(message_of(|| values.next()), "no more");
    assert_eq!(values.next(), None::<i32>);
    let asked_again = generate(
        |items| {
            items.give(1);
            panic!("no more")
        },
        |mut values| {
            values.next();
            (message_of(|| values.next()), values.next(), values.next())
        },
    );
    assert_eq!(asked_again, ("no more".to_string(), None::<i32>, None));
    // It catches the end, and gives again.
    let mut values = generator(|items| {
        while std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| items.give(1))).is_ok() {}
        let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| items.give(1)));
        assert!(again.is_err());
    });
    values.next();
    drop(values);
}
