use lisle_heap::{Gc, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

fn main() {
    let _pair = Pair { left: Gc::from(None), right: Slot::default() };
}
