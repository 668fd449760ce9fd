//! The guarded objects, which the program gets back when they are found dead.

use crate::lock::lock;
use crate::object::Cell;
use crate::raw::Raw;
use crate::space::Stack;
use crate::table::Table;
use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sends a global handle with this number in the table.
pub(crate) type Tell = Box<dyn FnOnce(usize) + Send>;

struct Guarded {
    /// The word of the object. It is corrected, and keeps nothing alive in a cycle.
    word: Cell,
    tell: Tell,
}

#[derive(Default)]
pub(crate) struct Guards {
    state: Mutex<State>,
    /// Whether there are dead ones.
    any_dead: AtomicBool,
}

#[derive(Default)]
struct State {
    guarded: Vec<Guarded>,
    /// Those from here on may be young.
    young: usize,
    /// The objects that were found dead, which the table keeps alive.
    dead: Vec<(Tell, usize)>,
}

impl Guards {
    pub(crate) fn add(&self, word: Raw, tell: Tell, table: &Table) {
        let State { guarded, dead, .. } = &mut *lock(&self.state);
        guarded.push(Guarded { word: Cell::new(word), tell });
        // The stop in which they are found dead allocates nothing.
        dead.reserve(guarded.len());
        table.keep_room();
    }

    /// Calls `visit` for the word of each object that may be young, after which it is old.
    pub(crate) fn each_young(&self, mut visit: impl FnMut(&Cell)) {
        let state = &mut *lock(&self.state);
        state.guarded[state.young..].iter().for_each(|guarded| visit(&guarded.word));
        state.young = state.guarded.len();
    }

    /// Calls `visit` for each word.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Cell)) {
        lock(&self.state).guarded.iter().for_each(|guarded| visit(&guarded.word));
    }

    /// Marks the objects that no mark has reached, and keeps them alive in the table.
    pub(crate) fn take_dead(&self, stack: &mut Stack<'_>, table: &Table) {
        let State { guarded, young, dead } = &mut *lock(&self.state);
        // All are looked at before one is marked: an object from which another one is reached does not hide that one.
        let mut alive = guarded.len();
        for index in (0..guarded.len()).rev() {
            if !stack.is_marked(guarded[index].word.load(Ordering::Relaxed)) {
                alive -= 1;
                guarded.swap(index, alive);
            }
        }
        *young = alive;
        for Guarded { word, tell } in guarded.drain(alive..) {
            stack.reach(&word);
            dead.push((tell, table.add_kept(word.into_inner())));
        }
        self.any_dead.store(!dead.is_empty(), Ordering::Relaxed);
    }

    /// Sends the objects that were found dead to those who guard them. No stop may be going on, since this may wake anything.
    pub(crate) fn tell(&self) {
        if self.any_dead.swap(false, Ordering::Relaxed) {
            let dead = take(&mut lock(&self.state).dead);
            dead.into_iter().for_each(|(tell, index)| tell(index));
        }
    }
}
