use lisle_heap::{Object, Word};

#[derive(Object)]
struct Number {
    number: u64,
}

#[derive(Object)]
struct Text {
    text: String,
}

trait Other {
    type Other: Word;
}

impl Other for Number {
    type Other = Text;
}

/// It is called `Gc`, and points to another type than it says.
type Gc<T> = lisle_heap::Gc<<T as Other>::Other>;

#[derive(Object)]
struct Holder {
    number: Gc<Number>,
}

fn main() {}
