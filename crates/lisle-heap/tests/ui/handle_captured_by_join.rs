//! A function of a join gets its handles beside it: another domain may take it.
use lisle_heap::Heap;

fn main() {
    Heap::new().enter(|s| {
        let text = s.bytes(b"text");
        s.join((), |_, ()| 0, (), |s, ()| text.get(s).len());
    });
}
