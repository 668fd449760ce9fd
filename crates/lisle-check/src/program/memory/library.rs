//! The orders that the library's own objects make.
//!
//! Channels, locks, joins and wakes are made of the library's atomics, and report the accesses of a
//! step to them. They run sequentially consistent. Each word of such an object has a clock for each
//! kind of access. A step that changes the word joins its own clock into that clock, and a later
//! step that does not commute with the change takes the clock up. So a lock orders its critical
//! sections. A message orders the events before its send and the events after its receive, and so
//! does a free place. Two sends are not ordered by this.
//!
//! This takes every write for a release and every read for an acquire, and so promises somewhat
//! more than the documentation of the library: a `try_lock` that fails, and a look at the length of
//! a channel, order as well. The checker does not find a race that only such an order hides.
//!
//! In the sense of `forward` whole steps follow each other, whichever of their parts has the
//! access. So the clocks that a step leaves are completed at its end.

use super::clock::Clock;
use super::graph::Graph;
use crate::explore::{Kind, Object, mix};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The events before, in two senses: of the memory model, and of the schedules; see `Event`.
#[derive(Debug, Clone, Default)]
struct Both {
    happens: Clock,
    forward: Clock,
}

/// The accesses of one kind to a word, since the last access that commutes with nothing.
#[derive(Debug)]
struct Touched {
    kind: Kind,
    left: Both,
    /// The name of the accesses: of all of them if their order makes no difference, or else of the
    /// last one.
    name: u64,
}

/// The clock that a step has left for a step that follows it.
#[derive(Debug, Default)]
struct Left {
    left: Both,
    history: u64,
}

/// The words of the library's objects, and the histories of the processes.
#[derive(Debug, Default)]
pub(super) struct Library {
    words: FxHashMap<Object, SmallVec<[Touched; 2]>>,
    /// By the marks of the steps.
    left: FxHashMap<u32, Left>,
    histories: Vec<u64>,
    /// The accesses of the step in progress.
    step: Vec<(Object, Kind)>,
    marks: SmallVec<[u32; 2]>,
}

impl Library {
    /// Forgets the execution.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.left.clear();
        self.histories.clear();
        self.step.clear();
        self.marks.clear();
    }

    fn history(&mut self, process: u32) -> &mut u64 {
        if self.histories.len() <= process as usize {
            self.histories.resize(process as usize + 1, 0);
        }
        &mut self.histories[process as usize]
    }

    /// Notes that a process has learnt something.
    pub(super) fn observe(&mut self, process: u32, what: u64) {
        let history = self.history(process);
        *history = mix(*history, what);
    }

    /// Notes that a process has touched a word. `is_order` says that this orders the program's
    /// accesses; otherwise it only keeps its place in the schedule.
    pub(super) fn touch(
        &mut self,
        graph: &mut Graph,
        process: u32,
        object: Object,
        kind: Kind,
        is_order: bool,
    ) {
        let mut name = mix(mix(*self.history(process), object.0), kind as u64);
        let word = self.words.entry(object).or_default();
        let thread = graph.thread(process);
        for earlier in word.iter().filter(|earlier| !kind.commutes(earlier.kind)) {
            thread.forward.join(&earlier.left.forward);
            let is_end = matches!(kind, Kind::Front | Kind::Back) && earlier.kind == kind;
            if is_order && !is_end && earlier.kind != Kind::Read {
                thread.happens.join(&earlier.left.happens);
            }
            name = mix(name, mix(earlier.kind as u64, earlier.name));
        }
        if kind.is_exclusive() {
            word.clear();
        }
        let own = match word.iter().position(|touched| touched.kind == kind) {
            Some(own) => own,
            None => {
                word.push(Touched { kind, left: Both::default(), name: 0 });
                // The accesses are hashed in one order.
                word.sort_unstable_by_key(|touched| touched.kind);
                word.iter().position(|touched| touched.kind == kind).expect("it was just added")
            }
        };
        let own = &mut word[own];
        if is_order {
            own.left.happens.join(&thread.happens);
        }
        own.left.forward.join(&thread.forward);
        own.name = if kind.commutes(kind) { own.name.wrapping_add(name) } else { name };
        self.step.push((object, kind));
        *self.history(process) = name;
    }

    /// Notes that the step in progress, with this mark, leaves something for another step.
    pub(super) fn leave(&mut self, graph: &mut Graph, process: u32, mark: u32) {
        let thread = graph.thread(process);
        let left = Both { happens: thread.happens.clone(), forward: thread.forward.clone() };
        let history = *self.history(process);
        self.left.insert(mark, Left { left, history });
        self.marks.push(mark);
    }

    /// Notes that a process takes something that the step with this mark has left.
    pub(super) fn follow(&mut self, graph: &mut Graph, process: u32, mark: u32) {
        let Some(Left { left, history }) = self.left.get(&mark) else { return };
        let thread = graph.thread(process);
        thread.happens.join(&left.happens);
        thread.forward.join(&left.forward);
        let history = *history;
        self.observe(process, history);
    }

    /// Notes that a process goes on after a step of another one, but learns nothing from it.
    pub(super) fn comes_after(&mut self, graph: &mut Graph, process: u32, other: u32) {
        let forward = graph.thread(other).forward.clone();
        graph.thread(process).forward.join(&forward);
        let history = *self.history(other);
        self.observe(process, history);
    }

    /// Notes that a process lets another one begin, or go on.
    pub(super) fn enable(&mut self, graph: &mut Graph, process: u32, other: u32) {
        let thread = graph.thread(process);
        let (happens, forward) = (thread.happens.clone(), thread.forward.clone());
        let enabled = graph.thread(other);
        enabled.happens.join(&happens);
        enabled.forward.join(&forward);
        let history = *self.history(process);
        self.observe(other, history);
    }

    /// Notes that a process has ended before another one goes on.
    pub(super) fn join(&mut self, graph: &mut Graph, process: u32, ended: u32) {
        self.enable(graph, ended, process);
    }

    /// Ends a step, before which comes `past`.
    pub(super) fn end_step(&mut self, past: &Clock) {
        for (object, kind) in self.step.drain(..) {
            let touched = self.words.get_mut(&object).into_iter().flatten();
            touched.filter(|touched| touched.kind == kind).for_each(|own| own.left.forward.join(past));
        }
        for mark in self.marks.drain(..) {
            let left = self.left.get_mut(&mark).expect("something was left with each mark");
            left.left.forward.join(past);
        }
    }

    /// Returns a hash of everything that the processes have seen of the library.
    pub(super) fn shape(&self) -> u64 {
        self.histories.iter().fold(0, |sum, history| mix(sum, *history))
    }
}
