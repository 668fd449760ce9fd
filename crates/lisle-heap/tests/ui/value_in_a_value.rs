use lisle_heap::{Gc, Object, Value};

#[derive(Object)]
struct Number {
    number: u64,
}

#[derive(Object)]
struct Text {
    text: String,
}

#[derive(Value)]
enum Inner {
    Number(Gc<Number>),
    Text(Gc<Text>),
}

#[derive(Value)]
enum Outer {
    Inner(Gc<Inner>),
    Number(Gc<Number>),
    Maybe(Gc<Option<Text>>),
}

fn main() {}
