//! Cases 11 and 12: deep and long objects, and many stores into them.

use crate::scheme::{Sym, Value, ValueView, cons};
use lisle_heap::{Gc, Heap, Kind, Object};
use std::thread;

const LONG: usize = if cfg!(miri) { 300 } else { 10_000_000 };
const DEEP: usize = if cfg!(miri) { 100 } else { 1_000_000 };

#[derive(Object)]
struct Tree {
    left: Gc<Option<Tree>>,
    _right: Gc<Option<Tree>>,
}

/// Runs `f` on a thread with a small stack.
fn on_a_small_stack(f: impl FnOnce() + Send + 'static) {
    // 64 KiB for the heap; a test needs some for itself.
    let stack = if cfg!(debug_assertions) { 192 << 10 } else { 96 << 10 };
    thread::Builder::new().stack_size(stack).spawn(f).unwrap().join().unwrap();
}

#[test]
fn case_11_a_long_list_is_moved_and_marked_on_a_small_stack() {
    on_a_small_stack(|| {
        // The nursery has room for the whole list, which is moved at once.
        let heap = Heap::builder().nursery(24 * LONG + (1 << 16)).build();
        heap.enter(|s| {
            let mut list = s.root::<Value>(ValueView::Nil);
            for _ in 0..LONG {
                s.scope(|s| {
                    let longer = cons(s, 1, &list);
                    list.set(s, longer);
                });
            }
            assert_eq!(s.stats().minor_collections, 0);
            s.collect(Kind::Full);
            assert_eq!(s.stats().live_bytes, 24 * LONG);
        });
    });
}

#[test]
fn case_11_a_deep_tree_is_moved_and_marked_on_a_small_stack() {
    on_a_small_stack(|| {
        Heap::new().enter(|s| {
            let mut tree = s.root::<Option<Tree>>(None);
            for _ in 0..DEEP {
                s.scope(|s| {
                    let leaf = s.alloc::<Tree>(Tree::init(None, None));
                    let deeper = s.alloc::<Tree>(Tree::init(&tree, leaf));
                    tree.set(s, deeper);
                });
            }
            s.collect(Kind::Full);
            let (mut depth, mut rest) = (0, tree.get(s));
            while let Some(tree) = rest {
                depth += 1;
                rest = tree.left();
            }
            assert_eq!(depth, DEEP);
        });
    });
}

#[test]
fn case_11_a_long_array_is_filled_and_marked() {
    on_a_small_stack(|| {
        let heap = Heap::builder().nursery(1 << 20).build();
        heap.enter(|s| {
            let array = s.array::<Option<Sym>>(LONG, None);
            let step = LONG / 100;
            for index in (0..LONG).step_by(step) {
                s.scope(|s| {
                    let sym = s.alloc::<Sym>(Sym::init(String::new()));
                    array.get(s).at(index).set(s, sym);
                });
            }
            s.collect(Kind::Full);
            assert_eq!(array.get(s).iter().filter(|slot| slot.get().is_some()).count(), LONG.div_ceil(step));
        });
    });
}

const LEN: usize = if cfg!(miri) { 150 } else { 1_000 };

#[test]
fn case_12_the_log_of_stores_is_bounded() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let array = s.array::<Option<Sym>>(LEN, None);
        let none = s.root::<Option<Sym>>(None);
        s.collect(Kind::Full);
        let sym = s.alloc::<Sym>(Sym::init("young".into()));
        for round in 0..if cfg!(miri) { 2 } else { 1_000 } {
            // A store of a young object over another is not logged, one over `None` is.
            for slot in array.get(s) {
                slot.set(s, sym);
                slot.set(s, sym);
            }
            assert_eq!(s.stats().logged_stores, 1 + LEN as u64 * (round + 1));
            for slot in array.get(s) {
                slot.set(s, &none);
            }
        }
        array.get(s).at(LEN - 1).set(s, sym);
        s.collect(Kind::Minor);
        assert_eq!(array.get(s).at(LEN - 1).get().unwrap().name, "young");
        assert_eq!(s.verify(), Ok(()));
    });
}
