use lisle_heap::{Bytes, Heap};

fn main() {
    Heap::new().enter(|s| {
        let mut regs = s.regs::<Option<Bytes>>(2, None);
        s.outside(|| regs.copy(s, 0, 1));
    });
}
