//! Weak objects, ephemerons and guarded objects.

use crate::support::{Random, churn, together, watched};
use lisle_core::channel::{TryRecvError, unbounded};
use lisle_core::time::after;
use lisle_core::{Event, choose};
use lisle_heap::{Array, Bytes, Ephemeron, Global, Heap, Kind, Local, Object, Root, Scope, Slot, Weak};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

#[derive(Object)]
struct Node {
    number: usize,
    next: Slot<Option<Node>>,
    entry: Slot<Option<Entry>>,
}

type Entry = Ephemeron<Node, Node>;
type Nodes = Array<Option<Node>>;

fn node<'s>(s: &mut Scope<'s>, number: usize) -> Local<'s, Node> {
    s.alloc::<Node>(Node::init(number, None, None))
}

/// Returns a heap, and one that collects at each allocation.
fn heaps() -> [Heap; 2] {
    [Heap::builder().nursery(1 << 16).build(), Heap::builder().nursery(1 << 16).stress(true).build()]
}

#[test]
fn a_weak_object_is_emptied_when_its_target_dies() {
    for (kind, heap) in [Kind::Minor, Kind::Full].into_iter().zip(heaps()) {
        heap.enter(|s| {
            let mut kept = s.root::<Option<Node>>(None);
            let (one, other) = two_weak(s, &mut kept);
            s.collect(kind);
            s.collect(kind);
            assert_eq!(s.verify(), Ok(()));
            assert_eq!(one.get(s).upgrade(s).map(|node| node.number), Some(1));
            assert!(other.get(s).upgrade(s).is_none());
            kept.set(s, None);
            s.collect(Kind::Full);
            assert!(one.get(s).upgrade(s).is_none());
            assert_eq!(s.verify(), Ok(()));
        });
    }
}

/// Makes two weak objects, one for a node that is kept and one for a node that is not.
fn two_weak<'s>(
    s: &mut Scope<'s>,
    kept: &mut Root<'_, Option<Node>>,
) -> (Local<'s, Weak<Node>>, Local<'s, Weak<Node>>) {
    let one = s.escape(|s| {
        let node = node(s, 1);
        kept.set(s, node);
        s.weak::<Node>(node)
    });
    let other = s.escape(|s| {
        let node = node(s, 2);
        s.weak::<Node>(node)
    });
    (one, other)
}

/// A value that refers to its key does not keep the ephemeron.
#[test]
fn an_ephemeron_is_emptied_when_its_key_dies() {
    for heap in heaps() {
        heap.enter(|s| {
            let mut key = s.root::<Option<Node>>(None);
            let (entry, value) = entry_and_value(s, &mut key);
            s.collect(Kind::Full);
            assert_eq!(s.verify(), Ok(()));
            let (found, of_found) = entry.get(s).entry(s).unwrap();
            assert_eq!((found.number, of_found.number, of_found.next().unwrap().number), (1, 2, 1));
            // Another value takes the place of the first, which dies.
            s.scope(|s| {
                let other = node(s, 3);
                entry.get(s).set_value(s, other);
            });
            s.collect(Kind::Full);
            assert_eq!(entry.get(s).entry(s).unwrap().1.number, 3);
            assert!(value.get(s).upgrade(s).is_none());
            key.set(s, None);
            s.collect(Kind::Full);
            assert!(entry.get(s).entry(s).is_none());
            // Nothing is stored into one that is empty.
            s.scope(|s| {
                let other = node(s, 4);
                entry.get(s).set_value(s, other);
            });
            assert!(entry.get(s).entry(s).is_none());
            assert_eq!(s.verify(), Ok(()));
        });
    }
}

/// Makes an ephemeron whose value refers to its key, and a weak object for the value.
fn entry_and_value<'s>(
    s: &mut Scope<'s>,
    key: &mut Root<'_, Option<Node>>,
) -> (Local<'s, Entry>, Local<'s, Weak<Node>>) {
    let entry = s.escape(|s| {
        let (first, second) = (node(s, 1), node(s, 2));
        second.get(s).next.set(s, first);
        key.set(s, first);
        s.ephemeron::<Node, Node>(first, second)
    });
    let value = s.escape(|s| {
        let value = s.local::<Node>(entry.get(s).entry(s).unwrap().1);
        s.weak::<Node>(value)
    });
    (entry, value)
}

/// Each key is the value of the next ephemeron, so that each round over all of them finds one more.
#[test]
fn case_26_a_chain_of_ephemerons_in_the_worst_order_takes_linear_time() {
    let len = if cfg!(miri) { 30 } else { 100_000 };
    let heap = Heap::new();
    heap.enter(|s| {
        let entries = s.array::<Option<Entry>>(len, None);
        let mut first = s.root::<Option<Node>>(None);
        for at in 0..len {
            s.scope(|s| {
                let new = node(s, at);
                let entry = match first.get(s) {
                    Some(before) => {
                        let before = s.local::<Node>(before);
                        s.ephemeron::<Node, Node>(new, before)
                    }
                    None => s.ephemeron::<Node, Node>(new, new),
                };
                entries.get(s).at(at).set(s, entry);
                first.set(s, new);
            });
        }
        s.collect(Kind::Full);
        let alive = |s: &mut Scope<'_>| {
            entries.get(s).iter().filter(|entry| entry.get().unwrap().entry(s).is_some()).count()
        };
        assert_eq!(alive(s), len);
        first.set(s, None);
        s.collect(Kind::Full);
        assert_eq!((alive(s), s.verify()), (0, Ok(())));
    });
}

/// A table that knows each text once, and lets go of those that nobody uses.
#[test]
fn case_26_texts_that_are_used_once_leave_nothing_in_a_weak_table() {
    let rounds: usize = if cfg!(miri) { 100 } else { 1_000_000 };
    let heap = Heap::builder().nursery(1 << 18).build();
    heap.enter(|s| {
        let table = s.array::<Option<Weak<Bytes>>>(64, None);
        let mut largest = 0;
        for round in 0..rounds {
            s.scope(|s| {
                let text = s.bytes(&round.to_le_bytes());
                let weak = s.weak::<Bytes>(text);
                table.get(s).at(round % 64).set(s, weak);
                let found = table.get(s).at(round % 64).get().unwrap().upgrade(s).unwrap();
                assert_eq!(found.as_slice(), round.to_le_bytes());
            });
            if round % 1_000 == 0 {
                largest = largest.max(s.stats().old_bytes);
            }
        }
        assert!(largest < 2 << 20, "{largest} bytes");
        s.collect(Kind::Full);
        assert!(table.get(s).iter().flat_map(|slot| slot.get()).all(|weak| weak.upgrade(s).is_none()));
    });
}

/// Random graphs of nodes with ephemerons among them: after a full collection, those are alive that a model finds alive.
#[test]
fn case_09_weak_objects_and_ephemerons_are_as_a_model_says() {
    const NODES: usize = if cfg!(miri) { 8 } else { 300 };
    let mut random = Random(9);
    for (heap, rounds) in heaps().into_iter().zip(if cfg!(miri) { [1, 1] } else { [40, 4] }) {
        for round in 0..rounds {
            heap.enter(|s| {
                let (roots, weak) =
                    (s.array::<Option<Node>>(NODES, None), s.array::<Option<Weak<Node>>>(NODES, None));
                let entries = s.array::<Option<Entry>>(NODES, None);
                for at in 0..NODES {
                    s.scope(|s| {
                        let node = node(s, at);
                        roots.get(s).at(at).set(s, node);
                        let new = s.weak::<Node>(node);
                        weak.get(s).at(at).set(s, new);
                    });
                }
                // (node, its successor), (key, value of the ephemeron that a node or a root has)
                let (mut edges, mut pairs) = (Vec::new(), Vec::new());
                for at in 0..NODES {
                    let next = random.below(NODES);
                    if random.below(3) == 0 {
                        let nodes = roots.get(s);
                        nodes.at(at).get().unwrap().get().next.set(s, nodes.at(next).get());
                        edges.push((at, next));
                    }
                    let (key, value) = (random.below(NODES), random.below(NODES));
                    s.scope(|s| {
                        let key = s.local::<Node>(roots.get(s).at(key).get().unwrap());
                        let value = s.local::<Node>(roots.get(s).at(value).get().unwrap());
                        let entry = s.ephemeron::<Node, Node>(key, value);
                        // Some ephemerons are reached from a node only.
                        if at % 2 == 0 {
                            entries.get(s).at(at).set(s, entry);
                        } else {
                            roots.get(s).at(at).get().unwrap().get().entry.set(s, entry);
                        }
                    });
                    pairs.push(((at % 2 == 1).then_some(at), key, value));
                }
                if round % 2 == 0 {
                    s.collect(Kind::Minor);
                }
                // Some nodes stay roots.
                let mut alive = HashSet::new();
                for at in 0..NODES {
                    if random.below(10) == 0 {
                        alive.insert(at);
                    } else {
                        roots.get(s).at(at).set(s, None);
                    }
                }
                loop {
                    let before = alive.len();
                    for (from, to) in &edges {
                        if alive.contains(from) {
                            alive.insert(*to);
                        }
                    }
                    for (owner, key, value) in &pairs {
                        if owner.is_none_or(|owner| alive.contains(&owner)) && alive.contains(key) {
                            alive.insert(*value);
                        }
                    }
                    if alive.len() == before {
                        break;
                    }
                }
                s.collect(Kind::Full);
                assert_eq!(s.verify(), Ok(()));
                let found = weak.get(s).iter().filter_map(|slot| slot.get().unwrap().upgrade(s));
                assert_eq!(found.map(|node| node.number).collect::<HashSet<_>>(), alive, "round {round}");
                for (at, (owner, key, value)) in pairs.iter().enumerate() {
                    let entry = match owner {
                        None => entries.get(s).at(at).get(),
                        Some(owner) if alive.contains(owner) => {
                            weak.get(s).at(*owner).get().unwrap().upgrade(s).unwrap().entry()
                        }
                        Some(_) => continue,
                    };
                    let found = entry.unwrap().entry(s).map(|(key, value)| (key.number, value.number));
                    assert_eq!(
                        found,
                        alive.contains(key).then_some((*key, *value)),
                        "round {round}, entry {at}"
                    );
                }
            });
        }
    }
}

/// Threads take strong references from weak objects while marks go on, and store them where a mark may have been.
#[test]
fn what_a_weak_object_gives_during_a_mark_is_not_lost() {
    let _watched = watched();
    const NODES: usize = if cfg!(miri) { 10 } else { 2_000 };
    let heap = Heap::builder().nursery(1 << 18).stress(cfg!(miri)).build();
    let (strong, weak) = heap.enter(|s| {
        let (strong, weak) =
            (s.array::<Option<Node>>(NODES, None), s.array::<Option<Weak<Node>>>(NODES, None));
        for at in 0..NODES {
            s.scope(|s| {
                let (node, next) = (node(s, at), node(s, at));
                node.get(s).next.set(s, next);
                strong.get(s).at(at).set(s, node);
                let new = s.weak::<Node>(node);
                weak.get(s).at(at).set(s, new);
            });
        }
        (s.global::<Nodes>(strong), s.global::<Array<Option<Weak<Node>>>>(weak))
    });
    together(2, |me, meeting| {
        heap.enter(|s| {
            let (strong, weak) = (s.local::<Nodes>(&strong), s.local::<Array<Option<Weak<Node>>>>(&weak));
            let mut random = Random(3 + me as u64);
            let enough = s.stats().full_collections + if cfg!(miri) { 1 } else { 15 };
            while s.stats().full_collections < enough {
                meeting.check();
                for _ in 0..NODES / 20 {
                    let at = random.below(NODES);
                    let found = weak.get(s).at(at).get().unwrap().upgrade(s);
                    if let Some(node) = found {
                        assert_eq!((node.number, node.next().unwrap().number), (at, at));
                    }
                    if let Some(node) = strong.get(s).at(at).get() {
                        assert_eq!((node.number, node.next().unwrap().number), (at, at));
                    }
                    let keep = random.below(3) > 0;
                    strong.get(s).at(at).set(s, found.filter(|_| keep));
                }
                churn(s);
                s.scope(|s| _ = s.array::<Option<Bytes>>(500, None));
            }
        });
    });
    assert_eq!(heap.verify(), Ok(()));
}

#[test]
fn case_27_each_dead_object_comes_out_once() {
    for heap in heaps() {
        let (guardian, dead) = unbounded::<Global<Node>>();
        heap.enter(|s| {
            let kept = s.escape(|s| {
                let kept = node(s, 100);
                for number in 0..10 {
                    s.scope(|s| {
                        let new = node(s, number);
                        // Each refers to all that were made before, and so keeps them from dying if it stays.
                        new.get(s).next.set(s, kept.get(s).next());
                        kept.get(s).next.set(s, new);
                        s.guard(new, &guardian);
                    });
                }
                kept
            });
            s.collect(Kind::Minor);
            s.collect(Kind::Full);
            assert_eq!(dead.try_recv().err(), Some(TryRecvError::Empty), "all are reachable");
            kept.get(s).next.set(s, None);
            let weak = s.weak::<Node>(kept);
            s.collect(Kind::Full);
            // They come in the order in which they were guarded, and are whole.
            for number in 0..10 {
                let node = s.take(dead.try_recv().unwrap());
                assert_eq!(node.get(s).number, number);
                assert_eq!(node.get(s).next().map(|next| next.number), number.checked_sub(1));
                if number == 5 {
                    kept.get(s).next.set(s, node);
                    s.guard(node, &guardian);
                }
            }
            s.collect(Kind::Full);
            assert_eq!(dead.try_recv().err(), Some(TryRecvError::Empty), "each came once");
            // One lives on, with all that it refers to, and can die once more.
            assert_eq!(weak.get(s).upgrade(s).unwrap().next().unwrap().next().unwrap().number, 4);
            kept.get(s).next.set(s, None);
        });
        heap.collect(Kind::Full);
        let again = dead.try_recv().unwrap();
        assert_eq!(heap.enter(|s| s.take(again).get(s).number), 5);
        assert_eq!((dead.try_recv().err(), heap.verify()), (Some(TryRecvError::Empty), Ok(())));
    }
}

#[test]
fn case_27_a_choice_of_dead_objects_and_a_timer() {
    let (guardian, dead) = unbounded::<Global<Node>>();
    let heap = Heap::new();
    heap.enter(|s| {
        let in_time = |time| choose((dead.recv_evt().wrap(Result::ok), after(time).wrap(|()| None)));
        s.scope(|s| {
            let node = node(s, 1);
            s.guard(node, &guardian);
            assert!(s.wait(&in_time(Duration::from_millis(1))).is_none());
        });
        s.collect(Kind::Full);
        let node = s.wait(&in_time(Duration::from_secs(600))).unwrap();
        assert_eq!(s.take(node).get(s).number, 1);
    });
}

/// Weak objects and ephemerons are emptied first. If nobody receives, the object is freed with what it refers to.
#[test]
fn a_guarded_object_is_freed_when_nobody_receives_it() {
    #[derive(Object)]
    struct Counted {
        _count: Arc<()>,
    }
    let count = Arc::new(());
    for heap in heaps() {
        let (guardian, dead) = unbounded::<Global<Counted>>();
        heap.enter(|s| {
            let weak = s.escape(|s| {
                let counted = s.alloc::<Counted>(Counted::init(count.clone()));
                s.guard(counted, &guardian);
                s.guard(counted, &guardian);
                s.weak::<Counted>(counted)
            });
            s.collect(Kind::Full);
            assert!(weak.get(s).upgrade(s).is_none());
        });
        assert_eq!((dead.len(), Arc::strong_count(&count)), (2, 2));
        drop(dead);
        heap.collect(Kind::Full);
        assert_eq!(Arc::strong_count(&count), 1);
        // A closed mailbox guards nothing, and a heap may end before its guardian.
        let (guardian, dead) = unbounded::<Global<Counted>>();
        heap.enter(|s| {
            let counted = s.alloc::<Counted>(Counted::init(count.clone()));
            s.guard(counted, &guardian);
        });
        drop(heap);
        assert_eq!(Arc::strong_count(&count), 1);
        drop(guardian);
        assert!(dead.try_recv().is_err());
    }
}
