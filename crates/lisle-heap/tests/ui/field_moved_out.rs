use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    Heap::new().enter(|s| {
        let pair = s.alloc::<Pair>(Pair::init(None, None));
        let _stolen: Slot<Option<Pair>> = pair.get(s).get().right;
    });
}
