use lisle_heap::Object;

unsafe fn unchecked() {}

/// The function is code of the user, in which `unsafe` has to be written.
#[derive(Object)]
struct Text {
    #[external({ unchecked(); String::capacity })]
    text: String,
}

fn main() {}
