use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    Heap::new().enter(|s| {
        let mut kept = None;
        s.scope(|_| {
            kept = Some(s.alloc::<Pair>(Pair::init(None, None)));
        });
    });
}
