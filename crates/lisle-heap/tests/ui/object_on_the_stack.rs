use lisle_heap::{Heap, Object};

#[derive(Object)]
struct Leaf {
    number: u32,
}

fn main() {
    Heap::new().enter(|s| {
        let leaf = Leaf { number: 1 };
        s.local::<Leaf>(&leaf);
    });
}
