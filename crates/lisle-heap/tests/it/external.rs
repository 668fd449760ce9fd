//! Memory that plain fields own elsewhere.

use crate::support::small;
use lisle_heap::{Heap, Kind, Object, Slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts the bytes of the buffers that are alive, and their maximum.
#[derive(Clone, Default)]
struct Counter(Arc<[AtomicUsize; 2]>);

impl Counter {
    fn buffer(&self, len: usize) -> Buffer {
        let live = self.0[0].fetch_add(len, Relaxed) + len;
        self.0[1].fetch_max(live, Relaxed);
        Buffer { len: AtomicUsize::new(len), counted: len, counter: self.clone() }
    }

    fn most(&self) -> usize {
        self.0[1].load(Relaxed)
    }
}

/// Claims to own so many bytes.
struct Buffer {
    len: AtomicUsize,
    counted: usize,
    counter: Counter,
}

impl Buffer {
    fn bytes(&self) -> usize {
        self.len.load(Relaxed)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.counter.0[0].fetch_sub(self.counted, Relaxed);
    }
}

#[derive(Object)]
struct Image {
    name: &'static str,
    #[external(Buffer::bytes)]
    pixels: Buffer,
    next: Slot<Option<Image>>,
}

const MIB: usize = 1 << 20;

#[test]
fn garbage_with_large_buffers_is_collected_in_time() {
    let (heap, counter) = (Heap::builder().nursery(MIB).build(), Counter::default());
    let rounds = if cfg!(miri) { 20 } else { 2_000 };
    heap.enter(|s| {
        for _ in 0..rounds {
            s.scope(|s| {
                let image = s.alloc::<Image>(Image::init("x", counter.buffer(MIB / 3), None));
                assert_eq!(image.get(s).name, "x");
            });
        }
    });
    assert!(counter.most() <= 2 * MIB, "{}", counter.most());
    // Four objects own more than the nursery has.
    assert_eq!(heap.stats().minor_collections, (rounds - 1) / 4);
}

/// Old garbage is found by cycles that the buffers call for, not the small objects.
#[test]
fn old_objects_with_large_buffers_are_collected_in_time() {
    const SLOTS: usize = 100;
    let (heap, counter) = (Heap::builder().nursery(1 << 16).ratio(1.5).build(), Counter::default());
    heap.enter(|s| {
        let table = s.array::<Option<Image>>(SLOTS, None);
        for round in 0..if cfg!(miri) { 3 } else { 30 } * SLOTS {
            s.scope(|s| {
                let image = s.alloc::<Image>(Image::init("x", counter.buffer(1 << 16), None));
                table.get(s).at(round % SLOTS).set(s, image);
            });
        }
        assert_eq!(s.verify(), Ok(()));
    });
    let live = SLOTS << 16;
    assert!(counter.most() <= 2 * live, "{} of {live}", counter.most());
    heap.collect(Kind::Full);
    assert_eq!(heap.stats().external_bytes, 0);
}

#[test]
fn the_limit_counts_buffers() {
    let (limit, counter) = (16 * MIB, Counter::default());
    let heap = Heap::builder().nursery(1 << 16).limit(limit).build();
    heap.enter(|s| {
        for _ in 0..3 {
            s.scope(|s| {
                let mut list = s.root::<Option<Image>>(None);
                let full = loop {
                    let image = Image::init("x", counter.buffer(MIB), &list);
                    match s.try_alloc::<Image>(image) {
                        Ok(image) => list.set(s, image),
                        Err(full) => break full,
                    }
                };
                assert_eq!(full.limit, Some(limit));
                let owned = counter.0[0].load(Relaxed);
                assert!((limit - 3 * MIB..=limit + 2 * MIB).contains(&owned), "{owned}");
                assert!(full.live > limit - 3 * MIB, "{full:?}");
            });
            s.collect(Kind::Full);
            assert_eq!(s.stats().external_bytes, 0);
        }
    });
}

/// A cycle asks anew.
#[test]
fn a_buffer_may_grow() {
    let (heap, counter) = (small(), Counter::default());
    heap.enter(|s| {
        let image = s.alloc::<Image>(Image::init("x", counter.buffer(100), None));
        s.collect(Kind::Minor);
        assert_eq!(s.stats().external_bytes, 100);
        image.get(s).pixels.len.store(5_000, Relaxed);
        s.collect(Kind::Full);
        assert_eq!(s.stats().external_bytes, 5_000);
        image.get(s).pixels.len.store(usize::MAX, Relaxed);
        s.collect(Kind::Full);
        assert_eq!(s.stats().external_bytes, usize::MAX);
        image.get(s).pixels.len.store(1, Relaxed);
        s.collect(Kind::Full);
        assert_eq!((s.stats().external_bytes, s.verify()), (1, Ok(())));
    });
}

/// An object that is born old counts at once, and so does one of several fields.
#[test]
fn large_objects_and_several_fields_count() {
    #[derive(Object)]
    struct Large {
        _inline: [u64; 500],
        #[external(String::capacity)]
        text: String,
        #[external(|numbers: &Vec<u16>| 2 * numbers.capacity())]
        numbers: Vec<u16>,
    }
    small().enter(|s| {
        let text = "x".repeat(1_000);
        let large = s.alloc::<Large>(Large::init([0; 500], text, Vec::with_capacity(50)));
        assert_eq!(s.stats().external_bytes, 1_100);
        assert_eq!((large.get(s).text.len(), large.get(s).numbers.len()), (1_000, 0));
        s.collect(Kind::Full);
        assert_eq!(s.stats().external_bytes, 1_100);
    });
}
