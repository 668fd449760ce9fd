//! Case 10: the check finds faults that were made on purpose.
#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "the heap is damaged on purpose, and not used afterwards"
)]

use crate::lock::lock;
use crate::object::{Header, WORD, header_of, set_header};
use crate::raw::{Raw, immediate, immediate_bits};
use crate::space::Logged;
use crate::table::Table;
use crate::{Array, Bytes, Heap, Kind, Local, Object, Scope, Slot, Source};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

#[derive(Object)]
struct Pair {
    first: Slot<Option<Pair>>,
    second: Slot<Option<Pair>>,
}

struct Objects<'s> {
    /// Old, and refers to `young`.
    old: Local<'s, Pair>,
    young: Local<'s, Pair>,
    _array: Local<'s, Array<Option<Pair>>>,
    bytes: Local<'s, Bytes>,
}

/// Makes a heap with old, young, large and free objects, damages it, and returns what the check says.
fn after(damage: impl FnOnce(&mut Scope<'_>, &Objects<'_>)) -> String {
    let heap = Heap::builder().nursery(1 << 16).build();
    let said = heap.enter(|s| {
        let old = s.alloc::<Pair>(Pair::init(None, None));
        let bytes = s.bytes(&[0; 50]);
        s.scope(|s| {
            (0..10).for_each(|_| {
                s.alloc::<Pair>(Pair::init(None, None));
            });
            s.collect(Kind::Full);
        });
        s.collect(Kind::Full);
        // A large object.
        let array = s.array::<Option<Pair>>(150, None);
        let young = s.alloc::<Pair>(Pair::init(old, None));
        old.get(s).first.set(s, young);
        array.get(s).at(100).set(s, young);
        assert_eq!(s.verify(), Ok(()));
        let objects = Objects { old, young, _array: array, bytes };
        damage(s, &objects);
        s.verify().unwrap_err().to_string()
    });
    // A damaged heap must not be collected.
    std::mem::forget(heap);
    said
}

fn payload(s: &Scope<'_>, pair: Local<'_, Pair>) -> Raw {
    pair.get(s).raw()
}

/// Writes a word of a pair past the barrier.
fn write(s: &Scope<'_>, pair: Local<'_, Pair>, index: usize, word: Raw) {
    unsafe { payload(s, pair).cast::<Raw>().add(index).write(word) };
}

/// A word that points nowhere.
struct Wild(Raw);

// SAFETY: the word is wrong, as the check is to find.
unsafe impl Source<'_, Option<Pair>> for Wild {
    fn raw(&self, _: &Table) -> Raw {
        self.0
    }
}

#[test]
fn case_10_each_fault_is_found() {
    let no_object = "where there is no object";
    let cases: [(&str, String); 14] = [
        // The barrier was missed, or an entry of the log was lost.
        ("points to a young object and is not logged", after(|s, o| write(s, o.old, 1, payload(s, o.young)))),
        (
            "points to a young object and is not logged",
            after(|s, _| {
                let log = unsafe { s.place().young.log_entries() };
                let slot = log.iter().position(|entry| matches!(entry, Logged::Slot(_))).unwrap();
                log.remove(slot);
            }),
        ),
        // A word points into an object, to a free cell, or nowhere.
        (no_object, after(|s, o| write(s, o.old, 0, payload(s, o.young).wrapping_add(WORD)))),
        (
            no_object,
            after(|s, o| {
                let free = lock(&s.inner().old).free_cells().next().unwrap().1;
                write(s, o.young, 1, free);
            }),
        ),
        (no_object, after(|s, o| write(s, o.young, 1, std::ptr::null_mut()))),
        // A root does.
        (
            "a word of the roots",
            after(|s, _| {
                s.local::<Option<Pair>>(Wild(std::ptr::without_provenance_mut(64)));
            }),
        ),
        // The next minor collection would pass over a root.
        (
            "a word of the roots points to a young object, and is not known to",
            after(|s, _| unsafe { s.place().each_session(|session| session.changed.set(false)) }),
        ),
        (
            "a word of the global handles points to a young object, and is not known to",
            after(|s, o| {
                std::mem::forget(s.global::<Pair>(o.old));
                s.table().each(|word, _| word.store(payload(s, o.young), Ordering::Relaxed));
            }),
        ),
        // A header has the wrong colour, has gone, or says that the object has moved.
        (
            "has the colour of dead ones",
            after(|s, o| unsafe {
                let header = header_of(payload(s, o.old));
                set_header(payload(s, o.old), header.with_colour(lock(&s.inner().old).colours.dead));
            }),
        ),
        ("a free cell at", after(|s, o| unsafe { set_header(payload(s, o.old), Header::FREE) })),
        ("has no header", after(|s, o| unsafe { set_header(payload(s, o.young), Header::FREE) })),
        (
            "has no header",
            after(|s, o| unsafe { set_header(payload(s, o.young), Header::moved_to(payload(s, o.old))) }),
        ),
        // An object is longer than its cell.
        ("is in a cell of", after(|s, o| unsafe { o.bytes.get(s).raw().cast::<usize>().write(80) })),
        // A cell with an object is listed as free.
        (
            "is listed as free",
            after(|s, o| unsafe {
                let free = lock(&s.inner().old).free_cells().find(|(words, _)| *words == 3).unwrap().1;
                let next = free.cast::<Raw>().read();
                free.cast::<Raw>().write(payload(s, o.old));
                write(s, o.old, 0, next);
            }),
        ),
    ];
    for (expected, said) in &cases {
        assert!(said.contains(expected), "expected `{expected}`, and the check said: {said}");
    }
}

#[test]
fn the_objects_of_the_cases_are_what_they_are_called() {
    Heap::builder().nursery(1 << 16).build().enter(|s| {
        let old = s.alloc::<Pair>(Pair::init(None, None));
        s.collect(Kind::Minor);
        let young = s.alloc::<Pair>(Pair::init(None, None));
        assert!(!s.place().young.is_young(payload(s, old)) && s.place().young.is_young(payload(s, young)));
        old.get(s).first.set(s, young);
        let slot = Logged::Slot(NonNull::from(&old.get(s).get().first).cast());
        assert_eq!(*unsafe { s.place().young.log_entries() }, [slot]);
        assert!(immediate_bits(immediate(5)) == Some(5));
    });
}
