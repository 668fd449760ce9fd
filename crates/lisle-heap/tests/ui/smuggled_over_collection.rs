use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

/// As in the crate `scoped-tls`.
fn set<T, R>(_value: &T, f: impl FnOnce() -> R) -> R {
    f()
}

fn main() {
    Heap::new().enter(|s| {
        let pair = s.alloc::<Pair>(Pair::init(None, None));
        let reference = pair.get(s);
        set(&reference, || s.poll());
    });
}
