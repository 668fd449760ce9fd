use lisle_heap::{Gc, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.right.get();
    }
}

fn main() {}
