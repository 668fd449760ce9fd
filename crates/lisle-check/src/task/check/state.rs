//! States of a program as rows of numbers.
//!
//! A *slot* is one component of a state: the local state of a task, the content of a cell, the
//! printed text. Slots are numbered in the order in which they are met. A state is a word for each
//! slot, and words are numbers of interned things, so that states are copied, compared and hashed
//! fast. *Invariant:* the word 0 stands for "nothing", and the last word of a state is not 0, so
//! that equal states are equal rows whenever they were made.

/// A state: a word for each slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State(Vec<u32>);

impl State {
    pub(super) fn get(&self, slot: u32) -> u32 {
        self.0.get(slot as usize).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, slot: u32, word: u32) {
        let slot = slot as usize;
        if slot < self.0.len() {
            self.0[slot] = word;
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
        } else if word != 0 {
            self.0.resize(slot, 0);
            self.0.push(word);
        }
    }

    /// Returns the number of an interned thing, if there is one in the slot.
    pub(super) fn number(&self, slot: u32) -> Option<u32> {
        self.get(slot).checked_sub(1)
    }

    pub(super) fn set_number(&mut self, slot: u32, number: u32) {
        self.set(slot, number + 1);
    }

    pub(super) fn clear(&mut self, slot: u32) {
        self.set(slot, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn states_that_say_the_same_are_equal() {
        let mut state = State::default();
        state.set_number(3, 7);
        let before = state.clone();
        state.set_number(9, 0);
        assert_eq!((state.number(9), state.number(4), state.number(100)), (Some(0), None, None));
        assert_ne!(state, before);
        state.clear(9);
        state.clear(200);
        assert_eq!(state, before);
        state.clear(3);
        assert_eq!(state, State::default());
    }
}
