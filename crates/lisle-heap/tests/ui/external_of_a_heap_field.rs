//! `external` is a function for a plain field.
use lisle_heap::{Gc, Object};

#[derive(Object)]
struct Named {
    #[external(Named::bytes)]
    next: Gc<Option<Named>>,
}

#[derive(Object)]
struct Text {
    #[external]
    text: String,
}

#[derive(Object)]
struct Wrong {
    #[external(str::len)]
    text: Vec<u8>,
}

fn main() {}
