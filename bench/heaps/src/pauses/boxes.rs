//! Boxes. A step frees the object that it replaces.

use super::{GARBAGE, Part, steps::Steps};
use std::hint::black_box;

struct Node {
    left: Option<Box<Node>>,
    _right: Option<Box<Node>>,
    _filled: [u64; 4],
}

struct Link {
    _number: u64,
    next: Option<Box<Link>>,
}

fn make_node(left: Option<Box<Node>>) -> Box<Node> {
    Box::new(Node { left, _right: None, _filled: [0; 4] })
}

/// Drops a chain, which may be longer than a stack.
fn drop_chain(mut node: Option<Box<Node>>) {
    while let Some(mut inner) = node {
        node = inner.left.take();
    }
}

pub fn run(part: &Part<'_>) -> Steps {
    let mut table: Vec<Option<Box<Node>>> = (0..part.table).map(|_| Some(make_node(None))).collect();
    part.wait();
    let steps = part.count(|random| {
        let mut list = None;
        for number in 0..GARBAGE {
            list = Some(Box::new(Link { _number: number, next: list }));
        }
        while let Some(mut link) = black_box(list) {
            list = link.next.take();
        }
        if let Some(replacement) = part.replacement(random) {
            let node = make_node(table[replacement.from].take());
            drop_chain(table[replacement.to].replace(node));
        }
    });
    table.into_iter().for_each(drop_chain);
    steps
}
