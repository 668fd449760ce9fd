//! Case 9 with several places: random programs of several threads in one graph.
//!
//! A thread writes to its own objects only, so its model of them is exact. The objects refer to those of other threads,
//! which a thread finds on boards (arrays that all read and write), in objects of others, and by global handles. When all
//! threads are outside, one that is none of them compares the whole graph with all models.

use crate::graphs::{
    Edge, Known, Node, NodeView, ROOTS, allocate, check_words, edge, reachable, seconds, slots,
};
use crate::support::{Meeting, Random, together, watched};
use lisle_heap::{Array, Gc, Global, Heap, Kind, Object, Regs, Scope};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// The number of slots of the board `own` that one thread writes to.
const OWN: usize = 8;
/// The lengths of the boards that all threads write to. The second one is larger than a cell.
const FREE: [usize; 2] = [6, 300];
/// Threads start anew with empty roots in each round of this number.
const ANEW: usize = 4;

#[derive(Object)]
struct Boards {
    /// Each slot has one thread that writes to it.
    own: Gc<Array<Node>>,
    small: Gc<Array<Node>>,
    large: Gc<Array<Node>>,
}

impl Boards {
    fn make(s: &mut Scope<'_>, threads: usize) -> Global<Self> {
        s.scope(|s| {
            let own = s.array::<Node>(threads * OWN, Node::nothing());
            let [small, large] = FREE.map(|len| s.array::<Node>(len, Node::nothing()));
            let boards = s.alloc::<Self>(Self::init(own, small, large));
            s.global::<Self>(boards)
        })
    }
}

/// What a thread knows.
struct State {
    roots: [Edge; ROOTS],
    objects: HashMap<u32, Known>,
    next: u32,
    /// The words of its slots of the board `own`.
    own: [Edge; OWN],
    /// What it has stored into the slots of the free boards, by board and index.
    stored: HashSet<(usize, usize, Edge)>,
}

struct World {
    heap: Heap,
    seed: u64,
    steps: usize,
    /// The number of objects with destructors that have not run.
    count: Arc<AtomicUsize>,
    boards: RwLock<Global<Boards>>,
    /// Handles that each thread may take.
    pool: Mutex<Vec<(Global<Node>, Edge)>>,
    /// What the threads keep between their sessions.
    kept: Vec<Mutex<Vec<Global<Node>>>>,
    /// A thread has its own locked while it changes the graph.
    states: Vec<RwLock<State>>,
}

/// The thread that has allocated an object.
fn owner(id: u32) -> usize {
    (id >> 24) as usize
}

impl State {
    fn new(me: usize) -> Self {
        Self {
            roots: [Edge::Nothing; ROOTS],
            objects: HashMap::new(),
            next: (me as u32) << 24,
            own: [Edge::Nothing; OWN],
            stored: HashSet::new(),
        }
    }
}

impl World {
    /// Uses the heap at random.
    fn steps(&self, s: &mut Scope<'_>, me: usize, regs: &mut Regs<'_, Node>, random: &mut Random) {
        let state = &mut *self.states[me].write().unwrap();
        let boards = s.local::<Boards>(&*self.boards.read().unwrap());
        for step in 0..self.steps {
            let (from, to) = (random.below(ROOTS), random.below(ROOTS));
            match random.below(24) {
                // An object, with words of the roots in it.
                0..=7 => s.scope(|s| {
                    let from = [from, random.below(ROOTS)];
                    let edges = from.map(|from| s.local::<Node>(regs.get(s, from)));
                    let id = state.next;
                    let (node, used) = allocate(s, random, id, &edges, &self.count);
                    let counts = matches!(node.get(s), NodeView::Named(_) | NodeView::Leaf(_));
                    let edges = match node.get(s) {
                        NodeView::Many(_) => vec![state.roots[from[0]]; used],
                        _ => from.iter().take(used).map(|from| state.roots[*from]).collect(),
                    };
                    state.objects.insert(id, Known { edges, counts });
                    state.next += 1;
                    regs.set(s, to, node);
                    state.roots[to] = Edge::To(id);
                }),
                // A store into an object of this thread.
                8..=11 => {
                    if let Edge::To(id) = state.roots[to]
                        && owner(id) == me
                    {
                        let slots = slots(regs.get(s, to));
                        if !slots.is_empty() {
                            let index = random.below(slots.len());
                            slots[index].set(s, regs.get(s, from));
                            state.objects.get_mut(&id).unwrap().edges[index] = state.roots[from];
                        }
                    }
                }
                // A load from an object of any thread.
                12..=14 => {
                    let slots = slots(regs.get(s, from));
                    if !slots.is_empty() {
                        let loaded = slots[random.below(slots.len())].get();
                        regs.set(s, to, loaded);
                        state.roots[to] = edge(loaded);
                    }
                }
                15 => {
                    regs.set(s, to, step as u32);
                    state.roots[to] = Edge::Number(step as u32);
                }
                16 => {
                    let index = random.below(OWN);
                    boards.get(s).own().at(me * OWN + index).set(s, regs.get(s, from));
                    state.own[index] = state.roots[from];
                }
                17 => {
                    let own = boards.get(s).own();
                    let loaded = own.at(random.below(own.len())).get();
                    regs.set(s, to, loaded);
                    state.roots[to] = edge(loaded);
                }
                choice @ 18..=20 => {
                    let which = random.below(2);
                    let board = if which == 0 { boards.get(s).small() } else { boards.get(s).large() };
                    let index = random.below(board.len());
                    let (slot, new) = (board.at(index), regs.get(s, from));
                    let found = slot.get();
                    let loaded = match choice {
                        18 => {
                            state.stored.insert((which, index, state.roots[from]));
                            slot.set(s, new);
                            None
                        }
                        19 => match slot.compare_exchange(s, found, new) {
                            Ok(()) => {
                                state.stored.insert((which, index, state.roots[from]));
                                None
                            }
                            Err(other) => Some(other),
                        },
                        _ => Some(found),
                    };
                    if let Some(loaded) = loaded {
                        regs.set(s, to, loaded);
                        state.roots[to] = edge(loaded);
                    }
                }
                21 => {
                    let new = (s.global::<Node>(regs.get(s, from)), state.roots[from]);
                    let taken = {
                        let mut pool = self.pool.lock().unwrap();
                        pool.push(new);
                        let index = random.below(pool.len());
                        (pool.len() > 10).then(|| pool.swap_remove(index))
                    };
                    if let Some((global, expected)) = taken {
                        s.scope(|s| {
                            let taken = s.take(global);
                            assert_eq!(edge(taken.get(s)), expected, "seed {}", self.seed);
                            regs.set(s, to, taken);
                        });
                        state.roots[to] = expected;
                    }
                }
                22 => match random.below(40) {
                    // Seldom, since other programs of the system run meanwhile.
                    0 => s.outside(thread::yield_now),
                    1..=19 => s.outside(|| ()),
                    _ => s.poll(),
                },
                _ => s.collect(
                    [Kind::Full, Kind::Compact].get(random.below(16)).copied().unwrap_or(Kind::Minor),
                ),
            }
        }
    }

    /// One of the threads that change the graph. Its words stay in global handles between its sessions.
    fn plays(&self, me: usize, meeting: &Meeting, rounds: usize) {
        let mut random = Random((self.seed << 8 | me as u64) * 2 + 1);
        for _ in 0..rounds {
            self.heap.enter(|s| {
                let mut regs = s.regs::<Node>(ROOTS, NodeView::Nothing);
                for (index, global) in self.kept[me].lock().unwrap().drain(..).enumerate() {
                    s.scope(|s| regs.set(s, index, s.take(global)));
                }
                self.steps(s, me, &mut regs, &mut random);
                s.outside(|| {
                    meeting.wait();
                    // The thread that does not play checks the graph.
                    meeting.wait();
                });
                self.check_mine(s, me, &regs);
                let kept = (0..ROOTS).map(|root| s.global::<Node>(regs.get(s, root)));
                *self.kept[me].lock().unwrap() = kept.collect();
            });
            meeting.wait();
            // The thread that does not play prepares the next round.
            meeting.wait();
        }
    }

    /// Checks what this thread reaches, while others do the same.
    fn check_mine(&self, s: &Scope<'_>, me: usize, regs: &Regs<'_, Node>) {
        let states: Vec<_> = self.states.iter().map(|state| state.read().unwrap()).collect();
        let words: Vec<NodeView<'_>> = (0..ROOTS).map(|root| regs.get(s, root)).collect();
        let roots = states[me].roots;
        assert!(words.iter().map(|view| edge(*view)).eq(roots), "seed {}, thread {me}", self.seed);
        let model = |id| &states[owner(id)].objects[&id];
        assert_eq!(check_words(words, model, self.seed), reachable(model, roots));
    }

    /// The thread that changes nothing, and checks all when no other one is inside.
    fn checks(&self, meeting: &Meeting, rounds: usize) {
        for round in 1..=rounds {
            meeting.wait();
            self.check_all();
            meeting.wait();
            meeting.wait();
            let anew = round % ANEW == 0 || round == rounds;
            if anew {
                self.pool.lock().unwrap().clear();
                self.kept.iter().for_each(|kept| kept.lock().unwrap().clear());
                for (me, state) in self.states.iter().enumerate() {
                    *state.write().unwrap() = State::new(me);
                }
            }
            for state in &self.states {
                let state = &mut *state.write().unwrap();
                state.own.fill(Edge::Nothing);
                state.stored.clear();
            }
            let boards = self.heap.enter(|s| Boards::make(s, self.states.len()));
            *self.boards.write().unwrap() = boards;
            if anew {
                self.heap.collect(Kind::Full);
                assert_eq!(self.count.load(Ordering::Relaxed), 0, "seed {}", self.seed);
            }
            meeting.wait();
        }
    }

    fn check_all(&self) {
        let seed = self.seed;
        self.heap.collect(Kind::Full);
        assert_eq!(self.heap.verify(), Ok(()), "seed {seed}");
        let mut states: Vec<_> = self.states.iter().map(|state| state.write().unwrap()).collect();
        let alive = self.heap.enter(|s| {
            let boards = s.local::<Boards>(&*self.boards.read().unwrap()).get(s);
            let words: Vec<NodeView<'_>> = boards.own().iter().map(|slot| slot.get()).collect();
            let own = states.iter().flat_map(|state| state.own);
            assert!(words.iter().map(|view| edge(*view)).eq(own), "seed {seed}");
            let mut free = Vec::new();
            for (which, board) in [boards.small(), boards.large()].into_iter().enumerate() {
                for (index, slot) in board.iter().enumerate() {
                    let found = edge(slot.get());
                    let stored = states.iter().any(|state| state.stored.contains(&(which, index, found)));
                    assert!(found == Edge::Nothing || stored, "seed {seed}: {found:?} at {index}");
                    free.push(slot.get());
                }
            }
            let model = |id| &states[owner(id)].objects[&id];
            let found = words.into_iter().chain(free);
            let shared: Vec<Edge> = found.clone().map(edge).collect();
            let seen = check_words(found.collect(), model, seed);
            assert_eq!(seen, reachable(model, shared.iter().copied()), "seed {seed}");
            let pool = self.pool.lock().unwrap();
            let roots = states.iter().flat_map(|state| state.roots);
            reachable(model, shared.into_iter().chain(roots).chain(pool.iter().map(|(_, edge)| *edge)))
        });
        // Nothing is kept that cannot be reached, and nothing is lost.
        let counted = alive.iter().filter(|id| states[owner(**id)].objects[*id].counts).count();
        assert_eq!(self.count.load(Ordering::Relaxed), counted, "seed {seed}");
        for state in &mut states {
            state.objects.retain(|id, _| alive.contains(id));
        }
    }
}

fn world(threads: usize, nursery: usize, stress: bool, seed: u64, steps: usize) {
    let heap = Heap::builder().nursery(nursery).stress(stress).build();
    let world = World {
        boards: RwLock::new(heap.enter(|s| Boards::make(s, threads))),
        heap,
        seed,
        steps,
        count: Arc::default(),
        pool: Mutex::default(),
        kept: (0..threads).map(|_| Mutex::default()).collect(),
        states: (0..threads).map(|me| RwLock::new(State::new(me))).collect(),
    };
    let rounds = if cfg!(miri) { 2 } else { ANEW + 1 };
    together(threads + 1, |me, meeting| {
        if me < threads { world.plays(me, meeting, rounds) } else { world.checks(meeting, rounds) }
    });
    let World { heap, boards, count, .. } = world;
    drop(boards);
    heap.collect(Kind::Full);
    assert_eq!((count.load(Ordering::Relaxed), heap.stats().live_bytes), (0, 0), "seed {seed}");
}

/// Runs worlds of 1 to 8 threads, each at least once. `steps` is what all threads of a round do together.
fn worlds(stress: bool, steps: usize) {
    let _watched = watched();
    let sizes = if cfg!(miri) { &[2][..] } else { &[2, 4, 8, 1, 3, 5, 6, 7] };
    let end = Instant::now() + Duration::from_secs(seconds()) / 2;
    for seed in 1.. {
        let threads = sizes[seed as usize % sizes.len()];
        // The smallest nursery has one block, whatever the number of threads.
        let nursery = 1 << (16 + seed % 3);
        world(threads, nursery, stress, seed, steps / threads);
        if seed as usize >= sizes.len() && Instant::now() > end || cfg!(miri) {
            return;
        }
    }
}

#[test]
fn case_09_random_programs_of_several_threads_lose_nothing_and_keep_nothing() {
    worlds(false, if cfg!(miri) { 150 } else { 12_000 });
}

#[test]
fn case_09_random_programs_of_several_threads_in_which_each_allocation_collects() {
    worlds(true, if cfg!(miri) { 60 } else { 1_000 });
}
