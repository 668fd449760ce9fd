use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    Heap::new().enter(|s| {
        let pair = s.alloc::<Pair>(Pair::init(None, None));
        let object = pair.get(s).get();
        std::thread::scope(|t| {
            t.spawn(move || object.left.get().is_none());
        });
    });
}
