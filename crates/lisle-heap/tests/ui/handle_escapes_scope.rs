use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    Heap::new().enter(|s| {
        let inner = s.scope(|s| s.alloc::<Pair>(Pair::init(None, None)));
        inner.get(s);
    });
}
