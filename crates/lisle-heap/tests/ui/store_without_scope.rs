use lisle_heap::{Gc, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn store(pair: lisle_heap::Ref<'_, Pair>) {
    pair.right.set(None);
}

fn main() {}
