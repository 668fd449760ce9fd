use lisle_heap::{Gc, Heap, Object, Slot};

#[derive(Object)]
struct Pair {
    left: Gc<Option<Pair>>,
    right: Slot<Option<Pair>>,
}

static KEPT: std::sync::Mutex<Option<lisle_heap::Local<'static, Pair>>> = std::sync::Mutex::new(None);

fn main() {
    Heap::new().enter(|s| {
        *KEPT.lock().unwrap() = Some(s.alloc::<Pair>(Pair::init(None, None)));
    });
}
