use lisle_heap::{Gc, Object, Value};

#[derive(Object)]
struct Sym {
    name: String,
}

#[derive(Value)]
enum Named {
    Sym { name: Gc<Sym> },
}

#[derive(Object)]
enum Either {
    Sym(Gc<Sym>),
}

fn main() {}
