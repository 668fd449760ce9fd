//! Generators.

use crate::support::{Ask, Counts, message_of};
use lisle_effect::{Items, generate, generator, handle, perform};
use std::cell::Cell;
use std::panic::resume_unwind;

struct Tree {
    children: Vec<Tree>,
    value: u32,
}

fn tree(depth: u32) -> Tree {
    let children = if depth == 0 { Vec::new() } else { vec![tree(depth - 1), tree(depth - 1)] };
    Tree { children, value: depth }
}

fn walk<'t>(tree: &'t Tree, items: &Items<&'t u32>) {
    for child in &tree.children {
        walk(child, items);
    }
    items.give(&tree.value);
}

#[test]
fn it_is_an_iterator() {
    let squares = generator(|items| (0..5).for_each(|n| items.give(n * n)));
    assert!(squares.map(|n| n + 1).eq([1, 2, 5, 10, 17]));
    assert_eq!(generator(|_: &Items<u8>| ()).next(), None);
    let mut one = generator(|items| items.give("one".to_string()));
    assert_eq!(one.next().as_deref(), Some("one"));
    assert_eq!((one.next(), one.next()), (None, None));
}

#[test]
fn it_borrows_and_recurses() {
    let tree = tree(10);
    let (count, sum) = generate(
        |items| walk(&tree, items),
        |values| values.fold((0, 0), |(count, sum), value| (count + 1, sum + value)),
    );
    assert_eq!((count, sum), (2_047, 2_036));
    // References to the tree outlive the iterator.
    let first = generate(|items| walk(&tree, items), |mut values| values.next());
    assert_eq!(first, Some(&0));
}

#[test]
fn dropped_early_or_not_begun() {
    let dropped: &'static Cell<u32> = Box::leak(Box::new(Cell::new(0)));
    let make = || {
        let outer = Counts(dropped);
        generator(move |items| {
            let _outer = outer;
            let _inner = Counts(dropped);
            items.give(1);
            items.give(2);
        })
    };
    drop(make());
    assert_eq!(dropped.take(), 1);
    let mut begun = make();
    assert_eq!(begun.next(), Some(1));
    drop(begun);
    assert_eq!(dropped.take(), 2);
    assert_eq!(make().count(), 2);
    assert_eq!(dropped.take(), 2);
    std::mem::forget(make());
    assert_eq!(dropped.take(), 0);
    let local = Cell::new(0);
    let one = generate(
        |items| {
            let _counts = Counts(&local);
            items.give(1);
        },
        |mut values| values.next(),
    );
    assert_eq!((one, local.get()), (Some(1), 1));
}

#[test]
fn panics() {
    let mut panicking = generator(|items| {
        items.give(1);
        panic!("producer")
    });
    assert_eq!(panicking.next(), Some(1));
    assert_eq!(message_of(|| panicking.next()), "producer");
    assert_eq!(panicking.next(), None);
    let dropped = Cell::new(0);
    let consumer = |mut values: lisle_effect::Values<'_, u32>| -> u32 {
        assert_eq!(values.next(), Some(1));
        panic!("consumer")
    };
    let producer = |items: &Items<u32>| {
        let _counts = Counts(&dropped);
        items.give(1);
    };
    assert_eq!(message_of(|| generate(producer, consumer)), "consumer");
    assert_eq!(dropped.get(), 1);
    // The consumer may go on after a panic of the producer.
    let after = generate(
        |_: &Items<u32>| resume_unwind(Box::new("producer")),
        |mut values| (message_of(|| values.next()), values.next()),
    );
    assert_eq!(after, ("producer".to_string(), None));
}

#[test]
fn producers_perform_and_consumers_handle() {
    let numbers = || generator(|items| (0..3).for_each(|_| items.give(perform(Ask))));
    let sum = handle(move || numbers().sum::<u32>()).on(|Ask, k| k.resume(5)).run();
    assert_eq!(sum, 15);
    // A clause of a handler within the producer gives items, too.
    let given: Vec<u32> = generator(|items| {
        let inner = handle(|| perform(Ask) + perform(Ask));
        items.give(generate(|i| i.give(inner.answer(|Ask| 4).run()), |values| values.sum()));
    })
    .collect();
    assert_eq!(given, [8]);
    let within: Vec<u32> = generate(
        |items| {
            let sum = handle(|| perform(Ask) + perform(Ask))
                .answer(|Ask| {
                    items.give(1);
                    2
                })
                .run();
            items.give(sum);
        },
        |values| values.collect(),
    );
    assert_eq!(within, [1, 1, 4]);
}

#[test]
fn one_in_another() {
    fn permutations(rest: Vec<u32>) -> Box<dyn Iterator<Item = Vec<u32>>> {
        Box::new(generator(move |items| {
            if rest.is_empty() {
                items.give(Vec::new());
            }
            for (index, &first) in rest.iter().enumerate() {
                let mut others = rest.clone();
                others.remove(index);
                for mut tail in permutations(others) {
                    tail.push(first);
                    items.give(tail);
                }
            }
        }))
    }
    assert_eq!(permutations(vec![1, 2, 3, 4]).count(), 24);
    let (mut evens, mut odds) = (
        generator(|i| (0..1_000).for_each(|n| i.give(2 * n))),
        generator(|i| (0..1_000).for_each(|n| i.give(2 * n + 1))),
    );
    let zipped: Vec<_> = (0..3).map(|_| (evens.next().unwrap(), odds.next().unwrap())).collect();
    assert_eq!(zipped, [(0, 1), (2, 3), (4, 5)]);
}
