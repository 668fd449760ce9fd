//! Case 9: random programs over graphs, against a model that counts what can be reached.

use crate::support::Random;
use lisle_heap::{Array, Gc, Global, Heap, Kind, Local, Object, Scope, Slot, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Value)]
pub(crate) enum Node {
    Nothing,
    Number(u32),
    Two(Gc<Two>),
    Named(Gc<Named>),
    Wide(Gc<Wide>),
    Many(Gc<Array<Node>>),
    Leaf(Gc<Leaf>),
}

#[derive(Object)]
pub(crate) struct Two {
    id: u32,
    left: Slot<Node>,
    right: Slot<Node>,
}

/// With a destructor, which counts.
#[derive(Object)]
pub(crate) struct Named {
    name: Counted,
    to: Slot<Node>,
}

#[derive(Object)]
pub(crate) struct Leaf {
    id: Counted,
}

/// Larger than a cell.
#[derive(Object)]
pub(crate) struct Wide {
    id: u32,
    first: Slot<Node>,
    _filled: [u64; 150],
    last: Slot<Node>,
}

pub(crate) struct Counted(u32, Arc<AtomicUsize>);

impl Counted {
    fn new(id: u32, count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(id, count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An edge of the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Edge {
    Nothing,
    Number(u32),
    To(u32),
}

/// What the model knows of an object: its edges, and whether a destructor counts it.
pub(crate) struct Known {
    pub(crate) edges: Vec<Edge>,
    pub(crate) counts: bool,
}

pub(crate) fn edge(view: NodeView<'_>) -> Edge {
    match view {
        NodeView::Nothing => Edge::Nothing,
        NodeView::Number(number) => Edge::Number(number),
        other => Edge::To(id(other)),
    }
}

/// The number of an object. The first element of an array is its number.
fn id(view: NodeView<'_>) -> u32 {
    match view {
        NodeView::Two(two) => two.id,
        NodeView::Named(named) => named.name.0,
        NodeView::Wide(wide) => wide.id,
        NodeView::Leaf(leaf) => leaf.id.0,
        NodeView::Many(many) => match many.at(0).get() {
            NodeView::Number(id) => id,
            _ => panic!("the first element of an array is its number"),
        },
        NodeView::Nothing | NodeView::Number(_) => panic!("not an object"),
    }
}

pub(crate) fn slots<'a>(view: NodeView<'a>) -> Vec<&'a Slot<Node>> {
    match view {
        NodeView::Two(two) => vec![&two.get().left, &two.get().right],
        NodeView::Named(named) => vec![&named.get().to],
        NodeView::Wide(wide) => vec![&wide.get().first, &wide.get().last],
        NodeView::Many(many) => many.iter().skip(1).collect(),
        NodeView::Leaf(_) | NodeView::Nothing | NodeView::Number(_) => Vec::new(),
    }
}

pub(crate) const ROOTS: usize = 24;
const OBJECTS: usize = 2_000;

pub(crate) fn allocate<'s>(
    s: &mut Scope<'s>,
    random: &mut Random,
    id: u32,
    edges: &[Local<'_, Node>; 2],
    count: &Arc<AtomicUsize>,
) -> (Local<'s, Node>, usize) {
    let [a, b] = *edges;
    s.scope(|_| ());
    let mut used = 2;
    let node = s.escape(|s| match random.below(6) {
        0 | 1 => {
            let two = s.alloc::<Two>(Two::init(id, a, b));
            s.local(two.get(s))
        }
        2 => {
            used = 1;
            let named = s.alloc::<Named>(Named::init(Counted::new(id, count), a));
            s.local(named.get(s))
        }
        3 => {
            let wide = s.alloc::<Wide>(Wide::init(id, a, [7; 150], b));
            s.local(wide.get(s))
        }
        4 => {
            let len = 1 + [0, 3, 40, 200][random.below(4)];
            used = len - 1;
            let many = s.array::<Node>(len, a);
            many.get(s).at(0).set(s, id);
            s.local(many.get(s))
        }
        _ => {
            used = 0;
            let leaf = s.alloc::<Leaf>(Leaf::init(Counted::new(id, count)));
            s.local(leaf.get(s))
        }
    });
    (node, used)
}

/// The objects that can be reached, in a model that returns what it knows of each.
pub(crate) fn reachable<'m>(
    model: impl Fn(u32) -> &'m Known,
    from: impl IntoIterator<Item = Edge>,
) -> HashSet<u32> {
    let mut stack: Vec<u32> = Vec::new();
    let mut seen = HashSet::new();
    let mut edges: Vec<Edge> = from.into_iter().collect();
    loop {
        for edge in edges.drain(..) {
            if let Edge::To(id) = edge
                && seen.insert(id)
            {
                stack.push(id);
            }
        }
        let Some(id) = stack.pop() else { return seen };
        edges.extend(&model(id).edges);
    }
}

/// Checks that each object that can be reached from these words has the words of the model, and returns those objects.
pub(crate) fn check_words<'m>(
    mut stack: Vec<NodeView<'_>>,
    model: impl Fn(u32) -> &'m Known,
    seed: u64,
) -> HashSet<u32> {
    let mut seen = HashSet::new();
    while let Some(view) = stack.pop() {
        if let Edge::To(id) = edge(view)
            && seen.insert(id)
        {
            let found: Vec<_> = slots(view).iter().map(|slot| edge(slot.get())).collect();
            assert_eq!(found, model(id).edges, "seed {seed}, object {id}");
            stack.extend(slots(view).iter().map(|slot| slot.get()));
        }
    }
    seen
}

fn program(heap: &Heap, seed: u64, steps: usize) {
    let mut random = Random(seed * 2 + 1);
    let count = Arc::new(AtomicUsize::new(0));
    let mut model: HashMap<u32, Known> = HashMap::new();
    let mut globals: Vec<(Global<Node>, Edge)> = Vec::new();
    let mut next = 0;
    heap.enter(|s| {
        let mut regs = s.regs::<Node>(ROOTS, NodeView::Nothing);
        let mut known = [Edge::Nothing; ROOTS];
        for step in 0..steps {
            match random.below(20) {
                // An object, with words of the roots in it.
                0..=7 => s.scope(|s| {
                    let from = [random.below(ROOTS), random.below(ROOTS)];
                    let edges = from.map(|from| s.local::<Node>(regs.get(s, from)));
                    let (node, used) = allocate(s, &mut random, next, &edges, &count);
                    let counts = matches!(node.get(s), NodeView::Named(_) | NodeView::Leaf(_));
                    let edges = match node.get(s) {
                        NodeView::Many(_) => vec![known[from[0]]; used],
                        _ => from.iter().take(used).map(|from| known[*from]).collect(),
                    };
                    model.insert(next, Known { edges, counts });
                    let to = random.below(ROOTS);
                    regs.set(s, to, node);
                    known[to] = Edge::To(next);
                    next += 1;
                }),
                // A store into an object.
                8..=13 => {
                    let (owner, value) = (random.below(ROOTS), random.below(ROOTS));
                    if let Edge::To(owner_id) = known[owner] {
                        let slots = slots(regs.get(s, owner));
                        if !slots.is_empty() {
                            let index = random.below(slots.len());
                            slots[index].set(s, regs.get(s, value));
                            model.get_mut(&owner_id).unwrap().edges[index] = known[value];
                        }
                    }
                }
                // A load.
                14 | 15 => {
                    let (from, to) = (random.below(ROOTS), random.below(ROOTS));
                    let slots = slots(regs.get(s, from));
                    if !slots.is_empty() {
                        let loaded = slots[random.below(slots.len())].get();
                        regs.set(s, to, loaded);
                        known[to] = edge(loaded);
                    }
                }
                16 => {
                    let to = random.below(ROOTS);
                    regs.set(s, to, step as u32);
                    known[to] = Edge::Number(step as u32);
                }
                17 => {
                    let to = random.below(ROOTS);
                    regs.set(s, to, NodeView::Nothing);
                    known[to] = Edge::Nothing;
                }
                18 => {
                    if globals.len() < 10 {
                        let from = random.below(ROOTS);
                        globals.push((s.global(regs.get(s, from)), known[from]));
                    } else {
                        let (global, expected) = globals.swap_remove(random.below(10));
                        s.scope(|s| assert_eq!(edge(s.take(global).get(s)), expected));
                    }
                }
                _ => {
                    let kind =
                        [Kind::Full, Kind::Compact].get(random.below(16)).copied().unwrap_or(Kind::Minor);
                    s.collect(kind);
                    if kind != Kind::Minor {
                        let roots = known.iter().copied().chain(globals.iter().map(|(_, edge)| *edge));
                        let alive = reachable(|id| &model[&id], roots);
                        // Nothing is kept that cannot be reached, and nothing is lost.
                        let counted = alive.iter().filter(|id| model[id].counts).count();
                        assert_eq!(count.load(Ordering::Relaxed), counted, "seed {seed}, step {step}");
                        model.retain(|id, _| alive.contains(id));
                    }
                }
            }
            if next as usize > OBJECTS {
                known.fill(Edge::Nothing);
                (0..ROOTS).for_each(|root| regs.set(s, root, NodeView::Nothing));
                globals.clear();
                next = 0;
                s.collect(Kind::Full);
                model.clear();
            }
        }
        assert_eq!(s.verify(), Ok(()), "seed {seed}");
        // Each object that can be reached has the words that the model says.
        let words: Vec<NodeView<'_>> = (0..ROOTS).map(|root| regs.get(s, root)).collect();
        assert!(words.iter().map(|view| edge(*view)).eq(known), "seed {seed}");
        let seen = check_words(words, |id| &model[&id], seed);
        assert_eq!(seen, reachable(|id| &model[&id], known));
    });
    drop(globals);
    heap.collect(Kind::Full);
    assert_eq!((count.load(Ordering::Relaxed), heap.stats().live_bytes), (0, 0), "seed {seed}");
}

/// For how long random programs run: `LISLE_HEAP_SECONDS`, or a few seconds.
pub(crate) fn seconds() -> u64 {
    std::env::var("LISLE_HEAP_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(4)
}

fn programs(stress: bool, steps: usize) {
    let end = Instant::now() + Duration::from_secs(seconds()) / 2;
    let heap = Heap::builder().nursery(1 << 16).stress(stress).build();
    for seed in 1.. {
        program(&heap, seed, steps);
        if cfg!(miri) || Instant::now() > end {
            return;
        }
    }
}

#[test]
fn case_09_random_programs_lose_nothing_and_keep_nothing() {
    programs(false, if cfg!(miri) { 300 } else { 20_000 });
}

#[test]
fn case_09_random_programs_in_which_each_allocation_collects() {
    programs(true, if cfg!(miri) { 100 } else { 2_000 });
}
