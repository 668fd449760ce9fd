//! Objects of one heap that all threads are in.

use super::{GARBAGE, Part, steps::Steps};
use lisle_heap::{Gc, Heap, Local, Object, Scope, Slot};

#[derive(Object)]
struct Node {
    left: Slot<Option<Node>>,
    right: Slot<Option<Node>>,
    _filled: [u64; 4],
}

#[derive(Object)]
struct Link {
    _number: u64,
    _next: Gc<Option<Link>>,
}

fn make_node<'s>(s: &mut Scope<'s>, left: Local<'_, Option<Node>>) -> Local<'s, Node> {
    s.alloc::<Node>(Node::init(left, None, [0; 4]))
}

pub fn run(heap: &Heap, part: &Part<'_>) -> Steps {
    heap.enter(|s| {
        let table = s.array::<Option<Node>>(part.table, None);
        for at in 0..part.table {
            s.scope(|s| {
                let nothing = s.local::<Option<Node>>(None);
                let node = make_node(s, nothing);
                table.get(s).at(at).set(s, node);
            });
        }
        s.outside(|| part.wait());
        part.count(|random| {
            s.scope(|s| {
                let mut list = s.root::<Option<Link>>(None);
                for number in 0..GARBAGE {
                    let link = s.alloc::<Link>(Link::init(number, &list));
                    list.set(s, link);
                }
                if let Some(replacement) = part.replacement(random) {
                    let old = s.local::<Option<Node>>(table.get(s).at(replacement.from).get());
                    let node = make_node(s, old);
                    table.get(s).at(replacement.to).set(s, node);
                    table.get(s).at(replacement.from).set(s, None);
                }
            });
        })
    })
}
