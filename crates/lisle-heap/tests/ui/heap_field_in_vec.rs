use lisle_heap::{Gc, Object};

#[derive(Object)]
struct Many {
    all: Vec<Gc<Many>>,
}

fn main() {}
