//! A function of a join returns objects as global handles: its scope ends with it.
use lisle_heap::Heap;

fn main() {
    Heap::new().enter(|s| {
        let text = s.bytes(b"text");
        let (_, _text) = s.join((), |_, ()| 0, text, |_, text| text);
        let (_, _text) = s.join((), |_, ()| 0, text, |s, text| text.get(s));
    });
}
