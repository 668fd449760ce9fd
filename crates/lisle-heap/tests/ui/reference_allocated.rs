use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    Heap::new().enter(|s| {
        let pair = s.alloc::<Pair>(Pair::init(None, None));
        let init = Pair::init(pair.get(s), None);
        s.alloc::<Pair>(init);
    });
}
